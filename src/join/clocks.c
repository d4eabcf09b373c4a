#include "join/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/attach.h"
#include "join/consensus.h"
#include "join/flow.h"
#include "join/islands.h"
#include "join/overlay_clock.h"
#include "join/samples.h"
#include "join/unshifted.h"

/* ---- the happens-before hull ----
 * How far each clock could be shifted before an effect preceded its cause.
 *
 * In a symmetric collective every rank ends after every other rank has started. Over all collectives this bounds each
 * clock on both sides, without any assumption about ends. It is a check of the fit, not an estimate: its middle would
 * hide half of the lateness of a persistent straggler. Works on an aligned model and sets hull_low_ns and hull_high_ns
 * of its clocks. Single operations that contradict are considered broken. If more than one in 200 of a clock's
 * operations contradict, its stated error is increased until they do not (one in ten, if they contradict by far). */

#define MOST_BROKEN                                                                                                    \
    0.005 /* of a clock's operations may contradict: they are joined wrongly, or their times are another's */
#define MOST_WILD 0.1 /* by more than FAR_BEYOND times the error */
enum { FAR_BEYOND = 16, SIZES = 64 };

/* By how much operations contradict the stated errors: half of the excess for each of the two clocks, by powers of two. */
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

/* The extreme of a value over the parts, and the extreme over the parts on any other clock. */
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

static void exceeds(struct margin *x, int64_t ns)
{
    if (!x->excess) x->excess = rs_zalloc(1, sizeof *x->excess);
    unsigned size = 0;
    for (int64_t rest = ns; rest > 1; rest /= 2) size++;
    x->excess->n[size]++;
    if (ns > x->excess->most[size]) x->excess->most[size] = ns;
}

/* An end on clock `to`, `ns` after the start of another part on clock `from`. */
static void narrow(const struct hull *h, uint32_t to, uint32_t from, int64_t ns)
{
    struct margin *ended = &h->margins[to], *started = &h->margins[from];
    int64_t allowed = rs_time_plus(h->m->domains[to].error_ns, h->m->domains[from].error_ns);
    if (ns < 0 && -(ns + 1) >= allowed) { /* before it, by more than the errors */
        exceeds(ended, -(ns / 2) + 1);
        exceeds(started, -(ns / 2) + 1);
        return;
    }
    if (ended->low == RS_TIME_NONE || -ns > ended->low) ended->low = -ns;
    if (started->high == RS_TIME_NONE || ns < started->high) started->high = ns;
}

/* The clock, if it can be compared with those of the island; else RS_NONE. */
static uint32_t comparable(const struct rs_model *m, uint32_t domain, uint32_t island)
{
    return domain != RS_NONE && m->domains[domain].island == island ? domain : RS_NONE;
}

static void check_op(const struct hull *h, uint32_t op)
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
        if (latest != RS_TIME_NONE) narrow(h, e, other, rs_time_minus(m->parts.end[part], latest));
    }
    for (uint32_t i = 0; i < n; i++) { /* the first end of the others bounds a start that is not the last */
        uint32_t part = parts[i], s = comparable(m, rs_part_start_domain(m, part), island);
        if ((m->parts.flags[part] & RS_PART_STALE) || s == RS_NONE || m->parts.start[part] == RS_TIME_NONE) continue;
        int64_t earliest = of_others(&end, s, &other);
        int64_t room = earliest == RS_TIME_NONE ? RS_TIME_NONE : rs_time_minus(earliest, m->parts.start[part]);
        if (room >= 0 && (h->margins[s].high == RS_TIME_NONE || room < h->margins[s].high)) h->margins[s].high = room;
    }
}

static void check_all(const struct hull *h)
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
        if (symmetric) check_op(h, k);
    }
}

/* The error at which all but a few operations of a clock agree. A single operation does not count, and many are needed
 * if they are far beyond the error: then the operations are broken, not the clock. */
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

/* Increases errors until operations do not contradict them. A clock that depends on a doubtful one is doubtful too. */
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

static void hull_check(struct rs_model *m)
{
    struct hull h = {m, rs_zalloc((size_t)m->ndomains + 1, sizeof *h.margins)};
    if (!h.margins) rs_memory_out();
    check_all(&h);
    if (grow(&h)) check_all(&h);
    for (uint32_t i = 0; i < m->ndomains; i++) {
        m->domains[i].hull_low_ns = h.margins[i].low;
        m->domains[i].hull_high_ns = h.margins[i].high;
        free(h.margins[i].excess);
    }
    free(h.margins);
}

/* ---- rewriting times ----
 * Converts all times of the model, in place, each by the clock that it came from; RS_TIME_NONE stays. Called once. */

