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
    LEAST_ALIKE = 8, /* nodes that show what the others of their kind follow upon */
    LEAST_EVEN = 24, /* the same, if only the evenness of their times tells */
    LEAST_VISIBLE = 3,
    BLOCKED_NS = 10000, /* from the end of an operation to the start of the next, which waited in its stream */
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
    struct rs_map class_ids, signature_ids;
    int64_t near; /* the time of an operation in the middle */
    uint64_t untimed; /* parts without times that were requested, in processes with losses */
    uint64_t unclocked, shared; /* operations of several ranks: on clocks that cannot be compared; in all */
    /* By class, of tails in operations of which everything is recorded: the median, and what is longer beyond their spread;
     * RS_TIME_NONE: unknown. */
    int64_t *usual, *long_tail;
};

static uint32_t number(struct rs_map *ids, uint64_t key, uint32_t *count)
{
    uint64_t *id;
    rs_map_at(ids, key, *count, &id);
    *count += *id == *count;
    return (uint32_t)*id;
}

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

/* Whether kernels of that time should have been recorded. */
static bool is_requested(const struct rs_proc *p, int64_t at)
{
    uint32_t low = 0, high = at == RS_TIME_NONE ? 0 : p->ncovers;
    RS_BISECT(low, high, mid, p->covers[mid].from <= at);
    return low && at <= p->covers[low - 1].to && (p->covers[low - 1].mask & RS_KERNEL_CH);
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
    g->nodes[g->nnodes++].class = number(&w->class_ids, class, &g->nclasses);
}

