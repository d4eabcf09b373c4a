#include "import/folding.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/owner.h"
#include "base/memory.h"
#include "base/room.h"
#include "import/members.h"
#include "nccl/abi.h"

#define LONGEST_STEP_NS INT64_C(2592000000000000) /* 30 days */

void rs_folding_init(struct rs_folding *p, struct rs_model *model, struct rs_pxn *pxn)
{
    *p = (struct rs_folding){.model = model, .pxn = pxn, .caller = UINT64_MAX};
}

/* Forgets the process; tables keep their memory for the next. */
static void forget(struct rs_folding *p)
{
    rs_shapes_free(&p->shapes);
    rs_calls_free(&p->calls);
    rs_map_free(&p->next_seq);
    rs_map_free(&p->callers);
    p->caller = UINT64_MAX;
    p->ngaps = 0;
    p->lost_in_gaps = p->lost_colls = p->orphans = 0;
}

void rs_folding_free(struct rs_folding *p)
{
    forget(p);
    rs_folds_free(&p->folds);
    rs_network_free(&p->network);
    free(p->gaps);
}

static void add_caller(struct rs_folding *p, uint32_t member, uint32_t tid)
{
    uint64_t caller = (uint64_t)member << 32 | tid;
    if (caller == p->caller || member == RS_NONE) return;
    p->caller = caller;
    rs_map_put(&p->callers, caller, 0);
}

/* ---- operations: Coll, P2p, CeColl, API calls, launches and plans -> parts ----
 *
 * A part gets its facts from its own start, the time of the call from its parent (v5 and newer), and the time of the
 * launch from its plan. */

/* A communicator of the process by its context; NULL: of another process. */
static struct rs_folding_comm *comm_of(const struct rs_assembly *a, uint64_t context, uint32_t **member)
{
    struct rs_folding *p = a->to;
    uint32_t index = rs_assembly_comm(a, context);
    *member = &a->members[index];
    return index ? &p->comms[index] : NULL;
}

/* When the plan of a Group event was launched; RS_TIME_NONE: unknown. */
static int64_t launch_of(const struct rs_folding_comm *c, uint64_t group)
{
    for (size_t i = 0; i < sizeof c->plans / sizeof *c->plans; i++)
        if (c->plans[i].handle == group && group) return c->plans[i].launched;
    return RS_TIME_NONE;
}

static void add_part(struct rs_folding *p, uint32_t member, uint64_t handle, uint32_t *part)
{
    rs_model_part(p->model, part);
    rs_folds_add(&p->folds);
    p->model->parts.member[*part] = member;
    p->model->parts.handle[*part] = handle;
}

static void describe(struct rs_parts *t, uint32_t i, const struct rs_shape *s)
{
    t->seq[i] = s->seq;
    t->count[i] = s->count;
    t->func[i] = s->func;
    t->dtype[i] = s->dtype;
    t->algo[i] = s->algo;
    t->proto[i] = s->proto;
    t->channels[i] = (uint8_t)s->channels;
    if (s->symmetric) t->flags[i] |= RS_PART_SYMMETRIC;
}

static void note_seq(struct rs_folding *p, uint32_t member, uint16_t func, uint64_t seq)
{
    uint64_t *next;
    rs_map_at(&p->next_seq, (uint64_t)member << 16 | func, 0, &next);
    if (seq + 1 > *next) *next = seq + 1;
}

/* The operation's numbers in the whole recording, if this is a cut. *row: NULL: none. */
static void take_cut_numbers(struct rs_folding *p, uint32_t i, const struct rs_fact_cut_op **row)
{
    struct rs_parts *t = &p->model->parts;
    const struct rs_fact_cut_op *cut = *row = rs_process_cut_op(&p->source->process, t->handle[i]);
    if (!cut) return;
    t->seq[i] = cut->seq;
    t->captured[i] = cut->captured;
    t->replay[i] = cut->replay;
    rs_model_cut_number(p->model, &(struct rs_cut_number){.id = cut->id,
                                                          .part = i,
                                                          .index = cut->index,
                                                          .confidence = cut->confidence > 100 ? 100 : cut->confidence,
                                                          .twice = cut->twice});
}

