#include "conclude/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "join/flow.h"
#include "join/op_facts.h"
#include "join/totals.h"
#include "nccl/abi.h"

enum {
    LOST_SHARE = 20, /* refused, if one in this many parts is lost */
    MOST_NODES = 1 << 28, /* more take tens of GiB */
    LONG_SPREADS = 4, /* from the median of tails to their ninth decile: beyond, somebody was late */
    RESOLUTION_NS = 2 * RS_ONE_CLOCK_NS, /* of the difference of an end and a start on one clock */
};

static const int64_t FAR_NS =
    INT64_C(1) << 56; /* two years: times beyond are damaged, and sums of less do not overflow */

struct work {
    struct rs_graph *g;
    const struct rs_view *view;
    uint32_t *parts; /* by node: the model's; RS_NONE: not recorded */
    int64_t *before; /* by node: upper bound of an unknown end; RS_TIME_NONE */
    bool *by_proxy; /* by node: its end is that of its proxy operations */
    uint32_t *seen; /* by node: the last one that needs it */
    struct rs_map class_ids;
    int64_t near; /* the time of an operation in the middle */
    uint64_t untimed; /* parts without times that were requested, in processes with losses */
    uint64_t unclocked, shared; /* operations of several ranks: on clocks that cannot be compared; in all */
    /* By class, of tails in operations of which everything is recorded: the median, and what is longer beyond their spread;
     * RS_TIME_NONE: unknown. */
    int64_t *usual, *long_tail;
};

/* ---- nodes ---- */

/* What a member does in an operation. Sizes of sends and of all-to-alls depend on the data; sends and receives are
 * distinguished by the distance to the peer, `how` by bits: 1 sends, 2 receives. */
static uint64_t class_key(const struct rs_model *m, uint32_t op, uint32_t member, uint64_t how)
{
    const struct rs_ops *o = &m->ops;
    uint32_t comm = o->comm[op];
    int32_t own = m->members[member].rank;
    bool sized = o->kind[op] == RS_OP_COLL && strcmp(rs_model_text(m, o->func[op]), "AlltoAll") != 0;
    uint64_t shape = comm == RS_NONE ? 0 : m->comms[comm].class;
    if (comm != RS_NONE && m->comms[comm].class == RS_NONE) shape = UINT64_C(1) << 32 | (uint32_t)m->comms[comm].nranks;
    if (o->kind[op] == RS_OP_PAIR) {
        int32_t peer = own == o->root[op] ? o->dst[op] : o->root[op];
        how = (own == o->root[op] ? 1 : 2) | (uint64_t)((uint32_t)peer - (uint32_t)own) << 2;
    }
    if (rs_func_has_root(m, o->func[op])) how |= own == o->root[op] ? 4 : 0;
    uint64_t key = rs_mix(rs_mix(1, shape), (uint64_t)o->kind[op] << 16 | o->func[op]);
    return rs_mix(rs_mix(key, how), sized ? o->bytes[op] : 0);
}

/* Which of sending and receiving a rank does. */
static uint64_t sends_and_receives(const struct rs_model *m, const struct rs_op_rank *r)
{
    uint64_t how = 0;
    for (uint32_t i = 0; i < r->parts; i++) {
        uint8_t kind = m->parts.kind[m->order[r->at + i]];
        how |= kind == RS_PART_SEND ? 1 : kind == RS_PART_RECV ? 2 : 0;
    }
    return how;
}

static bool is_lossy(const struct rs_proc *p)
{
    return p->lost || p->overwritten || p->damaged || p->ngaps || p->drops;
}

