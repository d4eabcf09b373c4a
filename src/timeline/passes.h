/* Which events are shown, and where: by the rows that are wanted, and by the filters that all commands share. One rule for
 * bars and for tables of events. */
#ifndef RS_TIMELINE_PASSES_H
#define RS_TIMELINE_PASSES_H

#include "timeline/arguments.h"

/* How the lanes of a row are told apart. */
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
    uint8_t send, receive; /* kind of bar (RS_BAR_...), by its direction; the same where it has none */
    bool timed; /* it has the GPU's times */
    uint32_t above; /* types that have to be read besides, so that it finds its operation */
    bool drawn; /* else: it is of no type that is drawn */
};
/* `type`: one bit of nccl/abi.h, or 0. */
const struct rs_event_drawing *rs_event_drawing_of(uint64_t type);

/* The types of events (bits of nccl/abi.h) that rows (bits 1 << enum rs_row) are made of. `above`: the types that have
 * to be read besides, so that what hangs on them finds its operation; may be NULL. */
uint64_t rs_row_types(uint64_t rows, uint64_t *above);

/* Whether an event passes the filter of its timeline, but for the span of time: what is of no communicator and no
 * function (a group call, the proxy thread) is of its process, and stays. */
void rs_event_passes(struct rs_arguments *args, struct rs_timeline *t, const struct rs_event *e, bool *yes);

/* The row that an activity of another tool lies on: of a kind below RS_ACTIVITY_KINDS. */
enum rs_row rs_activity_row(uint8_t kind);
/* Whether an activity is shown, but for the span of time and the group that it would be in. *op: the number of the
 * operation that a NCCL kernel ran, by the tool that leads; RS_NONE: none, not known, or left out. */
bool rs_activity_passes(const struct rs_timeline *t, uint32_t activity, uint32_t *op);

#endif