/* Coll, P2p or CeColl: sets the part of the start. */
static void operation_start(struct rs_assembly *a, struct rs_start *start)
{
    struct rs_folding *p = a->to;
    const struct rs_callback *cb = start->cb;
    int64_t now = start->now;
    uint32_t *member;
    const struct rs_folding_comm *c = comm_of(a, cb->context, &member);
    struct rs_shape s;
    start->part = RS_NONE;
    rs_shape_of(&p->shapes, cb, &s);
    if (!c) {
        p->orphans++;
        return;
    }
    rs_members_learn(p->model, member, p->proc, cb->context, s.hash, rs_shape_comm_name(&p->shapes, cb),
                     (int32_t)cb->rank);
    uint32_t i;
    add_part(p, *member, cb->handle, &i);
    start->part = i;
    struct rs_parts *t = &p->model->parts;
    describe(t, i, &s);
    /* From v5 on the parent is the API call and the plan is a separate argument; before, the parent is the plan. */
    bool old = cb->type != RS_CE_COLL && !p->shapes.fields[cb->kind - RS_K_START][RS_SH_GROUP];
    t->launch[i] = old ? cb->parent : s.group;
    t->launched[i] = launch_of(c, t->launch[i]);
    if (t->launched[i] != RS_TIME_NONE) t->flags[i] |= RS_PART_LAUNCHED;
    if (old) {
        t->enqueued[i] = now;
        t->group[i] = cb->parent;
    } else {
        const struct rs_api_call *call = rs_calls_use(&p->calls, cb->parent);
        if (call) {
            t->enqueued[i] = call->at;
            t->group[i] = call->group;
            t->captured[i] = call->captured;
            if (call->captured) {
                t->replay[i] = call->uses - 1;
                t->flags[i] |= RS_PART_CAPTURED;
                /* Replays are reported on CUDA's thread; without work for the proxy only the capture is reported. */
                if (call->tid == cb->tid) t->flags[i] |= RS_PART_UNREPORTED;
                /* Captured once, run many times: the time of the call is not that of this run. */
                t->enqueued[i] = now;
                t->group[i] = t->launch[i];
            }
        }
    }
    const struct rs_fact_cut_op *cut;
    take_cut_numbers(p, i, &cut);
    if (cb->type == RS_P2P) {
        t->kind[i] = !strcmp(rs_model_text(p->model, s.func), "Recv") ? RS_PART_RECV : RS_PART_SEND;
        t->peer[i] = s.peer;
        if (s.peer == p->model->members[*member].rank) t->flags[i] |= RS_PART_SELF;
        return;
    }
    t->kind[i] = cb->type == RS_COLL ? RS_PART_COLL : RS_PART_CE;
    if (!strcmp(rs_model_text(p->model, s.algo), "TREE") && !strcmp(rs_model_text(p->model, s.func), "AllReduce"))
        t->flags[i] |= RS_PART_END_EARLY;
    t->peer[i] = s.root;
    if (cb->type == RS_COLL) note_seq(p, *member, s.func, s.seq);
}

/* A call that never became an operation (`folding` is the struct). The one in which a process hangs is the next of its
 * function; for a broadcast (2.29, 2.30) or a symmetric kernel, NCCL reports only the call. */
