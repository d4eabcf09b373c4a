/* Waits without clocks, for tools that report how long an operation took on each rank, but not when.
 *
 * All ranks of a symmetric collective end together, so the rank that arrived last took the shortest time, and the
 * excess of any other rank is its wait. Functions that only read a joined model. */
#ifndef RS_JOIN_DURATIONS_H
#define RS_JOIN_DURATIONS_H

#include "model/model.h"

/* How long a part took according to its tool; RS_TIME_NONE: unknown. */
int64_t rs_part_duration(const struct rs_model *m, uint32_t part);
/* The shortest duration of its ranks, which is the transfer. RS_TIME_NONE: a start is known (then waits come from
 * clocks), not all ranks have a duration, or they need not end together. */
int64_t rs_op_shortest(const struct rs_model *m, uint32_t op);

#endif
