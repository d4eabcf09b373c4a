/* Where a process is cut into pieces while its recording is read (struct rs_event_pieces in events/events.h): the piece
 * of an event, and when a piece is complete. Part of the second reading; one thread at a time. */
#ifndef RS_EVENTS_CUTS_H
#define RS_EVENTS_CUTS_H

#include "assemble/flights.h"
#include "events/events.h"
#include "nccl/abi.h"

/* An open piece. */
struct rs_event_piece {
    uint32_t begun; /* number of its first start */
    uint32_t flying; /* events in flight */
    int64_t until; /* common axis: its operations last until then, according to the model */
};

struct rs_event_cuts {
    struct rs_event_pieces *pieces; /* NULL: not cut */
    void *to;
    const struct rs_model *model;
    uint32_t newest, oldest; /* open pieces */
    struct rs_event_piece open[RS_EVENT_PIECES]; /* by the low bits of their numbers */
    uint64_t roots; /* types of events that may begin a piece */
    uint32_t rooted; /* number of the latest of these */
    uint32_t stuck; /* number at which this was last reported */
};

void rs_event_cuts_make(struct rs_event_cuts *c, const struct rs_model *m, struct rs_event_pieces *pieces, void *to);
/* The piece of a start: its parent's. If that is closed, the parent is dropped. */
enum rs_status rs_event_cuts_start(struct rs_event_cuts *c, const struct rs_flights *f, uint64_t type, uint32_t number,
                                   int64_t at, struct rs_flight_parent *parent, uint32_t *piece, struct rs_err *err);
/* An event that has started is, or depends on, a part of this process. */
static inline void rs_event_cuts_part(struct rs_event_cuts *c, uint32_t piece, uint32_t part)
{
    const struct rs_parts *parts = &c->model->parts;
    struct rs_event_piece *p = &c->open[piece % RS_EVENT_PIECES];
    int64_t until = parts->end[part];
    if (until == RS_TIME_NONE) /* only bounded; in a hang: what it began, perhaps late, does not end */
        until = parts->start[part] > parts->after[part] ? parts->start[part] : parts->after[part];
    if (until > p->until) p->until = until;
}
/* An event is delivered. The proxy thread's own states may last for hours and depend on nothing: they go to the newest
 * piece, and do not keep it open. */
static inline void rs_event_cuts_end(struct rs_event_cuts *c, struct rs_event *e)
{
    if (e->type == RS_PROXY_CTRL)
        e->piece = c->newest;
    else if (c->pieces)
        c->open[e->piece % RS_EVENT_PIECES].flying--;
}
/* Whether what is in flight in the oldest piece may never end: its operations are over, and very many events have
 * started since. (Stops are lost, communicators aborted.) Not reported again for a while. */
bool rs_event_cuts_stuck(struct rs_event_cuts *c, uint32_t number, int64_t now);

#endif
