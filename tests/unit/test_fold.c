/* Start and end of an operation from what its kernels and proxy operations say: which source, and when it is not known. */
#include "import/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

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
                                       TEST(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