/* A rank that was in the operation, but of which it is not recorded: times are estimated later. */
static void add_absent(struct work *w, uint32_t op, uint32_t member)
{
    const struct rs_model *m = w->view->model;
    struct rs_node x = {.start = RS_TIME_NONE, .end = RS_TIME_NONE, .pred = RS_NONE, .head = RS_NONE, .step = RS_NONE};
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
    struct rs_node x = {.start = r->start, .pred = RS_NONE, .head = RS_NONE, .step = RS_NONE, .recorded = true};
    x.rank_id = m->members[member].rank_id;
    x.member = member;
    x.op = w->g->nops;
    if (x.rank_id >= m->nranks) return;
    bool far = rs_time_minus(r->start, w->near) > FAR_NS || rs_time_minus(w->near, r->start) > FAR_NS;
    if (r->start == RS_TIME_NONE || far) {
        const struct rs_proc *p = rs_part_proc(m, r->part);
        w->untimed += is_lossy(p) && is_requested(p, m->parts.enqueued[r->part]);
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
    add_nodes(w, op);
    for (uint32_t i = row.first; i < g->nnodes; i++) {
        const struct rs_node *x = &g->nodes[i];
        if (!x->recorded) continue;
        recorded++;
        if (x->start > row.last) row.last = x->start;
        if (x->start < first) first = x->start;
        g->unknown_ends += !x->end_known;
    }
    if (!recorded) { /* not measured */
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

/* ---- predecessors ---- */

static int by_start(const void *a, const void *b, void *of)
{
    const struct rs_node *nodes = of, *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x < y ? -1 : x > y;
}

uint32_t *rs_rows_by_number(const uint32_t *of, const uint32_t *order, uint32_t n, uint32_t count, uint32_t **first)
{
    uint32_t *rows = rs_alloc(((size_t)n + 1) * sizeof *rows), *at = rs_zalloc((size_t)count + 2, sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        if (of[i] != RS_NONE) at[of[i] + 2]++;
    for (uint32_t k = 0; k < count; k++) at[k + 2] += at[k + 1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = order ? order[i] : i;
        if (of[row] != RS_NONE) rows[at[of[row] + 1]++] = row;
    }
    *first = at;
    return rows;
}

static void sort_by_rank(struct rs_graph *g)
{
    g->by_rank = rs_alloc(((size_t)g->nnodes + 1) * sizeof *g->by_rank);
    g->first = rs_zalloc((size_t)g->nranks + 2, sizeof *g->first);
    for (uint32_t i = 0; i < g->nnodes; i++) g->first[g->nodes[i].rank_id + 2]++;
    for (uint32_t r = 0; r < g->nranks; r++) g->first[r + 2] += g->first[r + 1];
    for (uint32_t i = 0; i < g->nnodes; i++) g->by_rank[g->first[g->nodes[i].rank_id + 1]++] = i;
    for (uint32_t r = 0; r < g->nranks; r++)
        qsort_r(g->by_rank + g->first[r], g->first[r + 1] - g->first[r], sizeof *g->by_rank, by_start, g->nodes);
}

/* A heap of running nodes, the first to end on top. */
struct running {
    uint32_t *rows;
    uint32_t n, cap;
};

static void push(struct running *h, const struct rs_node *nodes, uint32_t node)
{
    RS_ROOM(h->rows, h->n, h->cap);
    uint32_t at = h->n++;
    for (; at && nodes[node].end < nodes[h->rows[(at - 1) / 2]].end; at = (at - 1) / 2)
        h->rows[at] = h->rows[(at - 1) / 2];
    h->rows[at] = node;
}

static uint32_t pop(struct running *h, const struct rs_node *nodes)
{
    uint32_t top = h->rows[0], last = h->rows[--h->n], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && nodes[h->rows[child + 1]].end < nodes[h->rows[child]].end) child++;
        if (nodes[h->rows[child]].end >= nodes[last].end) break;
        h->rows[at] = h->rows[child];
    }
    h->rows[at] = last;
    return top;
}

/* Of the operations of a rank that had ended when a node started: the last, and the last of the same communicator. */
struct choice {
    uint32_t any, own;
};

static uint32_t comm_of(const struct work *w, uint32_t node)
{
    return w->view->model->members[w->g->nodes[node].member].comm;
}

static void find_choices(struct work *w, struct choice *choices)
{
    struct rs_graph *g = w->g;
    const struct rs_node *nodes = g->nodes;
    struct running h = {0};
    uint32_t *own = rs_alloc(((size_t)w->view->model->ncomms + 1) * sizeof *own); /* by communicator */
    for (uint32_t i = 0; i < w->view->model->ncomms; i++) own[i] = RS_NONE;
    for (uint32_t r = 0; r < g->nranks; r++) {
        uint32_t any = RS_NONE;
        h.n = 0;
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            uint32_t i = g->by_rank[k];
            while (h.n && nodes[h.rows[0]].end <= rs_time_plus(nodes[i].start, RESOLUTION_NS)) {
                uint32_t ended = pop(&h, nodes), *last = &own[comm_of(w, ended)];
                if (any == RS_NONE || nodes[ended].end >= nodes[any].end) any = ended;
                if (*last == RS_NONE || nodes[ended].end >= nodes[*last].end) *last = ended;
            }
            choices[i] = (struct choice){any, own[comm_of(w, i)]};
            push(&h, nodes, i);
        }
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) own[comm_of(w, g->by_rank[k])] = RS_NONE;
    }
    free(own);
    free(h.rows);
}

static int64_t since(const struct rs_graph *g, uint32_t node, uint32_t pred)
{
    return rs_time_minus(g->nodes[node].start, pred == RS_NONE ? g->begin : g->nodes[pred].end);
}

/* How far values of like nodes are apart on the same rank: what a rank always takes longer is no spread. `ranks` of the
 * values, in runs; `scratch` has room for all. */
static int64_t spread(const int64_t *v, const uint32_t *ranks, uint32_t n, int64_t *scratch)
{
    uint32_t from = 0;
    for (uint32_t k; from < n; from = k) {
        for (k = from; k < n && ranks[k] == ranks[from]; k++) scratch[k] = v[k];
        int64_t usual = rs_median(scratch + from, k - from);
        for (uint32_t i = from; i < k; i++) scratch[i] = rs_time_minus(v[i], usual);
    }
    return rs_mad(scratch, n, 0);
}

/* Operations on two streams: of another communicator, one may just happen to have ended last. What a node follows upon is
 * what it comes after in the same distance, whatever the other does: the gaps of like nodes are compared. */
