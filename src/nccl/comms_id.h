/* PyTorch's "Comms Id": the number that its profiler gives to an operation of a process group (torch 2.9 and newer).
 *
 * It is the same on every rank, and depends on the group's name, the group's own sequence number, whether the operation
 * is point to point, and the group's ranks. It collides (some percent of a million), so it is used as a check, never as
 * a key. Pure functions. */
#ifndef RS_NCCL_COMMS_ID_H
#define RS_NCCL_COMMS_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As PyTorch built with libstdc++ computes it; only for seq >= 0: there is none without a sequence number. */
uint64_t rs_comms_id(const char *pg_name, size_t n, int64_t seq, bool is_p2p, int64_t start, int64_t stride,
                     int64_t size);
/* First rank and stride of a group as PyTorch reports them: 0 and 1 for no ranks, stride 0 for one, -1 for an irregular
 * list. */
void rs_comms_shape(const int32_t *ranks, uint32_t n, int64_t *start, int64_t *stride);

#endif
