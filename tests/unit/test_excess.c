/* How much longer than its equals a rank takes in each step: sums over its operations, against times made by hand. */
#include "joined.h"

#include <math.h>

#include "conclude/excess.h"
#include "conclude/findings.h"

enum { RANKS = 4, STEPS = 12, OPS = 3 };

static struct rs_view view;
static struct rs_steps steps;
static struct rs_roles roles;
static struct rs_graph graph;
static struct rs_excess excess;
static float late[RANKS * STEPS];

/* Every step has three operations of 1 ms, of different sizes, and before them a rank takes 3, 1 and 2 ms, plus what `more`
 * says for it, the step and the operation. All ranks end together. */
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
                starts[r] = end + gaps[k] + more(r, s, k);
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

/* Both ranks of a host are late: neither of them stands out, their host does; a cure saves it once in each step. */
static void test_host(void **state)
{
    (void)state;
    play(host_and_noise);
    struct rs_stragglers stragglers;
    struct rs_one_offs one_offs = {0};
    struct rs_matrix network = {0};
    struct rs_compute compute = {0};
    struct rs_whatif whatif;
    struct rs_findings f;
    rs_stragglers_find(&stragglers, &view);
    rs_whatif_init(&whatif, &view, &steps, &roles);
    rs_findings_init(&f, &(struct rs_findings_of){.view = &view,
                                                  .steps = &steps,
                                                  .stragglers = &stragglers,
                                                  .one_offs = &one_offs,
                                                  .network = &network,
                                                  .compute = &compute,
                                                  .roles = &roles,
                                                  .whatif = &whatif});
    assert_true(f.n >= 1 && f.rows[0].named);
    assert_int_equal(f.rows[0].kind, RS_PERSISTENT);
    assert_int_equal(f.rows[0].scope, RS_SCOPE_HOST);
    assert_int_equal(f.rows[0].host, 1);
    assert_int_equal(f.rows[0].nranks, 2);
    assert_true(llabs(f.rows[0].late_ns - 600 * US) < 5 * US);
    assert_true(llabs(f.rows[0].saving_ns - STEPS * 600 * US) <
                700 * US); /* the first step has no operation before it */
    for (uint32_t i = 1; i < f.n; i++) assert_false(f.rows[i].named);
    rs_findings_free(&f);
    rs_whatif_free(&whatif);
    rs_stragglers_free(&stragglers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sums, forget),
        cmocka_unit_test_teardown(test_signs, forget),
        cmocka_unit_test_teardown(test_host, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
