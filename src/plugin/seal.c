#include "plugin/seal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/chunks.h"
#include "plugin/clock.h"
#include "plugin/facts.h"
#include "plugin/log.h"
#include "plugin/table.h"

enum {
    RETRY_MS = 1000, /* after a failed write */
    PREFAULT_AHEAD = 64, /* buffers beyond those in use: 4 MiB, some 4 ms of the highest load of two threads */
    PREFAULT_STEP = 32, /* at least so many at a time */
};

/* How far a buffer is sealed, and the state for the header of a chunk that begins there. */
struct sealed {
    uint32_t slot, generation; /* of the buffer at that time: it may have another owner now */
    uint32_t words;
    uint64_t tick_base, next_handle;
    uint32_t tid;
    char thread_name[16];
};

static struct {
    struct rs_files *files;
    struct rs_chunk_file chunks;
    struct sealed *sealed; /* by buffer */
    uint32_t waiting_first, waiting_last; /* full buffers in order, linked by next_buffer; UINT32_MAX = none */
    uint64_t prefaulted; /* bytes of the live mapping */
    uint64_t retry_at_ms; /* after a failed write */
    uint32_t write_errno; /* of the last write, if that failed */
    bool past_limit;
} me;

/* A thread's current name: NCCL names its threads after their first callback. Unchanged if the thread is gone, or if
 * descriptors are shared with the program, which could reuse the number before it is read. */
static void refresh_name(uint32_t tid, char name[16])
{
    char path[64], now[17];
    if (!rs_table_is_own()) return;
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
    rs_table_read_line(path, now, sizeof now);
    if (!now[0]) return;
    memset(name, 0, 16);
    memcpy(name, now, strlen(now));
}

/* Walks records from `s` up to word `to`, fills in the chunk's header and advances `s`. Thread records get the thread's
 * current name: they are committed, and no thread reads them again. */
static void survey(struct rs_buffer *b, struct sealed *s, uint32_t to, struct rs_chunk_header *h)
{
    h->tick_base = s->tick_base;
    h->next_handle = s->next_handle;
    if (s->tid) refresh_name(s->tid, s->thread_name);
    h->tid = s->tid;
    memcpy(h->thread_name, s->thread_name, sizeof h->thread_name);
    uint32_t at = s->words, records = 0;
    uint64_t first = 0, last = 0;
    while (at < to) {
        uint64_t *w = b->words + at;
        unsigned kind = (unsigned)w[0] & 0xff;
        at += rs_record_words(w, to - at);
        last = s->tick_base + (w[0] >> 32);
        switch (kind) {
        case RS_K_TICK_BASE: last = s->tick_base = w[1]; break;
        case RS_K_THREAD:
            s->tid = (uint32_t)w[1];
            refresh_name(s->tid, (char *)&w[2]);
            memcpy(s->thread_name, &w[2], sizeof s->thread_name);
            if (w == b->words) { /* a buffer begins with its owner */
                h->tid = s->tid;
                memcpy(h->thread_name, s->thread_name, sizeof h->thread_name);
            }
            break;
        case RS_K_LOST: break;
        default:
            records++;
            if (rs_kind_is_start(kind)) s->next_handle++;
        }
        if (!first) first = last;
    }
    h->records = records;
    h->first_tick = first;
    h->last_tick = last;
}

/* Seals the part of buffer `index` that is in no chunk yet. false: could not be written now. */
static bool seal(uint32_t index)
{
    struct rs_buffer *b = &rs_pool.buffers[index];
    struct sealed *s = &me.sealed[index];
    uint64_t commit = __atomic_load_n(&b->commit, __ATOMIC_ACQUIRE);
    uint32_t to = (uint32_t)commit;
    if (s->slot != b->slot || s->generation != b->generation)
        *s = (struct sealed){
            .slot = b->slot, .generation = b->generation, .tick_base = b->tick_base, .next_handle = b->first_handle};
    if (s->words == to) return true;

    struct sealed after = *s;
    struct rs_chunk_header h = {.kind = b->slot == RS_SLOT_FACTS ? RS_CHUNK_FACTS : RS_CHUNK_EVENTS,
                                .nonce = rs_nonce,
                                .slot = (uint16_t)b->slot,
                                .generation = b->generation,
                                .from = s->words,
                                .to = to};
    if (h.kind == RS_CHUNK_EVENTS) {
        survey(b, &after, to, &h);
    } else {
        h.records = (uint32_t)((commit >> 32) - after.next_handle); /* facts are counted like starts */
        after.next_handle = commit >> 32;
    }
    bool behind = atomic_load(&rs_pool.nfree) < rs_pool.nbuffers / 4;
    switch (rs_chunk_write(&me.chunks, &h, b->words + s->words, to - s->words, behind && h.kind == RS_CHUNK_EVENTS)) {
    case RS_CHUNK_WRITTEN:
        me.write_errno = 0;
        *s = after;
        s->words = to;
        rs_seal_status(&rs_pool.live->status); /* first: what is `sealed` is counted there, so a reader can prove it */
        __atomic_store_n(&b->sealed, to, __ATOMIC_RELEASE);
        return true;
    case RS_CHUNK_FAILED:
        me.write_errno = (uint32_t)errno;
        rs_warn_once(
            RS_MESSAGE_DISK,
            "cannot write %s: %s. The job continues; what does not fit in memory is counted as lost until there is "
            "room again.",
            me.files->path, strerror(errno));
        break;
    case RS_CHUNK_PAST_LIMIT:
        me.past_limit = true;
        rs_warn_once(
            RS_MESSAGE_LIMIT,
            "%s has reached RINGSCOPE_LIMIT: later callbacks are counted, not kept (RINGSCOPE_KEEP=last keeps the "
            "newest instead)",
            me.files->path);
        break;
    }
    me.retry_at_ms = rs_clock_ms() + RETRY_MS;
    return false;
}

