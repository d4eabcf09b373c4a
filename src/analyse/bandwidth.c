#include "analyse/bandwidth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "join/durations.h"
#include "join/flow.h"
#include "join/op_facts.h"
#include "join/waits.h"

enum { MOST_SIZES = 64, MOST_FANOUTS = 8 }; /* of one function on one class; beyond that, sizes are combined */

struct work {
    struct rs_bandwidth *out;
    struct rs_view *view;
    bool by_comm;
    struct rs_map groups; /* class or communicator, function -> number of sizes */
    struct rs_map sizes; /* the same with bytes -> row */
    uint32_t cap;
    double *scaled, *seen, *seen_scaled; /* by row: sums of bytes times busbw's factor; of bytes by rank; of both */
    uint64_t *sum_bytes, *known_bytes; /* of all operations; of those with a transfer time */
    uint64_t *from; /* by row: its first time */
    int64_t *times;
};

static uint64_t group_key(const struct work *w, uint32_t op)
{
    const struct rs_model *m = w->view->model;
    uint32_t comm = m->ops.comm[op], class = m->comms[comm].class;
    uint64_t shape = w->by_comm || class == RS_NONE ? UINT64_C(1) << 40 | comm : class;
    return rs_mix(rs_mix(3, shape), (uint64_t)m->ops.kind[op] << 16 | m->ops.func[op]);
}

static uint64_t size_key(uint64_t group, uint64_t bytes, bool together)
{
    int power = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return rs_mix(rs_mix(5, group), together ? UINT64_C(1) << 63 | (uint64_t)power : bytes);
}

/* ---- rows ---- */

static void count_sizes(struct work *w)
{
    struct rs_view *v = w->view;
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t op = v->ops[i];
        if (!v->passes[op]) continue;
        uint64_t group = group_key(w, op), *sizes, *seen;
        rs_map_at(&w->groups, group, 0, &sizes);
        if (*sizes > MOST_SIZES) continue;
        rs_map_at(&w->sizes, size_key(group, v->model->ops.bytes[op], false), 0, &seen);
        if (!(*seen)++) ++*sizes;
    }
    rs_map_free(&w->sizes);
}

/* NCCL reports a root for every collective. */
static int32_t root_of(const struct rs_model *m, uint32_t op)
{
    return rs_func_has_root(m, m->ops.func[op]) ? m->ops.root[op] : -1;
}

static void new_row(struct work *w, uint32_t op, uint32_t *row)
{
    struct rs_bandwidth *b = w->out;
    const struct rs_model *m = w->view->model;
    RS_ROOM(b->rows, b->nrows, w->cap);
    *row = b->nrows++;
    b->rows[*row] = (struct rs_func_row){.class = m->comms[m->ops.comm[op]].class,
                                         .comm = m->ops.comm[op],
                                         .func = m->ops.func[op],
                                         .kind = m->ops.kind[op],
                                         .nranks = m->comms[m->ops.comm[op]].nranks,
                                         .dtype = m->ops.dtype[op],
                                         .root = root_of(m, op),
                                         .bytes_min = UINT64_MAX};
}

static void assign(struct work *w)
{
    struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t op = v->ops[i], row = RS_NONE;
        if (!v->passes[op]) continue;
        uint64_t group = group_key(w, op), *at;
        uint64_t most = m->ops.kind[op] == RS_OP_FANOUT ? MOST_FANOUTS : MOST_SIZES;
        bool together = rs_map_get(&w->groups, group, 0) > most;
        rs_map_at(&w->sizes, size_key(group, m->ops.bytes[op], together), RS_NONE, &at);
        if (*at == RS_NONE) {
            new_row(w, op, &row);
            *at = row;
        }
        row = (uint32_t)*at;
        w->out->row_of[op] = row;
        struct rs_func_row *r = &w->out->rows[row];
        r->calls++;
        if (r->comm != m->ops.comm[op]) r->comm = RS_NONE;
        if (r->dtype != m->ops.dtype[op] && !r->dtypes) {
            r->dtypes = true;
            r->dtype = 0;
        }
        if (r->root != root_of(m, op) && !r->roots) {
            r->roots = true;
            r->root = -1;
        }
        r->unsized |= !rs_size_known(m, op);
        if (m->ops.bytes[op] < r->bytes_min) r->bytes_min = m->ops.bytes[op];
        if (m->ops.bytes[op] > r->bytes_max) r->bytes_max = m->ops.bytes[op];
    }
}

