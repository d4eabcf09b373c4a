/* Scripts of callbacks, played into the real recorder by a child process, and the model that its recording becomes.
 *
 * NCCL's part is played by hand: one struct holds what the descriptors of all versions have, and start() lays it out as
 * the version at hand does. A child notes handles and times in memory that it shares with the test. The test itself
 * never touches the recorder, so every case has a recording of its own. */
#ifndef RS_TESTS_SCRIPT_H
#define RS_TESTS_SCRIPT_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/import.h"
#include "nccl/abi.h"

extern const struct rs_nccl_profiler_v1 ncclProfiler_v1;
extern const struct rs_nccl_profiler_v2 ncclProfiler_v2;
extern const struct rs_nccl_profiler_v3 ncclProfiler_v3;
extern const struct rs_nccl_profiler_v4 ncclProfiler_v4;
extern const struct rs_nccl_profiler_v5 ncclProfiler_v5;
extern const struct rs_nccl_profiler_v6 ncclProfiler_v6;
extern const struct rs_nccl_profiler_v7 ncclProfiler_v7;

/* What a child leaves for the test. */
struct notes {
    void *h[64];
    int64_t ns[64]; /* CLOCK_MONOTONIC_RAW */
    pid_t pid;
};
static struct notes *notes;
static char folder[256]; /* of the recordings */
static int api = 6; /* the version that start(), stop() and the others use */

/* ---- NCCL's part, in the child ---- */

/* One event, whatever the version. Versions 1 to 3 take the communicator's hash and name with it. */
struct event {
    void *parent, *group;
    const char *func, *dtype, *name;
    uint64_t hash, seq, timer;
    size_t count;
    int rank, root, peer, nsteps, step;
    unsigned channels, channel;
    pid_t pid;
    bool is_send, captured, symmetric;
    bool none; /* so that an event may say nothing of all this */
};

static inline void *init(uint64_t hash, const char *name, int nranks, int rank)
{
    static int mask;
    void *ctx = NULL;
    switch (api) {
    case 1: ncclProfiler_v1.init(&ctx, &mask); break;
    case 2: ncclProfiler_v2.init(&ctx, &mask); break;
    case 3: ncclProfiler_v3.init(&ctx, &mask); break;
    case 4: ncclProfiler_v4.init(&ctx, &mask, name, hash, 1, nranks, rank, NULL); break;
    case 5: ncclProfiler_v5.init(&ctx, hash, &mask, name, 1, nranks, rank, NULL); break;
    case 6: ncclProfiler_v6.init(&ctx, hash, &mask, name, 1, nranks, rank, NULL); break;
    default: ncclProfiler_v7.init(&ctx, hash, &mask, name, 1, nranks, rank, NULL); break;
    }
    return ctx;
}

static inline void finalize(void *ctx)
{
    ncclProfiler_v6.finalize(ctx);
}
static inline void stop(void *handle)
{
    ncclProfiler_v6.stopEvent(handle);
}
static inline void state_plain(void *handle, int state) /* as NCCL sends states 19, 23, 24 */
{
    if (api <= 3)
        ncclProfiler_v3.recordEventState(handle, state, NULL);
    else
        ncclProfiler_v6.recordEventState(handle, state, NULL);
}
/* With a number: bytes of a step, or a kernel's stop timer. Before v4 steps carry none. */
static inline void state_with(void *handle, int state, uint64_t number)
{
    union rs_nccl_args_v1 old = {.proxyOp = {number, 0}};
    union rs_nccl_args_v4 args = {.kernelCh = {number}};
    if (api <= 3)
        ncclProfiler_v3.recordEventState(handle, state, &old);
    else
        ncclProfiler_v6.recordEventState(handle, state, &args);
}

#define SCRIPT_STRINGS(d) ((d).func = e.func, (d).datatype = e.dtype, (d).count = e.count)
#define SCRIPT_COLL(d)                                                                                                 \
    (SCRIPT_STRINGS(d), (d).seqNumber = e.seq, (d).root = e.root, (d).algo = "RING", (d).proto = "SIMPLE")
