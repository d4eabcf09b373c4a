#include "timeline/event_facts.h"

#include <string.h>

#include "nccl/abi.h"
#include "timeline/span.h"

static uint32_t offset(int64_t at, int64_t start)
{
    int64_t ns = rs_time_minus(at, start);
    return ns < 1 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX; /* 0 would mean: it has none */
}

void rs_event_marks(struct rs_bars *b, uint32_t bar, const struct rs_event *e)
{
    for (unsigned i = 0; i < e->nstates; i++) {
        uint32_t at = offset(e->states[i].at, e->start);
        switch (e->states[i].state) {
        case RS_ST_GROUP_START_API_STOP:
        case RS_ST_STEP_SEND_GPU_WAIT:
        case RS_ST_STEP_RECV_WAIT:
        case RS_ST_OP_IN_PROGRESS:
        case RS_ST_NET_PLUGIN_UPDATE: b->m1[bar] = at; break;
        case RS_ST_GROUP_END_API_START:
        case RS_ST_STEP_SEND_PEER_WAIT:
        case RS_ST_STEP_RECV_FLUSH_WAIT: b->m2[bar] = at; break;
        case RS_ST_STEP_SEND_WAIT:
        case RS_ST_STEP_RECV_GPU_WAIT: b->m3[bar] = at; break;
        case RS_ST_CTRL_WAKEUP:
        case RS_ST_CTRL_APPEND_END:
            if (i) b->m1[bar] = at;
            break;
        default: break;
        }
    }
}

static int64_t known(int64_t value)
{
    return value < 0 ? RS_BAR_NO_ARG : value;
}

static int64_t moment(const struct rs_timeline *t, int64_t at)
{
    int64_t start, dur;
    return rs_span_place(t, at, at, &start, &dur) ? start : RS_BAR_NO_ARG;
}

static int64_t text_or_none(uint32_t text)
{
    return text ? text : RS_BAR_NO_ARG;
}

static enum rs_status call_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e,
                                     uint32_t bar, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    uint32_t dtype;
    if (e->member != RS_NONE) b->a1[bar] = text_or_none(t->index->member_text[e->member]);
    b->a2[bar] = rs_argument(args, e, RS_ARG_COUNT);
    RS_TRY(rs_argument_text(args, t, e, RS_ARG_DATATYPE, &dtype, err));
    b->a3[bar] = text_or_none(dtype);
    if (e->type == RS_COLL_API) b->a4[bar] = known(rs_argument(args, e, RS_ARG_ROOT));
    b->a5[bar] = rs_argument(args, e, RS_ARG_STREAM);
    b->a6[bar] = rs_argument(args, e, RS_ARG_CAPTURED);
    RS_TRY(rs_argument_text(args, t, e, RS_ARG_FUNC, &b->name[bar], err));
    if (!b->name[bar] && e->name) RS_TRY(rs_texts_id(&t->texts, e->name, strlen(e->name), &b->name[bar], err));
    return RS_OK;
}

static enum rs_status ce_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e,
                                   uint32_t bar, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    uint32_t text;
    RS_TRY(rs_argument_text(args, t, e, RS_ARG_FUNC, &text, err));
    b->a1[bar] = text_or_none(text);
    b->name[bar] = text;
    b->a2[bar] = rs_argument(args, e, RS_ARG_COUNT);
    RS_TRY(rs_argument_text(args, t, e, RS_ARG_DATATYPE, &text, err));
    b->a3[bar] = text_or_none(text);
    b->a4[bar] = known(rs_argument(args, e, RS_ARG_ROOT));
    RS_TRY(rs_argument_text(args, t, e, RS_ARG_SYNC, &text, err));
    b->a5[bar] = text_or_none(text);
    b->a6[bar] = rs_argument(args, e, RS_ARG_BATCHES);
    return RS_OK;
}

static void network_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e, uint32_t bar,
                              uint8_t kind)
{
    struct rs_bars *b = c->bars;
    b->a2[bar] = known(e->bytes);
    switch (kind) {
    case RS_BAR_NET_IB:
        b->a1[bar] = rs_argument(args, e, RS_ARG_QP);
        b->a3[bar] = rs_argument(args, e, RS_ARG_DEVICE);
        b->a4[bar] = rs_argument(args, e, RS_ARG_WORK_REQUEST);
        b->a5[bar] = rs_argument(args, e, RS_ARG_OPCODE);
        b->a6[bar] = known(e->peer);
        break;
    case RS_BAR_NET_SOCKET:
        b->a1[bar] = rs_argument(args, e, RS_ARG_FD);
        b->a3[bar] = rs_argument(args, e, RS_ARG_OP);
        b->a4[bar] = known(e->peer);
        break;
    default:
        b->a1[bar] = rs_argument(args, e, RS_ARG_ID);
        b->a3[bar] = known(e->peer);
        break;
    }
}

enum rs_status rs_event_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e,
                                  uint32_t bar, uint8_t kind, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    switch (e->type) {
    case RS_PROXY_STEP:
        b->a1[bar] = known(e->peer);
        b->a2[bar] = known(e->bytes);
        b->a3[bar] = known(e->channel);
        b->a4[bar] = known(e->step);
        b->a5[bar] = known(e->steps);
        return RS_OK;
    case RS_PROXY_OP:
        b->a1[bar] = known(e->peer);
        b->a2[bar] = known(e->bytes);
        b->a3[bar] = known(e->channel);
        b->a4[bar] = known(e->steps);
        b->a5[bar] = known(rs_argument(args, e, RS_ARG_CHUNK));
        b->a6[bar] = known(rs_argument(args, e, RS_ARG_PID));
        return RS_OK;
    case RS_KERNEL_CH:
    case RS_KERNEL_PHASE:
        b->a1[bar] = known(e->channel);
        b->a2[bar] = moment(t, e->start);
        b->a3[bar] = moment(t, e->end);
        return e->type == RS_KERNEL_CH ? RS_OK : rs_argument_text(args, t, e, RS_ARG_PHASE, &b->name[bar], err);
    case RS_COLL_API:
    case RS_P2P_API: return call_arguments(c, args, e, bar, err);
    case RS_GROUP_API:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_DEPTH));
        b->a2[bar] = rs_argument(args, e, RS_ARG_CAPTURED);
        return RS_OK;
    case RS_KERNEL_LAUNCH:
        b->a4[bar] = rs_argument(args, e, RS_ARG_STREAM);
        if (e->member == RS_NONE) return RS_OK;
        b->a2[bar] = known(t->model->members[e->member].rank);
        b->a1[bar] = text_or_none(t->index->member_text[e->member]);
        return RS_OK;
    case RS_GROUP:
        if (e->member != RS_NONE) b->a1[bar] = text_or_none(t->index->member_text[e->member]);
        return RS_OK;
    case RS_NET_PLUGIN: network_arguments(c, args, e, bar, kind); return RS_OK;
    case RS_CE_COLL: return ce_arguments(c, args, e, bar, err);
    case RS_CE_SYNC:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_RANKS));
        b->a2[bar] = rs_argument(args, e, RS_ARG_COMPLETE);
        return RS_OK;
    case RS_CE_BATCH:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_COPIES));
        b->a2[bar] = known(rs_argument(args, e, RS_ARG_TOTAL));
        return RS_OK;
    default: return RS_OK;
    }
}
