#include "foreign/example/events.h"

#include <string.h>

#include "model/model.h"
#include "nccl/names.h"

/* ---- arguments ----
 * The arguments of a line of an example-profiler dump, of any category and version, by their keys.
 *
 * example/events.c reads a line's arguments into one example_args and keeps those that its category has. Plain data;
 * texts are the rs_texts's. */

/* All arguments that any category has, before they are put where its kind keeps them. */
struct example_args {
    uint64_t comm, seq, count, stream, bytes, start_clock, stop_clock, wr_id, event_id, gpu_us;
    int64_t cpu_begin, cpu_end, cpu_ns, at[RS_EX_STATES];
    int32_t done[RS_EX_STATES];
    int32_t group, depth, root, captured, rank, peer, nchannels, channel, steps, chunk, appended, step;
    int32_t device, qp, opcode, sock, op, nranks, nops;
    uint16_t dtype, algo, proto, strategy, type;
    bool has_comm;
};

enum { LONGEST_TEXT = 256 };

static void take_text(const struct rs_scan *s, struct rs_texts *t, uint16_t *id)
{
    char text[LONGEST_TEXT];
    rs_scan_text(s, text, sizeof text);
    rs_texts_small_id(t, text, strlen(text), id);
}

/* 2.23 wrote ncclDataType_t as a number. */
static void take_dtype(const struct rs_scan *s, struct rs_texts *t, uint16_t *id)
{
    uint64_t number;
    const char *name = rs_scan_u64(s, &number) && number < 256 ? rs_nccl_datatype_v1((unsigned)number) : NULL;
    if (name) {
        rs_texts_small_id(t, name, strlen(name), id);
        return;
    }
    take_text(s, t, id);
}

static const struct example_args example_no_args = {.seq = UINT64_MAX,
                                                    .cpu_begin = RS_TIME_NONE,
                                                    .cpu_end = RS_TIME_NONE,
                                                    .cpu_ns = RS_TIME_NONE,
                                                    .at = {RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE},
                                                    .done = {-1, -1, -1, -1},
                                                    .group = -1,
                                                    .depth = -1,
                                                    .root = -1,
                                                    .captured = -1,
                                                    .rank = -1,
                                                    .peer = -1,
                                                    .nchannels = -1,
                                                    .channel = -1,
                                                    .steps = -1,
                                                    .chunk = -1,
                                                    .appended = -1,
                                                    .step = -1,
                                                    .device = -1,
                                                    .qp = -1,
                                                    .opcode = -1,
                                                    .sock = -1,
                                                    .op = -1,
                                                    .nranks = -1,
                                                    .nops = -1};

enum take { U64, I32, NS, TEXT, DTYPE };

