#include "join/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/attach.h"
#include "join/consensus.h"
#include "join/hull.h"
#include "join/islands.h"
#include "join/overlay_clock.h"
#include "join/retime.h"
#include "join/samples.h"
#include "join/unshifted.h"

#define STALE_SLACK 2000.0 /* ns before its launch that a start may lie, bounds being what they are */
#define FAR_APART 60e9 /* ns that wall clocks are not apart without proof */
enum {
    PROOF = 8, /* ends that prove it */
    MOST_NOTES = 4,
    MOST_OVERTAKEN = 64, /* in a row, as many as a ring of timers holds: else it is that one which is wrong */
};

/* What is needed on the way; freed at its end. */
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

static enum rs_status clocks_init(struct clocks *c, const struct rs_model *m, struct rs_err *err)
{
    size_t n = (size_t)m->ndomains + 2;
    c->attach = calloc(n, sizeof *c->attach);
    c->tracks = calloc(n, sizeof *c->tracks);
    c->gpus = calloc(n, sizeof *c->gpus);
    c->gpus_first = calloc(n, sizeof *c->gpus_first);
    c->placed = calloc(n, sizeof *c->placed);
    c->unshifted = calloc(n, sizeof *c->unshifted);
    c->errors = calloc(n, sizeof *c->errors);
    c->islands.methods = calloc(n, sizeof *c->islands.methods);
    c->islands.islands = calloc(n, sizeof *c->islands.islands);
    c->islands.anchors = calloc(n, sizeof *c->islands.anchors);
    return c->attach && c->tracks && c->gpus && c->gpus_first && c->placed && c->unshifted && c->errors &&
                   c->islands.methods && c->islands.islands && c->islands.anchors
               ? RS_OK
               : rs_fail(err, RS_NO_MEMORY, "out of memory");
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
        if (p->captured[i] || (p->flags[i] & (RS_PART_CAPTURED | RS_PART_STALE))) continue;
        /* A kernel may start before its launch returns. */
        int64_t launched = p->flags[i] & RS_PART_LAUNCH_END ? RS_TIME_NONE : p->launched[i];
        /* Before v5 there is no API call, and the Coll or P2p, whose parent is the plan, is told after the launch. */
        bool called = p->group[i] != p->launch[i];
        int64_t launch = launched == RS_TIME_NONE && called ? p->enqueued[i] : launched;
        double low, high;
        if (launch == RS_TIME_NONE || !rs_attach_at(&c->attach[gpu], p->start[i], &low, &high)) continue;
        int64_t d = rs_time_minus(rs_time_minus(launch, p->start[i]), c->attach[gpu].d0);
        if ((double)d <= high + STALE_SLACK) continue;
        drop_times(m, i, gpu);
    }
}

/* The kernels of a member start in the order of their launches: one that starts before an earlier launch did has
 * the time of older work. (Importers see them in the order in which they were read, and channel by channel.) */
static enum rs_status drop_overtaken(struct rs_model *m, struct rs_err *err)
{
    struct turn {
        int64_t start, before; /* of the latest launch that is believed, and of the one before */
        uint64_t launch;
        bool second; /* there is one before */
        uint32_t dropped; /* one behind the other, because of it */
    } *turns = calloc((size_t)m->nmembers + 1, sizeof *turns);
    if (!turns) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
    return RS_OK;
}

/* ---- what was found ---- */

/* Hosts' clocks are seconds apart at most. More takes operations that prove it: else the clock stays on its own time. */
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

