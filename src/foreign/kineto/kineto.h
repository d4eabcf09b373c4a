/* Reader of PyTorch's profiler traces (Kineto): Chrome JSON of any size, streamed.
 *
 * Keys may come in any order, distributedInfo and baseTimeNanoseconds after the events too; a plain list of
 * events is read as well. Times are kept as fixed-point numbers (ns), ids as 64-bit integers. What the trace says
 * goes into rows (kineto/rows.h), which the caller owns. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_KINETO_H
#define RS_FOREIGN_KINETO_KINETO_H

#include "base/bytes.h"
#include "foreign/kineto/rows.h"

/* `why` (of `bytes` bytes) says where and why the trace breaks off; "": it is whole. */
enum rs_status rs_kineto_read(struct rs_kineto *k, struct rs_bytes *from, char *why, size_t bytes, struct rs_err *err);

/* The traces that were merged into one file: *n of them, which the caller owns; 0: it is one trace, as it was read.
 * `why` (of `bytes` bytes) says why a file of several processes cannot be split and must not be used; "": it can. */
enum rs_status rs_kineto_split(struct rs_kineto *k, struct rs_kineto **parts, uint32_t *n, char *why, size_t bytes,
                               struct rs_err *err);

#endif
