/* Windows of two ranks laid on one another: later begins, holes on either side, what cannot be decided. */
#include "foreign/kineto/align.h"

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

/* A collective: no rank leaves it before all have come. */
static struct rs_align_item operation(uint64_t what, int64_t start, int64_t end)
{
    return (struct rs_align_item){
        .what = what, .at = end, .start = start, .end = end, .step = UINT32_MAX, .waits = true, .awaited = true};
}

static void move(struct rs_align_item *item, int64_t by)
{
    item->at += by;
    item->start += by;
    item->end += by;
}

static void make_job(uint32_t n, bool alike)
{
    int64_t at = 1000 * MS;
    random_state = 7;
    for (uint32_t i = 0; i < n; i++) {
        at += 2700000 + jitter(300000) + (i % 10 == 0 ? 30 * MS : 0);
        job[i] = operation(alike || i % 10 < 8 ? 1 : i % 10, at - MS, at);
    }
}

/* The part of a rank, whose clock is off, and whose ends vary a little. */
static uint32_t take(struct rs_align_item *to, uint32_t from, uint32_t until, int64_t clock)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < until; i++) {
        to[n] = job[i];
        move(&to[n], clock + jitter(250000));
        to[n++].start -= 300000 + jitter(300000); /* some come early, and wait */
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

/* As many on both sides: their order is enough, also where ends are far apart, as on a GPU that several share. */
static void test_as_many(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(100, false);
    for (int late = 0; late < 8; late++) {
        uint32_t n = take(items, 0, 100, 0);
        take(ref, 0, 100, 0);
        for (uint32_t i = 10; i < 100; i += 10) { /* this rank sees the end of some late, by several operations */
            items[i + 3].end += late * 3 * MS;
            items[i + 3].at += late * 3 * MS;
            for (uint32_t k = i + 4; k < i + 9; k++) { /* the others on its GPU wait behind it */
                if (items[k].start < items[k - 1].end) items[k].start = items[k - 1].end;
                if (items[k].end < items[k].start) items[k].end = items[k].at = items[k].start + 1000;
                if (ref[k].end < items[k].start) ref[k].end = ref[k].at = items[k].start;
            }
        }
        struct rs_aligned a = rs_align(items, n, ref, n);
        assert_true(a.sure);
        assert_int_equal(a.missing + a.extra, 0);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, i * RS_ALIGN_APART);
    }
    /* Clocks that are hours apart do not matter, where ends prove it. */
    uint32_t n = take(items, 0, 100, INT64_C(7200000) * MS);
    take(ref, 0, 100, 0);
    for (uint32_t i = 0; i < n; i++) ref[i].end = items[i].end - INT64_C(7200000) * MS + jitter(20000);
    assert_true(rs_align(items, n, ref, n).sure);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, i * RS_ALIGN_APART);
}

/* As many on both sides, but of windows that begin at different operations: times say so. */
static void test_as_many_later(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(100, false);
    for (uint32_t from = 1; from < 30; from++) {
        uint32_t nr = take(ref, 0, 60, 0), n = take(items, from, from + 60, 100000);
        assert_true(rs_align(items, n, ref, nr).sure);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, (from + i) * RS_ALIGN_APART);
    }
}

/* Windows of different times have nothing in common, however alike they are. */
static void test_apart(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(300, false);
    uint32_t nr = take(ref, 0, 60, 0), n = take(items, 200, 260, 0);
    assert_false(rs_align(items, n, ref, nr).sure);
    n = take(items, 200, 250, 0);
    assert_false(rs_align(items, n, ref, nr).sure);
}

static void test_undecided(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    const int64_t at = 1000 * MS;
    for (uint32_t i = 0; i < 40; i++) /* all alike, as regular as a clock, which is half an operation off */
        job[i] = operation(1, at + i * 2 * MS, at + i * 2 * MS + MS);
    memcpy(ref, job, sizeof ref);
    memcpy(items, job, sizeof items);
    for (uint32_t i = 0; i < 39; i++) move(&items[i], MS);
    assert_false(rs_align(items, 39, ref, 40).sure);
    /* Steps tell. */
    for (uint32_t i = 0; i < 40; i++) ref[i].step = items[i].step = i / 4;
    for (uint32_t i = 0; i < 39; i++) move(&items[i], 3 * MS);
    assert_true(rs_align(items, 39, ref, 40).sure);
    for (uint32_t i = 0; i < 39; i++) assert_int_equal(items[i].place, i * RS_ALIGN_APART);
}

/* A root may leave a broadcast before the others come: that says nothing against it. */
static void test_rooted(void **state)
{
    (void)state;
    struct rs_align_item ref[MOST], items[MOST];
    make_job(60, true);
    uint32_t nr = take(ref, 0, 60, 0), n = take(items, 3, 60, 0);
    for (uint32_t i = 0; i < nr; i++) {
        ref[i].waits = false;
        ref[i].end -= 700000;
        ref[i].start -= 700000;
    }
    for (uint32_t i = 0; i < n; i++) {
        items[i].awaited = false;
        items[i].start = items[i].end - 200000;
    }
    assert_true(rs_align(items, n, ref, nr).sure);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(items[i].place, (3 + i) * RS_ALIGN_APART);
}

static void test_edges(void **state)
{
    (void)state;
    struct rs_align_item ref[1] = {{.what = 1, .at = INT64_MIN, .start = INT64_MIN, .end = INT64_MAX, .step = 0}};
    struct rs_align_item items[2] = {{.what = 2, .at = INT64_MAX, .start = INT64_MAX, .end = INT64_MIN + 1, .step = 1},
                                     {.what = 2, .at = INT64_MAX, .end = INT64_MIN, .step = 1}};
    for (int i = 0; i < 2; i++) items[i].waits = items[i].awaited = ref[0].waits = ref[0].awaited = true;
    assert_false(rs_align(items, 0, ref, 1).sure);
    assert_false(rs_align(items, 2, ref, 0).sure);
    assert_false(rs_align(items, 2, ref, 1).sure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_hole_in_reference),
        cmocka_unit_test(test_as_many),
        cmocka_unit_test(test_as_many_later),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_rooted),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
