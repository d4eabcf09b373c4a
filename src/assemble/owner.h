/* The owner of a proxy operation: under PXN a process does network work for another one of its host.
 *
 * Its parent and context are then handles of the owner. The owner is found by their nonce, on the helper's host, and by
 * the pid that NCCL passes, since nonces of many processes may collide. Functions without state. */
#ifndef RS_ASSEMBLE_OWNER_H
#define RS_ASSEMBLE_OWNER_H

#include "model/model.h"
#include "trace/callbacks.h"

/* Whether a proxy operation (RS_K_PROXY_OP) is for another process than `own`, which recorded it. */
bool rs_work_is_foreign(const struct rs_proc *own, const struct rs_callback *start);
/* If it is: a handle of its owner, and the owner's pid. */
uint64_t rs_work_context(const struct rs_callback *start);
uint32_t rs_work_pid(const struct rs_callback *start);
/* The owner; RS_NONE: it has no recording here. All processes must be in the model. */
uint32_t rs_work_owner(const struct rs_model *m, uint32_t helper, uint64_t context, uint32_t pid);

#endif