#define SCRIPT_PROXY(d)                                                                                                \
    case RS_PROXY_OP:                                                                                                  \
        d.proxyOp = (struct rs_nccl_proxy_op){                                                                         \
            e.pid ? e.pid : getpid(), (uint8_t)e.channel, e.peer, e.nsteps, 4096, e.is_send};                          \
        break;                                                                                                         \
    case RS_PROXY_STEP:                                                                                                \
        d.proxyStep.step = e.step;                                                                                     \
        break
#define SCRIPT_OLD(d)                                                                                                  \
    SCRIPT_PROXY(d);                                                                                                   \
    case RS_COLL:                                                                                                      \
        SCRIPT_COLL(d.coll);                                                                                           \
        d.coll.name = e.name, d.coll.commHash = e.hash, d.coll.nMaxChannels = 24;                                      \
        break;                                                                                                         \
    case RS_P2P:                                                                                                       \
        SCRIPT_STRINGS(d.p2p);                                                                                         \
        d.p2p.name = e.name, d.p2p.commHash = e.hash, d.p2p.peer = e.peer;                                             \
        break
#define SCRIPT_NEW(d)                                                                                                  \
    SCRIPT_PROXY(d);                                                                                                   \
    case RS_KERNEL_CH: d.kernelCh = (struct rs_nccl_kernel_ch_v4){(uint8_t)e.channel, e.timer}; break;                 \
    case RS_COLL:                                                                                                      \
        SCRIPT_COLL(d.coll);                                                                                           \
        d.coll.nChannels = (uint8_t)e.channels;                                                                        \
        break;                                                                                                         \
    case RS_P2P:                                                                                                       \
        SCRIPT_STRINGS(d.p2p);                                                                                         \
        d.p2p.peer = e.peer, d.p2p.nChannels = (uint8_t)e.channels;                                                    \
        break
#define SCRIPT_API(d)                                                                                                  \
    SCRIPT_NEW(d);                                                                                                     \
    case RS_GROUP_API: d.groupApi.graphCaptured = e.captured, d.groupApi.groupDepth = 1; break;                        \
    case RS_COLL_API:                                                                                                  \
        SCRIPT_STRINGS(d.collApi);                                                                                     \
        d.collApi.root = e.root, d.collApi.graphCaptured = e.captured;                                                 \
        break;                                                                                                         \
    case RS_P2P_API:                                                                                                   \
        SCRIPT_STRINGS(d.p2pApi);                                                                                      \
        d.p2pApi.graphCaptured = e.captured;                                                                           \
        break
#define SCRIPT_CE(d)                                                                                                   \
    SCRIPT_API(d);                                                                                                     \
    case RS_CE_COLL:                                                                                                   \
        SCRIPT_STRINGS(d.ceColl);                                                                                      \
        d.ceColl.seqNumber = e.seq, d.ceColl.root = e.root, d.ceColl.syncStrategy = "UC";                              \
        d.ceColl.ceSeqNum = (uint32_t)e.seq;                                                                           \
        break
#define SCRIPT_START(V, CASES)                                                                                         \
    struct rs_nccl_descr_v##V d = {.parentObj = e.parent, .rank = e.rank};                                             \
    d.type = (__typeof__(d.type))type;                                                                                 \
    switch (type) {                                                                                                    \
        CASES;                                                                                                         \
    default: break;                                                                                                    \
    }
#define SCRIPT_GO(V) ncclProfiler_v##V.startEvent(ctx, &handle, &d)

static inline uint8_t enum_of(const char *const *names, const char *name)
{
    uint8_t i = 0;
    while (names[i] && strcmp(names[i], name)) i++;
    return i;
}

