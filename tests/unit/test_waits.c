/* Waits, last arrivers, ties and violations of hand-made operations; bounds of ends that are not known. */
#include "unjoined.h"

#include "join/collectives.h"
#include "join/early_ends.h"
#include "join/ends.h"
#include "join/pairs.h"
#include "join/waits.h"

static void join(void)
{
    rs_collectives_join(&model);
    fine(RS_OK);
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_ends_bound(&model);
    fine(RS_OK);
    rs_waits_find(&model);
    fine(RS_OK);
}

static void test_last(void **state)
{
    (void)state;
    make_ranks(3, 5);
    uint32_t a = make_coll(0, "AllReduce", 0, 0, 100, 400), b = make_coll(1, "AllReduce", 0, 0, 350, 401);
    uint32_t c = make_coll(2, "AllReduce", 0, 0, 150, 399);
    join();
    assert_int_equal(model.ops.first[0], ns(100));
    assert_int_equal(model.ops.last[0], ns(350));
    assert_int_equal(model.ops.end[0], ns(401));
    assert_int_equal(model.ops.error[0], ns(5));
    assert_int_equal(model.ops.last_part[0], b);
    assert_int_equal(model.ops.flags[0], RS_OP_WHOLE | RS_OP_COMPLETE | RS_OP_CLOCKED);
    assert_int_equal(rs_part_wait(&model, a), ns(250));
    assert_int_equal(rs_part_wait(&model, b), 0);
    assert_int_equal(rs_part_wait(&model, c), ns(200));
    assert_int_equal(rs_op_transfer(&model, 0), ns(51));
    rs_model_free(&model);
}

/* A lead below twice the error is a tie, one that is equal to it is not. */
static void test_tie(void **state)
{
    (void)state;
    for (int32_t lead = 8; lead <= 12; lead++) {
        make_ranks(2, 5);
        make_coll(0, "AllReduce", 0, 0, 100, 400);
        make_coll(1, "AllReduce", 0, 0, 100 + lead, 400);
        join();
        assert_int_equal(!!(model.ops.flags[0] & RS_OP_TIE), lead < 10);
        rs_model_free(&model);
    }
}

/* Of three ranks one is missing: who of the others was last is known, who of all was not. Where the number of ranks is
 * not told, those that are here are all. */
static void test_last_of_all(void **state)
{
    (void)state;
    for (int32_t missing = 0; missing < 3; missing++) {
        make_ranks(3, 5);
        make_coll(0, "AllReduce", 0, 0, 100, 400);
        uint32_t b = make_coll(1, "AllReduce", 0, 0, 350, 401);
        if (!missing) make_coll(2, "AllReduce", 0, 0, 150, 399);
        if (missing == 2) model.comms[0].nranks = -1;
        join();
        assert_int_equal(model.ops.last_part[0], b);
        assert_int_equal(rs_op_last_part(&model, 0), missing == 1 ? RS_NONE : b);
        rs_model_free(&model);
    }
}

static void test_unknown(void **state)
{
    (void)state;
    make_ranks(2, 5);
    uint32_t a = make_coll(0, "AllReduce", 0, 0, 100, UNKNOWN);
    make_coll(1, "AllReduce", 0, 0, UNKNOWN, 400);
    uint32_t alone = make_coll(0, "AllReduce", 1, 0, 500, 600);
    join();
    assert_int_equal(model.ops.flags[0], RS_OP_WHOLE);
    assert_true(model.ops.end[0] == RS_TIME_NONE);
    assert_int_equal(model.ops.last_part[0], RS_NONE);
    assert_true(rs_part_wait(&model, a) == RS_TIME_NONE);
    assert_true(rs_op_transfer(&model, 0) == RS_TIME_NONE);
    assert_int_equal(model.ops.flags[op_of(alone)], RS_OP_CLOCKED); /* nobody to wait for, and not whole */
    assert_int_equal(model.ops.last_part[op_of(alone)], RS_NONE);
    rs_model_free(&model);

    make_ranks(2, 5); /* clocks that cannot be compared */
    model.domains[model.members[1].gpu].island = 1;
    make_coll(0, "AllReduce", 0, 0, 100, 400);
    make_coll(1, "AllReduce", 0, 0, 300, 400);
    join();
    assert_int_equal(model.ops.flags[0], RS_OP_WHOLE | RS_OP_COMPLETE);
    assert_true(rs_op_transfer(&model, 0) == RS_TIME_NONE);
    rs_model_free(&model);
}

