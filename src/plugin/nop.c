/* The empty plugin: requests the same events as the recorder and records nothing.
 *
 * The baseline for overhead: its cost is NCCL's own. */
#include "nccl/abi.h"
#include "plugin/config.h"

static void *const number = (void *)1; /* a handle that is not NULL, so that NCCL makes every call */

static rs_nccl_result begin(void **context, int *mask)
{
    struct rs_config config;
    rs_config_read(&config);
    __atomic_store_n(mask, config.mask, __ATOMIC_RELAXED);
    *context = number;
    return RS_NCCL_SUCCESS;
}

static rs_nccl_result init_v4(void **context, int *mask, const char *name, uint64_t hash, int nnodes, int nranks,
                              int rank, rs_nccl_logger logger)
{
    (void)name, (void)hash, (void)nnodes, (void)nranks, (void)rank, (void)logger;
    return begin(context, mask);
}

static rs_nccl_result init_v5(void **context, uint64_t id, int *mask, const char *name, int nnodes, int nranks,
                              int rank, rs_nccl_logger logger)
{
    (void)id, (void)name, (void)nnodes, (void)nranks, (void)rank, (void)logger;
    return begin(context, mask);
}

static rs_nccl_result stop(void *handle)
{
    (void)handle;
    return RS_NCCL_SUCCESS;
}

#define EXPORT(V, INIT, ARGS)                                                                                          \
    static rs_nccl_result start_v##V(void *context, void **handle, struct rs_nccl_descr_v##V *d)                       \
    {                                                                                                                  \
        (void)context, (void)d;                                                                                        \
        *handle = number;                                                                                              \
        return RS_NCCL_SUCCESS;                                                                                        \
    }                                                                                                                  \
    static rs_nccl_result state_v##V(void *handle, int state, union ARGS *args)                                        \
    {                                                                                                                  \
        (void)handle, (void)state, (void)args;                                                                         \
        return RS_NCCL_SUCCESS;                                                                                        \
    }                                                                                                                  \
    extern const struct rs_nccl_profiler_v##V ncclProfiler_v##V;                                                       \
    __attribute__((visibility("default")))                                                                             \
    const struct rs_nccl_profiler_v##V ncclProfiler_v##V = {"ringscope-nop", INIT, start_v##V, stop, state_v##V, stop}
EXPORT(1, begin, rs_nccl_args_v1);
EXPORT(2, begin, rs_nccl_args_v1);
EXPORT(3, begin, rs_nccl_args_v1);
EXPORT(4, init_v4, rs_nccl_args_v4);
EXPORT(5, init_v5, rs_nccl_args_v4);
EXPORT(6, init_v5, rs_nccl_args_v4);
EXPORT(7, init_v5, rs_nccl_args_v4);