/* The bounds of a rank's end: from all its parts. */
static bool bound_end(const struct rs_model *m, const struct rs_op_rank *r, int64_t *least, int64_t *most)
{
    const struct rs_parts *p = &m->parts;
    bool known = true, bounded = true;
    *least = r->start;
    *most = RS_TIME_NONE;
    for (uint32_t i = 0; i < r->parts; i++) {
        uint32_t part = m->order[r->at + i];
        if (m->ops.kind[r->op] == RS_OP_FANOUT && (p->flags[part] & RS_PART_SELF)) continue;
        bool ended = rs_part_has_ended(m, part);
        int64_t low = p->end[part] != RS_TIME_NONE ? p->end[part] : p->after[part];
        int64_t high = ended ? p->end[part] : p->before[part];
        if (!ended) known = false;
        if (high == RS_TIME_NONE || !rs_time_is_span(r->start, high)) bounded = false;
        if (low != RS_TIME_NONE && low > *least && rs_time_is_span(r->start, low)) *least = low;
        if (high > *most) *most = high;
    }
    if (!bounded || *most < *least) *most = RS_TIME_NONE;
    return known && *most != RS_TIME_NONE;
}

static const struct rs_node EMPTY = {.start = RS_TIME_NONE,
                                     .end = RS_TIME_NONE,
                                     .launch = RS_TIME_NONE,
                                     .pred = RS_NONE,
                                     .head = RS_NONE,
                                     .called_after = RS_NONE,
                                     .awaited = RS_NONE,
                                     .step = RS_NONE};

static void add_node(struct work *w, const struct rs_node *x, uint32_t part, uint64_t class, int64_t before)
{
    struct rs_graph *g = w->g;
    uint32_t n = g->nnodes, cap = g->cap_nodes;
    RS_ROOM(g->nodes, n, g->cap_nodes);
    if (cap != g->cap_nodes) {
        w->parts = rs_realloc(w->parts, g->cap_nodes * sizeof *w->parts);
        w->before = rs_realloc(w->before, g->cap_nodes * sizeof *w->before);
        w->by_proxy = rs_realloc(w->by_proxy, g->cap_nodes * sizeof *w->by_proxy);
    }
    w->parts[n] = part;
    w->before[n] = before;
    w->by_proxy[n] = false;
    g->nodes[n] = *x;
    g->nodes[g->nnodes++].class = rs_map_number(&w->class_ids, class, &g->nclasses);
}

/* A rank that was in the operation, but of which it is not recorded: times are estimated later. */
static void add_absent(struct work *w, uint32_t op, uint32_t member)
{
    const struct rs_model *m = w->view->model;
    struct rs_node x = EMPTY;
    x.rank_id = m->members[member].rank_id;
    x.member = member;
    x.op = w->g->nops;
    if (x.rank_id >= m->nranks) return;
    uint64_t both = m->ops.kind[op] == RS_OP_FANOUT ? 3 : 0;
    add_node(w, &x, RS_NONE, class_key(m, op, member, both), RS_TIME_NONE);
}

static void add_recorded(struct work *w, const struct rs_op_rank *r)
{
    const struct rs_model *m = w->view->model;
    uint32_t member = m->parts.member[r->part];
    struct rs_node x = EMPTY;
    x.start = r->start;
    x.launch = rs_part_launch(m, r->part);
    x.recorded = true;
    x.rank_id = m->members[member].rank_id;
    x.member = member;
    x.op = w->g->nops;
    if (x.rank_id >= m->nranks) return;
    bool far = rs_time_minus(r->start, w->near) > FAR_NS || rs_time_minus(w->near, r->start) > FAR_NS;
    if (r->start == RS_TIME_NONE || far) {
        const struct rs_proc *p = rs_part_proc(m, r->part);
        w->untimed += is_lossy(p) && rs_proc_requested(p, m->parts.enqueued[r->part]);
        add_absent(w, r->op, member);
        return;
    }
    int64_t most;
    x.end_known = bound_end(m, r, &x.end, &most);
    if (x.end_known) x.end = most;
    add_node(w, &x, r->part, class_key(m, r->op, member, sends_and_receives(m, r)), most);
    w->by_proxy[w->g->nnodes - 1] = x.end_known && r->end_source == RS_FROM_PROXY;
}