static inline void *start_v1(void *ctx, uint64_t type, struct event e)
{
    /* NCCL's own numbers: ncclFunc_t and ncclDataType_t. */
    static const char *const funcs[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv",
                                        "Send",      "Recv",   NULL};
    static const char *const dtypes[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                         "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", NULL};
    struct rs_nccl_descr_v1 d = {.type = (uint8_t)type, .parentObj = e.parent, .rank = e.rank};
    void *handle = NULL;
    switch (type) {
        SCRIPT_PROXY(d);
    case RS_COLL:
        d.coll = (struct rs_nccl_coll_v1){.name = e.name, .commHash = e.hash, .seqNumber = e.seq, .count = e.count};
        d.coll.func = enum_of(funcs, e.func), d.coll.datatype = enum_of(dtypes, e.dtype), d.coll.root = e.root;
        d.coll.algo = 1, d.coll.proto = 2, d.coll.nMaxChannels = 24; /* RING, SIMPLE */
        break;
    case RS_P2P:
        d.p2p = (struct rs_nccl_p2p_v1){.name = e.name, .commHash = e.hash, .count = e.count, .peer = e.peer};
        d.p2p.func = enum_of(funcs, e.func), d.p2p.datatype = enum_of(dtypes, e.dtype);
        break;
    default: break;
    }
    SCRIPT_GO(1);
    return handle;
}

static inline void *start_event(void *ctx, uint64_t type, struct event e)
{
    void *handle = NULL;
    if (api == 1) return start_v1(ctx, type, e);
    if (api == 2) {
        SCRIPT_START(2, SCRIPT_OLD(d))
        SCRIPT_GO(2);
    } else if (api == 3) {
        SCRIPT_START(3, SCRIPT_OLD(d); case RS_KERNEL_CH : d.kernelCh.channelId = (uint8_t)e.channel; break)
        SCRIPT_GO(3);
    } else if (api == 4) {
        SCRIPT_START(4, SCRIPT_NEW(d))
        if (type == RS_P2P) d.p2p.nChannels = 0xa5; /* as NCCL's shim leaves it */
        SCRIPT_GO(4);
    } else if (api == 5) {
        SCRIPT_START(5, SCRIPT_API(d))
        if (type == RS_COLL) d.coll.parentGroup = e.group;
        if (type == RS_P2P) d.p2p.parentGroup = e.group;
        SCRIPT_GO(5);
    } else if (api == 6) {
        SCRIPT_START(6, SCRIPT_CE(d))
        if (type == RS_COLL) d.coll.parentGroup = e.group;
        if (type == RS_P2P) d.p2p.parentGroup = e.group;
        SCRIPT_GO(6);
    } else {
        SCRIPT_START(7, SCRIPT_CE(d))
        if (type == RS_COLL) d.coll.parentGroup = e.group, d.coll.isSymColl = e.symmetric, d.coll.kernelVariant = "v";
        if (type == RS_P2P) d.p2p.parentGroup = e.group;
        SCRIPT_GO(7);
    }
    return handle;
}
/* start(context, type, .parent = ..., .channel = ...) */
#define start(ctx, type, ...) start_event(ctx, type, (struct event){.none = 0, __VA_ARGS__})

static inline int64_t raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A callback with the times right before and after it: what it was called at lies between. */
#define TIMED(n, call) (notes->ns[2 * (n)] = raw_ns(), (call), notes->ns[2 * (n) + 1] = raw_ns())

/* How far times of the recording may be from these: the error of its clock. */
enum { CLOCK_SLACK_NS = 2000 };

static inline void nap_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* A kernel's channel from start to end. */
static inline void kernel(void *ctx, void *op, unsigned channel, uint64_t from, uint64_t to)
{
    void *q = start(ctx, RS_KERNEL_CH, .parent = op, .channel = channel, .timer = from);
    if (api >= 4) state_with(q, RS_ST_KERNEL_CH_STOP, to);
    stop(q);
}

