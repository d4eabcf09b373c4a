/* Times of laid-over operations for those that they lie over: a start or an end that the tool that leads does not know,
 * or of which a timer gave another operation's time. What the leading tool knows is kept.
 *
 * The lender must be the same operation for certain: on that rank its call comes after the one before on the
 * communicator, and not after the leader's own; its times come after the launch, and between the kernels before and after
 * it. A part with a lent time is marked RS_PART_LENT_START, RS_PART_LENT_END; the clock of that time is the lender's. */
#ifndef RS_JOIN_OVERLAY_LEND_H
#define RS_JOIN_OVERLAY_LEND_H

#include "model/model.h"

/* Needs all times on one axis. */
enum rs_status rs_overlay_lend(struct rs_model *m, struct rs_err *err);

#endif
