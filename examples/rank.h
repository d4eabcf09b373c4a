/* What every program here that is "started once per rank" needs: checks that say where, and a way to hand the NCCL
 * unique id from rank 0 to the others without MPI: a file. */
#ifndef EXAMPLES_RANK_H
#define EXAMPLES_RANK_H

#include <cuda_runtime_api.h>
#include <errno.h>
#include <nccl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int my_rank = -1; /* for messages; set as soon as it is known */

__attribute__((format(printf, 3, 4), noreturn)) static inline void die(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    char text[512];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, my_rank, text);
    exit(1);
}

#define DIE(...) die(__FILE__, __LINE__, __VA_ARGS__)
#define CUDA_OK(call)                                                                                                  \
    do {                                                                                                               \
        cudaError_t e_ = (call);                                                                                       \
        if (e_ != cudaSuccess) DIE("%s: %s", #call, cudaGetErrorString(e_));                                           \
    } while (0)
#define NCCL_OK(call)                                                                                                  \
    do {                                                                                                               \
        ncclResult_t r_ = (call);                                                                                      \
        if (r_ != ncclSuccess) DIE("%s: %s (%s)", #call, ncclGetErrorString(r_), ncclGetLastError(NULL));              \
    } while (0)

static inline int env_int(const char *name, int otherwise)
{
    const char *v = getenv(name);
    char *end;
    if (!v || !*v) return otherwise;
    long n = strtol(v, &end, 10);
    if (*end || n < 0 || n > 1 << 20) DIE("%s=%s is not a number that makes sense", name, v);
    return (int)n;
}

static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The file of the n-th communicator's id. Give NCCL_ID_FILE a path that is new for each run: an id file left behind by a
 * run that crashed would send the other ranks to a rank 0 that is gone. */
static inline void id_path(char *path, size_t size, int n)
{
    const char *file = getenv("NCCL_ID_FILE"), *tmp = getenv("TMPDIR"), *port = getenv("MASTER_PORT");
    int len = file && *file ? snprintf(path, size, "%s.%d", file, n)
                            : snprintf(path, size, "%s/nccl-id-%u-%s.%d", tmp && *tmp ? tmp : "/tmp",
                                       (unsigned)getuid(), port && *port ? port : "0", n);
    if (len < 0 || (size_t)len + 8 >= size) DIE("the path of the id file is too long");
}

static inline ncclUniqueId share_id(int rank, int n)
{
    char path[1024], part[1032];
    ncclUniqueId id;
    id_path(path, sizeof path, n);
    if (rank == 0) {
        snprintf(part, sizeof part, "%s.part", path);
        NCCL_OK(ncclGetUniqueId(&id));
        FILE *f = fopen(part, "wb");
        if (!f || fwrite(&id, sizeof id, 1, f) != 1 || fclose(f)) DIE("%s: %s", part, strerror(errno));
        if (rename(part, path)) DIE("%s: %s", path, strerror(errno)); /* whole or not there */
        return id;
    }
    for (double start = now_s(); now_s() - start < 120; usleep(1000)) {
        FILE *f = fopen(path, "rb");
        if (!f) continue;
        size_t got = fread(&id, sizeof id, 1, f);
        fclose(f);
        if (got == 1) return id;
    }
    DIE("no id of rank 0 in %s after 120 s", path);
}

/* The n-th communicator over all ranks. Its name is seen by profilers (NCCL 2.27 and later). */
static inline ncclComm_t world_comm(int rank, int ranks, int n, const char *name)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id = share_id(rank, n);
    ncclComm_t comm;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    config.commName = name;
#else
    (void)name;
#endif
    NCCL_OK(ncclCommInitRankConfig(&comm, ranks, id, rank, &config));
    if (rank == 0) { /* all have read it, or the call above would not have returned */
        char path[1024];
        id_path(path, sizeof path, n);
        unlink(path);
    }
    return comm;
}

/* ---- a rank of a small example: a device, a stream, two buffers, a communicator of all ranks ---- */

struct rank {
    int rank, ranks;
    ncclComm_t comm;
    cudaStream_t stream;
    float *in, *out; /* `floats` each */
    size_t floats;
};

static inline void wait_for(cudaStream_t stream)
{
    CUDA_OK(cudaStreamSynchronize(stream));
}

/* On the current device. */
static inline void open_buffers(struct rank *me, size_t floats)
{
    me->floats = floats;
    CUDA_OK(cudaStreamCreateWithFlags(&me->stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&me->in, floats * sizeof(float)));
    CUDA_OK(cudaMalloc((void **)&me->out, floats * sizeof(float)));
    CUDA_OK(cudaMemset(me->in, 0, floats * sizeof(float)));
}

/* From RANK and WORLD_SIZE, on the device of that number or DEVICE. */
static inline struct rank open_rank(const char *name, size_t floats)
{
    struct rank me = {.rank = env_int("RANK", 0), .ranks = env_int("WORLD_SIZE", 1)};
    int devices = 0;
    my_rank = me.rank;
    CUDA_OK(cudaGetDeviceCount(&devices));
    CUDA_OK(cudaSetDevice(env_int("DEVICE", me.rank % devices)));
    open_buffers(&me, floats);
    me.comm = world_comm(me.rank, me.ranks, 0, name);
    return me;
}

static inline void close_rank(struct rank *me)
{
    wait_for(me->stream);
    NCCL_OK(ncclCommDestroy(me->comm));
    CUDA_OK(cudaStreamDestroy(me->stream));
    CUDA_OK(cudaFree(me->in));
    CUDA_OK(cudaFree(me->out));
}

#endif