static void move(struct rs_axis *axis, int64_t *t)
{
    *t = rs_axis_common(axis, *t);
}

static void retime_parts(struct rs_model *m)
{
    struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rs_member *x = &m->members[p->member[i]];
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, p->member[i])].axis;
        struct rs_axis *gpu = x->gpu == RS_NONE ? host : &m->domains[x->gpu].axis;
        move(host, &p->enqueued[i]);
        move(host, &p->launched[i]);
        move(p->start_source[i] == RS_FROM_KERNEL ? gpu : host, &p->start[i]);
        move(p->end_source[i] == RS_FROM_KERNEL ? gpu : host, &p->end[i]);
        move(p->after_source[i] == RS_FROM_KERNEL ? gpu : host, &p->after[i]);
        move(host, &p->before[i]);
    }
}

static void retime_activities(struct rs_model *m)
{
    struct rs_activities *a = &m->activities;
    for (uint32_t i = 0; i < a->n; i++) {
        struct rs_axis *axis = &m->domains[m->lanes[a->lane[i]].domain].axis;
        move(axis, &a->start[i]);
        move(axis, &a->end[i]);
    }
}

static void retime_proc(struct rs_model *m, struct rs_proc *p)
{
    struct rs_axis *host = &m->domains[m->hosts[p->host].domain].axis;
    move(host, &p->begin);
    move(host, &p->end);
    move(host, &p->first);
    move(host, &p->last);
    move(host, &p->overwritten_until);
    move(host, &p->cut_until);
    for (uint32_t i = 0; i < p->ncovers; i++) {
        move(host, &p->covers[i].from);
        if (p->covers[i].to != INT64_MAX) move(host, &p->covers[i].to); /* INT64_MAX: open */
    }
    for (uint32_t i = 0; i < p->ngaps; i++) {
        move(host, &p->gaps[i].from);
        move(host, &p->gaps[i].to);
    }
}

static void retime(struct rs_model *m)
{
    retime_parts(m);
    retime_activities(m);
    for (uint32_t i = 0; i < m->nprocs; i++) retime_proc(m, &m->procs[i]);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, i)].axis;
        move(host, &m->members[i].created);
        move(host, &m->members[i].destroyed);
    }
    for (uint32_t i = 0; i < m->nopens; i++)
        move(&m->domains[m->hosts[m->procs[m->opens[i].proc].host].domain].axis, &m->opens[i].since);
    for (uint32_t i = 0; i < m->nnets; i++) {
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, m->nets[i].member)].axis;
        move(host, &m->nets[i].from);
        move(host, &m->nets[i].to);
    }
    for (uint32_t i = 0; i < m->nnet_samples; i++) {
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, m->net_samples[i].member)].axis;
        move(host, &m->net_samples[i].from);
        move(host, &m->net_samples[i].to);
    }
}

/* ---- clocks ---- */

#define STALE_SLACK 2000.0 /* ns by which a start may precede its launch, because bounds have errors */
#define FAR_APART 60e9 /* ns between wall clocks that needs proof */
enum {
    PROOF = 8, /* ends that are proof */
    MOST_NOTES = 4,
    MOST_OVERTAKEN =
        64, /* in a row, as many as a ring of timers holds: beyond that, the earlier launch has the wrong time */
};

/* Working memory. */
struct clocks {
    struct rs_attach *attach; /* by domain */
    int64_t *bases, *lasts; /* by domain: its first time, and the last */
    struct rs_track *tracks; /* by domain */
    uint32_t *gpus, *gpus_first;
    bool *placed;
    bool *unshifted; /* by domain: join/unshifted.h */
    double *errors;
    struct rs_samples collectives, pairs;
    struct rs_islands islands;
};

static void clocks_init(struct clocks *c, const struct rs_model *m)
{
    size_t n = (size_t)m->ndomains + 2;
    c->attach = rs_zalloc(n, sizeof *c->attach);
    c->tracks = rs_zalloc(n, sizeof *c->tracks);
    c->gpus = rs_zalloc(n, sizeof *c->gpus);
    c->gpus_first = rs_zalloc(n, sizeof *c->gpus_first);
    c->placed = rs_zalloc(n, sizeof *c->placed);
    c->unshifted = rs_zalloc(n, sizeof *c->unshifted);
    c->errors = rs_zalloc(n, sizeof *c->errors);
    c->islands.methods = rs_zalloc(n, sizeof *c->islands.methods);
    c->islands.islands = rs_zalloc(n, sizeof *c->islands.islands);
    c->islands.anchors = rs_zalloc(n, sizeof *c->islands.anchors);
}

