#include "export/perfetto/flows.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "export/perfetto/fields.h"
#include "model/model.h"

/* The upper bits of an id say what it is of; the lower ones are a number of that. EARLY: a child that began before its
 * parent. */
enum kind { PATH = 1, EARLY, STEPS, LAUNCH, OPERATION, MESSAGE };
/* Of a bar: its path goes on to its first child, or along the first edge that leaves it; it has steps; edges leave it,
 * arrive at it. */
enum { TO_CHILD = 1, TO_LAUNCHED = 2, STEPS_BELOW = 4, LEAVES = 8, ARRIVES = 16 };

static uint64_t flow_id(enum kind kind, uint64_t number)
{
    return (uint64_t)kind << 60 | number;
}

enum rs_status rs_flows_init(struct rs_flows *f, const struct rs_timeline *t, struct rs_err *err)
{
    *f = (struct rs_flows){.t = t};
    return rs_fanout_ranks_init(&f->fanouts, t, err);
}

/* What is of one process. */
static void free_process(struct rs_flows *f)
{
    free(f->child_from);
    free(f->children);
    free(f->head);
    free(f->arrivals);
    free(f->marks);
    f->child_from = f->children = f->head = f->arrivals = NULL;
    f->marks = NULL;
}

void rs_flows_free(struct rs_flows *f)
{
    rs_fanout_ranks_free(&f->fanouts);
    free_process(f);
    *f = (struct rs_flows){0};
}

static enum rs_status make_room(struct rs_flows *f, const struct rs_bars *b, struct rs_err *err)
{
    size_t n = (size_t)b->n + 2;
    free_process(f);
    f->child_from = calloc(n, sizeof *f->child_from);
    f->head = malloc(n * sizeof *f->head);
    f->arrivals = malloc(((size_t)b->nedges + 1) * sizeof *f->arrivals);
    f->marks = calloc(n, sizeof *f->marks);
    if (f->child_from && f->head && f->arrivals && f->marks) return RS_OK;
    return rs_fail(err, RS_NO_MEMORY, "out of memory");
}

/* Steps follow one another: they share one flow with the proxy operation that they are of. */
static bool is_step(const struct rs_bars *b, uint32_t i)
{
    return b->kind[i] == RS_BAR_STEP_SEND || b->kind[i] == RS_BAR_STEP_RECV;
}

static bool is_here(const struct rs_bars *b, uint32_t bar)
{
    return bar != RS_BAR_NONE && bar >= b->first && bar - b->first < b->n;
}

/* Whether bar i begins before bar k; of those that begin together the one that is written first does. */
static bool is_first(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, uint32_t k)
{
    return b->start[i] != b->start[k] ? b->start[i] < b->start[k] : f->nests->place[i] < f->nests->place[k];
}

static bool is_child(const struct rs_bars *b, uint32_t i)
{
    return is_here(b, b->parent[i]) && !is_step(b, i);
}

static enum rs_status find_children(struct rs_flows *f, const struct rs_bars *b, struct rs_err *err)
{
    uint32_t *from = f->child_from;
    for (uint32_t i = 0; i < b->n; i++)
        if (is_child(b, i))
            from[b->parent[i] - b->first + 2]++;
        else if (is_here(b, b->parent[i]))
            f->marks[b->parent[i] - b->first] |= STEPS_BELOW;
    for (uint32_t i = 1; i <= b->n + 1; i++) from[i] += from[i - 1];
    f->children = malloc(((size_t)from[b->n + 1] + 1) * sizeof *f->children);
    if (!f->children) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    /* from[i + 1] is where the next child of bar i goes, and in the end where those of bar i + 1 begin. */
    for (uint32_t i = 0; i < b->n; i++)
        if (is_child(b, i)) f->children[from[b->parent[i] - b->first + 1]++] = i;
    return RS_OK;
}

/* Whether bar i is what the path of its parent goes on to. Along a path begins rise, so that there is no circle. */
static bool is_on_path(const struct rs_flows *f, const struct rs_bars *b, uint32_t i)
{
    uint32_t parent = b->parent[i] - b->first;
    return is_child(b, i) && (f->marks[parent] & TO_CHILD) && f->children[f->child_from[parent]] == i;
}

static uint64_t path_of(const struct rs_flows *f, const struct rs_bars *b, uint32_t i)
{
    return flow_id(PATH, (uint64_t)b->first + f->head[i]);
}

static void find_paths(struct rs_flows *f, const struct rs_bars *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t *next = &f->children[f->child_from[i]];
        f->head[i] = RS_NONE;
        for (uint32_t k = f->child_from[i]; k < f->child_from[i + 1]; k++) {
            uint32_t child = f->children[k];
            if (!is_first(f, b, i, child) || ((f->marks[i] & TO_CHILD) && is_first(f, b, *next, child))) continue;
            f->children[k] = *next;
            *next = child;
            f->marks[i] |= TO_CHILD;
        }
    }
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t top = i, head;
        while (f->head[top] == RS_NONE && is_on_path(f, b, top)) top = b->parent[top] - b->first;
        head = f->head[top] == RS_NONE ? top : f->head[top];
        for (uint32_t k = i; k != top; k = b->parent[k] - b->first) f->head[k] = head;
        f->head[top] = head;
    }
}

