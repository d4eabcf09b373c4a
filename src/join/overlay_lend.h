/* Times of laid-over operations for those that they lie over: for parts of which the tool that leads tells no start or
 * no end, an end that is too early, or those of other work (NCCL's stale timers). Such a part is marked RS_PART_LENT;
 * its clock is the lender's. */
#ifndef RS_JOIN_OVERLAY_LEND_H
#define RS_JOIN_OVERLAY_LEND_H

#include "model/model.h"

/* Needs all times on one axis. */
void rs_overlay_lend(struct rs_model *m);

#endif
