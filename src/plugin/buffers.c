#include "plugin/buffers.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/log.h"
#include "plugin/record.h"
#include "plugin/tick.h"

struct rs_pool rs_pool;
uint32_t rs_nonce = 1;
uint64_t rs_context_base;
_Thread_local struct rs_own rs_own;
static _Thread_local bool taking; /* a slot is being taken */
static _Thread_local uint64_t tls_name[2]; /* of the thread, 16 bytes */
static struct rs_buffer no_room; /* its limit is 0; only the header is used */

static pthread_key_t exit_key; /* its destructor returns an ending thread's slot */
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

enum { WORDS = (RS_BUFFER_BYTES - 64) / 8, LIMIT = WORDS - RS_RECORD_MAX };

/* Fields that other threads read while their owner writes. */
#define PUT(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

void rs_stack_push(struct rs_stack *s, uint32_t *next, uint32_t index)
{
    uint64_t old = atomic_load_explicit(&s->head, memory_order_relaxed), now;
    do {
        __atomic_store_n(&next[index], (uint32_t)old, __ATOMIC_RELAXED);
        now = ((old >> 32) + 1) << 32 | (index + 1);
    } while (!atomic_compare_exchange_weak_explicit(&s->head, &old, now, memory_order_release, memory_order_relaxed));
}

bool rs_stack_pop(struct rs_stack *s, uint32_t *next, uint32_t *index)
{
    uint64_t old = atomic_load_explicit(&s->head, memory_order_acquire), now;
    do {
        if (!(uint32_t)old) return false;
        now = ((old >> 32) + 1) << 32 | __atomic_load_n(&next[(uint32_t)old - 1], __ATOMIC_RELAXED);
    } while (!atomic_compare_exchange_weak_explicit(&s->head, &old, now, memory_order_acquire, memory_order_acquire));
    *index = (uint32_t)old - 1;
    return true;
}

uint32_t rs_stack_take_all(struct rs_stack *s, uint32_t *next)
{
    uint64_t old = atomic_load_explicit(&s->head, memory_order_acquire);
    while ((uint32_t)old && !atomic_compare_exchange_weak_explicit(&s->head, &old, ((old >> 32) + 1) << 32,
                                                                   memory_order_acquire, memory_order_acquire)) {
    }
    uint32_t reversed = UINT32_MAX;
    for (uint32_t link = (uint32_t)old; link;) {
        uint32_t index = link - 1;
        link = __atomic_load_n(&next[index], __ATOMIC_RELAXED);
        __atomic_store_n(&next[index], reversed, __ATOMIC_RELAXED); /* a concurrent pop may still read it */
        reversed = index;
    }
    return reversed;
}

size_t rs_pool_bytes(size_t memory)
{
    /* What the background thread needs besides: codec, zstd's context, stack. */
    size_t aside = (size_t)3 << 20, least = (size_t)1 << 20;
    size_t bytes = memory > aside + least ? memory - aside : least;
    return bytes & ~(size_t)(RS_BUFFER_BYTES - 1);
}

static void slot_give_back(void *slot);
static void make_exit_key(void)
{
    pthread_key_create(&exit_key, slot_give_back);
}

bool rs_pool_open(void *base, size_t bytes)
{
    struct rs_pool *p = &rs_pool;
    pthread_once(&exit_key_once, make_exit_key);
    /* A slot without a buffer is useless, so there are as many slots as buffers. */
    uint32_t n = (uint32_t)((bytes - RS_LIVE_PAGE) / (RS_BUFFER_BYTES + sizeof(struct rs_slot)));
    size_t head = RS_LIVE_PAGE + n * sizeof(struct rs_slot);
    head = (head + RS_LIVE_PAGE - 1) & ~(size_t)(RS_LIVE_PAGE - 1);
    while (head + (size_t)n * RS_BUFFER_BYTES > bytes) n--;
    if (n > RS_SLOT_LIMIT) n = RS_SLOT_LIMIT;
    p->next_buffer = calloc(n, sizeof *p->next_buffer);
    p->next_slot = calloc(n, sizeof *p->next_slot);
    if (!p->next_buffer || !p->next_slot) return false;
    p->live = base;
    p->slots = (struct rs_slot *)((char *)base + RS_LIVE_PAGE);
    p->buffers = (struct rs_buffer *)((char *)base + head);
    p->bytes = bytes;
    p->nslots = p->nbuffers = n;
    p->live->slots = p->live->buffers = n;
    p->live->slots_at = RS_LIVE_PAGE;
    p->live->buffers_at = head;
    atomic_store(&p->forked, 0);
    for (uint32_t i = n; i-- > 0;) {
        bool facts = i < RS_FACTS_BUFFERS;
        rs_stack_push(facts ? &p->facts : &p->free, p->next_buffer, i);
    }
    atomic_store(&p->nfree, n - RS_FACTS_BUFFERS);
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0); /* for rs_barrier() */
    atomic_store_explicit(&p->open, 1, memory_order_release);
    return true;
}

