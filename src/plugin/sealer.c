#include "plugin/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/chunks.h"
#include "plugin/clock.h"
#include "plugin/control.h"
#include "plugin/facts.h"
#include "plugin/files.h"
#include "plugin/log.h"
#include "plugin/record.h"

enum {
    BEAT_MS = 100,
    SECOND_MS = 1000,
    STACK_BYTES = 256 * 1024,
    CLOSE_MOMENT_MS = 2, /* for callbacks under way while the recording closes: each takes some 20 ns */
    PREFAULT_AHEAD = 64, /* buffers beyond those in use: 4 MiB, some 4 ms of the highest load that two threads make */
    PREFAULT_STEP = 32, /* at least so many at once */
};

/* How far a buffer is sealed, and what a chunk that begins there must say. Private to the thread. */
struct sealed {
    uint32_t slot, generation; /* whose words these were: a buffer goes from slot to slot */
    uint32_t words;
    uint64_t tick_base, next_handle;
    uint32_t tid;
    char thread_name[16];
};

static struct {
    _Atomic uint32_t state; /* enum rs_sealer_state; a futex */
    _Atomic uint32_t stop, flush, idle;
    pthread_t thread;
    const struct rs_config *config;
    struct rs_files files;
    struct rs_chunk_file chunks;
    struct sealed *sealed; /* by buffer */
    uint32_t waiting_first, waiting_last; /* full buffers in order, linked by next_buffer; UINT32_MAX = none */
    uint64_t prefaulted; /* bytes of the live mapping */
    bool past_limit;
    uint64_t retry_at_ms; /* after a failed write: not before this */
    struct rs_status_block status;
} me;

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void set_state(enum rs_sealer_state state)
{
    atomic_store(&me.state, state);
    syscall(SYS_futex, &me.state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* ---- sealing ---- */

/* A thread's name now: NCCL gives its threads names after they have begun to call. Left as it is when the thread is gone. */
static void refresh_name(uint32_t tid, char name[16])
{
    char path[64], now[17] = "";
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, now, 16);
    if (fd >= 0) close(fd);
    if (n <= 0) return;
    now[strcspn(now, "\n")] = 0;
    memset(name, 0, 16);
    memcpy(name, now, strlen(now));
}

/* Walks records from where `s` stands up to word `to`, filling in what the chunk's header says of them; `s` moves on. Thread
 * records get the name that the thread has now: they are committed, and nobody else looks at them. */
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

/* Seals what buffer `index` holds and no chunk does yet. false: could not be written now. */
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
        h.records = (uint32_t)((commit >> 32) - after.next_handle); /* facts are counted where starts are */
        after.next_handle = commit >> 32;
    }
    bool behind = atomic_load(&rs_pool.nfree) < rs_pool.nbuffers / 4;
    switch (rs_chunk_write(&me.chunks, &h, b->words + s->words, to - s->words, behind && h.kind == RS_CHUNK_EVENTS)) {
    case RS_CHUNK_WRITTEN:
        *s = after;
        s->words = to;
        __atomic_store_n(&b->sealed, to, __ATOMIC_RELEASE);
        me.status.write_errno = 0;
        return true;
    case RS_CHUNK_FAILED:
        me.status.write_errno = (uint32_t)errno;
        rs_warn_once(
            RS_SAID_DISK,
            "cannot write %s: %s. The job goes on; what does not fit in memory is counted as lost until there is "
            "room again.",
            me.files.path, strerror(errno));
        break;
    case RS_CHUNK_PAST_LIMIT:
        me.past_limit = true;
        rs_warn_once(
            RS_SAID_LIMIT,
            "%s has reached RINGSCOPE_LIMIT: what comes now is counted, not kept (RINGSCOPE_KEEP=last keeps the "
            "newest instead)",
            me.files.path);
        break;
    }
    me.retry_at_ms = now_ms() + SECOND_MS;
    return false;
}

