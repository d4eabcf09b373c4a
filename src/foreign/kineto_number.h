/* Numbers for the operations of Kineto traces that are equal on all ranks.
 *
 * Newer versions of PyTorch tell a sequence number; older ones do not, and the windows of the ranks may begin and
 * end at different operations. See kineto_number.c for how these are laid against each other. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_NUMBER_H
#define RS_FOREIGN_KINETO_NUMBER_H

#include "foreign/kineto_parts.h"

/* Sets `number` of all collectives. What cannot be decided is said in a note of the model. */
enum rs_status rs_kineto_number(struct rs_kineto_file *files, size_t n, struct rs_model *m, struct rs_err *err);

#endif
