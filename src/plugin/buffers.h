/* Slots and buffers: where threads write, and how buffers go round.
 *
 *      thread ── writes ──> buffer ──full──> [full] ── background thread seals ──> [free] ──> next thread that needs one
 *
 * A thread that calls in takes a slot, and through it a buffer of 64 KiB; at thread exit the slot goes back with its
 * buffer still in it, for the next thread. All of it lies in one mapping (layout.h: the live file), so that what was
 * committed outlives the process. The fast path (record.h) touches only the thread's own buffer; everything here is the
 * slow path, taken once per buffer. Nothing here blocks, allocates after opening, or fails its caller: what finds no
 * room is counted in the thread's slot.
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

enum { RS_FACTS_BUFFERS = 4 }; /* set apart, so that facts find room when events do not */

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
    _Atomic uint32_t nfree, nfull; /* how many, about */
    _Atomic uint32_t slots_made;
    _Atomic uint32_t open; /* 1: threads may write */
    _Atomic uint32_t sealer_sleeps; /* 1: a wake-up would help */
    _Atomic uint64_t lost_unopened, overflow_counter;
    /* Who is about to write or count something outside of slots: facts, losses of threads without one and of signal
     * handlers. rs_pool_close() waits for them. */
    _Atomic uint32_t counting;
    _Atomic uint32_t forked; /* 1: a child that has not opened a recording of its own */
    _Atomic(uint64_t *) late; /* where callbacks are counted once the recording is closed; in its file's header */
};

extern struct rs_pool rs_pool;
extern uint32_t rs_nonce; /* of this process; set before anything else */
extern uint64_t rs_context_base; /* context of index 0 */

/* What the calling thread owns. Both are NULL until it has a slot: zeros to begin with, and not by chance, since glibc may
 * leave a thread that starts while the library is being loaded with zeros in place of another initial value. With a slot
 * `buffer` is what it writes into, or one without room, which sends callbacks to the slow path: while it has none, and
 * always when there is no hardware tick counter. */
struct rs_own {
    struct rs_slot *slot;
    struct rs_buffer *buffer;
};
extern _Thread_local struct rs_own rs_own;

/* Bytes of the mapping for a budget of `memory` bytes. */
size_t rs_pool_bytes(size_t memory);
/* Lays slots and buffers out over zeroed `bytes` at `base` and opens for writing. false: out of memory. */
bool rs_pool_open(void *base, size_t bytes);
/* At exit: threads that still call in find no room any more and count themselves in *late. Waits for those that are inside
 * a callback, `wait_ms` at most: each callback is then either committed (or counted as lost) or will be counted in *late.
 * Returns how many were still inside: for so many callbacks that is not known. */
uint32_t rs_pool_close(uint64_t *late, unsigned wait_ms);
/* After rs_pool_close(): gives each slot with losses that no record stands for one last buffer with that record, and hands
 * it over. false: for some there was no buffer. */
bool rs_pool_mark_losses(void);
/* After rs_pool_close(): adds what buffer `index` holds from word `from` on to `lost`, by loss class. */
void rs_buffer_count(uint32_t index, uint32_t from, uint64_t lost[RS_LOST_COUNTS]);
/* The same into the slot's losses, and empties it. */
void rs_buffer_discard(uint32_t index, uint32_t from);
/* In a forked child: forgets the parent's mapping; the child writes nothing until it opens its own. */
void rs_pool_forget(void);

/* The slow path: a buffer with room for a record and a fresh tick base, and the thread is inside (record.h); or NULL, and
 * it is not (then call one of rs_lost_*). */
struct rs_buffer *rs_buffer_next(void);

/* Counts a callback that found no room: also one that interrupts another of its thread, from a signal handler.
 * rs_lost_start gives the handle that the start would have had. */
void rs_lost(unsigned loss_class);
uint64_t rs_lost_start(unsigned loss_class);

/* Returns after every thread of the process that runs has passed a full barrier. A thread that does not run has passed one
 * when it was switched off. false: refused (a kernel before 4.14, a seccomp filter). */
bool rs_barrier(void);

/* For the background thread and for facts. */
void rs_stack_push(struct rs_stack *stack, uint32_t *next, uint32_t index);
bool rs_stack_pop(struct rs_stack *stack, uint32_t *next, uint32_t *index);
/* Takes all; returns the oldest pushed; follow with next[]. UINT32_MAX ends. */
uint32_t rs_stack_take_all(struct rs_stack *stack, uint32_t *next);
/* Prepares buffer `index` for (slot, generation), empty. */
void rs_buffer_prepare(uint32_t index, uint32_t slot, uint32_t generation, uint64_t first_handle);
/* Hands a full buffer over to the background thread, and wakes it if many wait. */
void rs_buffer_hand_over(uint32_t index);
void rs_buffer_release(uint32_t index);

#endif
