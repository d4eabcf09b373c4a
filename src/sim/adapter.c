#include "sim/adapter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- descriptors ----
 * startEvent in each version of the interface: builds that version's descriptor and calls the plugin.
 *
 * A descriptor is zeroed if the version is the simulated NCCL's own; for an older one, what NCCL's shim leaves
 * uninitialised is filled with a pattern, and what it omits is omitted. */

static const char *const func_names[RS_SIM_FUNCS] = {
    [RS_SIM_BROADCAST] = "Broadcast",
    [RS_SIM_REDUCE] = "Reduce",
    [RS_SIM_ALLGATHER] = "AllGather",
    [RS_SIM_REDUCESCATTER] = "ReduceScatter",
    [RS_SIM_ALLREDUCE] = "AllReduce",
    [RS_SIM_SENDRECV] = "SendRecv",
    [RS_SIM_SEND] = "Send",
    [RS_SIM_RECV] = "Recv",
    [RS_SIM_FN_ALLTOALL] = "AlltoAll",
};
static const char *const dtype_names[RS_SIM_DTYPES] = {
    [RS_SIM_INT8] = "ncclInt8",
    [RS_SIM_FLOAT16] = "ncclFloat16",
    [RS_SIM_FLOAT32] = "ncclFloat32",
    [RS_SIM_BFLOAT16] = "ncclBfloat16",
};
static const char *const phase_names[3] = {"initial_sync", "compute", "final_sync"};
enum { ALGO_RING = 1, PROTO_LL = 0, PROTO_SIMPLE = 2 }; /* NCCL's numbers, as version 1 shows them */
enum { WARPS_SMALL = 8, WARPS = 16 };

/* ---- the descriptors, newest first; each writes the member of the type ---- */

/* Fields that coll and p2p of several versions have under the same names. */
#define COLL_COMMON(c, ev)                                                                                             \
    do {                                                                                                               \
        (c)->seqNumber = (ev)->seq;                                                                                    \
        (c)->sendBuff = (ev)->send_buff;                                                                               \
        (c)->recvBuff = (ev)->recv_buff;                                                                               \
        (c)->count = (ev)->count;                                                                                      \
        (c)->root = (ev)->root;                                                                                        \
        (c)->nWarps = (ev)->small ? WARPS_SMALL : WARPS;                                                               \
    } while (0)
#define COLL_STRINGS(c, ev)                                                                                            \
    do {                                                                                                               \
        (c)->func = func_names[(ev)->func];                                                                            \
        (c)->datatype = dtype_names[(ev)->dtype];                                                                      \
        (c)->algo = "RING";                                                                                            \
        (c)->proto = (ev)->small ? "LL" : "SIMPLE";                                                                    \
    } while (0)
#define P2P_COMMON(d, ev)                                                                                              \
    do {                                                                                                               \
        (d)->buff = (ev)->recv_buff;                                                                                   \
        (d)->count = (ev)->count;                                                                                      \
        (d)->peer = (ev)->peer;                                                                                        \
    } while (0)
#define P2P_STRINGS(d, ev)                                                                                             \
    do {                                                                                                               \
        (d)->func = func_names[(ev)->func];                                                                            \
        (d)->datatype = dtype_names[(ev)->dtype];                                                                      \
    } while (0)
/* Since 2.27 NCCL itself does not pass these on to old plugins. */
#define NAME_AND_HASH(d, ev, native)                                                                                   \
    do {                                                                                                               \
        (d)->name = (native) <= 3 ? (ev)->name : NULL;                                                                 \
        (d)->commHash = (native) <= 3 ? (ev)->hash : 0;                                                                \
    } while (0)

static void fill_proxy_op(struct rs_nccl_proxy_op *o, const struct rs_sim_event *ev)
{
    *o = (struct rs_nccl_proxy_op){.pid = ev->pid,
                                   .channelId = ev->channel,
                                   .peer = ev->peer,
                                   .nSteps = ev->nsteps,
                                   .chunkSize = ev->chunk,
                                   .isSend = ev->is_send};
}

/* Types whose member is the same from version 4 or 5 on. */
#define FILL_SINCE_V4(d, ev)                                                                                           \
    case RS_PROXY_OP: fill_proxy_op(&(d)->proxyOp, ev); break;                                                         \
    case RS_PROXY_STEP: (d)->proxyStep.step = (ev)->step; break;                                                       \
    case RS_KERNEL_CH:                                                                                                 \
        (d)->kernelCh.channelId = (ev)->channel;                                                                       \
        (d)->kernelCh.pTimer = (ev)->ptimer;                                                                           \
        break;                                                                                                         \
    case RS_NET_PLUGIN:                                                                                                \
        (d)->netPlugin.id = (ev)->net_id;                                                                              \
        (d)->netPlugin.data = (ev)->net_data;                                                                          \
        break