/* Runs a piece of a script on a thread of its own, as NCCL's proxy thread or CUDA's thread for host functions. */
static inline void on_thread(void *(*piece)(void *), void *of)
{
    pthread_t t;
    if (pthread_create(&t, NULL, piece, of) || pthread_join(t, NULL)) _exit(9);
}

/* ---- the test's part ---- */

static inline void empty_folder(void)
{
    struct rs_dir dir = {0};
    if (rs_dir_list(&dir, folder, NULL, NULL) != RS_OK) return;
    for (size_t i = 0; i < dir.count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, dir.names[i]);
        unlink(path);
    }
    rs_dir_free(&dir);
}

/* Starts a child that plays a script and exits, with exit handlers. */
static inline pid_t play_begin(void (*script)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid) return pid;
    script();
    exit(0);
}

static inline void play_end(pid_t pid, int signal)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (signal)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    else
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void read_model(struct rs_model *m)
{
    struct rs_inputs in = {0};
    struct rs_err err = {0};
    char *paths[] = {folder};
    if (rs_inputs_open(&in, paths, 1, NULL, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(in.nunreadable, 0);
    *m = (struct rs_model){0};
    if (rs_import(m, &in, NULL, &err) != RS_OK) fail_msg("%s", err.msg);
    rs_model_link(m);
    for (uint32_t i = 0; i < m->nprocs; i++) assert_true(m->procs[i].complete);
    rs_inputs_close(&in);
}

/* A whole case: a script that ends by itself, or by a signal, in an empty folder. */
static inline void play_until(struct rs_model *m, void (*script)(void), int signal)
{
    empty_folder();
    memset(notes, 0, sizeof *notes);
    play_end(play_begin(script), signal);
    read_model(m);
}
static inline void play(struct rs_model *m, void (*script)(void))
{
    play_until(m, script, 0);
}

static inline uint64_t handle_of(unsigned note)
{
    return (uintptr_t)notes->h[note];
}
/* From one of the TIMED callbacks to another, at least and at most. */
struct spent {
    int64_t least, most;
};
static inline struct spent spent(unsigned from, unsigned to)
{
    return (struct spent){notes->ns[2 * to] - notes->ns[2 * from + 1], notes->ns[2 * to + 1] - notes->ns[2 * from]};
}
static inline void check_within(int64_t ns, struct spent s)
{
    int64_t slack = CLOCK_SLACK_NS + s.most / 100;
    if (ns < s.least - slack || ns > s.most + slack)
        fail_msg("%lld ns, not %lld to %lld", (long long)ns, (long long)s.least, (long long)s.most);
}
static inline void check_spent(int64_t ns, unsigned from, unsigned to)
{
    check_within(ns, spent(from, to));
}

/* The part of the operation whose handle the child noted. */
static inline uint32_t part_of(const struct rs_model *m, unsigned note)
{
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (m->parts.handle[i] == handle_of(note)) return i;
    fail_msg("no part of handle %u", note);
    return RS_NONE;
}

#define assert_text(m, id, want) assert_string_equal(rs_model_text(m, id), want)

static inline int script_set_up(void **unused)
{
    (void)unused;
    const char *tmp = getenv("TMP");
    static const char *const settings[] = {"RINGSCOPE_EVENTS", "RINGSCOPE_LIMIT",      "RINGSCOPE_KEEP",
                                           "RINGSCOPE_MEMORY", "RINGSCOPE_TEST_CLOCK", "RINGSCOPE_TEST_HOST"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) unsetenv(settings[i]);
    snprintf(folder, sizeof folder, "%s/ringscope-script.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder) || setenv("RINGSCOPE_DIR", folder, 1)) return -1;
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return notes == MAP_FAILED ? -1 : 0;
}

static inline int script_tear_down(void **unused)
{
    (void)unused;
    empty_folder();
    munmap(notes, sizeof *notes);
    return rmdir(folder);
}

#endif