/* Whether all ranks of its communicator are in an operation. */
static bool is_for_all(const struct rs_model *m, uint32_t op)
{
    uint8_t kind = m->ops.kind[op];
    return kind == RS_OP_COLL || (kind == RS_OP_FANOUT && !strcmp(rs_model_text(m, m->ops.func[op]), "AlltoAll"));
}

/* The nodes of an operation, by rank: recorded and absent ones. */
static void add_nodes(struct work *w, uint32_t op)
{
    const struct rs_model *m = w->view->model;
    uint32_t comm = m->ops.comm[op], next = RS_NONE;
    struct rs_op_rank r;
    if (comm < m->ncomms && is_for_all(m, op)) next = m->comms[comm].first_member;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &r);) {
        int32_t rank = m->members[m->parts.member[r.part]].rank;
        for (; next != RS_NONE && m->members[next].rank < rank; next = m->members[next].next) add_absent(w, op, next);
        if (next != RS_NONE && m->members[next].rank == rank) next = m->members[next].next;
        bool alone = m->ops.kind[op] == RS_OP_PAIR && m->ops.nparts[op] == 1;
        int32_t other = rank == m->ops.root[op] ? m->ops.dst[op] : m->ops.root[op];
        uint32_t peer = alone && other >= 0 && comm < m->ncomms ? rs_comm_member(m, comm, other) : RS_NONE;
        if (peer != RS_NONE && other < rank) add_absent(w, op, peer);
        add_recorded(w, &r);
        if (peer != RS_NONE && other > rank) add_absent(w, op, peer);
    }
    for (; next != RS_NONE; next = m->members[next].next) add_absent(w, op, next);
}

/* ---- who waits for whom ---- */

/* Operations end on all ranks at about the same time. Absent ranks start with the first. */
static void estimate_times(struct work *w, const struct rs_graph_op *op, int64_t first)
{
    struct rs_node *nodes = w->g->nodes;
    int64_t known = RS_TIME_NONE;
    for (uint32_t i = op->first; i < op->first + op->n; i++)
        if (!nodes[i].recorded) nodes[i].start = nodes[i].end = first;
    for (uint32_t i = op->first; i < op->first + op->n; i++)
        if (nodes[i].end_known && nodes[i].end > known) known = nodes[i].end;
    if (known == RS_TIME_NONE) known = op->last;
    for (uint32_t i = op->first; i < op->first + op->n; i++) {
        if (nodes[i].end_known || known <= nodes[i].end) continue;
        bool within = w->before[i] == RS_TIME_NONE || w->before[i] > known;
        nodes[i].end = within ? known : w->before[i];
    }
}

static void need(struct work *w, uint32_t i, uint32_t other)
{
    struct rs_graph *g = w->g;
    if (i == other || w->seen[other] == i) return;
    w->seen[other] = i;
    RS_ROOM(g->needs, g->nneeds, g->cap_needs);
    g->needs[g->nneeds++] = other;
    g->nodes[i].nneeds++;
}

static int32_t rank_in_comm(const struct work *w, uint32_t node)
{
    return w->view->model->members[w->g->nodes[node].member].rank;
}

/* Of a rank of the communicator: nodes of an operation are by rank. RS_NONE: none. */
static uint32_t node_of(const struct work *w, const struct rs_graph_op *op, int32_t rank)
{
    uint32_t low = op->first, high = op->first + op->n;
    RS_BISECT(low, high, mid, rank_in_comm(w, mid) < rank);
    return low < op->first + op->n && rank_in_comm(w, low) == rank ? low : RS_NONE;
}