#define FILL_SINCE_V5(d, ev)                                                                                           \
    FILL_SINCE_V4(d, ev);                                                                                              \
    case RS_GROUP_API:                                                                                                 \
        (d)->groupApi.graphCaptured = (ev)->captured;                                                                  \
        (d)->groupApi.groupDepth = (ev)->depth;                                                                        \
        break;                                                                                                         \
    case RS_COLL_API:                                                                                                  \
        P2P_STRINGS(&(d)->collApi, ev);                                                                                \
        (d)->collApi.count = (ev)->count;                                                                              \
        (d)->collApi.root = (ev)->root;                                                                                \
        (d)->collApi.stream = (ev)->stream;                                                                            \
        (d)->collApi.graphCaptured = (ev)->captured;                                                                   \
        break;                                                                                                         \
    case RS_P2P_API:                                                                                                   \
        P2P_STRINGS(&(d)->p2pApi, ev);                                                                                 \
        (d)->p2pApi.count = (ev)->count;                                                                               \
        (d)->p2pApi.stream = (ev)->stream;                                                                             \
        (d)->p2pApi.graphCaptured = (ev)->captured;                                                                    \
        break;                                                                                                         \
    case RS_KERNEL_LAUNCH: (d)->kernelLaunch.stream = (ev)->stream; break;                                             \
    case RS_COLL:                                                                                                      \
        COLL_COMMON(&(d)->coll, ev);                                                                                   \
        COLL_STRINGS(&(d)->coll, ev);                                                                                  \
        (d)->coll.nChannels = (ev)->nchannels;                                                                         \
        (d)->coll.parentGroup = (ev)->parent_group;                                                                    \
        break;                                                                                                         \
    case RS_P2P:                                                                                                       \
        P2P_COMMON(&(d)->p2p, ev);                                                                                     \
        P2P_STRINGS(&(d)->p2p, ev);                                                                                    \
        (d)->p2p.nChannels = (ev)->nchannels;                                                                          \
        (d)->p2p.parentGroup = (ev)->parent_group;                                                                     \
        break
#define FILL_SINCE_V6(d, ev)                                                                                           \
    FILL_SINCE_V5(d, ev);                                                                                              \
    case RS_CE_COLL:                                                                                                   \
        P2P_STRINGS(&(d)->ceColl, ev);                                                                                 \
        (d)->ceColl.seqNumber = (ev)->ce_seq;                                                                          \
        (d)->ceColl.sendBuff = (ev)->send_buff;                                                                        \
        (d)->ceColl.recvBuff = (ev)->recv_buff;                                                                        \
        (d)->ceColl.count = (ev)->count;                                                                               \
        (d)->ceColl.root = (ev)->root;                                                                                 \
        (d)->ceColl.syncStrategy = "UC";                                                                               \
        (d)->ceColl.intraBatchSync = false;                                                                            \
        (d)->ceColl.batchSize = 0;                                                                                     \
        (d)->ceColl.numBatches = 0;                                                                                    \
        (d)->ceColl.ceSeqNum = (ev)->ce_seq;                                                                           \
        (d)->ceColl.stream = (ev)->stream;                                                                             \
        break;                                                                                                         \
    case RS_CE_SYNC:                                                                                                   \
        (d)->ceCollSync.isComplete = (ev)->complete;                                                                   \
        (d)->ceCollSync.nRanks = (ev)->nranks;                                                                         \
        break;                                                                                                         \
    case RS_CE_BATCH:                                                                                                  \
        (d)->ceCollBatch.numOps = (ev)->nops;                                                                          \
        (d)->ceCollBatch.totalBytes = (ev)->bytes;                                                                     \
        (d)->ceCollBatch.useIntraSync = false;                                                                         \
        break

/* Starts a descriptor: zeroed by NCCL itself, uninitialised by its shims for older plugins. */
#define BEGIN(d, p, ev)                                                                                                \
    memset(&(d), (p)->native == (p)->version ? 0 : 0xa5, sizeof(d));                                                   \
    (d).parentObj = (ev)->parent;                                                                                      \
    (d).rank = (ev)->rank

