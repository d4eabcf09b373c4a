/* Unions and intersections of spans against a count of every single ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/intervals.h"

enum { LONG = 600, SPANS = 40, ROUNDS = 300 };

static uint64_t seed = 1;

static int any(int below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)below);
}

static void test_sweep(void **state)
{
    (void)state;
    struct rs_sweep s = {0};
    for (int round = 0; round < ROUNDS; round++) {
        unsigned at[LONG] = {0};
        int64_t ns[RS_SWEEP_SETS], truth[RS_SWEEP_SETS] = {0};
        int first = LONG, last = -1, spans = any(SPANS);
        rs_sweep_clear(&s);
        for (int i = 0; i < spans; i++) {
            int from = any(LONG), to = from + any(round % 2 ? 10 : LONG - from), class = any(RS_SWEEP_CLASSES);
            if (to > LONG) to = LONG;
            rs_sweep_add(&s, from - 300, to - 300, (unsigned)class);
            for (int t = from; t < to; t++) at[t] |= 1u << class;
            if (to > from && from < first) first = from;
            if (to > from && to > last) last = to;
        }
        for (int t = first; t < last; t++) truth[at[t]]++;
        rs_sweep_run(&s, ns);
        assert_memory_equal(ns, truth, sizeof ns);
        if (last < 0) continue;
        assert_int_equal(s.from, first - 300);
        assert_int_equal(s.to, last - 300);
        int64_t covered = 0, difference = 0;
        for (int t = 0; t < LONG; t++) {
            covered += at[t] != 0;
            difference += (at[t] & 6) && !(at[t] & 1);
        }
        assert_int_equal(rs_sweep_sum(ns, RS_SWEEP_SETS - 1, 0), covered);
        assert_int_equal(rs_sweep_sum(ns, 6, 1), difference);
    }
    rs_sweep_free(&s);
}

static void test_damage(void **state)
{
    (void)state;
    struct rs_sweep s = {0};
    struct rs_union u = {0};
    int64_t ns[RS_SWEEP_SETS];
    rs_sweep_add(&s, INT64_MIN, INT64_MAX, 0);
    rs_sweep_add(&s, 50, 10, 0);
    rs_union_add(&u, INT64_MIN + 1, INT64_MAX);
    assert_int_equal(s.n, 0);
    assert_int_equal(u.n, 0);
    rs_sweep_add(&s, INT64_MIN, INT64_MIN + 5, 0);
    rs_sweep_add(&s, INT64_MAX - 5, INT64_MAX, 1);
    rs_sweep_run(&s, ns);
    assert_int_equal(ns[1], 5);
    assert_int_equal(ns[2], 5);
    rs_sweep_free(&s);
}

static void test_union(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct rs_union u = {0};
        bool at[LONG] = {false};
        for (int from = 0; from < LONG; from += any(60)) {
            int to = from + any(40);
            rs_union_add(&u, from, to);
            for (int t = from; t < to && t < LONG; t++) at[t] = true;
        }
        for (int i = 0; i < 20; i++) {
            int from = any(LONG), to = any(LONG);
            int64_t truth = 0;
            for (int t = from; t < to; t++) truth += at[t];
            assert_int_equal(rs_union_within(&u, from, to), truth);
        }
        rs_union_free(&u);
    }
}

static void test_grains(void **state)
{
    (void)state;
    for (int64_t x = -2500; x <= 2500; x++) {
        int64_t down = rs_grain_down(x, 1000), up = rs_grain_up(x, 1000);
        assert_true(down % 1000 == 0 && down <= x && x - down < 1000);
        assert_true(up % 1000 == 0 && up >= x && up - x < 1000);
    }
    assert_int_equal(rs_grain_up(17, 1), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_union), cmocka_unit_test(test_grains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
