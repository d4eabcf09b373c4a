/* Fan-outs: sends and receives that belong to one call of the program (AlltoAll, Gather, Scatter, grouped SendRecv).
 *
 * NCCL reports each send and receive, not the call. Pairs that share a group call (or a launch) on either side are
 * connected; a connected set is one operation on top of its pairs, which remain. Its name follows from its shape. Two
 * ranks that exchange are a SendRecv, unless they also send to themselves. Works on the model, after rs_pairs_resync();
 * one thread. */
#ifndef RS_JOIN_FANOUTS_H
#define RS_JOIN_FANOUTS_H

#include "model/model.h"

/* Adds an operation of kind FANOUT for every connected set of two or more pairs. */
void rs_fanouts_join(struct rs_model *m);

#endif