/* Atomic, since a thread that pops another buffer may still read this link. */
static void set_next(uint32_t index, uint32_t next)
{
    __atomic_store_n(&rs_pool.next_buffer[index], next, __ATOMIC_RELAXED);
}

/* Keeps page faults away from callbacks: buffers are taken lowest first, so those in use and some beyond are enough. */
static void prefault_ahead(void)
{
    const struct rs_pool *p = &rs_pool;
    uint64_t used = p->nbuffers - atomic_load_explicit(&p->nfree, memory_order_relaxed);
    uint64_t want = p->live->buffers_at + (used + PREFAULT_AHEAD) * RS_BUFFER_BYTES;
    if (want <= me.prefaulted || me.prefaulted >= me.files->live_bytes) return;
    want += PREFAULT_STEP * RS_BUFFER_BYTES;
    rs_files_prefault(me.files, me.prefaulted, want);
    me.prefaulted = want;
}

static void add_waiting(uint32_t index)
{
    set_next(index, UINT32_MAX);
    if (me.waiting_first == UINT32_MAX)
        me.waiting_first = index;
    else
        set_next(me.waiting_last, index);
    me.waiting_last = index;
}

/* Takes over full buffers. Facts are sealed at once: they have few buffers, and no limit applies to them. */
static bool take_over(void)
{
    struct rs_pool *p = &rs_pool;
    uint32_t i = rs_stack_take_all(&p->full, p->next_buffer), next;
    bool any = i != UINT32_MAX;
    for (; i != UINT32_MAX; i = next) {
        next = p->next_buffer[i];
        atomic_fetch_sub_explicit(&p->nfull, 1, memory_order_relaxed);
        if (p->buffers[i].slot == RS_SLOT_FACTS && seal(i)) {
            rs_buffer_release(i);
            continue;
        }
        add_waiting(i);
    }
    return any;
}

bool rs_seal_full(uint64_t until_ms)
{
    struct rs_pool *p = &rs_pool;
    prefault_ahead();
    while (take_over() || me.waiting_first != UINT32_MAX) {
        if (me.retry_at_ms && rs_clock_ms() < me.retry_at_ms) return false;
        me.retry_at_ms = 0;
        while (me.waiting_first != UINT32_MAX) {
            if (rs_clock_ms() >= until_ms) return true;
            if (!seal(me.waiting_first)) return false;
            prefault_ahead();
            uint32_t done = me.waiting_first;
            me.waiting_first = p->next_buffer[done];
            rs_buffer_release(done);
        }
    }
    return false;
}

/* Seals the filled part of buffers that threads still write into, and of facts. */
void rs_seal_partly(void)
{
    struct rs_pool *p = &rs_pool;
    uint32_t facts = rs_facts_buffer();
    if (facts) seal(facts - 1);
    if (me.retry_at_ms || me.waiting_first != UINT32_MAX) return;
    uint32_t made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        /* A buffer that its owner hands over meanwhile stays valid: only this thread releases buffers. */
        uint32_t buffer = __atomic_load_n(&p->slots[i].buffer, __ATOMIC_ACQUIRE);
        /* Older ones first, so that a ring always keeps the newest: a thread hands over its full buffer before it
         * publishes the next one. */
        if ((uint32_t)atomic_load(&p->full.head)) return;
        if (buffer && !seal(buffer - 1)) return;
    }
}

/* ---- discarding: past the limit, and private memory at exit ---- */

static bool is_facts(uint32_t index)
{
    return rs_pool.buffers[index].slot == RS_SLOT_FACTS;
}

/* The first word of a buffer that is in no chunk. */
static uint32_t unsealed_from(uint32_t index)
{
    const struct rs_buffer *b = &rs_pool.buffers[index];
    const struct sealed *s = &me.sealed[index];
    return s->slot == b->slot && s->generation == b->generation ? s->words : 0;
}

/* Whether a buffer contains words that are neither in a chunk nor discarded. Such a buffer may be neither full nor in
 * use, if a thread was cancelled while handing it over. */
static bool has_unsealed(uint32_t index)
{
    const struct rs_buffer *b = &rs_pool.buffers[index];
    uint32_t words = (uint32_t)__atomic_load_n(&b->commit, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&b->generation, __ATOMIC_RELAXED) && words > unsealed_from(index) &&
           words > __atomic_load_n(&b->sealed, __ATOMIC_RELAXED);
}

