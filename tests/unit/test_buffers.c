/* Slots and buffers: what a thread writes, buffer by buffer, what happens when none is left, and when ticks run far. */
#include "plugin/buffers.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/log.h"
#include "plugin/record.h"

static void *memory;

static int set_up(void **state)
{
    (void)state;
    size_t bytes = (size_t)1 << 20;
    rs_nonce = 0x1234;
    rs_context_base = rs_handle(rs_nonce, RS_SLOT_CONTEXT, 0);
    memory = aligned_alloc(4096, bytes);
    memset(memory, 0, bytes);
    return rs_pool_open(memory, bytes) ? 0 : -1;
}

static bool write_stop(uint64_t handle)
{
    struct rs_write w;
    if (!rs_write_begin(&w)) {
        rs_lost(RS_LOST_STOP);
        return false;
    }
    rs_put_head(&w, RS_K_STOP, handle);
    rs_write_end(&w);
    return true;
}

static unsigned kind_at(const struct rs_buffer *b, uint32_t word)
{
    return (unsigned)b->words[word] & 0xff;
}

/* Fills all buffers, loses a known number, gives one buffer back, and looks for the LOST record. In a thread of its own,
 * which therefore has a slot of its own. */
static void *fill_and_lose(void *unused)
{
    (void)unused;
    uint64_t kept = 0;
    while (write_stop(0)) kept++;
    uint32_t events = rs_pool.nbuffers - RS_FACTS_BUFFERS;
    assert_true(kept > (uint64_t)events * 4000 && kept < (uint64_t)events * 4100); /* two words a stop */
    for (int i = 0; i < 99; i++) assert_false(write_stop(0));
    uint64_t next = rs_lost_start(4);
    assert_true(rs_lost_start(4) == next + 1); /* lost starts have handles too */
    struct rs_slot *s = &rs_pool.slots[rs_handle_slot(next)];
    assert_int_equal(s->lost[RS_LOST_STOP], 100);
    assert_int_equal(s->lost[4], 2);
    assert_int_equal(s->lost_in_records[RS_LOST_STOP], 0);

    uint32_t oldest = rs_stack_take_all(&rs_pool.full, rs_pool.next_buffer);
    assert_true(oldest != UINT32_MAX);
    const struct rs_buffer *b = &rs_pool.buffers[oldest];
    assert_int_equal(b->generation, 1);
    assert_true((uint32_t)b->commit <= (RS_BUFFER_BYTES - 64) / 8);
    for (uint32_t at = 0, n; at < (uint32_t)b->commit; at += n)
        assert_true((n = rs_record_words(b->words + at, (uint32_t)b->commit - at)) > 0);
    rs_buffer_release(oldest);
    assert_true(write_stop(next));
    /* THREAD, then LOST with what was lost, then the stop. */
    assert_int_equal(b->generation, events + 1);
    assert_int_equal(kind_at(b, 0), RS_K_THREAD);
    assert_int_equal(kind_at(b, 4), RS_K_LOST);
    assert_int_equal(b->words[4 + 3 + RS_LOST_STOP], 100);
    assert_int_equal(b->words[4 + 3 + 4], 2);
    assert_true(b->words[5] <= b->words[6]);
    assert_int_equal(kind_at(b, 4 + 22), RS_K_STOP);
    assert_int_equal((uint32_t)b->commit, 4 + 22 + 1); /* the lost handle is near: no word of its own */
    assert_int_equal(s->lost_in_records[RS_LOST_STOP], 100);
    assert_int_equal(s->lost[RS_LOST_STOP], 100);
    return NULL;
}

static void test_no_room(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fill_and_lose, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(rs_pool.slots[0].tid, 0); /* it gave its slot back */
}

/* The next thread goes on in the slot and buffer of the one before, under its own name. */
static void *goes_on(void *before)
{
    const struct rs_buffer *b = before;
    uint32_t at = (uint32_t)b->commit;
    assert_true(write_stop(0));
    assert_int_equal(kind_at(b, at), RS_K_THREAD);
    assert_int_equal(b->words[at + 1], rs_pool.slots[0].tid);
    assert_int_equal(kind_at(b, at + 4), RS_K_STOP);
    return NULL;
}