static enum rs_status keep_axis(struct rs_model *m, struct clocks *c, uint32_t domain, struct rs_err *err)
{
    struct rs_domain *d = &m->domains[domain];
    struct rs_track *t = &c->tracks[domain];
    uint32_t n = t->curve.n < 2 ? 2 : t->curve.n;
    struct rs_knot *knots = rs_arena_alloc(&m->arena, n * sizeof *knots);
    if (!knots) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    int64_t ahead = rs_time_minus(c->tracks[c->islands.anchors[domain]].base, t->base);
    for (uint32_t i = 0; i < n; i++) {
        double x = i < t->curve.n ? t->curve.points[i].x : (t->curve.n ? t->curve.points[0].x : 0) + 1e9 * (i + 1);
        knots[i].at = (int64_t)((uint64_t)t->base + (uint64_t)llround(x));
        knots[i].add = (double)ahead + rs_curve_at(&t->curve, x, &t->near);
    }
    d->axis = (struct rs_axis){.knots = knots, .n = n};
    double span = (double)rs_time_minus(knots[n - 1].at, knots[0].at);
    /* A clock that gains on the axis needs less and less added. */
    d->drift_ppm = span > 0 ? -(knots[n - 1].add - knots[0].add) / span * 1e6 : 0;
    d->island = c->islands.islands[domain];
    d->method = c->islands.methods[domain];
    if (d->method == RS_CLOCK_ENDS && c->unshifted[domain]) d->method = RS_CLOCK_UNSHIFTED;
    if (d->method == RS_CLOCK_WALL && !c->bases[domain]) d->method = RS_CLOCK_NONE; /* it was never seen */
    d->error_ns = isnan(c->errors[domain]) ? RS_TIME_NONE : llround(fmin(ceil(c->errors[domain]), 1e18));
    d->fitted = t->n;
    d->spread_ns = t->n ? llround(t->spread) : RS_TIME_NONE;
    return RS_OK;
}

/* What a clock that cannot be tied to others shows: tools without wall time count from a zero of their own. */
static const char *axis_of(const struct rs_model *m, uint32_t host)
{
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (m->procs[i].host == host && m->procs[i].last > 0 && m->procs[i].last < RS_TIME_WALL)
            return "the time that its process counts, which is no wall time";
    return "wall time";
}

/* One note for each island beside the main one; the first few by name. */
static enum rs_status say_islands(struct rs_model *m, struct rs_err *err)
{
    uint32_t apart = 0, *sizes = calloc((size_t)m->ndomains + 1, sizeof *sizes);
    if (!sizes) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->parts.n; i++) { /* without a start or an end there is nothing to compare */
        if (m->parts.start[i] == RS_TIME_NONE && m->parts.end[i] == RS_TIME_NONE) continue;
        uint32_t gpu = m->members[m->parts.member[i]].gpu;
        sizes[m->domains[rs_member_host_domain(m, m->parts.member[i])].island] = 1;
        if (gpu != RS_NONE) sizes[m->domains[gpu].island] = 1;
    }
    for (uint32_t i = 0; i < m->ndomains; i++) /* one that names an island is counted already */
        if (m->domains[i].island != i && sizes[m->domains[i].island]) sizes[m->domains[i].island]++;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ndomains && status == RS_OK; i++) {
        const struct rs_domain *d = &m->domains[i];
        if (d->method != RS_CLOCK_WALL || !sizes[i] || apart++ >= MOST_NOTES) continue;
        const char *what = d->kind == RS_DOMAIN_GPU ? "a GPU" : "the clock", *host = rs_host_label(m, d->host);
        if (sizes[i] > 1)
            status = rs_model_note(
                m, err,
                "clocks: %s of host %s and %u other%s could not be tied to the rest (no operation in common, "
                "or too few times): they stay on %s, and are not compared with the rest",
                what, host, sizes[i] - 1, sizes[i] == 2 ? "" : "s", axis_of(m, d->host));
        else
            status =
                rs_model_note(m, err,
                              "clocks: %s of host %s could not be tied to the rest (no operation in common, or too few "
                              "times): it stays on %s, and is not compared with the rest",
                              what, host, axis_of(m, d->host));
    }
    free(sizes);
    if (status == RS_OK && apart > MOST_NOTES)
        status = rs_model_note(m, err, "clocks: so it is with %u more", apart - MOST_NOTES);
    return status;
}

