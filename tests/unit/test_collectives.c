/* Collectives of hand-made ranks: which parts come into one operation, and what is left alone. */
#include "unjoined.h"

#include "join/collectives.h"
#include "join/presence.h"

static void join(void)
{
    rs_collectives_join(&model);
    fine(RS_OK);
    for (uint32_t i = 0; i < model.parts.n; i++) assert_int_not_equal(op_of(i), RS_NONE);
    for (uint32_t op = 0; op < model.ops.n; op++)
        for (uint32_t i = 0; i < model.ops.nparts[op]; i++)
            assert_int_equal(op_of(model.order[model.ops.part[op] + i]), op);
}

static void test_by_number(void **state)
{
    (void)state;
    make_ranks(3, 1);
    uint32_t parts[3][4];
    for (int r = 2; r >= 0; r--) /* ranks come in any order; numbers count by function */
        for (int k = 0; k < 4; k++)
            parts[r][k] = make_coll(r, k % 2 ? "AllGather" : "AllReduce", (uint64_t)k / 2, k, UNKNOWN, UNKNOWN);
    join();
    assert_int_equal(model.ops.n, 4);
    for (int k = 0; k < 4; k++) {
        uint32_t op = op_of(parts[0][k]);
        assert_int_equal(op, op_of(parts[1][k]));
        assert_int_equal(op, op_of(parts[2][k]));
        assert_int_equal(model.ops.nparts[op], 3);
        for (uint32_t i = 0; i < 3; i++) assert_int_equal(model.order[model.ops.part[op] + i], parts[i][k]);
        assert_int_equal(model.ops.bytes[op], k % 2 ? 1200 : 400); /* 3 ranks x 100 x 4; 100 x 4 */
        assert_int_equal(model.ops.flags[op], 0);
        for (int j = 0; j < k; j++) assert_int_not_equal(model.ops.id[op], model.ops.id[op_of(parts[0][j])]);
    }
    uint64_t id = model.ops.id[op_of(parts[0][3])];
    rs_model_free(&model);
    make_ranks(3, 1); /* the same operation, seen by one rank alone, has the same id */
    uint32_t alone = make_coll(1, "AllGather", 1, 0, UNKNOWN, UNKNOWN);
    join();
    assert_true(model.ops.id[op_of(alone)] == id);
    assert_int_not_equal(id, 0);
    rs_model_free(&model);
}

static void test_kinds_apart(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t coll = make_coll(0, "AllGather", 0, 0, UNKNOWN, UNKNOWN);
    uint32_t ce = make_coll(1, "AllGather", 0, 0, UNKNOWN, UNKNOWN),
             api = make_coll(1, "AllGather", 0, 1, UNKNOWN, UNKNOWN);
    uint32_t none = make_coll(0, "AllGather", UINT64_MAX, 2, UNKNOWN, UNKNOWN);
    uint32_t none_too = make_coll(1, "AllGather", UINT64_MAX, 2, UNKNOWN, UNKNOWN);
    model.parts.kind[ce] = RS_PART_CE;
    model.parts.kind[api] = RS_PART_API;
    join();
    assert_int_equal(model.ops.n, 5);
    assert_int_equal(model.ops.kind[op_of(coll)], RS_OP_COLL);
    assert_int_equal(model.ops.kind[op_of(ce)], RS_OP_CE);
    assert_int_equal(model.ops.kind[op_of(api)], RS_OP_API);
    assert_int_not_equal(op_of(none), op_of(none_too));
    rs_model_free(&model);
}

static void test_twice(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t a = make_coll(0, "AllReduce", 7, 0, UNKNOWN, UNKNOWN),
             b = make_coll(1, "AllReduce", 7, 0, UNKNOWN, UNKNOWN);
    uint32_t again = make_coll(0, "AllReduce", 7, 9, UNKNOWN, UNKNOWN);
    join();
    assert_int_equal(model.ops.n, 2);
    assert_int_equal(op_of(a), op_of(b));
    assert_int_not_equal(op_of(again), op_of(a));
    assert_int_equal(model.ops.nparts[op_of(a)], 2);
    assert_int_equal(model.ops.nparts[op_of(again)], 1);
    assert_true(model.ops.flags[op_of(a)] & RS_OP_DOUBLE);
    assert_true(model.ops.flags[op_of(again)] & RS_OP_DOUBLE);
    assert_int_not_equal(model.ops.id[op_of(again)], model.ops.id[op_of(a)]);
    rs_model_free(&model);
}

