#include "foreign/kineto/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/scan.h"
#include "foreign/kineto/groups.h"
#include "nccl/comms_id.h"

enum rs_status rs_kineto_model_name(struct rs_kineto_file *f, struct rs_model *m, uint32_t name, uint32_t *id,
                                    struct rs_err *err)
{
    *id = f->names[name];
    if (*id != UINT32_MAX) return RS_OK;
    struct rs_scan s = {.text = f->k.names[name].text, .n = f->k.names[name].n};
    char *text = rs_alloc(s.n + 1);
    size_t n = rs_scan_text(&s, text, s.n + 1); /* escapes are resolved */
    enum rs_status status = rs_model_name(m, text, n, id, err);
    f->names[name] = *id;
    free(text);
    return status;
}

/* ---- communicators ---- */

static void name_comm(struct rs_model *m, uint32_t comm, const struct rs_kineto_group *g)
{
    size_t n = strlen(g->desc) + strlen(g->name) + 2;
    char *name = rs_arena_alloc(&m->arena, n);
    snprintf(name, n, "%s%s%s", g->desc, *g->desc ? ":" : "", g->name);
    m->comms[comm].name = name;
}

/* The communicator of a group, and this process as a member. */
static void add_member(struct rs_kineto_file *f, struct rs_model *m, const struct rs_kineto_call *c, uint32_t *member)
{
    const struct rs_kineto_group *g = &f->k.groups[c->group];
    uint32_t comm;
    rs_model_comm_of(m, RS_TOOL_KINETO, g->hash, &comm);
    m->comms[comm].made_up = true;
    m->comms[comm].assumed |= g->assumed;
    if (!m->comms[comm].name) name_comm(m, comm, g);
    if (g->nranks && !m->comms[comm].ranks) {
        int32_t *ranks = rs_arena_alloc(&m->arena, g->nranks * sizeof *ranks);
        memcpy(ranks, g->ranks, g->nranks * sizeof *ranks);
        m->comms[comm].ranks = ranks;
    }
    int32_t nranks = g->nranks ? (int32_t)g->nranks : g->size;
    if (nranks > m->comms[comm].nranks) m->comms[comm].nranks = nranks;
    rs_model_member(m, comm, member);
    struct rs_member *x = &m->members[*member];
    x->rank = g->rank;
    x->global_rank = f->k.rank;
    x->proc = f->process->proc;
    x->device = c->device;
    x->gpu = (uint32_t)rs_map_get(&f->process->gpus, (uint32_t)c->device, RS_NONE);
    rs_map_put(&f->process->members, g->hash, *member);
}

/* ---- parts ---- */

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

/* Elements as NCCL counts them: of all-gather, reduce-scatter and all-to-all one rank's share. */
static uint64_t count_of(const struct rs_kineto_call *c, int32_t nranks)
{
    if (is(c->func, "ReduceScatter") || is(c->func, "Recv") || is(c->func, "Scatter")) return c->out;
    if (is(c->func, "AlltoAll") && nranks > 0) return c->in / (uint64_t)nranks;
    return c->in;
}

int32_t rs_kineto_peer(const struct rs_kineto_call *c, const struct rs_kineto_group *g)
{
    bool p2p = is(c->func, "Send") || is(c->func, "Recv");
    if (p2p && c->lane == RS_KINETO_NONE) /* a kernel only says the global one */
        return rs_kineto_group_rank(g, is(c->func, "Send") ? c->dst : c->src);
    bool rooted = is(c->func, "Broadcast") || is(c->func, "Reduce") || is(c->func, "Gather") || is(c->func, "Scatter");
    return p2p || rooted ? c->rank : -1;
}

static void add_texts(struct rs_kineto_file *f, struct rs_model *m, const struct rs_kineto_call *c, uint32_t part)
{
    const struct rs_kernel_name *kernel = &f->k.names[c->kernel_name].kernel;
    rs_model_string(m, c->func, &m->parts.func[part]);
    rs_model_string(m, c->dtype, &m->parts.dtype[part]);
    if (c->kernel == RS_KINETO_NONE) return;
    rs_model_string(m, kernel->algo, &m->parts.algo[part]);
    if (kernel->symmetric) m->parts.flags[part] |= RS_PART_SYMMETRIC;
}

/* PyTorch's Comms Id, as read or computed; none without a sequence number. */
static void find_comms_id(struct rs_tag *tag, const struct rs_kineto_call *c, const struct rs_kineto_group *g)
{
    if (c->has_comms_id) {
        tag->comms_id = c->comms_id;
        tag->has_comms_id = tag->comms_id_read = true;
    } else if (c->seq >= 0 && (g->nranks || c->first_rank >= 0)) {
        int64_t start = c->first_rank, stride = c->stride;
        if (g->nranks) rs_comms_shape(g->ranks, g->nranks, &start, &stride);
        int64_t size = g->nranks ? (int64_t)g->nranks : c->group_size;
        tag->comms_id = rs_comms_id(g->name, strlen(g->name), c->seq, tag->is_p2p, start, stride, size);
        tag->has_comms_id = true;
    }
}

