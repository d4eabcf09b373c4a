/* API calls that wait for their operation: eager ones once, captured ones for ever, and the rest handed out, in order. */
#include "import/calls.h"
#include "nccl/abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { CROWD = 65536 };

static struct rs_calls calls;

static int set_up(void **state)
{
    (void)state;
    calls = (struct rs_calls){0};
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    rs_calls_free(&calls);
    return 0;
}

static void add(uint64_t handle, uint32_t member, bool coll, uint16_t func, bool captured)
{
    const struct rs_shape s = {.func = func, .count = handle * 2, .root = 4, .captured = captured};
    const struct rs_callback cb = {.type = coll ? RS_COLL_API : RS_P2P_API, .handle = handle, .parent = 9, .tid = 1};
    rs_calls_start(&calls, &cb, (int64_t)handle, member, &s);
}

/* What a sweep hands out must come in the order of the calls. */
static uint64_t handed, last_handle;
static enum rs_status each(void *to, const struct rs_api_call *call, struct rs_err *err)
{
    (void)to;
    (void)err;
    assert_true(call->handle > last_handle);
    assert_int_equal(call->count, call->handle * 2);
    assert_int_equal(call->captured, 0);
    last_handle = call->handle;
    handed++;
    return RS_OK;
}
static uint64_t sweep(bool all)
{
    handed = last_handle = 0;
    assert_int_equal(rs_calls_sweep(&calls, all, each, NULL, NULL), RS_OK);
    return handed;
}

static void test_use(void **state)
{
    (void)state;
    add(100, 1, true, 5, false);
    add(101, 1, true, 5, true);
    const struct rs_api_call *c = rs_calls_use(&calls, 100);
    assert_non_null(c);
    assert_int_equal(c->at, 100);
    assert_int_equal(c->group, 9);
    assert_int_equal(c->uses, 1);
    assert_int_equal(c->root, 4);
    assert_null(rs_calls_use(&calls, 100)); /* once */
    for (uint32_t i = 1; i <= 1000; i++) assert_int_equal(rs_calls_use(&calls, 101)->uses, i);
    assert_null(rs_calls_use(&calls, 102));
    assert_int_equal(sweep(true), 0); /* one became its operation, the other may yet */
    assert_int_equal(rs_calls_use(&calls, 101)->uses, 1001);
}

static void test_ordinals(void **state)
{
    (void)state;
    static const struct {
        uint32_t member;
        bool coll;
        uint16_t func;
        bool captured;
        uint32_t number; /* captured ones count from 1, by kind; eager ones from 0, by function */
    } rows[] = {{1, true, 5, false, 0}, {1, true, 6, false, 0}, {1, true, 5, false, 1}, {2, true, 5, false, 0},
                {1, true, 5, true, 1},  {1, true, 6, true, 2},  {1, false, 7, true, 1}, {1, false, 8, true, 2},
                {2, true, 5, true, 1},  {1, true, 5, false, 2}};
    for (uint64_t i = 0; i < 10; i++) {
        add(100 + i, rows[i].member, rows[i].coll, rows[i].func, rows[i].captured);
        const struct rs_api_call *c = &calls.rows[calls.n - 1];
        assert_int_equal(rows[i].captured ? c->captured : c->ordinal, rows[i].number);
    }
}

/* Too many wait: the older half is handed out, the younger may still become operations. */
static void test_crowd(void **state)
{
    (void)state;
    add(1, 1, true, 5, true);
    for (uint64_t h = 2; h < CROWD; h++) add(h, 1, true, 5, false);
    assert_false(rs_calls_crowded(&calls));
    add(CROWD, 1, true, 5, false);
    assert_true(rs_calls_crowded(&calls));
    assert_int_equal(sweep(false), (CROWD - 1) / 2);
    assert_false(rs_calls_crowded(&calls));
    assert_null(rs_calls_use(&calls, 2));
    assert_int_equal(rs_calls_use(&calls, 1)->uses, 1); /* captured ones stay */
    assert_int_equal(rs_calls_use(&calls, CROWD)->at, CROWD);
    assert_int_equal(rs_calls_use(&calls, CROWD - 7)->at, CROWD - 7);
    assert_int_equal(sweep(true), CROWD - 1 - (CROWD - 1) / 2 - 2);
}

/* Calls that became operations make no crowd that has to be handed out. */
static void test_no_crowd(void **state)
{
    (void)state;
    uint64_t sweeps = 0;
    for (uint64_t h = 1; h <= 300000; h++) {
        add(h, 1, true, 5, false);
        assert_non_null(rs_calls_use(&calls, h));
        if (!rs_calls_crowded(&calls)) continue;
        assert_int_equal(sweep(false), 0);
        sweeps++;
    }
    assert_int_equal(sweeps, 300000 / CROWD);
    assert_int_equal(calls.cap, CROWD);
}

/* Graphs of very many calls, all of which stay: they are not gone through again with every callback. */
static void test_captured_crowd(void **state)
{
    (void)state;
    uint64_t sweeps = 0;
    for (uint64_t h = 1; h <= 300000; h++) {
        add(h, 1, true, 5, true);
        if (!rs_calls_crowded(&calls)) continue;
        assert_int_equal(sweep(false), 0);
        assert_false(rs_calls_crowded(&calls));
        sweeps++;
    }
    assert_true(sweeps <= 3);
    for (uint64_t h = 1; h <= 300000; h++) assert_int_equal(rs_calls_use(&calls, h)->captured, h);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_use), TEST(test_ordinals), TEST(test_crowd), TEST(test_no_crowd),
                                       TEST(test_captured_crowd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
