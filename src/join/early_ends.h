/* Kernels with several sends and receives that report their end too early.
 *
 * The timer of a kernel is stopped by the first thread of its block when that thread is done. In a kernel of grouped
 * sends and receives that thread may belong to a send, and a small send is done when its data is in the buffer, while
 * receives in the same kernel still wait for their senders. (H200, NCCL 2.28: 10 us reported, 121 us according to the
 * driver.) Such an end is a lower bound. Whether the timers of a job are affected shows in receives that "end" before
 * their send began, by more than the clock error; then every such end of the job is marked RS_PART_END_EARLY. A receive
 * that is alone in its kernel is not affected.
 *
 * Runs on the joined and aligned model. One thread. */
#ifndef RS_JOIN_EARLY_ENDS_H
#define RS_JOIN_EARLY_ENDS_H

#include "model/model.h"

void rs_early_ends_find(struct rs_model *m);

#endif
