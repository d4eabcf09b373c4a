/* The corridor of a GPU's timer against its host's clock: the true difference must lie inside it. */
#include "join/attach.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GPU0 INT64_C(1768435203000000000)
#define D0 INT64_C(-2999000000) /* host - GPU at the start */

static uint64_t rng;

static double uniform(double low, double high)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return low + (high - low) * ((double)((rng * 0x2545f4914f6cdd1d) >> 11) / 9007199254740992.0);
}

static double exponential(double mean)
{
    return -mean * log(uniform(1e-12, 1));
}

/* What d - D0 is, t ns after the start: a rate, and a bend. */
struct course {
    double rate, bend;
};

static double d_at(const struct course *c, double t)
{
    return c->rate * t + c->bend * sin(t / 20e9);
}

/* `queued`: ns that kernels wait behind others at least. */
static void fill(struct rs_bounds *b, const struct course *c, double seconds, int ops, double queued)
{
    memset(b, 0, sizeof *b);
    for (int i = 0; i < ops; i++) {
        double t = seconds * 1e9 * i / ops;
        int64_t gpu = GPU0 + llround(t), host = gpu + D0 + llround(d_at(c, t));
        rs_bounds_add_lower(b, gpu, host - llround(3000 + queued + exponential(20e3)));
        rs_bounds_add_upper(b, gpu, host + llround(2000 + exponential(6e3)));
    }
}

/* Checks the truth against the corridor all along; returns half its greatest width. */
static double check(const struct rs_bounds *b, const struct course *c, double seconds)
{
    struct rs_attach a;
    double half = 0;
    rs_attach_init(&a, b);
    for (int i = 0; i <= 100; i++) {
        double t = seconds * 1e9 * i / 101, low, high;
        assert_true(rs_attach_at(&a, GPU0 + llround(t), &low, &high));
        double d = d_at(c, t) + (double)(D0 - a.d0);
        if (d < low - 300 || d > high + 300) fail_msg("at %.1f s: %.0f is not in %.0f to %.0f", t / 1e9, d, low, high);
        half = fmax(half, (high - low) / 2);
    }
    rs_attach_free(&a);
    return half;
}

static void test_truth_is_inside(void **state)
{
    (void)state;
    struct rs_bounds *b = malloc(sizeof *b);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        rng = seed * 77777;
        struct course c = {uniform(-1e-4, 1e-4), seed % 2 ? 30e3 : 0};
        double seconds = seed % 4 < 2 ? 100 : 1;
        fill(b, &c, seconds, 2000, 0);
        assert_true(check(b, &c, seconds) < 12e3);
    }
    free(b);
}

/* A GPU that is never idle: every kernel starts 20 ms after its launch. The quickest timers tell. */
static void test_busy_gpu(void **state)
{
    (void)state;
    struct rs_bounds *b = malloc(sizeof *b);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rng = seed * 31337;
        struct course c = {uniform(-1e-4, 1e-4), seed % 2 ? 30e3 : 0};
        fill(b, &c, 100, 2000, 20e6);
        assert_true(check(b, &c, 100) < 12e3);
    }
    free(b);
}

/* Stale timers look as if the kernel had started before its launch: those bounds are false, and dropped. */
static void test_false_lower_bounds(void **state)
{
    (void)state;
    struct rs_bounds *b = malloc(sizeof *b);
    rng = 99;
    struct course c = {40e-6, 0};
    fill(b, &c, 10, 2000, 0);
    for (int i = 0; i < 12; i++) {
        int64_t gpu = GPU0 + i * INT64_C(800000000);
        rs_bounds_add_lower(b, gpu, gpu + D0 + llround(d_at(&c, i * 8e8) + 100e3));
    }
    assert_true(check(b, &c, 10) < 12e3);
    struct rs_attach a;
    rs_attach_init(&a, b);
    assert_true(a.false_lower >= 12 && a.false_lower < 20);
    rs_attach_free(&a);
    free(b);
}

static void test_nothing_known(void **state)
{
    (void)state;
    struct rs_bounds *b = calloc(1, sizeof *b);
    struct rs_attach a;
    double low, high;
    rs_attach_init(&a, NULL);
    assert_false(rs_attach_at(&a, GPU0, &low, &high));
    rs_attach_init(&a, b);
    assert_int_equal(a.n, 0);
    rs_attach_free(&a);
    /* One timer, no launch: bounded from above only, and less and less far from it. */
    rs_bounds_add_upper(b, GPU0, GPU0 + D0 + 5000);
    rs_attach_init(&a, b);
    assert_true(rs_attach_at(&a, GPU0 + 1000000000, &low, &high));
    assert_true(isinf(low));
    assert_true(fabs(high + (double)(a.d0 - D0) - 105000) < 1);
    rs_attach_free(&a);
    free(b);
}

/* Damaged times must not trap, whatever comes out. */
static void test_wild_times(void **state)
{
    (void)state;
    const int64_t wild[] = {INT64_MAX, INT64_MIN + 1, 0, -1, GPU0, INT64_MAX / 2};
    struct rs_bounds *b = calloc(1, sizeof *b);
    for (size_t i = 0; i < 36; i++) {
        rs_bounds_add_upper(b, wild[i % 6], wild[i / 6]);
        rs_bounds_add_lower(b, wild[i / 6], wild[i % 6]);
    }
    struct rs_attach a;
    double low, high;
    rs_attach_init(&a, b);
    for (size_t i = 0; i < 6; i++) rs_attach_at(&a, wild[i], &low, &high);
    rs_attach_free(&a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth_is_inside),    cmocka_unit_test(test_busy_gpu),
        cmocka_unit_test(test_false_lower_bounds), cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_wild_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
