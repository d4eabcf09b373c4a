/* Masks change only between group calls, on threads of their own NCCL, and each NCCL has one of its own. */
#include "plugin/masks.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/settings.h"
#include "plugin/buffers.h"

extern const struct rs_nccl_profiler_v7 ncclProfiler_v7;
extern const struct rs_nccl_profiler_v4 ncclProfiler_v4;
#define nccl ncclProfiler_v7

enum { THREADS = 4, CHANGES = 300, PLAIN = RS_COLL | RS_P2P, GPU = PLAIN | RS_KERNEL_CH };

static int mask, other_mask; /* of two NCCLs */

/* KernelCh needs room there; whether this machine has it is not the question here. */
int statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_bavail = 1 << 30, .f_frsize = 4096};
    return 0;
}

static void *context_of(uint64_t index)
{
    return (void *)(uintptr_t)(rs_context_base + index);
}

static int load(const int *of)
{
    return __atomic_load_n(of, __ATOMIC_RELAXED);
}

static void *open_group(uint64_t context, int depth)
{
    void *handle;
    struct rs_nccl_descr_v7 d = {.type = RS_GROUP_API, .groupApi = {.groupDepth = depth}};
    nccl.startEvent(context_of(context), &handle, &d);
    return handle;
}

static void *launch(uint64_t context, void *parent)
{
    void *handle;
    struct rs_nccl_descr_v7 d = {.type = RS_KERNEL_LAUNCH, .parentObj = parent};
    nccl.startEvent(context_of(context), &handle, &d);
    nccl.stopEvent(handle);
    return parent;
}

static void call_once(uint64_t context)
{
    nccl.stopEvent(open_group(context, 1));
}

static int set_up(void **state)
{
    (void)state;
    size_t bytes = (size_t)1 << 20;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    free(rs_pool.next_buffer); /* of the test before; a child leaves them allocated */
    free(rs_pool.next_slot);
    rs_pool_forget();
    rs_masks_reset();
    rs_nonce = 0x1234;
    rs_context_base = rs_handle(rs_nonce, RS_SLOT_CONTEXT, 0);
    mask = other_mask = 0;
    return rs_pool_open(memory, bytes) ? 0 : -1;
}

static void *one_call(void *context)
{
    call_once((uintptr_t)context);
    return NULL;
}

/* A thread may have a group call open: what others do then. */
static void elsewhere(void *(*what)(void *), uint64_t arg)
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, what, (void *)(uintptr_t)arg), 0);
    pthread_join(t, NULL);
}

static void test_between_groups(void **state)
{
    (void)state;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
    rs_masks_order(GPU);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS); /* not by the thread that wants it */
    call_once(1);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);

    void *group = open_group(1, 1);
    rs_masks_order(0);
    elsewhere(one_call, 1);
    assert_int_equal(mask, RS_KERNEL_CH | RS_MASK_ALWAYS); /* a group call is open; the other bits do no harm */
    rs_masks_join(&mask, 7, NULL, 2, PLAIN);
    assert_int_equal(mask, RS_KERNEL_CH | RS_MASK_ALWAYS);
    nccl.stopEvent(group);
    assert_int_equal(mask, RS_MASK_ALWAYS);
    nccl.stopEvent(group); /* NCCL stops some events twice */
    rs_masks_order(-1);
    call_once(1);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
    rs_masks_mute();
    call_once(1);
    assert_int_equal(mask, 0);
}

/* GroupApi is stopped too early in nested groups: what NCCL launches ends the group call. */
static void test_nested(void **state)
{
    (void)state;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    rs_masks_order(GPU);
    void *first = open_group(1, 3);
    nccl.stopEvent(first);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
    elsewhere(one_call, 1);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
    void *second = open_group(1, 3); /* of the same group call */
    launch(1, first);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
    nccl.stopEvent(second);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
}

static void *launch_of(void *group)
{
    return launch(1, group);
}

/* Non-blocking communicators launch in a thread of NCCL, after the stop or before it. */
static void test_non_blocking(void **state)
{
    (void)state;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    rs_masks_order(GPU);
    void *group = open_group(1, 2);
    nccl.stopEvent(group);
    assert_int_equal(rs_own.slot->group, (uintptr_t)group);
    elsewhere(launch_of, (uintptr_t)group);
    assert_int_equal(rs_own.slot->group, 0);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS); /* this thread may be about to begin another */
    call_once(1);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
    rs_masks_order(PLAIN);
    group = open_group(1, 2);
    elsewhere(launch_of, (uintptr_t)group);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
    nccl.stopEvent(group);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
}

static void *open_and_end(void *context)
{
    open_group((uintptr_t)context, 2);
    return NULL;
}

static void *stop_elsewhere(void *group)
{
    nccl.stopEvent(group);
    return NULL;
}

static void test_threads_that_end(void **state)
{
    (void)state;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    rs_masks_order(GPU);
    elsewhere(open_and_end, 1);
    call_once(1);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
    rs_masks_order(PLAIN);
    elsewhere(stop_elsewhere, (uintptr_t)open_group(1, 1));
    assert_int_equal(rs_own.slot->group, 0);
    call_once(1);
    assert_int_equal(mask, PLAIN | RS_MASK_ALWAYS);
}

