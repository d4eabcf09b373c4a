/* The pipelines of a job: which stages lie on which ranks, and which ranks make one pipeline.
 *
 * Stages come from a file, from names in traces, or from sends and receives. Ranks with the same stages have a pipeline
 * each. Ranks with different stages, none of which two of them share, are one pipeline across ranks; if as many ranks
 * have each set of stages, there are as many pipelines, and the i-th ranks of all sets make the i-th; else a stage lies
 * on several ranks of one pipeline. If some stages are shared and others not, each rank has a pipeline of its own stages.
 * Borrows the tracks and what the options point to; owned until rs_pipelines_free(). One thread at a time. */
#ifndef RS_ANALYSE_PIPELINES_H
#define RS_ANALYSE_PIPELINES_H

#include "analyse/stages.h"

struct rs_pipelines_options {
    const struct rs_stage_pattern *patterns; /* stages by name */
    uint32_t npatterns;
    struct rs_stage_time *times; /* stages from a file; sorted here */
    const char *const *names; /* of these stages */
    uint32_t ntimes, nnames;
    bool one_clock; /* all times of the file are of one clock */
    uint32_t warmup; /* chunks to leave out */
    const struct rs_filter *filter; /* of the user */
    const struct rs_filter *after_warmup; /* the same, after the warm-up steps: for pipelines of one rank */
    int64_t step_ns; /* usual step; RS_TIME_NONE: unknown */
};

/* Where stages may lie. */
struct rs_pipeline_place {
    const struct rs_rank_track *track; /* NULL: a rank that occurs only in the file of stages */
    int32_t rank; /* -1: unknown */
    /* found: */
    uint32_t pipeline; /* RS_NONE: none */
    char *why; /* why it has none of the stages that were asked for; NULL: it has, or none were */
};

enum rs_pipeline_source { RS_PIPELINE_NONE, RS_PIPELINE_FILE, RS_PIPELINE_NAMES, RS_PIPELINE_PAIRS };

struct rs_job_pipeline {
    enum rs_pipeline_source source;
    struct rs_pipeline pipeline;
    char *no_score; /* why it has none, as the end of a sentence: "there is only one stage (load)"; NULL: it has */
    uint32_t *places, nplaces; /* in the order of places */
    uint32_t of_stage[RS_STAGES_MAX]; /* its place; RS_NONE: it does not occur, or lies on several */
};

struct rs_pipelines {
    struct rs_job_pipeline *rows;
    uint32_t n;
    uint32_t nstages;
    const char *names[RS_STAGES_MAX]; /* of stages */
    char *why; /* why there are none although stages were asked for; NULL */
};

/* Places are by rank. */
void rs_pipelines_find(struct rs_pipelines *p, const struct rs_rank_tracks *t, struct rs_pipeline_place *places,
                       uint32_t n, const struct rs_pipelines_options *o);
void rs_pipelines_free(struct rs_pipelines *p);

/* Why the causes of its bubbles are unknown; NULL: they are known, or there is nothing to compare. */
const char *rs_pipeline_no_causes(const struct rs_job_pipeline *x);

#endif
