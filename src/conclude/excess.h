/* How much longer than its equals a rank took between two operations.
 *
 * Equals are ranks of one role (conclude/roles.h). The gap before a node (conclude/graph.h) is compared with the gaps of
 * its equals in the same place: before the same operation behind the same operation (signature), in the same step and at
 * the same position of it; without steps: at the same ordinal. Nodes of no step are not compared. A series is the same
 * place in all steps, on one rank: what a rank takes longer in each step is the location of its series. Borrows the
 * graph; owns its arrays until rs_excess_free(). Linear in the number of nodes, but for sorting the equals of a place. One
 * thread at a time. */
#ifndef RS_CONCLUDE_EXCESS_H
#define RS_CONCLUDE_EXCESS_H

#include "conclude/graph.h"

struct rs_excess {
    const struct rs_graph *graph;
    uint32_t *place; /* by node; RS_NONE: not compared */
    uint32_t *nodes, *first; /* nodes of place k: nodes[first[k] .. first[k + 1]), by gap */
    uint32_t *index; /* by node: where it is in `nodes` */
    uint32_t nplaces;
    uint32_t *series; /* nodes of series k: series[begin[k] .. begin[k + 1]), by step */
    uint32_t *begin;
    uint32_t *series_of; /* by rank: its series are series_of[r] .. series_of[r + 1] */
    uint32_t nseries;
};

/* `roles` NULL: all ranks that have the signature are equals. */
void rs_excess_init(struct rs_excess *e, const struct rs_graph *g, const struct rs_roles *roles);
void rs_excess_free(struct rs_excess *e);

/* The gap before a node, less the median gap of its equals: of all but its own rank, and but those of `apart` (by rank
 * row; NULL: none). RS_TIME_NONE: it has no equals. */
int64_t rs_excess_of(const struct rs_excess *e, uint32_t node, const bool *apart);

/* late[rank_id * steps->n + step]: how much longer a rank took in a step than is usual for its role, summed over its nodes;
 * NAN: not counted, or the rank or too much of its step is missing. Of a node counts what is seen both in its gap and in
 * the time since the last operation that ended before it: a gap that goes on behind other operations contains waits for
 * others. To be allocated by the caller. */
void rs_excess_by_step(const struct rs_excess *e, const struct rs_roles *roles, const struct rs_steps *steps,
                       float *late);

#endif
