/* The events of one process from dumps of NCCL's example profiler: its files are read again, one after the other.
 *
 * GPU times of kernels are as far apart as their timers; the earliest of an operation is its start in the model. */
#ifndef RS_EVENTS_DUMPED_H
#define RS_EVENTS_DUMPED_H

#include "events/events.h"

enum rs_status rs_events_dumped(struct rs_model *m, const struct rs_inputs *in, uint32_t proc, uint64_t types,
                                rs_event_visit visit, void *to, struct rs_err *err);

#endif
