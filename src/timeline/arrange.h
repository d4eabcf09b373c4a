/* Puts the bars of a process in order: lane by lane, by start, what overlaps on lanes of its own; and numbers all
 * that hangs on each other by the places that bars have then.
 *
 * Of bars that begin together the longest comes first, so that what lies inside another is on the lane below it. */
#ifndef RS_TIMELINE_ARRANGE_H
#define RS_TIMELINE_ARRANGE_H

#include "timeline/collect.h"

/* When all bars are collected: c->bars is complete afterwards, and t->bar_of_part of this process's parts. Frees what
 * was collected besides: the columns take most memory while they are put in order. */
enum rs_status rs_arrange(struct rs_collect *c, struct rs_err *err);

#endif
