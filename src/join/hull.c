#include "join/hull.h"

#include <math.h>
#include <stdlib.h>

#include "join/flow.h"

#define MOST_BROKEN                                                                                                    \
    0.005 /* of a clock's operations may contradict: they are joined wrongly, or their times are another's */
#define MOST_WILD 0.1 /* by more than FAR_BEYOND times the error */
enum { FAR_BEYOND = 16, SIZES = 64 };

/* By how much operations contradict the stated errors: half of the excess, for either clock. By powers of two. */
struct excess {
    uint32_t n[SIZES];
    int64_t most[SIZES]; /* ns: the largest of its size */
};

struct margin {
    int64_t low, high; /* of operations that agree */
    uint64_t ops;
    struct excess *excess; /* NULL: none */
};

struct hull {
    struct rs_model *m;
    struct margin *margins; /* by domain */
};

/* The extreme of a value over the parts, and the extreme over the parts on other clocks than that one's. */
struct extreme {
    int64_t best, second;
    uint32_t domain, second_domain;
};

static void take(struct extreme *e, int64_t t, uint32_t domain, int sign)
{
    if (t == RS_TIME_NONE || domain == RS_NONE) return;
    bool better = e->domain == RS_NONE || (sign > 0 ? t > e->best : t < e->best);
    if (better) {
        if (e->domain != RS_NONE && e->domain != domain) {
            e->second = e->best;
            e->second_domain = e->domain;
        }
        e->best = t;
        e->domain = domain;
    } else if (domain != e->domain && (e->second == RS_TIME_NONE || (sign > 0 ? t > e->second : t < e->second))) {
        e->second = t;
        e->second_domain = domain;
    }
}

/* The extreme of the parts on other clocks; RS_TIME_NONE: there are none. */
static int64_t of_others(const struct extreme *e, uint32_t domain, uint32_t *whose)
{
    *whose = e->domain == domain ? e->second_domain : e->domain;
    return e->domain == domain ? e->second : e->best;
}

static enum rs_status exceeds(struct margin *x, int64_t ns, struct rs_err *err)
{
    if (!x->excess && !(x->excess = calloc(1, sizeof *x->excess))) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    unsigned size = 0;
    for (int64_t rest = ns; rest > 1; rest /= 2) size++;
    x->excess->n[size]++;
    if (ns > x->excess->most[size]) x->excess->most[size] = ns;
    return RS_OK;
}

/* An end on clock `to`, and a start of another part on clock `from`: by `ns` after it. */
static enum rs_status narrow(const struct hull *h, uint32_t to, uint32_t from, int64_t ns, struct rs_err *err)
{
    struct margin *ended = &h->margins[to], *started = &h->margins[from];
    int64_t allowed = rs_time_plus(h->m->domains[to].error_ns, h->m->domains[from].error_ns);
    if (ns < 0 && -(ns + 1) >= allowed) { /* before it, by more than the errors */
        RS_TRY(exceeds(ended, -(ns / 2) + 1, err));
        return exceeds(started, -(ns / 2) + 1, err);
    }
    if (ended->low == RS_TIME_NONE || -ns > ended->low) ended->low = -ns;
    if (started->high == RS_TIME_NONE || ns < started->high) started->high = ns;
    return RS_OK;
}

/* The clock, where it can be compared with those of the island; else RS_NONE. */
static uint32_t comparable(const struct rs_model *m, uint32_t domain, uint32_t island)
{
    return domain != RS_NONE && m->domains[domain].island == island ? domain : RS_NONE;
}

