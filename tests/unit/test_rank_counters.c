/* Counters of ranks, against sums over all bars at each moment: bars in any order, at the same moment, without an end to
 * wait for, without bytes, without a start. */
#include "export/rank_counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 3, TIMES = 64, BARS = 40 };

static struct rs_bars bars;
static uint32_t row_of[BARS];

/* What was handed out: the value from each moment on. */
static struct {
    uint64_t value[ROWS][RS_RANK_COUNTERS][TIMES];
    int64_t last[ROWS][RS_RANK_COUNTERS]; /* moment; -1: none yet */
} got;

static void take(void *to, uint32_t row, enum rs_rank_counter counter, bool first, int64_t at, uint64_t value)
{
    (void)to;
    assert_true(row < ROWS && counter < RS_RANK_COUNTERS && at >= 0 && at < TIMES);
    int64_t *last = &got.last[row][counter];
    assert_int_equal(first, *last < 0);
    assert_true(at > *last); /* one step a moment */
    for (*last = at; at < TIMES; at++) got.value[row][counter][at] = value;
}

static void assert_sums(void)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (int64_t at = 0; at < TIMES; at++) {
            uint64_t bytes = 0, waiting = 0;
            for (uint32_t i = 0; i < bars.n; i++) {
                int64_t start = bars.start[i], there = start + bars.wait[i], end = start + bars.dur[i];
                if (row_of[i] != row || bars.flags[i] & RS_BAR_START_UNKNOWN) continue;
                waiting += at >= start && at < there;
                if (at >= there && at < end && bars.a2[i] > 0) bytes += (uint64_t)bars.a2[i];
            }
            assert_int_equal(got.value[row][RS_COUNTER_WAITING][at], waiting);
            assert_int_equal(got.value[row][RS_COUNTER_BYTES][at], bytes);
        }
}

static void test_sums(void **state)
{
    (void)state;
    struct rs_rank_counters c = {0};
    uint32_t seed = 5;
    for (int run = 0; run < 200; run++) { /* all of one rank in order of time, and then less and less so */
        bars.n = 0;
        memset(&got, 0, sizeof got);
        memset(got.last, 0xff, sizeof got.last);
        for (uint32_t i = 0, k; i < BARS; i++) {
            uint32_t r[6];
            for (int j = 0; j < 6; j++) r[j] = (seed = seed * 1664525 + 1013904223) >> 16;
            rs_bars_add(&bars, &k);
            bars.start[k] = run % 2 ? i : r[0] % 40;
            bars.dur[k] = r[1] % 20;
            bars.wait[k] = bars.dur[k] ? r[2] % (bars.dur[k] + 1) : 0;
            bars.a2[k] = r[3] % 4 ? (int64_t)r[3] : RS_BAR_NO_ARG;
            if (r[4] % 8 == 0) bars.flags[k] |= RS_BAR_START_UNKNOWN;
            row_of[k] = run % 4 < 2 ? i * ROWS / BARS : r[5] % ROWS;
            rs_rank_counters_add(&c, &bars, k, row_of[k]);
        }
        rs_rank_counters_put(&c, take, NULL);
        assert_sums();
    }
    rs_rank_counters_free(&c);
    rs_bars_free(&bars);
}

/* What ends as another begins leaves no dip, and nothing is told of what changes nothing. */
static void test_no_dip(void **state)
{
    (void)state;
    struct rs_rank_counters c = {0};
    memset(&got, 0, sizeof got);
    memset(got.last, 0xff, sizeof got.last);
    for (uint32_t i = 0, k; i < 3; i++) {
        rs_bars_add(&bars, &k);
        bars.start[k] = 10 * i;
        bars.dur[k] = 10;
        bars.a2[k] = 7;
        rs_rank_counters_add(&c, &bars, k, 0);
    }
    rs_rank_counters_put(&c, take, NULL);
    for (int at = 0; at < TIMES; at++) assert_int_equal(got.value[0][RS_COUNTER_BYTES][at], at < 30 ? 7 : 0);
    assert_int_equal(got.last[0][RS_COUNTER_BYTES], 30);
    assert_int_equal(got.last[0][RS_COUNTER_WAITING], -1);
    rs_rank_counters_put(&c, take, NULL); /* forgotten */
    rs_rank_counters_free(&c);
    rs_bars_free(&bars);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_no_dip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
