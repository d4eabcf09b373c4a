/* Communication of traces without process groups.
 *
 * Older versions of PyTorch, and traces whose arguments were taken out, have calls of record_param_comms without
 * arguments. What was called, and how much, is then known from the annotation in the call ("nccl:all_reduce"); without
 * annotations from the names of NCCL's kernels. The group is not known. PyTorch has one stream per process group, so
 * operations of a stream are of one group. Where all of them are on one stream, and all ranks did the same there in the
 * same order, the group is taken to be all ranks of the job: operations are joined by their order, with a confidence
 * below 1 (rs_comm_row.assumed). Several streams are several groups: one is taken to be all ranks only if a call's
 * sizes say that its group has as many. Else nothing is joined, and a note says why. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_UNNAMED_H
#define RS_FOREIGN_KINETO_UNNAMED_H

#include "foreign/kineto/parts.h"

/* Makes the calls of a trace whose calls have no arguments, and drops annotations of one whose calls have. When it is
 * read. */
void rs_kineto_unnamed_find(struct rs_kineto *k);
/* Gives these calls a group per stream. When their kernels are known, and as long as rows are there. */
void rs_kineto_unnamed_group(struct rs_kineto *k);
/* Decides which of these groups are the same on all ranks. When all traces are read, before operations are numbered. */
enum rs_status rs_kineto_unnamed_join(struct rs_kineto_file *const *files, size_t n, struct rs_model *m,
                                      struct rs_err *err);

#endif
