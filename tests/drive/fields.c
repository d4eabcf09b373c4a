#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

static uint64_t seed_now;
static unsigned ordinal;
static const struct plugin *plugin;
static void *own_context, *latest, *earlier;

static uint64_t rnd(void)
{
    seed_now ^= seed_now << 13;
    seed_now ^= seed_now >> 7;
    seed_now ^= seed_now << 17;
    return seed_now * UINT64_C(0x2545f4914f6cdd1d);
}

static const char *some_text(void)
{
    static const char *const texts[] = {"AllReduce", "ncclFloat32",          "RING",   "LL128", "",
                                        NULL,        "a text with \t a tab", "SymkRun"};
    return texts[rnd() % (sizeof texts / sizeof *texts)];
}

#define ARG "start.args."
#define INT(M) (m->M = (__typeof__(m->M))rnd(), say_int(ordinal, ARG, #M, (int64_t)m->M))
#define UINT(M) (m->M = (__typeof__(m->M))rnd(), say_uint(ordinal, ARG, #M, (uint64_t)m->M))
#define BOOL(M) (m->M = rnd() & 1, say_uint(ordinal, ARG, #M, (uint64_t)m->M))
#define POINTER(M) (m->M = (void *)(uintptr_t)rnd(), say_hex(ordinal, ARG, #M, (uintptr_t)m->M))
#define TEXT(M) (m->M = some_text(), say_text(ordinal, ARG, #M, m->M))

static void coll_v1(struct rs_nccl_coll_v1 *m)
{
    TEXT(name), UINT(commHash), UINT(seqNumber), UINT(func), POINTER(sendBuff), POINTER(recvBuff), UINT(count);
    INT(root), UINT(datatype), UINT(op), UINT(trafficBytes), UINT(nMaxChannels), UINT(nWarps), UINT(algo), UINT(proto);
    BOOL(isCollnet), BOOL(isNvls);
}
#define COLL_COMMON                                                                                                    \
    UINT(seqNumber), TEXT(func), POINTER(sendBuff), POINTER(recvBuff), UINT(count), INT(root), TEXT(datatype),         \
        UINT(nWarps), TEXT(algo), TEXT(proto)
static void coll_v2(struct rs_nccl_coll_v2 *m)
{
    TEXT(name), UINT(commHash), COLL_COMMON, UINT(nMaxChannels), UINT(trafficBytes);
}
static void coll_v3(struct rs_nccl_coll_v3 *m)
{
    TEXT(name), UINT(commHash), COLL_COMMON, UINT(nMaxChannels);
}
static void coll_v4(struct rs_nccl_coll_v4 *m)
{
    COLL_COMMON, UINT(nChannels);
}
static void coll_v5(struct rs_nccl_coll_v5 *m)
{
    COLL_COMMON, UINT(nChannels), POINTER(parentGroup);
}
static void coll_v7(struct rs_nccl_coll_v7 *m)
{
    COLL_COMMON, UINT(nChannels), POINTER(parentGroup), TEXT(kernelVariant), BOOL(isSymColl), UINT(userTag);
}

static void p2p_v1(struct rs_nccl_p2p_v1 *m)
{
    TEXT(name), UINT(commHash), UINT(func), POINTER(buff), UINT(datatype), UINT(count), INT(peer);
}
static void p2p_v2(struct rs_nccl_p2p_v2 *m)
{
    TEXT(name), UINT(commHash), TEXT(func), POINTER(buff), TEXT(datatype), UINT(count), INT(peer);
}
#define P2P_COMMON TEXT(func), POINTER(buff), TEXT(datatype), UINT(count), INT(peer), UINT(nChannels)
static void p2p_v4(struct rs_nccl_p2p_v4 *m)
{
    P2P_COMMON;
}
static void p2p_v5(struct rs_nccl_p2p_v5 *m)
{
    P2P_COMMON, POINTER(parentGroup);
}
static void p2p_v7(struct rs_nccl_p2p_v7 *m)
{
    P2P_COMMON, POINTER(parentGroup), UINT(userTag);
}

