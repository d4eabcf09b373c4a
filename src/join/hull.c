#include "join/hull.h"

#include <stdlib.h>

#include "join/samples.h"

#define MOST_BROKEN 0.005 /* of a clock's operations may contradict before the clock is doubted */
enum { MOST_NOTES = 4 };

struct margin {
    int64_t low, high; /* of operations that agree */
    int64_t low_all, high_all;
    uint64_t ops, broken;
};

/* The extreme of a value over the parts, and the extreme over the parts on other clocks than that one's. */
struct extreme {
    int64_t best, second;
    uint32_t domain;
};

static void take(struct extreme *e, int64_t t, uint32_t domain, int sign)
{
    if (t == RS_TIME_NONE || domain == RS_NONE) return;
    bool better = e->domain == RS_NONE || (sign > 0 ? t > e->best : t < e->best);
    if (better) {
        if (e->domain != RS_NONE && e->domain != domain) e->second = e->best;
        e->best = t;
        e->domain = domain;
    } else if (domain != e->domain && (e->second == RS_TIME_NONE || (sign > 0 ? t > e->second : t < e->second))) {
        e->second = t;
    }
}

static int64_t of_others(const struct extreme *e, uint32_t domain)
{
    return e->domain == domain ? e->second : e->best;
}

static void narrow_low(struct margin *x, int64_t low, int64_t error)
{
    if (x->low_all == RS_TIME_NONE || low > x->low_all) x->low_all = low;
    if (low > error)
        x->broken++;
    else if (x->low == RS_TIME_NONE || low > x->low)
        x->low = low;
}

static void narrow_high(struct margin *x, int64_t high, int64_t error)
{
    if (x->high_all == RS_TIME_NONE || high < x->high_all) x->high_all = high;
    if (high < -error)
        x->broken++;
    else if (x->high == RS_TIME_NONE || high < x->high)
        x->high = high;
}

/* The clock, where it can be compared with those of the island; else RS_NONE. */
static uint32_t comparable(const struct rs_model *m, uint32_t domain, uint32_t island)
{
    return domain != RS_NONE && m->domains[domain].island == island ? domain : RS_NONE;
}

static void check_op(const struct rs_model *m, uint32_t op, struct margin *margins)
{
    const uint32_t *parts = &m->order[m->ops.part[op]];
    struct extreme start = {RS_TIME_NONE, RS_TIME_NONE, RS_NONE}, end = start;
    uint32_t island = RS_NONE, n = m->ops.nparts[op];
    int64_t error = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (m->parts.flags[parts[i]] & RS_PART_STALE) continue;
        uint32_t s = rs_part_start_domain(m, parts[i]), e = rs_part_end_domain(m, parts[i]);
        if (island == RS_NONE && e != RS_NONE) island = m->domains[e].island;
        take(&start, m->parts.start[parts[i]], comparable(m, s, island), 1);
        if (rs_part_has_ended(m, parts[i])) take(&end, m->parts.end[parts[i]], comparable(m, e, island), -1);
        if (e != RS_NONE && m->domains[e].error_ns > error) error = m->domains[e].error_ns;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = parts[i];
        if (m->parts.flags[part] & RS_PART_STALE) continue;
        uint32_t s = comparable(m, rs_part_start_domain(m, part), island);
        uint32_t e = comparable(m, rs_part_end_domain(m, part), island);
        int64_t latest = e == RS_NONE ? RS_TIME_NONE : of_others(&start, e);
        int64_t earliest = s == RS_NONE ? RS_TIME_NONE : of_others(&end, s);
        if (e != RS_NONE) margins[e].ops++;
        if (latest != RS_TIME_NONE && rs_part_has_ended(m, part))
            narrow_low(&margins[e], rs_time_minus(latest, m->parts.end[part]), 2 * error);
        if (earliest != RS_TIME_NONE && m->parts.start[part] != RS_TIME_NONE)
            narrow_high(&margins[s], rs_time_minus(earliest, m->parts.start[part]), 2 * error);
    }
}

static enum rs_status settle(struct rs_model *m, const struct margin *margins, struct rs_err *err)
{
    uint32_t doubted = 0;
    for (uint32_t i = 0; i < m->ndomains; i++) {
        const struct margin *x = &margins[i];
        struct rs_domain *d = &m->domains[i];
        bool disagree = (double)x->broken > MOST_BROKEN * (double)x->ops;
        d->hull_low_ns = disagree ? x->low_all : x->low;
        d->hull_high_ns = disagree ? x->high_all : x->high;
        if (disagree && doubted++ < MOST_NOTES)
            RS_TRY(
                rs_model_note(m, err,
                              "clocks: fit and hull disagree for %s of host %s: in %llu of %llu collectives an effect "
                              "would come before its cause; its error is larger than stated",
                              d->kind == RS_DOMAIN_GPU ? "a GPU" : "the clock", rs_host_label(m, d->host),
                              (unsigned long long)x->broken, (unsigned long long)x->ops));
    }
    if (doubted > MOST_NOTES)
        RS_TRY(rs_model_note(m, err, "clocks: fit and hull disagree for %u more clocks", doubted - MOST_NOTES));
    return RS_OK;
}

enum rs_status rs_hull_check(struct rs_model *m, struct rs_err *err)
{
    struct margin *margins = calloc((size_t)m->ndomains + 1, sizeof *margins);
    if (!margins) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->ndomains; i++)
        margins[i].low = margins[i].high = margins[i].low_all = margins[i].high_all = RS_TIME_NONE;
    uint16_t last = 0;
    bool symmetric = false;
    for (uint32_t k = 0; k < m->ops.n; k++) {
        if (m->ops.kind[k] != RS_OP_COLL || m->ops.nparts[k] < 2 || (m->ops.flags[k] & RS_OP_DOUBLE) ||
            m->ops.over[k] != RS_NONE)
            continue;
        if (m->ops.func[k] != last) symmetric = rs_func_is_symmetric(m, last = m->ops.func[k]);
        if (symmetric) check_op(m, k, margins);
    }
    enum rs_status status = settle(m, margins, err);
    free(margins);
    return status;
}
