/* How long each GPU waited in a stretch of the timeline, and how often it was the last to start: operations that count
 * (join/totals.h), waits as in `ops`. */
#ifndef RS_TIMELINE_SUMS_H
#define RS_TIMELINE_SUMS_H

#include "timeline/timeline.h"

struct rs_timeline_sum {
    int64_t wait; /* ns, of waits beyond the clock error */
    uint32_t last; /* operations */
};

/* By group of the timeline: those of GPUs are set, from what begins before `to` and ends after `from` (ns of the
 * timeline). The caller frees it. */
void rs_timeline_sums(const struct rs_timeline *t, int64_t from, int64_t to, struct rs_timeline_sum **sums);

#endif
