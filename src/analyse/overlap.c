#include "analyse/overlap.h"

#include <math.h>

#include "base/bisect.h"
#include "join/waits.h"

/* Classes of the sweep. */
enum { COMPUTE, WAIT, TRANSFER, UNCLEAR, COPY, OTHER }; /* OTHER: NCCL's kernels that are filtered out */
#define BIT(class) (1u << (class))
#define COMM (BIT(WAIT) | BIT(TRANSFER) | BIT(UNCLEAR))
#define BUSY (BIT(COMPUTE) | COMM | BIT(COPY) | BIT(OTHER))

struct adding {
    const struct rs_model *m;
    const struct rs_view *view;
    const struct rs_filter *filter;
    struct rs_sweep *sweep;
    int64_t grain;
    struct rs_axis axis; /* of the GPU's clock, for rounding */
    int64_t error; /* sum over operations */
};

static void put(struct adding *k, int64_t start, int64_t end, unsigned class)
{
    const struct rs_filter *f = k->filter;
    if (f->has_from && start < f->from) start = f->from;
    if (f->has_to && end > f->to) end = f->to;
    rs_sweep_add(k->sweep, start, end, class);
}

/* Rounding uses the clock of the tool's own times, so that alignment does not change it. */
static void cut(struct adding *k, int64_t *start, int64_t *end)
{
    if (k->grain <= 1) return;
    int64_t local = rs_axis_local(&k->axis, *start);
    *start = rs_time_minus(*start, rs_time_minus(local, rs_grain_up(local, k->grain)));
    local = rs_axis_local(&k->axis, *end);
    *end = rs_time_minus(*end, rs_time_minus(local, rs_grain_down(local, k->grain)));
}

static void add(struct adding *k, int64_t start, int64_t end, unsigned class)
{
    if (start == RS_TIME_NONE || end == RS_TIME_NONE) return;
    cut(k, &start, &end);
    put(k, start, end, class);
}

/* The operation that is listed for this one: for a pair its fan-out, and the primary source's operation. */
static uint32_t listed_op(const struct rs_model *m, uint32_t op)
{
    for (int i = 0; i < 2; i++) { /* in either order */
        if (m->ops.over[op] != RS_NONE && m->ops.over[op] < m->ops.n) op = m->ops.over[op];
        if (m->ops.kind[op] == RS_OP_PAIR && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op];
    }
    return op;
}

/* Until when a kernel waited for the last of all its parts. After `until` its state is unknown up to `doubt`. */
struct waits {
    int64_t until, doubt;
    int64_t last; /* when the last rank that it waited for started, according to the clocks; RS_TIME_NONE */
    int64_t least; /* the least significant difference of times */
    int64_t error;
};

static const struct waits no_waits = {.until = RS_TIME_NONE, .doubt = RS_TIME_NONE, .last = RS_TIME_NONE};

static int32_t rank_of(const struct rs_model *m, uint32_t part)
{
    return m->members[m->parts.member[part]].rank;
}

/* Whether no rank was later, by more than the clock error: then all of it is transfer. */
static bool is_last(const struct rs_model *m, uint32_t op, uint32_t part)
{
    uint32_t last = rs_op_last_part(m, op);
    return last != RS_NONE ? rank_of(m, last) == rank_of(m, part) : m->comms[m->ops.comm[op]].nranks == 1;
}

static void extend(int64_t *time, int64_t to)
{
    if (*time < to) *time = to;
}

/* Adds a part that began at `start`, by its own operation or the primary one. */
static void add_wait(struct waits *w, const struct rs_model *m, uint32_t part, int64_t start)
{
    uint32_t op = m->parts.op[part];
    if (m->parts.flags[part] & RS_PART_SELF) return; /* waits for no rank */
    int64_t wait = rs_part_wait(m, part);
    uint32_t over = op == RS_NONE ? RS_NONE : m->ops.over[op];
    if (wait == RS_TIME_NONE && over != RS_NONE && over < m->ops.n && (m->ops.flags[over] & RS_OP_CLOCKED)) {
        wait = rs_time_minus(m->ops.last[over], start);
        op = over;
    }
    if (op == RS_NONE || start == RS_TIME_NONE || wait == RS_TIME_NONE || !(m->ops.flags[op] & RS_OP_WHOLE) ||
        m->ops.error[op] < 0) {
        w->doubt = INT64_MAX;
        return;
    }
    int64_t least = is_last(m, op, part) ? 0 : rs_op_least(m, op);
    if (wait < 0) wait = 0;
    extend(&w->last, rs_time_plus(start, wait));
    extend(&w->least, least);
    if (wait < least) {
        extend(&w->doubt, rs_time_plus(start, least));
        return;
    }
    extend(&w->until, rs_time_plus(start, wait));
    if (least) extend(&w->error, m->ops.error[op]);
}

