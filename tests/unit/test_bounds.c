/* Bounds of a GPU's clock: the tightest of each window, also when windows double, and the samples beside them. */
#include "model/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/model.h"

#define EPOCH INT64_C(1756135989724672000)
#define WIDTH INT64_C(16777216) /* ns of a window at first */

static struct rs_bounds *fresh(void)
{
    struct rs_bounds *b = calloc(1, sizeof *b);
    assert_non_null(b);
    return b;
}

static void test_tightest(void **state)
{
    (void)state;
    struct rs_bounds *b = fresh();
    assert_int_equal(rs_bounds_near(b, EPOCH), RS_TIME_NONE);
    /* d = host - GPU; the truth here is 500. */
    rs_bounds_add_upper(b, EPOCH, EPOCH + 700);
    rs_bounds_add_upper(b, EPOCH + 10, EPOCH + 10 + 600);
    rs_bounds_add_upper(b, EPOCH + 20, EPOCH + 20 + 650);
    rs_bounds_add_lower(b, EPOCH + 5, EPOCH + 5 + 100);
    rs_bounds_add_lower(b, EPOCH + 15, EPOCH + 15 + 450);
    rs_bounds_add_lower(b, EPOCH + 25, EPOCH + 25 - 9000);
    assert_int_equal(b->n, 1);
    assert_int_equal(b->upper[0].d, 600);
    assert_int_equal(b->upper[0].at, EPOCH + 10);
    assert_int_equal(b->lower[0].d, 450);
    assert_int_equal(b->lower[0].at, EPOCH + 15);
    assert_int_equal(b->nsamples, 3); /* of upper bounds alone */
    assert_int_equal(b->samples[2].d, 650);
    assert_int_equal(rs_bounds_near(b, EPOCH + 5), 600);
    assert_int_equal(rs_bounds_near(b, EPOCH + 100 * WIDTH), 600); /* the latest known */
    assert_int_equal(rs_bounds_near(b, EPOCH - 1), RS_TIME_NONE);
    free(b);
}

static void test_near(void **state)
{
    (void)state;
    struct rs_bounds *b = fresh();
    rs_bounds_add_upper(b, EPOCH, EPOCH + 600);
    rs_bounds_add_upper(b, EPOCH + WIDTH, EPOCH + WIDTH + 900);
    rs_bounds_add_upper(b, EPOCH + 2 * WIDTH, EPOCH + 2 * WIDTH + 550);
    rs_bounds_add_lower(b, EPOCH + 3 * WIDTH, EPOCH + 3 * WIDTH + 1); /* a window without an upper bound */
    assert_int_equal(b->n, 4);
    assert_int_equal(b->upper[3].d, RS_TIME_NONE);
    assert_int_equal(b->lower[0].d, RS_TIME_NONE);
    assert_int_equal(rs_bounds_near(b, EPOCH + WIDTH + 1), 600); /* the one before says more */
    assert_int_equal(rs_bounds_near(b, EPOCH + 2 * WIDTH + 1), 550);
    assert_int_equal(rs_bounds_near(b, EPOCH + 3 * WIDTH + 1), 550);
    free(b);
}

/* The tightest of all that was added must be there, and every bound that is kept must be one that was added. */
static void test_doubling(void **state)
{
    (void)state;
    struct rs_bounds *b = fresh();
    enum { N = 100000 };
    uint32_t seed = 3;
    int64_t best_upper = INT64_MAX, best_lower = INT64_MIN, *upper = malloc(N * sizeof *upper),
            *lower = malloc(N * sizeof *lower);
    for (int i = 0; i < N; i++) { /* over 1,000 s */
        int64_t at = EPOCH + i * INT64_C(10000000);
        upper[i] = 1000 + ((seed = seed * 1664525 + 1013904223) >> 8);
        lower[i] = -1000 - (int64_t)((seed = seed * 1664525 + 1013904223) >> 8);
        rs_bounds_add_upper(b, at, at + upper[i]);
        rs_bounds_add_lower(b, at, at + lower[i]);
        if (upper[i] < best_upper) best_upper = upper[i];
        if (lower[i] > best_lower) best_lower = lower[i];
    }
    assert_true(b->n <= RS_BOUNDS_MAX && b->n >= RS_BOUNDS_MAX / 2);
    assert_true(b->width % WIDTH == 0 && b->width * b->n >= INT64_C(999990000000));
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (uint32_t w = 0; w < b->n; w++) {
        int64_t i = (b->upper[w].at - EPOCH) / 10000000, j = (b->lower[w].at - EPOCH) / 10000000;
        assert_int_equal(b->upper[w].d, upper[i]);
        assert_int_equal(b->lower[w].d, lower[j]);
        assert_int_equal((b->upper[w].at - EPOCH) / b->width, w);
        assert_int_equal((b->lower[w].at - EPOCH) / b->width, w);
        if (b->upper[w].d < high) high = b->upper[w].d;
        if (b->lower[w].d > low) low = b->lower[w].d;
        for (int64_t k = w * b->width / 10000000 + 1; k < N && k * 10000000 / b->width == w; k++)
            assert_true(upper[k] >= b->upper[w].d && lower[k] <= b->lower[w].d);
    }
    assert_int_equal(high, best_upper);
    assert_int_equal(low, best_lower);
    /* Every stride-th sample, from the first on. */
    assert_true(b->nsamples <= RS_BOUNDS_SAMPLES && b->nsamples > RS_BOUNDS_SAMPLES / 3);
    for (uint32_t k = 0; k < b->nsamples; k++) assert_int_equal(b->samples[k].d, upper[k * b->stride]);
    assert_true((b->nsamples + 1) * b->stride >= N);
    free(upper);
    free(lower);
    free(b);
}

/* Moments before the first, and times of a damaged recording. */
static void test_wild(void **state)
{
    (void)state;
    struct rs_bounds *b = fresh();
    rs_bounds_add_upper(b, EPOCH, EPOCH + 5);
    rs_bounds_add_upper(b, EPOCH - WIDTH, EPOCH - WIDTH + 3);
    assert_int_equal(b->n, 1);
    assert_int_equal(b->upper[0].d, 3);
    static const int64_t wild[] = {INT64_MAX, INT64_MIN, INT64_MIN + 1, 0, -1};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            rs_bounds_add_upper(b, wild[i], wild[j]);
            rs_bounds_add_lower(b, wild[i], wild[j]);
            rs_bounds_near(b, wild[i]);
        }
    assert_true(b->n <= RS_BOUNDS_MAX);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tightest), cmocka_unit_test(test_near),
                                       cmocka_unit_test(test_doubling), cmocka_unit_test(test_wild)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
