/* Kernels of several sends and receives that tell their end too early.
 *
 * A kernel's timer is stopped by the first thread of its block when that thread is through. In a kernel of one group of
 * sends and receives the first thread may belong to a send, and a small send is over when its data lie in the buffer:
 * the receives beside it may go on for as long as their senders are late. (On an H200, NCCL 2.28: 10 us told, where the
 * driver saw the same kernel run for 121 us.) Such an end is a lower bound. Whether a job's timers are so shows in it:
 * receives that "end" before their send began, by more than the clocks' error. Then every such end of the job is marked
 * RS_PART_END_EARLY. A receive that is alone in its kernel has no other work to be mistaken for.
 *
 * Runs on the joined and aligned model. One thread. */
#ifndef RS_JOIN_EARLY_H
#define RS_JOIN_EARLY_H

#include "model/model.h"

void rs_early_find(struct rs_model *m);

#endif