static void proxy_op(struct rs_nccl_proxy_op *m)
{
    INT(pid), UINT(channelId), INT(peer), INT(nSteps), INT(chunkSize), BOOL(isSend);
}
static void proxy_step(struct rs_nccl_proxy_step *m)
{
    INT(step);
}
static void kernel_ch_v3(struct rs_nccl_kernel_ch_v3 *m)
{
    UINT(channelId);
}
static void kernel_ch_v4(struct rs_nccl_kernel_ch_v4 *m)
{
    UINT(channelId), UINT(pTimer);
}
static void kernel_phase(struct rs_nccl_kernel_phase *m)
{
    UINT(channelId), UINT(phaseId), TEXT(phaseName), UINT(pTimer);
}
static void group_api(struct rs_nccl_group_api *m)
{
    BOOL(graphCaptured), INT(groupDepth);
}
#define COLL_API TEXT(func), UINT(count), TEXT(datatype), INT(root), POINTER(stream), BOOL(graphCaptured)
static void coll_api_v5(struct rs_nccl_coll_api_v5 *m)
{
    COLL_API;
}
static void coll_api_v7(struct rs_nccl_coll_api_v7 *m)
{
    COLL_API, UINT(userTag);
}
#define P2P_API TEXT(func), UINT(count), TEXT(datatype), POINTER(stream), BOOL(graphCaptured)
static void p2p_api_v5(struct rs_nccl_p2p_api_v5 *m)
{
    P2P_API;
}
static void p2p_api_v7(struct rs_nccl_p2p_api_v7 *m)
{
    P2P_API, UINT(userTag);
}
static void kernel_launch(struct rs_nccl_kernel_launch *m)
{
    POINTER(stream);
}
#define CE_COLL                                                                                                        \
    UINT(seqNumber), TEXT(func), POINTER(sendBuff), POINTER(recvBuff), UINT(count), INT(root), TEXT(datatype),         \
        TEXT(syncStrategy), BOOL(intraBatchSync), UINT(batchSize), UINT(numBatches), UINT(ceSeqNum), POINTER(stream)
static void ce_coll_v6(struct rs_nccl_ce_coll_v6 *m)
{
    CE_COLL;
}
static void ce_coll_v7(struct rs_nccl_ce_coll_v7 *m)
{
    CE_COLL, UINT(userTag);
}
static void ce_sync(struct rs_nccl_ce_sync *m)
{
    BOOL(isComplete), INT(nRanks);
}
static void ce_batch(struct rs_nccl_ce_batch *m)
{
    INT(numOps), UINT(totalBytes), BOOL(useIntraSync);
}

static enum net_kind net_kind;
static struct rs_nccl_net_ib_v1 ib;
static struct rs_nccl_net_sock_v1 sock;

/* Fills a payload and says what a record of it must hold. */
static void ib_payload(const char *what)
{
    ib.type = 1;
    ib.qp.device = (int)rnd(), say_int(ordinal, what, "device", ib.qp.device);
    ib.qp.wr_id = rnd(), say_uint(ordinal, what, "wr_id", ib.qp.wr_id);
    ib.qp.opcode = (int)rnd(), say_int(ordinal, what, "opcode", ib.qp.opcode);
    ib.qp.qpNum = (int)rnd(), say_int(ordinal, what, "qpNum", ib.qp.qpNum);
    ib.qp.length = rnd(), say_uint(ordinal, what, "length", ib.qp.length);
}
static void sock_payload(const char *what)
{
    sock.type = 1;
    sock.sock.fd = (int)rnd(), say_int(ordinal, what, "fd", sock.sock.fd);
    sock.sock.op = (int)rnd(), say_int(ordinal, what, "op", sock.sock.op);
    sock.sock.length = rnd(), say_uint(ordinal, what, "length", sock.sock.length);
}
static void net_plugin(struct rs_nccl_net_plugin *m)
{
    /* The first one of a mixed row is of no known kind: no payload of state 21 may be read from then on. */
    static bool any;
    unsigned pick = net_kind == NET_IB ? 0 : net_kind == NET_SOCK ? 1 : any ? (unsigned)(rnd() % 4) : 3;
    any = true;
    m->data = pick == 0 ? (void *)&ib : pick == 1 ? (void *)&sock : pick == 2 ? NULL : (void *)(uintptr_t)rnd();
    m->id = pick == 0 ? RS_NCCL_NET_IB | 1 : pick < 3 ? RS_NCCL_NET_SOCK | 1 : (int64_t)rnd();
    say_int(ordinal, ARG, "id", m->id);
    if (pick == 0)
        ib_payload(ARG), say_uint(ordinal, ARG, "type", 1);
    else if (pick == 1)
        sock_payload(ARG), say_uint(ordinal, ARG, "type", 1);
    else
        say_hex(ordinal, ARG, "data", (uintptr_t)m->data);
}

/* ---- starts ---- */

