#include "join/consensus.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/bias.h"

enum { SWEEPS = 3 };

struct web {
    struct rs_track *tracks;
    const struct rs_model *m;
    const struct rs_samples *s;
    double *ends; /* by sampled operation, on the axis; NAN: unknown */
    bool *placed; /* by domain */
    bool *visited; /* by communicator */
    uint32_t *by_comm,
        *comm_first; /* sampled operations of communicator c: by_comm[comm_first[c] .. comm_first[c + 1]) */
    uint32_t *parent; /* by domain: union-find */
    uint32_t *queue; /* domains whose communicators are to be visited */
    uint32_t nqueue;
    double *x, *y, *values; /* room for the samples of a clock, or of an operation */
};

/* ---- components ---- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static uint32_t number_components(struct web *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->m->ndomains; i++) w->parent[i] = i;
    for (uint32_t k = 0; k < w->s->nmoments; k++) {
        const struct rs_sample *a = &w->s->all[w->s->moments[k].first];
        for (uint32_t i = 1; i < w->s->moments[k].n; i++)
            w->parent[find(w->parent, a[i].domain)] = find(w->parent, a[0].domain);
    }
    for (uint32_t i = 0; i < w->m->ndomains; i++)
        if (find(w->parent, i) == i) w->tracks[i].component = n++;
    for (uint32_t i = 0; i < w->m->ndomains; i++) w->tracks[i].component = w->tracks[find(w->parent, i)].component;
    return n;
}

static void index_comms(struct web *w)
{
    const struct rs_samples *s = w->s;
    for (uint32_t k = 0; k < s->nmoments; k++) w->comm_first[w->m->ops.comm[s->moments[k].op] + 2]++;
    for (uint32_t c = 0; c < w->m->ncomms; c++) w->comm_first[c + 2] += w->comm_first[c + 1];
    for (uint32_t k = 0; k < s->nmoments; k++) w->by_comm[w->comm_first[w->m->ops.comm[s->moments[k].op] + 1]++] = k;
}

/* ---- the end of an operation, and the fit of a clock ---- */

/* The median of the ends on the clocks placed so far. Ends on GPUs are exact, those seen by a host are delayed by
 * polling: if half of them are of GPUs, only those count. */
static double end_of(struct web *w, uint32_t moment)
{
    const struct rs_moment *k = &w->s->moments[moment];
    uint32_t n = 0, gpus = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct rs_sample *a = &w->s->all[k->first + i];
        if (!w->placed[a->domain]) continue;
        double z = rs_track_z(&w->tracks[a->domain], a->x);
        w->values[n] = z;
        if (w->m->domains[a->domain].kind == RS_DOMAIN_GPU) {
            w->values[n] = w->values[gpus];
            w->values[gpus++] = z;
        }
        n++;
    }
    if (2 * gpus >= n) n = gpus;
    return n ? rs_fit_quantile(w->values, n, 0.5) : NAN;
}

/* Fits a clock to the known ends: of one communicator, or of all (RS_NONE). */
static void fit_clock(struct web *w, uint32_t domain, uint32_t comm)
{
    struct rs_track *t = &w->tracks[domain];
    uint32_t n = 0;
    for (uint32_t i = w->s->first[domain]; i < w->s->first[domain + 1]; i++) {
        const struct rs_sample *a = &w->s->all[w->s->of[i]];
        if (isnan(w->ends[a->moment])) continue;
        if (comm != RS_NONE && w->m->ops.comm[w->s->moments[a->moment].op] != comm) continue;
        w->x[n] = a->x;
        w->y[n++] = w->ends[a->moment] - a->x;
    }
    if (!n) return;
    struct rs_fit fit;
    rs_fit_init(&fit, w->x, w->y, n);
    free(t->curve.points);
    t->curve = fit.curve;
    t->near = 0;
    t->n = n;
    t->spread = fit.spread;
    t->doubt = fit.doubt;
    t->rate_doubt = fit.rate_doubt;
    t->z_from = rs_track_z(t, w->x[n / 32]); /* a few at either end may be damaged */
    t->z_to = rs_track_z(t, w->x[n - 1 - n / 32]);
}

/* ---- growing ---- */

static void push(struct web *w, uint32_t domain, uint32_t hops)
{
    w->placed[domain] = true;
    w->tracks[domain].hops = hops;
    w->queue[w->nqueue++] = domain;
}

/* Places every clock of a communicator that is not yet placed, relative to those that are. */
static void visit(struct web *w, uint32_t comm, uint32_t hops)
{
    if (w->visited[comm]) return;
    w->visited[comm] = true;
    uint32_t from = w->comm_first[comm], to = w->comm_first[comm + 1], first = w->nqueue;
    for (uint32_t i = from; i < to; i++) w->ends[w->by_comm[i]] = end_of(w, w->by_comm[i]);
    for (uint32_t i = from; i < to; i++) {
        const struct rs_moment *k = &w->s->moments[w->by_comm[i]];
        if (isnan(w->ends[w->by_comm[i]])) continue;
        for (uint32_t j = 0; j < k->n; j++)
            if (!w->placed[w->s->all[k->first + j].domain]) push(w, w->s->all[k->first + j].domain, hops);
    }
    for (uint32_t i = first; i < w->nqueue; i++) fit_clock(w, w->queue[i], comm);
}