static const struct {
    const char *key;
    enum take take;
    size_t at;
} fields[] = {
    {"CommHash", U64, offsetof(struct example_args, comm)},
    {"SeqNum", U64, offsetof(struct example_args, seq)},
    {"Rank", I32, offsetof(struct example_args, rank)},
    {"Peer", I32, offsetof(struct example_args, peer)},
    {"Count", U64, offsetof(struct example_args, count)},
    {"count", U64, offsetof(struct example_args, count)},
    {"Datatype", DTYPE, offsetof(struct example_args, dtype)},
    {"datatype", DTYPE, offsetof(struct example_args, dtype)},
    {"Algorithm", TEXT, offsetof(struct example_args, algo)},
    {"Protocol", TEXT, offsetof(struct example_args, proto)},
    {"nChannels", I32, offsetof(struct example_args, nchannels)},
    {"nMaxChannels", I32, offsetof(struct example_args, nchannels)},
    {"Step", I32, offsetof(struct example_args, step)},
    {"Channel", I32, offsetof(struct example_args, channel)},
    {"StartGpuClk", U64, offsetof(struct example_args, start_clock)},
    {"StopGpuClk", U64, offsetof(struct example_args, stop_clock)},
    {"Steps", I32, offsetof(struct example_args, steps)},
    {"ChunkSize", I32, offsetof(struct example_args, chunk)},
    {"transSize", U64, offsetof(struct example_args, bytes)},
    {"appended", I32, offsetof(struct example_args, appended)},
    {"groupApiId", I32, offsetof(struct example_args, group)},
    {"groupId", I32, offsetof(struct example_args, group)},
    {"groupDepth", I32, offsetof(struct example_args, depth)},
    {"root", I32, offsetof(struct example_args, root)},
    {"GraphCaptured", I32, offsetof(struct example_args, captured)},
    {"Stream", U64, offsetof(struct example_args, stream)},
    {"device", I32, offsetof(struct example_args, device)},
    {"qp_num", I32, offsetof(struct example_args, qp)},
    {"opcode", I32, offsetof(struct example_args, opcode)},
    {"wr_id", U64, offsetof(struct example_args, wr_id)},
    {"size", U64, offsetof(struct example_args, bytes)},
    {"sock", I32, offsetof(struct example_args, sock)},
    {"op", I32, offsetof(struct example_args, op)},
    {"eventId", U64, offsetof(struct example_args, event_id)},
    {"strategy", TEXT, offsetof(struct example_args, strategy)},
    {"type", TEXT, offsetof(struct example_args, type)},
    {"nRanks", I32, offsetof(struct example_args, nranks)},
    {"numOps", I32, offsetof(struct example_args, nops)},
    {"totalBytes", U64, offsetof(struct example_args, bytes)},
    {"start_ts_cpu", NS, offsetof(struct example_args, cpu_begin)},
    {"stop_ts_cpu", NS, offsetof(struct example_args, cpu_end)},
    {"duration_cpu_us", NS, offsetof(struct example_args, cpu_ns)},
    {"duration_gpu_us", U64, offsetof(struct example_args, gpu_us)},
};

/* Microseconds with a point into ns, exact; 0, or no number: RS_TIME_NONE, since 0 means not stamped. */
static int64_t example_time(const struct rs_scan *s)
{
    int64_t ns;
    return rs_scan_fixed(s, 3, &ns) && ns ? ns : RS_TIME_NONE;
}

static int32_t take_i32(const struct rs_scan *s)
{
    int64_t v;
    return rs_scan_i64(s, &v) && v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : -1;
}

static void take_field(const struct rs_scan *s, size_t i, struct rs_texts *texts, struct example_args *a)
{
    void *to = (char *)a + fields[i].at;
    uint64_t v;
    switch (fields[i].take) {
    case U64:
        if (!rs_scan_u64(s, &v)) break;
        memcpy(to, &v, sizeof v);
        a->has_comm |= fields[i].at == offsetof(struct example_args, comm);
        break;
    case I32: *(int32_t *)to = take_i32(s); break;
    case NS: *(int64_t *)to = example_time(s); break;
    case TEXT: take_text(s, texts, to); return;
    case DTYPE: take_dtype(s, texts, to); return;
    }
}

/* Before 2.27 a proxy operation said in its arguments when it reached each state: {"step": 3, "ts": 1.5}. */
static int state_of(const struct rs_scan *s)
{
    static const char *const names[] = {"POSTED", "REM_FIFO_WAIT", "RECEIVED", "TRANSMITTED", "DONE"};
    static const int states[] = {RS_EX_POSTED, RS_EX_WAITED, RS_EX_WAITED, RS_EX_TRANSMITTED, RS_EX_DONE};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_scan_is(s, names[i])) return states[i];
    return -1;
}

/* What the key that came last is: an index of fields[], or -1. */
static int field_of(const struct rs_scan *s)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (rs_scan_is(s, fields[i].key)) return (int)i;
    return -1;
}

/* Reads the object of arguments whose '{' the scanner gave last. *fine: it is whole. *again: it is not, and the scanner
 * is after the '{' of the next line already. Keys that are not known are left out. */
