/* Ranks that are late in some steps, against counts made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conclude/recurrent.h"
#include "model/columns.h"

enum { RANKS = 6, STEPS = 40, MS = 1000000 };

static float late[RANKS * STEPS];
static uint32_t of[RANKS] = {0, 0, 0, 0, 0, 0}, size[RANKS] = {RANKS};
static const struct rs_roles roles = {.of = of, .n = 1, .size = size};

/* Each rank is a little early or late in turn. */
static void begin(void)
{
    for (int r = 0; r < RANKS; r++)
        for (int s = 0; s < STEPS; s++) late[r * STEPS + s] = (float)(((r * 7 + s * 3) % RANKS - 2) * 10000);
}

static void delay(int rank, int step, float ns)
{
    late[rank * STEPS + step] = ns;
}

static struct rs_recurrent find(void)
{
    struct rs_recurrent x;
    rs_recurrent_find(&x, late, &roles, RANKS, STEPS, MS);
    return x;
}

/* Every 8th step: five of five, (1/6)^5, times six ranks. */
static void test_every(void **state)
{
    (void)state;
    begin();
    for (int s = 3; s < STEPS; s += 8) delay(3, s, (float)((30 + s) * MS));
    delay(3, 0, NAN);
    struct rs_recurrent x = find();
    assert_int_equal(x.rank_id, 3);
    assert_int_equal(x.hits, 5);
    assert_int_equal(x.all, 5);
    assert_int_equal(x.late, 5);
    assert_int_equal(x.steps, STEPS - 1);
    assert_int_equal(x.every, 8);
    assert_int_equal(x.late_ns, (30 + 19) * MS);
    assert_float_equal(x.p, 6.0 / 7776, 1e-9);
    delay(3, 38, 30 * MS); /* uneven */
    assert_int_equal(find().every, 0);
}

/* It moves: two hits of six are what chance gives. P(2 or more of 6) = 1 - (5/6)^6 - (5/6)^5. */
static void test_moves(void **state)
{
    (void)state;
    begin();
    static const int hit[] = {0, 1, 2, 3, 4, 0};
    for (int i = 0; i < 6; i++) delay(hit[i], 2 + 6 * i, 20 * MS);
    struct rs_recurrent x = find();
    assert_int_equal(x.rank_id, 0);
    assert_int_equal(x.hits, 2);
    assert_int_equal(x.all, 6);
    assert_float_equal(x.p, 1, 1e-9);
}

/* Two bursts of ten steps are two. */
static void test_bursts(void **state)
{
    (void)state;
    begin();
    for (int s = 0; s < 10; s++) {
        delay(2, 3 + s, 20 * MS);
        delay(2, 25 + s, 20 * MS);
    }
    struct rs_recurrent x = find();
    assert_int_equal(x.late, 20);
    assert_int_equal(x.hits, 2);
    assert_float_equal(x.p, 6.0 / 36, 1e-9);
}

/* Not far from the second, or below what is worth a look: nobody's. Ranks without equals are not looked at. */
static void test_nobody(void **state)
{
    (void)state;
    begin();
    for (int s = 3; s < STEPS; s += 8) {
        delay(3, s, 30 * MS);
        delay(4, s, 20 * MS);
        delay(1, s + 1, MS - 1000);
    }
    assert_int_equal(find().rank_id, RS_NONE);
    begin();
    for (int s = 3; s < STEPS; s += 8) delay(5, s, 30 * MS);
    of[5] = 1;
    size[0] = 5;
    size[1] = 1;
    struct rs_roles two = {.of = of, .n = 2, .size = size};
    struct rs_recurrent x;
    rs_recurrent_find(&x, late, &two, RANKS, STEPS, MS);
    assert_int_equal(x.rank_id, RS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every), cmocka_unit_test(test_moves),
                                       cmocka_unit_test(test_bursts), cmocka_unit_test(test_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
