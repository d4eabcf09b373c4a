/* nccl_latency: what a small operation costs, as the program that calls NCCL feels it.
 *
 * Started once per rank like nccl_mix. Two operations of 64 bytes: an all-reduce, and a send to the next rank together
 * with a receive from the previous one. Two ways: `sync`, each operation launched and waited for, and `burst`, BURST
 * operations launched back to back and waited for once, where the cost of launching shows. Rank 0 prints one line of
 * key=value pairs: medians in ns an operation, and the quartiles beside them. */
#include "rank.h"

#include <getopt.h>

enum { BYTES = 64, BURST = 100 };

static int rank, ranks;
static ncclComm_t comm;
static cudaStream_t stream;
static float *in, *out;
static char line[1024]; /* printed at once: NCCL's own messages go to stdout too */

static void allreduce(void)
{
    NCCL_OK(ncclAllReduce(in, out, BYTES / 4, ncclFloat, ncclSum, comm, stream));
}

static void sendrecv(void)
{
    NCCL_OK(ncclGroupStart());
    NCCL_OK(ncclSend(in, BYTES / 4, ncclFloat, (rank + 1) % ranks, comm, stream));
    NCCL_OK(ncclRecv(out, BYTES / 4, ncclFloat, (rank + ranks - 1) % ranks, comm, stream));
    NCCL_OK(ncclGroupEnd());
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `blocks` times: `size` operations and a wait. */
static void measure(const char *op, const char *way, void (*call)(void), int blocks, int size, double *ns)
{
    for (int b = 0; b < blocks; b++) {
        double start = now_s();
        for (int i = 0; i < size; i++) call();
        CUDA_OK(cudaStreamSynchronize(stream));
        ns[b] = (now_s() - start) * 1e9 / size;
    }
    qsort(ns, (size_t)blocks, sizeof *ns, by_value);
    size_t len = strlen(line);
    snprintf(line + len, sizeof line - len, " %s_%s_ns=%.0f %s_%s_q1=%.0f %s_%s_q3=%.0f", op, way, ns[blocks / 2], op,
             way, ns[blocks / 4], op, way, ns[blocks * 3 / 4]);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"iters", required_argument, NULL, 'i'},
        {"warmup", required_argument, NULL, 'w'},
        {"device", required_argument, NULL, 'd'},
        {NULL, 0, NULL, 0},
    };
    int iters = 2000, warmup = 500, device = -1, devices = 0, version = 0;

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'i': iters = atoi(optarg); break;
        case 'w': warmup = atoi(optarg); break;
        case 'd': device = atoi(optarg); break;
        default:
            fprintf(stderr, "usage: RANK=r WORLD_SIZE=n nccl_latency [--iters N] [--warmup N] [--device N]\n");
            return 2;
        }
    }
    my_rank = rank = env_int("RANK", 0);
    ranks = env_int("WORLD_SIZE", 1);
    if (iters < BURST || warmup < 0 || rank >= ranks) DIE("at least %d iterations; rank below WORLD_SIZE", BURST);

    CUDA_OK(cudaGetDeviceCount(&devices));
    CUDA_OK(cudaSetDevice(device >= 0 ? device : rank % devices));
    CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleSpin)); /* a wait that sleeps would measure the wake-up */
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&in, BYTES));
    CUDA_OK(cudaMalloc((void **)&out, BYTES));
    CUDA_OK(cudaMemset(in, 0, BYTES));
    comm = world_comm(rank, ranks, 0, "latency");
    NCCL_OK(ncclGetVersion(&version));

    for (int i = 0; i < warmup; i++) {
        allreduce();
        sendrecv();
        CUDA_OK(cudaStreamSynchronize(stream));
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

    NCCL_OK(ncclCommDestroy(comm));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
    return 0;
}
