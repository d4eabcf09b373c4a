/* Events in flight: steps that are started again and again, rows that are used again, and what nobody ever stops. */
#include "import/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl/abi.h"

enum { MOST = 1 << 18 }; /* rows in flight before the older ones are given up */

static struct rs_inflight f;

static int set_up(void **state)
{
    (void)state;
    rs_inflight_make(&f);
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    rs_inflight_free(&f);
    return 0;
}

static uint32_t start_op(uint64_t handle, int64_t at)
{
    uint32_t row;
    assert_int_equal(rs_inflight_start(&f, handle, RS_PROXY_OP, &row, NULL), RS_OK);
    f.rows[row].at = at;
    return row;
}
static uint32_t start_step(uint64_t handle, uint32_t owner, int32_t step)
{
    uint32_t row;
    assert_int_equal(rs_inflight_step(&f, handle, owner, step, &row, NULL), RS_OK);
    return row;
}
static unsigned steps_of(uint32_t op)
{
    unsigned n = 0;
    for (uint32_t i = f.rows[op].steps; i != RS_NONE; i = f.rows[i].steps, n++) {
        assert_int_equal(f.rows[i].type, RS_PROXY_STEP);
        assert_int_equal(f.rows[i].owner, op);
    }
    return n;
}

/* Rows that can be found, each once. */
static unsigned chained(void)
{
    unsigned n = 0;
    for (uint32_t c = 0; c < UINT32_C(1) << f.chain_bits; c++)
        for (uint32_t i = f.chains[c]; i != RS_NONE; i = f.rows[i].chained, n++) assert_true(n < f.n && f.rows[i].type);
    return n;
}

static void test_plain(void **state)
{
    (void)state;
    assert_int_equal(rs_inflight_find(&f, 1), RS_NONE);
    uint32_t a = start_op(10, 5), k;
    assert_int_equal(rs_inflight_start(&f, 11, RS_KERNEL_CH, &k, NULL), RS_OK);
    assert_int_equal(rs_inflight_find(&f, 10), a);
    assert_int_equal(rs_inflight_find(&f, 11), k);
    assert_int_equal(f.rows[k].part, RS_NONE);
    assert_int_equal(f.rows[k].state, -1);
    assert_int_equal(f.rows[k].step, -1);
    assert_int_equal(f.used, 2);
    rs_inflight_end(&f, a);
    assert_int_equal(rs_inflight_find(&f, 10), RS_NONE);
    assert_int_equal(rs_inflight_find(&f, 11), k);
    assert_int_equal(start_op(12, 6), a); /* the row is used again, as new */
    assert_int_equal(f.rows[a].at, 6);
    assert_int_equal(f.rows[a].steps, RS_NONE);
    rs_inflight_clear(&f);
    assert_int_equal(f.used, 0);
    assert_int_equal(rs_inflight_find(&f, 11), RS_NONE);
}

static void test_same_step(void **state)
{
    (void)state;
    uint32_t op = start_op(1, 5), other = start_op(2, 5);
    uint32_t first = start_step(3, op, 0), beside = start_step(4, other, 0);
    f.rows[first].at = 77;
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(start_step(100 + i, op, 0), first);
        assert_int_equal(f.rows[first].at, 77); /* it stands still since then */
    }
    assert_int_equal(f.used, 4);
    assert_int_equal(chained(), 4);
    assert_int_equal(rs_inflight_find(&f, 100 + 9998), RS_NONE);
    assert_int_equal(rs_inflight_find(&f, 100 + 9999), first);
    assert_int_equal(rs_inflight_find(&f, 4), beside);
    assert_int_equal(steps_of(op), 1);
    uint32_t second = start_step(5, op, 1);
    assert_int_not_equal(second, first);
    assert_int_equal(steps_of(op), 2);
    f.rows[first].state = 10; /* it came further, and begins anew */
    assert_int_equal(start_step(6, op, 0), first);
    assert_int_equal(f.rows[first].state, -1);
    assert_int_equal(f.rows[first].at, 0);
}

