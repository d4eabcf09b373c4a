/* A log of nvprof that was read, into the model. */
#ifndef RS_FOREIGN_NVPROF_MODEL_H
#define RS_FOREIGN_NVPROF_MODEL_H

#include "foreign/nvprof/trace.h"
#include "trace/inputs.h"

/* Adds its processes, statistics, activities and notes, and sets file->proc. What ran on GPUs is gathered in `places`:
 * when all logs are in, rs_nvprof_trace_parts() makes operations of it. */
enum rs_status rs_nvprof_to_model(struct rs_model *m, struct rs_nvprof_places *places, struct rs_other *file,
                                  const struct rs_nvprof *log, struct rs_err *err);

#endif
