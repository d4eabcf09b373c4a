#include "model/operations.h"

#include <string.h>

#include "model/model.h"

/* ---- rows ---- */

void rs_model_part(struct rs_model *m, uint32_t *index)
{
    struct rs_parts *t = &m->parts;
    RS_COLUMNS_ADD(RS_PART_COLUMNS, index);
    uint32_t i = *index;
    t->seq[i] = UINT64_MAX;
    t->enqueued[i] = t->launched[i] = t->start[i] = t->end[i] = t->after[i] = t->before[i] = RS_TIME_NONE;
    t->member[i] = t->op[i] = t->helper[i] = RS_NONE;
    t->peer[i] = -1;
}

void rs_model_op(struct rs_model *m, uint32_t *index)
{
    struct rs_ops *t = &m->ops;
    RS_COLUMNS_ADD(RS_OP_COLUMNS, index);
    uint32_t i = *index;
    t->seq[i] = UINT64_MAX;
    t->first[i] = t->last[i] = t->end[i] = RS_TIME_NONE;
    t->comm[i] = t->fanout[i] = t->over[i] = t->view[i] = t->last_part[i] = RS_NONE;
    t->root[i] = t->dst[i] = -1;
    t->confidence[i] = 100;
}

void rs_parts_free(struct rs_parts *t)
{
    RS_COLUMNS_FREE(RS_PART_COLUMNS)
    *t = (struct rs_parts){0};
}

void rs_parts_drop_group(struct rs_parts *t)
{
    free(t->group);
    t->group = NULL;
}

void rs_ops_free(struct rs_ops *t)
{
    RS_COLUMNS_FREE(RS_OP_COLUMNS)
    *t = (struct rs_ops){0};
}

/* ---- lookups ---- */

/* The clock of times from the same operation in another source: that of the same process there. */
static uint32_t lent_domain(const struct rs_model *m, uint32_t part)
{
    const struct rs_member *x = &m->members[m->parts.member[part]];
    uint32_t op = m->parts.op[part];
    if (m->ops.view[op] == RS_NONE && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op]; /* one call, many pairs */
    for (uint32_t v = m->ops.view[op]; v != RS_NONE; v = m->ops.view[v])
        for (uint32_t i = 0; i < m->ops.nparts[v]; i++) {
            uint32_t other = m->order[m->ops.part[v] + i];
            const struct rs_member *y = &m->members[m->parts.member[other]];
            bool same = m->procs[y->proc].same == x->proc && y->global_rank == x->global_rank;
            if (same && m->parts.start_source[other] == RS_FROM_KERNEL) return y->gpu;
        }
    return x->gpu;
}

static uint32_t domain_of(const struct rs_model *m, uint32_t part, uint8_t source, uint32_t lent)
{
    uint32_t member = m->parts.member[part];
    if (source == RS_FROM_NOTHING) return RS_NONE;
    if ((m->parts.flags[part] & lent) && m->parts.op[part] != RS_NONE) return lent_domain(m, part);
    return source == RS_FROM_KERNEL ? m->members[member].gpu : rs_member_host_domain(m, member);
}

int64_t rs_part_launch(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    if (p->captured[part] || (p->flags[part] & RS_PART_CAPTURED)) return RS_TIME_NONE;
    int64_t launched = p->flags[part] & RS_PART_LAUNCH_END ? RS_TIME_NONE : p->launched[part];
    /* Before v5 there is no API call, and the Coll or P2p whose parent is the plan is reported after the launch. */
    bool called = p->group[part] != p->launch[part];
    return launched == RS_TIME_NONE && called ? p->enqueued[part] : launched;
}

uint32_t rs_part_start_domain(const struct rs_model *m, uint32_t part)
{
    return domain_of(m, part, m->parts.start_source[part], RS_PART_LENT_START);
}

uint32_t rs_part_end_domain(const struct rs_model *m, uint32_t part)
{
    return domain_of(m, part, m->parts.end_source[part], RS_PART_LENT_END);
}

int64_t rs_op_begin(const struct rs_model *m, uint32_t op)
{
    int64_t t = m->ops.first[op];
    for (uint32_t i = 0; t == RS_TIME_NONE && i < m->ops.nparts[op]; i++)
        t = m->parts.enqueued[m->order[m->ops.part[op] + i]];
    return t;
}

unsigned rs_dtype_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {
        {"ncclFloat32", 4}, {"ncclFloat16", 2}, {"ncclBfloat16", 2}, {"ncclFloat64", 8},
        {"ncclInt32", 4},   {"ncclUint32", 4},  {"ncclInt64", 8},    {"ncclUint64", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, dtype)) return types[i].bytes;
    return 1; /* ncclInt8, the two float8 types, and ncclUint8, which NCCL calls "Unknown" */
}
