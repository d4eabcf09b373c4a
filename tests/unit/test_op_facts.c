/* What is told of an operation and its ranks: a rank of a fan-out has ended when all its sends and receives have. */
#include "unjoined.h"

#include "join/fanouts.h"
#include "join/op_facts.h"
#include "join/pairs.h"
#include "join/waits.h"

/* An all-to-all of two ranks. Parts 0 and 1 go from rank 0 to 0, then come 0 to 1, 1 to 0 and 1 to 1: a send and its
 * receive each. Those to itself have no times, as NCCL tells none. */
static void make_alltoall(void)
{
    make_ranks(2, 1);
    for (int src = 0; src < 2; src++)
        for (int dst = 0; dst < 2; dst++) {
            uint32_t s = make_send(src, dst, 0, 100 + src, 200 + src), r = make_recv(dst, src, 0, 110 + dst, 300 + dst);
            model.parts.group[s] = 77 + (uint64_t)src;
            model.parts.group[r] = 77 + (uint64_t)dst;
            model.parts.count[s] = model.parts.count[r] = 10;
            if (src != dst) continue;
            model.parts.flags[s] |= RS_PART_SELF;
            model.parts.flags[r] |= RS_PART_SELF;
            model.parts.start[s] = model.parts.start[r] = model.parts.end[s] = model.parts.end[r] = RS_TIME_NONE;
        }
}

static uint32_t join(void)
{
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_fanouts_join(&model);
    fine(RS_OK);
    rs_waits_find(&model);
    fine(RS_OK);
    for (uint32_t op = 0; op < model.ops.n; op++)
        if (model.ops.kind[op] == RS_OP_FANOUT) return op;
    fail();
    return RS_NONE;
}

/* Rank 0 of the fan-out, after which comes rank 1 and then nothing. */
static struct rs_op_rank first_rank(void)
{
    struct rs_op_rank rank, other;
    uint32_t op = join(), at = 0;
    assert_true(rs_op_next_rank(&model, op, &at, &rank));
    assert_true(rs_op_next_rank(&model, op, &at, &other));
    assert_false(rs_op_next_rank(&model, op, &at, &other));
    assert_int_equal(rank.parts, 4);
    assert_int_equal(other.parts, 4);
    return rank;
}

enum { SEND = 2, RECV = 5 }; /* of rank 0, to and from rank 1 */

static void test_ended(void **state)
{
    (void)state;
    make_alltoall();
    model.parts.end_source[RECV] = RS_FROM_PROXY;
    struct rs_op_rank r = first_rank();
    assert_int_equal(r.part, SEND);
    assert_int_equal(r.start, ns(100));
    assert_int_equal(r.end, ns(300));
    assert_int_equal(r.end_source, RS_FROM_PROXY); /* of the one that ended last */
    assert_true(r.after == RS_TIME_NONE && r.before == RS_TIME_NONE && !r.open);
    assert_int_equal(rs_op_rank_duration(&model, &r), ns(200) - ns(0));
    rs_model_free(&model);
}

/* The send has ended, the receive has not: nobody knows when the rank did. */
static void test_open(void **state)
{
    (void)state;
    make_alltoall();
    model.parts.end[RECV] = RS_TIME_NONE;
    model.parts.flags[RECV] |= RS_PART_OPEN;
    struct rs_op_rank r = first_rank();
    assert_int_equal(r.end, RS_TIME_NONE);
    assert_int_equal(r.end_source, RS_FROM_NOTHING);
    assert_true(r.open);
    assert_int_equal(r.after, ns(200)); /* not before the send did */
    assert_int_equal(r.before, RS_TIME_NONE);
    assert_int_equal(rs_op_rank_duration(&model, &r), RS_TIME_NONE);
    rs_model_free(&model);
}

static void test_bounds(void **state)
{
    (void)state;
    make_alltoall();
    model.parts.end[SEND] = model.parts.end[RECV] = RS_TIME_NONE;
    model.parts.after[SEND] = ns(150), model.parts.before[SEND] = ns(260);
    model.parts.after[RECV] = ns(210), model.parts.before[RECV] = ns(250);
    struct rs_op_rank r = first_rank();
    assert_int_equal(r.end, RS_TIME_NONE);
    assert_int_equal(r.after, ns(210));
    assert_int_equal(r.before, ns(260));
    assert_false(r.open);
    model.parts.before[SEND] = RS_TIME_NONE;
    model.parts.end[RECV] = ns(300);
    uint32_t op = model.ops.n - 1, at = 0;
    assert_true(rs_op_next_rank(&model, op, &at, &r));
    assert_int_equal(r.after, ns(300));
    assert_int_equal(r.before, RS_TIME_NONE);
    rs_model_free(&model);
}

/* What is no fan-out is told as its one part is. */
static void test_pair(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t send = make_send(0, 1, 0, 100, 200), recv = make_recv(1, 0, 0, 110, 210);
    model.parts.end[recv] = RS_TIME_NONE;
    model.parts.after[recv] = ns(205);
    model.parts.before[recv] = ns(220);
    model.parts.before[send] = ns(999); /* of an end that is known */
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_waits_find(&model);
    fine(RS_OK);
    struct rs_op_rank r;
    uint32_t at = 0;
    assert_true(rs_op_next_rank(&model, op_of(send), &at, &r));
    assert_true(r.part == send && r.parts == 1 && r.end == ns(200) && r.before == RS_TIME_NONE);
    assert_true(rs_op_next_rank(&model, op_of(send), &at, &r));
    assert_true(r.part == recv && r.end == RS_TIME_NONE && r.after == ns(205) && r.before == ns(220));
    assert_false(rs_op_next_rank(&model, op_of(send), &at, &r));
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
