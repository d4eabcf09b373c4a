#include "events/dumped.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/mix.h"
#include "foreign/example/example.h"
#include "foreign/formats.h"
#include "model/proc_rows.h"
#include "nccl/abi.h"

struct reading {
    struct rs_model *model;
    uint32_t proc;
    uint64_t types;
    rs_event_visit visit;
    void *to;
    struct rs_axis *axis; /* of the process's host */
    struct rs_map members; /* (communicator, rank) -> member */
    uint32_t number; /* of the first event of the current dump */
    uint64_t above; /* its handles are this and 1 + the event, as in the importer's parts */
    uint32_t *parts; /* by event of the dump; RS_NONE: none */
    uint64_t *first_timers; /* by event: of an operation, the earliest start of its channels; UINT64_MAX: none */
};

static uint64_t member_key(uint64_t comm, int32_t rank)
{
    return rs_mix(rs_mix(comm, 1), (uint64_t)(int64_t)rank);
}

static void index_members(struct reading *r)
{
    const struct rs_model *m = r->model;
    struct rs_proc_rows span = rs_members_of(m, r->proc);
    for (uint32_t i = span.first; i < span.end; i++)
        rs_map_put(&r->members, member_key(m->comms[m->members[i].comm].hash, m->members[i].rank), i);
}

/* ---- one event ---- */

static const uint64_t types_of[RS_EX_KINDS] = {
    [RS_EX_GROUP_API] = RS_GROUP_API,
    [RS_EX_COLL_API] = RS_COLL_API,
    [RS_EX_P2P_API] = RS_P2P_API,
    [RS_EX_LAUNCH] = RS_KERNEL_LAUNCH,
    [RS_EX_GROUP] = RS_GROUP,
    [RS_EX_COLL] = RS_COLL,
    [RS_EX_P2P] = RS_P2P,
    [RS_EX_PROXY_OP] = RS_PROXY_OP,
    [RS_EX_PROXY_CTRL] = RS_PROXY_CTRL,
    [RS_EX_NET] = RS_PROXY_STEP,
    [RS_EX_KERNEL] = RS_KERNEL_CH,
    [RS_EX_IB] = RS_NET_PLUGIN,
    [RS_EX_SOCKET] = RS_NET_PLUGIN,
    [RS_EX_CE_COLL] = RS_CE_COLL,
    [RS_EX_CE_SYNC] = RS_CE_SYNC,
    [RS_EX_CE_BATCH] = RS_CE_BATCH,
};

static int64_t gpu_time(const struct reading *r, uint32_t part, uint32_t op, uint64_t timer)
{
    if (part == RS_NONE || op == RS_NONE) return RS_TIME_NONE;
    const struct rs_parts *p = &r->model->parts;
    uint32_t gpu = r->model->members[p->member[part]].gpu;
    bool known = p->start_source[part] == RS_FROM_KERNEL && !(p->flags[part] & (RS_PART_STALE | RS_PART_LENT_START));
    if (!known || gpu == RS_NONE || !timer || timer < r->first_timers[op]) return RS_TIME_NONE;
    struct rs_axis *axis = &r->model->domains[gpu].axis;
    int64_t first = rs_axis_local(axis, p->start[part]);
    return rs_axis_common(axis, rs_time_plus(first, (int64_t)(timer - r->first_timers[op])));
}

static void add_state(struct reading *r, struct rs_event *e, int state, int64_t at)
{
    if (at != RS_TIME_NONE) e->states[e->nstates++] = (struct rs_event_state){state, rs_axis_common(r->axis, at)};
}

static void take_wait(struct reading *r, struct rs_event *e, const struct rs_example_event *x)
{
    static const int states[] = {[RS_EX_WAIT_OTHER] = -1,
                                 [RS_EX_SEND_BUFFER_WAIT] = -1,
                                 [RS_EX_RECV_BUFFER_WAIT] = -1,
                                 [RS_EX_SEND_GPU_WAIT] = RS_ST_STEP_SEND_GPU_WAIT,
                                 [RS_EX_SEND_PEER_WAIT] = RS_ST_STEP_SEND_PEER_WAIT,
                                 [RS_EX_SEND_WAIT] = RS_ST_STEP_SEND_WAIT,
                                 [RS_EX_RECV_WAIT] = RS_ST_STEP_RECV_WAIT,
                                 [RS_EX_RECV_FLUSH_WAIT] = RS_ST_STEP_RECV_FLUSH_WAIT,
                                 [RS_EX_RECV_GPU_WAIT] = RS_ST_STEP_RECV_GPU_WAIT};
    e->step = x->net.step;
    if (states[x->net.wait] >= 0) add_state(r, e, states[x->net.wait], x->begin);
}

static void take_proxy(struct reading *r, struct rs_event *e, const struct rs_example_event *x)
{
    e->channel = x->proxy.channel;
    e->peer = x->proxy.peer;
    e->steps = x->proxy.steps;
    e->is_send = x->proxy.is_send;
    int first = x->proxy.is_send ? RS_ST_OP_SEND_POSTED : RS_ST_OP_RECV_POSTED;
    for (int i = 0; i < RS_EX_STATES && x->proxy.phase == RS_EX_WHOLE; i++) add_state(r, e, first + i, x->proxy.at[i]);
}

