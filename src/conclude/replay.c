#include "conclude/replay.h"

#include <stdlib.h>

#include "base/memory.h"

void rs_replay_init(struct rs_replay *r, const struct rs_graph *g)
{
    size_t n = (size_t)g->nnodes + 1;
    r->starts = rs_alloc(n * sizeof *r->starts);
    r->ends = rs_alloc(n * sizeof *r->ends);
    r->ready = rs_alloc(((size_t)g->nops + 1) * sizeof *r->ready);
}

void rs_replay_free(struct rs_replay *r)
{
    free(r->starts);
    free(r->ends);
    free(r->ready);
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
    int64_t from = x->pred == RS_NONE ? g->begin : r->ends[x->pred];
    return rs_time_plus(from, take ? less(x->gap, take[i]) : x->gap);
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
    if (g->cycles) /* what depends on itself begins with the recorded times */
        for (uint32_t i = 0; i < n; i++) r->ends[i] = g->nodes[i].end;
    for (uint32_t k = 0; k < g->norder; k++) {
        uint32_t v = g->order[k];
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
