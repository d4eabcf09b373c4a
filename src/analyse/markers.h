/* The steps of a run as windows of time, rank by rank: from the framework's annotations (ProfilerStep#12), else from
 * what repeats in NCCL's operations (analyse/steps.h), which is the same for all ranks.
 *
 * Windows of one rank are by time and do not overlap. Owned until rs_markers_free(). One thread at a time. */
#ifndef RS_ANALYSE_MARKERS_H
#define RS_ANALYSE_MARKERS_H

#include "analyse/steps.h"
#include "analyse/tracks.h"

enum rs_markers_source {
    RS_MARKERS_NONE, /* no steps are known */
    RS_MARKERS_ANNOTATED,
    RS_MARKERS_PATTERN,
};

struct rs_window {
    int64_t from, to;
};

struct rs_markers {
    struct rs_window *windows;
    uint32_t n, cap;
    enum rs_markers_source source;
};

/* Of one track, inside the filter's span of time. */
enum rs_status rs_markers_find(struct rs_markers *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                               const struct rs_steps *pattern, const struct rs_filter *filter, struct rs_err *err);
void rs_markers_free(struct rs_markers *s);

/* The window that a moment lies in; RS_NONE: none. */
uint32_t rs_markers_of(const struct rs_markers *s, int64_t ns);
/* How long all windows are together. */
int64_t rs_markers_ns(const struct rs_markers *s);

#endif
