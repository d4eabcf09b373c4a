/* The number of operations of a run, how many were compared, how many are ties, and the error of comparing: counted
 * here for all commands, the page and exports.
 *
 * An operation is what its ranks do together: a collective, a send with its receive, or a fan-out (all-to-all, gather,
 * scatter, grouped sends and receives). The pairs inside a fan-out are its parts and do not count separately; an
 * operation recorded by several tools counts once. It is compared if the starts of all its recorded ranks are known on
 * comparable clocks and plausible, and the ranks themselves are known; but not if ranks are absent and it is not known
 * to have ended. A tie is a compared operation whose last rank leads by less than twice the error. The clock error of a
 * run is the largest error of comparing starts, over the compared operations. Functions that only read a joined model. */
#ifndef RS_JOIN_TOTALS_H
#define RS_JOIN_TOTALS_H

#include "model/filter.h"
#include "model/model.h"

/* Whether it counts as an operation. */
static inline bool rs_op_counts(const struct rs_model *m, uint32_t op)
{
    return m->ops.over[op] == RS_NONE && !(m->ops.kind[op] == RS_OP_PAIR && m->ops.fanout[op] != RS_NONE);
}
/* Whether its ranks' starts can be compared: who was last, and who waited. */
bool rs_op_is_compared(const struct rs_model *m, uint32_t op);

struct rs_totals {
    uint64_t ops;
    uint64_t whole, complete; /* all ranks present; and ended */
    uint64_t compared, ties;
    uint64_t mismatches, violations, doubles;
    int64_t error_ns; /* of comparing starts; -1: none was compared */
};

void rs_totals_begin(struct rs_totals *t);
/* Adds an operation, if it counts. */
void rs_totals_add(struct rs_totals *t, const struct rs_model *m, uint32_t op);
/* All operations that pass a filter. */
void rs_totals_find(struct rs_totals *t, const struct rs_model *m, const struct rs_filter *filter);

#endif