/* The peers of a fan-out that had started when node i ended; r is the rank of that node. */
static void need_peers(struct work *w, const struct rs_graph_op *op, uint32_t i, const struct rs_op_rank *r)
{
    const struct rs_model *m = w->view->model;
    struct rs_graph *g = w->g;
    for (uint32_t k = 0; k < r->parts; k++) {
        uint32_t part = m->order[r->at + k];
        if (m->parts.flags[part] & RS_PART_SELF) continue;
        uint32_t peer = node_of(w, op, m->parts.peer[part]);
        if (peer != RS_NONE && g->nodes[peer].start <= g->nodes[i].end) need(w, i, peer);
    }
    if (op->n < 3 || g->nodes[i].nneeds < op->n - 1) return;
    g->nneeds -= g->nodes[i].nneeds; /* all of them: no list is needed */
    g->nodes[i].nneeds = 0;
    g->nodes[i].whole = true;
}

/* A part that ended before the last start waits for no more than it must. */
static void need_few(struct work *w, const struct rs_graph_op *op, uint32_t i)
{
    const struct rs_model *m = w->view->model;
    const struct rs_ops *o = &m->ops;
    const struct rs_node *x = &w->g->nodes[i];
    bool rooted = o->kind[op->op] == RS_OP_PAIR || rs_func_flow(m, o->func[op->op]) == RS_FLOW_FROM_ROOT;
    uint32_t root = rooted && o->root[op->op] >= 0 ? node_of(w, op, o->root[op->op]) : RS_NONE;
    if (root != RS_NONE && w->g->nodes[root].start <= x->end) need(w, i, root);
}

/* The error of comparing the starts of an operation's nodes; RS_TIME_NONE: their clocks cannot be compared. */
static int64_t error_of(const struct work *w, const struct rs_graph_op *op)
{
    const struct rs_model *m = w->view->model;
    int64_t error = RS_ONE_CLOCK_NS;
    uint32_t island = RS_NONE;
    for (uint32_t i = op->first; i < op->first + op->n; i++) {
        if (w->parts[i] == RS_NONE) continue;
        uint32_t at = rs_part_start_domain(m, w->parts[i]);
        if (at == RS_NONE || m->domains[at].error_ns == RS_TIME_NONE) return RS_TIME_NONE;
        if (island != RS_NONE && m->domains[at].island != island) return RS_TIME_NONE;
        island = m->domains[at].island;
        if (m->domains[at].error_ns > error) error = m->domains[at].error_ns;
    }
    if (error > FAR_NS) return RS_TIME_NONE;
    return error;
}

static void find_needs(struct work *w, const struct rs_graph_op *op)
{
    const struct rs_model *m = w->view->model;
    struct rs_graph *g = w->g;
    int64_t error = op->n == 1 ? 0 : error_of(w, op);
    bool clocked = error != RS_TIME_NONE, fanout = m->ops.kind[op->op] == RS_OP_FANOUT;
    bool all = m->ops.kind[op->op] == RS_OP_COLL && rs_func_flow(m, m->ops.func[op->op]) == RS_FLOW_ALL;
    int64_t slack = all && clocked ? 2 * error : 0; /* nobody ends before the last start: it is the clocks */
    w->shared += op->n > 1;
    w->unclocked += !clocked;
    struct rs_op_rank r = {0};
    for (uint32_t i = op->first, at = 0; i < op->first + op->n; i++) {
        struct rs_node *x = &g->nodes[i];
        x->needs = g->nneeds;
        while (fanout && x->recorded && rs_op_next_rank(m, op->op, &at, &r) && r.part != w->parts[i]) {
        }
        if (clocked && fanout && x->recorded)
            need_peers(w, op, i, &r);
        else if (clocked && op->n > 1 && x->end >= rs_time_minus(op->last, slack))
            x->whole = true;
        else if (clocked && op->n > 1)
            need_few(w, op, i);
        int64_t ready = x->whole ? op->last : x->start;
        for (uint32_t k = 0; k < x->nneeds; k++) {
            int64_t start = g->nodes[g->needs[x->needs + k]].start;
            if (start > ready) ready = start;
        }
        x->synchronous = x->whole || x->nneeds;
        x->tail = rs_time_minus(x->end, ready);
    }
}

