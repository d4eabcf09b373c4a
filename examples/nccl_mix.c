/* nccl_mix: a bit of everything that NCCL does, small enough to read, with every result checked.
 *
 * Started once per rank (RANK, WORLD_SIZE in the environment; see README.md). Nothing here knows of a profiler: NCCL
 * loads the one that NCCL_PROFILER_PLUGIN names. */
#include "rank.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>

enum {
    CHUNK = 16384, /* floats a rank gives to each other rank: 64 KiB */
    MIB = 1 << 20,
    CAPACITY = 32 * MIB, /* bytes of each buffer */
    FLOATS = CAPACITY / 4,
    REPLAYS = 5,
};

static int rank, ranks;
static ncclComm_t world, half, second; /* half and second are made when first used */
static int half_first, half_ranks;
static cudaStream_t stream;
static cudaGraph_t graph;
static cudaGraphExec_t graph_exec;
static float *in, *out, *host; /* in never changes; every operation goes from in to out; host is for looking at out */

/* ---- What is sent and what must come back: small whole numbers, so that sums of floats are exact in any order. */

static float value(int of_rank, size_t i)
{
    return (float)(of_rank + 1) + (float)(i % 13);
}

static float sum(int first, int n, size_t i)
{
    return (float)n * (float)(2 * first + n + 1) / 2 + (float)n * (float)(i % 13);
}

/* Overwrites out with NaNs, so that what an operation failed to write is found. */
static void poison(void)
{
    CUDA_OK(cudaMemsetAsync(out, 0xff, CAPACITY, stream));
}

/* Waits for the stream and brings `n` floats of out, from `at`, to the host. Also says so when the network broke, which
 * a synchronise alone would wait for in vain. */
static void fetch(size_t at, size_t n)
{
    ncclResult_t state = ncclSuccess;
    cudaError_t e;
    while ((e = cudaStreamQuery(stream)) == cudaErrorNotReady) {
        NCCL_OK(ncclCommGetAsyncError(world, &state));
        if (state != ncclSuccess) DIE("the communicator failed: %s", ncclGetErrorString(state));
    }
    CUDA_OK(e);
    CUDA_OK(cudaMemcpy(host, out + at, n * sizeof(float), cudaMemcpyDeviceToHost));
}

static void expect(const char *what, size_t i, float want)
{
    if (!(fabsf(host[i] - want) < 0.5f)) DIE("%s: element %zu is %g, not %g", what, i, (double)host[i], (double)want);
}

static void expect_sum(const char *what, size_t at, size_t n, int first, int of)
{
    fetch(at, n);
    for (size_t i = 0; i < n; i++) expect(what, i, sum(first, of, i));
}

/* ---- The parts. */

/* Like a data-parallel training step: buckets of gradients, one after another, waited for once. */
static void part_allreduce(int step)
{
    static const size_t bytes[] = {64, 4096, 64 << 10, MIB, 16 * MIB};
    enum { N = sizeof bytes / sizeof *bytes };
    size_t at = 0;
    (void)step;
    for (int b = 0; b < N; at += bytes[b++] / 4)
        NCCL_OK(ncclAllReduce(in, out + at, bytes[b] / 4, ncclFloat, ncclSum, world, stream));
    at = 0;
    for (int b = 0; b < N; at += bytes[b++] / 4) expect_sum("all-reduce", at, bytes[b] / 4, 0, ranks);
}

/* Like a pipeline: to the next rank, from the previous one, at once. */
static void part_ring(int step)
{
    int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;
    (void)step;
    NCCL_OK(ncclGroupStart());
    NCCL_OK(ncclSend(in, CHUNK, ncclFloat, next, world, stream));
    NCCL_OK(ncclRecv(out, CHUNK, ncclFloat, prev, world, stream));
    NCCL_OK(ncclGroupEnd());
    fetch(0, CHUNK);
    for (size_t i = 0; i < CHUNK; i++) expect("ring", i, value(prev, i));
}

static void check_alltoall(const char *what)
{
    fetch(0, (size_t)ranks * CHUNK);
    for (int peer = 0; peer < ranks; peer++)
        for (size_t i = 0; i < CHUNK; i++)
            expect(what, (size_t)peer * CHUNK + i, value(peer, (size_t)rank * CHUNK + i));
}

