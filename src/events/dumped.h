/* The events of one process that NCCL's example profiler dumped: its files are read again, one after the other.
 *
 * GPU times of kernels lie as far from each other as their timers; the earliest of an operation is where the model has
 * its start. */
#ifndef RS_EVENTS_DUMPED_H
#define RS_EVENTS_DUMPED_H

#include "events/events.h"

enum rs_status rs_events_dumped(struct rs_model *m, const struct rs_inputs *in, uint32_t proc, uint64_t types,
                                rs_event_visit visit, void *to, struct rs_err *err);

#endif
