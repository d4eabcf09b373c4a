#include "join/bias.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_OF_A_GROUP = 24 };
#define SHARE_OF_TRANSFER 0.25

/* How long a collective took from its latest start on; NAN: a start is not known. */
static double transfer_of(struct rs_track *tracks, const struct rs_model *m, uint32_t op, double end)
{
    double latest = NAN;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], d = rs_part_start_domain(m, part);
        if (d == RS_NONE || m->parts.start[part] == RS_TIME_NONE || !tracks[d].n) continue;
        double z = rs_track_z(&tracks[d], (double)rs_time_minus(m->parts.start[part], tracks[d].base));
        if (isnan(latest) || z > latest) latest = z;
    }
    return end - latest;
}

/* What is told apart: communicator, function, size. */
static uint64_t key_of(const struct rs_model *m, uint32_t op)
{
    unsigned size = 0;
    for (uint64_t bytes = m->ops.bytes[op]; bytes > 1; bytes /= 2) size++;
    return (uint64_t)m->ops.comm[op] << 32 | (uint64_t)m->ops.func[op] << 8 | size;
}

/* Distances of a clock's ends from their moments', in lists by group. */
struct groups {
    uint32_t *of; /* of moments: which group, from 0 */
    uint32_t *first; /* of groups: its latest distance; RS_NONE: none. All are RS_NONE between two clocks */
    double *distances; /* ns */
    uint32_t *next; /* of distances: the one before it in its group; RS_NONE: none */
    uint32_t *used; /* groups that have distances */
    uint32_t n, nused;
};

static enum rs_status number_groups(struct groups *g, const struct rs_model *m, const struct rs_samples *s,
                                    struct rs_err *err)
{
    struct rs_map numbers = {0};
    enum rs_status status = RS_OK;
    for (uint32_t k = 0; k < s->nmoments && status == RS_OK; k++) {
        uint64_t *number;
        status = rs_map_at(&numbers, key_of(m, s->moments[k].op), rs_map_count(&numbers), &number, err);
        if (status != RS_OK) break;
        g->of[k] = (uint32_t)*number;
        g->first[k] = RS_NONE; /* there are at most as many groups as moments */
    }
    rs_map_free(&numbers);
    return status;
}

static void add_distance(struct groups *g, uint32_t moment, double distance)
{
    uint32_t *first = &g->first[g->of[moment]];
    if (*first == RS_NONE) g->used[g->nused++] = g->of[moment];
    g->distances[g->n] = distance;
    g->next[g->n] = *first;
    *first = g->n++;
}

/* The largest median distance among the groups, less what is noise. Empties them. */
static double seen(struct groups *g, double spread, double *values)
{
    double most = 0;
    for (uint32_t k = 0; k < g->nused; k++) {
        uint32_t n = 0;
        for (uint32_t i = g->first[g->used[k]]; i != RS_NONE; i = g->next[i]) values[n++] = g->distances[i];
        g->first[g->used[k]] = RS_NONE;
        if (n < LEAST_OF_A_GROUP || n * 20 < g->n) continue;
        double noise = 3 * 1.86 * spread / sqrt(n);
        most = fmax(most, fabs(rs_fit_quantile(values, n, 0.5)) - noise);
    }
    g->n = g->nused = 0;
    return most;
}

static void allow(struct rs_track *t, enum rs_domain_kind kind, double transfer, double groups)
{
    /* A host sees ends when it polls: late by its own share. */
    double least = kind == RS_DOMAIN_GPU ? RS_BIAS_LEAST : RS_BIAS_MOST;
    double allowed = isnan(transfer) ? RS_BIAS_MOST : fmin(fmax(SHARE_OF_TRANSFER * transfer, least), RS_BIAS_MOST);
    t->bias = fmax(allowed, groups);
}

static enum rs_status allow_all(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                                const double *ends, struct groups *g, double *transfers, double *values,
                                struct rs_err *err)
{
    RS_TRY(number_groups(g, m, s, err));
    for (uint32_t k = 0; k < s->nmoments; k++) transfers[k] = transfer_of(tracks, m, s->moments[k].op, ends[k]);
    for (uint32_t d = 0; d < m->ndomains; d++) {
        struct rs_track *t = &tracks[d];
        if (!t->n) continue;
        uint32_t with = 0;
        for (uint32_t i = s->first[d]; i < s->first[d + 1]; i++) {
            const struct rs_sample *a = &s->all[s->of[i]];
            if (isnan(ends[a->moment])) continue;
            add_distance(g, a->moment, rs_track_z(t, a->x) - ends[a->moment]);
            if (!isnan(transfers[a->moment])) values[with++] = transfers[a->moment];
        }
        double transfer = with ? rs_fit_quantile(values, with, 0.5) : NAN;
        allow(t, m->domains[d].kind, transfer, seen(g, t->spread, values));
    }
    return RS_OK;
}

enum rs_status rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                             const double *ends, struct rs_err *err)
{
    size_t most = 1, moments = (size_t)s->nmoments + 1;
    for (uint32_t d = 0; d < m->ndomains; d++)
        if (s->first[d + 1] - s->first[d] > most) most = s->first[d + 1] - s->first[d];
    double *transfers = calloc(moments, sizeof *transfers), *values = calloc(most, sizeof *values);
    struct groups g = {.of = calloc(moments, sizeof *g.of),
                       .first = calloc(moments, sizeof *g.first),
                       .distances = calloc(most, sizeof *g.distances),
                       .next = calloc(most, sizeof *g.next),
                       .used = calloc(most, sizeof *g.used)};
    enum rs_status status = transfers && values && g.of && g.first && g.distances && g.next && g.used
                                ? allow_all(tracks, m, s, ends, &g, transfers, values, err)
                                : rs_fail(err, RS_NO_MEMORY, "out of memory");
    free(g.used);
    free(g.next);
    free(g.distances);
    free(g.first);
    free(g.of);
    free(values);
    free(transfers);
    return status;
}