static void choose_predecessors(struct work *w, struct choice *choices)
{
    struct rs_graph *g = w->g;
    uint32_t *of = rs_alloc(((size_t)g->nnodes + 1) * sizeof *of), *first, ngroups = 0;
    struct rs_map ids = {0};
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct choice *c = &choices[i];
        bool two = c->own != RS_NONE && c->own != c->any && g->nodes[i].recorded;
        of[i] = !two ? RS_NONE : number(&ids, (uint64_t)g->nodes[c->any].class << 32 | g->nodes[i].class, &ngroups);
    }
    rs_map_free(&ids);
    uint32_t *rows = rs_rows_by_number(of, g->by_rank, g->nnodes, ngroups, &first);
    size_t room = (size_t)g->nnodes + 1;
    int64_t *any = rs_alloc(room * sizeof *any), *own = rs_alloc(room * sizeof *own),
            *scratch = rs_alloc(room * sizeof *own);
    uint32_t *ranks = rs_alloc(room * sizeof *ranks);
    for (uint32_t k = 0; k < ngroups; k++) {
        uint32_t n = first[k + 1] - first[k];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t node = rows[first[k] + i];
            any[i] = since(g, node, choices[node].any);
            own[i] = since(g, node, choices[node].own);
            ranks[i] = g->nodes[node].rank_id;
        }
        if (n < LEAST_ALIKE || spread(own, ranks, n, scratch) >= spread(any, ranks, n, scratch)) continue;
        for (uint32_t i = first[k]; i < first[k + 1]; i++) choices[rows[i]].any = choices[rows[i]].own;
    }
    free(of);
    free(rows);
    free(first);
    free(any);
    free(own);
    free(scratch);
    free(ranks);
}

static void find_predecessors(struct work *w)
{
    struct rs_graph *g = w->g;
    struct choice *choices = rs_alloc(((size_t)g->nnodes + 1) * sizeof *choices);
    find_choices(w, choices);
    choose_predecessors(w, choices);
    for (uint32_t r = 0; r < g->nranks; r++)
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            struct rs_node *x = &g->nodes[g->by_rank[k]];
            x->pred = choices[g->by_rank[k]].any;
            int64_t from = x->pred == RS_NONE ? g->begin : g->nodes[x->pred].end;
            if (!x->recorded && !g->ops[x->op].waited && from < x->start) x->start = from; /* at any time since then */
            x->gap = rs_time_minus(x->start, from);
            uint32_t before = x->pred == RS_NONE ? 0 : g->nodes[x->pred].class + 1;
            uint64_t key = (uint64_t)before << 32 | g->nodes[g->by_rank[k]].class;
            x->signature = number(&w->signature_ids, key, &g->nsignatures);
        }
    free(choices);
}

/* ---- compute behind communication ----
 * Where a rank computes while its operations run (the buckets of data-parallel training), a node starts some time after
 * the *start* of an earlier one, its head, and not before the end of the one before. Ranks that waited long start right at
 * that end: their compute is hidden. Compared with these, the rank that they waited for has a gap, although it computes as
 * long. Nodes at the same position of a step are of one type: */

enum type {
    OPEN, /* what they do begins at the end of the predecessor */
    BLOCKED, /* all start right at that end: nothing is seen of what they do before */
    HIDDEN,
};

struct hidden_work {
    const struct rs_graph *g;
    uint32_t *of; /* by node: its group; RS_NONE: not looked at */
    uint8_t *types; /* by group: enum type */
    uint32_t *head; /* by node */
    /* Of nodes that do not start right at the end; works: since the start of the head. */
    int64_t *gaps, *works, *scratch;
    uint32_t *ranks;
};

static bool is_blocked(const struct rs_node *x)
{
    return x->gap <= BLOCKED_NS;
}

static int64_t work_of(const struct hidden_work *h, uint32_t node)
{
    return rs_time_minus(h->g->nodes[node].start, h->g->nodes[h->head[node]].start);
}