static void add_op(struct work *w, uint32_t op)
{
    struct rs_graph *g = w->g;
    struct rs_graph_op row = {.op = op, .first = g->nnodes, .last = RS_TIME_NONE};
    int64_t first = INT64_MAX;
    uint32_t recorded = 0;
    if (rs_op_not_measured(w->view->model, op)) { /* or only on some ranks, at the edge of a window */
        g->not_measured++;
        return;
    }
    add_nodes(w, op);
    for (uint32_t i = row.first; i < g->nnodes; i++) {
        const struct rs_node *x = &g->nodes[i];
        if (!x->recorded) continue;
        recorded++;
        if (x->start > row.last) row.last = x->start;
        if (x->start < first) first = x->start;
        g->unknown_ends += !x->end_known;
    }
    if (!recorded) { /* no times */
        g->nnodes = row.first;
        return;
    }
    row.n = g->nnodes - row.first;
    row.absent = row.n - recorded;
    g->absent += row.absent;
    if (g->begin == RS_TIME_NONE || first < g->begin) g->begin = first;
    estimate_times(w, &row, first);
    RS_ROOM(g->ops, g->nops, g->cap_ops);
    g->ops[g->nops++] = row;
}

/* The proxy thread may close its operation long after the kernel is done, when it has other work on that connection.
 * Kernels of a communicator run one after the other, so an operation is over on a rank when the next one starts there;
 * and it ends on all ranks at about the same time, so the earliest of these ends is the best known one. */
static void cut_late_ends(struct work *w)
{
    struct rs_graph *g = w->g;
    const struct rs_model *m = w->view->model;
    int64_t *next = rs_alloc(((size_t)m->nmembers + 1) * sizeof *next); /* by member: start of its next operation */
    for (uint32_t i = 0; i < m->nmembers; i++) next[i] = RS_TIME_NONE;
    for (uint32_t k = g->nops; k--;) {
        const struct rs_graph_op *op = &g->ops[k];
        int64_t least = INT64_MAX;
        for (uint32_t i = op->first; i < op->first + op->n; i++) {
            struct rs_node *x = &g->nodes[i];
            int64_t *after = &next[x->member];
            if (w->by_proxy[i] && *after != RS_TIME_NONE && *after < x->end) x->end = *after;
            if (w->by_proxy[i] && x->end < least) least = x->end;
            if (x->recorded) *after = x->start;
        }
        if (least < op->last) least = op->last;
        for (uint32_t i = op->first; i < op->first + op->n; i++) {
            struct rs_node *x = &g->nodes[i];
            if (w->by_proxy[i] && x->end > least) x->end = least > x->start ? least : x->start;
            if (x->end > g->end) g->end = x->end;
        }
    }
    free(next);
}

/* ---- ranks that are not recorded ---- */

struct tail {
    int64_t ns;
    uint32_t class;
};

static int by_class(const void *a, const void *b)
{
    const struct tail *x = a, *y = b;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void find_usual_tails(struct work *w)
{
    const struct rs_graph *g = w->g;
    struct tail *rows = rs_alloc(((size_t)g->nnodes + 1) * sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nnodes; i++)
        if (!g->ops[g->nodes[i].op].absent) rows[n++] = (struct tail){g->nodes[i].tail, g->nodes[i].class};
    qsort(rows, n, sizeof *rows, by_class);
    w->usual = rs_alloc(((size_t)w->g->nclasses + 1) * sizeof *w->usual);
    w->long_tail = rs_alloc(((size_t)w->g->nclasses + 1) * sizeof *w->long_tail);
    for (uint32_t i = 0; i < w->g->nclasses; i++) w->usual[i] = w->long_tail[i] = RS_TIME_NONE;
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && rows[k].class == rows[i].class;) k++;
        int64_t median = rows[i + (k - i - 1) / 2].ns, most = rows[i + (k - i - 1) * 9 / 10].ns;
        w->usual[rows[i].class] = median;
        w->long_tail[rows[i].class] = rs_time_plus(median, LONG_SPREADS * rs_time_minus(most, median));
    }
    free(rows);
}

