/* Who is called late beyond chance: rates over many generated tables, and p-values that can be computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mix.h"
#include "conclude/chance.h"
#include "model/model.h"

enum { MOST_UNITS = 64, MOST_STEPS = 400 };

static float late[MOST_UNITS * MOST_STEPS];
static uint32_t groups[MOST_UNITS];
static uint64_t state_of_random;

static double unit_random(void)
{
    state_of_random = rs_mix(state_of_random, 77);
    return (double)(state_of_random >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - unit_random())) * cos(6.283185307179586 * unit_random());
}

/* ---- shapes of noise, in us ---- */

enum shape { GAUSSIAN, TAILS, SLICES, BURSTS, SHAPES };

static void noise(enum shape shape, uint32_t units, uint32_t steps)
{
    for (uint32_t u = 0; u < units; u++) {
        double burst = 0;
        for (uint32_t s = 0; s < steps; s++) {
            double x = 20 * normal();
            if (shape == TAILS && unit_random() < 0.05) x += 500 * -log(1 - unit_random());
            if (shape == SLICES) x += unit_random() < 0.2 ? 4000 : 0;
            if (shape == BURSTS) { /* some steps long, then quiet */
                if (unit_random() < 0.25) burst = unit_random() < 0.3 ? 300 : 0;
                x += burst;
            }
            late[u * steps + s] = (float)(1000 * x);
        }
    }
}

static struct rs_chance judge(uint32_t units, uint32_t ngroups, uint32_t steps)
{
    struct rs_chance c;
    for (uint32_t u = 0; u < units; u++) groups[u] = u % ngroups;
    rs_chance_init(
        &c, &(struct rs_chance_table){
                .late = late, .group = groups, .units = units, .groups = ngroups, .steps = steps, .error_ns = 1000});
    return c;
}

static uint32_t found(const struct rs_chance *c)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < c->units; u++) n += c->rows[u].found;
    return n;
}

/* ---- p-values ---- */

/* Always the last of four in five steps: 4 units, each 4^-5. Four steps are too few. */
static void test_few_steps(void **state)
{
    (void)state;
    for (uint32_t steps = 4; steps <= 5; steps++) {
        state_of_random = 1;
        noise(GAUSSIAN, 4, steps);
        for (uint32_t s = 0; s < steps; s++) late[2 * steps + s] += 40e6F;
        struct rs_chance c = judge(4, 1, steps);
        assert_int_equal(c.rows[2].found, steps == 5);
        if (steps == 5) assert_true(fabs(c.rows[2].p - 4 * pow(4, -5)) < 1e-9);
        if (steps == 5) assert_true(fabs(c.rows[2].effect_ns - 40e6) < 50e3);
        assert_int_equal(found(&c), steps == 5);
        rs_chance_free(&c);
    }
}

/* Two equals: heads or tails. Late in all of n steps: 2 x 2^-n. */
static void test_two(void **state)
{
    (void)state;
    for (uint32_t steps = 6; steps <= 12; steps++) {
        state_of_random = 2;
        noise(GAUSSIAN, 2, steps);
        for (uint32_t s = 0; s < steps; s++) late[s] += 1e6F;
        struct rs_chance c = judge(2, 1, steps);
        assert_true(fabs(c.rows[0].p - 2 * pow(2, -(double)steps)) < 1e-9);
        assert_int_equal(c.rows[0].found, 2 * pow(2, -(double)steps) <= RS_CHANCE_LEVEL);
        assert_false(c.rows[1].found);
        rs_chance_free(&c);
    }
}

/* Sums of scores of three units in two steps: -4, -2, -2, 0, 0, 0, 2, 2, 4. Unknown values are left out. */
static void test_exact(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    for (int i = 0; i < 3 * STEPS; i++) late[i] = NAN;
    for (int s = 0; s < STEPS; s++)
        for (int u = 0; u < 3; u++) late[u * STEPS + s] = (float)((u + s) % 3 * 100000);
    late[0] = NAN; /* two are left in the first step */
    struct rs_chance c = judge(3, 1, STEPS);
    assert_int_equal(c.rows[0].steps, STEPS - 1);
    assert_int_equal(c.rows[1].steps, STEPS);
    assert_int_equal(c.compared, 3);
    /* Unit 0 has the scores 0, 2, -2, 0, 2 of steps 1 to 5. Of 243 sequences of -2, 0 and 2, those with a sum of 2 or
     * more: (243 - 51) / 2 = 96. */
    assert_true(fabs(c.rows[0].p - fmin(1, 3 * 96 / 243.)) < 1e-9);
    assert_true(fabs(c.rows[0].effect_ns - 0) < 1);
    rs_chance_free(&c);
}

/* ---- rates ---- */

