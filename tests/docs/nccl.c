/* libnccl.so.2 of the documents' tests: what a launcher starts calls it in the place of NCCL. It takes the profiler plugin from
 * NCCL_PROFILER_PLUGIN as NCCL 2.28 does, and tells it of all-reduces of one communicator with all ranks, each of which ends when
 * all ranks have begun it. They meet in the file STANDIN_JOB, which the launcher made. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nccl/abi.h"

const char *ncclText(void);
int ncclGetVersion(int *version);
int ncclCommInitRank(int nranks, int rank);
int ncclAllReduce(size_t count);
int ncclCommDestroy(void);

static const struct rs_nccl_profiler_v5 *plugin;
static void *context;
static int mask, rank, ranks;
static uint64_t sequence;
static _Atomic int *arrived; /* of each operation, how many ranks have begun it */
enum { OPERATIONS = 1024, PATIENCE_S = 60 };

const char *ncclText(void)
{
    return "NCCL version 2.28.9+cuda13.0";
}

int ncclGetVersion(int *version)
{
    *version = 22809;
    return 0;
}

static void logger(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)flags, (void)file, (void)line;
    if (level > RS_NCCL_LOG_WARN) return;
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

int ncclCommInitRank(int nranks, int my_rank)
{
    const char *name = getenv("NCCL_PROFILER_PLUGIN");
    const char *job = getenv("STANDIN_JOB");
    rank = my_rank;
    ranks = nranks;
    if (ranks > 1) {
        int fd = job ? open(job, O_RDWR) : -1;
        if (fd < 0 || ftruncate(fd, OPERATIONS * sizeof *arrived))
            return fprintf(stderr, "NCCL: %d ranks without a launcher\n", ranks), 1;
        arrived = mmap(NULL, OPERATIONS * sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (arrived == MAP_FAILED) return 1;
    }
    if (!name) return 0;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "NCCL: no profiler plugin: %s\n", dlerror()), 0;
    plugin = dlsym(library, "ncclProfiler_v5");
    return plugin ? plugin->init(&context, 0x7ab1e, &mask, "default_pg", 1, nranks, rank, logger) : 0;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* 0 when all ranks have begun operation n. */
static int wait_for_all(uint64_t n)
{
    if (!arrived) return 0;
    if (n >= OPERATIONS) return 1;
    atomic_fetch_add(&arrived[n], 1);
    for (uint64_t end = now() + PATIENCE_S * 1000000000ull; atomic_load(&arrived[n]) < ranks;) {
        if (now() > end) return fprintf(stderr, "NCCL: %d of %d ranks came\n", atomic_load(&arrived[n]), ranks), 1;
        usleep(100);
    }
    return 0;
}

static void *start(struct rs_nccl_descr_v5 descr)
{
    void *handle = NULL;
    descr.rank = rank;
    if (mask & (int)descr.type) plugin->startEvent(context, &handle, &descr);
    return handle;
}

static void stop(void *handle)
{
    if (handle) plugin->stopEvent(handle);
}

int ncclAllReduce(size_t count)
{
    uint64_t n = sequence++;
    if (!plugin) return wait_for_all(n);
    void *group_api = start((struct rs_nccl_descr_v5){.type = RS_GROUP_API, .groupApi = {.groupDepth = 1}});
    void *api =
        start((struct rs_nccl_descr_v5){.type = RS_COLL_API,
                                        .parentObj = group_api,
                                        .collApi = {.func = "AllReduce", .count = count, .datatype = "ncclFloat32"}});
    void *group = start((struct rs_nccl_descr_v5){.type = RS_GROUP});
    void *coll = start((struct rs_nccl_descr_v5){.type = RS_COLL,
                                                 .parentObj = api,
                                                 .coll = {.seqNumber = n,
                                                          .func = "AllReduce",
                                                          .count = count,
                                                          .datatype = "ncclFloat32",
                                                          .nChannels = 1,
                                                          .nWarps = 8,
                                                          .algo = "RING",
                                                          .proto = "SIMPLE",
                                                          .parentGroup = group}});
    stop(api);
    void *launch = start((struct rs_nccl_descr_v5){.type = RS_KERNEL_LAUNCH, .parentObj = group_api});
    stop(launch);
    void *kernel = start((struct rs_nccl_descr_v5){
        .type = RS_KERNEL_CH, .parentObj = coll, .kernelCh = {.channelId = 0, .pTimer = now()}});
    int failed = wait_for_all(n);
    if (kernel)
        plugin->recordEventState(kernel, RS_ST_KERNEL_CH_STOP, &(union rs_nccl_args_v4){.kernelCh = {.pTimer = now()}});
    stop(kernel);
    stop(coll);
    stop(group);
    stop(group_api);
    return failed;
}

int ncclCommDestroy(void)
{
    return plugin ? plugin->finalize(context) : 0;
}
