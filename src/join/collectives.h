/* Collectives: the parts of all ranks in one operation.
 *
 * The key is (communicator, function, sequence number), as NCCL counts it; copy-engine collectives and calls of which
 * NCCL reports nothing more are counted apart, each in their own numbers. What a graph replays has a number of its own
 * too as long as numbers advance (KernelCh on); where they stand still the key is (captured call, replay), and a rank
 * that lost records takes part only where that is certain. A rank that comes twice under one key gets a second operation.
 * Needs no clocks. Works on the model; one thread. */
#ifndef RS_JOIN_COLLECTIVES_H
#define RS_JOIN_COLLECTIVES_H

#include "model/model.h"

/* Gives an operation to every part of kind COLL, CE and API. */
void rs_collectives_join(struct rs_model *m);

/* The stable id of an operation, never 0: from its communicator, its function's name and what numbers it there. */
uint64_t rs_op_id(const struct rs_model *m, uint32_t comm, const char *func, uint64_t a, uint64_t b);

#endif