/* The communicators of a clock's samples. */
static void visit_all_of(struct web *w, uint32_t domain)
{
    for (uint32_t i = w->s->first[domain]; i < w->s->first[domain + 1]; i++) {
        uint32_t op = w->s->moments[w->s->all[w->s->of[i]].moment].op;
        visit(w, w->m->ops.comm[op], w->tracks[domain].hops + 1);
    }
}

static int wider_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

/* Starts with the widest communicator of every component. */
static void grow(struct web *w)
{
    uint32_t ncomms = w->m->ncomms, head = 0;
    uint64_t *order = rs_zalloc((size_t)ncomms + 1, sizeof *order); /* size, then the first communicator of that size */
    for (uint32_t c = 0; c < ncomms; c++) {
        uint32_t widest = 0;
        for (uint32_t i = w->comm_first[c]; i < w->comm_first[c + 1]; i++)
            if (w->s->moments[w->by_comm[i]].n > widest) widest = w->s->moments[w->by_comm[i]].n;
        order[c] = (uint64_t)widest << 32 | (UINT32_MAX - c);
    }
    qsort(order, ncomms, sizeof *order, wider_first);
    for (uint32_t i = 0; i < ncomms; i++) {
        uint32_t c = UINT32_MAX - (uint32_t)order[i];
        for (uint32_t k = w->comm_first[c]; k < w->comm_first[c + 1]; k++) {
            uint32_t domain = w->s->all[w->s->moments[w->by_comm[k]].first].domain;
            if (w->placed[domain]) continue;
            w->visited[c] = false; /* where ends were lost, a communicator may be of several components */
            push(w, domain, 0);
            visit(w, c, 1);
            while (head < w->nqueue) visit_all_of(w, w->queue[head++]);
        }
    }
    free(order);
}

static void sweep(struct web *w)
{
    for (uint32_t k = 0; k < w->s->nmoments; k++) w->ends[k] = end_of(w, k);
    for (uint32_t i = 0; i < w->m->ndomains; i++)
        if (w->placed[i]) fit_clock(w, i, RS_NONE);
}

/* ---- all steps ---- */

static uint32_t most_values(const struct web *w)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < w->m->ndomains; i++)
        if (w->s->first[i + 1] - w->s->first[i] > most) most = w->s->first[i + 1] - w->s->first[i];
    for (uint32_t k = 0; k < w->s->nmoments; k++)
        if (w->s->moments[k].n > most) most = w->s->moments[k].n;
    return most;
}

static void run(struct web *w, uint32_t *ncomponents)
{
    *ncomponents = number_components(w);
    index_comms(w);
    for (uint32_t k = 0; k < w->s->nmoments; k++) w->ends[k] = NAN;
    grow(w);
    for (int i = 0; i < SWEEPS; i++) sweep(w);
    for (uint32_t k = 0; k < w->s->nmoments; k++) w->ends[k] = end_of(w, k);
    rs_bias_allow(w->tracks, w->m, w->s, w->ends);
}

void rs_consensus_find(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                       uint32_t *ncomponents)
{
    struct web w = {.tracks = tracks, .m = m, .s = s};
    size_t most = most_values(&w);
    w.ends = rs_zalloc((size_t)s->nmoments + 1, sizeof *w.ends);
    w.placed = rs_zalloc((size_t)m->ndomains + 1, sizeof *w.placed);
    w.visited = rs_zalloc((size_t)m->ncomms + 1, sizeof *w.visited);
    w.by_comm = rs_zalloc((size_t)s->nmoments + 1, sizeof *w.by_comm);
    w.comm_first = rs_zalloc((size_t)m->ncomms + 2, sizeof *w.comm_first);
    w.parent = rs_zalloc((size_t)m->ndomains + 1, sizeof *w.parent);
    w.queue = rs_zalloc((size_t)m->ndomains + 1, sizeof *w.queue);
    w.x = rs_zalloc(most, sizeof *w.x);
    w.y = rs_zalloc(most, sizeof *w.y);
    w.values = rs_zalloc(most, sizeof *w.values);
    run(&w, ncomponents);
    free(w.ends);
    free(w.placed);
    free(w.visited);
    free(w.by_comm);
    free(w.comm_first);
    free(w.parent);
    free(w.queue);
    free(w.x);
    free(w.y);
    free(w.values);
}

void rs_tracks_free(struct rs_track *tracks, uint32_t n)
{
    for (uint32_t i = 0; tracks && i < n; i++) free(tracks[i].curve.points);
    free(tracks);
}
