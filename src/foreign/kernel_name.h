/* What a kernel's name says: whether it is NCCL's, and of which function, algorithm and protocol.
 *
 * Three generations: ncclAllReduceRingLLKernel_sum_f32(ncclColl); ncclKernel_AllReduce_RING_LL_Sum_float(...);
 * ncclDevKernel_AllReduce_Sum_f32_RING_LL(...), with ncclDevKernel_SendRecv and ncclSymk... beside it. Pure
 * functions. */
#ifndef RS_FOREIGN_KERNEL_NAME_H
#define RS_FOREIGN_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct rs_kernel_name {
    const char
        *func; /* NCCL's: "AllReduce"; "SendRecv" for sends and receives; NULL: not told (ncclDevKernel_Generic) */
    const char
        *algo; /* "RING", "TREE", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"; NULL: not told */
    const char *proto; /* "LL", "LL128", "SIMPLE"; NULL: not told */
    bool symmetric; /* a kernel on symmetric memory */
};

/* Whether a kernel is one of NCCL's (or RCCL's) that communicates. */
bool rs_kernel_is_nccl(const char *name, size_t n);
/* False: it is none of NCCL's. */
bool rs_kernel_name(const char *name, size_t n, struct rs_kernel_name *found);

#endif