/* *work: how long they compute since the start of their heads. */
static enum type type_of(const struct hidden_work *h, const uint32_t *rows, uint32_t n, int64_t *work)
{
    const struct rs_node *nodes = h->g->nodes;
    uint32_t seen = 0, consistent = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (is_blocked(&nodes[rows[i]])) continue;
        h->gaps[seen] = nodes[rows[i]].gap;
        h->ranks[seen] = nodes[rows[i]].rank_id;
        h->works[seen++] = work_of(h, rows[i]);
    }
    uint32_t blocked = n - seen;
    if (10 * seen < n && seen < LEAST_VISIBLE) return BLOCKED;
    if (n < LEAST_ALIKE || seen < LEAST_VISIBLE) return OPEN;
    int64_t apart = spread(h->works, h->ranks, seen, h->scratch),
            gaps_apart = spread(h->gaps, h->ranks, seen, h->scratch);
    *work = rs_median(h->works, seen);
    if (10 * blocked < n) return n >= LEAST_EVEN && 2 * apart < gaps_apart ? HIDDEN : OPEN;
    enum type otherwise = 10 * seen < n ? BLOCKED : OPEN;
    if (apart > 4 * gaps_apart + RESOLUTION_NS) return otherwise; /* they follow the end more evenly than the head */
    for (uint32_t i = 0; i < n; i++)
        consistent += is_blocked(&nodes[rows[i]]) && work_of(h, rows[i]) >= *work - 3 * apart - RESOLUTION_NS;
    return 5 * consistent >= 4 * blocked ? HIDDEN : otherwise;
}

static void find_heads(const struct hidden_work *h, const uint32_t *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pred = h->g->nodes[rows[i]].pred, group = h->of[pred];
        h->head[rows[i]] = group != RS_NONE && h->types[group] != OPEN ? h->head[pred] : pred;
    }
}

static uint64_t group_key(const struct rs_node *x, const struct rs_roles *roles)
{
    uint64_t place = (uint64_t)x->signature << 32 | x->position;
    return rs_mix(rs_mix(1, place), roles ? roles->of[x->rank_id] : 0);
}

/* A rank in a pipeline sends and receives what it computes: nothing is hidden there. */
static bool is_coll(const struct work *w, uint32_t node)
{
    return w->view->model->ops.kind[w->g->ops[w->g->nodes[node].op].op] == RS_OP_COLL;
}

static void find_hidden(struct work *w, const struct rs_roles *roles)
{
    struct rs_graph *g = w->g;
    size_t n = (size_t)g->nnodes + 1;
    uint32_t *first, ngroups = 0;
    struct rs_map ids = {0};
    struct hidden_work h = {.g = g,
                            .of = rs_alloc(n * sizeof *h.of),
                            .head = rs_alloc(n * sizeof *h.head),
                            .gaps = rs_alloc(n * sizeof *h.gaps),
                            .works = rs_alloc(n * sizeof *h.works),
                            .scratch = rs_alloc(n * sizeof *h.scratch),
                            .ranks = rs_alloc(n * sizeof *h.ranks)};
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct rs_node *x = &g->nodes[i];
        bool same = x->pred != RS_NONE && comm_of(w, i) == comm_of(w, x->pred) && is_coll(w, i) && is_coll(w, x->pred);
        h.of[i] = RS_NONE;
        if (same && x->recorded && g->nodes[x->pred].recorded)
            h.of[i] = number(&ids, group_key(x, roles), &ngroups); /* by time of the first */
    }
    rs_map_free(&ids);
    h.types = rs_zalloc((size_t)ngroups + 1, sizeof *h.types);
    uint32_t *rows = rs_rows_by_number(h.of, g->by_rank, g->nnodes, ngroups, &first);
    for (uint32_t k = 0; k < ngroups; k++) {
        uint32_t *group = rows + first[k], count = first[k + 1] - first[k];
        int64_t work;
        find_heads(&h, group, count);
        h.types[k] = (uint8_t)type_of(&h, group, count, &work);
        for (uint32_t i = 0; i < count && h.types[k] == HIDDEN; i++) {
            struct rs_node *x = &g->nodes[group[i]];
            int64_t ns = work_of(&h, group[i]);
            bool blocked = is_blocked(x);
            x->head = h.head[group[i]];
            x->after = blocked ? x->gap : 0;
            x->gap = blocked && work < ns ? work : ns;
        }
    }
    free(h.of);
    free(h.types);
    free(h.head);
    free(h.gaps);
    free(h.works);
    free(h.scratch);
    free(h.ranks);
    free(rows);
    free(first);
}