static enum rs_status unreported_call(void *folding, const struct rs_api_call *call, struct rs_err *err)
{
    (void)err;
    struct rs_folding *p = folding;
    struct rs_model *m = p->model;
    if (!call->coll) return RS_OK; /* without a peer it cannot be matched */
    if (p->source->process.cut && !rs_process_cut_op(&p->source->process, call->handle))
        return RS_OK; /* its operation is not in the cut; it is there as the parent of another */
    uint64_t *next = rs_map_find(&p->next_seq, (uint64_t)call->member << 16 | call->func);
    if (next && p->lost_colls && !p->source->process.cut) return RS_OK; /* its operation may have been lost */
    uint32_t i;
    add_part(p, call->member, call->handle, &i);
    struct rs_parts *t = &m->parts;
    t->kind[i] = RS_PART_API;
    t->func[i] = call->func;
    t->dtype[i] = call->dtype;
    t->count[i] = call->count;
    t->peer[i] = call->root;
    t->enqueued[i] = call->at;
    t->group[i] = call->group;
    const struct rs_fact_cut_op *cut;
    take_cut_numbers(p, i, &cut);
    if (cut) {
        if (cut->kind == RS_CUT_OPEN) {
            t->kind[i] = RS_PART_COLL;
            t->flags[i] |= RS_PART_OPEN;
        }
    } else if (next && m->procs[p->proc].ended != RS_END_WELL) {
        t->kind[i] = RS_PART_COLL;
        t->seq[i] = (*next)++;
        t->flags[i] |= RS_PART_OPEN;
    } else if (!p->lost_in_gaps && m->procs[p->proc].overwritten == 0) {
        t->seq[i] = call->ordinal;
    }
    return RS_OK;
}

/* CollApi or P2pApi. */
static enum rs_status operation_call(struct rs_assembly *a, const struct rs_callback *cb, int64_t now,
                                     struct rs_err *err)
{
    struct rs_folding *p = a->to;
    uint32_t member = a->members[rs_assembly_comm(a, cb->context)];
    if (member == RS_NONE) return RS_OK;
    struct rs_shape s;
    add_caller(p, member, cb->tid);
    rs_shape_of(&p->shapes, cb, &s);
    rs_calls_start(&p->calls, cb, now, member, &s);
    return rs_calls_crowded(&p->calls) ? rs_calls_sweep(&p->calls, false, unreported_call, p, err) : RS_OK;
}

static void operation_launch(struct rs_assembly *a, const struct rs_callback *cb, int64_t now)
{
    uint32_t *member;
    struct rs_folding_comm *c = comm_of(a, cb->context, &member);
    if (!c) return;
    c->launched = now;
    c->launch_tid = cb->tid;
    add_caller(a->to, *member, cb->tid);
}

/* Group, a plan: operations launched together. Its kernel was launched just before, by the same thread. */
static void operation_plan(struct rs_assembly *a, const struct rs_callback *cb)
{
    uint32_t *member;
    struct rs_folding_comm *c = comm_of(a, cb->context, &member);
    if (!c) return;
    memmove(c->plans + 1, c->plans, sizeof c->plans - sizeof *c->plans);
    c->plans[0].handle = cb->handle;
    c->plans[0].launched = RS_TIME_NONE;
    if (c->launch_tid != cb->tid) return; /* a replay, by CUDA's thread: the launch is for another plan */
    c->plans[0].launched = c->launched;
    c->launched = RS_TIME_NONE;
}

/* ---- kernels: KernelCh -> start and end of their operation, bounds for the GPU's clock, stale timers ---- */

/* Checks a start timer; *good = false: stale. */
static void judge(struct rs_assembly *a, const struct rs_folding_event *f, const struct rs_start *s, bool *good)
{
    struct rs_folding *p = a->to;
    struct rs_model *m = p->model;
    const struct rs_parts *t = &m->parts;
    uint32_t part = f->flight.part, gpu = m->members[t->member[part]].gpu;
    uint32_t comm = rs_assembly_comm(a, m->members[t->member[part]].context);
    *good = true;
    if (gpu == RS_NONE) {
        *good = !rs_process_cut_stale(&p->source->process, s->cb->handle);
        return;
    }
    struct rs_domain *d = &m->domains[gpu];
    if (rs_process_cut_stale(&p->source->process, s->cb->handle)) {
        *good = false;
        d->timers++;
        d->stale++;
    } else if (comm) {
        const struct rs_timer timer = {f->channel, t->launch[part],
                                       t->captured[part] ? RS_TIME_NONE : t->launched[part], f->began, s->now};
        rs_timers_start(&p->comms[comm].timers, d, &timer, good);
        if (!d->bounds) d->bounds = rs_zalloc(1, sizeof *d->bounds);
        if (*good) {
            rs_bounds_add_upper(d->bounds, f->began, s->now);
            if (timer.launched != RS_TIME_NONE) rs_bounds_add_lower(d->bounds, f->began, timer.launched);
        }
    }
}