static enum rs_status add_tag(struct rs_kineto_file *f, struct rs_model *m, const struct rs_kineto_call *c,
                              uint32_t part, struct rs_err *err)
{
    struct rs_tag tag = {.part = part, .step = c->step, .pg_seq = c->seq, .duration_ns = RS_TIME_NONE};
    tag.is_p2p = is(c->func, "Send") || is(c->func, "Recv");
    find_comms_id(&tag, c, &f->k.groups[c->group]);
    RS_TRY(rs_kineto_model_name(f, m, c->scope, &tag.scope, err));
    rs_model_tag(m, &tag);
    return RS_OK;
}

static enum rs_status add_part(struct rs_kineto_file *f, struct rs_model *m, uint32_t call, uint32_t member,
                               struct rs_err *err)
{
    const struct rs_kineto_call *c = &f->k.calls[call];
    uint32_t i;
    rs_model_part(m, &i);
    add_texts(f, m, c, i);
    struct rs_parts *t = &m->parts;
    bool send = is(c->func, "Send"), recv = is(c->func, "Recv");
    t->kind[i] = send ? RS_PART_SEND : recv ? RS_PART_RECV : RS_PART_COLL;
    t->member[i] = member;
    t->handle[i] = (uint64_t)f->first_call + call + 1;
    t->seq[i] = c->number;
    t->count[i] = count_of(c, m->comms[m->members[member].comm].nranks);
    t->peer[i] = rs_kineto_peer(c, &f->k.groups[c->group]);
    if ((send || recv) && t->peer[i] >= 0 && t->peer[i] == m->members[member].rank) t->flags[i] |= RS_PART_SELF;
    if (c->lane != RS_KINETO_NONE) {
        t->enqueued[i] = c->start;
        t->flags[i] |= RS_PART_STOPPED;
    }
    if (c->has_launch) {
        t->launched[i] = c->launched;
        t->flags[i] |= RS_PART_LAUNCHED;
    }
    if (c->kernel != RS_KINETO_NONE) {
        if (!c->queued) {
            t->start[i] = c->kernel_start;
            t->start_source[i] = RS_FROM_KERNEL;
        }
        t->end[i] = c->kernel_end;
        t->end_source[i] = RS_FROM_KERNEL;
        t->launch[i] = (uint64_t)f->first_row + c->kernel + 1;
        if (send || recv) t->group[i] = t->launch[i];
    }
    return add_tag(f, m, c, i, err);
}

/* A group of which only a later call has a kernel gets its device from that one. */
static void learn_device(struct rs_kineto_file *f, struct rs_model *m, uint32_t member, const struct rs_kineto_call *c)
{
    struct rs_member *x = &m->members[member];
    if (x->gpu != RS_NONE || c->kernel == RS_KINETO_NONE) return;
    x->device = c->device;
    x->gpu = (uint32_t)rs_map_get(&f->process->gpus, (uint32_t)c->device, RS_NONE);
}

/* The kernel of a row, which are in their order; NULL: it is not tied. */
static const struct rs_kineto_tied *kernel_at(const struct rs_kineto_file *f, uint32_t row)
{
    uint32_t low = 0, high = f->nkernels;
    RS_BISECT(low, high, mid, f->kernels[mid].row < row);
    return low < f->nkernels && f->kernels[low].row == row ? &f->kernels[low] : NULL;
}

static void add_spot(const struct rs_kineto_file *f, struct rs_model *m, uint32_t event, uint32_t part)
{
    rs_model_spot(m, &(struct rs_spot){f->process->proc, f->first_event + event, part});
}

/* A kernel that runs several calls is tied to one of them: the others are recorded there, too. */
static void add_spots(struct rs_kineto_file *f, struct rs_model *m, uint32_t call, uint32_t part)
{
    const struct rs_kineto_call *c = &f->k.calls[call];
    const struct rs_kineto_tied *k = c->kernel == RS_KINETO_NONE ? NULL : kernel_at(f, c->kernel);
    add_spot(f, m, c->event, part);
    if (!k || k->call == call || k->event == c->event) return;
    add_spot(f, m, k->event, part);
}

enum rs_status rs_kineto_parts_add(struct rs_kineto_file *f, struct rs_model *m, struct rs_err *err)
{
    uint32_t *members = rs_alloc(((size_t)f->k.ngroups + 1) * sizeof *members), first = m->parts.n;
    for (uint32_t i = 0; i < f->k.ngroups; i++)
        members[i] = (uint32_t)rs_map_get(&f->process->members, f->k.groups[i].hash, RS_NONE);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < f->k.ncalls && status == RS_OK; i++) {
        const struct rs_kineto_call *c = &f->k.calls[i];
        uint32_t *member = &members[c->group];
        if (*member == RS_NONE) add_member(f, m, c, member);
        learn_device(f, m, *member, c);
        status = add_part(f, m, i, *member, err);
        if (status == RS_OK) add_spots(f, m, i, first + i);
    }
    for (uint32_t i = 0; i < f->nkernels && status == RS_OK; i++) {
        const struct rs_kineto_tied *k = &f->kernels[i];
        m->activities.part[f->first + k->row] = first + k->call;
        add_spot(f, m, k->event, first + k->call);
    }
    free(members);
    return status;
}