enum { MOST_PARTS = 4096 }; /* of one kernel: more is damage */

/* How many parts from the i-th on share its kernel: the following ones on the same rank with the same launch. */
static uint32_t kernel_parts(const struct rs_parts *t, const struct rs_rank_track *track, uint32_t i)
{
    uint32_t n = 1, first = track->parts[i];
    if (!t->launch[first]) return n;
    for (; i + n < track->nparts && n < MOST_PARTS; n++) {
        uint32_t p = track->parts[i + n];
        if (t->launch[p] != t->launch[first] || t->replay[p] != t->replay[first]) break;
    }
    return n;
}

/* A span of communication: a kernel with the first of its parts, or one part of it. */
static void add_comm(struct adding *k, const struct waits *w, uint32_t part, int64_t start, int64_t end)
{
    uint32_t op = k->m->parts.op[part];
    if (op != RS_NONE && !k->view->passes[listed_op(k->m, op)]) {
        add(k, start, end, OTHER);
        return;
    }
    int64_t length = rs_time_minus(end, start);
    if (length <= 0) return;
    if (__builtin_add_overflow(k->error, w->error < length ? w->error : length, &k->error)) k->error = INT64_MAX;
    int64_t waited = w->until, clear = w->doubt;
    if (w->last == RS_TIME_NONE || rs_time_minus(end, w->last) < w->least) clear = end; /* a transfer below the error */
    cut(k, &start, &end);
    waited = waited < start ? start : waited > end ? end : waited;
    clear = clear < waited ? waited : clear > end ? end : clear;
    put(k, start, waited, WAIT);
    put(k, waited, clear, UNCLEAR);
    put(k, clear, end, TRANSFER);
}

/* A kernel recorded by a tool, with the first of its parts. */
static void add_kernel(struct adding *k, const struct rs_rank_track *track, uint32_t part, int64_t start, int64_t end)
{
    const struct rs_parts *t = &k->m->parts;
    if (part >= t->n) {
        add(k, start, end, UNCLEAR);
        return;
    }
    uint32_t low = 0, high = track->nparts;
    RS_BISECT(low, high, mid, track->parts[mid] < part);
    struct waits w = no_waits;
    add_wait(&w, k->m, part, start);
    uint32_t n = low < track->nparts && track->parts[low] == part ? kernel_parts(t, track, low) : 1;
    for (uint32_t i = 1; i < n; i++) add_wait(&w, k->m, track->parts[low + i], start);
    add_comm(k, &w, part, start, end);
}

static void add_work(struct adding *k, const struct rs_rank_track *track, struct rs_overlap *o)
{
    const struct rs_activities *a = &k->m->activities;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        bool inside = (!k->filter->has_from || a->end[x] > k->filter->from) &&
                      (!k->filter->has_to || a->start[x] < k->filter->to);
        if (!inside) continue;
        switch (a->kind[x]) {
        case RS_ACT_COMPUTE:
            o->kernels++;
            add(k, a->start[x], a->end[x], COMPUTE);
            break;
        case RS_ACT_COMM:
            o->kernels++;
            o->comm_kernels++;
            add_kernel(k, track, a->part[x], a->start[x], a->end[x]);
            break;
        case RS_ACT_COPY:
        case RS_ACT_SET:
            o->copies++;
            add(k, a->start[x], a->end[x], COPY);
            break;
        default: break; /* annotations */
        }
    }
}

static bool is_p2p(const struct rs_parts *t, uint32_t part)
{
    return t->kind[part] == RS_PART_SEND || t->kind[part] == RS_PART_RECV;
}

/* If only NCCL's operations are known. Sends and receives of one kernel continue until the last of them is done; if the
 * end of one is reported too early, that time is unknown. */
static void add_parts(struct adding *k, const struct rs_rank_track *track, struct rs_overlap *o)
{
    const struct rs_parts *t = &k->m->parts;
    for (uint32_t i = 0, n; i < track->nparts; i += n) {
        const uint32_t *parts = track->parts + i;
        struct waits w = no_waits;
        n = is_p2p(t, *parts) ? kernel_parts(t, track, i) : 1;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t p = parts[j];
            add_wait(&w, k->m, p, t->start[p]);
            if (is_p2p(t, p) && t->end[p] != RS_TIME_NONE && !rs_part_has_ended(k->m, p)) w.doubt = INT64_MAX;
        }
        for (uint32_t j = 0; j < n; j++) {
            uint32_t p = parts[j];
            if (t->start[p] == RS_TIME_NONE || t->end[p] == RS_TIME_NONE) {
                o->untimed++;
                continue;
            }
            o->comm_kernels++;
            add_comm(k, &w, p, t->start[p], t->end[p]);
        }
    }
}

