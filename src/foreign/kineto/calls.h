/* Which kernel ran which communication, and what launched each kernel, copy and set.
 *
 * PyTorch records a communication in the host call record_param_comms; newer versions repeat it at the kernel. A
 * kernel is tied to its call by the External id, its own or that of its launch; else by the place of its launch on
 * the host thread: within the call; or within the annotation "nccl:coalesced", which PyTorch writes after the calls of
 * a group (batch_isend_irecv) and in which all of them are launched; or, without annotations, after calls that have no
 * kernel yet and whose function it can run. A kernel without any call is a communication by itself, if it has
 * arguments. Works on an rs_kineto whose reading is done; one thread at a time. */
#ifndef RS_FOREIGN_KINETO_CALLS_H
#define RS_FOREIGN_KINETO_CALLS_H

#include "foreign/kineto/rows.h"

/* ---- steps and annotations around calls ----
 * Where in the program a communication was called: the step (ProfilerStep#12) and the innermost annotation around
 * it.
 *
 * An annotation is one of the calling thread. Backward passes call from threads of autograd, which have none: there,
 * the one that the main thread was in counts. NCCL's own ("nccl:all_reduce") do not. */

/* Sets scope and step of all calls. Needs the rows. */
void rs_kineto_scopes_find(struct rs_kineto *k);

/* ---- calls and kernels ---- */

/* Makes `link` of every row the row that launched it, gives calls their kernels, sorts them by time, and takes out
 * those that are no operation and those that only repeat at a kernel what a host call said. *of_row (the caller
 * frees it) has, for each row, the call whose kernel it is, or RS_KINETO_NONE; of several the first. */
void rs_kineto_calls_tie(struct rs_kineto *k, uint32_t **of_row);

#endif
