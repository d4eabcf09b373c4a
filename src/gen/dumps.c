#include "gen/dumps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "format/kinds.h"
#include "gen/strings.h"
#include "nccl/abi.h"

enum { NO_EVENT = 0, ARGS = 5, SLEEP_AFTER_NS = 20000 };

/* Handles are rows + 1; 0: none. */
struct event {
    int64_t begin, end, at[2]; /* ns of the process's clock; at: states on the way; end INT64_MIN: not stopped */
    uint64_t args[ARGS];
    uint64_t small;
    uint32_t parent, first, last, next; /* handles: parent; children, in order; next sibling */
    uint32_t ctx;
    int32_t rank;
    uint16_t kind;
};

struct comm {
    uint64_t hash;
    int64_t last, destroyed;
    int32_t rank;
};

struct rs_gen_dump {
    struct rs_gen_host *host;
    int64_t zero; /* RAW of its host */
    uint32_t pid;
    struct event *events;
    uint32_t n, cap;
    struct comm *comms; /* by context; 0 is none */
    uint32_t ncomms, cap_comms;
    uint32_t calls, groups, proxies, controls; /* ids so far */
};

struct rs_gen_dump *rs_gen_dump_new(struct rs_gen_host *host, uint32_t pid, int64_t t, int64_t ns)
{
    struct rs_gen_dump *d = rs_zalloc(1, sizeof *d);
    d->host = host;
    d->pid = pid;
    d->zero = rs_gen_host_raw(host, t) - ns;
    return d;
}

void rs_gen_dump_free(struct rs_gen_dump *d)
{
    if (!d) return;
    free(d->events);
    free(d->comms);
    free(d);
}

static int64_t time_of(struct rs_gen_dump *d, int64_t t)
{
    return rs_gen_host_raw(d->host, t) - d->zero;
}

/* ---- callbacks ---- */

static void room_for_comm(struct rs_gen_dump *d)
{
    RS_ROOM(d->comms, d->ncomms, d->cap_comms);
}

static void room_for_event(struct rs_gen_dump *d)
{
    RS_ROOM(d->events, d->n, d->cap);
}

void rs_gen_dump_comm(struct rs_gen_dump *d, uint32_t ctx, uint64_t hash, int rank)
{
    while (d->ncomms <= ctx) {
        room_for_comm(d);
        d->comms[d->ncomms++] = (struct comm){0};
    }
    d->comms[ctx] = (struct comm){.hash = hash, .rank = rank};
}

void rs_gen_dump_comm_end(struct rs_gen_dump *d, uint32_t ctx, int64_t t)
{
    if (ctx < d->ncomms) d->comms[ctx].destroyed = time_of(d, t);
}

uint64_t rs_gen_dump_start(struct rs_gen_dump *d, int64_t t, unsigned kind, uint64_t parent, uint32_t ctx, int rank,
                           uint64_t small, const uint64_t *args, int nargs)
{
    room_for_event(d);
    struct event *e = &d->events[d->n++];
    *e = (struct event){.begin = time_of(d, t),
                        .end = INT64_MIN,
                        .at = {INT64_MIN, INT64_MIN},
                        .parent = parent < d->n ? (uint32_t)parent : NO_EVENT,
                        .ctx = ctx,
                        .rank = rank,
                        .small = small,
                        .kind = (uint16_t)kind};
    for (int i = 0; i < nargs && i < ARGS; i++) e->args[i] = args[i];
    if (ctx < d->ncomms && e->begin > d->comms[ctx].last) d->comms[ctx].last = e->begin;
    if (e->parent) {
        struct event *around = &d->events[e->parent - 1];
        *(around->last ? &d->events[around->last - 1].next : &around->first) = d->n;
        around->last = d->n;
    }
    return d->n;
}

void rs_gen_dump_stop(struct rs_gen_dump *d, int64_t t, uint64_t handle)
{
    if (!handle || handle > d->n) return;
    struct event *e = &d->events[handle - 1];
    e->end = time_of(d, t);
    if (e->ctx < d->ncomms && e->end > d->comms[e->ctx].last) d->comms[e->ctx].last = e->end;
}

void rs_gen_dump_state(struct rs_gen_dump *d, int64_t t, uint64_t handle, unsigned state, uint64_t arg)
{
    if (!handle || handle > d->n) return;
    struct event *e = &d->events[handle - 1];
    switch (state) {
    case RS_ST_OP_IN_PROGRESS:
    case RS_ST_STEP_SEND_PEER_WAIT:
    case RS_ST_STEP_RECV_FLUSH_WAIT: e->at[0] = time_of(d, t); break;
    case RS_ST_STEP_SEND_WAIT:
    case RS_ST_STEP_RECV_GPU_WAIT: e->at[1] = time_of(d, t); break;
    case RS_ST_KERNEL_CH_STOP: e->args[1] = arg; break;
    default: break;
    }
}

