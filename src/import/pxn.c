#include "import/pxn.h"

#include <inttypes.h>
#include <stdlib.h>

#include "assemble/owner.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "model/proc_rows.h"

enum rs_status rs_pxn_context(struct rs_pxn *f, uint64_t context, uint32_t helper, uint32_t pid, uint32_t *index,
                              struct rs_err *err)
{
    (void)err;
    uint64_t key = rs_mix(rs_mix(rs_mix(0, helper), pid), context), *at;
    rs_map_at(&f->index, key, f->ncontexts, &at);
    const struct rs_pxn_context *c = *at < f->ncontexts ? &f->contexts[*at] : NULL;
    if (c && c->context == context && c->helper == helper && c->pid == pid) {
        *index = (uint32_t)*at;
        return RS_OK;
    }
    RS_ROOM(f->contexts, f->ncontexts, f->cap_contexts);
    *at = f->ncontexts; /* if two have the same key, the latest is found; a duplicate does no harm */
    *index = f->ncontexts++;
    f->contexts[*index] = (struct rs_pxn_context){context, helper, pid};
    return RS_OK;
}

enum rs_status rs_pxn_op(struct rs_pxn *f, const struct rs_pxn_op *op, uint32_t *index, struct rs_err *err)
{
    (void)err;
    RS_ROOM(f->ops, f->nops, f->cap_ops);
    *index = f->nops++;
    f->ops[*index] = *op;
    return RS_OK;
}

void rs_pxn_open(struct rs_pxn *f, uint32_t open, uint32_t op)
{
    rs_map_put(&f->opens, open, op);
}

/* ---- owners ---- */

static uint32_t member_of(const struct rs_model *m, uint32_t proc, uint64_t context)
{
    for (uint32_t i = 0; proc != RS_NONE && i < m->nmembers; i++)
        if (m->members[i].proc == proc && m->members[i].context == context) return i;
    return RS_NONE;
}

/* Helper and owner share a clock: PXN stays within a host. */
static void give(struct rs_parts *p, uint32_t part, const struct rs_pxn_op *op)
{
    p->flags[part] |= RS_PART_HELPED | RS_PART_NET;
    p->helper[part] = op->helper;
    if (op->start != RS_TIME_NONE && (p->start_source[part] == RS_FROM_NOTHING ||
                                      (p->start_source[part] == RS_FROM_PROXY && op->start < p->start[part]))) {
        p->start[part] = op->start;
        p->start_source[part] = RS_FROM_PROXY;
    }
    if (p->end_source[part] == RS_FROM_KERNEL || p->end_source[part] == RS_FROM_CALLBACK) return;
    if (op->end == RS_TIME_NONE) { /* the last ProxyOp has not stopped */
        p->end[part] = RS_TIME_NONE;
        p->end_source[part] = RS_FROM_NOTHING;
        p->flags[part] |= RS_PART_OPEN;
    } else if (!(p->flags[part] & RS_PART_OPEN) && (p->end[part] == RS_TIME_NONE || op->end > p->end[part])) {
        p->end[part] = op->end;
        p->end_source[part] = RS_FROM_PROXY;
    }
}

struct work {
    uint32_t owner, op;
};

static int by_owner(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    return x->owner != y->owner ? (x->owner < y->owner ? -1 : 1) : x->op < y->op ? -1 : x->op > y->op;
}

static enum rs_status return_ops(struct rs_pxn *f, struct rs_model *m, const uint32_t *owners, uint32_t *parts,
                                 struct rs_err *err)
{
    struct work *work = rs_alloc((f->nops + 1) * sizeof *work);
    for (uint32_t i = 0; i < f->nops; i++) work[i] = (struct work){owners[f->ops[i].context], i};
    qsort(work, f->nops, sizeof *work, by_owner);
    struct rs_map index = {0}; /* handle -> part, of the current owner */
    uint32_t indexed = RS_NONE, lost = 0;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < f->nops; i++) {
        const struct rs_pxn_op *op = &f->ops[work[i].op];
        if (work[i].owner != indexed) {
            rs_map_free(&index);
            indexed = work[i].owner;
            if (indexed != RS_NONE) rs_parts_index(&index, m, indexed);
        }
        uint32_t part = (uint32_t)rs_map_get(&index, op->parent, RS_NONE);
        if (part != RS_NONE) give(&m->parts, part, op);
        parts[work[i].op] = part;
        lost += part == RS_NONE;
    }
    if (lost)
        status = rs_model_note(m, err,
                               "%" PRIu32 " proxy operations were done for processes whose recording, or whose "
                               "operation, is not here",
                               lost);
    rs_map_free(&index);
    free(work);
    return status;
}

static enum rs_status return_all(struct rs_pxn *f, struct rs_model *m, uint32_t *owners, uint32_t *parts,
                                 struct rs_err *err)
{
    for (uint32_t i = 0; i < f->ncontexts; i++) {
        const struct rs_pxn_context *c = &f->contexts[i];
        owners[i] = rs_work_owner(m, c->helper, c->context, c->pid);
    }
    RS_TRY(return_ops(f, m, owners, parts, err));
    uint64_t open, op;
    for (size_t pos = 0; rs_map_next(&f->opens, &pos, &open, &op);) m->opens[open].part = parts[op];
    for (uint32_t i = 0; i < f->ncontexts; i++) owners[i] = member_of(m, owners[i], f->contexts[i].context);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->nnets; i++) {
        struct rs_net row = m->nets[i];
        if (row.member & RS_FOREIGN_MEMBER) row.member = owners[row.member & ~RS_FOREIGN_MEMBER];
        if (row.member != RS_NONE) m->nets[kept++] = row;
    }
    m->nnets = kept;
    kept = 0;
    for (uint32_t i = 0; i < m->nnet_samples; i++) {
        struct rs_net_sample row = m->net_samples[i];
        if (row.member & RS_FOREIGN_MEMBER) row.member = owners[row.member & ~RS_FOREIGN_MEMBER];
        if (row.member != RS_NONE) m->net_samples[kept++] = row;
    }
    m->nnet_samples = kept;
    return RS_OK;
}

enum rs_status rs_pxn_return(struct rs_pxn *f, struct rs_model *m, struct rs_err *err)
{
    if (!f->ncontexts) return RS_OK;
    uint32_t *owners = rs_alloc(f->ncontexts * sizeof *owners), *parts = rs_alloc((f->nops + 1) * sizeof *parts);
    enum rs_status status = return_all(f, m, owners, parts, err);
    free(owners);
    free(parts);
    return status;
}

void rs_pxn_free(struct rs_pxn *f)
{
    free(f->contexts);
    rs_map_free(&f->index);
    free(f->ops);
    rs_map_free(&f->opens);
    *f = (struct rs_pxn){0};
}
