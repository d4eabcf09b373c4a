#include "events/helped.h"

#include <stdlib.h>

#include "base/room.h"
#include "events/parts.h"
#include "format/handle.h"

struct rs_helped_owner {
    uint32_t proc, nonce, pid;
    bool indexed;
    struct rs_map parts; /* handle -> part */
};

static enum rs_status look(struct rs_helped *h, struct rs_err *err)
{
    const struct rs_model *m = h->model;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        if (i == h->helper || !rs_tool_has(p->tool, RS_CAP_CALLBACKS) || p->host != m->procs[h->helper].host) continue;
        RS_ROOM(h->owners, h->n, h->cap, err);
        h->owners[h->n++] = (struct rs_helped_owner){.proc = i, .nonce = p->nonce, .pid = p->pid};
    }
    h->looked = true;
    return RS_OK;
}

/* NULL: none that was recorded. */
static struct rs_helped_owner *owner_of(struct rs_helped *h, uint32_t nonce, uint32_t pid)
{
    struct rs_helped_owner *found = NULL;
    for (uint32_t i = 0; i < h->n; i++) {
        struct rs_helped_owner *o = &h->owners[i];
        if (o->nonce != nonce) continue;
        if (o->pid == pid) return o;
        if (!found) found = o; /* pids may be of another namespace */
    }
    return found;
}

enum rs_status rs_helped_part(struct rs_helped *h, uint64_t parent, uint32_t pid, uint32_t *part, struct rs_err *err)
{
    *part = RS_NONE;
    if (!h->looked) RS_TRY(look(h, err));
    struct rs_helped_owner *o = owner_of(h, rs_handle_nonce(parent), pid);
    if (!o) return RS_OK;
    if (!o->indexed) {
        RS_TRY(rs_event_parts_index(&o->parts, h->model, o->proc, err));
        o->indexed = true;
    }
    *part = (uint32_t)rs_map_get(&o->parts, parent, RS_NONE);
    return RS_OK;
}

void rs_helped_free(struct rs_helped *h)
{
    for (uint32_t i = 0; i < h->n; i++) rs_map_free(&h->owners[i].parts);
    free(h->owners);
    h->owners = NULL;
    h->n = h->cap = 0;
}