static void *some_context(void)
{
    return rnd() % 4 ? own_context : rnd() % 2 ? NULL : (void *)(uintptr_t)rnd();
}
static int some_rank(void)
{
    static const int ranks[] = {0, 1, 7, 0xfffffe, 0xffffff, 0x1000000, -1, INT32_MAX, INT32_MIN};
    return ranks[rnd() % (sizeof ranks / sizeof *ranks)];
}
static void *some_handle(void)
{
    void *const handles[] = {
        NULL, latest, latest, latest, earlier, (void *)(uintptr_t)rnd(), (void *)((uintptr_t)latest + 1)};
    return handles[rnd() % (sizeof handles / sizeof *handles)];
}

static void started(void *handle)
{
    say_hex(ordinal, "start", ".handle", (uintptr_t)handle);
    if (!earlier || rnd() % 64 == 0) earlier = handle;
    latest = handle;
    ordinal++;
}

/* What is not a member of the event holds garbage, as on NCCL's stack. */
#define PREPARE(V, TYPE)                                                                                               \
    struct rs_nccl_descr_v##V d;                                                                                       \
    memset(&d, (int)rnd(), sizeof d);                                                                                  \
    d.type = TYPE;                                                                                                     \
    d.parentObj = some_handle();                                                                                       \
    d.rank = some_rank();                                                                                              \
    void *context = some_context();                                                                                    \
    say_hex(ordinal, "start", ".type", d.type);                                                                        \
    say_hex(ordinal, "start", ".parent", (uintptr_t)d.parentObj);                                                      \
    say_hex(ordinal, "start", ".context", (uintptr_t)context);                                                         \
    say_int(ordinal, "start", ".rank", d.rank)

#define EVENT(V, TYPE, MEMBER, FILL)                                                                                   \
    {                                                                                                                  \
        PREPARE(V, TYPE);                                                                                              \
        FILL(&d.MEMBER);                                                                                               \
        started(plugin_start(plugin, context, &d));                                                                    \
    }
#define PLAIN(V, TYPE)                                                                                                 \
    {                                                                                                                  \
        PREPARE(V, TYPE);                                                                                              \
        started(plugin_start(plugin, context, &d));                                                                    \
    }
