#include "plugin/sealer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/alone.h"
#include "plugin/buffers.h"
#include "plugin/clock.h"
#include "plugin/control.h"
#include "plugin/detail.h"
#include "plugin/facts.h"
#include "plugin/files.h"
#include "plugin/log.h"
#include "plugin/masks.h"
#include "plugin/record.h"
#include "plugin/seal.h"
#include "plugin/stale.h"
#include "plugin/table.h"

enum {
    BEAT_MS = 100,
    SECOND_MS = 1000,
    UNSAFE_MS = 50, /* what a kill may lose with buffers in private memory */
    TURN_MS = 50, /* of sealing at a time, before other duties */
    CLOSE_WAIT_MS = 3000, /* for threads that are inside a callback when the recording closes */
};

static struct {
    _Atomic uint32_t state; /* enum rs_sealer_state; a futex */
    _Atomic uint32_t stop, flush, idle;
    pthread_t thread;
    const struct rs_config *config;
    struct rs_files files;
    struct rs_status_block status;
} me;

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

/* ---- status ---- */

/* Whether the file has it, too. */
static bool beat(void)
{
    struct rs_pool *p = &rs_pool;
    struct rs_status_block *st = &me.status;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    st->heartbeat_tick = rs_tick();
    st->heartbeat_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    rs_seal_status(st);
    st->lost_unopened = atomic_load(&p->lost_unopened);
    rs_facts_status(st);
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
            RS_MESSAGE_LOST,
            "callbacks arrive faster than they can be written, or there is no room for them: losses are counted and "
            "marked in the recording (RINGSCOPE_MEMORY gives more room, RINGSCOPE_EVENTS=ops records less)");
    p->live->status = *st;
    /* In place: needs no new block even on a full disk. May fail: the live header has the same. The last counter
     * belongs to other threads. */
    enum { BYTES = offsetof(struct rs_status_block, lost_late) };
    return pwrite(rs_files_fd(&me.files), st, BYTES, offsetof(struct rs_file_header, status)) == BYTES;
}

/* The cost of one callback on this machine, for the recorder's share of the run time. */
static uint32_t measure_callback_ps(void)
{
    enum { CALLS = 2000 };
    struct rs_buffer *scratch = calloc(1, sizeof *scratch);
    struct rs_slot slot = {0};
    if (!scratch) return 0;
    scratch->limit = UINT32_MAX;
    scratch->tick_now = rs_tick_base();
    struct rs_own mine = rs_own;
    rs_own = (struct rs_own){&slot, scratch};
    struct timespec a, b;
    for (int round = 0; round < 2; round++) { /* the first one warms up */
        scratch->commit = 0;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < CALLS; i++) {
            struct rs_write w;
            if (!rs_write_begin_here(&w)) { /* the 32 bits of ticks overflowed */
                scratch->tick_now = rs_tick_base();
                continue;
            }
            rs_put_head(&w, RS_K_STOP, 0);
            rs_write_end(&w);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
    }
    rs_own = mine;
    free(scratch);
    int64_t ns = (int64_t)(b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec);
    return ns > 0 ? (uint32_t)(ns * 1000 / CALLS) : 0;
}

/* ---- life ---- */

static bool open_recording(void)
{
    char why[512], fallback[512];
    if (!rs_files_open(&me.files, me.config, why, sizeof why, fallback, sizeof fallback)) {
        rs_warn_once(RS_MESSAGE_MUTE,
                     "nothing will be recorded in this process: %s. Set RINGSCOPE_DIR to a folder that can be "
                     "written.",
                     why);
        return false;
    }
    struct rs_files *f = &me.files;
    me.status = f->header.status;
    struct rs_live_header *live = f->live; /* a file's header already names its owner */
    if (!rs_seal_open(f, me.config)) {
        rs_warn_once(RS_MESSAGE_MUTE, "nothing will be recorded in this process: out of memory");
        rs_files_undo(f);
        return false;
    }
    rs_facts_open();
    rs_control_look(me.config->dir, true);
    live->magic = RS_LIVE_MAGIC; /* from here on a reader may trust it */
    me.status.callback_cost_ps = measure_callback_ps();
    rs_clock_sample();
    if (f->live_path[0])
        rs_info_once(RS_MESSAGE_OPEN, "recording to %s, buffers in %s", f->path, f->live_path);
    else
        rs_info_once(RS_MESSAGE_OPEN, "recording to %s, buffers in private memory, which a kill loses (%s)", f->path,
                     fallback);
    beat();
    return true;
}

static void look_after_file(void)
{
    rs_seal_status(&me.status);
    switch (rs_files_look(&me.files, me.status.file_end)) {
    case RS_FILES_SAME: break;
    case RS_FILES_DELETED:
        rs_warn_once(RS_MESSAGE_DELETED, "%s was deleted: everything that this process records is lost", me.files.path);
        break;
    case RS_FILES_CUT:
        rs_fact_note("%s was truncated by another program: its earlier contents are lost", me.files.path);
        break;
    }
}

