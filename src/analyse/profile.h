/* Everything that `ringscope overlap` reports: for each rank how compute and communication overlap, the pipeline, the
 * annotations and the launches; and what to do about it.
 *
 * Borrows the model and what the options point to; owns the rest until rs_profile_free(). One thread at a time. */
#ifndef RS_ANALYSE_PROFILE_H
#define RS_ANALYSE_PROFILE_H

#include "analyse/compiled.h"
#include "analyse/kernels.h"
#include "analyse/launches.h"
#include "analyse/markers.h"
#include "analyse/overlap.h"
#include "analyse/pipelines.h"
#include "analyse/ranges.h"
#include "analyse/steps.h"
#include "analyse/stretches.h"
#include "analyse/tracks.h"

struct rs_profile_options {
    const struct rs_filter *filter;
    const struct rs_stage_pattern *patterns; /* stages by name */
    uint32_t npatterns;
    struct rs_stage_time *times; /* stages from a file, by rank; sorted here */
    const char *const *names; /* of these stages */
    uint32_t ntimes, nnames;
    bool one_clock; /* all times of the file are of one clock */
    uint32_t warmup; /* chunks of a pipeline to leave out */
    uint32_t warmup_steps; /* steps to leave out; RS_NONE: the start-up */
    const bool *named; /* by rank id: ranks that the conclusion of a report names; NULL: none */
};

struct rs_profile_row {
    const struct rs_rank_track *track; /* NULL: a rank that occurs only in the file of stages */
    int32_t rank; /* -1: unknown */
    struct rs_overlap overlap;
    struct rs_markers steps;
    struct rs_quantiles step_ns;
    struct rs_kernels kernels; /* without work all 0 */
    struct rs_launches launches; /* without work all 0 */
    struct rs_stretches stretches; /* without work none */
    struct rs_compiled compiled;
    struct rs_ranges ranges;
    const struct rs_job_pipeline *pipeline; /* it may be that of other ranks, too; NULL: none */
    char *no_stages; /* why requested stages were not found; NULL */
};

struct rs_profile {
    struct rs_view view;
    struct rs_rank_tracks tracks;
    struct rs_steps steps;
    struct rs_filter filter; /* the one given, from the end of the warm-up on */
    struct rs_profile_row *rows; /* by rank */
    uint32_t nrows;
    struct rs_pipelines pipelines; /* their places are rows */
    double score; /* the lowest of the pipelines; NAN: unknown */
    const struct rs_job_pipeline *worst; /* NULL */
    char *conclusion[8];
    size_t nconclusion;
};

enum rs_status rs_profile_init(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                               struct rs_err *err);
void rs_profile_free(struct rs_profile *p);

#endif
