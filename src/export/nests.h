/* Nested slices: which bars of a piece are on which track, for tools that nest the slices of a track.
 *
 * Bars of a lane do not overlap (timeline/bars.h): a call in a group call, and a phase of a kernel, are on a further lane
 * of the same name. A bar that is inside its parent goes to its parent's track instead, if it begins after it: such
 * tools cannot distinguish slices that begin together when they bind an arrow. Bars that merely run at the same time
 * stay on their lane: nesting would mean that one is part of the other.
 *
 * A track is identified by its lane. Owned by the caller, computed for each piece of a process and freed with it. A parent
 * is in the piece of its children, so no slice is inside a slice of another piece. Only reads the bars. One thread at a
 * time. */
#ifndef RS_EXPORT_NESTS_H
#define RS_EXPORT_NESTS_H

#include "timeline/bars.h"

struct rs_nests {
    uint32_t *from; /* by lane, and one more: bars of its track are order[from[l] .. from[l + 1]); it may have none */
    uint32_t *order; /* bars track by track, by begin; a bar is before those inside it */
    uint32_t *place; /* by bar: its position in order */
    uint32_t *within; /* by bar: the bar around it on its track; RS_NONE: none */
    uint32_t *track; /* by bar: lane */
    uint32_t *open; /* by lane, temporary: the bar that is open there */
};

void rs_nests_piece(struct rs_nests *s, const struct rs_bars *b);
void rs_nests_free(struct rs_nests *s);

/* Whether two lanes show the same thing: the second has the bars that overlap bars of the first. */
static inline bool rs_nests_same(const struct rs_bar_lane *x, const struct rs_bar_lane *y)
{
    return x->group == y->group && x->row == y->row && x->label == y->label;
}

/* Whether bar i begins where another one of its track ends. */
bool rs_nests_touches(const struct rs_nests *s, const struct rs_bars *b, uint32_t i);
/* Whether another bar is inside bar i. */
static inline bool rs_nests_holds(const struct rs_nests *s, const struct rs_bars *b, uint32_t i)
{
    uint32_t next = s->place[i] + 1;
    return next < b->n && s->within[s->order[next]] == i;
}

#endif