static void clocks_free(struct clocks *c, const struct rs_model *m)
{
    for (uint32_t i = 0; c->attach && i < m->ndomains; i++) rs_attach_free(&c->attach[i]);
    free(c->attach);
    free(c->bases);
    free(c->lasts);
    rs_tracks_free(c->tracks, m->ndomains);
    free(c->gpus);
    free(c->gpus_first);
    free(c->placed);
    free(c->unshifted);
    free(c->errors);
    rs_samples_free(&c->collectives);
    rs_samples_free(&c->pairs);
    free(c->islands.methods);
    free(c->islands.islands);
    free(c->islands.anchors);
}

static void index_gpus(struct clocks *c, const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].kind == RS_DOMAIN_GPU) c->gpus_first[m->domains[i].host_domain + 2]++;
    for (uint32_t i = 0; i < m->ndomains; i++) c->gpus_first[i + 2] += c->gpus_first[i + 1];
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].kind == RS_DOMAIN_GPU) c->gpus[c->gpus_first[m->domains[i].host_domain + 1]++] = i;
}

/* ---- stale timers ---- */

static void drop_times(struct rs_model *m, uint32_t i, uint32_t gpu)
{
    struct rs_parts *p = &m->parts;
    p->flags[i] |= RS_PART_STALE;
    p->start[i] = RS_TIME_NONE;
    p->start_source[i] = RS_FROM_NOTHING;
    if (p->end_source[i] == RS_FROM_KERNEL) {
        p->end[i] = RS_TIME_NONE;
        p->end_source[i] = RS_FROM_NOTHING;
    }
    if (p->after_source[i] == RS_FROM_KERNEL) p->after[i] = RS_TIME_NONE;
    m->domains[gpu].stale++;
}

/* A kernel cannot start before it was launched. Captured ones were launched long before they run. */
static void drop_stale(struct rs_model *m, const struct clocks *c)
{
    struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t gpu = m->members[p->member[i]].gpu;
        if (gpu == RS_NONE || p->start_source[i] != RS_FROM_KERNEL || p->start[i] == RS_TIME_NONE) continue;
        if (p->flags[i] & RS_PART_STALE) continue;
        int64_t launch = rs_part_launch(m, i);
        double low, high;
        if (launch == RS_TIME_NONE || !rs_attach_at(&c->attach[gpu], p->start[i], &low, &high)) continue;
        int64_t d = rs_time_minus(rs_time_minus(launch, p->start[i]), c->attach[gpu].d0);
        if ((double)d <= high + STALE_SLACK) continue;
        drop_times(m, i, gpu);
    }
}

/* The kernels of a member start in the order of their launches: one that starts before an earlier launch did has the
 * time of older work. (Importers see kernels in the order of reading, and by channel.) */
static void drop_overtaken(struct rs_model *m)
{
    struct turn {
        int64_t start, before; /* of the latest launch that is valid, and of the previous one */
        uint64_t launch;
        bool second; /* there is a previous one */
        uint32_t dropped; /* in a row, because of this one */
    } *turns = rs_zalloc((size_t)m->nmembers + 1, sizeof *turns);
    struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t gpu = m->members[p->member[i]].gpu;
        if (gpu == RS_NONE || m->domains[gpu].rigid || !p->launch[i]) continue;
        if (p->start_source[i] != RS_FROM_KERNEL || p->start[i] == RS_TIME_NONE) continue;
        if (p->captured[i] || (p->flags[i] & (RS_PART_CAPTURED | RS_PART_STALE))) continue;
        struct turn *t = &turns[p->member[i]];
        bool same = p->launch[i] == t->launch;
        bool early = (same ? t->second : t->launch != 0) &&
                     rs_time_minus(same ? t->before : t->start, p->start[i]) > (int64_t)STALE_SLACK;
        if (early && t->dropped < MOST_OVERTAKEN) {
            t->dropped++;
            drop_times(m, i, gpu);
        } else if (!same) {
            *t = (struct turn){
                .start = p->start[i], .before = t->start, .launch = p->launch[i], .second = t->launch != 0};
        } else if (p->start[i] > t->start) {
            t->start = p->start[i];
        }
    }
    free(turns);
}

/* ---- results ---- */

