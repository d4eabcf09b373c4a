/* Sends and receives of recordings with losses, matched by what is around them.
 *
 * A stream is cut where something may be missing; between two cuts order holds. It is therefore sufficient to find how
 * far the segments of the two sides are shifted against each other, and each clear pair is a vote for its whole
 * segment. A segment without votes, or with contradicting ones, is not joined: each of its sends and receives becomes
 * an operation with one part. Runs when the clocks are aligned. One thread. */
#ifndef RS_JOIN_RESYNC_H
#define RS_JOIN_RESYNC_H

#include "model/model.h"

/* Assigns an operation to every send and receive that has none. */
void rs_pairs_resync(struct rs_model *m);

#endif
