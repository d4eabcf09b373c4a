/* Rows of functions against figures worked out by hand; the exact quantiles. */
#include "joined.h"

#include <math.h>

#include "analyse/bandwidth.h"
#include "analyse/quantile.h"

static struct rs_view view;
static struct rs_bandwidth found;

static int forget(void **state)
{
    (void)state;
    rs_bandwidth_free(&found);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static void find(bool by_comm)
{
    rs_bandwidth_free(&found);
    rs_view_free(&view);
    look(&view);
    rs_bandwidth_find(&found, &view, by_comm);
    fine(RS_OK);
}

static void close_to(double a, double b)
{
    if (fabs(a - b) > 1e-9 * fabs(b)) fail_msg("%.12g is not %.12g", a, b);
}

/* 4 ranks, 8 MiB in 1 ms behind the last; ranks start 0, 1, 2, 3 ms after the first. */
static void test_one_row(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(7, 0, 1, 4);
    for (int i = 0; i < 10; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t + 1 * MS, t + 2 * MS, t + 3 * MS};
        add_coll(world, "AllReduce", 8 << 20, starts, 1 * MS);
    }
    find(false);
    assert_int_equal(found.nrows, 1);
    const struct rs_func_row *r = &found.rows[0];
    assert_int_equal(r->calls, 10);
    assert_int_equal(r->nranks, 4);
    assert_int_equal(r->comm, world);
    assert_int_equal(r->bytes, 8 << 20);
    assert_int_equal(r->timed, 40);
    assert_int_equal(r->p50_ns, 2 * MS); /* of 1, 2, 3, 4 ms, ten times each */
    assert_int_equal(r->p90_ns, 4 * MS);
    assert_int_equal(r->p99_ns, 4 * MS);
    assert_int_equal(r->total_ns, 100 * MS);
    assert_int_equal(r->waited, 40);
    assert_int_equal(r->wait_sum_ns, 10 * (3 + 2 + 1 + 0) * MS);
    assert_int_equal(r->transferred, 10);
    assert_int_equal(r->transfer_sum_ns, 10 * MS);
    close_to(r->algbw, 8.388608); /* GB/s */
    close_to(r->busbw, 8.388608 * 2 * 3 / 4);
    close_to(r->algbw_seen, 8.388608 * 4 / 10);
    close_to(r->busbw_seen, 8.388608 * 4 / 10 * 2 * 3 / 4);
}

/* Ranks that need not wait for the last leave before it comes: they have not waited for it. */
static void test_early_leavers(void **state)
{
    (void)state;
    static const struct {
        const char *func;
        int64_t starts[4], ends[4], waits; /* in ms; rank 0 is the root */
    } cases[] = {
        {"Broadcast", {0, 1, 2, 5}, {3, 3, 6, 6}, 3}, /* rank 2 left behind the last: told to have waited for it */
        {"Broadcast", {4, 1, 2, 6}, {5, 5, 7, 7}, 3 + 4}, /* rank 1 waited for the root */
        {"Reduce", {0, 1, 2, 5}, {6, 2, 3, 6}, 5}, /* the root alone waits */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_job(1, 4, 1 * US);
        uint32_t world = make_comm(7, 0, 1, 4), op = new_op(world, RS_OP_COLL, cases[i].func, 8 << 20), k = 0;
        model.ops.root[op] = 0;
        for (uint32_t x = model.comms[world].first_member; x != RS_NONE; x = model.members[x].next, k++)
            add_part(op, x, RS_PART_COLL, cases[i].starts[k] * MS, cases[i].ends[k] * MS);
        find(false);
        assert_int_equal(found.nrows, 1);
        assert_int_equal(found.rows[0].waited, 4);
        assert_int_equal(found.rows[0].wait_sum_ns, cases[i].waits * MS);
        forget(NULL);
        found = (struct rs_bandwidth){0};
        view = (struct rs_view){0};
    }
}

