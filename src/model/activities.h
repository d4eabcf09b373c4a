/* Activities of GPUs and host threads besides NCCL's operations: kernels, copies, annotations, host calls.
 *
 * Only traces of other tools have them. An activity is on a lane: a host thread, or a stream of a device. A NCCL kernel
 * is one too (RS_ACT_COMM), with the first of its parts; parts of one kernel share their `launch`. Times are of the
 * lane's clock until rs_clocks_align(), then of the common axis. The model owns them; one thread at a time. */
#ifndef RS_MODEL_ACTIVITIES_H
#define RS_MODEL_ACTIVITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/columns.h"

struct rs_model;

enum rs_lane_kind { RS_LANE_THREAD, RS_LANE_STREAM };

struct rs_lane {
    uint32_t proc;
    uint32_t domain; /* its clock */
    uint8_t kind; /* enum rs_lane_kind */
    int32_t device; /* of a stream; -1: unknown */
    int64_t id; /* of the thread, or of the stream on its device */
    const char *name; /* NULL: none */
};

enum rs_activity_kind {
    RS_ACT_COMPUTE, /* a kernel that does not communicate */
    RS_ACT_COMM, /* a kernel that communicates: NCCL's, or another library's, which has no part */
    RS_ACT_COPY, /* memory copy */
    RS_ACT_SET, /* memory set */
    RS_ACT_RANGE, /* annotation on a host thread */
    RS_ACT_GPU_RANGE, /* what an annotation covers on a stream, according to the tool */
    RS_ACT_STEP, /* annotation of a step (ProfilerStep#12), on a host thread */
    RS_ACT_LAUNCH, /* host call that launches a kernel, copy or graph */
    RS_ACT_SYNC, /* host call that waits for the GPU */
    RS_ACT_MEMORY, /* host call that allocates or frees memory of the GPU */
    RS_ACT_CALL, /* another host call */
    RS_ACTIVITY_KINDS
};

#define RS_ACTIVITY_COLUMNS(X)                                                                                         \
    X(int64_t, start)                                                                                                  \
    X(int64_t, end) /* >= start */                                                                                     \
    X(uint64_t, bytes) /* of a copy or set; 0: unknown */                                                              \
    X(uint32_t, lane)                                                                                                  \
    X(uint32_t, name) /* see rs_model_name() */                                                                        \
    X(uint32_t, part) /* of a NCCL kernel: the first of its parts; RS_NONE */                                          \
    X(uint32_t, launch) /* on a stream: the activity that launched it; RS_NONE */                                      \
    X(uint8_t, kind) /* enum rs_activity_kind */

struct rs_activities {
    uint32_t n, cap;
    RS_ACTIVITY_COLUMNS(RS_COLUMN)
};

void rs_model_lane(struct rs_model *m, const struct rs_lane *row, uint32_t *index);
/* A new activity: zeroed, with no part and no launch. */
void rs_model_activity(struct rs_model *m, uint32_t *index);
void rs_activities_free(struct rs_activities *t);

/* Whether it ran on a GPU. */
static inline bool rs_activity_is_work(uint8_t kind)
{
    return kind <= RS_ACT_SET;
}
/* The number in a framework's name of a step: "ProfilerStep#12", or an NVTX range "step 12", "iteration 3",
 * "train_step:7"; RS_NONE: not the name of a step. */
uint32_t rs_step_number(const char *name);
/* The name in JSON and tables: "compute", "comm", "copy"... */
const char *rs_activity_kind_name(uint8_t kind);

#endif
