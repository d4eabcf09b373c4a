/* nccl_masks: work that is sensitive to a change of the profiler's event mask.
 *
 * Started once per rank like nccl_mix, or with --here N as one process with N ranks, a thread each (NCCL 2.30 and later,
 * NCCL_MULTI_RANK_GPU_ENABLE=1). The operations are random, the same on all ranks: all-reduces; groups of receives and
 * sends with pauses between their calls; groups over two communicators; communicators made for one group; graphs that are
 * captured, replayed and captured again. Every result is compared. masks.sh changes the mask through the control file
 * meanwhile. NCCL latches the mask at each call: where it changes inside a group, a proxy may wait for a counter that no
 * kernel writes, and ncclCommDestroy() does not return. Exit status: 0 fine, 1 wrong result or error, 3 something did not
 * return in time. */
#include <pthread.h>

#include "rank.h"

enum { COUNT = 4096, REPLAYS = 4, PATIENCE_S = 40, WATCHED = 64 };

static int nranks, here, seconds = 30, first_rank, operations[5];
static double began;
static ncclUniqueId shared_id;
static pthread_barrier_t all_here; /* with --here */
static volatile struct {
    double since; /* 0: nothing to wait for */
    const char *what;
} watched[WATCHED]; /* by rank */

struct worker {
    int rank, half_rank, halves;
    unsigned long random, steps;
    ncclComm_t world, half;
    cudaStream_t stream;
    float *in, *out, *host;
    cudaGraphExec_t graph;
};

/* The same sequence on all ranks. */
static unsigned pick(struct worker *r, unsigned below)
{
    r->random = r->random * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(r->random >> 33) % below;
}

static void waits_for(const struct worker *r, const char *what)
{
    watched[r->rank % WATCHED].what = what;
    watched[r->rank % WATCHED].since = what ? now_s() : 0;
}

static void *watch(void *unused)
{
    (void)unused;
    for (;; usleep(100000))
        for (int i = 0; i < WATCHED; i++) {
            double since = watched[i].since;
            if (since == 0 || now_s() - since < PATIENCE_S) continue;
            fprintf(stderr, "rank %d: %s has not returned after %d s\n", i, watched[i].what, PATIENCE_S);
            _exit(3);
        }
}

/* With all ranks in one process: freeing GPU memory waits for all kernels of the GPU, and those for other ranks. So all
 * make and destroy communicators at the same time, with nothing running. */
static void together(void)
{
    if (here) pthread_barrier_wait(&all_here);
}

static void fill(struct worker *r, float value)
{
    for (int i = 0; i < COUNT; i++) r->host[i] = value;
    CUDA_OK(cudaMemcpyAsync(r->in, r->host, COUNT * sizeof(float), cudaMemcpyHostToDevice, r->stream));
    CUDA_OK(cudaStreamSynchronize(r->stream));
}

static void expect(struct worker *r, int part, float value, const char *what)
{
    waits_for(r, what);
    CUDA_OK(cudaMemcpyAsync(r->host, r->out + part * COUNT, COUNT * sizeof(float), cudaMemcpyDeviceToHost, r->stream));
    CUDA_OK(cudaStreamSynchronize(r->stream));
    waits_for(r, NULL);
    for (int i = 0; i < COUNT; i++)
        if (r->host[i] != value)
            DIE("rank %d: %s: %g instead of %g at %d, step %lu", r->rank, what, r->host[i], value, i, r->steps);
}

/* Between the calls of a group: where a change of the mask would do harm. */
static void pause_us(struct worker *r, unsigned most)
{
    unsigned us = pick(r, most);
    if (us > 50) usleep(us);
}

static int before(const struct worker *r)
{
    return (r->rank + nranks - 1) % nranks;
}
static int after(const struct worker *r)
{
    return (r->rank + 1) % nranks;
}

static void ring(struct worker *r, ncclComm_t comm, unsigned most_us)
{
    NCCL_OK(ncclGroupStart());
    NCCL_OK(ncclRecv(r->out, COUNT, ncclFloat, before(r), comm, r->stream));
    pause_us(r, most_us);
    NCCL_OK(ncclSend(r->in, COUNT, ncclFloat, after(r), comm, r->stream));
    NCCL_OK(ncclGroupEnd());
}

/* A communicator for one group. The recorder looks at the control file when a communicator is made, so the mask often
 * changes inside this group; and no later operation writes the counter that a proxy would wait for. */
static void short_lived(struct worker *r)
{
    ncclComm_t comm;
    waits_for(r, "ncclCommSplit");
    together();
    NCCL_OK(ncclCommSplit(r->world, 0, r->rank, &comm, NULL));
    together();
    ring(r, comm, 8000);
    expect(r, 0, (float)(before(r) + 1), "send/recv on a communicator of its own");
    waits_for(r, "ncclCommDestroy of a communicator with one group");
    together();
    NCCL_OK(ncclCommDestroy(comm));
    together();
    waits_for(r, NULL);
}

static void everybody(struct worker *r)
{
    NCCL_OK(ncclGroupStart());
    for (int p = 0; p < nranks; p++) {
        NCCL_OK(ncclSend(r->in, COUNT, ncclFloat, p, r->world, r->stream));
        pause_us(r, 1000);
        NCCL_OK(ncclRecv(r->out + p * COUNT, COUNT, ncclFloat, p, r->world, r->stream));
    }
    NCCL_OK(ncclGroupEnd());
}