/* Communicators of one shape are one row, unless asked for by communicator. */
static void test_classes(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t a = make_comm(1, 0, 1, 2), b = make_comm(2, 2, 1, 2);
    for (int i = 0; i < 6; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t};
        add_coll(i % 3 ? a : b, "AllReduce", 1 << 20, starts, 1 * MS);
        add_coll(a, "AllGather", 1 << 20, starts, 5 * MS);
    }
    find(false);
    assert_int_equal(found.nrows, 2);
    assert_string_equal(rs_model_text(&model, found.rows[0].func), "AllGather"); /* the most time first */
    assert_int_equal(found.rows[0].comm, a);
    assert_int_equal(found.rows[1].comm, RS_NONE);
    assert_int_equal(found.rows[1].calls, 6);
    for (uint32_t i = 0; i < model.ops.n; i++) assert_int_equal(found.row_of[i], i % 2 ? 0 : 1);
    find(true);
    assert_int_equal(found.nrows, 3);
}

/* Unknown ends: no time and no transfer, but calls and waits. */
static void test_unknown_ends(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), op = new_op(world, RS_OP_COLL, "AllReduce", 64);
    add_part(op, 0, RS_PART_COLL, 1 * MS, RS_TIME_NONE);
    add_part(op, 1, RS_PART_COLL, 3 * MS, RS_TIME_NONE);
    find(false);
    assert_int_equal(found.rows[0].calls, 1);
    assert_int_equal(found.rows[0].timed, 0);
    assert_int_equal(found.rows[0].transferred, 0);
    assert_int_equal(found.rows[0].wait_sum_ns, 2 * MS);
    assert_true(isnan(found.rows[0].algbw) && isnan(found.rows[0].busbw_seen));
}

/* A thousand sizes are taken together by powers of two. */
static void test_many_sizes(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    for (int i = 0; i < 1000; i++) {
        int64_t t = i * MS, starts[] = {t, t};
        add_coll(world, "AlltoAll", 1000 + (uint64_t)i, starts, 100 * US);
    }
    find(false);
    assert_int_equal(found.nrows, 2); /* 1000 to 1023, 1024 to 1999 */
    assert_int_equal(found.rows[0].calls, 976);
    assert_int_equal(found.rows[0].bytes_min, 1024);
    assert_int_equal(found.rows[0].bytes_max, 1999);
    assert_int_equal(found.rows[1].bytes, 1011);
}

static void test_quantiles(void **state)
{
    (void)state;
    int64_t v[1000], w[1000];
    uint64_t x = 88172645463325252;
    for (int i = 0; i < 1000; i++) v[i] = (i * 7919) % 1000; /* 0 to 999, shuffled */
    memcpy(w, v, sizeof w);
    assert_int_equal(rs_quantile(w, 1000, 0.5), 499);
    assert_int_equal(rs_quantile(w, 1000, 0.9), 899);
    assert_int_equal(rs_quantile(w, 1000, 0.99), 989);
    assert_int_equal(rs_quantile(w, 1000, 0), 0);
    assert_int_equal(rs_quantile(w, 1000, 1), 999);
    assert_int_equal(rs_quantile(w, 0, 0.5), 0);
    for (int i = 0; i < 1000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        w[i] = (int64_t)(x % 3) - 1; /* many equal ones, some below 0 */
    }
    int64_t below = 0;
    for (int i = 0; i < 1000; i++) below += w[i] < 0;
    assert_int_equal(rs_quantile(w, 1000, (double)below / 1000), -1);
    assert_int_equal(rs_quantile(w, 1000, (double)(below + 1) / 1000), 0);
    int64_t few[] = {1, 2, 3, 4, 100};
    assert_int_equal(rs_median(few, 5), 3);
    assert_int_equal(rs_mad(few, 5, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_one_row, forget),    cmocka_unit_test(test_early_leavers),
        cmocka_unit_test_teardown(test_classes, forget),    cmocka_unit_test_teardown(test_unknown_ends, forget),
        cmocka_unit_test_teardown(test_many_sizes, forget), cmocka_unit_test(test_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
