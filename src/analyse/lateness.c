#include "analyse/lateness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"

void rs_wilson(uint64_t hits, uint64_t n, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (!n) return;
    const double z = 1.959964;
    double count = (double)n, p = (double)hits / count, zz = z * z / count;
    double middle = p + zz / 2, half = z * sqrt(p * (1 - p) / count + zz / (4 * count));
    *low = (middle - half) / (1 + zz);
    *high = (middle + half) / (1 + zz);
    if (*low < 0 || !hits) *low = 0;
    if (*high > 1 || hits == n) *high = 1;
}

enum rs_status rs_lateness_init(struct rs_lateness *l, const struct rs_view *v, struct rs_err *err)
{
    const struct rs_model *m = v->model;
    uint32_t most = 0;
    for (uint32_t i = 0; i < v->nops; i++)
        if (m->ops.nparts[v->ops[i]] > most) most = m->ops.nparts[v->ops[i]];
    *l = (struct rs_lateness){.nranks = v->model->nranks, .nhosts = m->nhosts};
    l->rows = calloc((size_t)v->model->nranks + m->nhosts + 1, sizeof *l->rows);
    l->from = calloc((size_t)v->model->nranks + 1, sizeof *l->from);
    l->order = calloc((size_t)v->model->nranks + 1, sizeof *l->order);
    l->samples = malloc(((size_t)m->parts.n + 1) * sizeof *l->samples);
    l->starts = malloc(((size_t)most + 1) * sizeof *l->starts);
    uint32_t *at = calloc((size_t)m->nhosts + 1, sizeof *at);
    if (!l->rows || !l->from || !l->order || !l->samples || !l->starts || !at) {
        free(at);
        rs_lateness_free(l);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) at[v->model->ranks[i].host + 1]++;
    for (uint32_t i = 1; i <= m->nhosts; i++) at[i] += at[i - 1];
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        l->order[at[v->model->ranks[i].host]++] = i;
        l->rows[i] = (struct rs_late_row){.rank_id = i, .host = v->model->ranks[i].host};
    }
    for (uint32_t i = 0; i < m->nhosts; i++)
        l->rows[v->model->nranks + i] = (struct rs_late_row){.rank_id = RS_NONE, .host = i};
    free(at);
    /* Room for each rank: it cannot come more often than it has parts. */
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t rank_id = m->members[m->parts.member[i]].rank_id;
        if (rank_id != RS_NONE) l->from[rank_id]++;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        uint64_t n = l->from[l->order[i]];
        l->from[l->order[i]] = sum;
        sum += n;
    }
    return RS_OK;
}

void rs_lateness_add(struct rs_lateness *l, const struct rs_view *v, uint32_t last)
{
    for (uint32_t i = 0; i < v->narrivals; i++) l->starts[i] = v->arrivals[i].start;
    int64_t median = rs_median(l->starts, v->narrivals);
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        struct rs_late_row *r = &l->rows[a->rank_id], *host = &l->rows[l->nranks + r->host];
        int64_t late = a->start - median;
        l->samples[l->from[a->rank_id] + r->compared++] = (int32_t)(late > INT32_MAX   ? INT32_MAX
                                                                    : late < INT32_MIN ? INT32_MIN
                                                                                       : late);
        r->mean_ns += late; /* a sum, for now */
        host->mean_ns += late;
        host->compared++;
        if (a->rank_id != last) continue;
        r->last++;
        host->last++;
    }
}

static int64_t p99(const int32_t *samples, size_t n, int64_t *scratch)
{
    for (size_t i = 0; i < n; i++) scratch[i] = samples[i];
    return rs_quantile(scratch, n, 0.99);
}

enum rs_status rs_lateness_finish(struct rs_lateness *l, struct rs_err *err)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < l->nranks + l->nhosts; i++)
        if (l->rows[i].compared > most) most = l->rows[i].compared;
    int64_t *scratch = malloc((most + 1) * sizeof *scratch);
    if (!scratch) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint64_t at = 0; /* samples of a host are brought together: what a rank did not use is closed up */
    for (uint32_t i = 0; i < l->nranks;) {
        uint32_t host = l->rows[l->order[i]].host;
        uint64_t begin = at;
        for (; i < l->nranks && l->rows[l->order[i]].host == host; i++) {
            struct rs_late_row *r = &l->rows[l->order[i]];
            memmove(l->samples + at, l->samples + l->from[l->order[i]], r->compared * sizeof *l->samples);
            r->p99_ns = p99(l->samples + at, r->compared, scratch);
            if (r->compared) r->mean_ns /= (int64_t)r->compared;
            at += r->compared;
        }
        struct rs_late_row *h = &l->rows[l->nranks + host];
        h->p99_ns = p99(l->samples + begin, at - begin, scratch);
        if (h->compared) h->mean_ns /= (int64_t)h->compared;
    }
    free(scratch);
    free(l->samples);
    free(l->starts);
    l->samples = NULL;
    l->starts = NULL;
    return RS_OK;
}

void rs_lateness_free(struct rs_lateness *l)
{
    free(l->rows);
    free(l->from);
    free(l->order);
    free(l->samples);
    free(l->starts);
    *l = (struct rs_lateness){0};
}
