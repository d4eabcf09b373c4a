/* What a cure saves, against runs whose savings were computed by hand. */
#include "joined.h"

#include "conclude/whatif.h"

enum { STEPS = 20 };

static struct rs_view view;
static struct rs_step rows[STEPS];
static struct rs_steps steps;
static struct rs_roles roles;
static struct rs_whatif whatif;
static uint32_t of[8], size[8];

static int forget(void **state)
{
    (void)state;
    rs_whatif_free(&whatif);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

/* Of four ranks on two hosts: how long each computes before the first of two collectives of a step, of 1 ms each; 2 ms
 * before the second. */
static void make_run(int64_t (*compute)(int rank, int step))
{
    make_job(2, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    int64_t t = 0;
    for (int s = 0; s < STEPS; s++) {
        int64_t starts[4], last = 0;
        rows[s] = (struct rs_step){.from = t, .counted = true};
        for (int r = 0; r < 4; r++) {
            starts[r] = t + compute(r, s);
            if (starts[r] > last) last = starts[r];
        }
        add_coll(world, "AllReduce", 1 << 20, starts, 1 * MS);
        for (int r = 0; r < 4; r++) starts[r] = last + 3 * MS;
        add_coll(world, "AllGather", 1 << 20, starts, 1 * MS);
        t = rows[s].to = last + 4 * MS;
    }
    for (int r = 0; r < 4; r++) of[r] = 0;
    size[0] = 4;
    steps = (struct rs_steps){.rows = rows, .n = STEPS};
    roles = (struct rs_roles){.of = of, .n = 1, .size = size};
    look(&view);
    rs_whatif_init(&whatif, &view, &steps, &roles);
    assert_null(whatif.refused);
}

/* Within the allowance for what the replay assumes, and never wider than that: there is no noise. */
static void check(const struct rs_whatif_case *x, int64_t saving)
{
    int64_t allowance = whatif.steps_ns / 1000 + saving / 20;
    assert_null(x->unknown);
    assert_true(x->equals);
    assert_in_range(x->saving_ns, saving > 2 * US ? saving - 2 * US : 0, saving + 2 * US);
    assert_int_equal(x->makespan_ns, whatif.makespan_ns - x->saving_ns);
    assert_in_range(x->saving_high_ns, saving + allowance - 10 * US, saving + allowance + 10 * US);
    assert_true(x->saving_low_ns <= x->saving_ns && x->saving_low_ns >= saving - allowance - 10 * US);
}

/* Rank 2 computes 3 ms longer in every step, rank 3 1 ms. */
static int64_t persistent(int rank, int step)
{
    (void)step;
    return 10 * MS + (rank == 2 ? 3 * MS : rank == 3 ? 1 * MS : 0);
}

static void test_persistent(void **state)
{
    (void)state;
    make_run(persistent);
    assert_int_equal(whatif.step_ns, (13 + 1 + 2 + 1) * MS);
    /* The first start of the run is that of ranks 0 and 1. */
    assert_int_equal(whatif.makespan_ns, STEPS * 17 * MS - 10 * MS);
    check(rs_whatif_add(&whatif, RS_CURE_RANK, 2), STEPS * 2 * MS); /* then rank 3 is the last */
    assert_int_equal(whatif.cases[0].step_ns, 15 * MS);
    assert_string_equal(whatif.cases[0].take_out, "rank 2");
    check(rs_whatif_add(&whatif, RS_CURE_RANK, 3), 0);
    check(rs_whatif_add_ranks(&whatif, (uint32_t[]){2, 3}, 2), STEPS * 3 * MS);
    assert_string_equal(whatif.cases[2].take_out, "ranks 2,3");
    check(rs_whatif_add(&whatif, RS_CURE_HOST, 1), STEPS * 3 * MS);
    assert_string_equal(whatif.cases[3].take_out, "host node01");
    check(rs_whatif_add(&whatif, RS_CURE_HOST, 0), 0);
    check(rs_whatif_add(&whatif, RS_CURE_PERSISTENT, RS_NONE), STEPS * 3 * MS);
}

/* One rank after the other is 4 ms late. */
static int64_t sporadic(int rank, int step)
{
    return 10 * MS + (step % 4 == rank ? 4 * MS : 0);
}

static void test_sporadic(void **state)
{
    (void)state;
    make_run(sporadic);
    for (uint32_t r = 0; r < 4; r++) check(rs_whatif_add(&whatif, RS_CURE_RANK, r), 0);
    check(rs_whatif_add(&whatif, RS_CURE_PERSISTENT, RS_NONE), 0);
    check(rs_whatif_add(&whatif, RS_CURE_SPORADIC, RS_NONE), STEPS * 4 * MS);
    check(rs_whatif_add(&whatif, RS_CURE_WAITS, RS_NONE), STEPS * 3 * MS); /* the mean of 0, 0, 0, 4 */
}

/* The warm-up stays as it is, and so do steps outside the window. */
static void test_warmup(void **state)
{
    (void)state;
    make_run(persistent);
    steps.warmup = 5;
    rows[STEPS - 1].counted = false;
    const struct rs_whatif_case *x = rs_whatif_add(&whatif, RS_CURE_RANK, 2);
    assert_in_range(x->saving_ns, (STEPS - 6) * 2 * MS - 2 * US, (STEPS - 6) * 2 * MS + 2 * US);
}

/* Ranks that do other work are compared only if asked for one of them, and that is said. */
static void test_no_equals(void **state)
{
    (void)state;
    make_run(persistent);
    rs_whatif_free(&whatif);
    of[2] = 1;
    size[0] = 3, size[1] = 1, roles.n = 2;
    rs_whatif_init(&whatif, &view, &steps, &roles);
    const struct rs_whatif_case *x = rs_whatif_add(&whatif, RS_CURE_RANK, 2);
    assert_false(x->equals);
    assert_in_range(x->saving_ns, STEPS * 2 * MS - 2 * US, STEPS * 2 * MS + 2 * US);
    x = rs_whatif_add(&whatif, RS_CURE_PERSISTENT, RS_NONE);
    assert_int_equal(x->saving_ns, 0);
}

/* Late ranks by default: rank 2; taking out rank 3 alone saves nothing. */
static void test_late(void **state)
{
    (void)state;
    make_run(persistent);
    rs_whatif_add_late(&whatif, 5);
    assert_int_equal(whatif.ncases, 1);
    assert_int_equal(whatif.cases[0].rank_id, 2);
}

/* Six pairs; the one of ranks 0 and 1 takes 3 ms instead of 1. */
static void test_link(void **state)
{
    (void)state;
    make_job(1, 6, 1 * US);
    uint32_t comms[3];
    for (int k = 0; k < 3; k++) comms[k] = make_comm(1 + (uint64_t)k, 2 * k, 1, 2);
    uint32_t world = make_comm(9, 0, 1, 6);
    int64_t t = 0;
    for (int s = 0; s < STEPS; s++) {
        rows[s] = (struct rs_step){.from = t, .to = t + 20 * MS, .counted = true};
        int64_t starts[6];
        for (int r = 0; r < 6; r++) starts[r] = t + 5 * MS;
        for (int k = 0; k < 3; k++) add_coll(comms[k], "AllReduce", 1 << 20, starts, k ? 1 * MS : 3 * MS);
        for (int r = 0; r < 6; r++) starts[r] = t + (r < 2 ? 18 : 16) * MS;
        add_coll(world, "AllReduce", 4, starts, 10 * US);
        t += 18 * MS + 10 * US;
    }
    for (int r = 0; r < 6; r++) of[r] = 0;
    steps = (struct rs_steps){.rows = rows, .n = STEPS};
    roles = (struct rs_roles){.of = of, .n = 1, .size = size};
    look(&view);
    rs_whatif_init(&whatif, &view, &steps, &roles);
    const struct rs_whatif_case *x = rs_whatif_add_link(&whatif, 0, 1);
    assert_string_equal(x->take_out, "link 0-1");
    assert_in_range(x->saving_ns, STEPS * 2 * MS - 2 * US, STEPS * 2 * MS + 2 * US);
    x = rs_whatif_add_link(&whatif, 2, 3);
    assert_int_equal(x->saving_ns, 0);
    x = rs_whatif_add_link(&whatif, 0, 2); /* in one communicator only, which nothing is like */
    assert_int_equal(x->saving_ns, RS_TIME_NONE);
    assert_non_null(x->unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_persistent, forget), cmocka_unit_test_teardown(test_sporadic, forget),
        cmocka_unit_test_teardown(test_warmup, forget),     cmocka_unit_test_teardown(test_no_equals, forget),
        cmocka_unit_test_teardown(test_late, forget),       cmocka_unit_test_teardown(test_link, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
