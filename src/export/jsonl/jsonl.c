/* jsonl: the full log, one JSON object a callback, in time order per process.
 *
 * Every argument is in `args`, under its NCCL name. Times are wall ns of the process's host (trace/clock.h); they are
 * not aligned between hosts here. With filters it holds what a cut (rsc) with the same filters does. */
#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "export/callback_args.h"
#include "export/exporter.h"
#include "export/kept_callbacks.h"
#include "nccl/abi.h"
#include "nccl/names.h"
#include "trace/callbacks.h"

/* ---- which event a handle means ----
 * Which event a handle refers to: type, communicator and rank of stops and states, which have only a handle.
 *
 * Fed with the callbacks of one process in time order. Keeps events that are open and about a million that are not, so
 * memory stays bounded and late or repeated stops are still named. */

struct identity {
    struct rs_map now, before; /* handle -> what; two ages, so that old ones can be forgotten together */
};

/* What is known of an event. */
struct event_name {
    bool known;
    uint64_t type; /* one bit, or 0 when NCCL's type was not one that we know */
    uint64_t context; /* rs_handle() of this process; 0: a stranger's, or none */
};

enum { AGE = 1 << 19, OPEN = 1 << 0, KNOWN_TYPE = 1 << 1, OWN_CONTEXT = 1 << 2, TYPE_SHIFT = 8, CONTEXT_SHIFT = 16 };

/* Drops the older half, except open events, as far as these leave room: some events are never stopped. */
static void age(struct identity *id)
{
    struct rs_map old = id->before;
    id->before = id->now;
    id->now = (struct rs_map){0};
    uint64_t handle, what;
    for (size_t pos = 0; rs_map_count(&id->now) < AGE / 2 && rs_map_next(&old, &pos, &handle, &what);)
        if (what & OPEN) rs_map_put(&id->now, handle, what);
    rs_map_free(&old);
}

static void identity_start(struct identity *id, const struct rs_callback *start)
{
    uint64_t what = OPEN;
    if (start->type && !(start->type & (start->type - 1)))
        what |= KNOWN_TYPE | (uint64_t)__builtin_ctzll(start->type) << TYPE_SHIFT;
    bool own = rs_handle_nonce(start->context) == rs_handle_nonce(start->handle) &&
               rs_handle_slot(start->context) == RS_SLOT_CONTEXT;
    if (own) what |= OWN_CONTEXT | rs_handle_counter(start->context) << CONTEXT_SHIFT;
    if (rs_map_count(&id->now) >= AGE) age(id);
    rs_map_put(&id->now, start->handle, what);
}

static struct event_name identity_of(const struct identity *id, uint64_t handle)
{
    const uint64_t *what = rs_map_find(&id->now, handle);
    if (!what) what = rs_map_find(&id->before, handle);
    if (!what) return (struct event_name){0};
    struct event_name name = {.known = true};
    if (*what & KNOWN_TYPE) name.type = UINT64_C(1) << (*what >> TYPE_SHIFT & 63);
    if (*what & OWN_CONTEXT) name.context = rs_handle(rs_handle_nonce(handle), RS_SLOT_CONTEXT, *what >> CONTEXT_SHIFT);
    return name;
}

static void identity_stop(struct identity *id, uint64_t handle)
{
    uint64_t *what = rs_map_find(&id->now, handle);
    if (!what) what = rs_map_find(&id->before, handle);
    if (what) *what &= ~(uint64_t)OPEN;
}

static void identity_free(struct identity *id)
{
    rs_map_free(&id->now);
    rs_map_free(&id->before);
}

/* ---- the exporter ---- */

struct writer {
    struct rs_json *j;
    struct rs_source *source;
    struct rs_clock clock; /* as the process had it: a join may have moved the source's */
    struct identity identity;
};

static void key_hex_or_null(struct rs_json *j, const char *key, uint64_t value)
{
    if (value)
        rs_json_key_hex(j, key, value);
    else
        rs_json_key_null(j, key);
}

/* The communicator by its hash and the rank in it; null where NCCL does not report them. */
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
    rs_json_key_i64(j, "returned_ns", rs_clock_ns(&w->clock, c->fact.return_tick));
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
    rs_callback_args_json(j, &w->source->process, cb);
    rs_json_end(j);
}

