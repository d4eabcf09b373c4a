/* From when to when a part is drawn, and how much of that is known: the one rule for all that draw or write it.
 * Functions that only read a timeline. */
#ifndef RS_TIMELINE_STRETCH_H
#define RS_TIMELINE_STRETCH_H

#include "timeline/timeline.h"

struct rs_stretch {
    int64_t from, to; /* common axis; where the end is only bounded, `to` is its lower bound (or the upper one: see
                         rs_timeline_options.to_bound) */
    int64_t fade; /* between the two bounds; 0: the end is known, or has no upper bound */
    uint8_t flags; /* RS_BAR_END_BOUNDED, RS_BAR_OPEN, RS_BAR_START_UNKNOWN */
};

/* False: nothing is known of when it was. */
bool rs_stretch_of(const struct rs_timeline *t, uint32_t part, struct rs_stretch *s);
/* How long a part waited for the last rank, where that is more than the clocks may err; else 0. Where another rank never
 * came: all the time that its recording shows. */
int64_t rs_stretch_wait(const struct rs_timeline *t, uint32_t part);
/* Whether it was the last to arrive, by more than the clocks may err. */
bool rs_stretch_is_last(const struct rs_timeline *t, uint32_t part);

#endif