/* Clocks of hosts are at most seconds apart. More needs operations as proof; otherwise the clock stays on its own time. */
static bool is_too_far(const struct rs_model *m, const struct clocks *c, uint32_t domain)
{
    const struct rs_domain *d = &m->domains[domain];
    const struct rs_track *t = &c->tracks[domain], *anchor = &c->tracks[c->islands.anchors[domain]];
    if ((d->kind == RS_DOMAIN_GPU && !d->rigid) || t->base < RS_TIME_WALL || anchor->base < RS_TIME_WALL) return false;
    uint32_t near = 0, fitted = t->n;
    double ahead = (double)rs_time_minus(anchor->base, t->base);
    if (fabs(ahead + rs_curve_at(&t->curve, 0, &near)) < FAR_APART) return false;
    for (uint32_t k = c->gpus_first[domain]; d->kind == RS_DOMAIN_HOST && k < c->gpus_first[domain + 1]; k++)
        if (c->tracks[c->gpus[k]].n > fitted) fitted = c->tracks[c->gpus[k]].n;
    return fitted < PROOF;
}

static void refuse(struct clocks *c, uint32_t domain)
{
    free(c->tracks[domain].curve.points);
    c->tracks[domain].curve = (struct rs_curve){0};
    c->islands.islands[domain] = c->islands.anchors[domain] = domain;
    c->islands.methods[domain] = RS_CLOCK_WALL;
    c->errors[domain] = NAN;
}

static void keep_axis(struct rs_model *m, struct clocks *c, uint32_t domain)
{
    struct rs_domain *d = &m->domains[domain];
    struct rs_track *t = &c->tracks[domain];
    uint32_t n = t->curve.n < 2 ? 2 : t->curve.n;
    struct rs_knot *knots = rs_arena_alloc(&m->arena, n * sizeof *knots);
    int64_t ahead = rs_time_minus(c->tracks[c->islands.anchors[domain]].base, t->base);
    for (uint32_t i = 0; i < n; i++) {
        double x = i < t->curve.n ? t->curve.points[i].x : (t->curve.n ? t->curve.points[0].x : 0) + 1e9 * (i + 1);
        knots[i].at = (int64_t)((uint64_t)t->base + (uint64_t)llround(x));
        knots[i].add = (double)ahead + rs_curve_at(&t->curve, x, &t->near);
    }
    d->axis = (struct rs_axis){.knots = knots, .n = n};
    double span = (double)rs_time_minus(knots[n - 1].at, knots[0].at);
    /* A clock that runs fast needs less and less added. */
    d->drift_ppm = span > 0 ? -(knots[n - 1].add - knots[0].add) / span * 1e6 : 0;
    d->island = c->islands.islands[domain];
    d->method = c->islands.methods[domain];
    if (d->method == RS_CLOCK_ENDS && c->unshifted[domain]) d->method = RS_CLOCK_UNSHIFTED;
    if (d->method == RS_CLOCK_WALL && !c->bases[domain]) d->method = RS_CLOCK_NONE; /* never seen */
    d->error_ns = isnan(c->errors[domain]) ? RS_TIME_NONE : llround(fmin(ceil(c->errors[domain]), 1e18));
    d->fitted = t->n;
    d->spread_ns = t->n ? llround(t->spread) : RS_TIME_NONE;
}

/* What a clock that is not aligned shows: tools without wall time count from an arbitrary zero. */
static const char *axis_of(const struct rs_model *m, uint32_t host)
{
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (m->procs[i].host == host && m->procs[i].last > 0 && m->procs[i].last < RS_TIME_WALL)
            return "the time of its own process, which is not wall time";
    return "wall time";
}

/* One note per island other than the main one; the first few by name. */
static enum rs_status say_islands(struct rs_model *m, struct rs_err *err)
{
    uint32_t apart = 0, *sizes = rs_zalloc((size_t)m->ndomains + 1, sizeof *sizes);
    for (uint32_t i = 0; i < m->parts.n; i++) { /* without a start or an end there is nothing to compare */
        if (m->parts.start[i] == RS_TIME_NONE && m->parts.end[i] == RS_TIME_NONE) continue;
        uint32_t gpu = m->members[m->parts.member[i]].gpu;
        sizes[m->domains[rs_member_host_domain(m, m->parts.member[i])].island] = 1;
        if (gpu != RS_NONE) sizes[m->domains[gpu].island] = 1;
    }
    for (uint32_t i = 0; i < m->ndomains; i++) /* the clock that identifies an island is already counted */
        if (m->domains[i].island != i && sizes[m->domains[i].island]) sizes[m->domains[i].island]++;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ndomains && status == RS_OK; i++) {
        const struct rs_domain *d = &m->domains[i];
        if (d->method != RS_CLOCK_WALL || !sizes[i] || apart++ >= MOST_NOTES) continue;
        const char *what = d->kind == RS_DOMAIN_GPU ? "a GPU" : "the clock", *host = rs_host_label(m, d->host);
        if (sizes[i] > 1)
            status = rs_model_note(
                m, err,
                "clocks: %s of host %s and %u other%s cannot be aligned with the others (no operation in common, "
                "or too few times): they stay on %s and are not compared with the others",
                what, host, sizes[i] - 1, sizes[i] == 2 ? "" : "s", axis_of(m, d->host));
        else
            status = rs_model_note(
                m, err,
                "clocks: %s of host %s cannot be aligned with the others (no operation in common, or too few "
                "times): it stays on %s and is not compared with the others",
                what, host, axis_of(m, d->host));
    }
    free(sizes);
    if (status == RS_OK && apart > MOST_NOTES)
        status = rs_model_note(m, err, "clocks: the same applies to %u more", apart - MOST_NOTES);
    return status;
}

