#include "analyse/once.h"

#include <stdlib.h>

struct tally {
    uint32_t step;
    double largest, sum; /* ns: of the step at hand; of those before */
};

static void count(struct tally *t, uint32_t step, double cost)
{
    if (step != t->step) {
        t->sum += t->largest;
        t->largest = 0;
        t->step = step;
    }
    if (cost > t->largest) t->largest = cost;
}

enum rs_status rs_once_find(struct rs_stragglers *s, const struct rs_view *v, const struct rs_steps *steps,
                            struct rs_err *err)
{
    for (uint32_t i = 0; i < s->nrows; i++) s->rows[i].once_ns = RS_TIME_NONE;
    if (!steps->n || !s->nrows) return RS_OK;
    struct tally *tallies = calloc((size_t)v->model->nranks + 1, sizeof *tallies);
    if (!tallies) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < v->model->nranks; i++) tallies[i].step = RS_NONE;
    for (uint32_t i = 0; i < v->nops; i++) { /* by time, so that a step's operations follow each other */
        uint32_t op = v->ops[i], rank_id = s->who[op];
        if (rank_id == RS_NONE) continue;
        uint32_t step = rs_steps_of(steps, rs_op_moment(v->model, op));
        if (step == RS_NONE) /* before the first or behind the last: counts by itself */
            tallies[rank_id].sum += (double)s->cost[op];
        else
            count(&tallies[rank_id], step, (double)s->cost[op]);
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        struct rs_straggler *row = &s->rows[i];
        if (row->rank_id == RS_NONE) continue;
        double sum = tallies[row->rank_id].sum + tallies[row->rank_id].largest;
        /* Costs by operation are floats: no more than the whole. */
        row->once_ns = sum < (double)row->cost_ns ? (int64_t)sum : row->cost_ns;
    }
    free(tallies);
    return RS_OK;
}