/* Each changes its own; when the last communicator goes the mask may be unmapped. */
static void test_two(void **state)
{
    (void)state;
    rs_nccl_logger logger;
    bool last;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    rs_masks_join(&other_mask, 5, NULL, 2, PLAIN);
    rs_masks_order(GPU);
    call_once(1);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
    assert_int_equal(other_mask, PLAIN | RS_MASK_ALWAYS);
    call_once(2);
    assert_int_equal(other_mask, GPU | RS_MASK_ALWAYS);
    assert_true(rs_masks_leave(2, &logger, &last));
    assert_false(last);
    assert_false(rs_masks_leave(2, &logger, &last)); /* twice */
    assert_false(rs_masks_known(&other_mask));
    rs_masks_order(0);
    call_once(2); /* a late one */
    assert_int_equal(other_mask, GPU | RS_MASK_ALWAYS);
    call_once(1);
    assert_int_equal(mask, RS_MASK_ALWAYS);
    assert_true(rs_masks_leave(1, &logger, &last));
    assert_true(last);
    rs_masks_join(&other_mask, 5, NULL, 3, PLAIN); /* it is back, and so is what was ordered */
    assert_int_equal(other_mask, RS_MASK_ALWAYS);
}

static void test_many_contexts(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    rs_nccl_logger logger;
    bool last;
    for (uint64_t i = 1; i <= MANY; i++) rs_masks_join(i % 2 ? &mask : &other_mask, 7, NULL, i, PLAIN);
    rs_masks_order(GPU);
    call_once(MANY - 1);
    assert_int_equal(mask, GPU | RS_MASK_ALWAYS);
    assert_int_equal(other_mask, PLAIN | RS_MASK_ALWAYS);
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(rs_masks_known(i % 2 ? &mask : &other_mask));
        assert_true(rs_masks_leave(i, &logger, &last));
        assert_int_equal(last, i == MANY);
    }
    assert_false(rs_masks_known(&mask) || rs_masks_known(&other_mask));
}

/* Before v5 no event says when a group call is open. */
static void test_old(void **state)
{
    (void)state;
    rs_masks_join(&mask, 4, NULL, 1, GPU);
    assert_int_equal(mask, GPU | RS_GROUP);
    rs_masks_order(0);
    void *handle;
    struct rs_nccl_descr_v4 d = {.type = RS_GROUP};
    ncclProfiler_v4.startEvent(context_of(1), &handle, &d);
    ncclProfiler_v4.stopEvent(handle);
    assert_int_equal(mask, RS_KERNEL_CH | RS_GROUP);
}

/* Threads make group calls of all kinds while masks change: no group call may see both. */
static _Atomic uint32_t changes, split;
static time_t end; /* a busy machine makes few changes */

static bool enough(void)
{
    return atomic_load(&changes) >= CHANGES || time(NULL) > end;
}

static unsigned chance(unsigned *seed, unsigned of)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % of;
}

static void *play(void *arg)
{
    uint64_t context = (uintptr_t)arg % 2 + 1;
    const int *own = context == 1 ? &mask : &other_mask;
    unsigned seed = (unsigned)(uintptr_t)arg;
    int before = -1;
    while (!enough()) {
        if (!chance(&seed, 5000)) usleep(chance(&seed, 40000)); /* computes */
        int depth = 1 + (int)chance(&seed, 3), events = depth > 2 ? 2 : 1, seen = -1;
        for (int e = 0; e < events; e++) {
            void *group = NULL;
            for (int op = 0; op < 3; op++) {
                if (!op) group = open_group(context, depth);
                int now = load(own);
                if (seen >= 0 && (now ^ seen) & RS_KERNEL_CH) atomic_fetch_add(&split, 1);
                seen = now;
                if (!chance(&seed, 8)) sched_yield();
            }
            if (e == events - 1) launch(context, group);
            if (!chance(&seed, 2)) sched_yield();
            nccl.stopEvent(group);
        }
        if (before >= 0 && (before ^ seen) & RS_KERNEL_CH) atomic_fetch_add(&changes, 1);
        before = seen;
    }
    return NULL;
}

static void *order(void *unused)
{
    for (unsigned i = 0; !enough(); i++) {
        rs_masks_order(i % 2 ? GPU : i % 4 ? PLAIN : 0);
        usleep(15000);
    }
    return unused;
}

static void test_at_random(void **state)
{
    (void)state;
    pthread_t t[THREADS + 1];
    end = time(NULL) + 3;
    rs_masks_join(&mask, 7, NULL, 1, PLAIN);
    rs_masks_join(&other_mask, 6, NULL, 2, PLAIN);
    for (uintptr_t i = 0; i <= THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, i == THREADS ? order : play, (void *)i), 0);
    for (int i = 0; i <= THREADS; i++) pthread_join(t[i], NULL);
    assert_int_equal(atomic_load(&split), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_between_groups, set_up),
        cmocka_unit_test_setup(test_nested, set_up),
        cmocka_unit_test_setup(test_non_blocking, set_up),
        cmocka_unit_test_setup(test_threads_that_end, set_up),
        cmocka_unit_test_setup(test_two, set_up),
        cmocka_unit_test_setup(test_many_contexts, set_up),
        cmocka_unit_test_setup(test_old, set_up),
        cmocka_unit_test_setup(test_at_random, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