bool rs_barrier(void)
{
    int error = errno;
    bool passed = !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    errno = error;
    return passed;
}

static void barrier_everywhere(void)
{
    if (rs_barrier()) return;
    /* A store leaves the store buffer within a microsecond. */
    struct timespec ample = {.tv_nsec = 10 * 1000000};
    nanosleep(&ample, NULL);
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Until *count was 0 once, or it is `until_us`. Returns what it was last. */
static uint32_t wait_for_none(const uint32_t *count, uint64_t until_us)
{
    uint32_t n;
    long nap_us = 20;
    while ((n = __atomic_load_n(count, __ATOMIC_ACQUIRE)) && now_us() < until_us) {
        nanosleep(&(struct timespec){.tv_nsec = nap_us * 1000}, NULL);
        if (nap_us < 1000) nap_us *= 2;
    }
    return n;
}

uint32_t rs_pool_close(uint64_t *late, unsigned wait_ms)
{
    struct rs_pool *p = &rs_pool;
    atomic_store(&p->late, late);
    atomic_store(&p->open, 0);
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        uint32_t buffer = __atomic_load_n(&p->slots[i].buffer, __ATOMIC_ACQUIRE);
        if (buffer) PUT(p->buffers[buffer - 1].limit, 0);
    }
    barrier_everywhere();
    /* Threads that enter from here on find the recording closed. Those that entered before are flagged until they
     * leave; it is enough to see each outside once. */
    uint64_t until_us = now_us() + wait_ms * UINT64_C(1000);
    uint32_t inside = wait_for_none((const uint32_t *)&p->counting, until_us);
    made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) inside += wait_for_none(&p->slots[i].inside, until_us);
    return inside;
}

