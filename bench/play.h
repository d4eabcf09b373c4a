/* The calls of NCCL, played at a plugin: loading it, and the callbacks of one collective between two hosts.
 *
 * Functions in a header, because each program of bench/ is one file and because the compiler should see the whole loop:
 * what the driver itself costs is measured with callbacks that do nothing (play_floor) and taken off. A struct player
 * belongs to one thread; nothing here prints. */
#ifndef RS_BENCH_PLAY_H
#define RS_BENCH_PLAY_H

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "nccl/abi.h"

enum {
    PLAY_STEPS = 8, /* network steps of each of the two proxy operations */
    PLAY_CALLBACKS = 101, /* of one collective, with everything in RINGSCOPE_EVENTS=net asked for */
    PLAY_CHUNK = 4096, /* bytes a step */
    PLAY_THREADS = 256, /* at most */
};

struct player {
    const struct rs_nccl_profiler_v6 *plugin;
    void *context;
    int mask; /* written by the plugin at any time */
    int rank;
    pid_t pid;
    uint64_t noise; /* with PLAY_PAUSES: 0 = callbacks follow each other at once, else a pause before each */
};

/* v5 is called through v6's declarations: for the events played here the two are the same. */
_Static_assert(offsetof(struct rs_nccl_descr_v5, coll) == offsetof(struct rs_nccl_descr_v6, coll), "v5 as v6");
_Static_assert(sizeof(struct rs_nccl_profiler_v5) == sizeof(struct rs_nccl_profiler_v6), "v5 as v6");

/* ---- the floor: callbacks that do nothing ---- */

static inline rs_nccl_result floor_init(void **context, uint64_t id, int *mask, const char *name, int nnodes,
                                        int nranks, int rank, rs_nccl_logger logger)
{
    (void)id, (void)name, (void)nnodes, (void)nranks, (void)rank, (void)logger;
    *context = (void *)1;
    *mask = 0xfff & ~RS_PROXY_CTRL;
    return RS_NCCL_SUCCESS;
}
static inline rs_nccl_result floor_start(void *context, void **handle, struct rs_nccl_descr_v6 *d)
{
    (void)context, (void)d;
    *handle = (void *)1;
    return RS_NCCL_SUCCESS;
}
static inline rs_nccl_result floor_stop(void *handle)
{
    (void)handle;
    return RS_NCCL_SUCCESS;
}
static inline rs_nccl_result floor_state(void *handle, int state, union rs_nccl_args_v4 *args)
{
    (void)handle, (void)state, (void)args;
    return RS_NCCL_SUCCESS;
}
/* Volatile: its functions must be called, not inlined. */
static const struct rs_nccl_profiler_v6 *volatile play_floor =
    &(const struct rs_nccl_profiler_v6){"floor", floor_init, floor_start, floor_stop, floor_state, floor_stop};

/* ---- loading ---- */

/* As NCCL does: the newest version that both know. NULL path: the floor. NULL: *why says what is wrong. */
static inline const struct rs_nccl_profiler_v6 *play_load(const char *path, const char **why)
{
    if (!path) return play_floor;
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return *why = dlerror(), NULL;
    const void *found = dlsym(lib, "ncclProfiler_v6");
    if (!found) found = dlsym(lib, "ncclProfiler_v5");
    if (!found) *why = "it has neither ncclProfiler_v6 nor ncclProfiler_v5";
    return found;
}

__attribute__((format(printf, 5, 6))) static inline void play_log(int level, unsigned long flags, const char *file,
                                                                  int line, const char *fmt, ...)
{
    (void)level, (void)flags, (void)file, (void)line, (void)fmt;
}

static inline bool play_init(struct player *p, const struct rs_nccl_profiler_v6 *plugin, int rank, int nranks)
{
    *p = (struct player){.plugin = plugin, .rank = rank, .pid = getpid()};
    return !plugin->init(&p->context, UINT64_C(0xabcdef0123456789), &p->mask, "bench", 2, nranks, rank, play_log);
}

/* ---- one collective ---- */

/* Up to 255 turns of an empty loop, and eight times that once in sixteen: times that do not compress too well. Only where
 * PLAY_PAUSES is defined: even the test of a flag changes what the floor is. */
static inline void play_pause(struct player *p)
{
#ifdef PLAY_PAUSES
    if (!p->noise) return;
    p->noise ^= p->noise << 13;
    p->noise ^= p->noise >> 7;
    p->noise ^= p->noise << 17;
    unsigned turns = (unsigned)p->noise & 255;
    if (!(p->noise >> 60)) turns *= 8;
    for (; turns; turns--) __asm__ volatile("" ::: "memory");
#else
    (void)p;
#endif
}

static inline void play_descr(const struct player *p, struct rs_nccl_descr_v6 *d, uint64_t type, void *parent)
{
    memset(d, 0, sizeof *d);
    d->type = type;
    d->parentObj = parent;
    d->rank = p->rank;
}

