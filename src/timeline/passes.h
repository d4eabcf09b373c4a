/* Which events are shown, and where: by the selected rows, and by the filters that all commands share. One rule for
 * bars and for tables of events. */
#ifndef RS_TIMELINE_PASSES_H
#define RS_TIMELINE_PASSES_H

#include "timeline/arguments.h"

/* What distinguishes the lanes of a row. */
enum rs_event_lane {
    RS_EVENT_ON_THREAD,
    RS_EVENT_ON_CHANNEL,
    RS_EVENT_ON_WAY, /* channel and direction */
    RS_EVENT_ON_LINK, /* queue pair or socket */
    RS_EVENT_ON_COMM, /* one of the communicator */
};

/* How events of a type are drawn. */
struct rs_event_drawing {
    uint8_t row; /* enum rs_row */
    uint8_t lane; /* enum rs_event_lane */
    uint8_t send, receive; /* kind of bar (RS_BAR_...), by direction; the same if it has none */
    bool timed; /* it has GPU times */
    uint32_t above; /* types that must be read as well, so that it finds its operation */
    bool drawn; /* false: not a type that is drawn */
};
/* `type`: one bit of nccl/abi.h, or 0. */
const struct rs_event_drawing *rs_event_drawing_of(uint64_t type);

/* The types of events (bits of nccl/abi.h) that rows (bits 1 << enum rs_row) consist of. `above`: the types that must
 * be read as well, so that events find their operation; may be NULL. */
uint64_t rs_row_types(uint64_t rows, uint64_t *above);

/* Whether an event passes the filter of its timeline, except for the span of time. Events without communicator and
 * function (a group call, the proxy thread) belong to their process, and pass. */
void rs_event_passes(struct rs_arguments *args, struct rs_timeline *t, const struct rs_event *e, bool *yes);

/* The row of an activity of another tool: of a kind below RS_ACTIVITY_KINDS. */
enum rs_row rs_activity_row(uint8_t kind);
/* Whether an activity is shown, except for the span of time and its group. *op: the number of a NCCL kernel's operation
 * in the primary source; RS_NONE: none, unknown, or filtered out. */
bool rs_activity_passes(const struct rs_timeline *t, uint32_t activity, uint32_t *op);

#endif
