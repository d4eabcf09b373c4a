/* Change points of series, windows of a run, and the whole report of a run with a straggler that comes later. */
#include "joined.h"

#include "analyse/changes.h"
#include "conclude/report.h"

static void expect_points(const int64_t *values, uint32_t n, const uint32_t *want, uint32_t nwant)
{
    uint32_t points[8], found;
    rs_change_points(values, n, points, 8, &found);
    fine(RS_OK);
    assert_int_equal(found, nwant);
    for (uint32_t i = 0; i < nwant; i++) assert_int_equal(points[i], want[i]);
}

static void test_change_points(void **state)
{
    (void)state;
    int64_t v[100];
    for (int i = 0; i < 100; i++) v[i] = 1000 + i * 7919 % 21; /* 1000 to 1020 */
    expect_points(v, 100, NULL, 0);
    v[30] = v[31] = 5000; /* outliers are no change */
    expect_points(v, 100, NULL, 0);
    for (int i = 40; i < 100; i++) v[i] += 300;
    expect_points(v, 100, (uint32_t[]){40}, 1);
    for (int i = 70; i < 100; i++) v[i] -= 290;
    expect_points(v, 100, (uint32_t[]){40, 70}, 2);
    for (int i = 0; i < 100; i++) v[i] = i < 50 ? 1000 : 1040; /* 4 % is not enough */
    expect_points(v, 100, NULL, 0);
    for (int i = 0; i < 100; i++) v[i] = i < 50 ? 1000 : 1060;
    expect_points(v, 100, (uint32_t[]){50}, 1);
    expect_points(v + 48, 4, NULL, 0); /* too short to tell */
    for (int i = 0; i < 100; i++) v[i] = 1000 + i * 7919 % 401 + (i < 50 ? 0 : 200); /* lost in the noise */
    expect_points(v, 100, NULL, 0);
}

/* 60 steps of one operation, every 10 ms; rank 2 is 1 ms late in each from step 40 on. */
static void play(void)
{
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    int64_t t = 1000 * MS;
    for (int s = 0; s < 60; s++) {
        t += 10 * MS;
        int64_t starts[] = {t, t + s % 7 * US, t + 10 * US + (s >= 40 ? 1 * MS : 0), t + 20 * US};
        add_coll(world, "AllReduce", 1 << 24, starts, 2 * MS);
    }
}

static void test_report(void **state)
{
    (void)state;
    static const struct {
        int64_t every_ns;
        uint32_t every_steps, rows;
    } ways[] = {{0, 1, 60}, {0, 5, 12}, {50 * MS, 0, 12}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        play();
        rs_waits_find(&model);
        fine(RS_OK);
        struct rs_report r;
        struct rs_report_options options = {
            .filter = &everything, .network = true, .every_ns = ways[i].every_ns, .every_steps = ways[i].every_steps};
        fine(rs_report_init(&r, &model, &options, NULL));
        assert_int_equal(r.steps.n, 60);
        assert_int_equal(r.course.nrows, ways[i].rows);
        const struct rs_course_row *last = &r.course.rows[ways[i].rows - 1];
        assert_int_equal(r.view.model->ranks[last->worst].number, 2);
        assert_true(last->p50_ns >= 2990 * US && last->p50_ns <= 3010 * US);
        assert_true(last->wait_share > 0.2 && last->wait_share < 0.3); /* 3 of 4 ranks wait 1 of 3 ms */
        assert_int_equal(r.course.nchanges, 1);
        const struct rs_change *c = &r.course.changes[0];
        assert_int_equal(rs_steps_of(&r.steps, c->at_ns + 12 * MS) / 5, 8);
        assert_true(c->before_ns <= 2020 * US && c->after_ns >= 2990 * US);
        assert_int_equal(r.view.model->ranks[c->rank_id].number, 2);
        assert_non_null(strstr(c->text, "AllReduce of 16 MiB takes 4"));
        assert_int_equal(r.basis.totals.ops, 60);
        assert_int_equal(r.basis.totals.compared, 60);
        assert_int_equal(r.basis.unseen, 0);
        assert_int_equal(r.stragglers.rows[0].cost_ns, 20 * (1 * MS - 10 * US));
        /* Late in a third of the steps: a change, not persistent. */
        assert_int_equal(r.findings.compared, 4);
        for (uint32_t k = 0; k < r.findings.n; k++) assert_false(r.findings.rows[k].named);
        assert_non_null(strstr(r.conclusion[0], "stands out"));
        bool changed = false;
        for (uint32_t k = 0; k < r.nconclusion; k++)
            changed |= strstr(r.conclusion[k], "AllReduce of 16 MiB takes 4") != NULL;
        assert_true(changed);
        rs_report_free(&r);
        rs_model_free(&model);
    }
}

static void test_warmup(void **state)
{
    (void)state;
    play();
    rs_waits_find(&model);
    fine(RS_OK);
    struct rs_report r;
    struct rs_report_options options = {.filter = &everything, .warmup = 50};
    fine(rs_report_init(&r, &model, &options, NULL));
    assert_int_equal(r.steps.warmup, 50);
    assert_int_equal(r.basis.totals.ops, 10);
    assert_int_equal(r.bandwidth.rows[0].calls, 10);
    assert_int_equal(r.stragglers.rows[0].cost_ns, 10 * (1 * MS - 10 * US));
    rs_report_free(&r);
    options.warmup = 1000; /* nothing is left */
    fine(rs_report_init(&r, &model, &options, NULL));
    assert_int_equal(r.basis.totals.ops, 0);
    assert_int_equal(r.nconclusion, 1);
    rs_report_free(&r);
    rs_model_free(&model);
}

/* Nobody is named below the clock error. */
static void test_nobody(void **state)
{
    (void)state;
    make_job(2, 2, 6 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    for (int s = 0; s < 60; s++) {
        int64_t t = s * 10 * MS, starts[] = {t, t, t + 11 * US, t};
        add_coll(world, "AllReduce", 1 << 24, starts, 2 * MS);
    }
    rs_waits_find(&model);
    fine(RS_OK);
    struct rs_report r;
    struct rs_report_options options = {.filter = &everything};
    fine(rs_report_init(&r, &model, &options, NULL));
    assert_int_equal(r.stragglers.nrows, 0);
    assert_non_null(strstr(r.conclusion[0], "stands out: a persistent delay of "));
    rs_report_free(&r);
    rs_model_free(&model);
}

/* Ends that are reported too early (of tree all-reduces) are no times, of the run as of its windows. */
static void test_early_ends(void **state)
{
    (void)state;
    play();
    for (uint32_t i = 0; i < model.parts.n / 2; i++) model.parts.flags[i] |= RS_PART_END_EARLY;
    rs_waits_find(&model);
    fine(RS_OK);
    struct rs_report r;
    struct rs_report_options options = {.filter = &everything, .every_ns = 1000 * MS};
    fine(rs_report_init(&r, &model, &options, NULL));
    assert_int_equal(r.course.nrows, 1);
    assert_int_equal(r.bandwidth.rows[0].timed, 120);
    assert_int_equal(r.course.rows[0].timed, 120);
    rs_report_free(&r);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_points), cmocka_unit_test(test_report),     cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_nobody),        cmocka_unit_test(test_early_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
