#include "export/jsonl.h"

#include "export/args.h"
#include "nccl/abi.h"
#include "nccl/names.h"
#include "trace/callbacks.h"
#include "trace/identity.h"

struct writer {
    struct rs_json *j;
    struct rs_source *source;
    struct rs_identity identity;
};

static void key_hex_or_null(struct rs_json *j, const char *key, uint64_t value)
{
    if (value)
        rs_json_key_hex(j, key, value);
    else
        rs_json_key_null(j, key);
}

/* The communicator by its hash and our rank in it; null where NCCL does not tell. */
static void communicator(struct writer *w, uint64_t context)
{
    const struct rs_comm *c = context ? rs_process_comm(&w->source->process, context) : NULL;
    key_hex_or_null(w->j, "comm", c ? c->fact.comm_id : 0);
    if (c && c->fact.rank >= 0)
        rs_json_key_i64(w->j, "rank", c->fact.rank);
    else
        rs_json_key_null(w->j, "rank");
}

static void type_of(struct writer *w, uint64_t type)
{
    const char *name = rs_nccl_type_name(type);
    if (name)
        rs_json_key_str(w->j, "type", name);
    else if (type)
        rs_json_key_hex(w->j, "type", type);
    else
        rs_json_key_null(w->j, "type");
}

static void init(struct writer *w, const struct rs_callback *cb)
{
    struct rs_json *j = w->j;
    const struct rs_comm *c = cb->comm;
    communicator(w, cb->context);
    key_hex_or_null(j, "context", cb->context);
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key_str(j, "commName", c->name);
    rs_json_key_number_or_null(j, "nNodes", c->fact.nnodes);
    rs_json_key_number_or_null(j, "nranks", c->fact.nranks);
    rs_json_key_number_or_null(j, "rank", c->fact.rank);
    rs_json_end(j);
    rs_json_key_u64(j, "api", c->fact.api);
    rs_json_key_i64(j, "returned_ns", rs_clock_ns(&w->source->clock, c->fact.return_tick));
    if (c->fact.device >= 0)
        rs_json_key_i64(j, "device", c->fact.device);
    else
        rs_json_key_null(j, "device");
    rs_json_key_str(j, "bus_id", c->fact.bus_id[0] ? c->fact.bus_id : NULL);
}

static void start(struct writer *w, const struct rs_callback *cb)
{
    struct rs_json *j = w->j;
    communicator(w, cb->context);
    key_hex_or_null(j, "context", cb->context);
    rs_json_key_hex(j, "event", cb->handle);
    key_hex_or_null(j, "parent", cb->parent);
    type_of(w, cb->type);
    if (cb->recovered) rs_json_key_bool(j, "recovered", true);
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key_i64(j, "rank", cb->rank);
    rs_args_json(j, &w->source->process, cb);
    rs_json_end(j);
}

/* The arguments of a state: by its kind where that has fields, else the one number that its state carries. */
static void state_args(struct writer *w, const struct rs_callback *cb)
{
    struct rs_json *j = w->j;
    rs_json_key(j, "args");
    rs_json_object(j);
    if (rs_callback_fields(cb)) {
        rs_args_json(j, &w->source->process, cb);
    } else if (cb->kind == RS_K_STATE_V1) {
        rs_json_key_u64(j, "transSize", cb->args[1]);
        rs_json_key_i64(j, "steps", (int32_t)(cb->args[0] >> 32));
    } else if (cb->kind == RS_K_STATE_RAW) {
        if (cb->has_arg) rs_json_key_u64(j, "raw0", cb->args[1]);
    } else if (cb->has_arg) {
        switch (cb->state) {
        case RS_ST_CTRL_IDLE ... RS_ST_CTRL_APPEND_END:
            rs_json_key_i64(j, "appendedProxyOps", (int32_t)cb->args[0]);
            break;
        case RS_ST_KERNEL_CH_STOP:
        case RS_ST_KERNEL_PHASE_STOP: rs_json_key_u64(j, "pTimer", cb->args[0]); break;
        case RS_ST_NET_PLUGIN_UPDATE: key_hex_or_null(j, "data", cb->args[0]); break;
        default: rs_json_key_u64(j, "transSize", cb->args[0]);
        }
    }
    rs_json_end(j);
}

