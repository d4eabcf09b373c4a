/* Slices inside slices: which bars of a piece stand on which track, for tools that nest what a track holds.
 *
 * Lanes hold no two bars at once (timeline/bars.h): a call in a group call, and a phase of a kernel, are on a further
 * lane of the same name. Where the other is its parent and holds it, a bar goes to its parent's track instead, behind
 * its begin: in such tools what begins together cannot be told apart when an arrow is bound. What merely runs at the
 * same time stays beside it, since to nest it would say that the one is part of the other.
 *
 * A track is known by the lane that it took over. Owned by the caller, made anew for each piece of a process and freed
 * with it: what the next one needs to be read may take its room. A parent is in the piece of its children, so that
 * nothing stands in a slice of another piece. Only reads the bars. One thread at a time. */
#ifndef RS_EXPORT_NESTS_H
#define RS_EXPORT_NESTS_H

#include "timeline/bars.h"

struct rs_nests {
    uint32_t *from; /* by lane, and one more: bars of its track are order[from[l] .. from[l + 1]); it may have none */
    uint32_t *order; /* bars track by track, by begin, one that holds others before them */
    uint32_t *place; /* by bar: its place in order */
    uint32_t *within; /* by bar: the one that it stands in on its track; RS_NONE: none */
    uint32_t *track; /* by bar: lane */
    uint32_t *open; /* of lanes at work: the bar that is open there */
};

void rs_nests_piece(struct rs_nests *s, const struct rs_bars *b);
void rs_nests_free(struct rs_nests *s);

/* Whether two lanes show the same thing, so that what is on the second is there for lack of room on the first. */
static inline bool rs_nests_same(const struct rs_bar_lane *x, const struct rs_bar_lane *y)
{
    return x->group == y->group && x->row == y->row && x->label == y->label;
}

/* Whether bar i begins where another one of its track ends. */
bool rs_nests_touches(const struct rs_nests *s, const struct rs_bars *b, uint32_t i);
/* Whether another bar stands in bar i. */
static inline bool rs_nests_holds(const struct rs_nests *s, const struct rs_bars *b, uint32_t i)
{
    uint32_t next = s->place[i] + 1;
    return next < b->n && s->within[s->order[next]] == i;
}

#endif
