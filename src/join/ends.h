/* Bounds of ends that are not known: after this, before that.
 *
 * Kernels of a communicator run one after another on a rank: what has not ended by then has ended when the next
 * launch starts. Behind the last one there is the communicator's destruction, and the end of a process that ended well.
 * An importer may know a tighter bound (the proxy thread went to sleep): that stays.
 * Runs when all times are on one axis; one thread. */
#ifndef RS_JOIN_ENDS_H
#define RS_JOIN_ENDS_H

#include "model/model.h"

/* Sets parts.after and parts.before where parts.end is not known; where that is told too early, parts.before. */
void rs_ends_bound(struct rs_model *m);

#endif