static void example_args_read(struct rs_scan *s, struct rs_texts *texts, struct example_args *args, bool *fine,
                              bool *again)
{
    unsigned depth = s->depth;
    int state = -1;
    for (*fine = false;;) {
        enum rs_token token = rs_scan_next(s);
        if (token == RS_T_END) return;
        if (token == RS_T_CLOSE) {
            if (s->depth >= depth) state = -1; /* of a state */
            if (s->depth < depth) break;
            continue;
        }
        if (token == RS_T_OBJECT) {
            *again = true; /* no key was before it */
            return;
        }
        if (token != RS_T_KEY) continue;
        int field = state < 0 ? field_of(s) : -1, next = state < 0 ? state_of(s) : -1;
        bool step = state >= 0 && rs_scan_is(s, "step"), ts = state >= 0 && rs_scan_is(s, "ts");
        token = rs_scan_next(s);
        if (token == RS_T_END) return;
        if (token == RS_T_OBJECT || token == RS_T_ARRAY) {
            if (next >= 0 && token == RS_T_OBJECT)
                state = next;
            else
                rs_scan_leave(s, s->depth);
        } else if (token == RS_T_CLOSE) {
            if (s->depth < depth) break;
        } else if (step) {
            args->done[state] = take_i32(s);
        } else if (ts) {
            args->at[state] = example_time(s);
        } else if (field >= 0) {
            take_field(s, (size_t)field, texts, args);
        }
    }
    *fine = true;
}

/* ---- the line ---- */

struct line {
    struct rs_scan *s;
    struct rs_texts *texts;
    struct example_args args;
    char ph; /* 0: none */
    unsigned keys;
};

/* The kind that a category is called by; RS_EX_OTHER: none. PROXY is RS_EX_PROXY_OP. */
static enum rs_example_kind kind_of_category(const char *cat)
{
    static const char *const names[RS_EX_KINDS] = {
        [RS_EX_GROUP_API] = "GROUP_API",
        [RS_EX_COLL_API] = "COLL_API",
        [RS_EX_P2P_API] = "P2P_API",
        [RS_EX_LAUNCH] = "KERNEL_LAUNCH",
        [RS_EX_GROUP] = "GROUP",
        [RS_EX_COLL] = "COLL",
        [RS_EX_P2P] = "P2P",
        [RS_EX_PROXY_OP] = "PROXY",
        [RS_EX_NET] = "NET",
        [RS_EX_KERNEL] = "GPU",
        [RS_EX_IB] = "NET_IB",
        [RS_EX_SOCKET] = "NET_SOCK",
        [RS_EX_CE_COLL] = "CE_COLL",
        [RS_EX_CE_SYNC] = "CE_SYNC",
        [RS_EX_CE_BATCH] = "CE_BATCH",
    };
    for (int i = 0; i < RS_EX_KINDS; i++)
        if (names[i] && !strcmp(names[i], cat)) return (enum rs_example_kind)i;
    return RS_EX_OTHER;
}

static enum rs_example_wait wait_of(const char *name)
{
    static const char *const names[] = {[RS_EX_SEND_BUFFER_WAIT] = "SendBufferWait",
                                        [RS_EX_RECV_BUFFER_WAIT] = "RecvBufferWait",
                                        [RS_EX_SEND_GPU_WAIT] = "SendGpuWait",
                                        [RS_EX_SEND_PEER_WAIT] = "SendPeerWait",
                                        [RS_EX_SEND_WAIT] = "SendWait",
                                        [RS_EX_RECV_WAIT] = "RecvWait",
                                        [RS_EX_RECV_FLUSH_WAIT] = "RecvFlushWait",
                                        [RS_EX_RECV_GPU_WAIT] = "RecvGpuWait"};
    for (int i = 1; i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(names[i], name)) return (enum rs_example_wait)i;
    return RS_EX_WAIT_OTHER;
}

static void tell_kind(struct rs_example_event *e, const char *cat, const char *name)
{
    e->kind = (uint8_t)kind_of_category(cat);
    bool ctrl = !strcmp(name, "Idle") || !strcmp(name, "Sleep") || !strcmp(name, "Append");
    if (e->kind == RS_EX_PROXY_OP && ctrl) e->kind = RS_EX_PROXY_CTRL;
}

