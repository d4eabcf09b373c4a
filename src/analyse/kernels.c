#include "analyse/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct one {
    uint64_t key; /* name and kind */
    int64_t ns;
};

static uint64_t key_of(uint32_t name, uint8_t kind)
{
    return (uint64_t)name << 8 | kind;
}

static int by_key(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_total(const void *a, const void *b)
{
    const struct rs_kernel_row *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    uint64_t i = key_of(x->name, x->kind), k = key_of(y->name, y->kind);
    return i < k ? -1 : i > k;
}

static void finish(struct rs_kernels *k)
{
    if (k->n) qsort(k->rows, k->n, sizeof *k->rows, by_total);
    for (uint32_t i = 0; i < k->n; i++) {
        k->gpu_ns = rs_time_plus(k->gpu_ns, k->rows[i].total_ns);
        if (k->rows[i].kind == RS_ACT_COMM) k->comm_ns = rs_time_plus(k->comm_ns, k->rows[i].total_ns);
    }
}

/* One row: calls of one name; `room` is for n numbers. */
static struct rs_kernel_row sum_up(const struct one *calls, uint32_t n, int64_t *room)
{
    struct rs_kernel_row row = {
        .name = (uint32_t)(calls[0].key >> 8), .kind = (uint8_t)calls[0].key, .ranks = 1, .calls = n};
    for (uint32_t i = 0; i < n; i++) {
        room[i] = calls[i].ns;
        row.total_ns = rs_time_plus(row.total_ns, calls[i].ns);
        if (calls[i].ns > row.longest_ns) row.longest_ns = calls[i].ns;
    }
    row.ns = rs_quantiles_of(room, n);
    row.low_ns = row.high_ns = row.ns.p50;
    return row;
}

void rs_kernels_find(struct rs_kernels *k, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const struct rs_filter *filter)
{
    const struct rs_activities *a = &t->view->model->activities;
    struct one *calls = rs_alloc(((size_t)track->nwork + 1) * sizeof *calls);
    uint32_t n = 0, names = 0;
    *k = (struct rs_kernels){0};
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (rs_activity_is_work(a->kind[x]) && rs_filter_time(filter, a->start[x]))
            calls[n++] = (struct one){key_of(a->name[x], a->kind[x]), rs_time_minus(a->end[x], a->start[x])};
    }
    if (n) qsort(calls, n, sizeof *calls, by_key);
    for (uint32_t i = 0; i < n; i++) names += !i || calls[i].key != calls[i - 1].key;
    int64_t *room = rs_alloc(((size_t)n + 1) * sizeof *room);
    k->rows = rs_alloc(((size_t)names + 1) * sizeof *k->rows);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && calls[end].key == calls[i].key;) end++;
        k->rows[k->n++] = sum_up(calls + i, end - i, room);
    }
    free(room);
    free(calls);
    finish(k);
}

/* ---- several ranks ---- */

static int by_name(const void *a, const void *b)
{
    const struct rs_kernel_row *x = a, *y = b;
    uint64_t i = key_of(x->name, x->kind), k = key_of(y->name, y->kind);
    if (i != k) return i < k ? -1 : 1;
    return x->slowest < y->slowest ? -1 : x->slowest > y->slowest;
}

static void add_rank(struct rs_kernel_row *x, const struct rs_kernel_row *y)
{
    x->ranks += y->ranks;
    x->calls += y->calls;
    x->total_ns = rs_time_plus(x->total_ns, y->total_ns);
    if (y->longest_ns > x->longest_ns) x->longest_ns = y->longest_ns;
    if (y->low_ns < x->low_ns) x->low_ns = y->low_ns;
    if (y->high_ns <= x->high_ns) return;
    x->high_ns = y->high_ns;
    x->slowest = y->slowest;
}

void rs_kernels_merge(struct rs_kernels *to, const struct rs_kernels *const *from, uint32_t n)
{
    size_t all = 0;
    uint32_t kept = 0;
    *to = (struct rs_kernels){0};
    for (uint32_t i = 0; i < n; i++) all += from[i]->n;
    to->rows = rs_alloc((all + 1) * sizeof *to->rows);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < from[i]->n; k++) {
            struct rs_kernel_row *x = &to->rows[to->n++];
            *x = from[i]->rows[k];
            x->ns = rs_quantiles_of(NULL, 0);
            x->slowest = i;
        }
    if (to->n) qsort(to->rows, to->n, sizeof *to->rows, by_name);
    for (uint32_t i = 0; i < to->n; i++) {
        struct rs_kernel_row *x = kept ? &to->rows[kept - 1] : NULL, y = to->rows[i];
        if (x && x->name == y.name && x->kind == y.kind)
            add_rank(x, &y);
        else
            to->rows[kept++] = y;
    }
    to->n = kept;
    finish(to);
}

void rs_kernels_free(struct rs_kernels *k)
{
    free(k->rows);
    *k = (struct rs_kernels){0};
}

double rs_kernels_share(const struct rs_kernels *k, int64_t ns)
{
    return k->gpu_ns > 0 ? (double)ns / (double)k->gpu_ns : NAN;
}