/* Like a mixture of experts: first written out as sends and receives, then as the one call newer NCCL has. */
static void part_alltoall(int step)
{
    (void)step;
    NCCL_OK(ncclGroupStart());
    for (int peer = 0; peer < ranks; peer++) {
        NCCL_OK(ncclSend(in + (size_t)peer * CHUNK, CHUNK, ncclFloat, peer, world, stream));
        NCCL_OK(ncclRecv(out + (size_t)peer * CHUNK, CHUNK, ncclFloat, peer, world, stream));
    }
    NCCL_OK(ncclGroupEnd());
    check_alltoall("all-to-all by send/recv");
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    poison();
    NCCL_OK(ncclAlltoAll(in, out, CHUNK, ncclFloat, world, stream));
    check_alltoall("all-to-all");
#endif
}

/* Three all-reduces in one group: NCCL may run them as one kernel. */
static void part_group(int step)
{
    static const size_t count[] = {1000, 65536, 30000};
    size_t at = 0;
    (void)step;
    NCCL_OK(ncclGroupStart());
    for (int i = 0; i < 3; at += count[i++])
        NCCL_OK(ncclAllReduce(in, out + at, count[i], ncclFloat, ncclSum, world, stream));
    NCCL_OK(ncclGroupEnd());
    at = 0;
    for (int i = 0; i < 3; at += count[i++]) expect_sum("grouped all-reduce", at, count[i], 0, ranks);
}

/* Like fully sharded training: gather the weights, scatter the gradients. */
static void part_gather(int step)
{
    (void)step;
    NCCL_OK(ncclAllGather(in, out, CHUNK, ncclFloat, world, stream));
    fetch(0, (size_t)ranks * CHUNK);
    for (int peer = 0; peer < ranks; peer++)
        for (size_t i = 0; i < CHUNK; i++) expect("all-gather", (size_t)peer * CHUNK + i, value(peer, i));
    poison();
    NCCL_OK(ncclReduceScatter(in, out, CHUNK, ncclFloat, ncclSum, world, stream));
    fetch(0, CHUNK);
    for (size_t i = 0; i < CHUNK; i++) expect("reduce-scatter", i, sum(0, ranks, (size_t)rank * CHUNK + i));
}

/* As bytes, from another root each step. */
static void part_broadcast(int step)
{
    int root = step % ranks;
    NCCL_OK(ncclBroadcast(in, out, MIB, ncclUint8, root, world, stream));
    fetch(0, MIB / 4);
    for (size_t i = 0; i < MIB / 4; i++) expect("broadcast", i, value(root, i));
}

/* Two communicators out of one, each with its half of the ranks. */
static void part_split(int step)
{
    (void)step;
    if (!half) {
        int lower = (ranks + 1) / 2, colour = rank >= lower;
        half_first = colour ? lower : 0;
        half_ranks = colour ? ranks - lower : lower;
        NCCL_OK(ncclCommSplit(world, colour, rank, &half, NULL));
    }
    NCCL_OK(ncclAllReduce(in, out, CHUNK, ncclFloat, ncclSum, half, stream));
    expect_sum("all-reduce in a half", 0, CHUNK, half_first, half_ranks);
}

/* Captured once, replayed in every step. */
static void part_graph(int step)
{
    (void)step;
    if (!graph_exec) {
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        NCCL_OK(ncclAllReduce(in, out, CHUNK, ncclFloat, ncclSum, world, stream));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&graph_exec, graph, 0));
    }
    for (int i = 0; i < REPLAYS; i++) CUDA_OK(cudaGraphLaunch(graph_exec, stream));
    expect_sum("all-reduce in a graph", 0, CHUNK, 0, ranks);
}

/* A second communicator over the same ranks, with an id of its own. */
static void part_second(int step)
{
    (void)step;
    if (!second) second = world_comm(rank, ranks, 1, "second");
    NCCL_OK(ncclAllReduce(in, out, CHUNK, ncclFloat, ncclSum, second, stream));
    expect_sum("all-reduce on the second communicator", 0, CHUNK, 0, ranks);
}