static void test_ends(void **state)
{
    (void)state;
    uint32_t op = start_op(1, 5), other = start_op(2, 5);
    f.rows[op].part = 9;
    for (int32_t i = 0; i < 8; i++) start_step(10 + (uint64_t)i, op, i);
    uint32_t foreign = start_step(20, other, 3);
    assert_int_equal(f.rows[rs_inflight_find(&f, 12)].part, 9);
    for (uint64_t h = 10; h < 18; h += 3)
        rs_inflight_end(&f, rs_inflight_find(&f, h)); /* 10, 13, 16: ends and middle */
    assert_int_equal(steps_of(op), 5);
    assert_int_equal(f.used, 8);
    rs_inflight_end(&f, op); /* the rest goes with it */
    assert_int_equal(f.used, 2);
    assert_int_equal(chained(), 2);
    for (uint64_t h = 10; h < 18; h++) assert_int_equal(rs_inflight_find(&f, h), RS_NONE);
    assert_int_equal(rs_inflight_find(&f, 20), foreign);
    assert_int_equal(steps_of(other), 1);
}

/* The counter of handles went round: the latest is meant. */
static void test_handles_again(void **state)
{
    (void)state;
    uint32_t op = start_op(1, 5);
    start_step(2, op, 0);
    start_step(3, op, 1);
    uint32_t again = start_op(1, 6);
    assert_int_equal(f.used, 1);
    assert_int_equal(rs_inflight_find(&f, 1), again);
    assert_int_equal(rs_inflight_find(&f, 3), RS_NONE);
    assert_int_equal(steps_of(again), 0);
    start_step(4, again, 0);
    start_step(4, again, 1); /* a step's */
    assert_int_equal(steps_of(again), 1);
    assert_int_equal(f.used, 2);
    start_step(5, again, 0);
    uint32_t taken = start_step(5, again, 1); /* one is taken over, the other's handle comes again */
    assert_int_equal(rs_inflight_find(&f, 5), taken);
    assert_int_equal(steps_of(again), 1);
    /* Damaged: a step that names itself as its parent. */
    start_step(1, again, 7);
    rs_inflight_end(&f, again);
    assert_int_equal(f.used, 0);
    assert_int_equal(chained(), 0);
}

static void test_give_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < MOST; i++) start_op(1 + i, (int64_t)i);
    assert_int_equal(f.used, MOST);
    assert_int_equal(f.given_up, 0);
    uint32_t cap = f.cap;
    start_op(1 + MOST, MOST);
    assert_int_equal(f.given_up, MOST / 2); /* the older half */
    assert_int_equal(f.used, MOST / 2 + 1);
    assert_int_equal(rs_inflight_find(&f, MOST / 2), RS_NONE);
    assert_int_not_equal(rs_inflight_find(&f, MOST / 2 + 1), RS_NONE);
    assert_int_equal(f.cap, cap); /* bounded */
}

/* It happens at the start of a step whose operation is among the oldest: that one stays. */
static void test_give_up_for_a_step(void **state)
{
    (void)state;
    for (int all_at_once = 0; all_at_once < 2; all_at_once++) {
        rs_inflight_clear(&f);
        uint32_t op = start_op(1, 0);
        for (int32_t i = 0; i < 3; i++) start_step(2 + (uint64_t)i, op, i);
        for (uint64_t i = 4; i < MOST; i++) start_op(1 + i, all_at_once ? 0 : (int64_t)i);
        assert_int_equal(f.used, MOST);
        uint32_t step = start_step(1000000, op, 9);
        assert_int_equal(f.rows[op].type, RS_PROXY_OP);
        assert_int_equal(f.rows[op].handle, 1);
        assert_int_not_equal(step, op);
        assert_int_equal(f.rows[step].owner, op);
        assert_int_equal(f.rows[op].steps, step);
        assert_true(f.given_up > 0);
        /* Nothing is used twice: every row in use is found under its handle, and they are as many as are counted. */
        uint32_t used = 0;
        for (uint32_t i = 0; i < f.n; i++) {
            if (!f.rows[i].type) continue;
            used++;
            assert_int_equal(rs_inflight_find(&f, f.rows[i].handle), i);
        }
        assert_int_equal(used, f.used);
        for (uint64_t i = 0; i < 1000; i++) assert_int_equal(f.rows[start_op(2000000 + i, 1)].handle, 2000000 + i);
        rs_inflight_end(&f, op);
        assert_int_equal(rs_inflight_find(&f, 1000000), RS_NONE);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_plain),         TEST(test_same_step), TEST(test_ends),
                                       TEST(test_handles_again), TEST(test_give_up),   TEST(test_give_up_for_a_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
