/* Fan-outs: sends and receives that belong to one call of the program (AlltoAll, Gather, Scatter, grouped SendRecv).
 *
 * NCCL tells of each send and receive, not of the call. Pairs that share a group call (or what was launched together) on
 * either side hang together; what hangs together is one operation, over the pairs, which stay what they are. Its name is
 * told by its shape. Two ranks that exchange are a SendRecv, unless they also send to themselves.
 * Works on the model, behind rs_pairs_resync(); one thread. */
#ifndef RS_JOIN_FANOUTS_H
#define RS_JOIN_FANOUTS_H

#include "model/model.h"

/* Adds an operation of kind FANOUT for every two or more pairs that hang together. */
void rs_fanouts_join(struct rs_model *m);

#endif