static void stop_or_state(struct writer *w, const struct rs_callback *cb)
{
    struct rs_event_name name = rs_identity_of(&w->identity, cb->handle);
    communicator(w, name.context);
    key_hex_or_null(w->j, "event", cb->handle);
    type_of(w, name.type);
    if (cb->call == RS_CALL_STOP) return;
    const char *state = rs_nccl_state_name(cb->state);
    if (state)
        rs_json_key_str(w->j, "state", state);
    else
        rs_json_key_i64(w->j, "state", cb->state);
    state_args(w, cb);
}

static void lost(struct writer *w, const struct rs_callback *cb)
{
    struct rs_json *j = w->j;
    rs_json_key_i64(j, "first_ns", rs_clock_ns(&w->source->clock, cb->lost_first));
    rs_json_key_i64(j, "last_ns", rs_clock_ns(&w->source->clock, cb->lost_last));
    rs_json_key(j, "lost");
    rs_json_object(j);
    for (unsigned i = 0; i < RS_LOST_COUNTS; i++) {
        if (!cb->args[i]) continue;
        const char *name = i < RS_NCCL_TYPE_BITS ? rs_nccl_type_name(UINT64_C(1) << i)
                           : i == RS_LOST_STOP   ? "stop"
                           : i == RS_LOST_STATE  ? "state"
                                                 : "unknown";
        rs_json_key_u64(j, name, cb->args[i]);
    }
    rs_json_end(j);
}

static enum rs_status one(struct writer *w, const struct rs_callback *cb, struct rs_err *err)
{
    static const char *const calls[] = {"init", "start", "stop", "state", "finalize", "lost"};
    const struct rs_file_header *h = &w->source->recording->header;
    struct rs_json *j = w->j;
    rs_json_object(j);
    rs_json_key_str(j, "call", calls[cb->call]);
    rs_json_key_i64(j, "time_ns", rs_clock_ns(&w->source->clock, cb->tick));
    rs_json_key_str(j, "host", h->host);
    rs_json_key_u64(j, "pid", h->pid);
    rs_json_key_u64(j, "tid", cb->tid);
    if (cb->thread_name[0]) rs_json_key_str(j, "thread", cb->thread_name);
    enum rs_status status = RS_OK;
    switch (cb->call) {
    case RS_CALL_INIT: init(w, cb); break;
    case RS_CALL_START:
        status = rs_identity_start(&w->identity, cb, err);
        start(w, cb);
        break;
    case RS_CALL_STOP:
        stop_or_state(w, cb);
        rs_identity_stop(&w->identity, cb->handle);
        break;
    case RS_CALL_STATE: stop_or_state(w, cb); break;
    case RS_CALL_FINALIZE:
        communicator(w, cb->context);
        key_hex_or_null(j, "context", cb->context);
        break;
    case RS_CALL_LOST: lost(w, cb); break;
    }
    rs_json_end(j);
    rs_json_newline(j);
    return status;
}

enum rs_status rs_export_jsonl(struct rs_inputs *in, struct rs_json *j, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < in->n && status == RS_OK && !rs_json_failed(j); i++) {
        struct writer w = {.j = j, .source = &in->sources[i]};
        struct rs_cursor *cursor;
        RS_TRY(rs_cursor_open(&cursor, w.source->recording, &w.source->process, err));
        struct rs_callback cb;
        while (status == RS_OK && !rs_json_failed(j) && rs_cursor_next(cursor, &cb)) status = one(&w, &cb, err);
        rs_cursor_close(cursor);
        rs_identity_free(&w.identity);
    }
    return status;
}
