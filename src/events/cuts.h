/* Where a process is cut into pieces while its recording is read (struct rs_event_pieces in events/events.h): which piece
 * an event goes to, and when nothing more can come to one. Part of the second reading; one thread at a time. */
#ifndef RS_EVENTS_CUTS_H
#define RS_EVENTS_CUTS_H

#include "events/flights.h"

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
};

void rs_event_cuts_make(struct rs_event_cuts *c, const struct rs_model *m, struct rs_event_pieces *pieces, void *to);
/* Which piece a start goes to: to its parent's, which is forgotten where that is closed. */
enum rs_status rs_event_cuts_start(struct rs_event_cuts *c, const struct rs_event_flights *f, uint64_t type,
                                   uint32_t number, int64_t at, struct rs_event_parent *parent, uint32_t *piece,
                                   struct rs_err *err);
/* An event that has started is, or hangs on, a part of this process. */
static inline void rs_event_cuts_part(struct rs_event_cuts *c, uint32_t piece, uint32_t part)
{
    struct rs_event_piece *p = &c->open[piece % RS_EVENT_PIECES];
    if (c->model->parts.end[part] > p->until) p->until = c->model->parts.end[part];
}
/* An event is handed out. */
static inline void rs_event_cuts_end(struct rs_event_cuts *c, uint32_t piece)
{
    c->open[piece % RS_EVENT_PIECES].flying--;
}

#endif
