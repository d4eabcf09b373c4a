/* Start and end of an operation from what its kernels and proxy operations say: which source, and when it is not known. */
#include "import/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rs_model m;
static struct rs_folds folds;
static struct rs_fold *f;

static int set_up(void **state)
{
    (void)state;
    uint32_t part;
    m = (struct rs_model){0};
    folds = (struct rs_folds){0};
    /* Parts of another process come before. */
    for (int i = 0; i < 3; i++) rs_model_part(&m, &part);
    folds.first = 2;
    rs_folds_add(&folds);
    f = rs_fold_of(&folds, 2);
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    rs_folds_free(&folds);
    rs_model_free(&m);
    return 0;
}

/* A kernel's channel with timers. */
static void kernel(int64_t from, int64_t to)
{
    rs_fold_kernel_start(f, from, true);
    rs_fold_kernel_end(f, to);
}
static void proxy(int64_t from, int64_t to)
{
    f->proxies++;
    rs_fold_proxy_start(f, from);
    rs_fold_proxy_end(f, to);
}

static bool lossy; /* callbacks of the process were lost */

static void finish(unsigned announced)
{
    m.parts.channels[2] = (uint8_t)announced;
    rs_folds_finish(&folds, &m, lossy);
    assert_int_equal(folds.n, 0);
    assert_int_equal(m.parts.start[1], RS_TIME_NONE); /* not another's */
}

static void check(int64_t start, int start_source, int64_t end, int end_source, unsigned flags)
{
    assert_int_equal(m.parts.start[2], start);
    assert_int_equal(m.parts.start_source[2], start_source);
    assert_int_equal(m.parts.end[2], end);
    assert_int_equal(m.parts.end_source[2], end_source);
    assert_int_equal(m.parts.flags[2], flags);
}
static void check_after(int64_t after, int source)
{
    assert_int_equal(m.parts.after[2], after);
    assert_int_equal(m.parts.after_source[2], source);
    assert_int_equal(m.parts.before[2], RS_TIME_NONE); /* for others to find */
}

static void test_nothing(void **state)
{
    (void)state;
    finish(4); /* channels were announced, but KernelCh is not recorded: that is no lack */
    check(RS_TIME_NONE, RS_FROM_NOTHING, RS_TIME_NONE, RS_FROM_NOTHING, 0);
    check_after(RS_TIME_NONE, RS_FROM_NOTHING);
}

static void test_kernels(void **state)
{
    (void)state;
    kernel(200, 900);
    kernel(100, 800);
    kernel(150, 950);
    finish(3);
    check(100, RS_FROM_KERNEL, 950, RS_FROM_KERNEL, 0);
    assert_int_equal(m.parts.channels_seen[2], 3);
}

static void test_more_than_announced(void **state)
{
    (void)state;
    kernel(100, 900); /* CollNet announces none */
    kernel(100, 901);
    finish(0);
    check(100, RS_FROM_KERNEL, 901, RS_FROM_KERNEL, 0);
}

static void test_fewer_than_announced(void **state)
{
    (void)state;
    kernel(100, 900);
    finish(2);
    check(100, RS_FROM_KERNEL, RS_TIME_NONE, RS_FROM_NOTHING, RS_PART_UNFINISHED);
    check_after(900, RS_FROM_KERNEL);
}

static void test_kernel_open(void **state)
{
    (void)state;
    rs_fold_kernel_start(f, 100, true);
    finish(1);
    check(100, RS_FROM_KERNEL, RS_TIME_NONE, RS_FROM_NOTHING, RS_PART_OPEN | RS_PART_KERNEL_OPEN | RS_PART_UNFINISHED);
    check_after(100, RS_FROM_KERNEL);
    assert_int_equal(m.parts.channels_seen[2], 0);
}

static void test_callbacks(void **state)
{
    (void)state;
    rs_fold_kernel_start(f, 100, false); /* v3 */
    rs_fold_kernel_end(f, 300);
    finish(0);
    check(100, RS_FROM_CALLBACK, 300, RS_FROM_CALLBACK, 0);
}

static void test_ended_without_a_time(void **state)
{
    (void)state;
    rs_fold_kernel_start(f, 100, true);
    rs_fold_kernel_end(f, RS_TIME_NONE); /* stopped, and the stop timer was never told */
    finish(1);
    check(100, RS_FROM_KERNEL, RS_TIME_NONE, RS_FROM_NOTHING, 0);
    check_after(100, RS_FROM_KERNEL);
}