/* Atomic, since a thread that pops another buffer may still peek at this link. */
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
    if (want <= me.prefaulted || me.prefaulted >= me.files.live_bytes) return;
    want += PREFAULT_STEP * RS_BUFFER_BYTES;
    rs_files_prefault(&me.files, me.prefaulted, want);
    me.prefaulted = want;
}

/* Takes over what threads handed in. Facts are sealed at once: they have few buffers, and go where events may not. */
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
        set_next(i, UINT32_MAX);
        if (me.waiting_first == UINT32_MAX) {
            me.waiting_first = i;
        } else {
            set_next(me.waiting_last, i);
        }
        me.waiting_last = i;
    }
    return any;
}

/* Seals full buffers in order, until none is left or one cannot be written. */
static void seal_full(void)
{
    struct rs_pool *p = &rs_pool;
    prefault_ahead();
    while (take_over() || me.waiting_first != UINT32_MAX) {
        if (me.retry_at_ms && now_ms() < me.retry_at_ms) return;
        me.retry_at_ms = 0;
        while (me.waiting_first != UINT32_MAX && seal(me.waiting_first)) {
            prefault_ahead();
            uint32_t done = me.waiting_first;
            me.waiting_first = p->next_buffer[done];
            rs_buffer_release(done);
        }
        if (me.retry_at_ms) return;
    }
}

/* Seals the filled part of buffers that threads still write into, and of facts. */
static void seal_partly(void)
{
    struct rs_pool *p = &rs_pool;
    uint32_t facts = rs_facts_buffer();
    if (facts) seal(facts - 1);
    if (me.retry_at_ms) return;
    uint32_t made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        /* A buffer that its owner hands in meanwhile stays ours to seal: only this thread releases buffers. */
        uint32_t buffer = __atomic_load_n(&p->slots[i].buffer, __ATOMIC_ACQUIRE);
        if (buffer && !seal(buffer - 1)) return;
    }
}

/* ---- status ---- */

static void beat(void)
{
    struct rs_pool *p = &rs_pool;
    struct rs_status_block *st = &me.status;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    st->heartbeat_tick = rs_tick();
    st->heartbeat_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    st->file_end = me.chunks.end;
    st->sealed_records = me.chunks.records;
    st->lost_unopened = atomic_load(&p->lost_unopened);
    st->lost_facts = rs_facts_lost();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    st->sealer_cpu_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    uint32_t made = atomic_load(&p->slots_made);
    uint64_t total = 0;
    for (int c = 0; c < RS_LOST_COUNTS; c++) {
        uint64_t lost = __atomic_load_n(&p->live->lost_overflow[c], __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < made && i < p->nslots; i++)
            lost += __atomic_load_n(&p->slots[i].lost[c], __ATOMIC_RELAXED);
        st->lost[c] = lost;
        total += lost;
    }
    if (total)
        rs_warn_once(
            RS_SAID_LOST,
            "callbacks come faster than they can be kept, or there is no room for them: losses are counted and "
            "marked in the recording (RINGSCOPE_MEMORY gives more room, RINGSCOPE_EVENTS=ops asks for less)");
    p->live->status = *st;
    /* In place: needs no new block even on a full disk. Best effort: the live header has the same. The last counter is not
     * ours to write. */
    ssize_t n =
        pwrite(me.files.fd, st, offsetof(struct rs_status_block, lost_late), offsetof(struct rs_file_header, status));
    (void)n;
}

/* The cost of one callback on this machine, in a buffer of its own; for the recorder's share of the run time. */
static uint32_t measure_callback_ps(void)
{
    enum { CALLS = 2000 };
    struct rs_buffer *scratch = calloc(1, sizeof *scratch);
    if (!scratch) return 0;
    scratch->limit = UINT32_MAX;
    scratch->tick_now = rs_tick();
    struct rs_buffer *mine = rs_tls_buffer;
    rs_tls_buffer = scratch;
    struct timespec a, b;
    for (int round = 0; round < 2; round++) { /* the first one warms up */
        scratch->commit = 0;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < CALLS; i++) {
            struct rs_write w;
            if (!rs_write_begin(&w)) break;
            rs_put_head(&w, RS_K_STOP, 0);
            rs_write_end(&w);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
    }
    rs_tls_buffer = mine;
    free(scratch);
    int64_t ns = (int64_t)(b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec);
    return ns > 0 ? (uint32_t)(ns * 1000 / CALLS) : 0;
}

