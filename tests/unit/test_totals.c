/* What counts as an operation, what was compared, what is a tie, which error that has, and how long ranks waited; where
 * a run begins. By hand-made models. */
#include "join/totals.h"

#include "unjoined.h"

#include "join/collectives.h"
#include "join/fanouts.h"
#include "join/op_facts.h"
#include "join/pairs.h"
#include "join/run_span.h"
#include "join/waits.h"

static const struct rs_filter everything;

static struct rs_totals totals(void)
{
    struct rs_totals t;
    rs_collectives_join(&model);
    fine(RS_OK);
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_fanouts_join(&model);
    fine(RS_OK);
    rs_waits_find(&model);
    fine(RS_OK);
    rs_totals_find(&t, &model, &everything);
    return t;
}

/* Clocks err by 5 us: a lead of 10 us is none any more. An exact tie is one on a single clock, too. */
static void test_ties(void **state)
{
    (void)state;
    static const struct {
        int32_t second;
        uint64_t ties;
    } cases[] = {{100, 1}, {109, 1}, {110, 0}, {300, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_ranks(2, 5);
        make_coll(0, "AllReduce", 0, 0, 100, 400);
        make_coll(1, "AllReduce", 0, 0, cases[i].second, 400);
        struct rs_totals t = totals();
        assert_int_equal(t.ops, 1);
        assert_int_equal(t.compared, 1);
        assert_int_equal(t.ties, cases[i].ties);
        assert_int_equal(t.error_ns, ns(5) - ns(0));
        rs_model_free(&model);
    }
}

/* One rank alone, and one that ended before the other started, are not compared: no tie, no error, no wait. */
static void test_not_compared(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_coll(0, "AllReduce", 0, 0, 100, 200);
    make_coll(1, "AllReduce", 0, 0, 300, 400);
    make_coll(0, "AllReduce", 1, 0, 500, 600);
    struct rs_totals t = totals();
    assert_int_equal(t.ops, 2);
    assert_int_equal(t.violations, 1);
    assert_int_equal(t.compared, 0);
    assert_int_equal(t.ties, 0);
    assert_int_equal(t.error_ns, -1);
    for (uint32_t op = 0; op < model.ops.n; op++) assert_int_equal(rs_op_waits(&model, op).longest_ns, RS_TIME_NONE);
    rs_model_free(&model);
}

/* An all-to-all of three ranks is one operation, not one and six. Each rank waits for the last of its peers, whichever of
 * its sends and receives stands first. */
static void test_fanout(void **state)
{
    (void)state;
    static const int32_t starts[] = {100, 120, 200};
    make_ranks(3, 1);
    for (int src = 0; src < 3; src++)
        for (int dst = 0; dst < 3; dst++) {
            if (src == dst) continue;
            uint32_t s = make_send(src, dst, 0, starts[src], 300), r = make_recv(dst, src, 0, starts[dst], 300);
            model.parts.group[s] = 77 + (uint64_t)src;
            model.parts.group[r] = 77 + (uint64_t)dst;
        }
    struct rs_totals t = totals();
    assert_int_equal(t.ops, 1);
    assert_int_equal(t.compared, 1);
    assert_int_equal(model.ops.n, 7);
    for (uint32_t op = 0; op < model.ops.n; op++) {
        bool fanout = model.ops.kind[op] == RS_OP_FANOUT;
        assert_int_equal(rs_op_counts(&model, op), fanout);
        if (!fanout) continue;
        struct rs_op_rank rank;
        for (uint32_t at = 0, i = 0; rs_op_next_rank(&model, op, &at, &rank); i++)
            assert_int_equal(rs_op_rank_wait(&model, &rank, RS_TIME_NONE), ns(200) - ns(starts[i]));
        struct rs_op_waits waits = rs_op_waits(&model, op);
        assert_int_equal(waits.longest_ns, ns(100) - ns(0));
        assert_int_equal(waits.mean_ns, (ns(100) - ns(0) + ns(80) - ns(0)) / 3);
    }
    rs_model_free(&model);
}

/* What another tool saw of the same operation does not count again. */
static void test_seen_twice(void **state)
{
    (void)state;
    make_ranks(2, 5);
    for (int seq = 0; seq < 2; seq++)
        for (int rank = 0; rank < 2; rank++) make_coll(rank, "AllReduce", (uint64_t)seq, 0, 100 + seq, 400);
    assert_int_equal(totals().ops, 2);
    model.ops.over[1] = 0;
    struct rs_totals t;
    rs_totals_find(&t, &model, &everything);
    assert_int_equal(t.ops, 1);
    rs_model_free(&model);
}

/* The first event may be a kernel that started before the first callback, by the error of clocks; not one of another
 * day. */
static void test_begin(void **state)
{
    (void)state;
    const int64_t second = INT64_C(1000000000), first = 1000 * second;
    make_ranks(2, 5);
    for (uint32_t i = 0; i < model.nprocs; i++) {
        model.procs[i].first = first + (int64_t)i;
        model.procs[i].last = first + second;
    }
    uint32_t a = make_coll(0, "AllReduce", 0, 0, 100, 200), b = make_coll(1, "AllReduce", 0, 0, 100, 200);
    model.parts.enqueued[a] = model.parts.enqueued[b] = model.parts.launched[a] = model.parts.launched[b] =
        RS_TIME_NONE;
    model.parts.start[a] = first - 7000;
    model.parts.end[a] = first + 5;
    model.parts.start[b] = first - 86400 * second;
    model.parts.end[b] = first + 86400 * second;
    assert_int_equal(rs_model_begin(&model), first);
    rs_run_span_find(&model);
    assert_int_equal(rs_model_begin(&model), first - 7000);
    assert_int_equal(rs_model_end(&model), first + second);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties),       cmocka_unit_test(test_not_compared), cmocka_unit_test(test_fanout),
        cmocka_unit_test(test_seen_twice), cmocka_unit_test(test_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
