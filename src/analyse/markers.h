/* The steps of a run as time windows per rank: a step marked by the framework is the rank's own mark, the others are
 * the same for all ranks (analyse/steps.h). A rank without recorded marks has the run's steps; a rank with some has the
 * run's for the others, if its recording covers them. Steps of the warm-up are counted only.
 *
 * Windows of one rank are by time and do not overlap. Owned until rs_markers_free(). One thread at a time. */
#ifndef RS_ANALYSE_MARKERS_H
#define RS_ANALYSE_MARKERS_H

#include "analyse/steps.h"
#include "analyse/tracks.h"

struct rs_window {
    int64_t from, to;
    int64_t
        length; /* of the step; a window may be shorter: marks begin while the GPU still works on the previous step */
    bool marked; /* the framework's mark */
    bool profiled; /* the trace of the rank's GPU contains all of it */
    bool left_out; /* in the warm-up; not in the table */
};

struct rs_markers {
    struct rs_window *windows;
    uint32_t n;
    uint32_t marked; /* windows that are marks */
    uint32_t warmup, warmup_marked; /* windows that are left out; of these, marks */
};

/* Of one track, inside the filter's span of time. */
void rs_markers_find(struct rs_markers *s, const struct rs_model *m, const struct rs_rank_track *track,
                     const struct rs_steps *steps, const struct rs_filter *filter);
void rs_markers_free(struct rs_markers *s);

/* How many windows are in the profile. */
uint32_t rs_markers_profiled(const struct rs_markers *s);
/* The profiled window that contains a time; RS_NONE: none. */
uint32_t rs_markers_of(const struct rs_markers *s, int64_t ns);
/* The total length of all profiled windows. */
int64_t rs_markers_ns(const struct rs_markers *s);

#endif