static void kernel_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s)
{
    struct rs_folding *p = a->to;
    bool timed = s->cb->kind == RS_K_KERNEL_CH;
    f->began = timed ? (int64_t)s->cb->args[0] : s->now;
    f->timer = s->timer;
    if (f->flight.part == RS_NONE || (!timed && s->cb->kind != RS_K_KERNEL_CH_V3)) {
        f->ignored = true;
        f->counted = !timed;
        p->orphans++;
        return;
    }
    f->channel = (uint8_t)s->cb->small;
    struct rs_fold *fold = rs_fold_of(&p->folds, f->flight.part);
    if (!timed) {
        rs_fold_kernel_start(fold, f->began, false);
        return;
    }
    bool good;
    judge(a, f, s, &good);
    if (!good) {
        f->stale = true;
        rs_fold_kernel_stale(fold);
        rs_proc_set_stale(&p->model->procs[p->proc], f->timer);
    } else if (p->model->parts.kind[f->flight.part] != RS_PART_COLL) {
        rs_folds_timer(&p->folds, f->flight.part, f->timer);
    }
    rs_fold_kernel_start(fold, good ? f->began : RS_TIME_NONE, true);
}

/* It has ended: with its time from a state (v4 and newer), or, with RS_TIME_NONE, from the stop. */
static void kernel_end(struct rs_assembly *a, struct rs_folding_event *f, int64_t gpu_ns, int64_t now)
{
    struct rs_folding *p = a->to;
    if (f->counted) return;
    f->counted = true;
    struct rs_model *m = p->model;
    if (f->ignored) { /* its timers cannot be checked further */
        bool older = gpu_ns != RS_TIME_NONE && gpu_ns && gpu_ns < f->began;
        if (older) rs_proc_set_stale(&m->procs[p->proc], f->timer);
        return;
    }
    struct rs_fold *fold = rs_fold_of(&p->folds, f->flight.part);
    if (!fold->timers || gpu_ns == RS_TIME_NONE || f->stale) {
        rs_fold_kernel_end(fold, fold->timers ? RS_TIME_NONE : now);
        return;
    }
    const struct rs_member *x = &m->members[m->parts.member[f->flight.part]];
    struct rs_domain *d = x->gpu != RS_NONE ? &m->domains[x->gpu] : NULL;
    uint32_t comm = rs_assembly_comm(a, x->context);
    if (gpu_ns < f->began) { /* the end is of older work, and the start may be of any */
        rs_fold_kernel_stale(fold);
        if (fold->kernel_start == f->began) fold->kernel_start = RS_TIME_NONE;
        if (d) d->stale++;
        gpu_ns = RS_TIME_NONE;
        rs_proc_set_stale(&m->procs[p->proc], f->timer);
    } else if (d && d->bounds) {
        rs_bounds_add_upper(d->bounds, gpu_ns, now);
    }
    if (gpu_ns != RS_TIME_NONE && comm) rs_timers_end(&p->comms[comm].timers, m->parts.launch[f->flight.part], gpu_ns);
    rs_fold_kernel_end(fold, gpu_ns);
}

/* ---- proxy operations and network steps -> start and end of their operation, flows of the network ---- */

