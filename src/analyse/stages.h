/* The stages of each chunk of work, found in a trace: by the names of annotations and kernels, or between sends and
 * receives.
 *
 * By name: a shell pattern defines a stage; matches are searched among annotations on the GPU, annotations on the host,
 * then kernels and copies, and the first kind with a match is used. The i-th occurrence is chunk i; if a stage occurs k
 * times as often as the rarest, k of them make a chunk. Stages of one pipeline may lie on several tracks. By sends and
 * receives: a chunk is from one of the most frequent kind (say, receives from rank 2) to the next; its stages are the
 * compute and the communication inside it, as unions. */
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
    bool cut; /* by name: stages do not occur equally often, so the trace begins or ends within a chunk */
    char why[200]; /* why there are none; "": there are */
};

/* What the patterns match on one track. */
struct rs_stage_hits {
    uint64_t n[RS_STAGES_MAX]; /* 0: nothing matches */
    uint8_t kind[RS_STAGES_MAX]; /* where it was found; used by rs_stages_by_name() */
    uint32_t clock[RS_STAGES_MAX]; /* domain of the first match; RS_NONE */
    uint32_t mask; /* stages with a match */
};

/* By name of the model: the stage whose pattern matches, the first of several; 255: none. The caller frees it. */
uint8_t *rs_stages_of_names(const struct rs_model *m, const struct rs_stage_pattern *patterns, uint32_t n);
void rs_stages_count(struct rs_stage_hits *h, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const uint8_t *of_names, const struct rs_filter *filter);

/* A track of a pipeline. */
struct rs_stage_source {
    const struct rs_rank_track *track;
    const struct rs_stage_hits *hits;
    int32_t rank; /* in the rows */
};

/* Each replaces what is in `s`. */
void rs_stages_by_name(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_stage_source *sources,
                       uint32_t nsources, const uint8_t *of_names, const struct rs_stage_pattern *patterns,
                       const struct rs_filter *filter);
void rs_stages_by_pairs(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                        const struct rs_filter *filter);
void rs_stage_times_free(struct rs_stage_times *s);

#endif
