/* Several ranks in one process: how many, and on which device. With one GPU for all of them NCCL 2.30 or later is needed,
 * and NCCL_MULTI_RANK_GPU_ENABLE=1. */
#ifndef EXAMPLES_PROCESS_H
#define EXAMPLES_PROCESS_H

#include "rank.h"

enum { MAX_RANKS = 16 };

/* RANKS, or the number of GPUs. */
static inline int ranks_of_process(void)
{
    int devices = 0;
    CUDA_OK(cudaGetDeviceCount(&devices));
    int ranks = env_int("RANKS", devices);
    if (ranks < 1 || ranks > MAX_RANKS) DIE("RANKS must be 1 to %d", MAX_RANKS);
    return ranks;
}

/* Selects the device of a rank for this thread: one each, or all on the first if there are fewer devices than ranks. */
static inline void select_device(int rank, int ranks)
{
    int devices = 0;
    CUDA_OK(cudaGetDeviceCount(&devices));
    CUDA_OK(cudaSetDevice(devices >= ranks ? rank : 0));
}

#endif