static enum rs_status proxy_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s,
                                  struct rs_err *err)
{
    struct rs_folding *p = a->to;
    const struct rs_callback *cb = s->cb;
    if (cb->kind != RS_K_PROXY_OP) {
        f->ignored = true;
        return RS_OK;
    }
    f->channel = (uint8_t)cb->small;
    f->is_send = (cb->small >> 8 & 0xffff) != 0;
    f->peer = (int32_t)(cb->args[0] >> 32);
    f->announced = (int32_t)(uint32_t)cb->args[1];
    if (s->foreign) {
        struct rs_pxn_op op = {.parent = cb->parent, .helper = p->proc, .start = RS_TIME_NONE, .end = RS_TIME_NONE};
        RS_TRY(rs_pxn_context(p->pxn, rs_work_context(cb), p->proc, rs_work_pid(cb), &op.context, err));
        f->member = RS_FOREIGN_MEMBER | op.context;
        RS_TRY(rs_pxn_op(p->pxn, &op, &f->pxn, err));
        f->pxn++;
        return RS_OK;
    }
    if (f->flight.part != RS_NONE) {
        struct rs_fold *fold = rs_fold_of(&p->folds, f->flight.part);
        if (fold->proxies < UINT16_MAX) fold->proxies++;
        f->member = p->model->parts.member[f->flight.part];
    } else {
        f->member = a->members[rs_assembly_comm(a, cb->context)];
        p->orphans++;
    }
    return RS_OK;
}

/* It makes progress: reported by newer NCCL (state 19); for older ones, at the first state or step. */
static void proxy_progress(struct rs_folding *p, struct rs_folding_event *f, int64_t now)
{
    if (f->counted) return;
    f->counted = true;
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].start = now;
    else if (f->flight.part != RS_NONE)
        rs_fold_proxy_start(rs_fold_of(&p->folds, f->flight.part), now);
}

static void proxy_stop(struct rs_folding *p, const struct rs_folding_event *f, int64_t now)
{
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].end = now;
    else if (f->flight.part != RS_NONE)
        rs_fold_proxy_end(rs_fold_of(&p->folds, f->flight.part), now);
}

static void step_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s)
{
    struct rs_folding *p = a->to;
    struct rs_folding_event *o = f->flight.owner != RS_NONE ? rs_folding_at(a, f->flight.owner) : NULL;
    if (!o || o->ignored) {
        f->ignored = true;
        p->orphans++;
        return;
    }
    proxy_progress(p, o, s->now);
    if (s->again && p->polled_since != RS_TIME_NONE) f->at = p->polled_since; /* polled again, it has not moved */
}

/* The row of the flow of a step of proxy operation `o`; NULL: its owner is unknown. */
static void flow_of(struct rs_folding *p, struct rs_folding_event *o, int64_t now, struct rs_net **row)
{
    *row = NULL;
    if (!(o->member == RS_NONE)) rs_network_row(&p->network, &o->cell, o->member, o->peer, now, row);
}

/* The time since a step's latest change goes to the state that it was in. */
static void leave(const struct rs_folding_event *f, int64_t now, struct rs_net *row)
{
    int64_t spent = rs_time_minus(now, f->at);
    if (spent < 0 || spent > LONGEST_STEP_NS) return; /* damaged times */
    switch (f->state) {
    case RS_ST_STEP_SEND_GPU_WAIT: row->gpu_ns = rs_time_plus(row->gpu_ns, spent); break;
    case RS_ST_STEP_SEND_PEER_WAIT: row->credit_ns = rs_time_plus(row->credit_ns, spent); break;
    case RS_ST_STEP_SEND_WAIT: row->send_ns = rs_time_plus(row->send_ns, spent); break;
    case RS_ST_STEP_RECV_WAIT: row->recv_ns = rs_time_plus(row->recv_ns, spent); break;
    case RS_ST_STEP_RECV_FLUSH_WAIT: row->flush_ns = rs_time_plus(row->flush_ns, spent); break;
    case RS_ST_STEP_RECV_GPU_WAIT: row->consume_ns = rs_time_plus(row->consume_ns, spent); break;
    default: break;
    }
}

