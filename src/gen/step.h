/* One step of a generated job: what its ranks compute, where they pause, and the operations of its workload.
 *
 * delays.c has compute and pauses, workload.c the operations, pipeline.c those of pipelines. Operations are generated in an order that is consistent
 * with each rank's own. One thread. */
#ifndef RS_GEN_STEP_H
#define RS_GEN_STEP_H

#include "gen/op.h"

enum { RS_GEN_MAX_CAPTURED = 16 };

/* The captured operations, kept between steps. Freed by rs_gen_programs_free(). */
struct rs_gen_programs {
    struct rs_gen_capture captured[RS_GEN_MAX_CAPTURED];
    int ncaptured;
};

/* Generates step job->step on all ranks. */
void rs_gen_step(struct rs_gen_job *job, struct rs_gen_programs *programs);
void rs_gen_programs_free(struct rs_gen_programs *programs);

/* Pipelines: micro-batches through stages, by the schedule of the config, then the reductions. */
void rs_gen_pipeline(struct rs_gen_job *job);
void rs_gen_tpppdp(struct rs_gen_job *job);

/* The beginning of a step: programs wait for their GPUs, and disturbances of this step take effect. */
void rs_gen_step_begin(struct rs_gen_job *job);
/* The main stream of every rank waits for the others. */
void rs_gen_join_streams(struct rs_gen_job *job);
/* A rank, or all, compute this part of their step before their next operation: with the noise of the config. */
void rs_gen_compute(struct rs_gen_job *job, int rank, double part_of_step);
void rs_gen_compute_all(struct rs_gen_job *job, double part_of_step);

#endif
