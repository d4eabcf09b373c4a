/* Bars of one process while they are collected: in any order, on lanes that are found by what they are of.
 *
 * The collectors add bars to the piece at hand (timeline/pieces.h; often there is one only) and say what hangs on what:
 * by the number of an event, or of a bar as it was added. When all of a piece are there, timeline/arrange.h puts them in
 * order. Lanes are those of the whole process, and go on from piece to piece. Owned by timeline/timeline.c, which has the
 * list of collectors; one thread at a time. */
#ifndef RS_TIMELINE_COLLECT_H
#define RS_TIMELINE_COLLECT_H

#include "events/events.h"
#include "timeline/index.h"

/* One of the lanes that a lane is split into, so that nothing overlaps. */
struct rs_sub_lane {
    int64_t busy_until, end; /* ns from the begin: of its last bar; a bar without length takes one */
    uint32_t id; /* among all of the process */
    uint16_t sub; /* among those of its group and row */
};

/* A lane before what overlaps is split. */
struct rs_raw_lane {
    uint32_t group, label;
    uint64_t key; /* order among lanes of a group and row: channel, thread... */
    uint32_t n; /* bars of the piece that is put in order */
    uint8_t row;
    uint16_t nsubs, cap_subs;
    struct rs_sub_lane *subs;
};

/* Keys of lanes are their order in a row: a channel, thread or queue pair of the process; then what no thread is told
 * of; then what is of others: of a process that this one helps, or a lane as another tool has it. */
#define RS_KEY_UNTOLD (UINT64_C(1) << 33)
#define RS_KEY_OF_OTHERS (UINT64_C(1) << 34)

/* What hangs on what, while bars are collected: a bar as it was added, or with this bit an event by its number. */
#define RS_BY_EVENT UINT32_C(0x80000000)

/* Bars that are collected together, since they hang on each other. */
struct rs_bar_piece {
    struct rs_bars *bars;
    uint32_t number; /* of the process, from 0 */
    uint32_t *lane_of; /* by bar */
    uint32_t cap_lane_of;
    uint32_t *bar_of_event; /* by number less first_event: bar, or RS_BY_EVENT | what stands above it, or RS_NONE */
    uint32_t first_event, nevents, cap_events;
};

/* See timeline/pieces.h. */
struct rs_bar_pieces {
    struct rs_bar_piece ring[RS_EVENT_PIECES]; /* by the low bits of their numbers: ended .. begun - 1 */
    uint32_t begun, ended;
    bool whole; /* there is one only, with all of the process */
    struct rs_bars *kept; /* the caller's room for that one, who keeps it; NULL: pieces are handed out */
    struct rs_bars *spare; /* room for the next */
    uint32_t bars; /* handed out so far, of all processes */
    rs_bars_visit visit;
    void *to;
};

/* Of a part that no piece is to have: it does not pass the filter. No piece has this number. */
#define RS_LEFT_OUT (UINT32_MAX - 1)

struct rs_collect {
    struct rs_timeline *t;
    struct rs_bars *bars; /* of the piece at hand */
    struct rs_bar_piece *piece; /* at hand */
    uint32_t proc; /* that leads */
    struct rs_bar_pieces *pieces;
    uint32_t *piece_of_part; /* by part less first_part; RS_NONE: in none yet, RS_LEFT_OUT. NULL: all are in one */
    uint32_t first_part; /* of the process */
    struct rs_raw_lane *lanes;
    uint32_t nlanes, cap_lanes;
    struct rs_map lane_index;
    uint32_t ids; /* of sub lanes so far */
    struct rs_map subs; /* group and row -> sub lanes so far */
    struct rs_map launches; /* rs_launch_key() -> piece << 32 | bar of the launch */
    struct rs_map algorithms; /* algorithm, protocol and channels -> text */
    struct rs_map threads; /* thread -> group of the rank that it called for; RS_NONE: of several */
};

/* All but the piece. */
void rs_collect_free(struct rs_collect *c);
/* All but the bars, which are the caller's. */
void rs_bar_piece_free(struct rs_bar_piece *p);

static inline bool rs_collect_wants(const struct rs_collect *c, enum rs_row row)
{
    return c->t->options.rows >> row & 1;
}

/* A lane, known or new: of a new one the caller sets c->lanes[*lane].label. `key` is below 2^35. */
enum rs_status rs_collect_lane(struct rs_collect *c, uint32_t group, enum rs_row row, uint64_t key, uint32_t *lane,
                               bool *is_new, struct rs_err *err);

/* A bar of the common axis's [from, to] on a lane. *bar is RS_NONE where it lies outside of the timeline or of the
 * span that was asked for. */
enum rs_status rs_collect_bar(struct rs_collect *c, uint32_t lane, uint8_t kind, int64_t from, int64_t to,
                              uint32_t *bar, struct rs_err *err);

/* The fade of a bar that was added: as much of it as lies in the timeline. */
int64_t rs_collect_fade(const struct rs_collect *c, uint32_t bar, int64_t fade);

/* Says what bar an event is; of one that is not drawn: RS_BY_EVENT and the number of what stands for it, or RS_NONE. */
void rs_collect_event(struct rs_collect *c, uint32_t number, uint32_t bar);

/* Says that a thread called, or launched, for a communicator. */
void rs_collect_thread(struct rs_collect *c, uint32_t tid, uint32_t member);
/* What the model says of that: all of a recording. */
void rs_collect_callers(struct rs_collect *c);
/* When all bars are there: calls and launches of a thread that works for one rank alone go to the rows of that. */
void rs_collect_threads(struct rs_collect *c);

/* ---- the collectors, in the order in which they run ---- */

/* Operations: from the model. Sets t->bar_of_part to bars as they were added. All that are in no piece yet go to the
 * one at hand. */
enum rs_status rs_collect_parts(struct rs_collect *c, struct rs_err *err);
/* One of them, before its turn. */
enum rs_status rs_collect_part(struct rs_collect *c, uint32_t part, struct rs_err *err);
/* Everything below them: a second reading. */
enum rs_status rs_collect_events(struct rs_collect *c, struct rs_err *err);
/* What other tools saw besides. */
enum rs_status rs_collect_activities(struct rs_collect *c, struct rs_err *err);
/* Calls and launches that only parts tell of, and edges from launches to operations: of the piece at hand. */
enum rs_status rs_collect_launches(struct rs_collect *c, struct rs_err *err);
/* Losses, and what was not recorded. */
enum rs_status rs_collect_gaps(struct rs_collect *c, struct rs_err *err);

#endif
