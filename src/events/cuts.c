#include "events/cuts.h"

#include "nccl/abi.h"

enum { CALLS = RS_GROUP_API | RS_COLL_API | RS_P2P_API };

void rs_event_cuts_make(struct rs_event_cuts *c, const struct rs_model *m, struct rs_event_pieces *pieces, void *to)
{
    *c = (struct rs_event_cuts){
        .pieces = pieces,
        .to = to,
        .model = m,
        .roots = CALLS | RS_KERNEL_LAUNCH | RS_GROUP | RS_COLL | RS_P2P | RS_CE_COLL,
    };
    for (int i = 0; i < RS_EVENT_PIECES; i++) c->open[i].until = RS_TIME_NONE;
}

/* Closes what is over: what comes to a piece later than the end of its operations, such as the proxy's work for a kernel
 * that did not wait for it, comes before as many other events have started. */
static enum rs_status close_pieces(struct rs_event_cuts *c, int64_t now, struct rs_err *err)
{
    while (c->oldest + 1 < c->newest) {
        struct rs_event_piece *p = &c->open[c->oldest % RS_EVENT_PIECES];
        if (p->flying || (p->until != RS_TIME_NONE && p->until > now)) break;
        p->until = RS_TIME_NONE;
        c->oldest++;
        RS_TRY(c->pieces->closed(c->to, err));
    }
    return RS_OK;
}

/* An event that hangs on nothing: it may begin a piece. A launch may have no parent, and belongs to the operations that
 * follow: so calls begin pieces, else launches, else operations, whatever the first piece has. */
static enum rs_status take_root(struct rs_event_cuts *c, const struct rs_event_flights *f, uint64_t type,
                                uint32_t number, int64_t at, struct rs_err *err)
{
    if (type & CALLS) c->roots &= CALLS;
    if (type == RS_KERNEL_LAUNCH) c->roots &= CALLS | RS_KERNEL_LAUNCH;
    if (!(type & c->roots) || rs_event_flights_keeps(f)) return RS_OK;
    RS_TRY(close_pieces(c, at, err));
    if (number - c->begun < c->pieces->least || c->newest - c->oldest == RS_EVENT_PIECES - 1) return RS_OK;
    c->newest++;
    c->begun = number;
    return c->pieces->begun(c->to, number, err);
}

enum rs_status rs_event_cuts_start(struct rs_event_cuts *c, const struct rs_event_flights *f, uint64_t type,
                                   uint32_t number, int64_t at, struct rs_event_parent *parent, uint32_t *piece,
                                   struct rs_err *err)
{
    *piece = 0;
    if (!c->pieces) return RS_OK;
    if (parent->number == RS_NONE) {
        RS_TRY(take_root(c, f, type, number, at, err));
        *piece = c->newest;
    } else if (parent->piece >= c->oldest) {
        *piece = parent->piece;
    } else {
        c->pieces->late++;
        parent->number = RS_NONE;
        *piece = c->newest;
    }
    c->open[*piece % RS_EVENT_PIECES].flying++;
    return RS_OK;
}
