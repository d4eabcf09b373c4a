/* A log of NCCL's Inspector -> processes, members and parts of the model.
 *
 * A line is an operation that has ended: RS_PART_DONE. With the verbose mode it has host times, when NCCL reported
 * the kernels; without it only how long it took, which is in its tag. What Inspector lost is not recorded: it drops
 * lines silently, and gaps in its numbers are counted. The log stays the caller's; no pointers into it are kept. */
#ifndef RS_FOREIGN_INSPECTOR_MODEL_H
#define RS_FOREIGN_INSPECTOR_MODEL_H

#include "foreign/inspector/inspector.h"
#include "model/model.h"

/* *proc: the process of the log; RS_NONE: of several. *lost: operations whose numbers came before, and
 * that are not there: at least. */
enum rs_status rs_inspector_to_model(struct rs_model *m, const struct rs_inspector *log, const char *path,
                                     uint32_t *proc, uint64_t *lost, struct rs_err *err);

#endif