/* ---- sums ---- */

/* After the last start; without clocks, the time of the fastest rank. */
static int64_t transfer_of(const struct rs_model *m, uint32_t op)
{
    int64_t transfer = rs_op_transfer(m, op);
    return transfer != RS_TIME_NONE ? transfer : rs_op_shortest(m, op);
}

/* Times of damaged input may have any value. */
static void add_some(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

static void take_time(struct work *w, uint32_t row, uint64_t bytes, double factor, int64_t time)
{
    struct rs_func_row *r = &w->out->rows[row];
    w->times[w->from[row] + r->timed++] = time;
    add_some(&r->total_ns, time);
    w->seen[row] += (double)bytes;
    w->seen_scaled[row] += (double)bytes * factor;
}

static void take_waits(struct rs_func_row *r, const struct rs_model *m, uint32_t op, int64_t shortest)
{
    struct rs_op_rank rank;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) {
        int64_t wait = rs_op_rank_wait(m, &rank, shortest);
        if (wait == RS_TIME_NONE) continue;
        r->waited++;
        add_some(&r->wait_sum_ns, wait);
    }
}

static void take(struct work *w, uint32_t op)
{
    struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    uint32_t row = w->out->row_of[op];
    struct rs_func_row *r = &w->out->rows[row];
    uint64_t bytes = m->ops.bytes[op];
    double factor = rs_op_busbw_factor(rs_model_text(m, m->ops.func[op]), m->comms[m->ops.comm[op]].nranks);
    int64_t transfer = transfer_of(m, op), shortest = rs_op_shortest(m, op);
    w->sum_bytes[row] += bytes;
    if (transfer > 0) {
        r->transferred++;
        add_some(&r->transfer_sum_ns, transfer);
        w->known_bytes[row] += bytes;
        w->scaled[row] += (double)bytes * factor;
    }
    r->clock_free += shortest != RS_TIME_NONE;
    bool compared = rs_view_compare(v, op);
    if (!compared) rs_view_arrivals(v, op);
    take_waits(r, m, op, shortest);
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        bool spans = a->start != RS_TIME_NONE && a->end != RS_TIME_NONE && a->end > a->start;
        if (!rs_part_has_ended(m, a->part)) spans = false; /* reported too early: not a time of the call */
        int64_t duration = m->ntags ? rs_part_duration(m, a->part) : RS_TIME_NONE;
        if (spans)
            take_time(w, row, bytes, factor, rs_time_minus(a->end, a->start));
        else if (duration > 0)
            take_time(w, row, bytes, factor, duration);
    }
}

static void finish(struct work *w, uint32_t row)
{
    struct rs_func_row *r = &w->out->rows[row];
    int64_t *times = w->times + w->from[row];
    r->p50_ns = rs_quantile(times, r->timed, 0.5);
    r->p90_ns = rs_quantile(times, r->timed, 0.9);
    r->p99_ns = rs_quantile(times, r->timed, 0.99);
    r->bytes = w->sum_bytes[row] / r->calls;
    double transfer = (double)r->transfer_sum_ns, total = (double)r->total_ns;
    r->algbw = transfer > 0 ? (double)w->known_bytes[row] / transfer : NAN;
    r->busbw = transfer > 0 ? w->scaled[row] / transfer : NAN;
    r->algbw_seen = total > 0 ? w->seen[row] / total : NAN;
    r->busbw_seen = total > 0 ? w->seen_scaled[row] / total : NAN;
    if (r->unsized) r->algbw = r->busbw = r->algbw_seen = r->busbw_seen = NAN;
}

/* The median transfer of each row. The times of ranks are no longer needed: their memory is reused. */
static void medians(struct work *w)
{
    struct rs_view *v = w->view;
    struct rs_bandwidth *b = w->out;
    uint64_t at = 0; /* one per operation: no more than ranks in operations */
    for (uint32_t i = 0; i < b->nrows; i++) {
        w->from[i] = at;
        at += b->rows[i].transferred;
        b->rows[i].transferred = 0;
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t row = b->row_of[v->ops[i]];
        if (row == RS_NONE) continue;
        int64_t transfer = transfer_of(v->model, v->ops[i]);
        if (transfer > 0) w->times[w->from[row] + b->rows[row].transferred++] = transfer;
    }
    for (uint32_t i = 0; i < b->nrows; i++)
        b->rows[i].transfer_p50_ns = rs_median(w->times + w->from[i], b->rows[i].transferred);
}

