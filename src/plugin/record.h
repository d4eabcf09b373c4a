/* The fast path: one callback = reserve, read the tick counter, write, one release store.
 *
 * Each rs_write_* call appends one record (kinds.h) to the calling thread's buffer. rs_write_begin() finds room;
 * rs_put() adds words; rs_write_end() commits: only then is the record part of the recording. No lock, no allocation,
 * no system call, except once per buffer (buffers.h). If there is no room, rs_write_begin() fails and the caller counts
 * the loss. Any thread may call, also from a signal handler: one that interrupts a callback of its own thread finds no
 * room.
 *
 * From rs_write_begin*() to rs_write_end() the thread's slot says `inside`, so that the closing thread can wait for the
 * commit. The flag is stored before `limit` is loaded. The processor may reorder the two, and a fence would cost every
 * callback; instead the closing thread makes all others execute one (rs_pool_close()), and here the compiler's order is
 * enough. */
#ifndef RS_PLUGIN_RECORD_H
#define RS_PLUGIN_RECORD_H

#include "plugin/buffers.h"
#include "plugin/tick.h"

#define RS_INLINE static inline __attribute__((always_inline))
#define RS_OUTLINE __attribute__((noinline, cold))
#define RS_LIKELY(x) __builtin_expect(!!(x), 1)

struct rs_write {
    struct rs_slot *slot;
    struct rs_buffer *buffer;
    uint64_t *word; /* the record's words */
    unsigned n; /* words so far */
    uint64_t commit; /* before this record */
    uint64_t tick; /* for the head: already shifted */
};

/* false: the thread has no slot, or is inside already. */
RS_INLINE bool rs_enter(struct rs_slot *s)
{
    if (!RS_LIKELY(s) || !RS_LIKELY(!__atomic_load_n(&s->inside, __ATOMIC_RELAXED))) return false;
    __atomic_store_n(&s->inside, 1, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

RS_INLINE void rs_leave(struct rs_slot *s)
{
    __atomic_store_n(&s->inside, 0, __ATOMIC_RELEASE);
}

RS_INLINE void rs_write_at(struct rs_write *w, struct rs_slot *s, struct rs_buffer *b, uint64_t commit, uint64_t tick)
{
    w->slot = s;
    w->buffer = b;
    w->word = b->words + (uint32_t)commit;
    w->n = 0;
    w->commit = commit;
    w->tick = tick << 32;
}

/* rs_write_begin() and rs_put_head() for the usual case only: there is room, the handle is near, and it is not a stop
 * of the thread's open group call. Makes no call: a caller that jumps to an outlined copy of itself when this fails
 * keeps everything in registers. Nothing is written until the commit, so giving up is free. */
RS_INLINE bool rs_write_begin_fast(struct rs_write *w, unsigned kind, void *const *handle)
{
    struct rs_slot *s = rs_own.slot;
    if (!rs_enter(s)) return false;
    struct rs_buffer *b = rs_own.buffer; /* only now: a signal handler may have changed it before */
    uint64_t commit = __atomic_load_n(&b->commit, __ATOMIC_RELAXED);
    uint32_t high, tick;
    uint64_t back;
    if (kind == RS_K_STOP && !RS_LIKELY((uintptr_t)*handle != s->group)) goto leave;
    if (!RS_LIKELY((uint32_t)commit < __atomic_load_n(&b->limit, __ATOMIC_RELAXED))) goto leave;
    tick = rs_tick_hardware_low(&high);
    if (!RS_LIKELY(high == (uint32_t)(b->tick_now >> 32))) goto leave;
    back = b->first_handle + (commit >> 32) - (uintptr_t)*handle;
    if (!RS_LIKELY(back - 1 < RS_REF_LIMIT - 1)) goto leave;
    rs_write_at(w, s, b, commit, tick);
    w->word[w->n++] = kind | back << 8 | w->tick;
    return true;
leave:
    rs_leave(s);
    return false;
}

/* In the thread's current buffer. */
RS_INLINE bool rs_write_begin_here(struct rs_write *w)
{
    struct rs_slot *s = rs_own.slot;
    if (!rs_enter(s)) return false;
    struct rs_buffer *b = rs_own.buffer;
    uint64_t commit = __atomic_load_n(&b->commit, __ATOMIC_RELAXED), tick = rs_tick() - b->tick_now;
    if (!RS_LIKELY((uint32_t)commit < __atomic_load_n(&b->limit, __ATOMIC_RELAXED)) || !RS_LIKELY(!(tick >> 32))) {
        rs_leave(s);
        return false;
    }
    rs_write_at(w, s, b, commit, tick);
    return true;
}

/* Ticks for a head in `b`, whose base was set a moment ago; saturates if the counter has overflowed since. */
RS_INLINE uint64_t rs_tick_since(const struct rs_buffer *b)
{
    uint64_t tick = rs_tick() - b->tick_now;
    return tick >> 32 ? UINT32_MAX : tick;
}

/* Fails only if there is no room anywhere. */
RS_INLINE bool rs_write_begin(struct rs_write *w)
{
    if (RS_LIKELY(rs_write_begin_here(w))) return true;
    struct rs_buffer *b = rs_buffer_next();
    if (!b) return false;
    rs_write_at(w, rs_own.slot, b, __atomic_load_n(&b->commit, __ATOMIC_RELAXED), rs_tick_since(b));
    return true;
}

RS_INLINE void rs_put(struct rs_write *w, uint64_t word)
{
    w->word[w->n++] = word;
}

/* The head, with a handle: as a distance if it fits, else as a separate word. */
RS_INLINE void rs_put_head(struct rs_write *w, unsigned kind, uint64_t handle)
{
    uint64_t back = w->buffer->first_handle + (w->commit >> 32) - handle;
    if (RS_LIKELY(back - 1 < RS_REF_LIMIT - 1)) {
        rs_put(w, kind | back << 8 | w->tick);
    } else {
        rs_put(w, kind | w->tick);
        rs_put(w, handle);
    }
}

RS_INLINE uint64_t rs_start_word(uint64_t index, int rank, uint64_t small)
{
    return index | (uint64_t)(unsigned)rank << 16 | small << 40;
}

RS_INLINE void rs_put_start(struct rs_write *w, unsigned kind, void *context, void *parent, int rank, uint64_t small)
{
    rs_put_head(w, kind, (uintptr_t)parent);
    uint64_t index = (uintptr_t)context - rs_context_base;
    bool compact = index < RS_CTX_ESCAPE && (unsigned)rank < RS_RANK_LIMIT;
    bool fits = small < RS_SMALL_ESCAPE;
    if (RS_LIKELY(compact && fits)) {
        rs_put(w, rs_start_word(index, rank, small));
        return;
    }
    rs_put(w, rs_start_word(compact ? index : (uint64_t)RS_CTX_ESCAPE, compact ? rank : 0,
                            fits ? small : (uint64_t)RS_SMALL_ESCAPE));
    if (!compact) {
        rs_put(w, (uintptr_t)context);
        rs_put(w, (uint64_t)(int64_t)rank);
    }
    if (!fits) rs_put(w, small);
}

RS_INLINE void rs_write_end(struct rs_write *w)
{
    __atomic_store_n(&w->buffer->commit, w->commit + w->n, __ATOMIC_RELEASE);
    rs_leave(w->slot);
}

/* Ends a start: commits, and returns the event's handle. */
RS_INLINE void *rs_write_end_start(struct rs_write *w)
{
    uint64_t handle = w->buffer->first_handle + (w->commit >> 32);
    w->commit += UINT64_C(1) << 32;
    rs_write_end(w);
    return (void *)(uintptr_t)handle;
}

#endif