/* ---- lines ---- */

struct out {
    struct rs_gen_dump *d;
    FILE *f;
};

static void head(struct out *o, const char *name, const char *cat, char ph, uint32_t id, int64_t ns)
{
    if (ns == INT64_MIN) ns = 0; /* as the profiler writes a missing time */
    fprintf(o->f,
            "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"%c\", \"id\": %u, \"pid\": %u, \"tid\": 1, \"ts\": %" PRId64
            ".%03d000",
            name, cat, ph, id, o->d->pid, ns / 1000, (int)(ns % 1000));
}

static void end(struct out *o, const char *name, const char *cat, uint32_t id, int64_t ns)
{
    head(o, name, cat, 'e', id, ns);
    fputs("},\n", o->f);
}

static void put_kernel(struct out *o, const struct event *e)
{
    bool has_stop = e->small == 0; /* the profiler misses the stop of every other channel */
    head(o, "KernelCh", "GPU", 'b', 0, e->begin);
    fprintf(o->f,
            ", \"args\": {\"Channel\": %" PRIu64 ", \"StartGpuClk\": %" PRIu64 ", \"StopGpuClk\": %" PRIu64 "}},\n",
            e->small, e->args[0], has_stop ? e->args[1] : 0);
    end(o, "KernelCh", "GPU", 0, has_stop ? e->end : INT64_MIN);
}

static void put_wait(struct out *o, const char *name, uint64_t step, int64_t from, int64_t to)
{
    head(o, name, "NET", 'b', o->d->proxies, from);
    fprintf(o->f, ", \"args\": {\"Step\": %" PRIu64 "}},\n", step);
    end(o, name, "NET", o->d->proxies, to);
}

static void put_step(struct out *o, const struct event *e, bool send)
{
    static const char *const names[2][3] = {{"RecvWait", "RecvFlushWait", "RecvGpuWait"},
                                            {"SendGpuWait", "SendPeerWait", "SendWait"}};
    put_wait(o, names[send][0], e->small, e->begin, e->at[0]);
    put_wait(o, names[send][1], e->small, e->at[0], e->at[1]);
    put_wait(o, names[send][2], e->small, e->at[1], e->end);
}

static void put_proxy(struct out *o, const struct event *e)
{
    bool send = e->small >> 8 & 1;
    const char *schedule = send ? "ScheduleSend" : "ScheduleRecv", *progress = send ? "ProgressSend" : "ProgressRecv";
    uint32_t id = o->d->proxies++, steps = (uint32_t)e->args[1], chunk = (uint32_t)(e->args[1] >> 32);
    char args[160];
    snprintf(args, sizeof args,
             ", \"args\": {\"Channel\": %u, \"Peer\": %d, \"Steps\": %u, \"ChunkSize\": %u, \"transSize\": %" PRIu64
             "}},\n",
             (unsigned)(e->small & 255), (int32_t)(e->args[0] >> 32), steps, chunk, (uint64_t)steps * chunk);
    head(o, schedule, "PROXY", 'b', id, e->begin);
    fputs(args, o->f);
    end(o, schedule, "PROXY", id, e->at[0]);
    head(o, progress, "PROXY", 'b', id, e->at[0]);
    fputs(args, o->f);
    for (uint32_t i = e->first; i; i = o->d->events[i - 1].next) put_step(o, &o->d->events[i - 1], send);
    end(o, progress, "PROXY", id, e->end);
}

static void put_work(struct out *o, const struct event *e)
{
    const struct comm *c = e->ctx < o->d->ncomms ? &o->d->comms[e->ctx] : NULL;
    bool coll = e->kind == RS_K_COLL;
    const char *cat = coll ? "COLL" : "P2P";
    uint64_t texts = e->args[coll ? 1 : 3];
    const char *name = rs_gen_string_text(texts & 0xffff);
    uint32_t id = o->d->calls;
    head(o, name, cat, 'b', id, e->begin);
    fputs(", \"args\": {", o->f);
    if (coll) fprintf(o->f, "\"SeqNum\": %" PRIu64 ", ", e->args[0]);
    fprintf(o->f, "\"CommHash\": %" PRIu64 ", \"Rank\": %d, ", c ? c->hash : 0, e->rank);
    if (!coll) fprintf(o->f, "\"Peer\": %d, ", (int32_t)e->args[1]);
    fprintf(o->f, "\"Count\": %" PRIu64 ", \"Datatype\": \"%s\", ", e->args[coll ? 2 : 0],
            rs_gen_string_text(texts >> 16 & 0xffff));
    if (coll)
        fprintf(o->f, "\"Algorithm\": \"%s\", \"Protocol\": \"%s\", ", rs_gen_string_text(texts >> 32 & 0xffff),
                rs_gen_string_text(texts >> 48));
    fprintf(o->f, "\"nChannels\": %u}},\n", (unsigned)(e->small & 255));
    for (uint32_t i = e->first; i; i = o->d->events[i - 1].next) {
        const struct event *in = &o->d->events[i - 1];
        if (in->kind == RS_K_KERNEL_CH) put_kernel(o, in);
        if (in->kind == RS_K_PROXY_OP) put_proxy(o, in);
    }
    end(o, name, cat, id, e->end);
}

