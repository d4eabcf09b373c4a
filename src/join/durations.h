/* Waits without clocks: where a tool tells how long an operation took on each rank, and not when.
 *
 * All ranks of a symmetric collective end together, so the one that came last took the shortest: what a rank took
 * beyond that it waited. Needs no clock, and says nothing of one. Functions that only read a joined model. */
#ifndef RS_JOIN_DURATIONS_H
#define RS_JOIN_DURATIONS_H

#include "model/model.h"

/* How long a part took, as its tool says; RS_TIME_NONE: it does not. */
int64_t rs_part_duration(const struct rs_model *m, uint32_t part);
/* The shortest that one of its ranks took, which is the transfer. RS_TIME_NONE: a start is known (waits are told by
 * clocks then), not all ranks are here with a duration, or they need not end together. */
int64_t rs_op_shortest(const struct rs_model *m, uint32_t op);

#endif
