/* The numbers that lanes of a process have in the output, through all pieces of the process: a track's, a thread's.
 * Owned by the exporter; one thread at a time. */
#ifndef RS_EXPORT_LANE_NUMBERS_H
#define RS_EXPORT_LANE_NUMBERS_H

#include "timeline/bars.h"

struct rs_lane_numbers {
    uint64_t *of; /* by id of the lane; 0: none yet */
    uint32_t n, cap;
};

/* Before the first piece of a process. */
void rs_lane_numbers_clear(struct rs_lane_numbers *x);
/* The place of a lane's number, which the caller sets; good until the next call. */
void rs_lane_number(struct rs_lane_numbers *x, const struct rs_bar_lane *lane, uint64_t **number);
void rs_lane_numbers_free(struct rs_lane_numbers *x);

#endif