/* An operation that took longer than usual after its last recorded start waited for an absent rank. */
static void place_absent(struct work *w, struct rs_graph_op *op)
{
    struct rs_node *nodes = w->g->nodes;
    int64_t start = INT64_MAX;
    for (uint32_t i = op->first; i < op->first + op->n; i++) {
        uint32_t class = nodes[i].class;
        if (!nodes[i].recorded || !nodes[i].end_known) continue;
        if (w->usual[class] == RS_TIME_NONE) return;
        if (rs_time_minus(nodes[i].end, op->last) <= rs_time_plus(w->long_tail[class], RESOLUTION_NS)) return;
        int64_t last = rs_time_minus(nodes[i].end, w->usual[class]);
        if (last < start) start = last;
    }
    if (start == INT64_MAX || start <= op->last) return;
    for (uint32_t i = op->first; i < op->first + op->n; i++)
        if (!nodes[i].recorded) nodes[i].start = start;
    op->last = start;
    op->waited = true;
}

static void find_all_needs(struct work *w)
{
    struct rs_graph *g = w->g;
    w->seen = rs_alloc(((size_t)g->nnodes + 1) * sizeof *w->seen);
    for (uint32_t i = 0; i < g->nnodes; i++) w->seen[i] = RS_NONE;
    for (uint32_t i = 0; i < g->nops; i++)
        if (!g->ops[i].absent) find_needs(w, &g->ops[i]);
    if (!g->absent) return;
    find_usual_tails(w);
    for (uint32_t i = 0; i < g->nops; i++) {
        if (!g->ops[i].absent) continue;
        place_absent(w, &g->ops[i]);
        find_needs(w, &g->ops[i]);
    }
}

/* ---- what cannot be replayed ---- */

/* Parts that are absent from operations of others, of ranks whose recordings have losses. */
static uint64_t count_absent(const struct rs_view *v)
{
    const struct rs_model *m = v->model;
    uint64_t absent = 0;
    uint32_t *lossy = rs_zalloc((size_t)m->ncomms + 1, sizeof *lossy); /* recorded members with losses */
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint32_t comm = m->members[i].comm;
        if (comm < m->ncomms && m->members[i].proc < m->nprocs) lossy[comm] += is_lossy(&m->procs[m->members[i].proc]);
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t op = v->ops[i], comm = m->ops.comm[op], n, lost;
        if (!v->passes[op] || comm >= m->ncomms || !lossy[comm]) continue;
        if (m->ops.kind[op] != RS_OP_COLL && m->ops.kind[op] != RS_OP_PAIR) continue;
        n = rs_op_ranks(m, op);
        uint32_t all = m->ops.kind[op] == RS_OP_PAIR ? 2 : m->comms[comm].nmembers;
        lost = all > n ? all - n : 0;
        absent += lost < lossy[comm] ? lost : lossy[comm];
    }
    free(lossy);
    return absent;
}

/* Parts of ranks without a recording: for whom the others waited is unknown. */
static uint64_t count_unseen(const struct work *w)
{
    const struct rs_model *m = w->view->model;
    uint64_t unseen = 0;
    for (uint32_t i = 0; i < w->g->nops; i++) {
        uint32_t op = w->g->ops[i].op, comm = m->ops.comm[op];
        int64_t all = comm >= m->ncomms               ? 0
                      : m->ops.kind[op] == RS_OP_PAIR ? 2
                      : is_for_all(m, op)             ? m->comms[comm].nranks
                                                      : 0;
        if (all > w->g->ops[i].n) unseen += (uint64_t)(all - w->g->ops[i].n);
    }
    return unseen;
}