static void test_stale(void **state)
{
    (void)state;
    kernel(100, 900);
    f->stale++;
    rs_fold_kernel_start(f, RS_TIME_NONE, true);
    rs_fold_kernel_end(f, RS_TIME_NONE);
    finish(2);
    check(100, RS_FROM_KERNEL, RS_TIME_NONE, RS_FROM_NOTHING, RS_PART_STALE);
    check_after(900, RS_FROM_KERNEL);
    assert_int_equal(m.parts.channels_seen[2], 2);
}

static void test_all_stale(void **state)
{
    (void)state;
    f->stale++;
    rs_fold_kernel_start(f, RS_TIME_NONE, true);
    rs_fold_kernel_end(f, RS_TIME_NONE);
    proxy(5000, 6000);
    finish(1);
    check(5000, RS_FROM_PROXY, 6000, RS_FROM_PROXY, RS_PART_STALE | RS_PART_NET);
}

static void test_proxies(void **state)
{
    (void)state;
    proxy(5100, 6000);
    proxy(5000, 5900);
    finish(2); /* announced, but KernelCh is off */
    check(5000, RS_FROM_PROXY, 6000, RS_FROM_PROXY, RS_PART_NET);
}

static void test_kernels_before_proxies(void **state)
{
    (void)state;
    proxy(5000, 6000);
    kernel(100, 900);
    finish(1);
    check(100, RS_FROM_KERNEL, 900, RS_FROM_KERNEL, RS_PART_NET);
}

static void test_start_of_kernel_end_of_proxy(void **state)
{
    (void)state;
    proxy(5000, 6000);
    kernel(100, 900);
    finish(2); /* a channel is missing */
    check(100, RS_FROM_KERNEL, 6000, RS_FROM_PROXY, RS_PART_NET | RS_PART_UNFINISHED);
}

static void test_proxy_open(void **state)
{
    (void)state;
    proxy(5000, 6000);
    f->proxies++; /* another, that never came to work */
    finish(0);
    check(5000, RS_FROM_PROXY, RS_TIME_NONE, RS_FROM_NOTHING, RS_PART_NET | RS_PART_OPEN);
    check_after(6000, RS_FROM_PROXY);
}

static void test_proxy_never_in_progress(void **state)
{
    (void)state;
    f->proxies++;
    finish(0);
    check(RS_TIME_NONE, RS_FROM_NOTHING, RS_TIME_NONE, RS_FROM_NOTHING, RS_PART_NET | RS_PART_OPEN);
    check_after(RS_TIME_NONE, RS_FROM_NOTHING);
}

/* All proxy work is done, and one channel of the kernel has not ended: it runs on, or its end was lost. */
static void test_runs_on(void **state)
{
    (void)state;
    kernel(100, 200);
    rs_fold_kernel_start(f, 110, true);
    proxy(5000, 6000);
    finish(2);
    check(100, RS_FROM_KERNEL, RS_TIME_NONE, RS_FROM_NOTHING,
          RS_PART_NET | RS_PART_OPEN | RS_PART_KERNEL_OPEN | RS_PART_UNFINISHED);
    check_after(200, RS_FROM_KERNEL);
}

static void test_stop_lost(void **state)
{
    (void)state;
    kernel(100, 200);
    rs_fold_kernel_start(f, 110, true);
    proxy(5000, 6000);
    lossy = true;
    finish(2);
    lossy = false;
    check(100, RS_FROM_KERNEL, 6000, RS_FROM_PROXY, RS_PART_NET | RS_PART_KERNEL_OPEN | RS_PART_UNFINISHED);
}

static void test_many(void **state)
{
    (void)state;
    for (int i = 0; i < 70000; i++) kernel(100 + i, 200 + i); /* damaged: no counter goes round */
    assert_int_equal(f->kernels, UINT16_MAX);
    finish(255);
    check(100, RS_FROM_KERNEL, 200 + 69999, RS_FROM_KERNEL, 0);
    assert_int_equal(m.parts.channels_seen[2], 255);
}

static void test_rows(void **state)
{
    (void)state;
    enum { N = 5000 };
    for (uint32_t i = 0, part; i < N; i++) {
        rs_model_part(&m, &part);
        rs_folds_add(&folds);
        rs_fold_kernel_start(rs_fold_of(&folds, part), part * 10, true);
        rs_fold_kernel_end(rs_fold_of(&folds, part), part * 10 + 1);
    }
    rs_folds_finish(&folds, &m, false);
    for (uint32_t part = 3; part < N + 3; part++) {
        assert_int_equal(m.parts.start[part], part * 10);
        assert_int_equal(m.parts.end[part], part * 10 + 1);
    }
}