/* The arguments of a state: by its kind where that has fields, else the one number that its state carries. */
static void state_args(struct writer *w, const struct rs_callback *cb)
{
    struct rs_json *j = w->j;
    rs_json_key(j, "args");
    rs_json_object(j);
    if (rs_callback_fields(cb)) {
        rs_callback_args_json(j, &w->source->process, cb);
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
    struct event_name name = identity_of(&w->identity, cb->handle);
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
    rs_json_key_i64(j, "first_ns", rs_clock_ns(&w->clock, cb->lost_first));
    rs_json_key_i64(j, "last_ns", rs_clock_ns(&w->clock, cb->lost_last));
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

static void one(struct writer *w, const struct rs_callback *cb)
{
    static const char *const calls[] = {"init", "start", "stop", "state", "finalize", "lost"};
    const struct rs_file_header *h = &w->source->recording->header;
    struct rs_json *j = w->j;
    rs_json_object(j);
    rs_json_key_str(j, "call", calls[cb->call]);
    rs_json_key_i64(j, "time_ns", rs_clock_ns(&w->clock, cb->tick));
    rs_json_key_str(j, "host", h->host);
    rs_json_key_u64(j, "pid", h->pid);
    rs_json_key_u64(j, "tid", cb->tid);
    if (cb->thread_name[0]) rs_json_key_str(j, "thread", cb->thread_name);
    switch (cb->call) {
    case RS_CALL_INIT: init(w, cb); break;
    case RS_CALL_START:
        identity_start(&w->identity, cb);
        start(w, cb);
        break;
    case RS_CALL_STOP:
        stop_or_state(w, cb);
        identity_stop(&w->identity, cb->handle);
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
}

/* Calls about an event are kept with it, all others always. */
static bool is_kept(struct rs_keep *keep, const struct rs_callback *cb)
{
    bool of_event = cb->call == RS_CALL_START || cb->call == RS_CALL_STOP || cb->call == RS_CALL_STATE;
    return !keep || !of_event || rs_keep_has(keep, cb->handle);
}

/* The callbacks of one process; `keep` NULL: all. */
static void put_process(struct rs_json *j, struct rs_source *source, struct rs_keep *keep)
{
    struct writer w = {.j = j, .source = source};
    struct rs_cursor *cursor;
    struct rs_callback cb;
    rs_clock_prepare(&w.clock, source->recording, &source->process);
    rs_cursor_open(&cursor, source->recording, &source->process);
    while (!rs_json_failed(j) && rs_cursor_next(cursor, &cb))
        if (is_kept(keep, &cb)) one(&w, &cb);
    rs_cursor_close(cursor);
    identity_free(&w.identity);
}

static enum rs_status put_kept(struct rs_json *j, struct rs_timeline *t, uint32_t proc, const uint8_t *ops,
                               struct rs_err *err)
{
    struct rs_keep keep;
    enum rs_status status = rs_keep_find(&keep, t, proc, ops, err);
    if (status == RS_OK) put_process(j, &t->inputs->sources[proc], &keep);
    rs_keep_free(&keep);
    return status;
}

/* `t` NULL: everything. */
static enum rs_status put_all(struct rs_export *x, struct rs_inputs *in, struct rs_timeline *t, struct rs_err *err)
{
    uint8_t *ops = NULL;
    struct rs_json *j = rs_alloc(sizeof *j); /* large: not for the stack */
    rs_json_to_file(j, x->file, x->name);
    enum rs_status status = RS_OK;
    if (t)
        rs_keep_ops(&ops, t);
    else
        status = RS_OK;
    for (uint32_t i = 0; i < in->n && status == RS_OK && !rs_json_failed(j); i++) {
        if (t)
            status = put_kept(j, t, i, ops, err);
        else
            put_process(j, &in->sources[i], NULL);
        if (x->progress) x->progress(i + 1, in->n);
    }
    if (status == RS_OK) status = rs_json_finish(j, err);
    free(ops);
    free(j);
    return status;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    return put_all(x, x->timeline->inputs, x->timeline, err);
}

static enum rs_status unjoined(struct rs_export *x, struct rs_inputs *in, struct rs_err *err)
{
    return put_all(x, in, NULL, err);
}

const struct rs_exporter rs_exporter_jsonl = {
    .name = "jsonl",
    .what = "every callback with every argument, one JSON object per line; times on raw clocks",
    .suffixes = ".jsonl",
    .output = RS_EXPORT_STREAM,
    .recordings = true,
    .unjoined = unjoined,
    .begin = begin,
};
