/* Bars of one process, or of a piece of it: what is drawn, on lanes, in columns.
 *
 * Lanes are in the order of their groups (timeline/timeline.h). Bars of a lane are sorted by start and do not overlap:
 * overlapping bars go to a further lane of the same group and row with the next `sub`. Bars are numbered through all
 * processes of a timeline; `first` is the number of bar 0 here. Times are ns from the begin of the timeline. Owned by
 * the struct until rs_bars_free(); one thread at a time. */
#ifndef RS_TIMELINE_BARS_H
#define RS_TIMELINE_BARS_H

#include <stdint.h>

#include "base/err.h"
#include "model/columns.h"
#include "timeline/kinds.h"

enum rs_bar_flag {
    RS_BAR_END_BOUNDED = 1, /* `dur` reaches to the lower bound of the end, `fade` from there to the upper one; with
                             * rs_timeline_options.to_bound, `dur` reaches to the upper one, and `fade` is its last part */
    RS_BAR_LOST = 2, /* not an event: callbacks were lost here */
    RS_BAR_OPEN = 4, /* not ended at the end of the recording: `dur` reaches to there */
    RS_BAR_MISMATCH = 8, /* its arguments differ from the other ranks' */
    RS_BAR_HELPED = 16, /* another process did some of its network work (PXN) */
    RS_BAR_LAST = 32, /* the last of all ranks to start in its operation, by more than the clock error */
    RS_BAR_NOT_RECORDED = 64, /* not an event: nothing was recorded here */
    RS_BAR_START_UNKNOWN = 128, /* drawn from its launch, or its call */
};

#define RS_BAR_NO_ARG INT64_MIN
#define RS_BAR_NONE UINT32_MAX

#define RS_BAR_COLUMNS(X)                                                                                              \
    X(int64_t, start)                                                                                                  \
    X(int64_t, dur) /* >= 0 */                                                                                         \
    X(int64_t, wait) /* from the start: waited for the last rank; 0: not, or not known */                              \
    X(int64_t, fade) /* between the bounds of the end; 0: the end is known, or has no upper bound */                   \
    X(uint32_t, name) /* text of the timeline; 0: the kind's label */                                                  \
    X(uint32_t, op) /* number in timeline.ops; RS_BAR_NONE: none */                                                    \
    X(uint32_t, parent) /* number of a bar of the same piece; RS_BAR_NONE: none */                                     \
    X(uint32_t, m1) /* where the states of the kind's marks begin, ns from the start; 0: not */                        \
    X(uint32_t, m2)                                                                                                    \
    X(uint32_t, m3)                                                                                                    \
    X(int64_t, a1) /* arguments, as the kind names them; RS_BAR_NO_ARG: none */                                        \
    X(int64_t, a2)                                                                                                     \
    X(int64_t, a3)                                                                                                     \
    X(int64_t, a4)                                                                                                     \
    X(int64_t, a5)                                                                                                     \
    X(int64_t, a6)                                                                                                     \
    X(uint8_t, kind) /* of timeline.kinds */                                                                           \
    X(uint8_t, flags) /* RS_BAR_... */

#define RS_LANE_ORDERS (UINT32_C(1) << 20)

struct rs_bar_lane {
    uint32_t group; /* of timeline.groups */
    uint8_t row; /* enum rs_row */
    uint16_t sub;
    uint32_t id; /* the same in all pieces of the process; from 0, without gaps */
    uint32_t order; /* below RS_LANE_ORDERS: its position among the lanes of its group and row, in any piece */
    uint32_t label; /* text of the timeline: "channel 3", "thread 4711 python, calls" */
    uint32_t from, n; /* its bars: [from, from + n) */
    int64_t before; /* end of its bars in earlier pieces; -1: none */
};

/* From a launch to what it launched. Parents need no edge. */
struct rs_bar_edge {
    uint32_t from, to; /* numbers of bars, both here */
};

struct rs_bars {
    uint32_t first; /* number of bar 0 */
    uint32_t piece; /* of its process, from 0 */
    bool last; /* piece of its process */
    uint32_t n, cap;
    RS_BAR_COLUMNS(RS_COLUMN)
    struct rs_bar_lane *lanes;
    uint32_t nlanes, cap_lanes;
    struct rs_bar_edge *edges; /* sorted by from, then to */
    uint32_t nedges, cap_edges;
    uint32_t *parts; /* of the model: operations of this piece, drawn or not */
    uint32_t nparts, cap_parts;
};

/* A new bar: zeroed, without operation, parent and arguments. */
void rs_bars_add(struct rs_bars *b, uint32_t *index);
/* The error if numbers do not suffice. */
enum rs_status rs_bars_too_many(struct rs_err *err);
/* Drops all bars, lanes and edges, and keeps the memory. */
void rs_bars_clear(struct rs_bars *b);
void rs_bars_free(struct rs_bars *b);

#endif
