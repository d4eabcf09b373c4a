/* Puts the bars of a piece of a process in order: lane by lane, by start, what overlaps on lanes of its own; and
 * numbers all that hangs on each other by the places that bars have then.
 *
 * Of bars that begin together the longest comes first, so that what lies inside another is on the lane below it. */
#ifndef RS_TIMELINE_ARRANGE_H
#define RS_TIMELINE_ARRANGE_H

#include "timeline/collect.h"

/* When all bars of the piece at hand are collected: c->bars is complete afterwards, and t->bar_of_part of its parts.
 * What would overlap with a piece before goes to another lane. Frees what the piece has besides: the columns take most
 * memory while they are put in order. */
void rs_arrange(struct rs_collect *c);

#endif
