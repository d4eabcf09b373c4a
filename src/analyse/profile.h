/* Everything that `ringscope overlap` reports: for each rank how compute and communication overlap, the pipeline, the
 * annotations and the launches; and what to do about it.
 *
 * Borrows the model and what the options point to; owns the rest until rs_profile_free(). One thread at a time. */
#ifndef RS_ANALYSE_PROFILE_H
#define RS_ANALYSE_PROFILE_H

#include "analyse/kernels.h"
#include "analyse/launches.h"
#include "analyse/markers.h"
#include "analyse/overlap.h"
#include "analyse/pipeline.h"
#include "analyse/ranges.h"
#include "analyse/stages.h"
#include "analyse/steps.h"
#include "analyse/tracks.h"

struct rs_profile_options {
    const struct rs_filter *filter;
    const struct rs_stage_pattern *patterns; /* stages by name */
    uint32_t npatterns;
    struct rs_stage_time *times; /* stages from a file, by rank; sorted here */
    const char *const *names; /* of these stages */
    uint32_t ntimes, nnames;
    uint32_t warmup; /* chunks of a pipeline to leave out */
    uint32_t warmup_steps; /* steps to leave out; RS_NONE: the start-up */
    const bool *named; /* by rank id: ranks that the conclusion of a report names; NULL: none */
};

enum rs_pipeline_source { RS_PIPELINE_NONE, RS_PIPELINE_FILE, RS_PIPELINE_NAMES, RS_PIPELINE_PAIRS };

struct rs_profile_row {
    const struct rs_rank_track *track; /* NULL: a rank that occurs only in the file of stages */
    int32_t rank; /* -1: unknown */
    struct rs_overlap overlap;
    struct rs_markers steps;
    struct rs_quantiles step_ns;
    struct rs_kernels kernels; /* without work all 0 */
    struct rs_launches launches; /* without work all 0 */
    struct rs_ranges ranges;
    enum rs_pipeline_source source; /* NONE: no pipeline */
    struct rs_pipeline pipeline;
    char *no_stages; /* why requested stages were not found; NULL */
};

struct rs_profile {
    struct rs_view view;
    struct rs_rank_tracks tracks;
    struct rs_steps steps;
    struct rs_filter filter; /* the one given, from the end of the warm-up on */
    struct rs_profile_row *rows; /* by rank */
    uint32_t nrows;
    const char *stage_names[RS_STAGES_MAX];
    double score; /* the lowest of the ranks; NAN: unknown */
    uint32_t worst; /* its row; RS_NONE */
    char *conclusion[6];
    size_t nconclusion;
};

enum rs_status rs_profile_init(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                               struct rs_err *err);
void rs_profile_free(struct rs_profile *p);

#endif
