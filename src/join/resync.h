/* Sends and receives of recordings that lost some of them: found again by what is around them.
 *
 * A stream is cut where something may be missing; between two cuts the order holds. So it is enough to find how far the
 * segments of the two sides are shifted against each other, and each pair of which that is clear speaks for its whole segment. A segment nothing speaks for, or for which the witnesses disagree, is left alone: every send or
 * receive that is left becomes an operation with one part. Runs when the clocks are aligned. One thread. */
#ifndef RS_JOIN_RESYNC_H
#define RS_JOIN_RESYNC_H

#include "model/model.h"

/* Gives an operation to every send and receive that has none. */
void rs_pairs_resync(struct rs_model *m);

#endif