static enum rs_status check_op(const struct hull *h, uint32_t op, struct rs_err *err)
{
    const struct rs_model *m = h->m;
    const uint32_t *parts = &m->order[m->ops.part[op]];
    struct extreme start = {RS_TIME_NONE, RS_TIME_NONE, RS_NONE, RS_NONE};
    uint32_t island = RS_NONE, n = m->ops.nparts[op], other;
    for (uint32_t i = 0; i < n; i++) {
        if (m->parts.flags[parts[i]] & RS_PART_STALE) continue;
        uint32_t s = rs_part_start_domain(m, parts[i]), e = rs_part_end_domain(m, parts[i]);
        if (island == RS_NONE && e != RS_NONE) island = m->domains[e].island;
        take(&start, m->parts.start[parts[i]], comparable(m, s, island), 1);
    }
    struct extreme end = {RS_TIME_NONE, RS_TIME_NONE, RS_NONE, RS_NONE};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = parts[i], e = comparable(m, rs_part_end_domain(m, part), island);
        if ((m->parts.flags[part] & RS_PART_STALE) || e == RS_NONE) continue;
        h->margins[e].ops++;
        if (!rs_part_has_ended(m, part)) continue;
        take(&end, m->parts.end[part], e, -1);
        int64_t latest = of_others(&start, e, &other);
        if (latest != RS_TIME_NONE) RS_TRY(narrow(h, e, other, rs_time_minus(m->parts.end[part], latest), err));
    }
    for (uint32_t i = 0; i < n; i++) { /* the others' first end: what bounds a start that is not the last */
        uint32_t part = parts[i], s = comparable(m, rs_part_start_domain(m, part), island);
        if ((m->parts.flags[part] & RS_PART_STALE) || s == RS_NONE || m->parts.start[part] == RS_TIME_NONE) continue;
        int64_t earliest = of_others(&end, s, &other);
        int64_t room = earliest == RS_TIME_NONE ? RS_TIME_NONE : rs_time_minus(earliest, m->parts.start[part]);
        if (room >= 0 && (h->margins[s].high == RS_TIME_NONE || room < h->margins[s].high)) h->margins[s].high = room;
    }
    return RS_OK;
}

static enum rs_status check_all(const struct hull *h, struct rs_err *err)
{
    const struct rs_model *m = h->m;
    uint16_t last = 0;
    bool symmetric = false;
    for (uint32_t i = 0; i < m->ndomains; i++) h->margins[i].low = h->margins[i].high = RS_TIME_NONE;
    for (uint32_t k = 0; k < m->ops.n; k++) {
        if (m->ops.kind[k] != RS_OP_COLL || m->ops.nparts[k] < 2 || (m->ops.flags[k] & RS_OP_DOUBLE) ||
            m->ops.over[k] != RS_NONE)
            continue;
        if (m->ops.func[k] != last) symmetric = rs_func_flow(m, last = m->ops.func[k]) == RS_FLOW_ALL;
        if (symmetric) RS_TRY(check_op(h, k, err));
    }
    return RS_OK;
}

/* What the error of a clock must be for all but few of its operations to agree. A single one is not believed, and of those
 * that are far beyond the error, many are needed: they are broken, not the clock. */
static int64_t wanted(const struct margin *x, int64_t error)
{
    uint64_t above = 0;
    for (unsigned size = SIZES; x->excess && size-- > 0;) {
        above += x->excess->n[size];
        double most = x->excess->most[size] / FAR_BEYOND > error ? MOST_WILD : MOST_BROKEN;
        if ((double)above > fmax(most * (double)x->ops, 1)) return x->excess->most[size];
    }
    return 0;
}

/* Errors grow until operations do not contradict them. What hangs on a clock that was in doubt is, too. */
static bool grow(const struct hull *h)
{
    struct rs_domain *domains = h->m->domains;
    bool any = false;
    for (uint32_t i = 0; i < h->m->ndomains; i++) {
        int64_t error = wanted(&h->margins[i], domains[i].error_ns), more = rs_time_minus(error, domains[i].error_ns);
        if (domains[i].error_ns == RS_TIME_NONE || error <= domains[i].error_ns) continue;
        domains[i].error_ns = error;
        struct rs_domain *host = &domains[domains[i].host_domain];
        if (domains[i].kind == RS_DOMAIN_GPU && host->error_ns != RS_TIME_NONE && host->island == domains[i].island)
            host->error_ns = rs_time_plus(host->error_ns, more);
        any = true;
    }
    return any;
}

enum rs_status rs_hull_check(struct rs_model *m, struct rs_err *err)
{
    struct hull h = {m, calloc((size_t)m->ndomains + 1, sizeof *h.margins)};
    if (!h.margins) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = check_all(&h, err);
    if (status == RS_OK && grow(&h)) status = check_all(&h, err);
    for (uint32_t i = 0; i < m->ndomains; i++) {
        m->domains[i].hull_low_ns = h.margins[i].low;
        m->domains[i].hull_high_ns = h.margins[i].high;
        free(h.margins[i].excess);
    }
    free(h.margins);
    return status;
}
