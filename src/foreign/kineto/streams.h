/* Sends and receives of Kineto traces: which belong together.
 *
 * PyTorch numbers them for each process alone, so that only their order pairs them, from where both traces begin at the
 * same one. Collectives of both ranks show which: there are as many sends as receives between two of them.
 * Without any, it is so where both have as many, of the same sizes, at one time. Sends in groups and single ones go
 * through different communicators, each with an order of its own. A send may end before its receive starts, but no
 * receive ends before its send starts: an order that would need that is refused. Of several in one kernel from one rank to
 * another only the first starts with the kernel: when the others start is unknown. Works on numbered collectives
 * (kineto/number.h). One thread at a time. */
#ifndef RS_FOREIGN_KINETO_STREAMS_H
#define RS_FOREIGN_KINETO_STREAMS_H

#include "foreign/kineto/parts.h"

/* Sets `queued` and `number` of sends and receives; the number is equal where they belong together, unique where the
 * other side did not record it, UINT64_MAX where that is unknown, which a note of the model says.
 * `files` are process by process, by time. */
enum rs_status rs_kineto_streams_number(struct rs_kineto_file *const *files, size_t n, struct rs_model *m,
                                        struct rs_err *err);

#endif