static void sim_start_v7(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v7 d;
    BEGIN(d, p, ev);
    d.type = ev->type;
    switch (ev->type) {
        FILL_SINCE_V6(&d, ev);
    case RS_KERNEL_PHASE:
        d.kernelPhase.channelId = ev->channel;
        d.kernelPhase.phaseId = ev->phase;
        d.kernelPhase.phaseName = phase_names[ev->phase];
        d.kernelPhase.pTimer = ev->ptimer;
        break;
    default: break;
    }
    if (ev->type == RS_COLL_API) d.collApi.userTag = ev->tag;
    if (ev->type == RS_P2P_API) d.p2pApi.userTag = ev->tag;
    if (ev->type == RS_P2P) d.p2p.userTag = ev->tag;
    if (ev->type == RS_CE_COLL) d.ceColl.userTag = ev->tag;
    if (ev->type == RS_COLL) {
        d.coll.userTag = ev->tag;
        d.coll.kernelVariant = "";
        d.coll.isSymColl = false;
    }
    p->v7->startEvent(ctx, handle, &d);
}

static void sim_start_v6(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v6 d;
    BEGIN(d, p, ev);
    d.type = ev->type;
    switch (ev->type) {
        FILL_SINCE_V6(&d, ev);
    default: break;
    }
    p->v6->startEvent(ctx, handle, &d);
}

static void sim_start_v5(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v5 d;
    BEGIN(d, p, ev);
    d.type = ev->type;
    switch (ev->type) {
        FILL_SINCE_V5(&d, ev);
    default: break;
    }
    p->v5->startEvent(ctx, handle, &d);
}

static void sim_start_v4(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v4 d;
    BEGIN(d, p, ev);
    d.type = (uint8_t)ev->type;
    switch (ev->type) {
        FILL_SINCE_V4(&d, ev);
    case RS_COLL:
        COLL_COMMON(&d.coll, ev);
        COLL_STRINGS(&d.coll, ev);
        d.coll.nChannels = ev->nchannels;
        break;
    case RS_P2P:
        P2P_COMMON(&d.p2p, ev);
        P2P_STRINGS(&d.p2p, ev);
        if (p->native == 4) d.p2p.nChannels = ev->nchannels; /* newer ones omit it */
        break;
    default: break;
    }
    p->v4->startEvent(ctx, handle, &d);
}

static void sim_start_v3(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v3 d;
    BEGIN(d, p, ev);
    d.type = (uint8_t)ev->type;
    switch (ev->type) {
    case RS_PROXY_OP: fill_proxy_op(&d.proxyOp, ev); break;
    case RS_PROXY_STEP: d.proxyStep.step = ev->step; break;
    case RS_KERNEL_CH: d.kernelCh.channelId = ev->channel; break;
    case RS_NET_PLUGIN:
        d.netPlugin.id = ev->net_id;
        d.netPlugin.data = ev->net_data;
        break;
    case RS_COLL:
        NAME_AND_HASH(&d.coll, ev, p->native);
        COLL_COMMON(&d.coll, ev);
        COLL_STRINGS(&d.coll, ev);
        d.coll.nMaxChannels = ev->nchannels;
        break;
    case RS_P2P:
        NAME_AND_HASH(&d.p2p, ev, p->native);
        P2P_COMMON(&d.p2p, ev);
        P2P_STRINGS(&d.p2p, ev);
        break;
    default: break;
    }
    p->v3->startEvent(ctx, handle, &d);
}

static void sim_start_v2(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v2 d;
    BEGIN(d, p, ev);
    d.type = (uint8_t)ev->type;
    switch (ev->type) {
    case RS_PROXY_OP: fill_proxy_op(&d.proxyOp, ev); break;
    case RS_PROXY_STEP: d.proxyStep.step = ev->step; break;
    case RS_COLL:
        NAME_AND_HASH(&d.coll, ev, p->native);
        COLL_COMMON(&d.coll, ev);
        COLL_STRINGS(&d.coll, ev);
        d.coll.nMaxChannels = ev->nchannels;
        d.coll.trafficBytes = p->native <= 2 ? ev->traffic : 0;
        break;
    case RS_P2P:
        NAME_AND_HASH(&d.p2p, ev, p->native);
        P2P_COMMON(&d.p2p, ev);
        P2P_STRINGS(&d.p2p, ev);
        break;
    default: break;
    }
    p->v2->startEvent(ctx, handle, &d);
}

