/* What the programs of a generated job do in a step, by workload. */
#ifndef RS_GEN_WORKLOAD_H
#define RS_GEN_WORKLOAD_H

#include "gen/op.h"

enum { RS_GEN_MAX_CAPTURED = 16 };

/* What lives from step to step: the captured operations. Freed by rs_gen_workload_free(). */
struct rs_gen_programs {
    struct rs_gen_capture captured[RS_GEN_MAX_CAPTURED];
    int ncaptured;
};

/* Plays step job->step on all ranks. */
void rs_gen_workload_step(struct rs_gen_job *job, struct rs_gen_programs *programs);
void rs_gen_workload_free(struct rs_gen_programs *programs);

#endif