/* ---- arguments: to where the kind of the event keeps them ---- */

static void put_work(struct rs_example_event *e, const struct example_args *a, const char *name)
{
    e->work.seq = a->seq;
    e->work.count = a->count;
    e->work.peer = a->peer;
    e->work.nchannels = a->nchannels;
    e->work.dtype = a->dtype;
    e->work.algo = a->algo;
    e->work.proto = a->proto;
    e->work.is_send = !strcmp(name, "Send");
    if (!a->has_comm || a->rank < 0) return;
    e->comm = a->comm;
    e->rank = a->rank;
    e->who = RS_EX_WHO_OWN;
}

static void put_proxy(struct rs_example_event *e, const struct example_args *a, const char *name)
{
    e->proxy.bytes = a->bytes;
    memcpy(e->proxy.at, a->at, sizeof a->at);
    memcpy(e->proxy.done, a->done, sizeof a->done);
    e->proxy.channel = a->channel;
    e->proxy.peer = a->peer;
    e->proxy.steps = a->steps;
    e->proxy.chunk = a->chunk;
    e->proxy.is_send = strstr(name, "Send") != NULL;
    e->proxy.phase = !strncmp(name, "Schedule", 8)   ? RS_EX_SCHEDULE
                     : !strncmp(name, "Progress", 8) ? RS_EX_PROGRESS
                                                     : RS_EX_WHOLE;
}

static void put_wire(struct rs_example_event *e, const struct example_args *a)
{
    e->wire.wr_id = a->wr_id;
    e->wire.bytes = a->bytes;
    e->wire.device = a->device;
    e->wire.qp = a->qp;
    e->wire.opcode = a->opcode;
    e->wire.sock = a->sock;
    e->wire.op = a->op;
}

static void put_ce(struct rs_example_event *e, const struct example_args *a)
{
    e->ce.id = a->event_id;
    e->ce.count = a->count;
    e->ce.bytes = a->bytes;
    e->ce.gpu_us = a->gpu_us;
    e->ce.cpu_begin = a->cpu_begin;
    e->ce.cpu_end = a->cpu_end;
    e->ce.cpu_ns = a->cpu_ns;
    e->ce.nranks = a->nranks;
    e->ce.nops = a->nops;
    e->ce.dtype = a->dtype;
    e->ce.strategy = a->strategy;
    e->ce.type = a->type;
}

static void put_args(struct rs_example_event *e, const struct example_args *a, const char *name)
{
    switch ((enum rs_example_kind)e->kind) {
    case RS_EX_GROUP_API:
    case RS_EX_GROUP:
        e->group.id = a->group;
        e->group.depth = a->depth;
        break;
    case RS_EX_COLL_API:
    case RS_EX_P2P_API:
        e->call.count = a->count;
        e->call.stream = a->stream;
        e->call.root = a->root;
        e->call.captured = a->captured;
        e->call.dtype = a->dtype;
        break;
    case RS_EX_LAUNCH:
        e->launch.stream = a->stream;
        e->launch.group = a->group;
        break;
    case RS_EX_COLL:
    case RS_EX_P2P: put_work(e, a, name); break;
    case RS_EX_PROXY_OP: put_proxy(e, a, name); break;
    case RS_EX_PROXY_CTRL:
        e->ctrl.appended = a->appended;
        e->ctrl.what = *name == 'I' ? RS_EX_IDLE : *name == 'S' ? RS_EX_SLEEP : RS_EX_APPEND;
        break;
    case RS_EX_NET:
        e->net.step = a->step;
        e->net.wait = (uint8_t)wait_of(name);
        break;
    case RS_EX_KERNEL:
        e->kernel.start = a->start_clock;
        e->kernel.stop = a->stop_clock;
        e->kernel.channel = a->channel;
        break;
    case RS_EX_IB:
    case RS_EX_SOCKET: put_wire(e, a); break;
    case RS_EX_CE_COLL:
    case RS_EX_CE_SYNC:
    case RS_EX_CE_BATCH: put_ce(e, a); break;
    case RS_EX_OTHER:
    case RS_EX_KINDS: break;
    }
}