static int by_to(const void *a, const void *b, void *edges)
{
    const struct rs_bar_edge *x = (const struct rs_bar_edge *)edges + *(const uint32_t *)a;
    const struct rs_bar_edge *y = (const struct rs_bar_edge *)edges + *(const uint32_t *)b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Whether an edge is the first of those that leave its bar. */
static bool leads(const struct rs_bars *b, uint32_t edge)
{
    return !edge || b->edges[edge - 1].from != b->edges[edge].from;
}

static void find_edges(struct rs_flows *f, const struct rs_bars *b)
{
    for (uint32_t e = 0; e < b->nedges; e++) {
        uint32_t from = b->edges[e].from - b->first, to = b->edges[e].to - b->first;
        f->arrivals[e] = e;
        if (from >= b->n || to >= b->n) continue;
        f->marks[from] |= LEAVES;
        f->marks[to] |= ARRIVES;
        if (leads(b, e) && !(f->marks[from] & TO_CHILD) && is_first(f, b, from, to)) f->marks[from] |= TO_LAUNCHED;
    }
    if (b->nedges) qsort_r(f->arrivals, b->nedges, sizeof *f->arrivals, by_to, b->edges);
}

enum rs_status rs_flows_piece(struct rs_flows *f, const struct rs_bars *b, const struct rs_nests *nests,
                              struct rs_err *err)
{
    RS_TRY(make_room(f, b, err));
    f->nests = nests;
    RS_TRY(find_children(f, b, err));
    find_paths(f, b);
    find_edges(f, b);
    return RS_OK;
}

void rs_flows_done(struct rs_flows *f, const struct rs_bars *b)
{
    f->edges_before += b->nedges;
    free_process(f);
}

/* ---- writing ---- */

static void put(struct rs_wire *event, bool goes_on, uint64_t id)
{
    rs_wire_fixed64(event, goes_on ? PF_EVENT_FLOW_IDS : PF_EVENT_TERMINATING_FLOW_IDS, id);
}

static void put_edge(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, uint32_t edge,
                     struct rs_wire *event)
{
    uint32_t from = b->edges[edge].from - b->first, to = b->edges[edge].to - b->first, other = i == from ? to : from;
    if (other >= b->n) return;
    if (!(f->marks[from] & TO_LAUNCHED) || !leads(b, edge))
        put(event, is_first(f, b, i, other), flow_id(LAUNCH, f->edges_before + edge));
    else if (i == to)
        put(event, false, path_of(f, b, from));
}

static void put_edges(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, struct rs_wire *event)
{
    uint32_t bar = b->first + i, low = 0, high = b->nedges;
    if (f->marks[i] & LEAVES) {
        RS_BISECT(low, high, mid, b->edges[mid].from < bar);
        for (; low < b->nedges && b->edges[low].from == bar; low++) put_edge(f, b, i, low, event);
    }
    if (f->marks[i] & ARRIVES) {
        low = 0, high = b->nedges;
        RS_BISECT(low, high, mid, b->edges[f->arrivals[mid]].to < bar);
        for (; low < b->nedges && b->edges[f->arrivals[low]].to == bar; low++)
            put_edge(f, b, i, f->arrivals[low], event);
    }
}

/* What joins ranks: the order of their begins is told when all are read. */
static void put_part(const struct rs_flows *f, uint32_t part, struct rs_wire *event)
{
    const struct rs_model *m = f->t->model;
    uint32_t op = m->parts.op[part], fanout = m->ops.fanout[op];
    if (m->ops.nparts[op] > 1)
        put(event, true, flow_id(m->ops.kind[op] == RS_OP_PAIR ? MESSAGE : OPERATION, f->t->op_number[op]));
    if (fanout != RS_NONE && rs_fanout_stands(&f->fanouts, part) && f->t->op_number[fanout] != RS_NONE)
        put(event, true, flow_id(OPERATION, f->t->op_number[fanout]));
}

static void put_family(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, struct rs_wire *event)
{
    bool goes_on = f->marks[i] & (TO_CHILD | TO_LAUNCHED), reached = false;
    if (is_here(b, b->parent[i])) {
        if (is_step(b, i))
            put(event, true, flow_id(STEPS, b->parent[i]));
        else if (is_first(f, b, b->parent[i] - b->first, i))
            reached = true;
        else
            put(event, true, flow_id(EARLY, (uint64_t)b->first + i));
    }
    if (reached || goes_on) put(event, goes_on, path_of(f, b, i));
    for (uint32_t k = f->child_from[i] + (f->marks[i] & TO_CHILD ? 1 : 0); k < f->child_from[i + 1]; k++) {
        uint32_t child = f->children[k];
        if (is_first(f, b, i, child))
            put(event, true, path_of(f, b, child));
        else
            put(event, false, flow_id(EARLY, (uint64_t)b->first + child));
    }
    if (f->marks[i] & STEPS_BELOW) put(event, true, flow_id(STEPS, (uint64_t)b->first + i));
}

void rs_flows_put(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, uint32_t part, struct rs_wire *event)
{
    put_family(f, b, i, event);
    if (f->marks[i] & (LEAVES | ARRIVES)) put_edges(f, b, i, event);
    if (part != RS_NONE) put_part(f, part, event);
}