static void test_mismatch(void **state)
{
    (void)state;
    make_ranks(4, 1);
    uint32_t p[4], q[4];
    for (int r = 0; r < 4; r++) p[r] = make_coll(r, "AllReduce", 0, 0, UNKNOWN, UNKNOWN);
    for (int r = 0; r < 4; r++) q[r] = make_coll(r, "AllReduce", 1, 5, UNKNOWN, UNKNOWN);
    model.parts.count[p[0]] = 99;
    model.parts.count[q[1]] = model.parts.count[q[2]] = 50; /* two against two */
    join();
    assert_true(model.ops.flags[op_of(p[0])] & RS_OP_MISMATCH);
    assert_int_equal(model.ops.count[op_of(p[0])], 100);
    for (int r = 0; r < 4; r++) assert_int_equal(!!(model.parts.flags[p[r]] & RS_PART_MISMATCH), r == 0);
    for (int r = 0; r < 4; r++) assert_true(model.parts.flags[q[r]] & RS_PART_MISMATCH);
    rs_model_free(&model);
}

static uint32_t make_replay_of(const char *func, int rank, uint64_t seq, uint32_t captured, uint32_t replay, int32_t at)
{
    uint32_t i = make_coll(rank, func, seq, at, UNKNOWN, UNKNOWN);
    model.parts.captured[i] = captured;
    model.parts.replay[i] = replay;
    return i;
}

static uint32_t make_replay(int rank, uint64_t seq, uint32_t captured, uint32_t replay, int32_t at)
{
    return make_replay_of("AllReduce", rank, seq, captured, replay, at);
}

/* KernelCh on: numbers advance, and survive that a rank lost the first replay. */
static void test_graph_numbers_advance(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t a[4], b[4];
    for (uint32_t k = 0; k < 4; k++) a[k] = make_replay(0, 5 + k, 1, k, (int32_t)k * 10);
    for (uint32_t k = 1; k < 4; k++) b[k] = make_replay(1, 5 + k, 1, k - 1, (int32_t)k * 10);
    make_gap(1, 1, 2, 1, 0);
    join();
    assert_int_equal(model.ops.n, 4);
    for (uint32_t k = 1; k < 4; k++) assert_int_equal(op_of(a[k]), op_of(b[k]));
    assert_int_equal(model.ops.replay[op_of(a[3])], 3);
    assert_int_equal(model.ops.captured[op_of(a[3])], 1);
    rs_model_free(&model);
}

/* Several functions in a graph: that they have the same numbers, each its own, does not make numbers stand still. Nothing
 * says that rank 1's first replay is missing. */
static void test_graph_functions(void **state)
{
    (void)state;
    enum { FUNCS = 4, REPLAYS = 4 };
    static const char *const funcs[FUNCS] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast"};
    uint32_t a[FUNCS][REPLAYS], b[FUNCS][REPLAYS];
    make_ranks(2, 1);
    for (uint32_t f = 0; f < FUNCS; f++) {
        for (uint32_t k = 0; k < REPLAYS; k++) a[f][k] = make_replay_of(funcs[f], 0, 5 + k, 1 + f, k, (int32_t)k * 10);
        for (uint32_t k = 1; k < REPLAYS; k++)
            b[f][k] = make_replay_of(funcs[f], 1, 5 + k, 1 + f, k - 1, (int32_t)k * 10);
    }
    join();
    assert_int_equal(model.ops.n, FUNCS * REPLAYS);
    for (uint32_t f = 0; f < FUNCS; f++)
        for (uint32_t k = 1; k < REPLAYS; k++) assert_int_equal(op_of(a[f][k]), op_of(b[f][k]));
    rs_model_free(&model);
}

/* KernelCh off: replays have the number that the next eager call will get. */
static void test_graph_numbers_stand(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t a[2][3], eager[2];
    for (int r = 0; r < 2; r++) {
        for (uint32_t k = 0; k < 3; k++) a[r][k] = make_replay(r, 5, 1, k, (int32_t)k * 10);
        eager[r] = make_coll(r, "AllReduce", 5, 50, UNKNOWN, UNKNOWN);
    }
    join();
    assert_int_equal(model.ops.n, 4);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(op_of(a[0][k]), op_of(a[1][k]));
        assert_int_equal(model.ops.replay[op_of(a[0][k])], k);
    }
    assert_int_equal(op_of(eager[0]), op_of(eager[1]));
    rs_model_free(&model);
}

/* A rank that lost one of three replays: what came before is certain, what came behind is left alone. Behind the eager
 * call it has as many as the other, so that they are certain again. */