static void take_arguments(struct reading *r, struct rs_event *e, const struct rs_example_event *x)
{
    switch (x->kind) {
    case RS_EX_KERNEL:
        e->channel = x->kernel.channel;
        e->gpu_start = gpu_time(r, e->part, x->op, x->kernel.start);
        e->gpu_end = gpu_time(r, e->part, x->op, x->kernel.stop);
        e->stale = e->part != RS_NONE && x->kernel.start && (r->model->parts.flags[e->part] & RS_PART_STALE);
        break;
    case RS_EX_PROXY_OP: take_proxy(r, e, x); break;
    case RS_EX_NET: take_wait(r, e, x); break;
    case RS_EX_P2P:
        e->peer = x->work.peer;
        e->is_send = x->work.is_send;
        e->channels = x->work.nchannels;
        break;
    case RS_EX_COLL: e->channels = x->work.nchannels; break;
    case RS_EX_IB:
    case RS_EX_SOCKET: e->bytes = (int64_t)(x->wire.bytes & INT64_MAX); break;
    default: break;
    }
}

/* Channel, peer and direction of the proxy operation of a wait, and of what is inside it. */
static void inherit(struct rs_event *e, const struct rs_example *d, const struct rs_example_event *x)
{
    for (int depth = 0; depth < 3 && x->parent != RS_NONE; depth++) {
        x = &d->events[x->parent];
        if (x->kind == RS_EX_NET && e->step < 0) e->step = x->net.step;
        if (x->kind != RS_EX_PROXY_OP) continue;
        e->channel = x->proxy.channel;
        e->peer = x->proxy.peer;
        e->is_send = x->proxy.is_send;
        return;
    }
}

static void make_event(struct reading *r, const struct rs_example *d, uint32_t i, struct rs_event *e)
{
    const struct rs_example_event *x = &d->events[i];
    *e = (struct rs_event){.proc = r->proc,
                           .number = r->number + i,
                           .parent = x->parent != RS_NONE ? r->number + x->parent : RS_NONE,
                           .handle = r->above | (i + 1),
                           .parent_handle = x->parent != RS_NONE ? r->above | (x->parent + 1) : 0,
                           .type = types_of[x->kind],
                           .part = r->parts[x->op != RS_NONE ? x->op : i],
                           .member = RS_NONE,
                           .thread = "",
                           .start = rs_axis_common(r->axis, x->begin),
                           .end = rs_axis_common(r->axis, x->end),
                           .gpu_start = RS_TIME_NONE,
                           .gpu_end = RS_TIME_NONE,
                           .channel = -1,
                           .peer = -1,
                           .step = -1,
                           .steps = -1,
                           .channels = -1,
                           .is_send = -1,
                           .bytes = -1,
                           .name = rs_texts_at(&d->texts, x->name),
                           .category = rs_texts_at(&d->texts, x->cat)};
    if (e->part != RS_NONE)
        e->member = r->model->parts.member[e->part];
    else if (x->who != RS_EX_WHO_NONE)
        e->member = (uint32_t)rs_map_get(&r->members, member_key(x->comm, x->rank), RS_NONE);
    take_arguments(r, e, x);
    if (x->kind == RS_EX_NET || x->kind == RS_EX_IB || x->kind == RS_EX_SOCKET) inherit(e, d, x);
}

/* ---- one dump ---- */

static void note_parts(struct reading *r, const struct rs_example *d)
{
    const struct rs_parts *p = &r->model->parts;
    for (uint32_t i = 0; i < d->n; i++) {
        r->parts[i] = RS_NONE;
        r->first_timers[i] = UINT64_MAX;
    }
    struct rs_proc_rows span = rs_parts_of(r->model, r->proc);
    for (uint32_t i = span.first; i < span.end; i++) {
        uint64_t event = (p->handle[i] ^ r->above) - 1;
        if (event < d->n) r->parts[event] = i;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *x = &d->events[i];
        if (x->kind != RS_EX_KERNEL || x->op == RS_NONE || !x->kernel.start) continue;
        if (x->kernel.start < r->first_timers[x->op]) r->first_timers[x->op] = x->kernel.start;
    }
}

static enum rs_status read_events(struct reading *r, const struct rs_example *d, uint32_t place, struct rs_err *err)
{
    r->parts = rs_alloc(((size_t)d->n + 1) * sizeof *r->parts);
    r->first_timers = rs_alloc(((size_t)d->n + 1) * sizeof *r->first_timers);
    if (d->n > RS_NONE - r->number) return rs_fail(err, RS_BAD_INPUT, "%s: more than four billion events", d->path);
    r->above = (place + UINT64_C(1)) << 32;
    note_parts(r, d);
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t type = types_of[d->events[i].kind];
        if (type ? !(type & r->types) : r->types != UINT64_MAX) continue;
        struct rs_event e;
        make_event(r, d, i, &e);
        RS_TRY(r->visit(r->to, &e, err));
    }
    r->number += d->n;
    return RS_OK;
}

static enum rs_status read_dump(struct reading *r, const struct rs_other *file, struct rs_err *err)
{
    struct rs_example d;
    RS_TRY(rs_example_open(&d, file->path, err));
    enum rs_status status = read_events(r, &d, file->place, err);
    free(r->parts);
    free(r->first_timers);
    r->parts = NULL;
    r->first_timers = NULL;
    rs_example_close(&d);
    return status;
}

enum rs_status rs_events_dumped(struct rs_model *m, const struct rs_inputs *in, uint32_t proc, uint64_t types,
                                rs_event_visit visit, void *to, struct rs_err *err)
{
    struct reading r = {.model = m,
                        .proc = proc,
                        .types = types,
                        .visit = visit,
                        .to = to,
                        .axis = &m->domains[m->hosts[m->procs[proc].host].domain].axis};
    index_members(&r);
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < in->nothers && status == RS_OK; i++) {
        const struct rs_other *o = &in->others[i];
        const struct rs_format *format = rs_format_at(o->format);
        if (o->proc == proc && format && format->tool == m->procs[proc].tool) status = read_dump(&r, o, err);
    }
    rs_map_free(&r.members);
    return status;
}
