/* Where a timeline begins and ends (with the run: join/run_span.h), and the part to show first. */
#ifndef RS_TIMELINE_SPAN_H
#define RS_TIMELINE_SPAN_H

#include "timeline/timeline.h"

/* Sets begin and span. */
void rs_span_find(struct rs_timeline *t);
/* Sets focus_from and focus_to from t->ops: from the first to the last, without a few far away. */
void rs_span_focus(struct rs_timeline *t);

/* The stretch [from, to] of the common axis on the timeline; clipped. False: outside. */
bool rs_span_place(const struct rs_timeline *t, int64_t from, int64_t to, int64_t *start, int64_t *dur);
/* Whether a stretch of the common axis intersects the requested span of time. */
bool rs_span_asked(const struct rs_timeline *t, int64_t from, int64_t to);

/* The last sign of life of a process, on the common axis: what was open then is open until here. */
int64_t rs_proc_heard(const struct rs_timeline *t, uint32_t proc);

#endif
