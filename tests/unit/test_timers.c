/* Which GPU timers can be believed: rules of stale ones, what is allowed, and overruns of the ring. */
#include "import/timers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/handle.h"

#define EPOCH INT64_C(1756135989724672000) /* on the GPU */
#define HOST INT64_C(1700000000000000000) /* the same moment on the host */
#define AWAY (HOST - EPOCH)

static struct rs_timers timers;
static struct rs_domain gpu;

static int set_up(void **state)
{
    (void)state;
    timers = (struct rs_timers){0};
    gpu = (struct rs_domain){.kind = RS_DOMAIN_GPU};
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    rs_timers_free(&timers);
    free(gpu.bounds);
    return 0;
}

/* Plans in the order in which one thread launched them. */
static uint64_t plan(unsigned n)
{
    return rs_handle(0x1234, 5, 1000 + n);
}

/* The start timer of a channel, `at` ns after EPOCH; nothing is known of the launch. */
static bool good(unsigned channel, uint64_t launch, int64_t at)
{
    struct rs_timer t = {channel, launch, RS_TIME_NONE, EPOCH + at, HOST + at + 500};
    bool is_good;
    uint64_t stale = gpu.stale;
    rs_timers_start(&timers, &gpu, &t, &is_good);
    assert_int_equal(gpu.stale, stale + !is_good);
    return is_good;
}
static void end(uint64_t launch, int64_t at)
{
    rs_timers_end(&timers, launch, EPOCH + at);
}

static void test_same_again(void **state)
{
    (void)state;
    assert_true(good(0, plan(1), 100000));
    assert_true(good(1, plan(1), 100000)); /* another channel */
    assert_false(good(0, plan(2), 100000)); /* the very same */
    assert_false(good(0, plan(3), 90000)); /* older still */
    assert_true(good(0, plan(4), 100001)); /* what was stale has moved nothing */
    assert_int_equal(gpu.timers, 5);
    assert_int_equal(gpu.stale, 2);
}

static void test_one_launch(void **state)
{
    (void)state;
    assert_true(good(0, plan(1), 100000));
    assert_true(good(0, plan(1), 100000)); /* works of one batch */
    assert_true(good(0, plan(1), 120000)); /* the next batch of the same launch */
    assert_true(good(0, plan(1), 100000)); /* and their channels in any order */
    end(plan(1), 150000);
    assert_true(good(0, plan(1), 120000)); /* its own end does not matter */
    assert_false(good(0, plan(2), 120000)); /* but it is another's */
    assert_true(good(2, 0, 500000)); /* a plan without a name... */
    assert_false(good(2, 0, 500000)); /* ...may be any */
    assert_int_equal(gpu.overruns, 0);
}

static void test_before_end(void **state)
{
    (void)state;
    assert_true(good(0, plan(1), 100000));
    assert_true(good(1, plan(1), 100000));
    end(plan(1), 150000);
    end(plan(1), 140000); /* the latest counts */
    assert_false(good(2, plan(2), 120000)); /* a channel that has told nothing yet */
    assert_true(good(2, plan(2), 149000)); /* within the grain of the timer */
    assert_true(good(3, plan(2), 151000));
    end(plan(2), 300000);
    assert_false(good(3, plan(3), 299000 - 2048));
    assert_true(good(3, plan(3), 300000));
    /* A stale channel of the launch that is ending now: against those before it. */
    assert_false(good(4, plan(2), 120000));
}

static void test_older_told_later(void **state)
{
    (void)state;
    assert_true(good(0, plan(1), 100000));
    end(plan(1), 150000);
    assert_true(good(0, plan(3), 400000)); /* channels of plan 3 are polled before those of plan 2 */
    end(plan(3), 450000);
    assert_true(good(0, plan(2), 200000));
    end(plan(2), 250000); /* must not become the latest end */
    assert_true(good(5, plan(3), 400000)); /* the latest is still plan 3: its end is no bound for itself */
    assert_false(good(1, plan(4), 300000));
    assert_true(good(1, plan(4), 450000));
    /* A plan of another thread is not known to be older. */
    assert_false(good(0, rs_handle(0x1234, 6, 3), 200000));
}

static void test_before_launch(void **state)
{
    (void)state;
    gpu.bounds = calloc(1, sizeof *gpu.bounds);
    assert_non_null(gpu.bounds);
    bool is_good;
    /* Nothing is known of the clock yet. */
    struct rs_timer t = {0, plan(1), HOST + 999999999, EPOCH, HOST + 500};
    rs_timers_start(&timers, &gpu, &t, &is_good);
    assert_true(is_good);
    rs_bounds_add_upper(gpu.bounds, EPOCH, HOST + 500); /* d <= AWAY + 500 */
    /* At gpu ns the host's clock showed gpu + AWAY + 500 at most. The launch began 2,049 ns later, then 2,048. */
    for (int64_t late = 2049; late >= 2048; late--) {
        t = (struct rs_timer){0, plan(2), EPOCH + 10000 + AWAY + 500 + late, EPOCH + 10000, HOST + 90000};
        rs_timers_start(&timers, &gpu, &t, &is_good);
        assert_int_equal(is_good, late == 2048);
    }
    t = (struct rs_timer){0, plan(3), RS_TIME_NONE, EPOCH + 10001, HOST + 90000}; /* a replay says nothing */
    rs_timers_start(&timers, &gpu, &t, &is_good);
    assert_true(is_good);
    t = (struct rs_timer){1, plan(4), INT64_MAX, INT64_MIN + 5, 0}; /* damaged: no trap */
    rs_timers_start(&timers, &gpu, &t, &is_good);
}

/* The proxy reads works in order; work n + 64 is written to the slot of work n. */
static void play_ring(int64_t late_from, int64_t late_ns, int works)
{
    gpu.bounds = calloc(1, sizeof *gpu.bounds);
    assert_non_null(gpu.bounds);
    rs_bounds_add_upper(gpu.bounds, EPOCH, HOST); /* d is known exactly */
    for (int64_t i = 0; i < works; i++) {
        int64_t at = i * 100000;
        struct rs_timer t = {7, plan((unsigned)i), RS_TIME_NONE, EPOCH + at,
                             HOST + at + (i >= late_from ? late_ns : 1000)};
        bool is_good;
        rs_timers_start(&timers, &gpu, &t, &is_good);
        assert_true(is_good);
    }
}

static void test_no_overruns(void **state)
{
    (void)state;
    play_ring(100, 63 * 100000, 500); /* as late as can be */
    assert_int_equal(gpu.overruns, 0);
}

static void test_overruns(void **state)
{
    (void)state;
    play_ring(100, 64 * 100000 + 1, 500); /* work i is read after work i + 64 was written */
    assert_int_equal(gpu.overruns, 500 - 164);
}

static void test_channels_beyond(void **state)
{
    (void)state;
    assert_true(good(RS_TIMER_CHANNELS - 1, plan(1), 100));
    assert_false(good(RS_TIMER_CHANNELS - 1, plan(2), 100));
    assert_true(good(RS_TIMER_CHANNELS, plan(1), 100)); /* not watched */
    assert_true(good(255, plan(2), 100));
    assert_int_equal(gpu.timers, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_same_again),       TEST(test_one_launch),     TEST(test_before_end),
                                       TEST(test_older_told_later), TEST(test_before_launch),  TEST(test_no_overruns),
                                       TEST(test_overruns),         TEST(test_channels_beyond)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
