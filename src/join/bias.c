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

struct group {
    uint64_t key; /* communicator, function, size */
    double distance; /* of one end from the moment's, ns */
};

static int by_key(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t key_of(const struct rs_model *m, uint32_t op)
{
    unsigned size = 0;
    for (uint64_t bytes = m->ops.bytes[op]; bytes > 1; bytes /= 2) size++;
    return (uint64_t)m->ops.comm[op] << 32 | (uint64_t)m->ops.func[op] << 8 | size;
}

/* The largest median distance among the groups, less what is noise. */
static double seen(struct group *g, uint32_t n, double spread, double *values)
{
    double most = 0;
    qsort(g, n, sizeof *g, by_key);
    for (uint32_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && g[to].key == g[from].key; to++) values[to - from] = g[to].distance;
        if (to - from < LEAST_OF_A_GROUP || (to - from) * 20 < n) continue;
        double noise = 3 * 1.86 * spread / sqrt(to - from);
        most = fmax(most, fabs(rs_fit_quantile(values, to - from, 0.5)) - noise);
    }
    return most;
}

static void allow(struct rs_track *t, enum rs_domain_kind kind, double transfer, double groups)
{
    /* A host sees ends when it polls: late by its own share. */
    double least = kind == RS_DOMAIN_GPU ? RS_BIAS_LEAST : RS_BIAS_MOST;
    double allowed = isnan(transfer) ? RS_BIAS_MOST : fmin(fmax(SHARE_OF_TRANSFER * transfer, least), RS_BIAS_MOST);
    t->bias = fmax(allowed, groups);
}

enum rs_status rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                             const double *ends, struct rs_err *err)
{
    uint32_t most = 1;
    for (uint32_t d = 0; d < m->ndomains; d++)
        if (s->first[d + 1] - s->first[d] > most) most = s->first[d + 1] - s->first[d];
    double *transfers = calloc((size_t)s->nmoments + 1, sizeof *transfers);
    double *values = calloc(most, sizeof *values);
    struct group *groups = calloc(most, sizeof *groups);
    enum rs_status status = RS_OK;
    if (!transfers || !values || !groups) status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t k = 0; k < s->nmoments && status == RS_OK; k++)
        transfers[k] = transfer_of(tracks, m, s->moments[k].op, ends[k]);
    for (uint32_t d = 0; d < m->ndomains && status == RS_OK; d++) {
        struct rs_track *t = &tracks[d];
        if (!t->n) continue;
        uint32_t n = 0, with = 0;
        for (uint32_t i = s->first[d]; i < s->first[d + 1]; i++) {
            const struct rs_sample *a = &s->all[s->of[i]];
            if (isnan(ends[a->moment])) continue;
            groups[n++] = (struct group){key_of(m, s->moments[a->moment].op), rs_track_z(t, a->x) - ends[a->moment]};
            if (!isnan(transfers[a->moment])) values[with++] = transfers[a->moment];
        }
        double transfer = with ? rs_fit_quantile(values, with, 0.5) : NAN;
        allow(t, m->domains[d].kind, transfer, seen(groups, n, t->spread, values));
    }
    free(groups);
    free(values);
    free(transfers);
    return status;
}