static void test_next_owner(void **state)
{
    (void)state;
    pthread_t thread;
    struct rs_buffer *b = &rs_pool.buffers[rs_pool.slots[0].buffer - 1];
    assert_int_equal(pthread_create(&thread, NULL, goes_on, b), 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&rs_pool.slots_made), 1);
}

/* Heads count ticks in 32 bits: after a long pause a record says where they begin anew. */
static void *pauses(void *unused)
{
    (void)unused;
    assert_true(write_stop(0));
    struct rs_buffer *b = &rs_pool.buffers[rs_pool.slots[0].buffer - 1];
    uint32_t at = (uint32_t)b->commit;
    b->tick_now -= UINT64_C(1) << 33;
    assert_true(write_stop(0));
    assert_int_equal(kind_at(b, at), RS_K_TICK_BASE);
    assert_true(b->words[at + 1] == b->tick_now);
    assert_int_equal(kind_at(b, at + 2), RS_K_STOP);
    assert_true(rs_tick() - (b->words[at + 1] + (b->words[at + 2] >> 32)) < UINT64_C(1) << 32);
    assert_int_equal((uint32_t)b->words[at + 1], 0); /* heads hold the lower half of the counter */
    b->tick_now += UINT64_C(1) << 40; /* a counter that went back */
    at = (uint32_t)b->commit;
    assert_true(write_stop(0));
    assert_int_equal(kind_at(b, at), RS_K_TICK_BASE);
    return NULL;
}

static void test_far_ticks(void **state)
{
    (void)state;
    for (int counter = 0; counter < 2; counter++) { /* with the system's clock alone, then with the hardware's */
        pthread_t thread;
        if (counter) rs_tick_choose();
        assert_int_equal(pthread_create(&thread, NULL, pauses, NULL), 0);
        pthread_join(thread, NULL);
    }
}

/* ---- signal handlers ---- */

static _Atomic uint64_t handler_start;

static void calls_in(int signal)
{
    (void)signal;
    assert_false(write_stop(0));
    atomic_store(&handler_start, rs_lost_start(4));
}

/* A handler in the middle of a callback finds no room, is counted apart, and leaves the record alone. Elsewhere it is a
 * caller like any other. */
static void *is_interrupted(void *unused)
{
    (void)unused;
    assert_true(write_stop(0)); /* takes a slot */
    const struct rs_slot *s = rs_own.slot;
    const struct rs_buffer *b = &rs_pool.buffers[s->buffer - 1];
    uint64_t stops = s->lost[RS_LOST_STOP], shared = rs_pool.live->lost_overflow[RS_LOST_STOP];
    uint64_t starts = rs_pool.live->lost_overflow[4], commit = b->commit;
    signal(SIGUSR1, calls_in);
    struct rs_write w = {0};
    assert_true(rs_write_begin(&w));
    pthread_kill(pthread_self(), SIGUSR1);
    rs_put_head(&w, RS_K_STOP, 77);
    pthread_kill(pthread_self(), SIGUSR1);
    rs_write_end(&w);
    assert_int_equal(b->commit, commit + 2);
    assert_int_equal(kind_at(b, (uint32_t)commit), RS_K_STOP);
    assert_int_equal(b->words[(uint32_t)commit + 1], 77);
    assert_int_equal(s->lost[RS_LOST_STOP], stops);
    assert_int_equal(rs_pool.live->lost_overflow[RS_LOST_STOP], shared + 2);
    assert_int_equal(rs_pool.live->lost_overflow[4], starts + 2);
    assert_int_equal(rs_handle_slot(atomic_load(&handler_start)), RS_SLOT_OVERFLOW);
    assert_true(write_stop(0));
    signal(SIGUSR1, SIG_DFL);
    return NULL;
}

static void test_handler(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, is_interrupted, NULL), 0);
    pthread_join(thread, NULL);
}

/* ---- closing ---- */

static _Atomic int stage;

static void wait_for(int wanted)
{
    while (atomic_load(&stage) < wanted) usleep(1000);
}

/* Stays in a callback until it is asked to go on, and calls once more when the recording is closed. */
static void *lingers(void *unused)
{
    (void)unused;
    struct rs_write w = {0};
    assert_true(rs_write_begin(&w));
    rs_put_head(&w, RS_K_STOP, 0);
    atomic_store(&stage, 1);
    wait_for(2);
    rs_write_end(&w);
    while (atomic_load(&rs_pool.open)) usleep(1000);
    assert_false(write_stop(0));
    return NULL;
}

