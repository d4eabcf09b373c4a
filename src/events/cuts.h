/* Where a process is cut into pieces while its recording is read (struct rs_event_pieces in events/events.h): which piece
 * an event goes to, and when nothing more can come to one. Part of the second reading; one thread at a time. */
#ifndef RS_EVENTS_CUTS_H
#define RS_EVENTS_CUTS_H

#include "assemble/flights.h"
#include "events/events.h"
#include "nccl/abi.h"

/* A piece that is not closed. */
struct rs_event_piece {
    uint32_t begun; /* number of its first start */
    uint32_t flying; /* events */
    int64_t until; /* common axis: by the model, operations of it go on till then */
};

struct rs_event_cuts {
    struct rs_event_pieces *pieces; /* NULL: nothing is cut */
    void *to;
    const struct rs_model *model;
    uint32_t newest, oldest; /* pieces that are not closed */
    struct rs_event_piece open[RS_EVENT_PIECES]; /* by the low bits of their numbers */
    uint64_t roots; /* types of events that may begin a piece */
    uint32_t rooted; /* number of the latest of these */
    uint32_t stuck; /* number at which that was last said */
};

void rs_event_cuts_make(struct rs_event_cuts *c, const struct rs_model *m, struct rs_event_pieces *pieces, void *to);
/* Which piece a start goes to: to its parent's, which is forgotten where that is closed. */
enum rs_status rs_event_cuts_start(struct rs_event_cuts *c, const struct rs_flights *f, uint64_t type, uint32_t number,
                                   int64_t at, struct rs_flight_parent *parent, uint32_t *piece, struct rs_err *err);
/* An event that has started is, or hangs on, a part of this process. */
static inline void rs_event_cuts_part(struct rs_event_cuts *c, uint32_t piece, uint32_t part)
{
    const struct rs_parts *parts = &c->model->parts;
    struct rs_event_piece *p = &c->open[piece % RS_EVENT_PIECES];
    int64_t until = parts->end[part];
    if (until == RS_TIME_NONE) /* only bounded; of one that hangs: what it began, late perhaps, does not end */
        until = parts->start[part] > parts->after[part] ? parts->start[part] : parts->after[part];
    if (until > p->until) p->until = until;
}
/* An event is to be handed out. The proxy thread's own states may last for hours, and hang on nothing: they go to the
 * newest piece, and keep none open. */
static inline void rs_event_cuts_end(struct rs_event_cuts *c, struct rs_event *e)
{
    if (e->type == RS_PROXY_CTRL)
        e->piece = c->newest;
    else if (c->pieces)
        c->open[e->piece % RS_EVENT_PIECES].flying--;
}
/* Whether what is in flight of the oldest piece may never end: its operations are over, and very many events have started
 * since. Stops are lost, and communicators aborted. Not said again for a while. */
bool rs_event_cuts_stuck(struct rs_event_cuts *c, uint32_t number, int64_t now);

#endif