static void sim_start_v1(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    struct rs_nccl_descr_v1 d;
    BEGIN(d, p, ev);
    d.type = (uint8_t)ev->type;
    switch (ev->type) {
    case RS_PROXY_OP: fill_proxy_op(&d.proxyOp, ev); break;
    case RS_PROXY_STEP: d.proxyStep.step = ev->step; break;
    case RS_COLL:
        NAME_AND_HASH(&d.coll, ev, p->native);
        COLL_COMMON(&d.coll, ev);
        d.coll.func = (uint8_t)ev->func;
        d.coll.datatype = (uint8_t)ev->dtype;
        d.coll.op = 0;
        d.coll.trafficBytes = p->native <= 2 ? ev->traffic : 0;
        d.coll.nMaxChannels = ev->nchannels;
        d.coll.algo = ALGO_RING;
        d.coll.proto = ev->small ? PROTO_LL : PROTO_SIMPLE;
        d.coll.isCollnet = 0;
        d.coll.isNvls = 0;
        break;
    case RS_P2P:
        NAME_AND_HASH(&d.p2p, ev, p->native);
        P2P_COMMON(&d.p2p, ev);
        d.p2p.func = (uint8_t)ev->func;
        d.p2p.datatype = (uint8_t)ev->dtype;
        break;
    default: break;
    }
    p->v1->startEvent(ctx, handle, &d);
}

/* ---- events ---- */

enum {
    NET_BITS = RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN,
    BELOW_OP = NET_BITS | RS_KERNEL_CH,
    CE_BITS = RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH,
};

size_t rs_sim_dtype_size(enum rs_sim_dtype t)
{
    switch (t) {
    case RS_SIM_FLOAT32: return 4;
    case RS_SIM_FLOAT16:
    case RS_SIM_BFLOAT16: return 2;
    default: return 1;
    }
}

bool rs_sim_wants(int mask, uint64_t type)
{
    switch (type) {
    case RS_GROUP_API: return (mask & ~RS_PROXY_CTRL) != 0;
    case RS_COLL_API: return (mask & (RS_COLL_API | RS_COLL | BELOW_OP | CE_BITS)) != 0;
    case RS_P2P_API: return (mask & (RS_P2P_API | RS_P2P | BELOW_OP)) != 0;
    case RS_GROUP: return (mask & (RS_GROUP | RS_COLL | RS_P2P | BELOW_OP)) != 0;
    case RS_COLL: return (mask & (RS_COLL | BELOW_OP)) != 0;
    case RS_P2P: return (mask & (RS_P2P | BELOW_OP)) != 0;
    case RS_PROXY_OP: return (mask & NET_BITS) != 0;
    case RS_PROXY_STEP: return (mask & (RS_PROXY_STEP | RS_NET_PLUGIN)) != 0;
    case RS_CE_COLL: return (mask & CE_BITS) != 0;
    default: return ((uint64_t)mask & type) != 0;
    }
}

/* ---- calls ---- */

/* The logger passed to the plugin: like NCCL's, silent unless NCCL_DEBUG is set. */
static void log_line(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)flags;
    const char *debug = getenv("NCCL_DEBUG");
    int threshold = 1;
    if (debug && strcasecmp(debug, "WARN") == 0) threshold = RS_NCCL_LOG_WARN;
    if (debug && (strcasecmp(debug, "INFO") == 0 || strcasecmp(debug, "TRACE") == 0)) threshold = RS_NCCL_LOG_INFO;
    if (level > threshold) return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "NCCL %s %s:%d %s\n", level == RS_NCCL_LOG_WARN ? "WARN" : "INFO", file ? file : "?", line, text);
}

void rs_sim_call_init(struct rs_sim_plugin *p, const struct rs_sim_init *in, void **ctx)
{
    int *mask = rs_sim_mask_at();
    if (!p) return;
    switch (p->version) {
    case 0: {
        const char *want = getenv("RINGSCOPE_EVENTS");
        int all = 0xffff & ~RS_PROXY_CTRL;
        if (want && strcmp(want, "all") == 0)
            all = 0xffff;
        else if (want && strcmp(want, "ops") == 0)
            all &= ~NET_BITS;
        else if (want && strcmp(want, "net") != 0)
            all = (int)strtol(want, NULL, 0);
        __atomic_store_n(mask, all, __ATOMIC_RELAXED);
        break;
    }
    case 1: p->v1->init(ctx, mask); break;
    case 2: p->v2->init(ctx, mask); break;
    case 3: p->v3->init(ctx, mask); break;
    case 4: p->v4->init(ctx, mask, in->name, in->hash, in->nnodes, in->nranks, in->rank, log_line); break;
    case 5: p->v5->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    case 6: p->v6->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    default: p->v7->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    }
    if (p->version == 5 && p->native > 5) __atomic_fetch_and(mask, ~CE_BITS, __ATOMIC_RELAXED);
    atomic_fetch_add(&p->counts->init, 1);
}