static void finish(struct line *l, struct rs_example_event *e, const char *cat, const char *name,
                   enum rs_example_line *line)
{
    *line = !l->keys ? RS_EX_EMPTY : !*cat || !*name || !l->ph ? RS_EX_STRANGE : l->ph == 'b' ? RS_EX_BEGIN : RS_EX_END;
    if (*line == RS_EX_EMPTY || *line == RS_EX_STRANGE) return;
    tell_kind(e, cat, name);
    rs_texts_small_id(l->texts, name, strlen(name), &e->name);
    rs_texts_small_id(l->texts, cat, strlen(cat), &e->cat);
    if (*line == RS_EX_BEGIN) put_args(e, &l->args, name);
}

/* The value of a key of the line itself. */
static void take_key(struct line *l, struct rs_example_event *e, int key, char *cat, char *name)
{
    enum { NAME, CAT, PH, ID, PID, TS };
    uint64_t pid;
    switch (key) {
    case NAME: rs_scan_text(l->s, name, LONGEST_TEXT); break;
    case CAT: rs_scan_text(l->s, cat, LONGEST_TEXT); break;
    case PH: l->ph = rs_scan_is(l->s, "b") ? 'b' : rs_scan_is(l->s, "e") ? 'e' : 0; break;
    case ID: e->id = rs_scan_i64(l->s, &e->id) ? e->id : -1; break;
    case PID: e->pid = rs_scan_u64(l->s, &pid) && pid <= UINT32_MAX ? (uint32_t)pid : 0; break;
    case TS: e->begin = example_time(l->s); break;
    default: break;
    }
}

static int key_of(const struct rs_scan *s)
{
    static const char *const keys[] = {"name", "cat", "ph", "id", "pid", "ts"};
    for (int i = 0; i < (int)(sizeof keys / sizeof *keys); i++)
        if (rs_scan_is(s, keys[i])) return i;
    return -1;
}

enum rs_status rs_example_line(struct rs_scan *s, struct rs_texts *texts, struct rs_example_event *e,
                               enum rs_example_line *line, bool *again, struct rs_err *err)
{
    (void)err;
    struct line l = {.s = s, .texts = texts, .args = example_no_args};
    char cat[LONGEST_TEXT] = "", name[LONGEST_TEXT] = "";
    unsigned depth = s->depth;
    *e = (struct rs_example_event){.begin = RS_TIME_NONE,
                                   .end = RS_TIME_NONE,
                                   .offset = s->offset,
                                   .rank = -1,
                                   .id = -1,
                                   .parent = RS_NONE,
                                   .op = RS_NONE};
    *line = RS_EX_DAMAGED;
    *again = false;
    for (;;) {
        enum rs_token token = rs_scan_next(s);
        if (token == RS_T_END) return RS_OK;
        if (token == RS_T_CLOSE && s->depth < depth) {
            finish(&l, e, cat, name, line);
            return RS_OK;
        }
        if (token == RS_T_OBJECT) {
            *again = true; /* no key before it: this line broke off, and the next one begins */
            return RS_OK;
        }
        if (token != RS_T_KEY) continue;
        l.keys++;
        int key = key_of(s);
        bool args = rs_scan_is(s, "args"), fine = true;
        token = rs_scan_next(s);
        if (token == RS_T_END) return RS_OK;
        if (token == RS_T_CLOSE && s->depth < depth) return RS_OK; /* a key without a value */
        if (token == RS_T_OBJECT && args)
            example_args_read(s, texts, &l.args, &fine, again);
        else if (token == RS_T_OBJECT || token == RS_T_ARRAY)
            rs_scan_leave(s, s->depth);
        else
            take_key(&l, e, key, cat, name);
        if (!fine) return RS_OK;
    }
}
