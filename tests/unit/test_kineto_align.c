/* Windows of two ranks laid on one another: later begins, holes on either side, what cannot be decided. */
#include "foreign/kineto_align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, MS = 1000000 };

/* A job: steps of eight equal all-reduces, a gather and an all-to-all, 2.7 ms apart, with some jitter. */
static struct rs_align_item job[MOST];

static uint32_t random_state;

static int64_t jitter(int64_t most)
{
    random_state = random_state * 1664525 + 1013904223;
    return (int64_t)(random_state >> 8) % (2 * most + 1) - most;
}

static void make_job(uint32_t n, bool alike)
{
    int64_t at = 1000 * MS;
    random_state = 7;
    for (uint32_t i = 0; i < n; i++) {
        at += 2700000 + jitter(300000) + (i % 10 == 0 ? 30 * MS : 0);
        job[i] = (struct rs_align_item){
            .what = alike || i % 10 < 8 ? 1 : i % 10, .called = at - MS, .end = at, .step = UINT32_MAX};
    }
}

/* The part of a rank, whose clock is off, and whose ends vary a little. */
static uint32_t take(struct rs_align_item *to, uint32_t from, uint32_t until, int64_t clock)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < until; i++) {
        to[n] = job[i];
        to[n].called += clock + jitter(500000);
        if (n && to[n].called < to[n - 1].called) to[n].called = to[n - 1].called;
        to[n++].end += clock + jitter(250000);
    }
    return n;
}

static uint32_t drop(struct rs_align_item *items, uint32_t n, uint32_t i)
{
    memmove(&items[i], &items[i + 1], (n - i - 1) * sizeof *items);
    return n - 1;
}

static void test_later(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(100, false);
    for (uint32_t from = 0; from < 30; from++) {
        uint32_t nr = take(ref, 0, 90, 0), n = take(items, from, 100, 200000);
        struct rs_aligned a = rs_align(items, n, ref, nr);
        assert_true(a.sure);
        assert_int_equal(a.missing + a.extra, 0);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, (from + i) * RS_ALIGN_APART);
    }
    /* It begins before the reference does. */
    uint32_t nr = take(ref, 12, 100, 0), n = take(items, 0, 60, -300000);
    assert_true(rs_align(items, n, ref, nr).sure);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, ((int64_t)i - 12) * RS_ALIGN_APART);
}

static void test_hole(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(50, false);
    for (uint32_t hole = 1; hole < 49; hole++) { /* one at the begin or end is none, but a window */
        uint32_t nr = take(ref, 0, 50, 0), n = drop(items, take(items, 0, 50, 100000), hole);
        struct rs_aligned a = rs_align(items, n, ref, nr);
        assert_int_equal(a.missing, 1);
        assert_int_equal(a.extra, 0);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, (i + (i >= hole)) * RS_ALIGN_APART);
    }
}

static void test_hole_in_reference(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(60, false);
    for (uint32_t hole = 5; hole < 44; hole++) {
        uint32_t nr = drop(ref, take(ref, 0, 60, 0), hole), n = take(items, 0, 50, 100000);
        struct rs_aligned a = rs_align(items, n, ref, nr);
        assert_int_equal(a.extra, 1);
        assert_int_equal(a.missing, 0);
        for (uint32_t i = 0; i < n; i++) {
            int64_t place = ((int64_t)i - (i >= hole)) * RS_ALIGN_APART + (i == hole ? 1 : 0);
            assert_int_equal(items[i].place, place);
        }
    }
}

static void test_undecided(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    const int64_t at = 1000 * MS;
    for (uint32_t i = 0; i < 40; i++) /* all alike, as regular as a clock, which is half an operation off */
        job[i] = (struct rs_align_item){
            .what = 1, .called = at + i * 2 * MS, .end = at + i * 2 * MS + MS, .step = UINT32_MAX};
    memcpy(ref, job, sizeof ref);
    memcpy(items, job, sizeof items);
    for (uint32_t i = 0; i < 40; i++) items[i].end += MS;
    assert_false(rs_align(items, 40, ref, 40).sure);
    /* Steps tell. */
    for (uint32_t i = 0; i < 40; i++) ref[i].step = items[i].step = i / 4;
    for (uint32_t i = 0; i < 40; i++) items[i].end += 3 * MS;
    assert_true(rs_align(items, 40, ref, 40).sure);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(items[i].place, i * RS_ALIGN_APART);
}

static void test_edges(void **state)
{
    (void)state;
    struct rs_align_item ref[1] = {{.what = 1, .called = INT64_MIN, .end = INT64_MAX, .step = 0}};
    struct rs_align_item items[2] = {{.what = 2, .called = INT64_MAX, .end = INT64_MIN + 1, .step = 1},
                                     {.what = 2, .called = INT64_MAX, .end = INT64_MIN, .step = 1}};
    assert_false(rs_align(items, 0, ref, 1).sure);
    assert_false(rs_align(items, 2, ref, 0).sure);
    assert_false(rs_align(items, 2, ref, 1).sure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later),     cmocka_unit_test(test_hole),  cmocka_unit_test(test_hole_in_reference),
        cmocka_unit_test(test_undecided), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
