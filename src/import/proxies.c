#include "import/proxies.h"

#include "nccl/abi.h"

#define LONGEST_STEP_NS INT64_C(2592000000000000) /* 30 days */

enum rs_status rs_proxy_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    struct rs_model *m = p->model;
    uint32_t row;
    RS_TRY(rs_inflight_start(&p->flights, cb->handle, RS_PROXY_OP, &row, err));
    struct rs_flight *f = &p->flights.rows[row];
    f->at = now;
    f->channel = (uint8_t)cb->small;
    f->is_send = (cb->small >> 8 & 0xffff) != 0;
    f->peer = (int32_t)(cb->args[0] >> 32);
    f->announced = (int32_t)(uint32_t)cb->args[1];
    /* Nonces of two processes of a host may be equal; pids then are not. */
    const struct rs_proc *own = &m->procs[p->proc];
    if (cb->parent && (rs_handle_nonce(cb->parent) != own->nonce || (uint32_t)cb->args[0] != own->pid)) {
        struct rs_pxn_op op = {.parent = cb->parent, .helper = p->proc, .start = RS_TIME_NONE, .end = RS_TIME_NONE};
        uint64_t context = rs_handle_slot(cb->context) == RS_SLOT_CONTEXT ? cb->context : cb->parent;
        RS_TRY(rs_pxn_context(p->pxn, context, own->host, (int32_t)(uint32_t)cb->args[0], &op.context, err));
        f->member = RS_FOREIGN_MEMBER | op.context;
        RS_TRY(rs_pxn_op(p->pxn, &op, &f->pxn, err));
        f->pxn++;
        return RS_OK;
    }
    f->part = rs_pairing_part(p, cb->parent);
    if (f->part != RS_NONE) {
        struct rs_fold *fold = rs_fold_of(&p->folds, f->part);
        if (fold->proxies < UINT16_MAX) fold->proxies++;
        f->member = m->parts.member[f->part];
    } else {
        struct rs_pairing_comm *c = rs_pairing_comm(p, cb->context);
        if (c) f->member = c->member;
        p->orphans++;
    }
    return RS_OK;
}

void rs_proxy_goes(struct rs_pairing *p, struct rs_flight *f, int64_t now)
{
    if (f->counted) return;
    f->counted = true;
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].start = now;
    else if (f->part != RS_NONE)
        rs_fold_proxy_start(rs_fold_of(&p->folds, f->part), now);
}

void rs_proxy_stop(struct rs_pairing *p, struct rs_flight *f, int64_t now)
{
    if (f->pxn)
        p->pxn->ops[f->pxn - 1].end = now;
    else if (f->part != RS_NONE)
        rs_fold_proxy_end(rs_fold_of(&p->folds, f->part), now);
}

enum rs_status rs_step_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    uint32_t owner = rs_inflight_find(&p->flights, cb->parent), row;
    if (owner == RS_NONE || p->flights.rows[owner].type != RS_PROXY_OP) {
        p->orphans++;
        return RS_OK;
    }
    rs_proxy_goes(p, &p->flights.rows[owner], now);
    RS_TRY(rs_inflight_step(&p->flights, cb->handle, owner, (int32_t)cb->small, &row, err));
    /* Polled for anew, a step has not moved. */
    if (!p->flights.rows[row].at) p->flights.rows[row].at = now;
    return RS_OK;
}

/* The row of a step's flow; NULL: it is not known whose it is. */
static enum rs_status flow_of(struct rs_pairing *p, const struct rs_flight *f, int64_t now, struct rs_net **row,
                              struct rs_err *err)
{
    struct rs_flight *o = &p->flights.rows[f->owner];
    *row = NULL;
    return o->member == RS_NONE ? RS_OK : rs_network_row(&p->network, &o->cell, o->member, o->peer, now, row, err);
}

/* The time since a step's latest change goes to the state that it was in. */
static void leave(const struct rs_flight *f, int64_t now, struct rs_net *row)
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

enum rs_status rs_step_state(struct rs_pairing *p, struct rs_flight *f, const struct rs_callback *cb, int64_t now,
                             struct rs_err *err)
{
    if (cb->state == f->state) return RS_OK; /* SendPeerWait comes with every retry: the first counts */
    /* The size is meant only with these two (reference 2.8). */
    bool sent = cb->state == RS_ST_STEP_SEND_WAIT && cb->kind >= RS_K_STATE_ARG;
    bool received = cb->state == RS_ST_STEP_RECV_FLUSH_WAIT && cb->kind >= RS_K_STATE_ARG;
    struct rs_net *row = NULL;
    if (f->state >= 0 || sent || received) RS_TRY(flow_of(p, f, now, &row, err));
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
    return RS_OK;
}

enum rs_status rs_step_stop(struct rs_pairing *p, struct rs_flight *f, int64_t now, struct rs_err *err)
{
    struct rs_net *row = NULL;
    if (f->state >= 0) RS_TRY(flow_of(p, f, now, &row, err));
    if (row) leave(f, now, row);
    struct rs_flight *o = &p->flights.rows[f->owner];
    o->done++;
    o->at = now;
    return RS_OK;
}