/* The state that a step of proxy operation `o` leaves was its message: a send on the network, a receive waiting for data. */
static inline void message(struct rs_folding *p, struct rs_folding_event *o, const struct rs_folding_event *f,
                           uint64_t bytes, int64_t now)
{
    struct rs_message x = {.member = o->member,
                           .peer = o->peer,
                           .sent = f->state == RS_ST_STEP_SEND_WAIT,
                           .bytes = bytes,
                           .ns = rs_time_minus(now, f->at),
                           .end = now};
    rs_network_message(&p->network, &o->cell, &x);
}

static void step_state(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_callback *cb, int64_t now)
{
    if (cb->state == f->state) return; /* SendPeerWait is sent at every retry: the first counts */
    /* The size is valid only with these two. */
    bool sent = cb->state == RS_ST_STEP_SEND_WAIT && cb->kind >= RS_K_STATE_ARG;
    bool received = cb->state == RS_ST_STEP_RECV_FLUSH_WAIT && cb->kind >= RS_K_STATE_ARG;
    struct rs_folding *p = a->to;
    struct rs_folding_event *o = rs_folding_at(a, f->flight.owner);
    struct rs_net *row = NULL;
    if (f->state >= 0 || sent || received) flow_of(p, o, now, &row);
    if (row && f->state >= 0) leave(f, now, row);
    if (row && sent) {
        row->sent++;
        row->sent_bytes += cb->args[0];
        bool ready = f->state != RS_ST_STEP_SEND_PEER_WAIT || rs_time_minus(now, f->at) <= RS_NET_READY_NS;
        f->bytes = ready ? cb->args[0] : 0;
    } else if (row && received) {
        row->received++;
        row->received_bytes += cb->args[0];
        if (f->state == RS_ST_STEP_RECV_WAIT) message(p, o, f, cb->args[0], now);
    }
    f->state = (int16_t)cb->state;
    f->at = now;
}

static void step_stop(struct rs_assembly *a, const struct rs_folding_event *f, int64_t now)
{
    struct rs_folding *p = a->to;
    struct rs_folding_event *o = rs_folding_at(a, f->flight.owner);
    struct rs_net *row = NULL;
    if (f->state >= 0) flow_of(p, o, now, &row);
    if (row) leave(f, now, row);
    if (row && f->state == RS_ST_STEP_SEND_WAIT) message(p, o, f, f->bytes, now);
    o->done++;
    o->at = now;
}

/* ---- the visitor ---- */

enum { OPERATIONS = RS_COLL | RS_P2P | RS_CE_COLL };

static enum rs_status place(struct rs_assembly *a, struct rs_start *s, struct rs_err *err)
{
    struct rs_proc *proc = &a->model->procs[a->proc];
    switch (s->cb->type) {
    case RS_COLL:
    case RS_P2P:
    case RS_CE_COLL: operation_start(a, s); return RS_OK;
    case RS_COLL_API:
    case RS_P2P_API: proc->calls = true; return operation_call(a, s->cb, s->now, err);
    case RS_GROUP_API: proc->calls = true; return RS_OK;
    case RS_GROUP: operation_plan(a, s->cb); return RS_OK;
    case RS_KERNEL_LAUNCH: operation_launch(a, s->cb, s->now); return RS_OK;
    default: return RS_OK;
    }
}

static enum rs_status started(struct rs_assembly *a, uint32_t row, const struct rs_start *s, struct rs_err *err)
{
    struct rs_folding_event *f = rs_folding_at(a, row);
    if (f->flight.type & OPERATIONS) return RS_OK;
    *f = (struct rs_folding_event){
        .flight = f->flight, .at = s->now, .member = RS_NONE, .peer = -1, .announced = -1, .state = -1};
    switch (f->flight.type) {
    case RS_PROXY_STEP: step_start(a, f, s); return RS_OK;
    case RS_KERNEL_CH: kernel_start(a, f, s); return RS_OK;
    default: return proxy_start(a, f, s, err);
    }
}

