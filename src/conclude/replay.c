#include "conclude/replay.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- the order ----
 * Starts (v < n), ends (n + node), ready operations (2n + op) and launches (2n + nops + node), each after what it depends
 * on (Kahn). */

/* Nodes by another one that they depend on: a list for each of those. */
struct lists {
    uint32_t *first, *next;
};

struct queue {
    const struct rs_graph *g;
    struct rs_replay *r;
    uint32_t *missing; /* by vertex: what it still depends on */
    struct lists follows, called, awaits; /* by predecessor, by the launch before, by what their program waited for */
    uint32_t *waiting, *first; /* nodes that need a node: waiting[first[i] .. first[i + 1]) */
};

static void is_done(struct queue *q, uint32_t vertex)
{
    if (!--q->missing[vertex]) q->r->order[q->r->norder++] = vertex;
}

static void lists_init(struct lists *l, uint32_t n)
{
    l->first = rs_alloc(((size_t)n + 1) * sizeof *l->first);
    l->next = rs_alloc(((size_t)n + 1) * sizeof *l->next);
    for (uint32_t i = 0; i < n; i++) l->first[i] = RS_NONE;
}

static void lists_free(struct lists *l)
{
    free(l->first);
    free(l->next);
}

static void lists_add(struct lists *l, uint32_t of, uint32_t node)
{
    if (of == RS_NONE) return;
    l->next[node] = l->first[of];
    l->first[of] = node;
}

/* Of the nodes in a list, the start (plus 0) or launch depends on one thing less. Those in a cycle do not wait for it. */
static void are_done(struct queue *q, const struct lists *l, uint32_t of, uint32_t plus)
{
    for (uint32_t i = l->first[of]; i != RS_NONE; i = l->next[i])
        if (q->missing[plus + i]) is_done(q, plus + i);
}

static void follow(struct queue *q, uint32_t v)
{
    const struct rs_graph *g = q->g;
    uint32_t n = g->nnodes, launches = 2 * n + g->nops;
    if (v < n) {
        is_done(q, 2 * n + g->nodes[v].op);
        if (!g->nodes[v].whole) is_done(q, n + v);
        for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++) is_done(q, n + q->waiting[k]);
    } else if (v < 2 * n) {
        are_done(q, &q->follows, v - n, 0);
        are_done(q, &q->awaits, v - n, launches);
    } else if (v >= launches) {
        if (q->missing[v - launches]) is_done(q, v - launches);
        are_done(q, &q->called, v - launches, launches);
    } else {
        const struct rs_graph_op *op = &g->ops[v - 2 * n];
        for (uint32_t i = op->first; i < op->first + op->n; i++)
            if (g->nodes[i].whole) is_done(q, n + i);
    }
}

static void count_dependencies(struct queue *q)
{
    const struct rs_graph *g = q->g;
    uint32_t n = g->nnodes, launches = 2 * n + g->nops;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_node *x = &g->nodes[i];
        bool launched = x->launch != RS_TIME_NONE;
        q->missing[i] = (uint32_t)(x->pred != RS_NONE) + launched;
        q->missing[launches + i] = (uint32_t)(x->called_after != RS_NONE) + (x->awaited != RS_NONE);
        q->missing[n + i] = 1 + x->nneeds;
        q->missing[2 * n + x->op]++;
        lists_add(&q->follows, x->pred, i);
        lists_add(&q->called, x->called_after, i);
        lists_add(&q->awaits, x->awaited, i);
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
    size_t vertices = 3 * (size_t)n + g->nops;
    struct queue q = {.g = g,
                      .r = r,
                      .missing = rs_zalloc(vertices + 1, sizeof *q.missing),
                      .waiting = rs_alloc(((size_t)g->nneeds + 1) * sizeof *q.waiting),
                      .first = rs_zalloc((size_t)n + 2, sizeof *q.first)};
    r->order = rs_alloc((vertices + 1) * sizeof *r->order);
    lists_init(&q.follows, n);
    lists_init(&q.called, n);
    lists_init(&q.awaits, n);
    count_dependencies(&q);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t launch = 2 * n + g->nops + i;
        if (!q.missing[i]) r->order[r->norder++] = i;
        if (g->nodes[i].launch != RS_TIME_NONE && !q.missing[launch]) r->order[r->norder++] = launch;
    }
    for (uint32_t at = 0, earliest = 0;;) {
        while (at < r->norder) follow(&q, r->order[at++]);
        while (earliest < n && !q.missing[earliest]) earliest++; /* operations are by time */
        if (earliest == n) break;
        q.missing[earliest] = 0;
        r->order[r->norder++] = earliest;
        r->cycles++;
    }
    free(q.missing);
    lists_free(&q.follows);
    lists_free(&q.called);
    lists_free(&q.awaits);
    free(q.waiting);
    free(q.first);
}

void rs_replay_init(struct rs_replay *r, const struct rs_graph *g)
{
    size_t n = (size_t)g->nnodes + 1;
    *r = (struct rs_replay){0};
    r->starts = rs_alloc(n * sizeof *r->starts);
    r->ends = rs_alloc(n * sizeof *r->ends);
    r->launches = rs_alloc(n * sizeof *r->launches);
    r->ready = rs_alloc(((size_t)g->nops + 1) * sizeof *r->ready);
    find_order(r, g);
}

void rs_replay_free(struct rs_replay *r)
{
    free(r->starts);
    free(r->ends);
    free(r->launches);
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

/* What is taken out of a gap is taken out of the program's time as far as that is longer than in equals. */
static int64_t launch_of(const struct rs_replay *r, const struct rs_graph *g, uint32_t i, const int64_t *take)
{
    const struct rs_node *x = &g->nodes[i];
    int64_t taken = !take || take[i] <= 0 ? 0 : take[i] < x->host_late ? take[i] : x->host_late, at = INT64_MIN;
    if (x->called_after != RS_NONE) at = rs_time_plus(r->launches[x->called_after], less(x->host, taken));
    if (x->awaited != RS_NONE) {
        int64_t resumed = rs_time_plus(r->ends[x->awaited], less(x->resumed, taken));
        if (resumed > at) at = resumed;
    }
    if (at != INT64_MIN) return at;
    int64_t first = rs_time_minus(g->begin, x->latency); /* its start is not before the run's */
    return rs_time_plus(first, less(rs_time_minus(x->launch, first), taken));
}

static int64_t start_of(const struct rs_replay *r, const struct rs_graph *g, uint32_t i, const int64_t *take)
{
    const struct rs_node *x = &g->nodes[i];
    int64_t from = x->pred == RS_NONE ? g->begin : x->head != RS_NONE ? r->starts[x->head] : r->ends[x->pred];
    int64_t start = rs_time_plus(from, take ? less(x->gap, take[i]) : x->gap);
    int64_t least = x->head != RS_NONE ? rs_time_plus(r->ends[x->pred], x->after) : start;
    int64_t launched = x->launch != RS_TIME_NONE ? rs_time_plus(r->launches[i], x->latency) : start;
    if (launched > start) start = launched;
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
            r->launches[i] = g->nodes[i].launch;
        }
    for (uint32_t k = 0; k < r->norder; k++) {
        uint32_t v = r->order[k];
        if (v < n) {
            r->starts[v] = start_of(r, g, v, take);
        } else if (v < 2 * n) {
            r->ends[v - n] = end_of(r, g, v - n, cut);
            if (r->ends[v - n] > last) last = r->ends[v - n];
        } else if (v >= 2 * n + g->nops) {
            r->launches[v - 2 * n - g->nops] = launch_of(r, g, v - 2 * n - g->nops, take);
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