static struct part {
    const char *name;
    void (*run)(int step);
    bool off;
} parts[] = {
    {"allreduce", part_allreduce, false}, {"ring", part_ring, false},     {"alltoall", part_alltoall, false},
    {"group", part_group, false},         {"gather", part_gather, false}, {"broadcast", part_broadcast, false},
    {"split", part_split, false},         {"graph", part_graph, false},   {"second", part_second, false},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* ---- The program. */

__attribute__((noreturn)) static void usage(int status)
{
    fprintf(status ? stderr : stdout, "usage: RANK=r WORLD_SIZE=n nccl_mix [options], once for each rank\n"
                                      "  --steps N          steps of all parts (10)\n"
                                      "  --only PART,...    of: allreduce ring alltoall group gather broadcast split "
                                      "graph second\n"
                                      "  --device N         CUDA device (rank modulo the number of devices)\n"
                                      "  --slow RANK:USEC   that rank sleeps before each step\n"
                                      "  --no-destroy       leave the communicators to the end of the process\n"
                                      "  --abort            the last rank stays away from a last all-reduce, then all "
                                      "abort\n");
    exit(status);
}

static void only(char *list)
{
    for (int i = 0; i < PARTS; i++) parts[i].off = true;
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        int i = 0;
        while (i < PARTS && strcmp(name, parts[i].name) != 0) i++;
        if (i == PARTS) {
            fprintf(stderr, "nccl_mix: there is no part '%s'\n", name);
            usage(2);
        }
        parts[i].off = false;
    }
}

int main(int argc, char **argv)
{
    enum { STEPS = 1, ONLY, DEVICE, SLOW, NO_DESTROY, ABORT, HELP };
    static const struct option options[] = {
        {"steps", required_argument, NULL, STEPS},
        {"only", required_argument, NULL, ONLY},
        {"device", required_argument, NULL, DEVICE},
        {"slow", required_argument, NULL, SLOW},
        {"no-destroy", no_argument, NULL, NO_DESTROY},
        {"abort", no_argument, NULL, ABORT},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    int steps = 10, device = -1, slow_rank = -1, slow_us = 0, devices = 0, version = 0;
    bool no_destroy = false, abort_it = false;
    ncclResult_t result;

    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case STEPS: steps = atoi(optarg); break;
        case ONLY: only(optarg); break;
        case DEVICE: device = atoi(optarg); break;
        case SLOW:
            if (sscanf(optarg, "%d:%d", &slow_rank, &slow_us) != 2) usage(2);
            break;
        case NO_DESTROY: no_destroy = true; break;
        case ABORT: abort_it = true; break;
        case HELP:
        case 'h': usage(0);
        default: usage(2);
        }
    }
    if (optind < argc) usage(2);
    my_rank = rank = env_int("RANK", 0);
    ranks = env_int("WORLD_SIZE", 1);
    if (rank >= ranks || ranks > FLOATS / CHUNK) DIE("rank %d of %d: not possible", rank, ranks);

    CUDA_OK(cudaGetDeviceCount(&devices));
    CUDA_OK(cudaSetDevice(device >= 0 ? device : rank % devices));
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&in, CAPACITY));
    CUDA_OK(cudaMalloc((void **)&out, CAPACITY));
    if (!(host = malloc(CAPACITY))) DIE("no memory");
    for (size_t i = 0; i < FLOATS; i++) host[i] = value(rank, i);
    CUDA_OK(cudaMemcpy(in, host, CAPACITY, cudaMemcpyHostToDevice));

    world = world_comm(rank, ranks, 0, "world");
    NCCL_OK(ncclGetVersion(&version));
    double start = now_s();
    for (int step = 0; step < steps; step++) {
        if (rank == slow_rank) usleep((useconds_t)slow_us);
        for (int i = 0; i < PARTS; i++) {
            if (parts[i].off) continue;
            poison();
            parts[i].run(step);
        }
    }
    if (rank == 0)
        printf("nccl_mix: NCCL %d.%d.%d, %d ranks, %d steps in %.2f s, all results right\n", version / 10000,
               version / 100 % 100, version % 100, ranks, steps, now_s() - start);
    fflush(stdout);

    if (abort_it) {
        /* What a hang looks like, ended as a watchdog would end it: the operation is never completed. */
        if (rank != ranks - 1 || ranks == 1) NCCL_OK(ncclAllReduce(in, out, CHUNK, ncclFloat, ncclSum, world, stream));
        usleep(500000);
    }
    if (no_destroy) return 0;
    if (graph_exec) { /* before its communicator */
        CUDA_OK(cudaGraphExecDestroy(graph_exec));
        CUDA_OK(cudaGraphDestroy(graph));
    }
    /* The stuck kernel is world's: aborted first, since freeing the memory of another would wait for it. The peers'
     * aborts may make this one end in an error, which is no news. */
    if (abort_it && (result = ncclCommAbort(world)) != ncclSuccess)
        fprintf(stderr, "rank %d: abort: %s\n", rank, ncclGetErrorString(result));
    ncclComm_t comms[] = {second, half, abort_it ? NULL : world};
    for (int i = 0; i < 3; i++)
        if (comms[i]) NCCL_OK(ncclCommDestroy(comms[i]));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
    free(host);
    return 0;
}
