#include "sim/fakecuda.h"

#include <stdio.h>
#include <string.h>

/* CUresult values. */
enum { CUDA_OK = 0, CUDA_INVALID_VALUE = 1, CUDA_INVALID_DEVICE = 101, CUDA_INVALID_CONTEXT = 201 };
enum { KEY_UUID = 301 };

static _Thread_local struct {
    const struct rs_sim_job *job; /* NULL = no simulation runs on this thread */
    int rank;
    bool allowed;
} current;

void rs_sim_cuda_use(const struct rs_sim_job *job, int rank)
{
    current.job = job;
    current.rank = rank;
}

void rs_sim_cuda_allow(bool allowed)
{
    current.allowed = allowed;
}

void rs_sim_gpu_uuid(const struct rs_sim_plan *plan, int rank, unsigned char uuid[16])
{
    const struct rs_sim_rank_def *d = &plan->ranks[rank];
    for (uint64_t half = 0; half < 2; half++) {
        uint64_t x = rs_sim_random(plan->cfg.seed, KEY_UUID + half, (uint64_t)d->host, (uint64_t)d->device);
        memcpy(uuid + half * 8, &x, 8);
    }
}

void rs_sim_gpu_bus_id(const struct rs_sim_plan *plan, int rank, char *out, int len)
{
    snprintf(out, (size_t)len, "0000:%02X:00.0", 0x10 + plan->ranks[rank].device % 0xe0);
}

static bool may_ask(void)
{
    if (!current.job) return false;
    if (!current.allowed) {
        atomic_fetch_add(&current.job->shared->procs[current.job->process].counts.cuda_misuse, 1);
        return false;
    }
    return true;
}

/* The rank on the calling thread's host that has this device, or -1. */
static int rank_of_device(int device)
{
    const struct rs_sim_plan *plan = current.job->plan;
    for (int r = 0; r < plan->cfg.ranks; r++) {
        if (plan->ranks[r].device == device && plan->ranks[r].host == plan->ranks[current.rank].host) return r;
    }
    return -1;
}

/* Their names and arguments are the CUDA driver's. */
int cuCtxGetDevice(int *device);
int cuDeviceGetPCIBusId(char *out, int len, int device);
int cuDeviceGetUuid(void *uuid, int device);
int cuDeviceGetUuid_v2(void *uuid, int device);

__attribute__((visibility("default"))) int cuCtxGetDevice(int *device)
{
    if (!may_ask()) return CUDA_INVALID_CONTEXT;
    *device = current.job->plan->ranks[current.rank].device;
    return CUDA_OK;
}

__attribute__((visibility("default"))) int cuDeviceGetPCIBusId(char *out, int len, int device)
{
    if (!may_ask()) return CUDA_INVALID_CONTEXT;
    int rank = rank_of_device(device);
    if (rank < 0) return CUDA_INVALID_DEVICE;
    if (!out || len < 13) return CUDA_INVALID_VALUE;
    rs_sim_gpu_bus_id(current.job->plan, rank, out, len);
    return CUDA_OK;
}

__attribute__((visibility("default"))) int cuDeviceGetUuid(void *uuid, int device)
{
    if (!may_ask()) return CUDA_INVALID_CONTEXT;
    int rank = rank_of_device(device);
    if (rank < 0) return CUDA_INVALID_DEVICE;
    rs_sim_gpu_uuid(current.job->plan, rank, uuid);
    return CUDA_OK;
}

__attribute__((visibility("default"))) int cuDeviceGetUuid_v2(void *uuid, int device)
{
    return cuDeviceGetUuid(uuid, device);
}
