/* How much longer than its equals a rank takes, against values computed by hand. */
#include "joined.h"

#include "conclude/excess.h"

enum { STEPS = 6 };

static struct rs_view view;
static struct rs_graph graph;
static struct rs_excess excess;
static struct rs_step rows[STEPS];

static int forget(void **state)
{
    (void)state;
    rs_excess_free(&excess);
    rs_graph_free(&graph);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

/* Five ranks, two all-reduces and an all-gather per step. Gaps before the second: 1, 2, 3 and 4 ms, and 10 ms + step on rank
 * 4; before the others all the same. */
static void make_run(void)
{
    make_job(1, 5, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 5);
    int64_t t = 0;
    for (int s = 0; s < STEPS; s++) {
        rows[s] = (struct rs_step){.from = t, .to = t + 100 * MS};
        int64_t first[5], second[5], third[5], end = t + 11 * MS + s * MS + 1 * MS;
        for (int r = 0; r < 5; r++) {
            first[r] = t;
            second[r] = t + 1 * MS + (r == 4 ? 10 + s : r + 1) * MS;
            third[r] = end + 5 * MS;
        }
        add_coll(world, "AllReduce", 1 << 20, first, 1 * MS);
        add_coll(world, "AllReduce", 1 << 20, second, 1 * MS);
        add_coll(world, "AllGather", 1 << 20, third, 1 * MS);
        t += 100 * MS;
    }
}

static uint32_t node(uint32_t rank_id, uint32_t op)
{
    for (uint32_t i = 0; i < graph.nnodes; i++)
        if (graph.nodes[i].rank_id == rank_id && graph.ops[graph.nodes[i].op].op == op) return i;
    fail_msg("rank %u has no node in operation %u", rank_id, op);
    return RS_NONE;
}

static void find(const struct rs_roles *roles)
{
    const struct rs_steps steps = {.rows = rows, .n = STEPS};
    look(&view);
    rs_graph_init(&graph, &view, &steps, NULL);
    rs_excess_init(&excess, &graph, roles);
}

static void test_equals(void **state)
{
    (void)state;
    static const bool two[5] = {false, false, false, true, true};
    make_run();
    find(NULL);
    for (uint32_t s = 0; s < STEPS; s++) {
        uint32_t op = 3 * s + 1;
        assert_int_equal(rs_excess_of(&excess, node(4, op), NULL), (10 + s) * MS - 2500 * US); /* of 1, 2, 3, 4 */
        assert_int_equal(rs_excess_of(&excess, node(0, op), NULL), 1 * MS - 3500 * US); /* of 2, 3, 4, 10 */
        assert_int_equal(rs_excess_of(&excess, node(2, op), NULL), 0); /* of 1, 2, 4, 10 */
        assert_int_equal(rs_excess_of(&excess, node(4, op), two), (10 + s) * MS - 2 * MS); /* of 1, 2, 3 */
        assert_int_equal(rs_excess_of(&excess, node(0, op), two), 1 * MS - 2500 * US); /* of 2, 3 */
        assert_int_equal(rs_excess_of(&excess, node(3, op + 1), NULL), 0);
    }
    /* Each rank has a series for each operation, and one for the very first, which has no predecessor. */
    assert_int_equal(excess.nseries, 5 * 4);
    for (uint32_t r = 0; r < 5; r++) assert_int_equal(excess.series_of[r], 4 * r);
    for (uint32_t k = 0; k < excess.nseries; k++) {
        uint32_t n = excess.begin[k + 1] - excess.begin[k], first = excess.series[excess.begin[k]];
        assert_int_equal(n, k % 4 == 0 ? 1 : k % 4 == 3 ? STEPS - 1 : STEPS);
        for (uint32_t i = 0; i < n; i++) {
            const struct rs_node *x = &graph.nodes[excess.series[excess.begin[k] + i]];
            assert_int_equal(x->rank_id, k / 4);
            assert_int_equal(x->signature, graph.nodes[first].signature);
            assert_int_equal(x->step, graph.nodes[first].step + i);
        }
    }
}

/* Ranks 3 and 4 do other work than 0 to 2; rank 2 does none that is known. */
static void test_roles(void **state)
{
    (void)state;
    uint32_t of[] = {0, 0, RS_NONE, 1, 1}, size[] = {2, 2};
    const struct rs_roles roles = {.of = of, .n = 2, .size = size};
    static const bool last[5] = {false, false, false, false, true};
    make_run();
    find(&roles);
    assert_int_equal(rs_excess_of(&excess, node(4, 1), NULL), 6 * MS);
    assert_int_equal(rs_excess_of(&excess, node(3, 1), NULL), -6 * MS);
    assert_int_equal(rs_excess_of(&excess, node(0, 1), NULL), -1 * MS);
    assert_int_equal(rs_excess_of(&excess, node(2, 1), NULL), RS_TIME_NONE);
    assert_int_equal(rs_excess_of(&excess, node(3, 1), last), RS_TIME_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_equals, forget),
        cmocka_unit_test_teardown(test_roles, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
