/* PyTorch's words for what NCCL does: functions, types, process groups. Pure functions. */
#ifndef RS_FOREIGN_TORCH_H
#define RS_FOREIGN_TORCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NCCL's name of a function ("AllReduce") for PyTorch's ("allreduce", "_allgather_base",
 * "reduce_scatter_tensor_coalesced", "nccl:all_reduce", "send"). NULL: it is none, as "wait" and "coalesced". A barrier
 * is an AllReduce, as PyTorch does it. */
const char *rs_torch_func(const char *name, size_t n);
/* NCCL's name of a type ("ncclFloat32") for PyTorch's ("Float", "c10::BFloat16"); "" where it has none. */
const char *rs_torch_dtype(const char *name, size_t n);
/* A number for a process group, from its name and its global ranks (sorted or not: the order counts not), for where
 * NCCL's hash is not recorded, and names are used again with other ranks. Never 0. */
uint64_t rs_torch_group(const char *name, size_t n, const int32_t *ranks, uint32_t nranks);
/* Ranks out of a text like "[0, 1, 5]"; `most` fit. *cut: the list goes on ("..."), or more than fit. Returns how
 * many. */
uint32_t rs_torch_ranks(const char *text, size_t n, int32_t *ranks, uint32_t most, bool *cut);
/* The number after a word in a text, without regard to case ("kineto_rank3.json.gz", "rank"); -1: there is none. */
int32_t rs_torch_number(const char *text, const char *word);

#endif