void rs_pool_forget(void)
{
    struct rs_pool *p = &rs_pool;
    if (rs_own.slot) pthread_setspecific(exit_key, NULL);
    rs_own = (struct rs_own){0};
    /* Private memory replaces the mapping: a signal handler may have forked in the middle of a callback. */
    if (p->live)
        mmap(p->live, p->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    memset(p, 0, sizeof *p);
    atomic_store(&p->forked, 1);
    /* The links stay allocated: another thread may have been inside the allocator at fork. */
}

static uint64_t handle_after(uint64_t handle, uint64_t starts, uint32_t slot)
{
    return rs_handle(rs_nonce, slot, rs_handle_counter(handle) + starts);
}

void rs_buffer_prepare(uint32_t index, uint32_t slot, uint32_t generation, uint64_t first_handle)
{
    struct rs_buffer *b = &rs_pool.buffers[index];
    /* A reader of the mapping must find the old buffer, completely sealed, or the new one, or generation 0. A fence and
     * not a release: the words of the first records must not be visible before generation 0 either
     * (tests/model/reuse.pml). */
    PUT(b->generation, 0);
    atomic_thread_fence(memory_order_release);
    PUT(b->commit, 0);
    PUT(b->sealed, 0);
    PUT(b->slot, slot);
    /* The counter does not overflow inside a buffer: it restarts with a buffer. */
    if (rs_handle_counter(first_handle) + WORDS > RS_COUNTER_MASK) first_handle &= ~RS_COUNTER_MASK;
    PUT(b->first_handle, first_handle);
    b->tick_now = rs_tick_base();
    PUT(b->tick_base, b->tick_now);
    PUT(b->limit, LIMIT);
    __atomic_store_n(&b->generation, generation, __ATOMIC_RELEASE);
}

void rs_buffer_hand_over(uint32_t index)
{
    struct rs_pool *p = &rs_pool;
    bool urgent = p->buffers[index].slot == RS_SLOT_FACTS; /* facts have few buffers */
    rs_stack_push(&p->full, p->next_buffer, index);
    uint32_t waiting = atomic_fetch_add_explicit(&p->nfull, 1, memory_order_relaxed) + 1;
    if ((urgent || waiting > p->nbuffers / 16) && atomic_exchange_explicit(&p->sealer_sleeps, 0, memory_order_relaxed))
        syscall(SYS_futex, &p->sealer_sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void rs_buffer_release(uint32_t index)
{
    struct rs_pool *p = &rs_pool;
    if (p->buffers[index].slot == RS_SLOT_FACTS) {
        rs_stack_push(&p->facts, p->next_buffer, index);
        return;
    }
    atomic_fetch_add_explicit(&p->nfree, 1, memory_order_relaxed);
    rs_stack_push(&p->free, p->next_buffer, index);
}

/* Appends a record without handle or start (LOST, THREAD, TICK_BASE) to the caller's own buffer. */
static void put_plain(struct rs_buffer *b, unsigned kind, const uint64_t *args)
{
    uint64_t *w = b->words + (uint32_t)b->commit;
    w[0] = kind | rs_tick_since(b) << 32;
    memcpy(w + 1, args, rs_kind_args[kind] * sizeof *args);
    __atomic_store_n(&b->commit, b->commit + 1 + rs_kind_args[kind], __ATOMIC_RELEASE);
}

/* The name at the thread's first callback; the background thread updates it when it seals. */
static void put_thread(struct rs_buffer *b, const struct rs_slot *s)
{
    uint64_t args[3] = {s->tid, tls_name[0], tls_name[1]};
    put_plain(b, RS_K_THREAD, args);
}

static bool has_unmarked_losses(const struct rs_slot *s)
{
    for (int i = 0; i < RS_LOST_COUNTS; i++)
        if (s->lost[i] != s->lost_in_records[i]) return true;
    return false;
}

/* Reports what was lost since the slot's last buffer. */
static void put_lost(struct rs_buffer *b, struct rs_slot *s)
{
    uint64_t args[2 + RS_LOST_COUNTS];
    if (!has_unmarked_losses(s)) return;
    for (int i = 0; i < RS_LOST_COUNTS; i++) args[2 + i] = s->lost[i] - s->lost_in_records[i];
    args[0] = s->lost_first_tick;
    args[1] = s->lost_last_tick;
    put_plain(b, RS_K_LOST, args);
    for (int i = 0; i < RS_LOST_COUNTS; i++) PUT(s->lost_in_records[i], s->lost[i]);
    s->lost_first_tick = 0;
}

static uint32_t slot_index(const struct rs_slot *s)
{
    return (uint32_t)(s - rs_pool.slots);
}

/* On return the thread is inside. NULL: none is free. */
static struct rs_slot *slot_take(void)
{
    struct rs_pool *p = &rs_pool;
    uint32_t i;
    if (!rs_stack_pop(&p->free_slots, p->next_slot, &i)) {
        i = atomic_fetch_add(&p->slots_made, 1);
        if (i >= p->nslots) {
            atomic_fetch_sub(&p->slots_made, 1);
            return NULL;
        }
        p->slots[i].next_handle = rs_handle(rs_nonce, i, 0);
    }
    struct rs_slot *s = &p->slots[i];
    PUT(s->tid, (uint32_t)syscall(SYS_gettid));
    PUT(s->inside, 1);
    rs_own.buffer = &no_room;
    atomic_signal_fence(memory_order_seq_cst);
    rs_own.slot = s;
    prctl(PR_GET_NAME, (char *)tls_name);
    pthread_setspecific(exit_key, s);
    return s;
}

/* At thread exit. If another destructor makes a callback, the thread takes a slot again. A thread that was cancelled in
 * the middle of a callback is no longer inside: that callback was never part of the recording. */
static void slot_give_back(void *v)
{
    struct rs_slot *s = v;
    if (s != rs_own.slot) return; /* inherited by a forked child */
    rs_own.slot = NULL;
    PUT(s->tid, 0);
    PUT(s->group, 0); /* the thread makes no more calls in it */
    PUT(s->group_context, 0);
    rs_leave(s);
    rs_stack_push(&rs_pool.free_slots, rs_pool.next_slot, slot_index(s));
}

static struct rs_buffer *use(struct rs_buffer *b)
{
    if (rs_tick_counter) rs_own.buffer = b;
    return b;
}

/* With the thread inside slot `s`. */
static struct rs_buffer *next(struct rs_slot *s, bool new_owner)
{
    struct rs_pool *p = &rs_pool;
    if (s->buffer) {
        struct rs_buffer *b = &p->buffers[s->buffer - 1];
        if ((uint32_t)b->commit < LIMIT) {
            uint64_t base = rs_tick_base();
            if (base != b->tick_now) {
                put_plain(b, RS_K_TICK_BASE, &base);
                b->tick_now = base;
            }
            if (new_owner && (uint32_t)b->commit < LIMIT) put_thread(b, s);
            if ((uint32_t)b->commit < LIMIT) return use(b);
        }
        s->next_handle = handle_after(b->first_handle, b->commit >> 32, b->slot);
        uint32_t full = s->buffer - 1;
        PUT(s->buffer, 0);
        rs_own.buffer = &no_room;
        rs_buffer_hand_over(full);
    }

    uint32_t index;
    if (!rs_stack_pop(&p->free, p->next_buffer, &index)) return NULL;
    atomic_fetch_sub_explicit(&p->nfree, 1, memory_order_relaxed);
    PUT(s->generation, s->generation + 1);
    rs_buffer_prepare(index, slot_index(s), s->generation, s->next_handle);
    struct rs_buffer *b = &p->buffers[index];
    put_thread(b, s);
    put_lost(b, s);
    __atomic_store_n(&s->buffer, index + 1, __ATOMIC_RELEASE);
    /* rs_pool_close() stores `open` first and then reads the slots: one of the two sees the other. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load(&p->open)) {
        PUT(b->limit, 0);
        return NULL;
    }
    return use(b);
}

/* Enters the thread's slot, or takes one. NULL: none is free, or this is a signal handler in the middle of a
 * callback. */
static struct rs_slot *enter(bool *new_owner)
{
    if (!rs_own.slot) {
        if (taking) return NULL;
        taking = true;
        atomic_signal_fence(memory_order_seq_cst);
        *new_owner = !rs_own.slot; /* a signal handler may have taken one in between */
        struct rs_slot *s = *new_owner ? slot_take() : NULL;
        atomic_signal_fence(memory_order_seq_cst);
        taking = false;
        if (*new_owner) return s;
    }
    return rs_enter(rs_own.slot) ? rs_own.slot : NULL;
}

struct rs_buffer *rs_buffer_next(void)
{
    int error = errno; /* system calls may be refused */
    bool new_owner = false;
    struct rs_slot *s = atomic_load(&rs_pool.open) ? enter(&new_owner) : NULL;
    struct rs_buffer *b = NULL;
    if (s) {
        atomic_thread_fence(memory_order_seq_cst);
        if (atomic_load(&rs_pool.open)) b = next(s, new_owner);
        if (!b) rs_leave(s);
    }
    errno = error;
    return b;
}

bool rs_pool_mark_losses(void)
{
    struct rs_pool *p = &rs_pool;
    uint32_t made = atomic_load(&p->slots_made), index;
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        struct rs_slot *s = &p->slots[i];
        if (!has_unmarked_losses(s)) continue;
        if (!rs_stack_pop(&p->free, p->next_buffer, &index)) return false;
        atomic_fetch_sub_explicit(&p->nfree, 1, memory_order_relaxed);
        rs_buffer_prepare(index, i, ++s->generation, s->next_handle);
        put_plain(&p->buffers[index], RS_K_THREAD, (uint64_t[3]){s->tid}); /* the name is set when it is sealed */
        put_lost(&p->buffers[index], s);
        rs_buffer_hand_over(index);
    }
    return true;
}

void rs_buffer_count(uint32_t index, uint32_t from, uint64_t lost[RS_LOST_COUNTS])
{
    const struct rs_buffer *b = &rs_pool.buffers[index];
    uint32_t to = (uint32_t)__atomic_load_n(&b->commit, __ATOMIC_ACQUIRE);
    for (uint32_t at = from, words; at < to && (words = rs_record_words(b->words + at, to - at)); at += words) {
        unsigned kind = (unsigned)b->words[at] & 0xff;
        if (kind == RS_K_TICK_BASE || kind == RS_K_THREAD || kind == RS_K_LOST) continue;
        if (kind == RS_K_STOP) {
            lost[RS_LOST_STOP]++;
        } else if (rs_kind_is_start(kind)) {
            uint32_t type = rs_kind_start(kind)->type;
            lost[type ? (unsigned)__builtin_ctz(type) : RS_LOST_START_RAW]++;
        } else {
            lost[RS_LOST_STATE]++;
        }
    }
}

void rs_buffer_discard(uint32_t index, uint32_t from)
{
    struct rs_buffer *b = &rs_pool.buffers[index];
    struct rs_slot *s = &rs_pool.slots[b->slot];
    uint32_t to = (uint32_t)__atomic_load_n(&b->commit, __ATOMIC_ACQUIRE);
    uint64_t base = b->tick_base, tick = base;
    rs_buffer_count(index, from, s->lost);
    for (uint32_t at = 0, words; at < to && (words = rs_record_words(b->words + at, to - at)); at += words) {
        const uint64_t *w = b->words + at;
        unsigned kind = (unsigned)w[0] & 0xff;
        if (kind == RS_K_TICK_BASE) base = w[1];
        if (at < from || kind == RS_K_TICK_BASE || kind == RS_K_THREAD) continue;
        tick = base + (w[0] >> 32);
        if (kind == RS_K_LOST) { /* the report is discarded too: its losses are unreported again */
            tick = w[1];
            for (int i = 0; i < RS_LOST_COUNTS; i++) s->lost_in_records[i] -= w[3 + i];
        }
        if (!s->lost_first_tick || tick < s->lost_first_tick) s->lost_first_tick = tick;
    }
    if (tick > s->lost_last_tick) s->lost_last_tick = tick;
    __atomic_store_n(&b->sealed, to, __ATOMIC_RELEASE);
}

/* A callback before the recording was open, or after it was closed. */
static void count_outside(void)
{
    struct rs_pool *p = &rs_pool;
    uint64_t *late = atomic_load_explicit(&p->late, memory_order_acquire);
    if (late) {
        __atomic_fetch_add(late, 1, __ATOMIC_RELAXED);
        return;
    }
    atomic_fetch_add_explicit(&p->lost_unopened, 1, memory_order_relaxed);
    if (atomic_load_explicit(&p->forked, memory_order_relaxed))
        rs_warn_once(RS_MESSAGE_FORK,
                     "this process was forked from a recorded one: its callbacks are not recorded until it "
                     "makes a communicator of its own");
}

/* In the slot, if the thread has one and is not inside it already; else in the shared counts. rs_pool_close() waits for
 * threads that have announced themselves and then found the recording open. */
static uint64_t count_lost(unsigned loss_class, bool start)
{
    struct rs_pool *p = &rs_pool;
    struct rs_slot *s = rs_own.slot;
    bool open = atomic_load(&p->open); /* once closed it stays closed: no need to announce */
    bool own = open && rs_enter(s), shared = open && !own;
    uint64_t handle = 0;
    if (shared) atomic_fetch_add(&p->counting, 1);
    if (open) atomic_thread_fence(memory_order_seq_cst);
    if (!open || !atomic_load(&p->open)) {
        count_outside();
    } else if (own) {
        s->lost_last_tick = rs_tick();
        if (!s->lost_first_tick) s->lost_first_tick = s->lost_last_tick;
        PUT(s->lost[loss_class], s->lost[loss_class] + 1);
    } else {
        __atomic_fetch_add(&p->live->lost_overflow[loss_class], 1, __ATOMIC_RELAXED);
    }
    if (start && own) {
        handle = s->next_handle;
        s->next_handle = handle_after(handle, 1, slot_index(s));
    } else if (start) {
        handle = rs_handle(rs_nonce, RS_SLOT_OVERFLOW,
                           atomic_fetch_add_explicit(&p->overflow_counter, 1, memory_order_relaxed));
    }
    if (own) rs_leave(s);
    if (shared) atomic_fetch_sub(&p->counting, 1);
    return handle;
}

void rs_lost(unsigned loss_class)
{
    count_lost(loss_class, false);
}

uint64_t rs_lost_start(unsigned loss_class)
{
    return count_lost(loss_class, true);
}
