/* Numbers for the operations of Kineto traces that are equal on all ranks.
 *
 * Some versions of PyTorch record a sequence number; others do not, and the windows of the ranks may begin and end at
 * different operations. See kineto/align.h for how these are aligned; a rank may have several windows, of
 * which each is aligned with the others' of its time. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_NUMBER_H
#define RS_FOREIGN_KINETO_NUMBER_H

#include "foreign/kineto/parts.h"

/* Sets `number` of all collectives; `files` are process by process, by time. What cannot be decided gets numbers that no
 * other rank has, and a note of the model says so. */
enum rs_status rs_kineto_number(struct rs_kineto_file *const *files, size_t n, struct rs_model *m, struct rs_err *err);

#endif