void rs_sim_call_finalize(struct rs_sim_plugin *p, void *ctx)
{
    if (!p) return;
    if (p->version > 0) p->v1->finalize(ctx); /* the same in all versions */
    atomic_fetch_add(&p->counts->finalize, 1);
}

/* The event types that a version of the interface knows. */
static uint64_t known_types(int version)
{
    static const uint64_t known[8] = {0xffff, 0x3f, 0x3f, 0xff, 0xff, 0xfff, 0x7fff, 0xffff};
    return known[version];
}

void rs_sim_call_start(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    if (!p || !(known_types(p->version) & ev->type)) return; /* a shim drops it and leaves *handle alone */
    struct rs_sim_event older;
    if (p->version > 0 && p->version < 5 && (ev->type == RS_COLL || ev->type == RS_P2P)) {
        older = *ev;
        older.parent = ev->parent_group;
        ev = &older;
    }
    switch (p->version) {
    case 0: *handle = p; break;
    case 1: sim_start_v1(p, ctx, handle, ev); break;
    case 2: sim_start_v2(p, ctx, handle, ev); break;
    case 3: sim_start_v3(p, ctx, handle, ev); break;
    case 4: sim_start_v4(p, ctx, handle, ev); break;
    case 5: sim_start_v5(p, ctx, handle, ev); break;
    case 6: sim_start_v6(p, ctx, handle, ev); break;
    default: sim_start_v7(p, ctx, handle, ev); break;
    }
    atomic_fetch_add(&p->counts->start[__builtin_ctzll(ev->type)], 1);
}

void rs_sim_call_stop(struct rs_sim_plugin *p, void *handle)
{
    if (!p) return;
    if (p->version > 0) p->v1->stopEvent(handle); /* the same in all versions */
    atomic_fetch_add(&p->counts->stop, 1);
}

static void record_v1(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    union rs_nccl_args_v1 a;
    memset(&a, 0, sizeof a);
    if (!args && p->native == p->version) {
        p->v1->recordEventState(handle, st, NULL);
        return;
    }
    if (args && st <= RS_ST_OP_RECV_DONE) {
        a.proxyOp.transSize = args->trans;
        a.proxyOp.steps = args->steps;
    }
    if (args && st >= RS_ST_CTRL_IDLE && st <= RS_ST_CTRL_APPEND_END) a.proxyCtrl.appendedProxyOps = args->appended;
    p->v1->recordEventState(handle, st, &a); /* versions 1 to 3 agree */
}

static void record_v4(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    union rs_nccl_args_v4 a;
    memset(&a, p->native == p->version ? 0 : 0xa5, sizeof a);
    if (!args && p->native == p->version) {
        p->v4->recordEventState(handle, st, NULL);
        return;
    }
    if (args) {
        if (st == RS_ST_NET_PLUGIN_UPDATE)
            a.netPlugin.data = args->data;
        else if (st == RS_ST_KERNEL_CH_STOP || st == RS_ST_KERNEL_PHASE_STOP)
            a.kernelCh.pTimer = args->ptimer;
        else if (st >= RS_ST_CTRL_IDLE && st <= RS_ST_CTRL_APPEND_END)
            a.proxyCtrl.appendedProxyOps = args->appended;
        else
            a.proxyStep.transSize = args->trans;
    }
    p->v4->recordEventState(handle, st, &a); /* versions 4 to 7 agree */
}

void rs_sim_call_record(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    static const int last_state[8] = {31, 18, 18, 18, 22, 24, 30, 31};
    if (!p || st > last_state[p->version]) return;
    if (p->version >= 4)
        record_v4(p, handle, st, args);
    else if (p->version > 0)
        record_v1(p, handle, st, args);
    atomic_fetch_add(&p->counts->record, 1);
}

void rs_sim_stop_if(struct rs_sim_plugin *p, void *handle)
{
    if (handle) rs_sim_call_stop(p, handle);
}

void rs_sim_record_if(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    if (handle) rs_sim_call_record(p, handle, st, args);
}
