/* Sorts the bars of a piece of a process: by lane, then by start; overlapping bars go to further lanes. Then numbers
 * all relations by the final positions.
 *
 * Of bars that begin together the longest is first, so that a contained bar is on the lane below. */
#ifndef RS_TIMELINE_ARRANGE_H
#define RS_TIMELINE_ARRANGE_H

#include "timeline/collect.h"

/* Called when all bars of the current piece are collected: completes c->bars, and t->bar_of_part of its parts. What
 * would overlap with an earlier piece goes to another lane. Frees the rest of the piece first, because sorting the
 * columns takes the most memory. */
void rs_arrange(struct rs_collect *c);

#endif
