/* Sends and receives of Kineto traces: whether those of a rank begin and end with those of its peers.
 *
 * PyTorch numbers them for each process alone, so that only their order pairs them, and that only where both
 * traces begin at the same one. They do where both have as many, of the same sizes, and the first and the last of
 * them follow the same collective of their group. Works on numbered calls (kineto_number.h). One thread at a time. */
#ifndef RS_FOREIGN_KINETO_STREAMS_H
#define RS_FOREIGN_KINETO_STREAMS_H

#include "foreign/kineto_parts.h"

/* Sets in_step of the groups of all traces. */
enum rs_status rs_kineto_streams_compare(struct rs_kineto_file *files, size_t n, struct rs_err *err);

#endif
