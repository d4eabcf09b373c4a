/* Offsets between knots, before the first and behind the last, and the way back. */
#include "model/axis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/model.h"

#define EPOCH INT64_C(1756135989724672000)

static void test_none_and_one(void **state)
{
    (void)state;
    struct rs_axis none = {0};
    assert_int_equal(rs_axis_common(&none, EPOCH + 5), EPOCH + 5);
    assert_int_equal(rs_axis_common(&none, RS_TIME_NONE), RS_TIME_NONE);
    assert_int_equal(rs_axis_local(&none, EPOCH), EPOCH);
    const struct rs_knot knot = {EPOCH, -1234567890.4};
    struct rs_axis one = {.knots = &knot, .n = 1};
    assert_int_equal(rs_axis_common(&one, EPOCH - 99), EPOCH - 99 - 1234567890);
    assert_int_equal(rs_axis_common(&one, EPOCH + INT64_C(100000000000)), EPOCH + INT64_C(100000000000) - 1234567890);
    assert_int_equal(rs_axis_common(&one, RS_TIME_NONE), RS_TIME_NONE);
}

/* Three pieces: +1000 ns a second for 10 s, level for 10 s, -500 ns a second for 4 s. */
#define SECOND INT64_C(1000000000)
static const struct rs_knot knots[] = {
    {EPOCH, 0}, {EPOCH + 10 * SECOND, 10000}, {EPOCH + 20 * SECOND, 10000}, {EPOCH + 24 * SECOND, 8000}};

static int64_t truth(int64_t seconds)
{
    if (seconds <= 10) return 1000 * seconds; /* before the first, the first piece goes on */
    if (seconds <= 20) return 10000;
    return 10000 - 500 * (seconds - 20); /* and behind the last, the last */
}

static void check(struct rs_axis *axis, int64_t seconds)
{
    int64_t local = EPOCH + seconds * SECOND;
    assert_int_equal(rs_axis_common(axis, local), local + truth(seconds));
    int64_t back = rs_axis_local(axis, local + truth(seconds)) - local;
    assert_true(back >= -1 && back <= 1);
}

static void test_pieces(void **state)
{
    (void)state;
    struct rs_axis axis = {.knots = knots, .n = 4};
    for (int64_t s = -30; s <= 60; s++) check(&axis, s);
    for (int64_t s = 60; s >= -30; s--) check(&axis, s);
    uint32_t seed = 7; /* in any order */
    for (int i = 0; i < 10000; i++) check(&axis, (int64_t)((seed = seed * 1664525 + 1013904223) >> 16) % 91 - 30);
    assert_true(rs_axis_add(&axis, EPOCH + SECOND / 2) == 500);
}

static void test_equal_knots(void **state)
{
    (void)state;
    const struct rs_knot twice[] = {{EPOCH, 5}, {EPOCH, 9}}; /* no span: nothing is divided by it */
    struct rs_axis axis = {.knots = twice, .n = 2};
    assert_int_equal(rs_axis_common(&axis, EPOCH), EPOCH + 5);
}

/* Times of a damaged recording: whatever comes out, no trap. */
static void test_wild(void **state)
{
    (void)state;
    struct rs_axis axis = {.knots = knots, .n = 4};
    static const int64_t wild[] = {INT64_MAX, INT64_MIN + 1, 0, -1, INT64_MAX - 5000, INT64_MIN + 5000};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        rs_axis_common(&axis, wild[i]);
        rs_axis_local(&axis, wild[i]);
    }
    const struct rs_knot far[] = {{INT64_MIN + 1, 1e300}, {INT64_MAX, -1e300}};
    struct rs_axis bad = {.knots = far, .n = 2};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) rs_axis_common(&bad, wild[i]);
    check(&axis, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none_and_one), cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_equal_knots), cmocka_unit_test(test_wild)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
