/* What lateness costs if it is one delay a step: the largest lead of each step only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/per_step_cost.h"

enum { OPS = 7 };

static struct rs_model m;
static uint32_t ops[OPS], who[OPS];
static float cost[OPS];
static struct rs_straggler rows[3];
static struct rs_stragglers s;
static struct rs_view view;

/* Operations 10 ns apart; those of ranks 0 and 1. Row 2 is a host. */
static int set_up(void **state)
{
    (void)state;
    static const uint32_t last[OPS] = {0, 0, 0, 1, 0, 0, RS_NONE};
    static const float lead[OPS] = {5, 3, 4, 9, 6, 2, 0};
    for (uint32_t i = 0; i < OPS; i++) {
        rs_model_op(&m, &ops[i]);
        m.ops.first[i] = m.ops.last[i] = 100 + 10 * (int64_t)i;
        who[i] = last[i];
        cost[i] = lead[i];
    }
    rows[0] = (struct rs_straggler){.rank_id = 0, .cost_ns = 20};
    rows[1] = (struct rs_straggler){.rank_id = 1, .cost_ns = 9};
    rows[2] = (struct rs_straggler){.rank_id = RS_NONE, .cost_ns = 20};
    s = (struct rs_stragglers){.rows = rows, .nrows = 3, .who = who, .cost = cost};
    for (uint32_t i = 0, row; i < 2; i++) rs_model_rank(&m, &row);
    view = (struct rs_view){.model = &m, .ops = ops, .nops = OPS};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rs_model_free(&m);
    return 0;
}

static void test_steps(void **state)
{
    (void)state;
    struct rs_step rows_of[] = {
        {.from = 110, .to = 140},
        {.from = 140, .to = 160}}; /* operation 0 is before the first step; 1 to 3, and 4, 5, are in one each */
    const struct rs_steps steps = {.rows = rows_of, .n = 2};
    rs_per_step_cost_find(&s, &view, &steps);
    assert_int_equal(rows[0].once_ns, 5 + 4 + 6);
    assert_int_equal(rows[1].once_ns, 9);
    assert_int_equal(rows[2].once_ns, RS_TIME_NONE);
}

static void test_no_steps(void **state)
{
    (void)state;
    const struct rs_steps none = {0};
    rows[0].once_ns = 1;
    rs_per_step_cost_find(&s, &view, &none);
    assert_int_equal(rows[0].once_ns, RS_TIME_NONE);
}

static void test_never_more(void **state)
{
    (void)state;
    struct rs_step all = {.from = 0, .to = 1000};
    const struct rs_steps steps = {.rows = &all, .n = 1};
    rows[0].cost_ns = 5; /* floats may add up to more than the whole */
    rs_per_step_cost_find(&s, &view, &steps);
    assert_int_equal(rows[0].once_ns, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_steps), TEST(test_no_steps), TEST(test_never_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
