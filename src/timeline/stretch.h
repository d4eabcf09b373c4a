/* The drawn extent of a part, and how much of it is known: one rule for all that draw or write it. Functions that only
 * read a timeline. */
#ifndef RS_TIMELINE_STRETCH_H
#define RS_TIMELINE_STRETCH_H

#include "timeline/timeline.h"

struct rs_stretch {
    int64_t from, to; /* common axis; if the end is only bounded, `to` is its lower bound (or the upper one: see
                       * rs_timeline_options.to_bound) */
    int64_t fade; /* between the two bounds; 0: the end is known, or has no upper bound */
    uint8_t flags; /* RS_BAR_END_BOUNDED, RS_BAR_OPEN, RS_BAR_START_UNKNOWN */
};

/* False: no time is known. */
bool rs_stretch_of(const struct rs_timeline *t, uint32_t part, struct rs_stretch *s);
/* How long a part waited for the last rank, if that exceeds the clock error; else 0. If another rank never arrived: all
 * the time in its recording. */
int64_t rs_stretch_wait(const struct rs_timeline *t, uint32_t part);
/* Whether it was the last to start, by more than the clock error. */
bool rs_stretch_is_last(const struct rs_timeline *t, uint32_t part);

#endif
