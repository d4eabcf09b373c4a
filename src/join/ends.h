/* Bounds of unknown ends.
 *
 * Kernels of a communicator run one after another on a rank: an operation has ended when the next launch starts. The
 * last one has ended when the communicator is destroyed, or when a process that closed properly ends. An importer may
 * know a tighter bound (the proxy thread went to sleep), which is kept. Runs when all times are on one axis; one
 * thread. */
#ifndef RS_JOIN_ENDS_H
#define RS_JOIN_ENDS_H

#include "model/model.h"

/* Sets parts.after and parts.before where parts.end is unknown; where it is reported too early, parts.before. */
void rs_ends_bound(struct rs_model *m);

#endif