static void test_graph_with_losses(void **state)
{
    (void)state;
    make_ranks(2, 1);
    uint32_t a[6], b[6];
    for (uint32_t k = 0; k < 6; k++) {
        if (k == 3) make_coll(0, "AllReduce", 5, 55, UNKNOWN, UNKNOWN);
        a[k] = make_replay(0, k < 3 ? 5 : 6, 1, k, (int32_t)k * 20);
    }
    for (uint32_t k = 0; k < 6; k++) {
        if (k == 1) continue;
        b[k] = make_replay(1, k < 3 ? 5 : 6, 1, k > 1 ? k - 1 : k, (int32_t)k * 20);
    }
    make_gap(1, 15, 25, 1, 0);
    join();
    assert_int_equal(op_of(b[0]), op_of(a[0]));
    assert_int_equal(model.ops.nparts[op_of(b[2])], 1);
    for (uint32_t k = 3; k < 6; k++) assert_int_equal(op_of(b[k]), op_of(a[k]));
    assert_int_equal(model.ops.nparts[op_of(a[1])], 1);
    rs_model_free(&model);
}

/* ---- who is missing ---- */

static void test_presence(void **state)
{
    (void)state;
    make_ranks(5, 1);
    model.comms[0].nranks = 6; /* rank 5 has no recording */
    for (int r = 0; r < 5; r++)
        for (uint64_t k = 0; k < 10; k++) {
            if (r == 1 && k >= 8) continue; /* stops early */
            if (r == 2 && (k == 8 || k == 9)) continue; /* loses its last but one and its last */
            if (r == 3 && k < 4) continue; /* begins late */
            if (r == 4 && k >= 8) continue; /* no longer asked for */
            make_coll(r, "AllReduce", k, (int32_t)k * 10, UNKNOWN, UNKNOWN);
        }
    make_gap(2, 75, 76, 1, 0); /* one of them */
    model.procs[4].covers = calloc(2, sizeof *model.procs[4].covers);
    assert_non_null(model.procs[4].covers);
    model.procs[4].covers[0] = (struct rs_cover){0, ns(75), RS_COLL};
    model.procs[4].covers[1] = (struct rs_cover){ns(75), INT64_MAX, 0};
    model.procs[4].ncovers = 2;
    join();
    struct rs_presence_index x;
    rs_presence_init(&x, &model);
    fine(RS_OK);
    uint32_t at2 = 2, at8 = 8, at9 = 9; /* operations are in the order of rank 0 */
    assert_int_equal(model.ops.seq[at8], 8);
    assert_int_equal(rs_presence(&x, &model, at8, 0), RS_PRESENT);
    assert_int_equal(rs_presence(&x, &model, at8, 1), RS_MISSING);
    assert_int_equal(rs_presence(&x, &model, at8, 2), RS_NOT_RECORDED);
    assert_int_equal(rs_presence(&x, &model, at9, 2), RS_MISSING); /* one lost record cannot be two operations */
    assert_int_equal(rs_presence(&x, &model, at2, 3), RS_NOT_RECORDED);
    assert_int_equal(rs_presence(&x, &model, at8, 4), RS_NOT_RECORDED);
    assert_int_equal(rs_presence(&x, &model, at8, 5), RS_NO_RECORDING);
    rs_presence_free(&x);
    rs_model_free(&model);
}

static void test_recorded_until(void **state)
{
    (void)state;
    make_ranks(1, 1);
    struct rs_proc *p = &model.procs[0];
    assert_true(rs_recorded_until(p, 0, RS_COLL) == INT64_MAX);
    assert_true(rs_recorded_until(p, RS_TIME_NONE, RS_COLL) == INT64_MIN); /* nobody saw its beginning */
    make_gap(0, 10, 20, 0, 1);
    make_gap(0, 30, 40, 1, 0);
    assert_int_equal(rs_recorded_until(p, 0, RS_P2P), ns(10));
    assert_int_equal(rs_recorded_until(p, 0, RS_COLL), ns(30));
    assert_true(rs_recorded_until(p, ns(25), RS_P2P) == INT64_MAX);
    p->overwritten_until = ns(5);
    assert_true(rs_recorded_until(p, 0, RS_COLL) == INT64_MIN);
    assert_int_equal(rs_recorded_until(p, ns(6), RS_COLL), ns(30));
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_number),
        cmocka_unit_test(test_kinds_apart),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_graph_numbers_advance),
        cmocka_unit_test(test_graph_functions),
        cmocka_unit_test(test_graph_numbers_stand),
        cmocka_unit_test(test_graph_with_losses),
        cmocka_unit_test(test_presence),
        cmocka_unit_test(test_recorded_until),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
