#include "import/operations.h"

#include <string.h>

#include "import/members.h"
#include "nccl/abi.h"

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

void rs_operation_start(struct rs_assembly *a, struct rs_start *start)
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

enum rs_status rs_operation_call(struct rs_assembly *a, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    struct rs_folding *p = a->to;
    uint32_t member = a->members[rs_assembly_comm(a, cb->context)];
    if (member == RS_NONE) return RS_OK;
    struct rs_shape s;
    rs_folding_caller(p, member, cb->tid);
    rs_shape_of(&p->shapes, cb, &s);
    rs_calls_start(&p->calls, cb, now, member, &s);
    return rs_calls_crowded(&p->calls) ? rs_calls_sweep(&p->calls, false, rs_operation_unreported, p, err) : RS_OK;
}

void rs_operation_launch(struct rs_assembly *a, const struct rs_callback *cb, int64_t now)
{
    uint32_t *member;
    struct rs_folding_comm *c = comm_of(a, cb->context, &member);
    if (!c) return;
    c->launched = now;
    c->launch_tid = cb->tid;
    rs_folding_caller(a->to, *member, cb->tid);
}

void rs_operation_plan(struct rs_assembly *a, const struct rs_callback *cb)
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

enum rs_status rs_operation_unreported(void *folding, const struct rs_api_call *call, struct rs_err *err)
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