/* ---- all of it ---- */

static enum rs_status find(struct rs_model *m, struct clocks *c, struct rs_err *err)
{
    RS_TRY(rs_samples_collectives(&c->collectives, m, c->bases, err));
    for (uint32_t i = 0; i < m->ndomains; i++) c->tracks[i].base = c->bases[i];
    uint32_t ncomponents;
    RS_TRY(rs_consensus_find(c->tracks, m, &c->collectives, &ncomponents, err));
    RS_TRY(rs_unshifted_find(c->tracks, m, c->unshifted, &ncomponents, err));
    uint32_t *component = calloc((size_t)m->ndomains + 1, sizeof *component);
    if (!component) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->ndomains; i++) component[i] = c->tracks[i].component;
    enum rs_status status = rs_samples_pairs(&c->pairs, m, c->bases, component, err);
    free(component);
    RS_TRY(status);
    index_gpus(c, m);
    struct rs_clockwork w = {m, c->tracks, c->attach, c->gpus, c->gpus_first, &c->pairs, c->placed, c->errors};
    RS_TRY(rs_islands_join(&w, ncomponents, &c->islands, err));
    return rs_overlay_place(&w, &c->islands, err);
}

/* Clocks that tools gave as one, from their first time to the last. */
static enum rs_status attach_rigid(const struct rs_model *m, struct clocks *c, struct rs_err *err)
{
    RS_TRY(rs_samples_spans(m, &c->bases, &c->lasts, err));
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].rigid) RS_TRY(rs_attach_rigid(&c->attach[i], c->bases[i], c->lasts[i], err));
    return RS_OK;
}

static enum rs_status align_all(struct rs_model *m, struct clocks *c, bool align, struct rs_err *err)
{
    RS_TRY(clocks_init(c, m, err));
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (!m->domains[i].rigid) RS_TRY(rs_attach_init(&c->attach[i], m->domains[i].bounds, err));
    RS_TRY(attach_rigid(m, c, err));
    drop_stale(m, c);
    if (!align) return drop_overtaken(m, err);
    RS_TRY(find(m, c, err));
    /* Only now: all ranks that tell the same older work in its place tell their clocks by it as well. */
    RS_TRY(drop_overtaken(m, err));
    for (uint32_t i = 0; i < m->ndomains; i++) {
        if (is_too_far(m, c, i)) refuse(c, i);
        RS_TRY(keep_axis(m, c, i, err));
    }
    rs_retime(m);
    m->aligned = true;
    RS_TRY(say_islands(m, err));
    return rs_hull_check(m, err);
}

enum rs_status rs_clocks_align(struct rs_model *m, bool align, struct rs_err *err)
{
    struct clocks c = {0};
    enum rs_status status = align_all(m, &c, align, err);
    clocks_free(&c, m);
    return status;
}

/* d = host - GPU at a GPU time, by the axes where there are any. */
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

enum rs_status rs_clocks_late(struct rs_model *m, uint32_t gpu, struct rs_late *late, struct rs_err *err)
{
    *late = (struct rs_late){RS_TIME_NONE, RS_TIME_NONE};
    const struct rs_bounds *b = m->domains[gpu].bounds;
    if (!b || !b->nsamples) return RS_OK;
    struct rs_attach a;
    RS_TRY(rs_attach_init(&a, b, err));
    double *values = calloc(b->nsamples, sizeof *values), d;
    uint32_t n = 0;
    for (uint32_t i = 0; values && i < b->nsamples; i++)
        if (fitted_d(m, gpu, &a, b->samples[i].at, &d)) values[n++] = fmax((double)b->samples[i].d - d, 0);
    rs_attach_free(&a);
    if (!values) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (n) {
        late->p50_ns = llround(rs_fit_quantile(values, n, 0.5));
        late->p99_ns = llround(rs_fit_quantile(values, n, 0.99));
    }
    free(values);
    return RS_OK;
}
