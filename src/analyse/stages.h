/* The stages of each chunk of work, found in a trace: by the names of annotations and kernels, or between sends and
 * receives.
 *
 * By name: a shell pattern defines a stage; matches are searched among annotations on the GPU, annotations on the host,
 * then kernels and copies, and the first kind with a match is used. The i-th occurrence is chunk i; if a stage occurs k
 * times as often as the rarest, k of them make a chunk. By sends and receives: a chunk is from one of the most frequent
 * kind (say, receives from rank 2) to the next; its stages are the compute and the communication inside it, as unions. */
#ifndef RS_ANALYSE_STAGES_H
#define RS_ANALYSE_STAGES_H

#include "analyse/pipeline.h"
#include "analyse/tracks.h"

struct rs_stage_pattern {
    const char *name, *pattern; /* the caller's */
};

struct rs_stage_times {
    struct rs_stage_time *rows;
    uint32_t n, cap;
    char why[200]; /* why there are none; "": there are */
};

/* Each replaces what is in `s`. */
void rs_stages_by_name(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                       const struct rs_stage_pattern *patterns, uint32_t n, const struct rs_filter *filter);
void rs_stages_by_pairs(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                        const struct rs_filter *filter);
void rs_stage_times_free(struct rs_stage_times *s);

#endif