/* Wait and transfer are known if any part of them is. */
static void split(const int64_t *ns, unsigned without, int64_t *wait, int64_t *transfer, int64_t *unclear)
{
    *transfer = rs_sweep_sum(ns, BIT(TRANSFER), without);
    *unclear = rs_sweep_sum(ns, BIT(UNCLEAR), without | BIT(TRANSFER));
    *wait = rs_sweep_sum(ns, BIT(WAIT), without | BIT(TRANSFER) | BIT(UNCLEAR));
    if (*unclear > 0 && !*wait && !*transfer) *wait = *transfer = RS_TIME_NONE;
}

static void sum_up(struct rs_overlap_times *x, struct rs_sweep *sweep, bool has_work)
{
    int64_t ns[RS_SWEEP_SETS];
    rs_sweep_run(sweep, ns);
    x->span = rs_time_minus(sweep->to, sweep->from);
    x->comm = rs_sweep_sum(ns, COMM, 0);
    split(ns, 0, &x->comm_wait, &x->comm_transfer, &x->comm_unclear);
    if (!has_work) {
        x->idle = x->compute = x->overlap = x->copy = x->exposed = RS_TIME_NONE;
        x->wait = x->transfer = x->unclear = RS_TIME_NONE;
        return;
    }
    x->idle = rs_time_minus(x->span, rs_sweep_sum(ns, BUSY, 0));
    x->compute = rs_sweep_sum(ns, BIT(COMPUTE), 0);
    x->exposed = rs_sweep_sum(ns, COMM, BIT(COMPUTE));
    x->overlap = rs_time_minus(x->comm, x->exposed);
    x->copy = rs_sweep_sum(ns, BIT(COPY), 0);
    split(ns, BIT(COMPUTE), &x->wait, &x->transfer, &x->unclear);
}

static const struct rs_overlap_times nothing = {
    .span = RS_TIME_NONE,
    .idle = RS_TIME_NONE,
    .compute = RS_TIME_NONE,
    .comm = RS_TIME_NONE,
    .overlap = RS_TIME_NONE,
    .copy = RS_TIME_NONE,
    .exposed = RS_TIME_NONE,
    .wait = RS_TIME_NONE,
    .transfer = RS_TIME_NONE,
    .unclear = RS_TIME_NONE,
    .comm_wait = RS_TIME_NONE,
    .comm_transfer = RS_TIME_NONE,
    .comm_unclear = RS_TIME_NONE,
};

void rs_overlap_none(struct rs_overlap *o)
{
    *o = (struct rs_overlap){.cut = nothing, .exact = nothing, .grain_ns = 1, .from = RS_TIME_NONE, .to = RS_TIME_NONE};
}

void rs_overlap_find(struct rs_overlap *o, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const struct rs_filter *filter, struct rs_sweep *sweep)
{
    const struct rs_model *m = t->view->model;
    rs_overlap_none(o);
    if (track->has_work && rs_tool_has(m->procs[track->proc].tool, RS_CAP_MICROSECONDS))
        o->grain_ns = RS_OVERLAP_GRAIN_NS;
    for (int coarse = 1; coarse >= 0; coarse--) {
        struct rs_overlap counts = {0};
        struct adding k = {
            .m = m, .view = t->view, .filter = filter, .sweep = sweep, .grain = coarse ? o->grain_ns : 1};
        if (track->nwork) k.axis = m->domains[m->lanes[m->activities.lane[track->work[0]]].domain].axis;
        rs_sweep_clear(sweep);
        if (track->has_work)
            add_work(&k, track, &counts);
        else
            add_parts(&k, track, &counts);
        o->kernels = counts.kernels;
        o->comm_kernels = counts.comm_kernels;
        o->copies = counts.copies;
        o->untimed = counts.untimed;
        o->wait_error_ns = k.error;
        if (!sweep->n) continue;
        sum_up(coarse ? &o->cut : &o->exact, sweep, track->has_work);
        o->from = sweep->from;
        o->to = sweep->to;
        if (coarse && o->grain_ns == 1) {
            o->exact = o->cut;
            break;
        }
    }
}

double rs_overlap_pct(const struct rs_overlap_times *x)
{
    return x->overlap != RS_TIME_NONE && x->comm > 0 ? 100.0 * (double)x->overlap / (double)x->comm : NAN;
}

double rs_idle_pct(const struct rs_overlap_times *x)
{
    return x->idle != RS_TIME_NONE && x->span > 0 ? 100.0 * (double)x->idle / (double)x->span : NAN;
}