static void test_nobody(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{2, 1, 30}, {4, 1, 30}, {8, 1, 30}, {8, 4, 30}, {64, 1, 30}, {16, 2, 120}};
    uint32_t runs = 0, named = 0, of_shape[SHAPES] = {0};
    for (uint32_t seed = 0; seed < 60; seed++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (enum shape shape = 0; shape < SHAPES; shape++) {
                state_of_random = rs_mix(seed + 1, i * SHAPES + shape);
                noise(shape, sizes[i][0], sizes[i][2]);
                struct rs_chance c = judge(sizes[i][0], sizes[i][1], sizes[i][2]);
                runs++;
                named += found(&c) > 0;
                of_shape[shape] += found(&c) > 0;
                rs_chance_free(&c);
            }
    print_message("named in %u of %u (%u, %u, %u, %u)\n", named, runs, of_shape[0], of_shape[1], of_shape[2],
                  of_shape[3]);
    assert_true(named * 200 <= runs);
}

/* Equals that differ for good, all of them, by as much as the noise: none stands out. */
static void test_spread(void **state)
{
    (void)state;
    uint32_t named = 0, runs = 0;
    for (uint32_t seed = 0; seed < 300; seed++, runs++) {
        state_of_random = rs_mix(seed + 1, 4711);
        noise(GAUSSIAN, 8, 60);
        for (uint32_t u = 0; u < 8; u++) {
            float own = (float)(100e3 * normal());
            for (uint32_t s = 0; s < 60; s++) late[u * 60 + s] += own;
        }
        struct rs_chance c = judge(8, 1, 60);
        named += found(&c) > 0;
        rs_chance_free(&c);
    }
    print_message("named in %u of %u\n", named, runs);
    assert_true(named * 50 <= runs);
}

static void test_planted(void **state)
{
    (void)state;
    uint32_t missed = 0, others = 0, covered = 0, runs = 0;
    for (uint32_t seed = 0; seed < 200; seed++, runs++) {
        state_of_random = rs_mix(seed + 1, 815);
        noise(seed % 2 ? GAUSSIAN : TAILS, 8, 30);
        for (uint32_t s = 0; s < 30; s++) late[5 * 30 + s] += 100e3F;
        struct rs_chance c = judge(8, 1, 30);
        missed += !c.rows[5].found;
        others += found(&c) > c.rows[5].found;
        covered += c.rows[5].low_ns <= 100e3 && c.rows[5].high_ns >= 100e3;
        rs_chance_free(&c);
    }
    print_message("missed %u, others %u, covered %u of %u\n", missed, others, covered, runs);
    assert_true(missed * 100 <= runs);
    assert_int_equal(others, 0);
    assert_true(covered * 100 >= runs * 88);
}

/* What is said to be visible is: a delay of that much is found in nine of ten new runs. */
static void test_seen(void **state)
{
    (void)state;
    uint32_t hits = 0, runs = 0;
    for (uint32_t seed = 0; seed < 100; seed++, runs++) {
        state_of_random = rs_mix(seed + 1, 99);
        noise(GAUSSIAN, 8, 30);
        struct rs_chance c = judge(8, 1, 30);
        double seen = c.seen_ns;
        assert_true(seen > 5e3 && seen < 300e3);
        rs_chance_free(&c);
        noise(GAUSSIAN, 8, 30);
        for (uint32_t s = 0; s < 30; s++) late[s] += (float)seen;
        c = judge(8, 1, 30);
        hits += c.rows[0].found;
        rs_chance_free(&c);
    }
    print_message("seen in %u of %u\n", hits, runs);
    assert_true(hits * 10 >= runs * 9);
}

/* Nothing to compare: one unit, no steps, no equals. */
static void test_nothing(void **state)
{
    (void)state;
    struct rs_chance c = judge(1, 1, 30);
    assert_int_equal(c.compared, 0);
    assert_true(isnan(c.seen_ns));
    rs_chance_free(&c);
    c = judge(4, 4, 30);
    assert_int_equal(c.compared, 0);
    rs_chance_free(&c);
    c = judge(4, 1, 0);
    assert_int_equal(c.compared, 0);
    rs_chance_free(&c);
}

/* Late in 32 of 40 steps of two units, but in four runs: not 32 independent ones, of which chance explains 1 in 10,000. */
static void test_correlated(void **state)
{
    (void)state;
    enum { STEPS_HERE = 40 };
    for (uint32_t s = 0; s < STEPS_HERE; s++) {
        bool first = s % 20 < 16;
        late[s] = first ? 50000 : 0;
        late[STEPS_HERE + s] = first ? 0 : 50000;
    }
    struct rs_chance c = judge(2, 1, STEPS_HERE);
    assert_true(c.correlated > 1);
    assert_true(c.rows[0].p > 0.005);
    rs_chance_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_steps), cmocka_unit_test(test_two),     cmocka_unit_test(test_exact),
        cmocka_unit_test(test_nobody),    cmocka_unit_test(test_spread),  cmocka_unit_test(test_planted),
        cmocka_unit_test(test_seen),      cmocka_unit_test(test_nothing), cmocka_unit_test(test_correlated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
