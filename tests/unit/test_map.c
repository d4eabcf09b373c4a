/* The hash map against a plain array of the same keys, and against keys made to collide. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* xorshift: a fixed sequence, so that a failure can be seen again. */
static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static void test_extreme_keys(void **state)
{
    (void)state;
    struct rs_map m = {0};
    const uint64_t keys[] = {0, 1, UINT64_MAX, 1ull << 63, 1ull << 32};
    assert_null(rs_map_find(&m, 0));
    assert_null(rs_map_find(&m, 5));
    assert_false(rs_map_delete(&m, 5));
    for (size_t i = 0; i < 5; i++) rs_map_put(&m, keys[i], i + 10);
    assert_int_equal(rs_map_count(&m), 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(rs_map_get(&m, keys[i], 99), i + 10);
    assert_int_equal(rs_map_get(&m, 2, 99), 99);
    rs_map_put(&m, 0, 77);
    assert_int_equal(rs_map_get(&m, 0, 99), 77);
    assert_true(rs_map_delete(&m, 0));
    assert_false(rs_map_delete(&m, 0));
    assert_null(rs_map_find(&m, 0));
    assert_int_equal(rs_map_count(&m), 4);
    rs_map_free(&m);
    assert_int_equal(rs_map_count(&m), 0);
    rs_map_free(NULL);
}

static void test_at(void **state)
{
    (void)state;
    struct rs_map m = {0};
    for (int round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < 100; key++) {
            uint64_t *value = NULL;
            rs_map_at(&m, key, key * 2, &value);
            assert_int_equal(*value, key * 2 + (uint64_t)round);
            (*value)++;
        }
    }
    assert_int_equal(rs_map_count(&m), 100);
    rs_map_free(&m);
}

/* Random puts and deletes over few keys, so that holes are made and closed in long runs; the array is the truth. */
static void churn(uint64_t scale)
{
    enum { KEYS = 700, ROUNDS = 200000 };
    static uint64_t truth[KEYS]; /* value + 1; 0 = not there */
    for (size_t i = 0; i < KEYS; i++) truth[i] = 0;
    struct rs_map m = {0};
    uint64_t seed = 88172645463325252ull;
    size_t count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t r = next_random(&seed);
        size_t k = (size_t)(r % KEYS);
        uint64_t key = k * scale;
        if (r >> 63) {
            rs_map_put(&m, key, r >> 8);
            count += truth[k] == 0;
            truth[k] = (r >> 8) + 1;
        } else {
            assert_int_equal(rs_map_delete(&m, key), truth[k] != 0);
            count -= truth[k] != 0;
            truth[k] = 0;
        }
        if (rs_map_count(&m) != count) fail_msg("%zu keys instead of %zu", rs_map_count(&m), count);
        if (i % 1000 != 0) continue;
        for (size_t j = 0; j < KEYS; j++) {
            const uint64_t *value = rs_map_find(&m, j * scale);
            assert_int_equal(value != NULL, truth[j] != 0);
            if (value != NULL) assert_int_equal(*value, truth[j] - 1);
        }
    }
    /* A walk meets each key once. */
    size_t pos = 0, met = 0;
    uint64_t key, value;
    while (rs_map_next(&m, &pos, &key, &value)) {
        size_t k = (size_t)(key / scale);
        assert_int_equal(truth[k], value + 1);
        truth[k] = 0;
        met++;
    }
    assert_int_equal(met, count);
    rs_map_free(&m);
}

static void test_churn(void **state)
{
    (void)state;
    churn(1);
    churn(1ull << 32);
    churn(1ull << 52);
    churn(4096);
}

static void test_grow(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct rs_map m = {0};
    rs_map_reserve(&m, N);
    size_t cap = m.cap;
    for (uint64_t i = 0; i < N; i++) rs_map_put(&m, i << 20 | 5, i);
    assert_int_equal(m.cap, cap); /* the room was made in advance */
    assert_int_equal(rs_map_count(&m), N);
    for (uint64_t i = 0; i < N; i++)
        if (rs_map_get(&m, i << 20 | 5, UINT64_MAX) != i) fail_msg("key %zu lost", (size_t)i);
    rs_map_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extreme_keys),
        cmocka_unit_test(test_at),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
