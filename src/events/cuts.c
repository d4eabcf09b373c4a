#include "events/cuts.h"

enum {
    CALLS = RS_GROUP_API | RS_COLL_API | RS_P2P_API,
    ANY = CALLS | RS_KERNEL_LAUNCH | RS_GROUP | RS_COLL | RS_P2P | RS_CE_COLL,
    LONG = 1 << 16, /* starts without any event that begins pieces: these are no longer recorded */
};

void rs_event_cuts_make(struct rs_event_cuts *c, const struct rs_model *m, struct rs_event_pieces *pieces, void *to)
{
    *c = (struct rs_event_cuts){
        .pieces = pieces,
        .to = to,
        .model = m,
        .roots = ANY,
    };
    c->open[0].until = RS_TIME_NONE;
}

static struct rs_event_piece *piece_at(struct rs_event_cuts *c, uint32_t piece)
{
    return &c->open[piece % RS_EVENT_PIECES];
}

static bool is_over(const struct rs_event_piece *p, int64_t now)
{
    return p->until == RS_TIME_NONE || p->until <= now;
}

/* Closes finished pieces. What is added to a piece after the end of its operations, such as proxy work for a kernel
 * that did not wait for it, is added before that many others have started. */
static enum rs_status close_pieces(struct rs_event_cuts *c, uint32_t number, int64_t now, struct rs_err *err)
{
    while (c->oldest < c->newest && number - piece_at(c, c->oldest + 1)->begun >= c->pieces->lag) {
        struct rs_event_piece *p = piece_at(c, c->oldest);
        if (p->flying || !is_over(p, now)) break;
        c->oldest++;
        RS_TRY(c->pieces->closed(c->to, err));
    }
    return RS_OK;
}

/* An event that depends on nothing: it may begin a piece. A launch may have no parent, and belongs to the operations
 * that follow: so calls begin pieces, else launches, else operations, whichever are recorded at the time. */
static enum rs_status take_root(struct rs_event_cuts *c, const struct rs_flights *f, uint64_t type, uint32_t number,
                                int64_t at, struct rs_err *err)
{
    if (number - c->rooted >= LONG) c->roots = ANY;
    if (type & CALLS) c->roots &= CALLS;
    if (type == RS_KERNEL_LAUNCH) c->roots &= CALLS | RS_KERNEL_LAUNCH;
    if (!(type & c->roots)) return RS_OK;
    c->rooted = number;
    if (rs_flights_keeps(f)) return RS_OK;
    RS_TRY(close_pieces(c, number, at, err));
    bool full = c->newest - c->oldest == RS_EVENT_PIECES - 1;
    if (full || number - piece_at(c, c->newest)->begun < c->pieces->least) return RS_OK;
    *piece_at(c, ++c->newest) = (struct rs_event_piece){.begun = number, .until = RS_TIME_NONE};
    return c->pieces->begun(c->to, number, err);
}

enum rs_status rs_event_cuts_start(struct rs_event_cuts *c, const struct rs_flights *f, uint64_t type, uint32_t number,
                                   int64_t at, struct rs_flight_parent *parent, uint32_t *piece, struct rs_err *err)
{
    *piece = c->newest;
    if (!c->pieces || type == RS_PROXY_CTRL) return RS_OK;
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
    piece_at(c, *piece)->flying++;
    return RS_OK;
}

bool rs_event_cuts_stuck(struct rs_event_cuts *c, uint32_t number, int64_t now)
{
    if (!c->pieces || c->oldest == c->newest) return false;
    uint32_t behind = number - piece_at(c, c->oldest + 1)->begun;
    const struct rs_event_piece *p = piece_at(c, c->oldest);
    if (behind < c->pieces->patience || number - c->stuck < c->pieces->lag || !p->flying || !is_over(p, now))
        return false;
    c->stuck = number;
    return true;
}