static enum rs_status changed(struct rs_assembly *a, uint32_t row, const struct rs_callback *cb, int64_t now,
                              struct rs_err *err)
{
    (void)err;
    struct rs_folding_event *f = rs_folding_at(a, row);
    if (f->flight.type & OPERATIONS) return RS_OK;
    switch (f->flight.type) {
    case RS_PROXY_STEP:
        if (f->ignored) return RS_OK;
        step_state(a, f, cb, now);
        return RS_OK;
    case RS_PROXY_OP:
        if (!f->ignored) proxy_progress(a->to, f, now);
        f->at = now;
        return RS_OK;
    default:
        if (cb->state != RS_ST_KERNEL_CH_STOP || cb->kind < RS_K_STATE_ARG) return RS_OK;
        kernel_end(a, f, (int64_t)cb->args[0], now);
        f->at = now;
        return RS_OK;
    }
}

static void stopped(struct rs_assembly *a, struct rs_folding_event *f, int64_t now)
{
    if (f->flight.type & OPERATIONS) { /* it is enqueued */
        if (f->flight.part != RS_NONE) a->model->parts.flags[f->flight.part] |= RS_PART_STOPPED;
        return;
    }
    if (f->ignored) return;
    switch (f->flight.type) {
    case RS_PROXY_STEP: step_stop(a, f, now); return;
    case RS_PROXY_OP: proxy_stop(a->to, f, now); return;
    default: kernel_end(a, f, RS_TIME_NONE, now); return;
    }
}

/* An event that is open when the recording ends. Even a process that closed well may leave events that NCCL never
 * stops. */
static void keep_open(struct rs_assembly *a, const struct rs_folding_event *f)
{
    struct rs_folding *p = a->to;
    bool step = f->flight.type == RS_PROXY_STEP;
    if (f->flight.type & OPERATIONS || f->ignored) return;
    if (f->flight.type == RS_KERNEL_CH && f->counted) return;
    const struct rs_folding_event *o = step ? rs_folding_at(a, f->flight.owner) : f;
    struct rs_open row = {.part = f->flight.part,
                          .proc = p->proc,
                          .type = f->flight.type,
                          .since = f->at,
                          .channel = o->channel,
                          .peer = o->peer,
                          .step = step ? f->flight.step : -1,
                          .state = f->state,
                          .steps = o->announced,
                          .done = o->done,
                          .is_send = o->is_send};
    rs_model_open(p->model, &row);
    if (o->pxn) rs_pxn_open(p->pxn, p->model->nopens - 1, o->pxn - 1);
}

static enum rs_status over(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    (void)err;
    struct rs_folding *p = a->to;
    struct rs_folding_event *f = rs_folding_at(a, row);
    switch (how) {
    case RS_OVER_STOPPED: stopped(a, f, now); return RS_OK;
    case RS_OVER_END: keep_open(a, f); return RS_OK;
    case RS_OVER_POLLED: p->polled_since = f->state < 0 ? f->at : RS_TIME_NONE; return RS_OK;
    case RS_OVER_UNSTOPPED: return RS_OK;
    }
    return RS_OK;
}

static enum rs_status lost(struct rs_assembly *a, const struct rs_callback *cb, struct rs_err *err)
{
    (void)err;
    struct rs_folding *p = a->to;
    RS_ROOM(p->gaps, p->ngaps, p->cap_gaps);
    struct rs_gap gap = {.from = rs_clock_ns(&p->source->clock, cb->lost_first),
                         .to = rs_clock_ns(&p->source->clock, cb->lost_last),
                         .colls = (uint32_t)cb->args[1], /* by type bit: RS_COLL, RS_P2P */
                         .p2ps = (uint32_t)cb->args[2]};
    for (int i = 0; i < RS_LOST_COUNTS; i++) {
        p->lost_in_gaps += cb->args[i];
        if (i != 1 && i != 2) gap.others += (uint32_t)cb->args[i];
    }
    p->lost_colls += cb->args[1];
    p->gaps[p->ngaps++] = gap;
    return RS_OK;
}

