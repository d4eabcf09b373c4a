/* Starts of operations, API calls, launches and plans -> parts of the model.
 *
 * A part gets its facts from its own start, the time of the call from its parent (v5 and newer), and the time of the
 * launch from its plan. */
#ifndef RS_IMPORT_OPERATIONS_H
#define RS_IMPORT_OPERATIONS_H

#include "import/folding.h"

/* Coll, P2p or CeColl: sets the part of the start. */
void rs_operation_start(struct rs_assembly *a, struct rs_start *s);
/* CollApi or P2pApi. */
enum rs_status rs_operation_call(struct rs_assembly *a, const struct rs_callback *cb, int64_t now, struct rs_err *err);
/* KernelLaunch. */
void rs_operation_launch(struct rs_assembly *a, const struct rs_callback *cb, int64_t now);
/* Group, a plan: operations launched together. Its kernel was launched just before, by the same thread. */
void rs_operation_plan(struct rs_assembly *a, const struct rs_callback *cb);
/* A call that never became an operation (`folding` is the struct). The one in which a process hangs is the next of its
 * function; for a broadcast (2.29, 2.30) or a symmetric kernel, NCCL reports only the call. */
enum rs_status rs_operation_unreported(void *folding, const struct rs_api_call *call, struct rs_err *err);

#endif