/* ---- life ---- */

static bool open_recording(void)
{
    char why[512], fallback[512];
    if (!rs_files_open(&me.files, me.config, why, sizeof why, fallback, sizeof fallback)) {
        rs_warn_once(RS_SAID_MUTE,
                     "nothing will be recorded in this process: %s. Set RINGSCOPE_DIR to a folder that can be "
                     "written.",
                     why);
        return false;
    }
    struct rs_files *f = &me.files;
    me.chunks = (struct rs_chunk_file){.fd = f->fd,
                                       .codec = rs_codec_create(),
                                       .end = f->header.header_bytes,
                                       .limit = me.config->keep_last ? 0 : me.config->limit,
                                       .ring_begin = f->header.ring_begin,
                                       .ring_end = f->header.ring_end,
                                       .ring_at = f->header.ring_begin};
    if (f->header.ring_end) me.chunks.end = f->header.ring_end;
    me.status = f->header.status;
    me.waiting_first = UINT32_MAX;
    struct rs_live_header *live = f->live;
    live->nonce = rs_nonce;
    live->pid = f->header.pid;
    live->process_start_ns = f->header.process_start_ns;
    memcpy(live->boot_id, f->header.boot_id, sizeof live->boot_id);
    me.sealed = calloc(f->live_bytes / RS_BUFFER_BYTES + 1, sizeof *me.sealed);
    if (!me.chunks.codec || !me.sealed || !rs_pool_open(f->live, f->live_bytes)) {
        rs_warn_once(RS_SAID_MUTE, "nothing will be recorded in this process: out of memory");
        return false;
    }
    prefault_ahead();
    live->magic = RS_LIVE_MAGIC; /* from here on a reader may trust it */
    me.status.callback_cost_ps = measure_callback_ps();
    rs_clock_sample();
    if (fallback[0])
        rs_info_once(RS_SAID_ANONYMOUS, "buffers lie in %s: %s",
                     f->header.live_place == RS_LIVE_SHM ? "/dev/shm" : "memory that a kill loses", fallback);
    rs_info_once(RS_SAID_OPEN, "recording to %s", f->path);
    beat();
    return true;
}

/* The file header's counter of callbacks that come too late, mapped: their threads may outlive this one. */
static uint64_t *map_late_counter(void)
{
    static uint64_t nowhere;
    char *header = mmap(NULL, sizeof(struct rs_file_header), PROT_READ | PROT_WRITE, MAP_SHARED, me.files.fd, 0);
    if (header == MAP_FAILED) return &nowhere;
    return (uint64_t *)(header + offsetof(struct rs_file_header, status.lost_late));
}

/* Counts what memory alone holds as lost, and makes room: past the limit nothing more is kept, and anonymous memory goes
 * with the process. */
static void discard(uint32_t index)
{
    const struct rs_buffer *b = &rs_pool.buffers[index];
    const struct sealed *s = &me.sealed[index];
    bool same = s->slot == b->slot && s->generation == b->generation;
    if (b->slot != RS_SLOT_FACTS) rs_buffer_discard(index, same ? s->words : 0);
}

static void discard_all(void)
{
    struct rs_pool *p = &rs_pool;
    while (me.waiting_first != UINT32_MAX) {
        uint32_t index = me.waiting_first;
        me.waiting_first = p->next_buffer[index];
        discard(index);
        rs_buffer_release(index);
    }
    uint32_t made = atomic_load(&p->slots_made);
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        uint32_t buffer = __atomic_load_n(&p->slots[i].buffer, __ATOMIC_ACQUIRE);
        if (buffer) discard(buffer - 1);
    }
}

