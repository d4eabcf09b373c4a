/* The events of one recording: one pass over its callbacks.
 *
 * NCCL polls for a receive and starts the same step anew each time, sometimes thousands of times; the earlier starts
 * are never stopped. Each start is an event of its own, as NCCL made it: when the same step of the same proxy operation
 * starts again, the one before is handed out at once, without an end, as `polled`. Steps that are open when their
 * proxy operation stops, or whose handle is used again, are handed out without an end then. */
#ifndef RS_EVENTS_RECORDED_H
#define RS_EVENTS_RECORDED_H

#include "events/events.h"

enum rs_status rs_events_recorded(struct rs_model *m, struct rs_source *source, uint32_t proc, uint64_t types,
                                  struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err);

#endif
