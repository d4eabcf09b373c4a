#include "conclude/replay.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- the order ----
 * Starts (v < n), ends (n + node) and ready operations (2n + op), each after what it depends on (Kahn). */

struct queue {
    const struct rs_graph *g;
    struct rs_replay *r;
    uint32_t *missing; /* by vertex: what it still depends on */
    uint32_t *next, *successors; /* nodes by their predecessor: a list, and its first by node */
    uint32_t *waiting, *first; /* nodes that need a node: waiting[first[i] .. first[i + 1]) */
};

static void is_done(struct queue *q, uint32_t vertex)
{
    if (!--q->missing[vertex]) q->r->order[q->r->norder++] = vertex;
}

static void follow(struct queue *q, uint32_t v)
{
    const struct rs_graph *g = q->g;
    uint32_t n = g->nnodes;
    if (v < n) {
        is_done(q, 2 * n + g->nodes[v].op);
        if (!g->nodes[v].whole) is_done(q, n + v);
        for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++) is_done(q, n + q->waiting[k]);
    } else if (v < 2 * n) {
        for (uint32_t i = q->successors[v - n]; i != RS_NONE; i = q->next[i])
            if (q->missing[i]) is_done(q, i); /* else: it was in a cycle */
    } else {
        const struct rs_graph_op *op = &g->ops[v - 2 * n];
        for (uint32_t i = op->first; i < op->first + op->n; i++)
            if (g->nodes[i].whole) is_done(q, n + i);
    }
}

static void count_dependencies(struct queue *q)
{
    const struct rs_graph *g = q->g;
    uint32_t n = g->nnodes;
    for (uint32_t i = 0; i < n; i++) q->successors[i] = RS_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_node *x = &g->nodes[i];
        q->missing[i] = x->pred != RS_NONE;
        q->missing[n + i] = 1 + x->nneeds;
        q->missing[2 * n + x->op]++;
        if (x->pred != RS_NONE) {
            q->next[i] = q->successors[x->pred];
            q->successors[x->pred] = i;
        }
        for (uint32_t k = 0; k < x->nneeds; k++) q->first[g->needs[x->needs + k] + 2]++;
    }
    for (uint32_t i = 0; i < n; i++) q->first[i + 2] += q->first[i + 1];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g->nodes[i].nneeds; k++)
            q->waiting[q->first[g->needs[g->nodes[i].needs + k] + 1]++] = i;
}

static void find_order(struct rs_replay *r, const struct rs_graph *g)
{
    uint32_t n = g->nnodes;
    size_t vertices = 2 * (size_t)n + g->nops;
    struct queue q = {.g = g,
                      .r = r,
                      .missing = rs_zalloc(vertices + 1, sizeof *q.missing),
                      .next = rs_alloc(((size_t)n + 1) * sizeof *q.next),
                      .successors = rs_alloc(((size_t)n + 1) * sizeof *q.successors),
                      .waiting = rs_alloc(((size_t)g->nneeds + 1) * sizeof *q.waiting),
                      .first = rs_zalloc((size_t)n + 2, sizeof *q.first)};
    r->order = rs_alloc((vertices + 1) * sizeof *r->order);
    count_dependencies(&q);
    for (uint32_t i = 0; i < n; i++)
        if (!q.missing[i]) r->order[r->norder++] = i;
    for (uint32_t at = 0, earliest = 0;;) {
        while (at < r->norder) follow(&q, r->order[at++]);
        while (earliest < n && !q.missing[earliest]) earliest++; /* operations are by time */
        if (earliest == n) break;
        q.missing[earliest] = 0;
        r->order[r->norder++] = earliest;
        r->cycles++;
    }
    free(q.missing);
    free(q.next);
    free(q.successors);
    free(q.waiting);
    free(q.first);
}

void rs_replay_init(struct rs_replay *r, const struct rs_graph *g)
{
    size_t n = (size_t)g->nnodes + 1;
    *r = (struct rs_replay){0};
    r->starts = rs_alloc(n * sizeof *r->starts);
    r->ends = rs_alloc(n * sizeof *r->ends);
    r->ready = rs_alloc(((size_t)g->nops + 1) * sizeof *r->ready);
    find_order(r, g);
}

void rs_replay_free(struct rs_replay *r)
{
    free(r->starts);
    free(r->ends);
    free(r->ready);
    free(r->order);
    *r = (struct rs_replay){0};
}

/* What remains of a duration. Below zero are recorded ones within the resolution of the clock: these stay. */
static int64_t less(int64_t ns, int64_t taken)
{
    int64_t rest = rs_time_minus(ns, taken);
    return rest >= 0 || taken <= 0 ? rest : ns > 0 ? 0 : ns;
}

static int64_t start_of(const struct rs_replay *r, const struct rs_graph *g, uint32_t i, const int64_t *take)
{
    const struct rs_node *x = &g->nodes[i];
    int64_t from = x->pred == RS_NONE ? g->begin : x->head != RS_NONE ? r->starts[x->head] : r->ends[x->pred];
    int64_t start = rs_time_plus(from, take ? less(x->gap, take[i]) : x->gap);
    int64_t least = x->head != RS_NONE ? rs_time_plus(r->ends[x->pred], x->after) : start;
    return start > least ? start : least;
}

static int64_t end_of(const struct rs_replay *r, const struct rs_graph *g, uint32_t i, const int64_t *cut)
{
    const struct rs_node *x = &g->nodes[i];
    int64_t ready = x->whole ? r->ready[x->op] : r->starts[i];
    for (uint32_t k = 0; k < x->nneeds; k++) {
        int64_t start = r->starts[g->needs[x->needs + k]];
        if (start > ready) ready = start;
    }
    return rs_time_plus(ready, cut ? less(x->tail, cut[i]) : x->tail);
}

static int64_t last_start(const struct rs_replay *r, const struct rs_graph_op *op)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = op->first; i < op->first + op->n; i++)
        if (r->starts[i] > last) last = r->starts[i];
    return last;
}

int64_t rs_replay_run(struct rs_replay *r, const struct rs_graph *g, const int64_t *take, const int64_t *cut)
{
    uint32_t n = g->nnodes;
    int64_t last = g->begin;
    if (r->cycles) /* what depends on itself begins with the recorded times */
        for (uint32_t i = 0; i < n; i++) {
            r->starts[i] = g->nodes[i].start;
            r->ends[i] = g->nodes[i].end;
        }
    for (uint32_t k = 0; k < r->norder; k++) {
        uint32_t v = r->order[k];
        if (v < n) {
            r->starts[v] = start_of(r, g, v, take);
        } else if (v < 2 * n) {
            r->ends[v - n] = end_of(r, g, v - n, cut);
            if (r->ends[v - n] > last) last = r->ends[v - n];
        } else {
            r->ready[v - 2 * n] = last_start(r, &g->ops[v - 2 * n]);
        }
    }
    return n ? rs_time_minus(last, g->begin) : 0;
}

void rs_replay_step_ends(const struct rs_replay *r, const struct rs_graph *g, int64_t *ends, uint32_t nsteps)
{
    for (uint32_t i = 0; i < nsteps; i++) ends[i] = RS_TIME_NONE;
    for (uint32_t i = 0; i < g->nnodes; i++) {
        uint32_t step = g->nodes[i].step;
        if (step < nsteps && r->ends[i] > ends[step]) ends[step] = r->ends[i];
    }
}
