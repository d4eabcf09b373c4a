/* Robust fits against curves that are known, with noise, outliers and bends put on them. */
#include "join/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 4000 };
static double xs[MOST], ys[MOST];
static uint64_t rng;

static double uniform(double low, double high)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return low + (high - low) * ((double)((rng * 0x2545f4914f6cdd1d) >> 11) / 9007199254740992.0);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform(1e-12, 1))) * cos(6.283185307179586 * uniform(0, 1));
}

static double at(const struct rs_fit *fit, double x)
{
    uint32_t near = 0;
    return rs_curve_at(&fit->curve, x, &near);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void test_quantile(void **state)
{
    (void)state;
    rng = 7;
    assert_true(rs_fit_quantile(xs, 0, 0.5) == 0);
    for (uint32_t n = 1; n < 200; n++) {
        for (uint32_t i = 0; i < n; i++) xs[i] = ys[i] = n % 3 ? uniform(-5, 5) : floor(uniform(0, 4)); /* ties too */
        qsort(ys, n, sizeof *ys, by_value);
        double middle = (ys[(n - 1) / 2] + ys[n / 2]) / 2;
        assert_true(fabs(rs_fit_quantile(xs, n, 0.5) - middle) < 1e-12);
        assert_true(rs_fit_quantile(xs, n, 0) == ys[0]);
        assert_true(rs_fit_quantile(xs, n, 1) == ys[n - 1]);
    }
    for (int order = 0; order < 4; order++) { /* rising, falling, all equal, two values */
        for (uint32_t i = 0; i < MOST; i++)
            xs[i] = ys[i] = order == 0 ? i : order == 1 ? MOST - i : order == 2 ? 7 : i % 2;
        qsort(ys, MOST, sizeof *ys, by_value);
        for (uint32_t k = 0; k < MOST; k += 333)
            assert_true(fabs(rs_fit_quantile(xs, MOST, (double)k / (MOST - 1)) - ys[k]) < 1e-6);
    }
    for (uint32_t i = 0; i < 64; i++) xs[i] = INFINITY;
    assert_true(isinf(rs_fit_quantile(xs, 64, 0)));
    for (uint32_t i = 0; i < 64; i++) xs[i] = i % 3 ? NAN : (double)i;
    rs_fit_quantile(xs, 64, 0.5); /* comes to an end */
}

static void test_curve(void **state)
{
    (void)state;
    uint32_t near = 0;
    struct rs_point p[] = {{0, 10}, {10, 20}, {20, 0}};
    struct rs_curve c = {p, 0};
    assert_true(rs_curve_at(&c, 5, &near) == 0);
    c.n = 1;
    assert_true(rs_curve_at(&c, 5, &near) == 10);
    c.n = 3;
    const double want[][2] = {{5, 15}, {15, 10}, {10, 20}, {-10, 0}, {25, -10}, {0, 10}, {20, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(fabs(rs_curve_at(&c, want[i][0], &near) - want[i][1]) < 1e-9);
}

/* 20 % of the points are late by up to 10 ms: the line must not follow them. */
static void test_line_with_outliers(void **state)
{
    (void)state;
    rng = 11;
    for (uint32_t i = 0; i < 1000; i++) {
        xs[i] = i * 1e7;
        ys[i] = 5e8 + 37e-6 * xs[i] + 2000 * normal() + (uniform(0, 1) < 0.2 ? uniform(0, 1e7) : 0);
    }
    struct rs_fit fit;
    rs_fit_init(&fit, xs, ys, 1000);
    for (double x = 0; x <= 1e10; x += 1e9) {
        double off = fabs(at(&fit, x) - (5e8 + 37e-6 * x));
        assert_true(off < 1500); /* the median of a skewed scatter lies late by a third of its sigma */
    }
    assert_true(fit.doubt < 1500);
    assert_int_equal(fit.n, 1000);
    rs_fit_free(&fit);
}

/* A crystal that warms up: the rate changes by 1 ppm over the run, 25 us of a bend in 100 s. */
static void test_bend_is_followed(void **state)
{
    (void)state;
    rng = 13;
    for (uint32_t i = 0; i < 3000; i++) {
        double t = xs[i] = i * (1e11 / 3000);
        ys[i] = 20e-6 * t + 0.5 * 1e-6 * t * (t / 1e11) + 2000 * normal();
    }
    struct rs_fit fit;
    rs_fit_init(&fit, xs, ys, 3000);
    assert_true(fit.curve.n > 2);
    double worst = 0;
    for (double t = 0; t <= 1e11; t += 1e9)
        worst = fmax(worst, fabs(at(&fit, t) - (20e-6 * t + 0.5e-6 * t * (t / 1e11))));
    assert_true(worst < fit.doubt);
    assert_true(fit.doubt < 3000);
    rs_fit_free(&fit);
}

/* Without a bend there are no knots beyond the two of a line. */
static void test_no_bend_no_pieces(void **state)
{
    (void)state;
    rng = 17;
    int bent = 0;
    for (int round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 2000; i++) {
            xs[i] = i * 1e6;
            ys[i] = -12e-6 * xs[i] + 2000 * normal();
        }
        struct rs_fit fit;
        rs_fit_init(&fit, xs, ys, 2000);
        bent += fit.curve.n > 2;
        rs_fit_free(&fit);
    }
    assert_true(bent <= 1);
}

/* The stated doubt covers the error in 99 of 100 runs, at the ends and in the middle. */
static void test_doubt_covers(void **state)
{
    (void)state;
    rng = 19;
    int wrong = 0, all = 0;
    for (int round = 0; round < 400; round++) {
        uint32_t n = 8u << (round % 8);
        double rate = uniform(-1e-4, 1e-4), span = 1e9 * (1 + round % 5);
        for (uint32_t i = 0; i < n; i++) {
            xs[i] = span * i / (n - 1);
            ys[i] = rate * xs[i] + 2000 * normal();
        }
        struct rs_fit fit;
        rs_fit_init(&fit, xs, ys, n);
        for (int k = 0; k < 3; k++, all++) wrong += fabs(at(&fit, span * k / 2) - rate * span * k / 2) > fit.doubt;
        rs_fit_free(&fit);
    }
    assert_true(wrong * 100 <= all);
}

/* Few points, or all within a moment: a constant, and a doubt that says so. */
static void test_few_points(void **state)
{
    (void)state;
    rng = 23;
    struct rs_fit fit;
    rs_fit_init(&fit, xs, ys, 0);
    assert_int_equal(fit.curve.n, 0);
    rs_fit_free(&fit);
    for (uint32_t n = 1; n < 8; n++) {
        for (uint32_t i = 0; i < n; i++) {
            xs[i] = i * 1e6;
            ys[i] = 7e6;
        }
        rs_fit_init(&fit, xs, ys, n);
        assert_int_equal(fit.curve.n, 1);
        assert_true(fabs(at(&fit, 1e9) - 7e6) < 1e-6);
        assert_true(fit.doubt > 10e3 && fit.doubt < 50e3);
        assert_true(fit.rate_doubt == RS_FIT_RATE_MOST);
        rs_fit_free(&fit);
    }
    for (uint32_t i = 0; i < 100; i++) {
        xs[i] = i * 1e3; /* 100 us in all: no rate can be told from noise of 2 us */
        ys[i] = 2000 * normal();
    }
    rs_fit_init(&fit, xs, ys, 100);
    assert_int_equal(fit.curve.n, 1);
    rs_fit_free(&fit);
    for (uint32_t i = 0; i < 100; i++) xs[i] = 5; /* one moment */
    rs_fit_init(&fit, xs, ys, 100);
    assert_int_equal(fit.curve.n, 1);
    rs_fit_free(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile),           cmocka_unit_test(test_curve),
        cmocka_unit_test(test_line_with_outliers), cmocka_unit_test(test_bend_is_followed),
        cmocka_unit_test(test_no_bend_no_pieces),  cmocka_unit_test(test_doubt_covers),
        cmocka_unit_test(test_few_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
