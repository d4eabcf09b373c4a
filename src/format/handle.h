/* Handles and contexts: the numbers that the recorder gives to NCCL in place of pointers.
 *
 *   63           48 47        36 35                                   0
 *  +---------------+------------+--------------------------------------+
 *  |     nonce     |    slot    |               counter                |
 *  +---------------+------------+--------------------------------------+
 *
 * The nonce is random per process and never 0, so no handle is NULL and a handle of another process (PXN) is
 * recognised. An event's slot is the writer slot of the thread that started it; its counter numbers the starts of that
 * slot and may wrap: the latest start is meant. A context has RS_SLOT_CONTEXT as the slot and the index of the
 * communicator in this process (from 1) as its counter. */
#ifndef RS_FORMAT_HANDLE_H
#define RS_FORMAT_HANDLE_H

#include <stdint.h>

enum {
    RS_COUNTER_BITS = 36,
    RS_SLOT_BITS = 12,
    RS_SLOT_FACTS = 0xffd, /* the slot of facts buffers; no handle carries it */
    RS_SLOT_OVERFLOW = 0xffe, /* handles of starts by threads that found no slot: never kept */
    RS_SLOT_CONTEXT = 0xfff,
    RS_SLOT_LIMIT = RS_SLOT_FACTS, /* slots of threads are below this */
};

#define RS_COUNTER_MASK ((UINT64_C(1) << RS_COUNTER_BITS) - 1)

static inline uint64_t rs_handle(uint32_t nonce, uint32_t slot, uint64_t counter)
{
    return (uint64_t)nonce << 48 | (uint64_t)slot << RS_COUNTER_BITS | (counter & RS_COUNTER_MASK);
}
static inline uint32_t rs_handle_nonce(uint64_t handle)
{
    return (uint32_t)(handle >> 48);
}
static inline uint32_t rs_handle_slot(uint64_t handle)
{
    return (uint32_t)(handle >> RS_COUNTER_BITS) & ((1u << RS_SLOT_BITS) - 1);
}
static inline uint64_t rs_handle_counter(uint64_t handle)
{
    return handle & RS_COUNTER_MASK;
}

#endif
