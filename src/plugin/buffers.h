/* Slots and buffers: where threads write, and how buffers circulate.
 *
 *      thread ── writes ──> buffer ──full──> [full] ── background thread seals ──> [free] ──> next thread that needs one
 *
 * A thread takes a slot at its first callback, and through it a buffer of 64 KiB; at thread exit the slot is returned
 * with its buffer still in it, for the next thread. All are in one mapping (layout.h: the live file), so that what was
 * committed outlives the process. The fast path (record.h) touches only the thread's own buffer; everything here is the
 * slow path, taken once per buffer. Nothing here blocks, allocates after opening, or fails its caller: callbacks that
 * find no room are counted in the thread's slot.
 *
 * Lists are lock-free stacks of indices with a tag against ABA. */
#ifndef RS_PLUGIN_BUFFERS_H
#define RS_PLUGIN_BUFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/handle.h"
#include "format/layout.h"

enum { RS_FACTS_BUFFERS = 4 }; /* reserved, so that facts find room when events do not */

struct rs_stack {
    _Atomic uint64_t head; /* index + 1 in the low half, tag in the high half */
};

struct rs_pool {
    struct rs_live_header *live;
    struct rs_slot *slots;
    struct rs_buffer *buffers;
    uint32_t nslots, nbuffers;
    size_t bytes; /* of the mapping */
    uint32_t *next_buffer, *next_slot; /* links of the stacks */
    struct rs_stack free, full, facts, free_slots;
    _Atomic uint32_t nfree, nfull; /* approximate counts */
    _Atomic uint32_t slots_made;
    _Atomic uint32_t open; /* 1: threads may write */
    _Atomic uint32_t sealer_sleeps; /* 1: a wake-up would help */
    _Atomic uint64_t lost_unopened, overflow_counter;
    /* Threads about to write or count something outside of slots: facts, losses of threads without a slot and of signal
     * handlers. rs_pool_close() waits for them. */
    _Atomic uint32_t counting;
    _Atomic uint32_t forked; /* 1: a child that has not opened a recording of its own */
    _Atomic(uint64_t *) late; /* counts callbacks once the recording is closed; in its file's header */
};

extern struct rs_pool rs_pool;
extern uint32_t rs_nonce; /* of this process; set before anything else */
extern uint64_t rs_context_base; /* context of index 0 */

/* What the calling thread owns. Both are NULL until it has a slot. The initial value must be zero: a thread that starts
 * while the library is being loaded may get zeros from glibc instead of another value. With a slot, `buffer` is what it
 * writes into, or one without room, which sends callbacks to the slow path: while the slot has no buffer, and always if
 * there is no hardware tick counter. */
struct rs_own {
    struct rs_slot *slot;
    struct rs_buffer *buffer;
};
extern _Thread_local struct rs_own rs_own;

/* Bytes of the mapping for a budget of `memory` bytes. */
size_t rs_pool_bytes(size_t memory);
/* Places slots and buffers in zeroed `bytes` at `base` and opens for writing. false: out of memory. */
bool rs_pool_open(void *base, size_t bytes);
/* At exit: later callbacks find no room and count themselves in *late. Waits for threads inside a callback, `wait_ms`
 * at most: each callback is then either committed (or counted as lost) or will be counted in *late. Returns how many
 * threads were still inside: the fate of as many callbacks is unknown. */
uint32_t rs_pool_close(uint64_t *late, unsigned wait_ms);
/* After rs_pool_close(): gives each slot with losses that no record reports one last buffer with such a record, and
 * hands it over. false: for some there was no buffer. */
bool rs_pool_mark_losses(void);
/* After rs_pool_close(): adds the callbacks in buffer `index` from word `from` on to `lost`, by loss class. */
void rs_buffer_count(uint32_t index, uint32_t from, uint64_t lost[RS_LOST_COUNTS]);
/* Adds them to the slot's losses, and empties the buffer. */
void rs_buffer_discard(uint32_t index, uint32_t from);
/* In a forked child: forgets the parent's mapping; the child writes nothing until it opens its own. */
void rs_pool_forget(void);

/* The slow path: a buffer with room for a record and a fresh tick base, and the thread is inside (record.h); or NULL,
 * and it is not (then call one of rs_lost_*). */
struct rs_buffer *rs_buffer_next(void);

/* Counts a callback that found no room: also one that interrupts another of its thread, from a signal handler.
 * rs_lost_start returns the handle that the start would have had. */
void rs_lost(unsigned loss_class);
uint64_t rs_lost_start(unsigned loss_class);

/* Returns after every running thread of the process has passed a full barrier. The others passed one when they were
 * switched off. false: refused (a kernel before 4.14, a seccomp filter). */
bool rs_barrier(void);

/* For the background thread and for facts. */
void rs_stack_push(struct rs_stack *stack, uint32_t *next, uint32_t index);
bool rs_stack_pop(struct rs_stack *stack, uint32_t *next, uint32_t *index);
/* Takes all; returns the oldest; next[] links to the others. UINT32_MAX is the end. */
uint32_t rs_stack_take_all(struct rs_stack *stack, uint32_t *next);
/* Prepares buffer `index` for (slot, generation), empty. */
void rs_buffer_prepare(uint32_t index, uint32_t slot, uint32_t generation, uint64_t first_handle);
/* Hands a full buffer over to the background thread, and wakes it if many wait. */
void rs_buffer_hand_over(uint32_t index);
void rs_buffer_release(uint32_t index);

#endif