static inline void *play_start(struct player *p, struct rs_nccl_descr_v6 *d, uint64_t *calls)
{
    void *handle = NULL;
    if (!((uint64_t)p->mask & d->type)) return NULL;
    play_pause(p);
    p->plugin->startEvent(p->context, &handle, d);
    ++*calls;
    return handle;
}

static inline void play_stop(struct player *p, void *handle, uint64_t *calls)
{
    if (!handle) return;
    play_pause(p);
    p->plugin->stopEvent(handle);
    ++*calls;
}

static inline void play_state(struct player *p, void *handle, int state, uint64_t arg, uint64_t *calls)
{
    if (!handle) return;
    union rs_nccl_args_v4 args;
    memset(&args, 0, sizeof args);
    args.kernelCh.pTimer = arg; /* the members share their place */
    play_pause(p);
    p->plugin->recordEventState(handle, state, &args);
    ++*calls;
}

static inline void play_coll_descr(const struct player *p, struct rs_nccl_descr_v6 *d, void *parent, void *group,
                                   uint64_t seq)
{
    play_descr(p, d, RS_COLL, parent);
    d->coll = (struct rs_nccl_coll_v5){.seqNumber = seq,
                                       .func = "AllReduce",
                                       .count = 16,
                                       .datatype = "ncclFloat32",
                                       .nChannels = 1,
                                       .nWarps = 8,
                                       .algo = "RING",
                                       .proto = "LL",
                                       .parentGroup = group};
}

static inline void play_op_descr(const struct player *p, struct rs_nccl_descr_v6 *d, void *parent, int send)
{
    play_descr(p, d, RS_PROXY_OP, parent);
    d->proxyOp =
        (struct rs_nccl_proxy_op){.pid = p->pid, .peer = 1, .nSteps = PLAY_STEPS, .chunkSize = 32768, .isSend = send};
}

/* Group and API calls, a kernel channel, a send and a receive operation with their steps, each step with its three
 * states. Returns how many callbacks that were. */
static inline uint64_t play_collective(struct player *p, uint64_t seq)
{
    struct rs_nccl_descr_v6 d;
    uint64_t n = 0, gpu_ns = UINT64_C(1765223116927674080) + seq * 20000;
    char stream;
    play_descr(p, &d, RS_GROUP_API, NULL);
    d.groupApi.groupDepth = 1;
    void *group_api = play_start(p, &d, &n);
    play_descr(p, &d, RS_COLL_API, group_api);
    d.collApi = (struct rs_nccl_coll_api_v5){"AllReduce", 16, "ncclFloat32", 0, &stream, false};
    void *api = play_start(p, &d, &n);
    play_stop(p, api, &n);
    play_descr(p, &d, RS_GROUP, group_api);
    void *group = play_start(p, &d, &n);
    play_coll_descr(p, &d, api, group, seq);
    void *coll = play_start(p, &d, &n);
    play_descr(p, &d, RS_KERNEL_LAUNCH, group_api);
    d.kernelLaunch.stream = &stream;
    void *launch = play_start(p, &d, &n);
    play_stop(p, launch, &n);
    play_stop(p, coll, &n);
    play_stop(p, group, &n);
    play_state(p, group_api, RS_ST_GROUP_START_API_STOP, 0, &n);
    play_state(p, group_api, RS_ST_GROUP_END_API_START, 0, &n);
    play_stop(p, group_api, &n);
    play_descr(p, &d, RS_KERNEL_CH, coll);
    d.kernelCh.pTimer = gpu_ns;
    void *kernel = play_start(p, &d, &n);

    void *op[2];
    for (int send = 0; send < 2; send++) {
        play_op_descr(p, &d, coll, send);
        op[send] = play_start(p, &d, &n);
    }
    for (int send = 0; send < 2; send++) play_state(p, op[send], RS_ST_OP_IN_PROGRESS, 0, &n);
    for (int step = 0; step < PLAY_STEPS; step++)
        for (int send = 0; send < 2; send++) {
            play_descr(p, &d, RS_PROXY_STEP, op[send]);
            d.proxyStep.step = step;
            void *s = play_start(p, &d, &n);
            play_state(p, s, send ? RS_ST_STEP_SEND_GPU_WAIT : RS_ST_STEP_RECV_WAIT, 0, &n);
            play_state(p, s, send ? RS_ST_STEP_SEND_PEER_WAIT : RS_ST_STEP_RECV_FLUSH_WAIT, PLAY_CHUNK, &n);
            play_state(p, s, send ? RS_ST_STEP_SEND_WAIT : RS_ST_STEP_RECV_GPU_WAIT, PLAY_CHUNK, &n);
            play_stop(p, s, &n);
        }
    for (int send = 0; send < 2; send++) play_stop(p, op[send], &n);
    play_state(p, kernel, RS_ST_KERNEL_CH_STOP, gpu_ns + 10000, &n);
    play_stop(p, kernel, &n);
    return n;
}

#endif
