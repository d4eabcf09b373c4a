#include "analyse/per_step_cost.h"

#include <stdlib.h>

#include "base/memory.h"

void rs_per_step_cost_find(struct rs_stragglers *s, const struct rs_view *v, const struct rs_steps *steps)
{
    for (uint32_t i = 0; i < s->nrows; i++) s->rows[i].once_ns = RS_TIME_NONE;
    if (!steps->n || !s->nrows) return;
    struct rs_step_ops by = {0};
    double *sums = rs_zalloc(2 * ((size_t)v->model->nranks + 1), sizeof *sums), *largest = sums + v->model->nranks;
    rs_step_ops_init(&by, steps, v);
    for (uint32_t step = 0; step <= steps->n; step++) {
        for (uint32_t i = by.first[step]; i < by.first[step + 1]; i++) {
            uint32_t rank_id = s->who[by.ops[i]];
            double cost = rank_id != RS_NONE ? (double)s->cost[by.ops[i]] : 0;
            if (rank_id == RS_NONE || cost <= largest[rank_id]) continue;
            sums[rank_id] += cost - largest[rank_id];
            if (step < steps->n) largest[rank_id] = cost; /* in no step: each counts separately */
        }
        for (uint32_t i = by.first[step]; i < by.first[step + 1]; i++)
            if (s->who[by.ops[i]] != RS_NONE) largest[s->who[by.ops[i]]] = 0;
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        struct rs_straggler *row = &s->rows[i];
        if (row->rank_id == RS_NONE) continue;
        /* Costs by operation are floats: not more than the total. */
        row->once_ns = sums[row->rank_id] < (double)row->cost_ns ? (int64_t)sums[row->rank_id] : row->cost_ns;
    }
    rs_step_ops_free(&by);
    free(sums);
}
