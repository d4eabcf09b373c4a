/* What a kernel's name says: whether it communicates, by which library, and of NCCL's the function
 * and algorithm.
 *
 * Three generations of NCCL's: ncclAllReduceRingLLKernel_sum_f32(ncclColl); ncclKernel_AllReduce_RING_LL_Sum_float(...);
 * ncclDevKernel_AllReduce_Sum_f32_RING_LL(...), with ncclDevKernel_SendRecv and ncclSymk... as well. NCCL compiles few
 * kernels, which run other code as well: one named RING_LL runs any protocol, and any algorithm but trees, so that
 * neither is taken from the name. NCCL 2.14 to 2.18 run any function in the kernel of sends and receives. Pure
 * functions. */
#ifndef RS_FOREIGN_KERNEL_NAME_H
#define RS_FOREIGN_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct rs_kernel_name {
    const char
        *func; /* NCCL's: "AllReduce"; "SendRecv" for sends and receives; NULL: unknown (ncclDevKernel_Generic) */
    const char *algo; /* "TREE", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"; NULL: not known */
    bool symmetric; /* a kernel on symmetric memory */
};

/* Whether a kernel is one of NCCL's (or RCCL's) that communicates. */
bool rs_kernel_is_nccl(const char *name, size_t n);

/* A kernel that communicates without NCCL: see comm_kernels.inc. */
struct rs_comm_kernel {
    const char *word; /* of the name, by which it is known */
    const char *library; /* "DeepEP" */
    const char *func; /* NCCL's name of what it does; NULL: not known */
};

/* NULL: it does not communicate, or it is NCCL's. */
const struct rs_comm_kernel *rs_kernel_comm(const char *name, size_t n);
/* False: it is none of NCCL's. */
bool rs_kernel_name(const char *name, size_t n, struct rs_kernel_name *found);

#endif
