#include "plugin/facts.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/fact.h"
#include "plugin/buffers.h"
#include "plugin/tick.h"

enum { WORDS = (RS_BUFFER_BYTES - 64) / 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool mine; /* this thread holds or waits for the lock */
static _Atomic uint32_t current; /* index + 1 */
static uint32_t generation;
static _Atomic uint64_t early_lives, early_facts; /* lost before there was a live header */

bool rs_facts_lock(void)
{
    if (mine) return false;
    mine = true;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_fetch_add(&rs_pool.counting, 1); /* before checking whether the recording is open */
    pthread_mutex_lock(&lock);
    return true;
}

void rs_facts_unlock(void)
{
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&rs_pool.counting, 1);
    atomic_signal_fence(memory_order_seq_cst);
    mine = false;
}

/* Init and finalize are callbacks, and counted as such. */
static bool is_life(unsigned type)
{
    return type == RS_FACT_COMM || type == RS_FACT_COMM_END;
}

/* In the live header: the background thread, which writes the status, may be waiting for a disk when the process is
 * killed. */
static void count_lost(unsigned type)
{
    struct rs_live_header *live = rs_pool.live;
    if (live)
        __atomic_fetch_add(is_life(type) ? &live->lost_lives : &live->lost_facts, 1, __ATOMIC_RELAXED);
    else
        atomic_fetch_add(is_life(type) ? &early_lives : &early_facts, 1);
}

/* A buffer with room for `words`, or NULL. */
static struct rs_buffer *room(uint32_t words)
{
    struct rs_pool *p = &rs_pool;
    if (!atomic_load(&p->open) || words > WORDS) return NULL;
    uint32_t at = atomic_load_explicit(&current, memory_order_relaxed);
    if (at && (uint32_t)p->buffers[at - 1].commit + words <= WORDS) return &p->buffers[at - 1];
    uint32_t index;
    if (!rs_stack_pop(&p->facts, p->next_buffer, &index)) return NULL;
    if (at) {
        atomic_store_explicit(&current, 0, memory_order_relaxed);
        rs_buffer_hand_over(at - 1);
    }
    rs_buffer_prepare(index, RS_SLOT_FACTS, ++generation, 0);
    atomic_store_explicit(&current, index + 1, memory_order_release);
    return &p->buffers[index];
}

/* Facts recorded before the recording is open, as they will be in a buffer. */
static uint64_t early[8192];
static uint32_t nearly; /* words */

/* Where a fact of `words` words goes; commit() makes it part of the recording. With the lock held. NULL: no room. */
static uint64_t *place(uint32_t words, struct rs_buffer **buf)
{
    *buf = room(words);
    if (*buf) return (*buf)->words + (uint32_t)(*buf)->commit;
    bool waiting = !atomic_load(&rs_pool.open) && !atomic_load(&rs_pool.late);
    if (!waiting || words > sizeof early / 8 - nearly) return NULL;
    uint64_t *w = early + nearly;
    nearly += words;
    return w;
}

static void commit(struct rs_buffer *buf, uint32_t words)
{
    if (buf) __atomic_store_n(&buf->commit, buf->commit + words + (UINT64_C(1) << 32), __ATOMIC_RELEASE);
}

/* With the lock held if `locked`; without it there is no room. */
static bool put(bool locked, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes, const void *b,
                size_t b_bytes)
{
    size_t bytes = a_bytes + b_bytes;
    uint32_t words = rs_fact_words(bytes);
    struct rs_buffer *buf = NULL;
    uint64_t *w = locked && bytes < RS_BUFFER_BYTES ? place(words, &buf) : NULL;
    if (w) {
        rs_fact_encode(w, type, tick, a, a_bytes, b, b_bytes);
        commit(buf, words);
    } else {
        uint64_t *late = atomic_load(&rs_pool.late); /* the status was written, or is about to be */
        if (late && is_life(type))
            __atomic_fetch_add(late, 1, __ATOMIC_RELAXED);
        else
            count_lost(type);
    }
    return w != NULL;
}

bool rs_fact(enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    int error = errno; /* waking the background thread may be refused */
    bool locked = rs_facts_lock(), kept = put(locked, type, tick, a, a_bytes, b, b_bytes);
    if (locked) rs_facts_unlock();
    errno = error;
    return kept;
}

void rs_facts_open(void)
{
    rs_facts_lock();
    for (uint32_t at = 0, words; at < nearly; at += words) {
        struct rs_fact_head head;
        memcpy(&head, early + at, sizeof head);
        words = rs_fact_words(head.bytes);
        struct rs_buffer *buf = room(words);
        if (buf)
            memcpy(buf->words + (uint32_t)buf->commit, early + at, words * sizeof *early);
        else
            count_lost(head.type);
        commit(buf, words);
    }
    nearly = 0;
    struct rs_live_header *live = rs_pool.live;
    __atomic_fetch_add(&live->lost_lives, atomic_exchange(&early_lives, 0), __ATOMIC_RELAXED);
    __atomic_fetch_add(&live->lost_facts, atomic_exchange(&early_facts, 0), __ATOMIC_RELAXED);
    rs_facts_unlock();
}

bool rs_fact_info(const char *key, const char *value)
{
    return rs_fact(RS_FACT_INFO, rs_tick(), key, strlen(key) + 1, value, strlen(value) + 1);
}

bool rs_fact_string(uint32_t id, const char *text)
{
    return put(true, RS_FACT_STRING, rs_tick(), &id, sizeof id, text, strlen(text) + 1);
}

bool rs_fact_note(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return n >= 0 && rs_fact(RS_FACT_NOTE, rs_tick(), text, strlen(text) + 1, NULL, 0);
}

uint32_t rs_facts_buffer(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void rs_facts_discard(uint32_t index, uint32_t from)
{
    struct rs_buffer *b = &rs_pool.buffers[index];
    uint32_t to = (uint32_t)b->commit;
    for (uint32_t at = from; at < to;) {
        struct rs_fact_head head;
        memcpy(&head, b->words + at, sizeof head);
        count_lost(head.type);
        at += (uint32_t)((sizeof head + head.bytes + 7) / 8);
    }
    __atomic_store_n(&b->sealed, to, __ATOMIC_RELEASE);
}

void rs_facts_status(struct rs_status_block *status)
{
    const struct rs_live_header *live = rs_pool.live;
    status->lost_lives = __atomic_load_n(&live->lost_lives, __ATOMIC_RELAXED) + atomic_load(&early_lives);
    status->lost_facts = __atomic_load_n(&live->lost_facts, __ATOMIC_RELAXED) + atomic_load(&early_facts);
}

void rs_facts_reset(void)
{
    pthread_mutex_init(&lock, NULL); /* the parent may have held it */
    mine = false;
    atomic_store(&current, 0);
    nearly = 0;
    atomic_store(&early_lives, 0);
    atomic_store(&early_facts, 0);
    generation = 0;
}
