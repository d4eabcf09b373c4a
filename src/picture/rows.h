/* The rows of a picture: which of a timeline's bars are drawn, process by process.
 *
 * A row has individual bars as long as they are few or wide, and pixels (timeline/pixels.h) for the rest: memory grows
 * with rows and pixels, not with the run. Folded, a row is a GPU: operations of all its communicators above, compute
 * below, and overlapping bars share the height. Open, a row is a lane; similar lanes of a communicator (channels,
 * steps) share one. If there are more rows than can be drawn, the GPUs that waited most are kept, and some of those
 * that were last most often; the others are counted.
 *
 * Owns everything except the timeline. One thread at a time. */
#ifndef RS_PICTURE_ROWS_H
#define RS_PICTURE_ROWS_H

#include "timeline/pixels.h"
#include "timeline/sums.h"
#include "timeline/timeline.h"

struct rs_picture_bar {
    int64_t start, dur, wait, fade; /* as in timeline/bars.h */
    int64_t args[RS_BAR_ARGS];
    uint32_t number, name, op, parent;
    uint32_t marks[RS_BAR_MARKS];
    uint8_t kind, flags, row; /* row: enum rs_row of its lane */
    uint8_t slot, slots; /* its share of the row's height: slot of slots, from the top */
};

/* Not an event: drawn below the others. */
static inline bool rs_picture_is_blank(const struct rs_picture_bar *bar)
{
    return bar->flags & (RS_BAR_LOST | RS_BAR_NOT_RECORDED);
}

enum { RS_PICTURE_LANES = 64 };

struct rs_picture_row {
    uint32_t group; /* of the timeline: of the lane; folded: of the GPU */
    uint32_t unit; /* group of the GPU, else of the process: kept or dropped together */
    uint32_t label; /* text: of the first lane; folded: of the group */
    uint16_t lanes; /* open: number of lanes on the row, up to RS_PICTURE_LANES */
    uint8_t row; /* enum rs_row; folded: RS_ROW_OPERATIONS */
    int64_t wait; /* ns waited in the visible operations: of its GPU, in its first row */
    uint32_t last; /* in these: how often it was the last; likewise */
    bool open; /* one of these had not ended at the end of the recording */
    struct rs_picture_bar *bars; /* by start */
    uint32_t nbars, cap_bars;
    struct rs_pixels upper, lower; /* width 0: empty. Lower: compute of a folded row */
    bool has_lower; /* the height is shared with compute */
    double y, height; /* set by picture/layout.h */
};

struct rs_picture_edge {
    uint32_t from, to; /* numbers of bars */
};

struct rs_picture_take {
    bool fold;
    bool cells; /* pixels only, no individual bars: for text */
    unsigned width; /* pixels of the time axis */
    unsigned most; /* rows at most; 0: all */
    int64_t from, to; /* ns, from < to */
};

struct rs_picture_rows {
    const struct rs_timeline *timeline;
    struct rs_picture_take take;
    const struct rs_timeline_sum *sums; /* by group, borrowed; NULL: none are known */
    struct rs_picture_row *rows; /* in drawing order */
    uint32_t n, cap;
    struct rs_picture_edge *edges; /* from a launch to what it launched, each once */
    uint32_t nedges, cap_edges;
    uint32_t left_out; /* GPUs */
    uint32_t cut; /* rows dropped from GPUs that are drawn */
    uint32_t units; /* with anything to draw */
};

void rs_picture_rows_init(struct rs_picture_rows *r, const struct rs_timeline *t, const struct rs_picture_take *take,
                          const struct rs_timeline_sum *sums);
/* The bars of one process. */
void rs_picture_rows_add(struct rs_picture_rows *r, const struct rs_bars *bars);
/* After the last process: drops what is too much, folds the narrowest bars until at most `bars` remain, and assigns
 * each bar its share of the height. */
void rs_picture_rows_end(struct rs_picture_rows *r, uint32_t bars);
void rs_picture_rows_free(struct rs_picture_rows *r);

/* The label of a row; not clean. */
void rs_picture_row_label(const struct rs_picture_rows *r, const struct rs_picture_row *row, char *out, size_t size);
/* The enclosing group at a level, or itself; RS_NONE: none. */
uint32_t rs_picture_group_at(const struct rs_timeline *t, uint32_t group, enum rs_group_level level);
/* Pixels per ns. */
static inline double rs_picture_scale(const struct rs_picture_take *take)
{
    return (double)take->width / ((double)take->to - (double)take->from);
}

#endif
