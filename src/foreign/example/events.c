#include "foreign/example/events.h"

#include <string.h>

#include "foreign/example/args.h"
#include "model/model.h"

enum { LONGEST_TEXT = 256 };

/* ---- the line ---- */

struct line {
    struct rs_scan *s;
    struct rs_texts *texts;
    struct rs_example_args args;
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

static void put_work(struct rs_example_event *e, const struct rs_example_args *a, const char *name)
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

static void put_proxy(struct rs_example_event *e, const struct rs_example_args *a, const char *name)
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

static void put_wire(struct rs_example_event *e, const struct rs_example_args *a)
{
    e->wire.wr_id = a->wr_id;
    e->wire.bytes = a->bytes;
    e->wire.device = a->device;
    e->wire.qp = a->qp;
    e->wire.opcode = a->opcode;
    e->wire.sock = a->sock;
    e->wire.op = a->op;
}

static void put_ce(struct rs_example_event *e, const struct rs_example_args *a)
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

static void put_args(struct rs_example_event *e, const struct rs_example_args *a, const char *name)
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

static enum rs_status finish(struct line *l, struct rs_example_event *e, const char *cat, const char *name,
                             enum rs_example_line *line, struct rs_err *err)
{
    *line = !l->keys ? RS_EX_EMPTY : !*cat || !*name || !l->ph ? RS_EX_STRANGE : l->ph == 'b' ? RS_EX_BEGIN : RS_EX_END;
    if (*line == RS_EX_EMPTY || *line == RS_EX_STRANGE) return RS_OK;
    tell_kind(e, cat, name);
    RS_TRY(rs_texts_small_id(l->texts, name, strlen(name), &e->name, err));
    RS_TRY(rs_texts_small_id(l->texts, cat, strlen(cat), &e->cat, err));
    if (*line == RS_EX_BEGIN) put_args(e, &l->args, name);
    return RS_OK;
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
    case TS: e->begin = rs_example_time(l->s); break;
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
    struct line l = {.s = s, .texts = texts, .args = rs_example_no_args};
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
        if (token == RS_T_CLOSE && s->depth < depth) return finish(&l, e, cat, name, line, err);
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
            RS_TRY(rs_example_args_read(s, texts, &l.args, &fine, again, err));
        else if (token == RS_T_OBJECT || token == RS_T_ARRAY)
            rs_scan_leave(s, s->depth);
        else
            take_key(&l, e, key, cat, name);
        if (!fine) return RS_OK;
    }
}