/* Maps the file header's counter of late callbacks: their threads may outlive this one. The page is touched here, so
 * that they do not wait for the disk; it must exist, since a program may have truncated the file. */
static uint64_t *map_late_counter(void)
{
    struct stat st;
    look_after_file();
    int fd = rs_files_fd(&me.files);
    if (fstat(fd, &st) || st.st_size < (off_t)sizeof(struct rs_file_header)) return NULL;
    char *header = mmap(NULL, sizeof(struct rs_file_header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED) return NULL;
    uint64_t *late = (uint64_t *)(header + offsetof(struct rs_file_header, status.lost_late));
    __atomic_fetch_add(late, 0, __ATOMIC_RELAXED);
    return late;
}

static void close_recording(void)
{
    static uint64_t nowhere;
    rs_clock_sample();
    /* First: later callbacks are counted, so sealing comes to an end. */
    uint64_t *late = map_late_counter();
    uint32_t inside = rs_pool_close(late ? late : &nowhere, CLOSE_WAIT_MS);
    me.status.inside_at_close = late ? inside : UINT64_MAX;
    me.status.live_left = !rs_seal_last();
    me.status.state = RS_STATE_CLOSED;
    enum { TRIES = 20 };
    bool written = false; /* else only the live file has the status */
    for (int i = 0; i < TRIES && !written; i++) written = beat();
    if (written && !me.status.live_left) rs_files_drop_live(&me.files);
}

static void *sealer_main(void *unused)
{
    (void)unused;
    rs_alone_begin(RS_THREAD_SEALER);
    rs_table_take();
    rs_stale_start();
    if (!open_recording()) {
        set_state(RS_SEALER_FAILED);
        rs_masks_mute();
        rs_log_close();
        return NULL;
    }
    set_state(RS_SEALER_OPEN);
    unsigned beat_ms = BEAT_MS, partly_ms = SECOND_MS;
    if (me.files.header.live_place == RS_LIVE_ANONYMOUS) beat_ms = partly_ms = UNSAFE_MS;
    uint64_t next_beat = rs_clock_ms() + beat_ms, next_partly = rs_clock_ms() + partly_ms,
             next_second = rs_clock_ms() + SECOND_MS;
    uint64_t detail_ms = rs_detail_look();
    bool more = false, alone = false;
    while (!atomic_load(&me.stop) && !alone) {
        uint64_t now = rs_clock_ms();
        atomic_store(&rs_pool.sealer_sleeps, 1);
        if (!more && now < next_beat && !atomic_load(&me.stop) && !atomic_load(&me.flush))
            futex_wait(&rs_pool.sealer_sleeps, 1, next_beat - now < detail_ms ? next_beat - now : detail_ms);
        atomic_store(&rs_pool.sealer_sleeps, 0);
        detail_ms = rs_detail_look();
        more = rs_seal_full(rs_clock_ms() + TURN_MS);
        now = rs_clock_ms();
        bool flush = atomic_exchange(&me.flush, 0);
        if (now >= next_second || flush) {
            rs_control_look(me.config->dir, false);
            rs_clock_sample();
            look_after_file();
            next_second = now + SECOND_MS;
        }
        if (now >= next_partly || flush) {
            rs_seal_partly();
            next_partly = now + partly_ms;
        }
        if (now >= next_beat || flush) {
            me.status.state = atomic_load(&me.idle) ? RS_STATE_IDLE : RS_STATE_RUNNING;
            beat();
            next_beat = now + beat_ms;
            alone = rs_is_alone(atomic_load(&me.idle));
        }
    }
    close_recording();
    rs_log_close();
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
    uint64_t until = rs_clock_ms() + wait_ms, now;
    while (rs_sealer_state() == state && (now = rs_clock_ms()) < until) futex_wait(&me.state, state, until - now);
    return rs_sealer_state();
}

enum rs_sealer_state rs_sealer_start(const struct rs_config *config, unsigned wait_ms)
{
    me.config = config;
    atomic_store(&me.state, RS_SEALER_OPENING);
    rs_clock_start(config);
    rs_alone_start();
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the thread inherits this */
    /* The default stack size: the program's thread-local variables are in it too, and may be large. */
    int failed = pthread_create(&me.thread, NULL, sealer_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        rs_warn_once(RS_MESSAGE_MUTE, "nothing will be recorded in this process: cannot start a thread: %s",
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
    if (rs_sealer_state() == RS_SEALER_OPEN) rs_files_forget(&me.files);
    rs_table_forget();
    rs_stale_forget();
    rs_alone_forget();
    memset(&me, 0, sizeof me);
}