/* ---- steps and positions ---- */

/* The signature that most steps of a rank begin with; RS_NONE: no steps. `count` is by signature, all 0 before and after. */
static uint32_t usual_first(const struct rs_graph *g, const uint32_t *rows, uint32_t n, uint32_t *count)
{
    uint32_t best = RS_NONE;
    for (uint32_t k = 0; k < n; k++) {
        const struct rs_node *x = &g->nodes[rows[k]];
        if (x->step == RS_NONE || (k && g->nodes[rows[k - 1]].step == x->step)) continue;
        count[x->signature]++;
        if (best == RS_NONE || count[x->signature] > count[best]) best = x->signature;
    }
    for (uint32_t k = 0; k < n; k++) count[g->nodes[rows[k]].signature] = 0;
    return best;
}

/* Steps are spans of time that suit the rank with the most operations. Elsewhere the last operations of a step may begin
 * shortly before or after its end, so a step begins at the nearest operation that it usually begins with. */
static void align_steps(struct rs_graph *g, uint32_t *rows, uint32_t n, uint32_t *count)
{
    uint32_t usual = usual_first(g, rows, n, count);
    if (usual == RS_NONE) return;
    uint32_t floor = 0; /* rows before it have their step */
    for (uint32_t k = 1; k < n; k++) {
        uint32_t step = g->nodes[rows[k]].step, before = g->nodes[rows[k - 1]].step, at = RS_NONE;
        if (step == before || step == RS_NONE) continue;
        uint32_t length = 1;
        while (k + length < n && g->nodes[rows[k + length]].step == step) length++;
        for (uint32_t d = 0; d <= length / 4 + 1 && at == RS_NONE; d++) {
            if (k + d < n && g->nodes[rows[k + d]].signature == usual)
                at = k + d;
            else if (k >= floor + d && g->nodes[rows[k - d]].signature == usual)
                at = k - d;
        }
        if (at == RS_NONE) at = k;
        for (uint32_t i = at; i < k; i++) g->nodes[rows[i]].step = step;
        for (uint32_t i = k; i < at; i++) g->nodes[rows[i]].step = before;
        floor = (at > k ? at : k) + 1;
        k = at > k ? at : k;
    }
}

static void number_nodes(struct work *w, const struct rs_steps *steps)
{
    struct rs_graph *g = w->g;
    for (uint32_t i = 0; i < g->nops; i++) {
        uint32_t step = steps && steps->n ? rs_steps_of_op(steps, w->view->model, g->ops[i].op) : RS_NONE;
        for (uint32_t k = g->ops[i].first; k < g->ops[i].first + g->ops[i].n; k++) g->nodes[k].step = step;
    }
    size_t n = (size_t)g->nsignatures + 1;
    uint32_t *count = rs_zalloc(n, sizeof *count), *within = rs_zalloc(n, sizeof *within),
             *step = rs_zalloc(n, sizeof *step);
    for (uint32_t r = 0; r < g->nranks; r++) {
        uint32_t *rows = g->by_rank + g->first[r], m = g->first[r + 1] - g->first[r];
        align_steps(g, rows, m, count);
        for (uint32_t k = 0; k < m; k++) {
            struct rs_node *x = &g->nodes[rows[k]];
            uint32_t s = x->signature;
            if (!count[s] || step[s] != x->step) within[s] = 0;
            step[s] = x->step;
            x->ordinal = count[s]++;
            x->position = within[s]++;
        }
        for (uint32_t k = 0; k < m; k++) count[g->nodes[rows[k]].signature] = 0;
    }
    free(count);
    free(within);
    free(step);
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
    sort_by_rank(g);
    find_predecessors(&w);
    number_nodes(&w, steps);
    find_hidden(&w, roles);
    free(w.parts);
    free(w.usual);
    free(w.long_tail);
    free(w.before);
    free(w.by_proxy);
    free(w.seen);
    rs_map_free(&w.class_ids);
    rs_map_free(&w.signature_ids);
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
