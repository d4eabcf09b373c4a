/* How many operations a run has, how many of them were compared, how many of those are ties, and how large the error of
 * comparing is: each counted here, for every command, page and export.
 *
 * An operation is what its ranks do together: a collective, a send with its receive, or a fan-out (all-to-all, gather,
 * scatter, grouped sends and receives). The pairs inside a fan-out are its parts and do not count beside it; what
 * several tools saw counts once. It was compared where the starts of all its ranks that were recorded are known on clocks
 * that can be compared, make sense, and it is known which ranks they are; not where ranks are absent and it is not known to
 * have ended. A tie is one that was compared, and whose last rank leads by less than twice the error. The clock error of a run
 * is the largest error of comparing starts, over the operations that were compared. Functions that only read a joined
 * model. */
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
    uint64_t whole, complete; /* all ranks are there; and ended */
    uint64_t compared, ties;
    uint64_t mismatches, violations, doubles;
    int64_t error_ns; /* of comparing starts; -1: none was compared */
};

void rs_totals_begin(struct rs_totals *t);
/* Adds one; nothing where it does not count. */
void rs_totals_add(struct rs_totals *t, const struct rs_model *m, uint32_t op);
/* All that pass a filter. */
void rs_totals_find(struct rs_totals *t, const struct rs_model *m, const struct rs_filter *filter);

#endif