static void close_recording(void)
{
    bool anonymous = me.files.header.live_place == RS_LIVE_ANONYMOUS;
    me.retry_at_ms = 0;
    seal_full();
    rs_clock_sample();
    rs_pool_close(map_late_counter());
    struct timespec moment = {.tv_nsec = CLOSE_MOMENT_MS * 1000000};
    nanosleep(&moment, NULL);
    me.retry_at_ms = 0;
    seal_full();
    seal_partly();
    if (me.retry_at_ms && (me.past_limit || anonymous)) {
        discard_all();
        me.chunks.limit = 0; /* for the marks, which are small */
        me.retry_at_ms = 0;
    }
    bool all = !me.retry_at_ms && rs_pool_mark_losses();
    if (all) seal_full();
    me.status.state = RS_STATE_CLOSED;
    me.status.live_left = (!all || me.retry_at_ms) && !anonymous;
    /* A chunk that was written in part is no part of the recording. */
    if (me.retry_at_ms && ftruncate(me.files.fd, (off_t)me.chunks.end)) me.status.write_errno = (uint32_t)errno;
    beat();
    if (!me.status.live_left) rs_files_drop_live(&me.files);
}

static void *sealer_main(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "ringscope");
    if (!open_recording()) {
        set_state(RS_SEALER_FAILED);
        return NULL;
    }
    set_state(RS_SEALER_OPEN);
    uint64_t next_beat = now_ms() + BEAT_MS, next_second = now_ms() + SECOND_MS;
    while (!atomic_load(&me.stop)) {
        uint64_t now = now_ms();
        atomic_store(&rs_pool.sealer_sleeps, 1);
        if (now < next_beat && !atomic_load(&me.stop) && !atomic_load(&me.flush))
            futex_wait(&rs_pool.sealer_sleeps, 1, next_beat - now);
        atomic_store(&rs_pool.sealer_sleeps, 0);
        seal_full();
        now = now_ms();
        bool flush = atomic_exchange(&me.flush, 0);
        if (now >= next_second || flush) {
            rs_control_look(me.config->dir);
            rs_clock_sample();
            seal_partly();
            next_second = now + SECOND_MS;
        }
        if (now >= next_beat || flush) {
            me.status.state = atomic_load(&me.idle) ? RS_STATE_IDLE : RS_STATE_RUNNING;
            beat();
            next_beat = now + BEAT_MS;
        }
    }
    close_recording();
    set_state(RS_SEALER_CLOSED);
    return NULL;
}

static void wake(void)
{
    atomic_store(&rs_pool.sealer_sleeps, 0);
    syscall(SYS_futex, &rs_pool.sealer_sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

enum rs_sealer_state rs_sealer_state(void)
{
    return atomic_load(&me.state);
}

static enum rs_sealer_state wait_while(enum rs_sealer_state state, unsigned wait_ms)
{
    uint64_t until = now_ms() + wait_ms, now;
    while (rs_sealer_state() == state && (now = now_ms()) < until) futex_wait(&me.state, state, until - now);
    return rs_sealer_state();
}

enum rs_sealer_state rs_sealer_start(const struct rs_config *config, unsigned wait_ms)
{
    me.config = config;
    atomic_store(&me.state, RS_SEALER_OPENING);
    rs_clock_start(config);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the thread inherits this */
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int failed = pthread_create(&me.thread, &attr, sealer_main, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        rs_warn_once(RS_SAID_MUTE, "nothing will be recorded in this process: cannot start a thread: %s",
                     strerror(failed));
        atomic_store(&me.state, RS_SEALER_FAILED);
        return RS_SEALER_FAILED;
    }
    pthread_detach(me.thread);
    return wait_while(RS_SEALER_OPENING, wait_ms);
}

void rs_sealer_flush(bool idle)
{
    atomic_store(&me.idle, idle);
    atomic_store(&me.flush, 1);
    wake();
}

void rs_sealer_close(unsigned wait_ms)
{
    if (rs_sealer_state() != RS_SEALER_OPEN) return;
    atomic_store(&me.stop, 1);
    wake();
    wait_while(RS_SEALER_OPEN, wait_ms);
}

void rs_sealer_forget(void)
{
    if (me.files.fd > 0) close(me.files.fd);
    memset(&me, 0, sizeof me);
}