static void capture(struct worker *r)
{
    cudaGraph_t graph;
    together();
    if (r->graph) CUDA_OK(cudaGraphExecDestroy(r->graph));
    CUDA_OK(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
    ring(r, r->world, 2000);
    NCCL_OK(ncclAllReduce(r->in, r->out + COUNT, COUNT, ncclFloat, ncclSum, r->world, r->stream));
    CUDA_OK(cudaStreamEndCapture(r->stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&r->graph, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    together();
}

/* Whether the time is up, decided by rank 0 for all. */
static int is_over(struct worker *r)
{
    fill(r, r->rank == 0 && now_s() - began > seconds ? 1.0f : 0.0f);
    NCCL_OK(ncclAllReduce(r->in, r->out, COUNT, ncclFloat, ncclSum, r->world, r->stream));
    waits_for(r, "the all-reduce that asks whether it is over");
    CUDA_OK(cudaMemcpyAsync(r->host, r->out, sizeof(float), cudaMemcpyDeviceToHost, r->stream));
    CUDA_OK(cudaStreamSynchronize(r->stream));
    waits_for(r, NULL);
    return r->host[0] > 0;
}

static void step(struct worker *r)
{
    float mine = (float)(r->rank + 1), sum = (float)(nranks * (nranks + 1) / 2), half_sum = 0;
    for (int i = r->rank % r->halves; i < nranks; i += r->halves) half_sum += (float)(i + 1);
    unsigned what = pick(r, 5);
    fill(r, mine);
    switch (what) {
    case 0:
        NCCL_OK(ncclAllReduce(r->in, r->out, COUNT, ncclFloat, ncclSum, r->world, r->stream));
        expect(r, 0, sum, "all-reduce");
        break;
    case 1:
        ring(r, r->world, 4000);
        expect(r, 0, (float)(before(r) + 1), "send/recv to the neighbours");
        break;
    case 2:
        everybody(r);
        for (int p = 0; p < nranks; p++) expect(r, p, (float)(p + 1), "send/recv to everybody");
        break;
    case 3:
        NCCL_OK(ncclGroupStart());
        NCCL_OK(ncclAllReduce(r->in, r->out, COUNT, ncclFloat, ncclSum, r->world, r->stream));
        pause_us(r, 2000);
        NCCL_OK(ncclAllReduce(r->in, r->out + COUNT, COUNT, ncclFloat, ncclSum, r->half, r->stream));
        NCCL_OK(ncclGroupEnd());
        expect(r, 0, sum, "all-reduce in a group");
        expect(r, 1, half_sum, "all-reduce of the half in a group");
        break;
    case 4: short_lived(r); break;
    }
    if (r->rank == 0) operations[what]++;
    if (r->steps % 40 == 7) capture(r);
    if (r->graph && pick(r, 3) == 0)
        for (int i = 0; i < REPLAYS; i++) {
            CUDA_OK(cudaGraphLaunch(r->graph, r->stream));
            expect(r, 0, (float)(before(r) + 1), "send/recv in a graph");
            expect(r, 1, sum, "all-reduce in a graph");
        }
    r->steps++;
}

static void *run_rank(void *arg)
{
    struct worker me = {.rank = first_rank + (int)(size_t)arg, .random = 4711, .halves = nranks > 2 ? 2 : 1}, *r = &me;
    CUDA_OK(cudaSetDevice(env_int("CUDA_DEVICE", 0)));
    CUDA_OK(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&r->in, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc((void **)&r->out, (size_t)(nranks + 1) * COUNT * sizeof(float)));
    CUDA_OK(cudaMallocHost((void **)&r->host, COUNT * sizeof(float)));
    waits_for(r, "making communicators");
    if (here)
        NCCL_OK(ncclCommInitRank(&r->world, nranks, shared_id, r->rank));
    else
        r->world = world_comm(r->rank, nranks, 0, "masks");
    together();
    NCCL_OK(ncclCommSplit(r->world, r->rank % r->halves, r->rank, &r->half, NULL));
    together();
    waits_for(r, NULL);
    while (r->steps % 20 || !is_over(r)) step(r);
    waits_for(r, "ncclCommDestroy");
    together();
    if (r->graph) CUDA_OK(cudaGraphExecDestroy(r->graph));
    NCCL_OK(ncclCommDestroy(r->half));
    together();
    NCCL_OK(ncclCommDestroy(r->world));
    waits_for(r, NULL);
    if (r->rank == 0)
        printf("masks: %lu steps: %d all-reduces, %d rings, %d all-to-alls, %d groups over two communicators, %d "
               "communicators "
               "of one group; results right, all communicators destroyed\n",
               r->steps, operations[0], operations[1], operations[2], operations[3], operations[4]);
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seconds"))
            seconds = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--here"))
            here = atoi(argv[i + 1]);
        else
            DIE("usage: nccl_masks [--seconds N] [--here RANKS]");
    }
    pthread_t watcher, ranks[WATCHED];
    began = now_s();
    pthread_create(&watcher, NULL, watch, NULL);
    nranks = here ? here : env_int("WORLD_SIZE", 1);
    if (nranks > WATCHED) DIE("at most %d ranks", WATCHED);
    first_rank = my_rank = here ? 0 : env_int("RANK", 0);
    if (!here) {
        run_rank(NULL);
        return 0;
    }
    NCCL_OK(ncclGetUniqueId(&shared_id));
    pthread_barrier_init(&all_here, NULL, (unsigned)here);
    for (size_t i = 0; i < (size_t)here; i++) pthread_create(&ranks[i], NULL, run_rank, (void *)i);
    for (int i = 0; i < here; i++) pthread_join(ranks[i], NULL);
    return 0;
}
