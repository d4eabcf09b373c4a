/* Which bars stand in which, on which track: a group call with calls in it, and what must not be nested. */
#include "export/nests.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "model/model.h"

enum { FIRST = 1000 }; /* bars of other processes come before */

static struct rs_bars b;
static struct rs_nests nests;

static void lane(uint32_t label)
{
    b.lanes[b.nlanes++] = (struct rs_bar_lane){.label = label, .from = b.n, .before = -1};
}

/* On the last lane; `parent` counts here. */
static void bar(int64_t from, int64_t to, uint32_t parent)
{
    uint32_t i;
    rs_bars_add(&b, &i);
    b.start[i] = from;
    b.dur[i] = to - from;
    b.parent[i] = parent == RS_NONE ? RS_BAR_NONE : FIRST + parent;
    b.lanes[b.nlanes - 1].n++;
}

static int set_up(void **state)
{
    (void)state;
    static struct rs_bar_lane lanes[8];
    b = (struct rs_bars){.first = FIRST, .lanes = lanes};
    nests = (struct rs_nests){0};
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    b.lanes = NULL;
    rs_bars_free(&b);
    rs_nests_free(&nests);
    return 0;
}

static void check(uint32_t l, const uint32_t *bars, uint32_t n)
{
    assert_int_equal(nests.from[l + 1] - nests.from[l], n);
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(nests.order[nests.from[l] + k], bars[k]);
        assert_int_equal(nests.place[bars[k]], nests.from[l] + k);
        assert_int_equal(nests.track[bars[k]], l);
    }
}
#define CHECK(l, ...)                                                                                                  \
    check(l, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_calls(void **state)
{
    (void)state;
    lane(1);
    bar(0, 100, RS_NONE); /* 0: two group calls */
    bar(100, 200, RS_NONE);
    lane(1);
    bar(10, 20, 0); /* 2 */
    bar(20, 30, 0); /* 3: begins where 2 ends */
    bar(90, 110, 0); /* 4: outlasts its parent */
    bar(150, 160, RS_NONE); /* 5: only at the same time */
    lane(1);
    bar(12, 15, 2); /* 6: two levels down */
    bar(25, 28, 2); /* 7: its parent is over */
    bar(100, 120, 1); /* 8: begins with its parent */
    lane(2);
    bar(10, 20, 0); /* 9: of another name */
    b.lanes[2].before = 25; /* the piece before ends where bar 7 begins */
    rs_nests_piece(&nests, &b);
    CHECK(0, 0, 2, 6, 3, 1);
    CHECK(1, 4, 5);
    CHECK(2, 7, 8);
    CHECK(3, 9);
    const uint32_t within[] = {RS_NONE, RS_NONE, 0, 0, RS_NONE, RS_NONE, 2, RS_NONE, RS_NONE, RS_NONE};
    const bool touches[] = {false, true, false, true, false, false, false, true, false, false};
    const bool holds[] = {true, false, true, false, false, false, false, false, false, false};
    for (uint32_t i = 0; i < b.n; i++) {
        assert_int_equal(nests.within[i], within[i]);
        assert_int_equal(rs_nests_touches(&nests, &b, i), touches[i]);
        assert_int_equal(rs_nests_holds(&nests, &b, i), holds[i]);
    }
}

/* Children that overlap each other: the first stands in the parent, the other beside; a lane may be left empty. */
static void test_overlapping(void **state)
{
    (void)state;
    lane(1);
    bar(0, 100, RS_NONE);
    lane(1);
    bar(10, 50, 0);
    lane(1);
    bar(20, 40, 0);
    rs_nests_piece(&nests, &b);
    CHECK(0, 0, 1);
    assert_int_equal(nests.from[1], nests.from[2]);
    CHECK(2, 2);
}

/* On each track what begins later comes later, and lies in what it stands in, or behind all that are over. */
static void check_tracks(void)
{
    for (uint32_t l = 0; l < b.nlanes; l++)
        for (uint32_t k = nests.from[l] + 1; k < nests.from[l + 1]; k++) {
            uint32_t i = nests.order[k], above = nests.order[k - 1];
            assert_int_equal(nests.track[i], l);
            assert_true(b.start[above] < b.start[i] || (b.start[above] == b.start[i] && b.dur[above] >= b.dur[i]));
            for (; above != nests.within[i]; above = nests.within[above])
                assert_true(above != RS_NONE && b.start[above] + b.dur[above] <= b.start[i]);
            if (above != RS_NONE) assert_int_equal(b.parent[i], FIRST + above);
        }
}

/* Lanes of one name, as many as there may be, each with bars of its own length. */
static void test_many_lanes(void **state)
{
    uint32_t seed = 3, stand = 0;
    for (uint32_t run = 0; run < 140; run++) {
        set_up(state);
        for (uint32_t l = 0; l < 2 + run % 7; l++) {
            int64_t at = 0, length = 1 + 200 / (1 << l);
            lane(1);
            for (uint32_t n = 0; n < 40; n++) {
                int64_t from = at + ((seed = seed * 1664525 + 1013904223) >> 20) % 30;
                bar(from, at = from + length + (seed >> 8) % 9, RS_NONE);
            }
        }
        for (uint32_t i = 0; i < b.n; i++) /* the parent is the shortest that holds it */
            for (uint32_t p = 0; p < b.n; p++) {
                uint32_t now = b.parent[i] == RS_BAR_NONE ? RS_NONE : b.parent[i] - FIRST;
                bool holds = b.start[p] < b.start[i] && b.start[i] + b.dur[i] <= b.start[p] + b.dur[p];
                if (holds && (now == RS_NONE || b.dur[p] < b.dur[now])) b.parent[i] = FIRST + p;
            }
        rs_nests_piece(&nests, &b);
        check_tracks();
        for (uint32_t i = 0; i < b.n; i++) stand += nests.within[i] != RS_NONE;
        tear_down(state);
    }
    assert_true(stand > 1000);
}

/* Made anew for another process, with nothing in it. */
static void test_none(void **state)
{
    test_overlapping(state);
    rs_bars_clear(&b);
    rs_nests_piece(&nests, &b);
    assert_int_equal(nests.from[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overlapping, set_up, tear_down),
        cmocka_unit_test(test_many_lanes),
        cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
