/* Rows of nvprof's --print-gpu-trace and --print-api-trace into lanes, activities and parts.
 *
 * Such a trace does not tell communicators. A place is one device of one process. Where all places of the logs ran the
 * same sequence of NCCL's functions they are taken for one communicator, made up, with ranks in the order of the logs;
 * else each is alone. Owns its lists until rs_nvprof_places_free(); one thread at a time. */
#ifndef RS_FOREIGN_NVPROF_TRACE_H
#define RS_FOREIGN_NVPROF_TRACE_H

#include "foreign/nvprof/nvprof.h"
#include "model/model.h"

struct rs_nvprof_place {
    uint32_t proc, domain;
    int32_t device; /* -1: not told */
    uint32_t member, kernels; /* kernels of NCCL's */
    uint64_t order; /* hash of the sequence of its functions */
};

struct rs_nvprof_kernel {
    uint32_t place, activity;
};

struct rs_nvprof_places {
    struct rs_nvprof_place *rows;
    struct rs_nvprof_kernel *kernels; /* by process, then by time */
    uint32_t n, cap, nkernels, cap_kernels;
};

/* All rows of a log, whose first process has the row `first_proc` in the model, and the others the next. Sets what the
 * processes cover. */
enum rs_status rs_nvprof_trace_add(struct rs_nvprof_places *places, struct rs_model *m, const struct rs_nvprof *log,
                                   uint32_t first_proc, struct rs_err *err);
/* When all processes are in: communicators, members and parts. */
enum rs_status rs_nvprof_trace_parts(struct rs_nvprof_places *places, struct rs_model *m, struct rs_err *err);
void rs_nvprof_places_free(struct rs_nvprof_places *places);

#endif