/* Unknown time counts as 0. */
static int by_total(const void *a, const void *b, void *rows)
{
    const struct rs_func_row *x = (struct rs_func_row *)rows + *(const uint32_t *)a,
                             *y = (struct rs_func_row *)rows + *(const uint32_t *)b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    if (x->calls != y->calls) return x->calls > y->calls ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sort(struct rs_bandwidth *b, uint32_t nops)
{
    uint32_t *order = rs_alloc(2 * (size_t)(b->nrows + 1) * sizeof *order), *place = order + b->nrows;
    struct rs_func_row *sorted = rs_alloc((b->nrows + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < b->nrows; i++) order[i] = i;
    qsort_r(order, b->nrows, sizeof *order, by_total, b->rows);
    for (uint32_t i = 0; i < b->nrows; i++) {
        sorted[i] = b->rows[order[i]];
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < nops; i++)
        if (b->row_of[i] != RS_NONE) b->row_of[i] = place[b->row_of[i]];
    free(b->rows);
    b->rows = sorted;
    free(order);
}

static void measure(struct work *w)
{
    struct rs_view *v = w->view;
    uint32_t n = w->out->nrows;
    uint64_t parts = 0;
    w->scaled = rs_zalloc(n + 1, sizeof *w->scaled);
    w->seen = rs_zalloc(n + 1, sizeof *w->seen);
    w->seen_scaled = rs_zalloc(n + 1, sizeof *w->seen_scaled);
    w->sum_bytes = rs_zalloc(n + 1, sizeof *w->sum_bytes);
    w->known_bytes = rs_zalloc(n + 1, sizeof *w->known_bytes);
    w->from = rs_zalloc((size_t)n + 1, sizeof *w->from);
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t row = w->out->row_of[v->ops[i]];
        if (row != RS_NONE) w->from[row + 1] += v->model->ops.nparts[v->ops[i]];
    }
    for (uint32_t i = 0; i < n; i++) w->from[i + 1] += w->from[i];
    parts = w->from[n];
    w->times = rs_alloc((parts + v->nops + 1) * sizeof *w->times);
    for (uint32_t i = 0; i < v->nops; i++)
        if (w->out->row_of[v->ops[i]] != RS_NONE) take(w, v->ops[i]);
    for (uint32_t i = 0; i < n; i++) finish(w, i);
    medians(w);
    sort(w->out, v->model->ops.n);
}

void rs_bandwidth_find(struct rs_bandwidth *b, struct rs_view *view, bool by_comm)
{
    struct work w = {.out = b, .view = view, .by_comm = by_comm};
    uint32_t n = view->model->ops.n;
    *b = (struct rs_bandwidth){.row_of = rs_alloc(((size_t)n + 1) * sizeof *b->row_of)};
    for (uint32_t i = 0; i < n; i++) b->row_of[i] = RS_NONE;
    count_sizes(&w);
    assign(&w);
    measure(&w);
    rs_map_free(&w.groups);
    rs_map_free(&w.sizes);
    void *lists[] = {w.scaled, w.seen, w.seen_scaled, w.sum_bytes, w.known_bytes, w.from, w.times};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
}

void rs_bandwidth_free(struct rs_bandwidth *b)
{
    free(b->rows);
    free(b->row_of);
    *b = (struct rs_bandwidth){0};
}

bool rs_func_row_alike(const struct rs_model *m, const struct rs_func_row *row)
{
    const char *func = rs_model_text(m, row->func);
    bool sends = row->kind == RS_OP_PAIR || row->kind == RS_OP_FANOUT;
    bool shares =
        !strcmp(func, "Gather") || !strcmp(func, "Scatter"); /* what one rank contributes, not what the root holds */
    return sends ? !strcmp(func, "AlltoAll") : !shares;
}

bool rs_func_row_count(const struct rs_model *m, const struct rs_func_row *row, uint64_t *count)
{
    const char *dtype = rs_model_text(m, row->dtype), *func = rs_model_text(m, row->func);
    if (row->unsized || row->bytes_min != row->bytes_max || !*dtype) return false;
    *count = row->bytes / rs_dtype_bytes(dtype);
    bool split = !strcmp(func, "AllGather") || !strcmp(func, "ReduceScatter") || !strcmp(func, "AlltoAll");
    if (split && row->nranks < 1) return false;
    if (split) *count /= (uint32_t)row->nranks;
    return true;
}
