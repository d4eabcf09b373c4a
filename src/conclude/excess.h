/* How much later than its equals a rank begins its operations.
 *
 * The excess of a node of the graph is its gap minus the median gap of its equals: nodes of other ranks of its role, in
 * the same step, of the same signature and position. A gap is between two times of one rank, so clocks do not matter, and
 * a rank that waits for others in an operation is not late by that. The persistent part of an excess is the median over
 * the steps of what its rank has at this signature and position: it keeps the noise of single steps out.
 *
 * Linear in nodes but for sorting. Owned until rs_excess_free(). One thread at a time. */
#ifndef RS_CONCLUDE_EXCESS_H
#define RS_CONCLUDE_EXCESS_H

#include "conclude/graph.h"
#include "conclude/roles.h"

struct rs_excess {
    int64_t *of; /* by node: gap minus the median gap of its equals; RS_TIME_NONE: has none */
    int64_t *persistent; /* by node: the median over the steps of `of`; 0: unknown, or not persistent (below 5 steps) */
    /* [rank_id * steps + step]: the sum of a rank's gaps in a step, minus a sum that the ranks of its role share; NAN: the
     * rank or too much of its step is missing. */
    float *late;
    uint32_t nranks, nsteps;
    uint32_t equals; /* ranks that have equals in some step */
    int64_t error_ns; /* of a gap */
};

/* Of steps [from, nsteps). `without` by rank_id: ranks that are not equals of others (a host that is judged as a whole);
 * NULL: none. */
void rs_excess_init(struct rs_excess *x, const struct rs_graph *g, const struct rs_roles *roles, uint32_t nsteps,
                    uint32_t from, const bool *without);
void rs_excess_free(struct rs_excess *x);

#endif
