/* Annotations of the program, by name: their time on the host, and the GPU work launched in them.
 *
 * GPU time is the sum of the lengths of kernels, copies and sets that any thread of the process launched during the
 * annotation (a backward pass launches from a separate thread); work with an unknown launch counts by its start. Steps
 * are not included (analyse/markers.h). Owns its table until rs_ranges_free(). */
#ifndef RS_ANALYSE_RANGES_H
#define RS_ANALYSE_RANGES_H

#include "analyse/markers.h"
#include "analyse/quantile.h"
#include "analyse/tracks.h"

struct rs_range_row {
    uint32_t name; /* see rs_model_name() */
    uint32_t calls;
    int64_t wall_ns, gpu_ns; /* of all calls, on the host and on the GPU; gpu_ns RS_TIME_NONE: no work recorded */
    struct rs_quantiles wall, gpu; /* of one call */
    double share; /* of the time of the steps, by calls inside them; NAN: no steps */
};

struct rs_ranges {
    struct rs_range_row *rows; /* by wall_ns */
    uint32_t n;
};

void rs_ranges_find(struct rs_ranges *r, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                    const struct rs_markers *steps, const struct rs_filter *filter);
void rs_ranges_free(struct rs_ranges *r);

#endif