/* Marks what is in no chunk as lost in one store, after counting all losses of the recording: a kill while buffers are
 * then discarded one by one leaves the same numbers. */
static void announce_losses(void)
{
    struct rs_pool *p = &rs_pool;
    uint64_t lost[RS_LOST_COUNTS];
    for (int c = 0; c < RS_LOST_COUNTS; c++) lost[c] = __atomic_load_n(&p->live->lost_overflow[c], __ATOMIC_RELAXED);
    uint32_t made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        const struct rs_slot *s = &p->slots[i];
        for (int c = 0; c < RS_LOST_COUNTS; c++) lost[c] += __atomic_load_n(&s->lost[c], __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; i < p->nbuffers; i++)
        if (!is_facts(i) && has_unsealed(i)) rs_buffer_count(i, unsealed_from(i), lost);
    for (int c = 0; c < RS_LOST_COUNTS; c++) __atomic_store_n(&p->live->lost_at_close[c], lost[c], __ATOMIC_RELAXED);
    __atomic_store_n(&p->live->closing, 1, __ATOMIC_RELEASE);
}

/* Once counted as lost they stay lost, even if there were room a moment later. */
static void discard_facts(uint32_t index)
{
    const struct rs_buffer *b = &rs_pool.buffers[index];
    rs_facts_discard(index, unsealed_from(index));
    me.sealed[index] = (struct sealed){.slot = b->slot, .generation = b->generation, .words = b->sealed};
}

/* Facts have no limit: they stay in the live file, if there is one. */
static void discard_all(bool anonymous)
{
    struct rs_pool *p = &rs_pool;
    announce_losses();
    uint32_t i = me.waiting_first, next;
    me.waiting_first = UINT32_MAX;
    for (; i != UINT32_MAX; i = next) {
        next = p->next_buffer[i];
        if (is_facts(i) && !anonymous) {
            add_waiting(i);
            continue;
        }
        if (is_facts(i))
            discard_facts(i);
        else
            rs_buffer_discard(i, unsealed_from(i));
        rs_buffer_release(i);
    }
    for (i = 0; i < p->nbuffers; i++)
        if (!is_facts(i) && has_unsealed(i)) rs_buffer_discard(i, unsealed_from(i));
    uint32_t facts = rs_facts_buffer();
    if (facts && !seal(facts - 1) && anonymous) discard_facts(facts - 1);
}

/* ---- the module ---- */

bool rs_seal_open(struct rs_files *f, const struct rs_config *config)
{
    const struct rs_file_header *h = &f->header;
    memset(&me, 0, sizeof me);
    me.files = f;
    me.waiting_first = UINT32_MAX;
    me.chunks = (struct rs_chunk_file){.files = f,
                                       .codec = rs_codec_new(),
                                       .end = h->ring_end ? h->ring_end : h->header_bytes,
                                       .limit = config->keep_last ? 0 : config->limit,
                                       .ring_begin = h->ring_begin,
                                       .ring_end = h->ring_end,
                                       .ring_at = h->ring_begin};
    me.sealed = calloc(f->live_bytes / RS_BUFFER_BYTES + 1, sizeof *me.sealed);
    if (!me.chunks.codec || !me.sealed || !rs_pool_open(f->live, f->live_bytes)) return false;
    prefault_ahead();
    return true;
}

bool rs_seal_last(void)
{
    bool anonymous = me.files->header.live_place == RS_LIVE_ANONYMOUS;
    me.retry_at_ms = 0;
    do {
        rs_seal_full(UINT64_MAX);
        rs_seal_partly();
    } while (!me.retry_at_ms && (uint32_t)atomic_load(&rs_pool.full.head)); /* handed over at the last moment */
    for (uint32_t i = 0; !me.retry_at_ms && i < rs_pool.nbuffers; i++)
        if (!is_facts(i) && has_unsealed(i)) seal(i); /* of a thread that was cancelled */
    if (me.retry_at_ms && (me.past_limit || anonymous)) {
        discard_all(anonymous);
        me.chunks.limit = 0; /* for the LOST records, which are small */
        me.retry_at_ms = 0;
    }
    bool all = !me.retry_at_ms && rs_pool_mark_losses();
    if (all) rs_seal_full(UINT64_MAX);
    uint32_t facts = rs_facts_buffer();
    all = all && (!facts || seal(facts - 1));
    /* A partly written chunk is not part of the recording. */
    if (me.retry_at_ms && ftruncate(rs_files_fd(me.files), (off_t)me.chunks.end)) me.write_errno = (uint32_t)errno;
    return (all && !me.retry_at_ms) || anonymous;
}

void rs_seal_status(struct rs_status_block *status)
{
    status->file_end = me.chunks.end;
    status->sealed_records = me.chunks.records;
    status->event_chunks = (uint32_t)me.chunks.sequence[RS_CHUNK_EVENTS];
    status->fact_chunks = (uint32_t)me.chunks.sequence[RS_CHUNK_FACTS];
    status->write_errno = me.write_errno;
}