/* A type that the version does not know: everything behind the common members, as it is. */
#define UNKNOWN(V, TYPE)                                                                                               \
    {                                                                                                                  \
        PREPARE(V, TYPE);                                                                                              \
        size_t skip = offsetof(struct rs_nccl_descr_v##V, coll);                                                       \
        for (size_t i = skip; i < sizeof d; i++) ((char *)&d)[i] = (char)rnd();                                        \
        unknown(d.type, V, (const char *)&d + skip, sizeof d - skip);                                                  \
        started(plugin_start(plugin, context, &d));                                                                    \
    }
static void unknown(uint64_t type, int api, const char *members, size_t bytes)
{
    uint64_t words[14] = {0};
    memcpy(words, members, bytes < sizeof words ? bytes : sizeof words);
    say_uint(ordinal, ARG, "type", type);
    say_uint(ordinal, ARG, "api", (uint64_t)api);
    for (int i = 0; i < 14; i++) {
        char name[16];
        snprintf(name, sizeof name, "raw%d", i);
        say_uint(ordinal, ARG, name, words[i]);
    }
}

#define OLD(V, COLL, P2P)                                                                                              \
    PLAIN(V, RS_GROUP)                                                                                                 \
    PLAIN(V, RS_PROXY_CTRL)                                                                                            \
    EVENT(V, RS_COLL, coll, COLL)                                                                                      \
    EVENT(V, RS_P2P, p2p, P2P)                                                                                         \
    EVENT(V, RS_PROXY_OP, proxyOp, proxy_op)                                                                           \
    EVENT(V, RS_PROXY_STEP, proxyStep, proxy_step)                                                                     \
    UNKNOWN(V, RS_COLL | RS_P2P)                                                                                       \
    UNKNOWN(V, 0)
#define MIDDLE(V, COLL, P2P, KERNEL_CH)                                                                                \
    OLD(V, COLL, P2P)                                                                                                  \
    EVENT(V, RS_KERNEL_CH, kernelCh, KERNEL_CH)                                                                        \
    EVENT(V, RS_NET_PLUGIN, netPlugin, net_plugin)
#define NEW(V, COLL, P2P, COLL_API, P2P_API)                                                                           \
    MIDDLE(V, COLL, P2P, kernel_ch_v4)                                                                                 \
    EVENT(V, RS_GROUP_API, groupApi, group_api)                                                                        \
    EVENT(V, RS_COLL_API, collApi, COLL_API)                                                                           \
    EVENT(V, RS_P2P_API, p2pApi, P2P_API)                                                                              \
    EVENT(V, RS_KERNEL_LAUNCH, kernelLaunch, kernel_launch)                                                            \
    UNKNOWN(V, 1u << 20)
#define NEWEST(V, COLL, P2P, COLL_API, P2P_API, CE_COLL)                                                               \
    NEW(V, COLL, P2P, COLL_API, P2P_API)                                                                               \
    EVENT(V, RS_CE_COLL, ceColl, CE_COLL)                                                                              \
    EVENT(V, RS_CE_SYNC, ceCollSync, ce_sync)                                                                          \
    EVENT(V, RS_CE_BATCH, ceCollBatch, ce_batch)

static void starts(void)
{
    switch (plugin->version) {
    case 1: OLD(1, coll_v1, p2p_v1) UNKNOWN(1, RS_KERNEL_CH) break;
    case 2: OLD(2, coll_v2, p2p_v2) UNKNOWN(2, RS_NET_PLUGIN) break;
    case 3: MIDDLE(3, coll_v3, p2p_v2, kernel_ch_v3) break;
    case 4: MIDDLE(4, coll_v4, p2p_v4, kernel_ch_v4) break;
    case 5: NEW(5, coll_v5, p2p_v5, coll_api_v5, p2p_api_v5) UNKNOWN(5, RS_CE_COLL) break;
    case 6: NEWEST(6, coll_v5, p2p_v5, coll_api_v5, p2p_api_v5, ce_coll_v6) UNKNOWN(6, RS_KERNEL_PHASE) break;
    case 7:
        NEWEST(7, coll_v7, p2p_v7, coll_api_v7, p2p_api_v7, ce_coll_v7)
        EVENT(7, RS_KERNEL_PHASE, kernelPhase, kernel_phase)
        UNKNOWN(7, UINT64_C(1) << 40)
        break;
    }
}

/* ---- stops and states ---- */

static void stop(void *handle)
{
    say_hex(ordinal, "stop", ".handle", (uintptr_t)handle);
    plugin_stop(plugin, handle);
    ordinal++;
}

static void state(void *handle, int number, void *args)
{
    say_hex(ordinal, "state", ".handle", (uintptr_t)handle);
    say_int(ordinal, "state", ".state", number);
    plugin_state(plugin, handle, number, args);
    ordinal++;
}

static void states_old(void)
{
    for (int s = -1; s <= 33; s++) {
        union rs_nccl_args_v1 args;
        uint64_t raw[2] = {rnd(), rnd()};
        memcpy(&args, raw, sizeof args);
        if (s < 0 || s > 31)
            say_uint(ordinal, "state", ".arg", raw[0]);
        else if (s <= 7)
            say_uint(ordinal, "state", ".transSize", args.proxyOp.transSize),
                say_int(ordinal, "state", ".steps", args.proxyOp.steps);
        else if (s >= 13 && s <= 18)
            say_uint(ordinal, "state", ".arg", (uint32_t)args.proxyCtrl.appendedProxyOps);
        state(some_handle(), s, &args);
        state(some_handle(), s, NULL);
    }
}

static void states_new(void)
{
    for (int s = -2; s <= 34; s++) {
        union rs_nccl_args_v4 args = {.kernelCh = {rnd()}};
        bool step = (s >= 8 && s <= 12) || s == 20, timer = s == 22 || s == 31, ctrl = s >= 13 && s <= 18;
        if (s == 21 && net_kind == NET_IB)
            ib_payload("state.args."), args.netPlugin.data = &ib;
        else if (s == 21 && net_kind == NET_SOCK)
            sock_payload("state.args."), args.netPlugin.data = &sock;
        else if (s < 0 || s > 31 || step || timer || s == 21)
            say_uint(ordinal, "state", ".arg", args.kernelCh.pTimer);
        else if (ctrl)
            say_uint(ordinal, "state", ".arg", (uint32_t)args.proxyCtrl.appendedProxyOps);
        state(some_handle(), s, &args);
        state(some_handle(), s, NULL);
    }
}

void play_fields(const struct plugin *p, void *context, unsigned rounds, uint64_t seed, enum net_kind net)
{
    plugin = p;
    own_context = context;
    net_kind = net;
    seed_now = seed ? seed : 1;
    for (unsigned i = 0; i < 64; i++) rnd();
    for (unsigned round = 0; round < rounds; round++) {
        starts();
        stop(some_handle());
        if (p->version < 4)
            states_old();
        else
            states_new();
        stop(latest);
    }
}
