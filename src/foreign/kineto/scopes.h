/* Where in the program a communication was called: the step (ProfilerStep#12) and the innermost annotation around
 * it.
 *
 * An annotation is one of the calling thread. Backward passes call from threads of autograd, which have none:
 * there, the one that the main thread was in counts. NCCL's own ("nccl:all_reduce") do not. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_SCOPES_H
#define RS_FOREIGN_KINETO_SCOPES_H

#include "foreign/kineto/rows.h"

/* Sets scope and step of all calls. Needs the rows. */
enum rs_status rs_kineto_scopes_find(struct rs_kineto *k, struct rs_err *err);

#endif
