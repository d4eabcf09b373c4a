/* One operation down to its events, as other tools saw it: the part of `ringscope ops --op ID --tree` for their traces.
 *
 * Dumps of NCCL's example profiler are read again: they have channels, proxy operations and steps. Of traces with
 * kernels and host calls, the kernel that ran the operation and the call that launched it are shown. Other formats hold
 * nothing below an operation. Times are on the model's axis. */
#ifndef RS_CLI_OP_TREE_OTHERS_H
#define RS_CLI_OP_TREE_OTHERS_H

#include "cli/op_tree.h"

/* Prints to stdout. `json` is NULL for text; `zero` is the time from which the text counts. */
enum rs_status rs_op_tree_others(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                                 int64_t zero, struct rs_json *json, struct rs_err *err);

#endif
