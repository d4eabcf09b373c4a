#include "events/arguments.h"

#include <string.h>

#include "nccl/abi.h"

void rs_event_fields_find(struct rs_event_fields *fields)
{
    static const char *const names[RS_EVENT_FIELDS] = {
        [RS_EVENT_PEER] = "peer", [RS_EVENT_FUNC] = "func", [RS_EVENT_LENGTH] = "length"};
    rs_kind_find_fields(names, RS_EVENT_FIELDS, &fields->of[0][0]);
}

static void take_operation(struct rs_event *e, const struct rs_model *m)
{
    if (e->part == RS_NONE) return;
    if (m->parts.channels[e->part]) e->channels = m->parts.channels[e->part];
    if (e->type == RS_P2P) e->is_send = m->parts.kind[e->part] == RS_PART_SEND;
}

void rs_event_take_start(struct rs_event *e, const struct rs_event_fields *fields, const struct rs_model *m,
                         const struct rs_callback *cb)
{
    const struct rs_field *const *f = fields->of[cb->kind - RS_K_START];
    const char *func;
    switch (e->type) {
    case RS_PROXY_OP:
        e->channel = (int32_t)(cb->small & 0xff);
        e->is_send = (cb->small >> 8 & 0xffff) != 0;
        e->peer = (int32_t)(cb->args[0] >> 32);
        e->steps = (int32_t)(uint32_t)cb->args[1];
        break;
    case RS_KERNEL_CH:
    case RS_KERNEL_PHASE: e->channel = (int32_t)(cb->small & 0xff); break;
    case RS_PROXY_STEP: e->step = (int32_t)cb->small; break;
    case RS_NET_PLUGIN:
        if (f[RS_EVENT_LENGTH]) e->bytes = (int64_t)(rs_callback_field(cb, f[RS_EVENT_LENGTH]) & INT64_MAX);
        break;
    case RS_P2P:
        if (f[RS_EVENT_PEER]) e->peer = (int32_t)rs_callback_field(cb, f[RS_EVENT_PEER]);
        take_operation(e, m);
        break;
    case RS_COLL: take_operation(e, m); break;
    case RS_P2P_API:
        func = f[RS_EVENT_FUNC] ? rs_process_string(e->process, rs_callback_field(cb, f[RS_EVENT_FUNC])) : NULL;
        if (func && (!strcmp(func, "Send") || !strcmp(func, "Recv"))) e->is_send = *func == 'S';
        break;
    default: break;
    }
}

void rs_event_take_state(struct rs_event *e, const struct rs_callback *cb)
{
    if (e->bytes >= 0) return;
    /* The size is meant only with these two (reference 2.8). */
    bool sized = cb->state == RS_ST_STEP_SEND_WAIT || cb->state == RS_ST_STEP_RECV_FLUSH_WAIT;
    uint64_t bytes;
    if (e->type == RS_PROXY_STEP && sized && cb->kind >= RS_K_STATE_ARG)
        bytes = cb->args[0];
    else if (e->type == RS_NET_PLUGIN && cb->kind == RS_K_NET_UPDATE_IB)
        bytes = cb->args[3];
    else if (e->type == RS_NET_PLUGIN && cb->kind == RS_K_NET_UPDATE_SOCK)
        bytes = cb->args[1];
    else
        return;
    e->bytes = (int64_t)(bytes & INT64_MAX);
}

void rs_event_take_parent(struct rs_event *e, const struct rs_event *parent)
{
    if (e->type != RS_PROXY_STEP && e->type != RS_NET_PLUGIN) return;
    e->channel = parent->channel;
    e->peer = parent->peer;
    e->is_send = parent->is_send;
    if (e->type == RS_NET_PLUGIN) e->step = parent->step;
}