const struct rs_visitor rs_folding_visitor = {.row = sizeof(struct rs_folding_event),
                                              .types = OPERATIONS | RS_KERNEL_CH | RS_PROXY_OP | RS_PROXY_STEP,
                                              .place = place,
                                              .started = started,
                                              .changed = changed,
                                              .over = over,
                                              .lost = lost};

/* ---- the process ---- */

static int by_time(const void *a, const void *b)
{
    const struct rs_gap *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void keep_gaps(struct rs_folding *p)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t unplaced = proc->lost > p->lost_in_gaps ? proc->lost - p->lost_in_gaps : 0;
    if (!p->ngaps && !unplaced && !proc->damaged) return;
    proc->gaps = rs_alloc((p->ngaps + 1) * sizeof *proc->gaps);
    if (p->ngaps) memcpy(proc->gaps, p->gaps, p->ngaps * sizeof *proc->gaps);
    proc->ngaps = p->ngaps;
    if (unplaced || proc->damaged) { /* anywhere */
        uint64_t n = unplaced + proc->damaged;
        uint32_t some = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
        proc->gaps[proc->ngaps++] = (struct rs_gap){proc->begin, proc->end, some, some, some};
    }
    qsort(proc->gaps, proc->ngaps, sizeof *proc->gaps, by_time);
}

static void keep_callers(struct rs_folding *p)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t caller, nothing;
    proc->callers = rs_alloc((rs_map_count(&p->callers) + 1) * sizeof *proc->callers);
    for (size_t pos = 0; rs_map_next(&p->callers, &pos, &caller, &nothing);)
        proc->callers[proc->ncallers++] = (struct rs_caller){(uint32_t)caller, (uint32_t)(caller >> 32)};
}

/* What the assembly counted. */
static void keep_counts(struct rs_folding *p, const struct rs_assembly *a)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    proc->callbacks = a->callbacks;
    p->model->callbacks += a->callbacks;
    proc->first = a->first;
    proc->last = a->last;
    /* Facts are never overwritten: what is left of events begins later. */
    if (proc->overwritten) proc->overwritten_until = a->first_event;
}

static enum rs_status read_all(struct rs_folding *p, struct rs_err *err)
{
    struct rs_assembly a;
    rs_assembly_init(&a, p->model, p->source, p->proc, &rs_folding_visitor, p);
    enum rs_status status = RS_OK;
    p->comms = rs_zalloc(a.nmembers, sizeof *p->comms);
    for (uint32_t i = 0; i < a.nmembers; i++) p->comms[i].launched = RS_TIME_NONE;
    status = rs_assembly_read(&a, err);
    keep_counts(p, &a);
    for (uint32_t i = 0; p->comms && i < a.nmembers; i++) rs_timers_free(&p->comms[i].timers);
    free(p->comms);
    p->comms = NULL;
    rs_assembly_free(&a);
    return status;
}

enum rs_status rs_folding_read(struct rs_folding *p, struct rs_source *source, uint32_t proc, struct rs_err *err)
{
    p->source = source;
    p->proc = proc;
    p->folds.first = p->model->parts.n;
    rs_shapes_init(&p->shapes, p->model, &source->process);
    enum rs_status status = RS_OK;
    status = read_all(p, err);
    if (status == RS_OK) status = rs_calls_sweep(&p->calls, true, unreported_call, p, err);
    if (status == RS_OK) keep_gaps(p);
    if (status == RS_OK) keep_callers(p);
    if (status == RS_OK) {
        rs_folds_drop_stale(&p->folds, p->model, proc);
        rs_folds_finish(&p->folds, p->model, !p->model->procs[proc].complete);
    }
    if (status == RS_OK) rs_network_finish(&p->network, p->model);
    forget(p);
    return status;
}
