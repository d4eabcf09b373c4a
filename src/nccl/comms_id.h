/* PyTorch's "Comms Id": the number that its profiler gives to an operation of a process group (torch 2.9 and newer).
 *
 * It is the same on every rank, and depends on the group's name, the group's own sequence number, whether the operation
 * is point to point, and the group's ranks. It collides (per cent of a million): a check, never a key. Pure
 * functions. */
#ifndef RS_NCCL_COMMS_ID_H
#define RS_NCCL_COMMS_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As PyTorch built with libstdc++ computes it. There is none without a sequence number (seq < 0): ask before. */
uint64_t rs_comms_id(const char *pg_name, size_t n, int64_t seq, bool is_p2p, int64_t start, int64_t stride,
                     int64_t size);
/* First rank and stride of a group as PyTorch tells them: 0 and 1 of no ranks, stride 0 of one, -1 of an irregular
 * list. */
void rs_comms_shape(const int32_t *ranks, uint32_t n, int64_t *start, int64_t *stride);

#endif