/* An end before another's start: impossible for an all-reduce; a root of a broadcast may be gone by then, and so may
 * a sender. */
static void test_violation(void **state)
{
    (void)state;
    static const struct {
        const char *func;
        int first; /* the rank that ends at 200 */
        int32_t start; /* of the other */
        bool violation;
    } cases[] = {
        {"AllReduce", 0, 209, false}, {"AllReduce", 0, 211, true}, {"AllReduce", 1, 211, true},
        {"Broadcast", 0, 300, false}, {"Broadcast", 1, 300, true}, {"Reduce", 0, 300, true},
        {"Reduce", 1, 300, false},    {"Scatter", 0, 300, false},  {"Scatter", 1, 300, true},
        {"Gather", 0, 300, true},     {"Gather", 1, 300, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_ranks(2, 5);
        for (int r = 0; r < 2; r++) {
            bool first = r == cases[i].first;
            uint32_t p = make_coll(r, cases[i].func, 0, 0, first ? 100 : cases[i].start, first ? 200 : 400);
            model.parts.peer[p] = 0; /* the root */
        }
        join();
        assert_int_equal(!!(model.ops.flags[0] & RS_OP_VIOLATION), cases[i].violation);
        rs_model_free(&model);
    }
    for (int send_first = 0; send_first < 2; send_first++) {
        make_ranks(2, 5);
        make_send(0, 1, 0, send_first ? 100 : 300, send_first ? 200 : 400);
        make_recv(1, 0, 0, send_first ? 300 : 100, send_first ? 400 : 200);
        join();
        assert_int_equal(!!(model.ops.flags[0] & RS_OP_VIOLATION), !send_first);
        rs_model_free(&model);
    }
}

/* Two rounds of a ring of two, in one kernel a rank and round. The timers of rank 0, which comes first, end long before
 * rank 1 begins to send: they are no ends. One such alone, or receives with a kernel of their own, are not
 * explained. */
static void test_early(void **state)
{
    (void)state;
    static const struct {
        bool grouped;
        int32_t second; /* when rank 1 comes in the second round */
        bool early;
    } cases[] = {{true, 1300, true}, {true, 1050, false}, {false, 1300, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_ranks(2, 5);
        for (int round = 0; round < 2; round++)
            for (int r = 0; r < 2; r++) {
                int32_t start = round * 1000 + (r ? round ? cases[i].second - 1000 : 300 : 100), end = start + 100;
                uint32_t s = make_send(r, 1 - r, 0, start, end), v = make_recv(r, 1 - r, 0, start, end);
                if (cases[i].grouped)
                    model.parts.launch[s] = model.parts.launch[v] = (uint64_t)(10 * r + round + 1);
                else
                    model.parts.launch[s] = model.parts.launch[v] = 0;
            }
        rs_collectives_join(&model);
        fine(RS_OK);
        rs_pairs_join(&model);
        fine(RS_OK);
        rs_early_ends_find(&model);
        rs_waits_find(&model);
        fine(RS_OK);
        uint32_t first = model.parts.op[1]; /* the receive of rank 0 in the first round */
        assert_int_equal(!!(model.ops.flags[first] & RS_OP_VIOLATION), !cases[i].early);
        assert_int_equal(!!(model.parts.flags[1] & RS_PART_END_EARLY), cases[i].early);
        /* What the ranks of a pair waited for each other holds; when the data were there is not known. Where times cannot
         * be, nothing does. */
        assert_int_equal(rs_part_wait(&model, 1), cases[i].early ? ns(200) : RS_TIME_NONE);
        assert_int_equal(rs_op_transfer(&model, first) == RS_TIME_NONE, cases[i].early);
        rs_model_free(&model);
    }
}

/* A proxy operation's start, where the kernel's was lost, is not held against the starts of kernels. */
static void test_sources(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        make_ranks(2, 5);
        uint32_t a = make_coll(0, "AllReduce", 0, 0, 100, 400), b = make_coll(1, "AllReduce", 0, 0, 300, 400);
        model.parts.start_source[a] = RS_FROM_PROXY;
        if (both) model.parts.start_source[b] = RS_FROM_PROXY;
        join();
        assert_int_equal(!!(model.ops.flags[0] & RS_OP_CLOCKED), both);
        assert_true(rs_part_wait(&model, a) == (both ? ns(200) : RS_TIME_NONE));
        assert_int_equal(model.ops.last_part[0], both ? b : RS_NONE);
        rs_model_free(&model);
    }
}

/* What was over before the last came did not wait for it: in a broadcast only the root is needed, in a reduction
 * nothing but by the root. */
static void test_roots(void **state)
{
    (void)state;
    static const struct {
        const char *func;
        int root;
        int32_t waits[3];
    } cases[] = {
        {"Broadcast", 0, {0, 70, 0}}, {"Reduce", 2, {0, 0, 0}}, {"Scatter", 0, {0, 70, 0}}, {"Gather", 2, {0, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t parts[3];
        make_ranks(3, 5);
        parts[0] = make_coll(0, cases[i].func, 0, 0, 170, 200);
        parts[1] = make_coll(1, cases[i].func, 0, 0, 100, 210);
        parts[2] = make_coll(2, cases[i].func, 0, 0, 500, 600);
        for (int r = 0; r < 3; r++) model.parts.peer[parts[r]] = cases[i].root;
        join();
        for (int r = 0; r < 3; r++) assert_int_equal(rs_part_wait(&model, parts[r]), ns(cases[i].waits[r]));
        rs_model_free(&model);
    }
}

static void test_factors(void **state)
{
    (void)state;
    assert_true(rs_op_busbw_factor("AllReduce", 8) == 1.75);
    assert_true(rs_op_busbw_factor("AllGather", 8) == 0.875);
    assert_true(rs_op_busbw_factor("ReduceScatter", 4) == 0.75);
    assert_true(rs_op_busbw_factor("AlltoAll", 2) == 0.5);
    assert_true(rs_op_busbw_factor("Broadcast", 8) == 1);
    assert_true(rs_op_busbw_factor("SendRecv", 2) == 1);
    assert_true(rs_op_busbw_factor("AllReduce", -1) == 1);
}

static void test_bounds(void **state)
{
    (void)state;
    make_ranks(3, 5);
    uint32_t a = make_coll(0, "AllReduce", 0, 10, 100, UNKNOWN), with = make_coll(0, "AllReduce", 1, 10, 120, UNKNOWN);
    model.parts.launch[with] = model.parts.launch[a]; /* the same kernel: it does not follow */
    uint32_t b = make_coll(0, "AllReduce", 2, 20, 300, 350), c = make_coll(0, "AllReduce", 3, 30, UNKNOWN, UNKNOWN);
    uint32_t d = make_coll(1, "AllReduce", 0, 10, 100, UNKNOWN), e = make_coll(2, "AllReduce", 0, 10, 100, UNKNOWN);
    model.members[0].destroyed = ns(900);
    model.procs[2].ended = RS_END_KILLED;
    model.parts.after[d] = ns(180);
    join();
    assert_int_equal(model.parts.after[a], ns(100));
    assert_int_equal(model.parts.before[a], ns(300));
    assert_int_equal(model.parts.before[with], ns(300));
    assert_true(model.parts.before[b] == RS_TIME_NONE); /* its end is known */
    assert_int_equal(model.parts.after[c], ns(30));
    assert_int_equal(model.parts.before[c], ns(900));
    assert_int_equal(model.parts.after[d], ns(180));
    assert_int_equal(model.parts.before[d], ns(1000000)); /* its process ended well then */
    assert_true(model.parts.before[e] == RS_TIME_NONE); /* killed: it may never have ended */
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_of_all), cmocka_unit_test(test_last),      cmocka_unit_test(test_tie),
        cmocka_unit_test(test_unknown),     cmocka_unit_test(test_violation), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_roots),       cmocka_unit_test(test_factors),   cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