/* Launches 1, 2 and 3 of a communicator: each a send and a receive in one kernel. The host's clock is 1 ms ahead of the
 * GPU's, to within 20 us. Each launch receives from (launch * 1 ms) on; `starts` are their kernels' timers. */
static void three_launches(const int64_t starts[3], bool with_receives)
{
    enum { MS = 1000000, AHEAD = MS };
    uint32_t comm, member, proc, gpu, host;
    rs_model_host(&m, "h", "b", &host);
    rs_model_proc(&m, &proc);
    rs_model_gpu(&m, host, (const uint8_t[16]){1}, &gpu);
    rs_model_comm(&m, 1, &comm);
    rs_model_member(&m, comm, &member);
    m.members[member].gpu = gpu;
    m.domains[gpu].bounds = calloc(1, sizeof *m.domains[gpu].bounds);
    for (int64_t at = 0; at < 4 * MS; at += MS / 10) rs_bounds_add_upper(m.domains[gpu].bounds, at, at + AHEAD + 20000);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t part;
        rs_model_part(&m, &part);
        rs_folds_add(&folds);
        m.parts.member[part] = member;
        m.parts.launch[part] = i / 2 + 1;
        m.parts.kind[part] = i % 2 ? RS_PART_RECV : RS_PART_SEND;
        f = rs_fold_of(&folds, part);
        kernel(starts[i / 2], starts[i / 2] + 9000);
        rs_folds_timer(&folds, part, i);
        if (with_receives) proxy(AHEAD + (int64_t)(i / 2 + 1) * MS, AHEAD + (int64_t)(i / 2 + 1) * MS + 500000);
    }
    rs_folds_drop_stale(&folds, &m, proc);
    rs_folds_finish(&folds, &m, false);
}

static void test_contradicted_by_receives(void **state)
{
    (void)state;
    /* Launch 3 has the timers of a kernel that ran before launch 2 had received anything. */
    three_launches((const int64_t[]){990000, 1990000, 500000}, true);
    for (uint32_t part = 3; part < 7; part++) assert_int_equal(m.parts.start_source[part], RS_FROM_KERNEL);
    for (uint32_t part = 7; part < 9; part++) {
        assert_int_equal(m.parts.start_source[part], RS_FROM_PROXY);
        assert_int_equal(m.parts.start[part], 4000000);
        assert_int_equal(m.parts.end[part], 4500000);
        assert_true(m.parts.flags[part] & RS_PART_STALE);
    }
    assert_int_equal(m.domains[m.members[0].gpu].stale, 2);
    for (uint64_t timer = 0; timer < 6; timer++) assert_int_equal(rs_proc_is_stale(&m.procs[0], timer), timer >= 4);
}

static void test_not_contradicted(void **state)
{
    (void)state;
    /* Launch 3 starts 0.9 ms before launch 2 is seen to receive: within the doubt. */
    three_launches((const int64_t[]){990000, 1990000, 1100000}, true);
    for (uint32_t part = 3; part < 9; part++) assert_int_equal(m.parts.start_source[part], RS_FROM_KERNEL);
    assert_int_equal(m.domains[m.members[0].gpu].stale, 0);
}

static void test_without_network_events(void **state)
{
    (void)state;
    three_launches((const int64_t[]){990000, 1990000, 500000}, false);
    for (uint32_t part = 3; part < 9; part++) assert_int_equal(m.parts.start_source[part], RS_FROM_KERNEL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_nothing),
                                       TEST(test_kernels),
                                       TEST(test_more_than_announced),
                                       TEST(test_fewer_than_announced),
                                       TEST(test_kernel_open),
                                       TEST(test_callbacks),
                                       TEST(test_ended_without_a_time),
                                       TEST(test_stale),
                                       TEST(test_all_stale),
                                       TEST(test_proxies),
                                       TEST(test_kernels_before_proxies),
                                       TEST(test_start_of_kernel_end_of_proxy),
                                       TEST(test_proxy_open),
                                       TEST(test_proxy_never_in_progress),
                                       TEST(test_runs_on),
                                       TEST(test_stop_lost),
                                       TEST(test_many),
                                       TEST(test_rows),
                                       TEST(test_contradicted_by_receives),
                                       TEST(test_not_contradicted),
                                       TEST(test_without_network_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
