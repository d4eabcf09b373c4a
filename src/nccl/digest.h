/* NCCL's digest of a split: how the hash of a child communicator follows from that of its parent.
 *
 * NCCL numbers the splits of a communicator from 1 (the child count); the color is the caller's. Used to create
 * communicators (sim, gen) and to find their parents (join). Pure; any thread. */
#ifndef RS_NCCL_DIGEST_H
#define RS_NCCL_DIGEST_H

#include <stdint.h>

uint64_t rs_nccl_split_hash(uint64_t parent, int child_count, int color);

#endif