/* Ends in the middle of a callback, as if it were cancelled there. */
static void *dies_inside(void *unused)
{
    (void)unused;
    struct rs_write w = {0};
    assert_true(rs_write_begin(&w));
    return NULL;
}

static uint64_t late;
static _Atomic uint32_t still_inside;

static void *closes(void *wait_ms)
{
    atomic_store(&still_inside, rs_pool_close(&late, *(unsigned *)wait_ms));
    atomic_fetch_add(&stage, 1);
    return NULL;
}

static void test_close(void **state)
{
    (void)state;
    pthread_t dead, thread, closer;
    assert_int_equal(pthread_create(&dead, NULL, dies_inside, NULL), 0);
    pthread_join(dead, NULL);
    assert_int_equal(pthread_create(&thread, NULL, lingers, NULL), 0);
    wait_for(1);
    uint32_t slot = 0;
    while (!rs_pool.slots[slot].inside) slot++; /* the dead thread's says so no more */
    const struct rs_buffer *b = &rs_pool.buffers[rs_pool.slots[slot].buffer - 1];
    uint64_t commit = b->commit;

    unsigned none = 0, ample = 60000;
    assert_int_equal(rs_pool_close(&late, none), 1); /* a wait that ran out says for how many */
    atomic_store(&rs_pool.open, 1);
    assert_int_equal(pthread_create(&closer, NULL, closes, &ample), 0);
    while (atomic_load(&rs_pool.open)) usleep(1000);
    usleep(20000); /* a closer that does not wait would be through by now */
    assert_int_equal(atomic_load(&stage), 1);
    assert_int_equal(b->commit, commit);
    atomic_store(&stage, 2);
    pthread_join(closer, NULL);
    assert_int_equal(atomic_load(&still_inside), 0);
    assert_int_equal(b->commit, commit + 2);
    pthread_join(thread, NULL);
    assert_int_equal(late, 1);
    assert_int_equal(b->commit, commit + 2);
}

static void test_stacks(void **state)
{
    (void)state;
    struct rs_stack s = {0};
    uint32_t next[5], index;
    assert_false(rs_stack_pop(&s, next, &index));
    assert_int_equal(rs_stack_take_all(&s, next), UINT32_MAX);
    for (uint32_t i = 0; i < 5; i++) rs_stack_push(&s, next, i);
    assert_true(rs_stack_pop(&s, next, &index) && index == 4);
    index = rs_stack_take_all(&s, next); /* oldest first */
    for (uint32_t want = 0; want < 4; want++, index = next[index]) assert_int_equal(index, want);
    assert_int_equal(index, UINT32_MAX);
    assert_false(rs_stack_pop(&s, next, &index));
}

/* ---- what the thread notices ---- */

static void *is_refused(void *unused)
{
    struct sock_filter all[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 2, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
    struct sock_fprog program = {sizeof all / sizeof *all, all};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    errno = 77;
    write_stop(0); /* its first: asks for its name */
    assert_int_equal(errno, 77);
    assert_false(rs_barrier());
    assert_int_equal(errno, 77);
    return unused;
}

static void test_errno(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, is_refused, NULL), 0);
    pthread_join(thread, NULL);
}

static bool heard;

static void hears(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)level, (void)flags, (void)file, (void)line;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    heard |= strstr(text, "forked from a recorded one") != NULL;
}

/* A child that goes on calling writes nothing, and its next call that has a logger says so. */
static void test_fork(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        rs_pool_forget();
        if (write_stop(1)) _exit(1);
        rs_log_enter();
        rs_log_leave(hears);
        _exit(heard ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stacks),     cmocka_unit_test(test_no_room),
                                       cmocka_unit_test(test_next_owner), cmocka_unit_test(test_far_ticks),
                                       cmocka_unit_test(test_handler),    cmocka_unit_test(test_errno),
                                       cmocka_unit_test(test_fork),       cmocka_unit_test(test_close)};
    int failed = cmocka_run_group_tests(tests, set_up, NULL);
    free(memory);
    return failed;
}
