/* The events of one recording: a visitor of assemble/assemble.h that delivers each event when it is over.
 *
 * What is never stopped is delivered without an end: each start that NCCL made while it polled for a step (`polled`),
 * and steps that were open when their proxy operation was over. */
#ifndef RS_EVENTS_RECORDED_H
#define RS_EVENTS_RECORDED_H

#include "events/events.h"

enum rs_status rs_events_recorded(struct rs_model *m, struct rs_source *source, uint32_t proc, uint64_t types,
                                  struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err);

#endif
