/* nccl_latency: what a small operation costs, as the program that calls NCCL feels it.
 *
 * Started once per rank like nccl_mix, or once with --here N: then this process and thread has all N ranks on one device
 * (NCCL 2.30 and later, NCCL_MULTI_RANK_GPU_ENABLE=1), and every operation is a group over them. Two operations of 64 bytes: an all-reduce, and a send to the next rank together
 * with a receive from the previous one. Two ways: `sync`, each operation launched and waited for, and `burst`, BURST
 * operations launched back to back and waited for once, where the cost of launching shows. Rank 0 prints one line of
 * key=value pairs: medians in ns an operation, the quartiles beside them, and the mean, which has the operations in it
 * that cost more: those in a window of detail. */
#include "rank.h"

#include <getopt.h>

enum { BYTES = 64, BURST = 100, HERE = 16 };

static int rank, ranks, here = 1; /* the first of this process, in all, in this process */
static struct {
    ncclComm_t comm;
    cudaStream_t stream;
    float *in, *out;
} my[HERE];
static char line[1024]; /* printed at once: NCCL's own messages go to stdout too */

static void allreduce(void)
{
    if (here > 1) NCCL_OK(ncclGroupStart());
    for (int i = 0; i < here; i++)
        NCCL_OK(ncclAllReduce(my[i].in, my[i].out, BYTES / 4, ncclFloat, ncclSum, my[i].comm, my[i].stream));
    if (here > 1) NCCL_OK(ncclGroupEnd());
}

static void sendrecv(void)
{
    NCCL_OK(ncclGroupStart());
    for (int i = 0; i < here; i++) {
        int me = rank + i, next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
        NCCL_OK(ncclSend(my[i].in, BYTES / 4, ncclFloat, next, my[i].comm, my[i].stream));
        NCCL_OK(ncclRecv(my[i].out, BYTES / 4, ncclFloat, before, my[i].comm, my[i].stream));
    }
    NCCL_OK(ncclGroupEnd());
}

static void wait_all(void)
{
    for (int i = 0; i < here; i++) CUDA_OK(cudaStreamSynchronize(my[i].stream));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `blocks` times: `size` operations and a wait. */
static void measure(const char *op, const char *way, void (*call)(void), int blocks, int size, double *ns)
{
    double sum = 0;
    for (int b = 0; b < blocks; b++) {
        double start = now_s();
        for (int i = 0; i < size; i++) call();
        wait_all();
        ns[b] = (now_s() - start) * 1e9 / size;
        sum += ns[b];
    }
    qsort(ns, (size_t)blocks, sizeof *ns, by_value);
    size_t len = strlen(line);
    snprintf(line + len, sizeof line - len, " %s_%s_ns=%.0f %s_%s_q1=%.0f %s_%s_q3=%.0f %s_%s_mean_ns=%.0f", op, way,
             ns[blocks / 2], op, way, ns[blocks / 4], op, way, ns[blocks * 3 / 4], op, way, sum / blocks);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"iters", required_argument, NULL, 'i'},
        {"warmup", required_argument, NULL, 'w'},
        {"device", required_argument, NULL, 'd'},
        {"here", required_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int iters = 2000, warmup = 500, device = -1, devices = 0, version = 0;

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'i': iters = atoi(optarg); break;
        case 'w': warmup = atoi(optarg); break;
        case 'd': device = atoi(optarg); break;
        case 'h': here = atoi(optarg); break;
        default:
            fprintf(stderr, "usage: RANK=r WORLD_SIZE=n nccl_latency [--iters N] [--warmup N] [--device N]\n"
                            "       nccl_latency --here N [options]\n");
            return 2;
        }
    }
    my_rank = rank = env_int("RANK", 0);
    ranks = here > 1 ? here : env_int("WORLD_SIZE", 1);
    if (here < 1 || here > HERE) DIE("--here takes 1 to %d", HERE);
    if (iters < BURST || warmup < 0 || rank >= ranks) DIE("at least %d iterations; rank below WORLD_SIZE", BURST);

    CUDA_OK(cudaGetDeviceCount(&devices));
    CUDA_OK(cudaSetDevice(device >= 0 ? device : rank % devices));
    CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleSpin)); /* a wait that sleeps would measure the wake-up */
    for (int i = 0; i < here; i++) {
        CUDA_OK(cudaStreamCreateWithFlags(&my[i].stream, cudaStreamNonBlocking));
        CUDA_OK(cudaMalloc((void **)&my[i].in, BYTES));
        CUDA_OK(cudaMalloc((void **)&my[i].out, BYTES));
        CUDA_OK(cudaMemset(my[i].in, 0, BYTES));
    }
    if (here > 1) {
        ncclUniqueId id;
        NCCL_OK(ncclGetUniqueId(&id));
        NCCL_OK(ncclGroupStart());
        for (int i = 0; i < here; i++) NCCL_OK(ncclCommInitRank(&my[i].comm, ranks, id, i));
        NCCL_OK(ncclGroupEnd());
    } else {
        my[0].comm = world_comm(rank, ranks, 0, "latency");
    }
    NCCL_OK(ncclGetVersion(&version));

    for (int i = 0; i < warmup; i++) {
        allreduce();
        sendrecv();
        wait_all();
    }
    double *ns = malloc((size_t)iters * sizeof *ns);
    if (!ns) DIE("no memory");
    snprintf(line, sizeof line, "ranks=%d bytes=%d iters=%d nccl=%d", ranks, BYTES, iters, version);
    measure("allreduce", "sync", allreduce, iters, 1, ns);
    measure("sendrecv", "sync", sendrecv, iters, 1, ns);
    measure("allreduce", "burst", allreduce, iters / BURST, BURST, ns);
    measure("sendrecv", "burst", sendrecv, iters / BURST, BURST, ns);
    if (rank == 0) printf("%s\n", line);
    free(ns);

    for (int i = 0; i < here; i++) {
        NCCL_OK(ncclCommDestroy(my[i].comm));
        CUDA_OK(cudaStreamDestroy(my[i].stream));
        CUDA_OK(cudaFree(my[i].in));
        CUDA_OK(cudaFree(my[i].out));
    }
    return 0;
}