static uint64_t count_lost(const struct work *w)
{
    const struct rs_model *m = w->view->model;
    uint64_t starts = 0, absent = count_absent(w->view);
    for (uint32_t p = 0; p < m->nprocs; p++)
        for (uint32_t i = 0; m->procs[p].same == RS_NONE && i < m->procs[p].ngaps; i++)
            starts += (uint64_t)m->procs[p].gaps[i].colls + m->procs[p].gaps[i].p2ps;
    return w->untimed + (starts > absent ? starts : absent); /* an absent part is a lost start */
}

static void judge(struct work *w)
{
    struct rs_graph *g = w->g;
    uint64_t unseen = count_unseen(w), absent = g->absent + unseen, all = g->nnodes + unseen;
    uint64_t recorded = g->nnodes - g->absent;
    g->lost = count_lost(w);
    if (!g->nnodes)
        rs_asprintf(&g->refused, "no operation has a known start");
    else if (!w->shared)
        rs_asprintf(&g->refused, "no operation has known starts on two ranks");
    else if (g->lost * LOST_SHARE >= recorded + g->lost)
        rs_asprintf(&g->refused, "the records of %" PRIu64 " of %" PRIu64 " parts of operations (%.0f %%) were lost",
                    g->lost, recorded + g->lost, 100 * (double)g->lost / (double)(recorded + g->lost));
    else if (absent * LOST_SHARE >= all)
        rs_asprintf(
            &g->refused,
            "%.0f %% of the parts of operations were not recorded, in which other ranks waited: these ranks have "
            "no recording, or only of a part of the run (see --from and --to)",
            100 * (double)absent / (double)all);
    else if (w->unclocked * LOST_SHARE >= w->shared)
        rs_asprintf(&g->refused,
                    "%" PRIu64 " of %" PRIu64 " operations have ranks on clocks that are not aligned with each other",
                    w->unclocked, w->shared);
    else if (g->unknown_ends > g->nnodes / 2)
        rs_asprintf(&g->refused, "the ends of %" PRIu32 " of %" PRIu32 " parts of operations are unknown",
                    g->unknown_ends, g->nnodes);
}

static bool is_too_large(const struct rs_view *v)
{
    uint64_t parts = 0;
    for (uint32_t i = 0; i < v->nops; i++) parts += v->passes[v->ops[i]] ? v->model->ops.nparts[v->ops[i]] : 0;
    return parts > MOST_NODES;
}

void rs_graph_init(struct rs_graph *g, const struct rs_view *view, const struct rs_steps *steps,
                   const struct rs_roles *roles)
{
    struct work w = {.g = g, .view = view};
    if (view->nops) w.near = rs_op_moment(view->model, view->ops[view->nops / 2]);
    if (w.near == RS_TIME_NONE) w.near = 0;
    *g = (struct rs_graph){.nranks = view->model->nranks, .begin = RS_TIME_NONE, .end = RS_TIME_NONE};
    if (is_too_large(view)) {
        rs_asprintf(&g->refused, "more than %d parts of operations", MOST_NODES);
    } else {
        for (uint32_t i = 0; i < view->nops; i++)
            if (view->passes[view->ops[i]]) add_op(&w, view->ops[i]);
        cut_late_ends(&w);
        find_all_needs(&w);
        judge(&w);
    }
    rs_graph_chain(g, view->model, steps, roles);
    rs_graph_launch(g, roles);
    free(w.parts);
    free(w.usual);
    free(w.long_tail);
    free(w.before);
    free(w.by_proxy);
    free(w.seen);
    rs_map_free(&w.class_ids);
}

void rs_graph_free(struct rs_graph *g)
{
    free(g->nodes);
    free(g->ops);
    free(g->needs);
    free(g->by_rank);
    free(g->first);
    free(g->refused);
    *g = (struct rs_graph){0};
}
