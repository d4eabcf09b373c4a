#include "import/proxies.h"

#include "assemble/owner.h"
#include "nccl/abi.h"

#define LONGEST_STEP_NS INT64_C(2592000000000000) /* 30 days */

enum rs_status rs_proxy_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s,
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

void rs_proxy_goes(struct rs_folding *p, struct rs_folding_event *f, int64_t now)
{
    if (f->counted) return;
    f->counted = true;
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].start = now;
    else if (f->flight.part != RS_NONE)
        rs_fold_proxy_start(rs_fold_of(&p->folds, f->flight.part), now);
}

void rs_proxy_stop(struct rs_folding *p, const struct rs_folding_event *f, int64_t now)
{
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].end = now;
    else if (f->flight.part != RS_NONE)
        rs_fold_proxy_end(rs_fold_of(&p->folds, f->flight.part), now);
}

void rs_step_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s)
{
    struct rs_folding *p = a->to;
    struct rs_folding_event *o = f->flight.owner != RS_NONE ? rs_folding_at(a, f->flight.owner) : NULL;
    if (!o || o->ignored) {
        f->ignored = true;
        p->orphans++;
        return;
    }
    rs_proxy_goes(p, o, s->now);
    if (s->again && p->polled_since != RS_TIME_NONE) f->at = p->polled_since; /* polled again, it has not moved */
}

/* The row of a step's flow; NULL: its owner is unknown. */
static void flow_of(struct rs_assembly *a, const struct rs_folding_event *f, int64_t now, struct rs_net **row)
{
    struct rs_folding *p = a->to;
    struct rs_folding_event *o = rs_folding_at(a, f->flight.owner);
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

void rs_step_state(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_callback *cb, int64_t now)
{
    if (cb->state == f->state) return; /* SendPeerWait is sent at every retry: the first counts */
    /* The size is valid only with these two. */
    bool sent = cb->state == RS_ST_STEP_SEND_WAIT && cb->kind >= RS_K_STATE_ARG;
    bool received = cb->state == RS_ST_STEP_RECV_FLUSH_WAIT && cb->kind >= RS_K_STATE_ARG;
    struct rs_net *row = NULL;
    if (f->state >= 0 || sent || received) flow_of(a, f, now, &row);
    if (row && f->state >= 0) leave(f, now, row);
    if (row && sent) {
        row->sent++;
        row->sent_bytes += cb->args[0];
    } else if (row && received) {
        row->received++;
        row->received_bytes += cb->args[0];
    }
    f->state = (int16_t)cb->state;
    f->at = now;
}

void rs_step_stop(struct rs_assembly *a, const struct rs_folding_event *f, int64_t now)
{
    struct rs_net *row = NULL;
    if (f->state >= 0) flow_of(a, f, now, &row);
    if (row) leave(f, now, row);
    struct rs_folding_event *o = rs_folding_at(a, f->flight.owner);
    o->done++;
    o->at = now;
}
