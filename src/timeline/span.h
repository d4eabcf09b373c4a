/* Where a timeline begins and ends (with the run: join/run_span.h), and what of it is worth looking at first. */
#ifndef RS_TIMELINE_SPAN_H
#define RS_TIMELINE_SPAN_H

#include "timeline/timeline.h"

/* Sets begin and span. */
void rs_span_find(struct rs_timeline *t);
/* Sets focus_from and focus_to by the operations of t->ops: from the first to the last, but for a few far away. */
void rs_span_focus(struct rs_timeline *t);

/* The stretch [from, to] of the common axis on the timeline; clamped to it. False: it lies outside. */
bool rs_span_place(const struct rs_timeline *t, int64_t from, int64_t to, int64_t *start, int64_t *dur);
/* Whether a stretch of the common axis reaches into the span of time that was asked for. */
bool rs_span_asked(const struct rs_timeline *t, int64_t from, int64_t to);

/* When the process was last heard of, on the common axis: what was open then was open until here. */
int64_t rs_proc_heard(const struct rs_timeline *t, uint32_t proc);

#endif
