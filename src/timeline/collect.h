/* Collects the bars of one process, in any order, on lanes that are found by key.
 *
 * The collectors add bars to the current piece (timeline/pieces.h; often the only one) and record relations: by the
 * number of an event, or of a bar as it was added. When a piece is complete, timeline/pieces.c sorts it. Lanes are
 * those of the whole process, and continue from piece to piece. Owned by timeline/timeline.c, which has the list of
 * collectors; one thread at a time. */
#ifndef RS_TIMELINE_COLLECT_H
#define RS_TIMELINE_COLLECT_H

#include "events/events.h"
#include "timeline/index.h"

/* One of the lanes that a lane is split into, so that bars do not overlap. */
struct rs_sub_lane {
    int64_t busy_until, end; /* ns from the begin: of its last bar; a bar of length 0 takes one */
    uint32_t id; /* among all of the process */
    uint16_t sub; /* among those of its group and row */
};

/* A lane before overlapping bars are split. */
struct rs_raw_lane {
    uint32_t group, label;
    uint64_t key; /* order among lanes of a group and row: channel, thread... */
    uint32_t n; /* bars of the piece that is being sorted */
    uint8_t row;
    uint16_t nsubs, cap_subs;
    struct rs_sub_lane *subs;
};

/* Keys of lanes are their order in a row: a channel, thread or queue pair of the process; then those of an unknown
 * thread; then those of others: of a process that this one helps, or a lane of another tool. */
#define RS_KEY_UNKNOWN (UINT64_C(1) << 33)
#define RS_KEY_OF_OTHERS (UINT64_C(1) << 34)

/* Relations while bars are collected: a bar as it was added, or with this bit an event by its number. */
#define RS_BY_EVENT UINT32_C(0x80000000)

/* Bars that are collected together, since they depend on each other. */
struct rs_bar_piece {
    struct rs_bars *bars;
    uint32_t number; /* of the process, from 0 */
    uint32_t *lane_of; /* by bar */
    uint32_t cap_lane_of;
    uint32_t *bar_of_event; /* by number minus first_event: bar, or RS_BY_EVENT | its parent, or RS_NONE */
    uint32_t first_event, nevents, cap_events;
};

/* See timeline/pieces.h. */
struct rs_bar_pieces {
    struct rs_bar_piece ring[RS_EVENT_PIECES]; /* by the low bits of their numbers: ended .. begun - 1 */
    uint32_t begun, ended;
    bool whole; /* the only one, with all of the process */
    struct rs_bars *kept; /* the caller's memory for it, which the caller keeps; NULL: pieces are delivered */
    struct rs_bars *spare; /* memory for the next */
    uint32_t bars; /* delivered so far, over all processes */
    rs_bars_visit visit;
    void *to;
};

/* For a part that is in no piece: it does not pass the filter. No piece has this number. */
#define RS_LEFT_OUT (UINT32_MAX - 1)

struct rs_collect {
    struct rs_timeline *t;
    struct rs_bars *bars; /* of the current piece */
    struct rs_bar_piece *piece; /* current */
    uint32_t proc; /* primary */
    struct rs_bar_pieces *pieces;
    uint32_t *piece_of_part; /* by part minus first_part; RS_NONE: in none yet, RS_LEFT_OUT. NULL: all are in one */
    uint32_t first_part; /* of the process */
    struct rs_raw_lane *lanes;
    uint32_t nlanes, cap_lanes;
    struct rs_map lane_index;
    uint32_t ids; /* of sub lanes so far */
    struct rs_map subs; /* group and row -> sub lanes so far */
    struct rs_map launches; /* rs_launch_key() -> piece << 32 | bar of the launch */
    struct rs_map algorithms; /* algorithm, protocol and channels -> text */
    struct rs_map threads; /* thread -> group of the rank that it called for; RS_NONE: several */
};

/* Everything except the piece. */
void rs_collect_free(struct rs_collect *c);
/* Everything except the bars, which are the caller's. */
void rs_bar_piece_free(struct rs_bar_piece *p);

static inline bool rs_collect_wants(const struct rs_collect *c, enum rs_row row)
{
    return c->t->options.rows >> row & 1;
}

/* A lane, existing or new: for a new one the caller sets c->lanes[*lane].label. `key` is below 2^35. */
enum rs_status rs_collect_lane(struct rs_collect *c, uint32_t group, enum rs_row row, uint64_t key, uint32_t *lane,
                               bool *is_new, struct rs_err *err);

/* A bar from `from` to `to` on the common axis. *bar is RS_NONE if it is outside the timeline or the requested span. */
enum rs_status rs_collect_bar(struct rs_collect *c, uint32_t lane, uint8_t kind, int64_t from, int64_t to,
                              uint32_t *bar, struct rs_err *err);

/* The fade of a bar that was added, clipped to the timeline. */
int64_t rs_collect_fade(const struct rs_collect *c, uint32_t bar, int64_t fade);

/* Records the bar of an event; if it is not drawn: RS_BY_EVENT and the number of the event it refers to, or RS_NONE. */
void rs_collect_event(struct rs_collect *c, uint32_t number, uint32_t bar);

/* Records that a thread called, or launched, for a communicator. */
void rs_collect_thread(struct rs_collect *c, uint32_t tid, uint32_t member);
/* The same from the model, for a whole recording. */
void rs_collect_callers(struct rs_collect *c);
/* When all bars are collected: moves calls and launches of a thread that works for one rank only to that rank's rows. */
void rs_collect_threads(struct rs_collect *c);

/* ---- the collectors, in the order in which they run ---- */

/* Operations: from the model. Sets t->bar_of_part to bars as they were added. Operations that are in no piece yet go to
 * the current one. */
enum rs_status rs_collect_parts(struct rs_collect *c, struct rs_err *err);
/* One of them, ahead of its turn. */
enum rs_status rs_collect_part(struct rs_collect *c, uint32_t part, struct rs_err *err);
/* Everything below them: a second reading. */
enum rs_status rs_collect_events(struct rs_collect *c, struct rs_err *err);
/* Activities of other tools. */
enum rs_status rs_collect_activities(struct rs_collect *c, struct rs_err *err);
/* Calls and launches known only from parts, and edges from launches to operations: of the current piece. */
enum rs_status rs_collect_launches(struct rs_collect *c, struct rs_err *err);
/* Losses, and what was not recorded. */
enum rs_status rs_collect_gaps(struct rs_collect *c, struct rs_err *err);

#endif
