/* Collectives: joins the parts of all ranks into operations.
 *
 * The key is (communicator, function, sequence number), as NCCL counts it. Copy-engine collectives, and calls for which
 * NCCL reports nothing else, are counted separately. Replays of a graph have their own sequence numbers if those
 * advance (KernelCh on); otherwise the key is (captured call, replay), and a rank that lost records is joined only
 * where that is certain. A rank that occurs twice under one key gets a second operation. Needs no clocks. Works on the
 * model; one thread. */
#ifndef RS_JOIN_COLLECTIVES_H
#define RS_JOIN_COLLECTIVES_H

#include "model/model.h"

/* Assigns an operation to every part of kind COLL, CE and API. */
void rs_collectives_join(struct rs_model *m);

/* The stable id of an operation, never 0: from its communicator, its function's name and its number there. */
uint64_t rs_op_id(const struct rs_model *m, uint32_t comm, const char *func, uint64_t a, uint64_t b);

#endif
