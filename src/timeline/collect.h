/* Bars of one process while they are collected: in any order, on lanes that are found by what they are of.
 *
 * The collectors add bars and say what hangs on what: by the number of an event, or of a bar as it was added. When
 * all are there, timeline/arrange.h puts them in order. Owned by rs_timeline_process(); one thread at a time. */
#ifndef RS_TIMELINE_COLLECT_H
#define RS_TIMELINE_COLLECT_H

#include "timeline/index.h"

/* A lane before what overlaps is split. */
struct rs_raw_lane {
    uint32_t group, label;
    uint64_t key; /* order among lanes of a group and row: channel, thread... */
    uint32_t n;
    uint8_t row;
};

/* Keys of lanes are their order in a row: a channel, thread or queue pair of the process; then what no thread is told
 * of; then what is of others: of a process that this one helps, or a lane as another tool has it. */
#define RS_KEY_UNTOLD (UINT64_C(1) << 33)
#define RS_KEY_OF_OTHERS (UINT64_C(1) << 34)

/* What hangs on what, while bars are collected: a bar as it was added, or with this bit an event by its number. */
#define RS_BY_EVENT UINT32_C(0x80000000)

struct rs_collect {
    struct rs_timeline *t;
    struct rs_bars *bars;
    uint32_t proc; /* that leads */
    uint32_t *lane_of; /* by bar */
    uint32_t cap_lane_of;
    struct rs_raw_lane *lanes;
    uint32_t nlanes, cap_lanes;
    struct rs_map lane_index;
    uint32_t *bar_of_event; /* by number: bar, or RS_BY_EVENT | what stands above it, or RS_NONE */
    uint32_t nevents, cap_events;
    struct rs_map launches; /* rs_launch_key() -> bar of the launch */
    struct rs_map algorithms; /* algorithm, protocol and channels -> text */
    struct rs_map threads; /* thread -> group of the rank that it called for; RS_NONE: of several */
};

/* All but the bars, which are the caller's. */
void rs_collect_free(struct rs_collect *c);

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

/* Says what bar an event is; of one that is not drawn: RS_BY_EVENT and the number of what stands for it, or RS_NONE. */
enum rs_status rs_collect_event(struct rs_collect *c, uint32_t number, uint32_t bar, struct rs_err *err);

/* Says that a thread called, or launched, for a communicator. */
enum rs_status rs_collect_thread(struct rs_collect *c, uint32_t tid, uint32_t member, struct rs_err *err);
/* When all bars are there: calls and launches of a thread that works for one rank alone go to the rows of that. */
void rs_collect_threads(struct rs_collect *c);

/* ---- the collectors, in the order in which they run ---- */

/* Operations: from the model. Sets t->bar_of_part to bars as they were added. */
enum rs_status rs_collect_parts(struct rs_collect *c, struct rs_err *err);
/* Everything below them: a second reading. */
enum rs_status rs_collect_events(struct rs_collect *c, struct rs_err *err);
/* What other tools saw besides. */
enum rs_status rs_collect_activities(struct rs_collect *c, struct rs_err *err);
/* Calls and launches that only parts tell of, and edges from launches to operations. */
enum rs_status rs_collect_launches(struct rs_collect *c, struct rs_err *err);
/* Losses, and what was not recorded. */
enum rs_status rs_collect_gaps(struct rs_collect *c, struct rs_err *err);

#endif
