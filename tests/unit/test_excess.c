/* How much longer than its equals a rank takes in each step: sums over its operations, against times made by hand. */
#include "joined.h"

#include <math.h>

#include "conclude/excess.h"
#include "conclude/findings.h"

enum { RANKS = 4, STEPS = 12, OPS = 3 };

#define LOST INT64_MIN

static struct rs_view view;
static struct rs_steps steps;
static struct rs_roles roles;
static struct rs_graph graph;
static struct rs_excess excess;
static float late[RANKS * STEPS];

/* Every step has three operations of 1 ms, of different sizes, and before them a rank takes 3, 1 and 2 ms, plus what `more`
 * says for it, the step and the operation (LOST: its record is lost). All ranks end together. */
static void play(int64_t (*more)(int rank, int step, int op))
{
    make_job(2, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, RANKS);
    int64_t end = 1000 * MS;
    static const int64_t gaps[OPS] = {3 * MS, 1 * MS, 2 * MS};
    for (int s = 0; s < STEPS; s++)
        for (int k = 0; k < OPS; k++) {
            int64_t starts[RANKS], last = 0;
            for (int r = 0; r < RANKS; r++) {
                int64_t longer = more(r, s, k);
                starts[r] = longer == LOST ? RS_TIME_NONE : end + gaps[k] + longer;
                if (starts[r] > last) last = starts[r];
            }
            add_coll(world, "AllReduce", 1u << (20 + k), starts, 1 * MS);
            end = last + 1 * MS;
        }
    look(&view);
    fine(rs_steps_find(&steps, &view, NULL));
    assert_int_equal(steps.n, STEPS);
    rs_roles_find(&roles, &view, &steps, NULL);
    rs_graph_init(&graph, &view, &steps, &roles);
    rs_excess_init(&excess, &graph, &roles);
    rs_excess_by_step(&excess, &roles, &steps, late);
}

static int forget(void **state)
{
    (void)state;
    rs_excess_free(&excess);
    rs_graph_free(&graph);
    rs_roles_free(&roles);
    rs_steps_free(&steps);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static int64_t in_two_places(int rank, int step, int op)
{
    if (rank == 2 && op == 0) return 500 * US;
    if (rank == 2 && op == 2) return step * 10 * US;
    return 0;
}

/* A rank that the others wait for is late, and they are not: what they wait is in the operation, not before it. */
static void test_sums(void **state)
{
    (void)state;
    play(in_two_places);
    for (int r = 0; r < RANKS; r++)
        for (int s = 1; s < STEPS; s++)
            assert_true(fabsf(late[r * STEPS + s] - (r == 2 ? 500e3F + (float)s * 10e3F : 0)) < 1);
}

static int64_t early_elsewhere(int rank, int step, int op)
{
    (void)step;
    if (rank != 1) return 0;
    return op == 0 ? 400 * US : op == 1 ? -300 * US : 0;
}

/* What a rank takes longer here and shorter there is its lateness of the step: the sum. */
static void test_signs(void **state)
{
    (void)state;
    play(early_elsewhere);
    for (int s = 1; s < STEPS; s++) assert_true(fabsf(late[1 * STEPS + s] - 100e3F) < 1);
}

static int64_t host_and_noise(int rank, int step, int op)
{
    return op ? 0 : (rank >= 2 ? 600 * US : 0) + (rank * 7 + step * 13) % 5 * US;
}

static int64_t some_lost(int rank, int step, int op)
{
    bool lost = rank == 3 && ((step == 5 && op == 1) || (step == 8 && op < 2));
    return lost ? LOST : rank == 3 && op == 2 ? 500 * US : 0;
}

/* Of three operations one is lost: the others count. Two are too many. */
static void test_lost(void **state)
{
    (void)state;
    play(some_lost);
    assert_true(fabsf(late[3 * STEPS + 4] - 500e3F) < 1);
    assert_true(late[3 * STEPS + 5] > 0);
    assert_true(isnan(late[3 * STEPS + 8]) != 0);
    assert_true(fabsf(late[2 * STEPS + 8]) < 1);
}

static struct rs_stragglers stragglers;
static struct rs_whatif whatif;
static struct rs_findings found;

static void judge(void)
{
    struct rs_one_offs one_offs = {0};
    struct rs_matrix network = {0};
    struct rs_compute compute = {0};
    rs_stragglers_find(&stragglers, &view);
    rs_whatif_init(&whatif, &view, &steps, &roles);
    rs_findings_init(&found, &(struct rs_findings_of){.view = &view,
                                                      .steps = &steps,
                                                      .stragglers = &stragglers,
                                                      .one_offs = &one_offs,
                                                      .network = &network,
                                                      .compute = &compute,
                                                      .roles = &roles,
                                                      .whatif = &whatif});
}

static int forget_findings(void **state)
{
    rs_findings_free(&found);
    rs_whatif_free(&whatif);
    rs_stragglers_free(&stragglers);
    return forget(state);
}

/* Both ranks of a host are late: neither of them stands out, their host does; a cure saves it once in each step. */
static void test_host(void **state)
{
    (void)state;
    play(host_and_noise);
    judge();
    const struct rs_finding *x = found.rows;
    assert_true(found.n >= 1 && x->named);
    assert_int_equal(x->kind, RS_PERSISTENT);
    assert_int_equal(x->scope, RS_SCOPE_HOST);
    assert_int_equal(x->host, 1);
    assert_int_equal(x->nranks, 2);
    assert_true(llabs(x->late_ns - 600 * US) < 5 * US);
    assert_true(llabs(x->saving_ns - STEPS * 600 * US) < 700 * US); /* the first step has no operation before it */
    for (uint32_t i = 1; i < found.n; i++) assert_false(found.rows[i].named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sums, forget),
        cmocka_unit_test_teardown(test_signs, forget),
        cmocka_unit_test_teardown(test_lost, forget),
        cmocka_unit_test_teardown(test_host, forget_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