static void put_call(struct out *o, const struct event *e)
{
    bool coll = e->kind == RS_K_COLL_API;
    const char *cat = coll ? "COLL_API" : "P2P_API";
    uint64_t func = (coll ? e->args[1] >> 32 & 0xffff : e->args[1] & 0xffff);
    const char *name = rs_gen_string_text(func);
    uint32_t id = o->d->calls++;
    head(o, name, cat, 'b', id, INT64_MIN);
    fprintf(o->f, ", \"args\": {\"count\": %" PRIu64 ", \"datatype\": %s, ", e->args[0],
            rs_gen_string_text(coll ? e->args[1] >> 48 : e->args[1] >> 16 & 0xffff));
    if (coll) fprintf(o->f, "\"root\": %d, ", (int32_t)e->args[1]);
    fprintf(o->f, "\"GraphCaptured\":%u, \"Stream\": 0x%" PRIx64 "}},\n", (unsigned)(coll && (e->small & 1)),
            e->args[2]);
    for (uint32_t i = e->first; i; i = o->d->events[i - 1].next) put_work(o, &o->d->events[i - 1]);
    end(o, name, cat, id, e->end);
}

static void put_group(struct out *o, const struct event *e)
{
    uint32_t id = o->d->groups++;
    head(o, "Group API", "GROUP_API", 'b', id, e->begin);
    fprintf(o->f, ", \"args\": {\"groupApiId\": %u, \"groupDepth\":%u}},\n", id, (unsigned)(e->small >> 1));
    for (uint32_t i = e->first; i; i = o->d->events[i - 1].next) {
        const struct event *in = &o->d->events[i - 1];
        if (in->kind != RS_K_KERNEL_LAUNCH) continue;
        head(o, "KernelLaunch", "KERNEL_LAUNCH", 'b', i, INT64_MIN);
        fprintf(o->f, ", \"args\": {\"groupId\": 0, \"Stream\": 0x%" PRIx64 "}},\n", in->args[0]);
        end(o, "KernelLaunch", "KERNEL_LAUNCH", i, in->end);
    }
    for (uint32_t i = e->first; i; i = o->d->events[i - 1].next) {
        const struct event *in = &o->d->events[i - 1];
        if (in->kind == RS_K_COLL_API || in->kind == RS_K_P2P_API) put_call(o, in);
    }
    end(o, "Group API", "GROUP_API", id, e->end);
}

/* The proxy thread sleeps from the end of its work until it is woken to exit. */
static void put_end(struct out *o, const struct comm *c)
{
    uint32_t id = o->d->controls;
    o->d->controls += 2;
    if (!c->destroyed) return;
    head(o, "Sleep", "PROXY", 'b', id, c->last + SLEEP_AFTER_NS);
    fputs("},\n", o->f);
    end(o, "Sleep", "PROXY", id, c->destroyed);
    head(o, "Append", "PROXY", 'b', id + 1, c->destroyed + 3000);
    fputs(", \"args\": {\"appended\": 0}},\n", o->f);
    end(o, "Append", "PROXY", id + 1, c->destroyed + 3500);
}

static enum rs_status write_comm(struct rs_gen_dump *d, uint32_t ctx, const char *dir, struct rs_err *err)
{
    const struct comm *c = &d->comms[ctx];
    char path[4096];
    snprintf(path, sizeof path, "%s/gen_%" PRIu64 "_%d.json", dir, c->hash, c->rank);
    struct out o = {d, fopen(path, "we")};
    if (!o.f) return rs_fail_errno(err, "cannot write %s", path);
    fputs("[\n", o.f);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->events[i].kind == RS_K_GROUP_API && d->events[i].ctx == ctx) put_group(&o, &d->events[i]);
    put_end(&o, c);
    fputs("{}]\n", o.f);
    bool bad = ferror(o.f) != 0;
    if (fclose(o.f) || bad) return rs_fail_errno(err, "cannot write %s", path);
    return RS_OK;
}

enum rs_status rs_gen_dump_write(struct rs_gen_dump *d, const char *dir, struct rs_err *err)
{
    for (uint32_t ctx = 1; ctx < d->ncomms; ctx++)
        if (d->comms[ctx].hash) RS_TRY(write_comm(d, ctx, dir, err));
    return RS_OK;
}