/* ---- all steps ---- */

static void find(struct rs_model *m, struct clocks *c)
{
    rs_samples_collectives(&c->collectives, m, c->bases);
    for (uint32_t i = 0; i < m->ndomains; i++) c->tracks[i].base = c->bases[i];
    uint32_t ncomponents;
    rs_consensus_find(c->tracks, m, &c->collectives, &ncomponents);
    rs_unshifted_find(c->tracks, m, c->unshifted, &ncomponents);
    uint32_t *component = rs_zalloc((size_t)m->ndomains + 1, sizeof *component);
    for (uint32_t i = 0; i < m->ndomains; i++) component[i] = c->tracks[i].component;
    rs_samples_pairs(&c->pairs, m, c->bases, component);
    free(component);
    index_gpus(c, m);
    struct rs_clockwork w = {m, c->tracks, c->attach, c->gpus, c->gpus_first, &c->pairs, c->placed, c->errors};
    rs_islands_join(&w, ncomponents, &c->islands);
    rs_overlay_place(&w, &c->islands);
}

/* Clocks that tools reported as one, from the first time to the last. */
static void attach_rigid(const struct rs_model *m, struct clocks *c)
{
    rs_samples_spans(m, &c->bases, &c->lasts);
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].rigid) rs_attach_rigid(&c->attach[i], c->bases[i], c->lasts[i]);
}

static enum rs_status align_all(struct rs_model *m, struct clocks *c, bool align, struct rs_err *err)
{
    clocks_init(c, m);
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (!m->domains[i].rigid) rs_attach_init(&c->attach[i], m->domains[i].bounds);
    attach_rigid(m, c);
    drop_stale(m, c);
    if (!align) {
        drop_overtaken(m);
        return RS_OK;
    }
    find(m, c);
    /* Last, because ranks that all have the same older work in its place are aligned by it just as well. */
    drop_overtaken(m);
    for (uint32_t i = 0; i < m->ndomains; i++) {
        if (is_too_far(m, c, i)) refuse(c, i);
        keep_axis(m, c, i);
    }
    retime(m);
    m->aligned = true;
    RS_TRY(say_islands(m, err));
    hull_check(m);
    return RS_OK;
}

enum rs_status rs_clocks_align(struct rs_model *m, bool align, struct rs_err *err)
{
    struct clocks c = {0};
    enum rs_status status = align_all(m, &c, align, err);
    clocks_free(&c, m);
    return status;
}

/* d = host - GPU at a GPU time, from the axes if there are any. */
static bool fitted_d(struct rs_model *m, uint32_t gpu, const struct rs_attach *a, int64_t at, double *d)
{
    struct rs_domain *g = &m->domains[gpu], *h = &m->domains[g->host_domain];
    if (m->aligned && g->island == h->island) {
        *d = (double)rs_time_minus(rs_axis_local(&h->axis, rs_axis_common(&g->axis, at)), at);
        return true;
    }
    double low, high;
    if (!rs_attach_at(a, at, &low, &high)) return false;
    *d = (double)a->d0 + (isinf(low) ? high : (low + high) / 2);
    return true;
}

void rs_clocks_late(struct rs_model *m, uint32_t gpu, struct rs_late *late)
{
    *late = (struct rs_late){RS_TIME_NONE, RS_TIME_NONE};
    const struct rs_bounds *b = m->domains[gpu].bounds;
    if (!b || !b->nsamples) return;
    struct rs_attach a;
    rs_attach_init(&a, b);
    double *values = rs_zalloc(b->nsamples, sizeof *values), d;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nsamples; i++)
        if (fitted_d(m, gpu, &a, b->samples[i].at, &d)) values[n++] = fmax((double)b->samples[i].d - d, 0);
    rs_attach_free(&a);
    if (n) {
        late->p50_ns = llround(rs_fit_quantile(values, n, 0.5));
        late->p99_ns = llround(rs_fit_quantile(values, n, 0.99));
    }
    free(values);
}
