/* Whose work a proxy operation is: under PXN a process does network work for another one of its host.
 *
 * Its parent and context then are handles of the owner. The owner is found by the nonce in them, on the helper's host,
 * and by the pid that NCCL passes on, since nonces of many processes may collide. Functions without state. */
#ifndef RS_ASSEMBLE_OWNER_H
#define RS_ASSEMBLE_OWNER_H

#include "model/model.h"
#include "trace/callbacks.h"

/* Whether a proxy operation (RS_K_PROXY_OP) is for another process than `own`, which made the callback. */
bool rs_work_is_foreign(const struct rs_proc *own, const struct rs_callback *start);
/* Of one that is: the handle that names its owner, and the owner's pid. */
uint64_t rs_work_context(const struct rs_callback *start);
uint32_t rs_work_pid(const struct rs_callback *start);
/* The process that these name; RS_NONE: its recording is not here. All processes must be in the model. */
uint32_t rs_work_owner(const struct rs_model *m, uint32_t helper, uint64_t context, uint32_t pid);

#endif
