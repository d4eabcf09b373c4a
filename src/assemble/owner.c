#include "assemble/owner.h"

#include "format/handle.h"

bool rs_work_is_foreign(const struct rs_proc *own, const struct rs_callback *cb)
{
    if (!cb->parent) return false;
    /* Nonces of two processes of a host may be equal; their pids are not. */
    return rs_handle_nonce(cb->parent) != own->nonce || rs_work_pid(cb) != own->pid;
}

uint64_t rs_work_context(const struct rs_callback *cb)
{
    return rs_handle_slot(cb->context) == RS_SLOT_CONTEXT ? cb->context : cb->parent;
}

uint32_t rs_work_pid(const struct rs_callback *cb)
{
    return (uint32_t)cb->args[0];
}

uint32_t rs_work_owner(const struct rs_model *m, uint32_t helper, uint64_t context, uint32_t pid)
{
    uint32_t nonce = rs_handle_nonce(context), found = RS_NONE;
    for (uint32_t i = 0; nonce && i < m->nprocs; i++) { /* processes of other tools have no nonce */
        const struct rs_proc *p = &m->procs[i];
        if (i == helper || p->nonce != nonce || p->host != m->procs[helper].host) continue;
        if (p->pid == pid) return i;
        if (found == RS_NONE) found = i; /* pids may be of another namespace */
    }
    return found;
}
