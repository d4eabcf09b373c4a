/* Comparing two sides of runs: intervals computed by hand, verdicts, findings, settings and causes; and the distribution
 * that intervals come from, against tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compare/comparison.h"
#include "compare/student.h"

static void close_to(double seen, double truth, double within)
{
    if (!(fabs(seen - truth) <= within)) fail_msg("%.9g instead of %.9g", seen, truth);
}

/* ---- Student's t ---- */

static void test_student(void **state)
{
    (void)state;
    /* Printed tables: both sides together. */
    close_to(rs_student_quantile(0.05, 4), 2.776445, 1e-6);
    close_to(rs_student_quantile(0.02, 4), 3.746947, 1e-6);
    close_to(rs_student_quantile(0.01, 1), 63.656741, 1e-5);
    close_to(rs_student_quantile(0.001, 10), 4.586894, 1e-6);
    close_to(rs_student_quantile(0.05, 0), 1.959964, 1e-6);
    close_to(rs_student_p(2.776445, 4), 0.05, 1e-7);
    /* df 1 is Cauchy, df 2 has a closed form: p = 1 - t / sqrt(2 + t * t). */
    close_to(rs_student_p(1, 1), 0.5, 1e-12);
    close_to(rs_student_p(3, 2), 1 - 3 / sqrt(11), 1e-12);
    close_to(rs_student_p(-3, 2), 1 - 3 / sqrt(11), 1e-12);
    close_to(rs_student_p(0, 7), 1, 0);
    close_to(rs_student_p(HUGE_VAL, 7), 0, 0);
}

/* ---- runs ---- */

enum { RUNS = 3 };
static struct rs_run_figures a[RUNS], b[RUNS];

static int clear(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        rs_run_figures_free(&a[i]);
        rs_run_figures_free(&b[i]);
        a[i].ranks = b[i].ranks = 4;
    }
    return 0;
}

static void put(struct rs_run_figures *run, enum rs_measure measure, const char *of, int32_t rank, double value,
                double error, double whole)
{
    rs_run_figure(run, &(struct rs_figure){.measure = measure,
                                           .of = (char *)(uintptr_t)of,
                                           .rank = rank,
                                           .value = value,
                                           .error = error,
                                           .whole = whole,
                                           .share = 1});
}

/* Of the three runs of a side: around the value, by shares that add up to 0 in logarithms. */
static void put_side(struct rs_run_figures *side, enum rs_measure measure, const char *of, int32_t rank, double value,
                     double apart)
{
    for (int i = 0; i < RUNS; i++) put(&side[i], measure, of, rank, value * exp(apart * (i - 1)), 0, value);
}

static void compare(struct rs_comparison *c, uint32_t n)
{
    rs_comparison_init(c, (struct rs_side){a, n}, (struct rs_side){b, n});
}

static bool says(const struct rs_comparison *c, const char *text)
{
    for (uint32_t i = 0; i < c->nconclusion; i++)
        if (strstr(c->conclusion[i], text)) return true;
    return false;
}

/* Logarithms -0.01, 0, 0.01 on both sides, 0.1 apart: variance 0.0001 with 4 degrees of freedom, standard error 0.01 *
 * sqrt(2 / 3), and t of 98 % is 3.746947. */
static void test_interval(void **state)
{
    struct rs_comparison c;
    (void)state;
    put_side(a, RS_M_STEP_P50, "", -1, 1e6, 0.01);
    put_side(b, RS_M_STEP_P50, "", -1, 1e6 * exp(0.1), 0.01);
    compare(&c, RUNS);
    const struct rs_compared *x = rs_comparison_row(&c, RS_M_STEP_P50, NULL, -1);
    double reach = 3.746947 * 0.01 * sqrt(2.0 / 3);
    assert_false(c.few);
    assert_int_equal(c.first, x - c.rows);
    close_to(x->a, 1e6, 1e-3);
    close_to(x->change, expm1(0.1), 1e-9);
    close_to(x->low, expm1(0.1 - reach), 1e-7);
    close_to(x->high, expm1(0.1 + reach), 1e-7);
    assert_int_equal(x->verdict, RS_SLOWER);
    assert_true(rs_comparison_regressed(&c, 0.10));
    assert_false(rs_comparison_regressed(&c, 0.11));
    assert_true(says(&c, "B is slower: step time, p50 1.0 ms in A, 1.1 ms in B, +10.5 %"));
    rs_comparison_free(&c);
}

/* Other rows are one family: two of them are judged at 2.5 % each, and t of that is 3.495406. What may be 0 is compared by
 * its difference. */
static void test_family(void **state)
{
    struct rs_comparison c;
    (void)state;
    put_side(a, RS_M_STEP_P50, "", -1, 1e6, 0.01);
    put_side(b, RS_M_STEP_P50, "", -1, 1e6, 0.01);
    put_side(a, RS_M_BUSBW, "x", -1, 50, 0.02);
    put_side(b, RS_M_BUSBW, "x", -1, 25, 0.02);
    for (int i = 0; i < RUNS; i++) {
        put(&a[i], RS_M_WAIT, "x", -1, 10 + i, 0, 200);
        put(&b[i], RS_M_WAIT, "x", -1, 12 + i, 0, 200);
        put(&a[i], RS_M_RANK_GPU, "", i, 1000, 0, 200); /* explains, is not judged */
    }
    compare(&c, RUNS);
    assert_int_equal(c.judged, 2);
    const struct rs_compared *x = rs_comparison_row(&c, RS_M_BUSBW, "x", -1);
    double reach = 3.495406 * 0.02 * sqrt(2.0 / 3);
    close_to(x->low, expm1(log(0.5) - reach), 1e-6);
    assert_int_equal(x->verdict, RS_SLOWER); /* less is worse */
    x = rs_comparison_row(&c, RS_M_WAIT, "x", -1);
    close_to(x->change, 2.0 / 200, 1e-12);
    close_to(x->low, (2 - 3.495406 * sqrt(2.0 / 3)) / 200, 1e-7);
    assert_int_equal(x->verdict, RS_NO_DIFFERENCE);
    assert_true(says(&c, "No difference beyond noise"));
    assert_false(rs_comparison_regressed(&c, 0));
    rs_comparison_free(&c);
}

/* One run each: 8 % from launch to launch is assumed, so 25 % are no difference, and 40 % are one. The error inside the run
 * adds to it. */
static void test_one_run(void **state)
{
    static const struct {
        double b, error;
        enum rs_compared_verdict verdict;
    } cases[] = {
        {1.25e6, 0, RS_NO_DIFFERENCE}, {1.4e6, 0, RS_SLOWER}, {0.7e6, 0, RS_FASTER}, {1.4e6, 2e5, RS_NO_DIFFERENCE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rs_comparison c;
        clear(state);
        put(&a[0], RS_M_STEP_P50, "", -1, 1e6, cases[i].error, 0);
        put(&b[0], RS_M_STEP_P50, "", -1, cases[i].b, cases[i].error, 0);
        put(&b[0], RS_M_KERNEL, "new", -1, 5, 0, 0);
        put(&a[0], RS_M_TIME, "unknown error", -1, 5, NAN, 5);
        put(&b[0], RS_M_TIME, "unknown error", -1, 50, NAN, 5);
        compare(&c, 1);
        assert_true(c.few);
        assert_int_equal(c.rows[c.first].verdict, cases[i].verdict);
        assert_int_equal(rs_comparison_row(&c, RS_M_KERNEL, "new", -1)->verdict, RS_NOT_JUDGED);
        assert_int_equal(rs_comparison_row(&c, RS_M_TIME, "unknown error", -1)->verdict, RS_NOT_JUDGED);
        rs_comparison_free(&c);
    }
}

/* ---- causes ---- */

static void put_ranks(struct rs_run_figures *side, int part, int late, double ns)
{
    static const enum rs_measure parts[] = {RS_M_RANK_GPU, RS_M_RANK_LAUNCH, RS_M_RANK_TRANSFER};
    for (int rank = 0; rank < 4; rank++)
        for (int k = 0; k < 3; k++)
            put_side(side, parts[k], "", rank, 500e3 + (k == part && (late < 0 || rank == late) ? ns : 0), 0.001);
}

static void test_causes(void **state)
{
    static const struct {
        int part, late;
        enum rs_cause_kind kind;
        const char *text;
    } cases[] = {{0, 2, RS_CAUSE_GPU, "the GPU of rank 2 takes 200 us longer per step"},
                 {1, 3, RS_CAUSE_LAUNCH, "rank 3 launches operations 200 us later per step"},
                 {0, -1, RS_CAUSE_GPU, "the GPUs of all ranks take 200 us longer per step"},
                 {2, -1, RS_CAUSE_TRANSFER, "transfers take 200 us longer per step"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rs_comparison c;
        clear(state);
        put_side(a, RS_M_STEP_P50, "", -1, 2e6, 0.005);
        put_side(b, RS_M_STEP_P50, "", -1, 2.2e6, 0.005);
        put_ranks(a, cases[i].part, cases[i].late, 0);
        put_ranks(b, cases[i].part, cases[i].late, 200e3);
        compare(&c, RUNS);
        assert_int_equal(c.ncauses, 1);
        assert_int_equal(c.causes[0].kind, cases[i].kind);
        assert_non_null(strstr(c.causes[0].text, cases[i].text));
        close_to(c.causes[0].ns, 200e3, 1e3);
        if (cases[i].late >= 0) assert_int_equal(c.causes[0].ranks[0], cases[i].late);
        rs_comparison_free(&c);
    }
}

/* ---- findings and settings ---- */

static void find(struct rs_run_figures *run, const char *name, double cost, double low)
{
    rs_run_finding(run, &(struct rs_run_finding){.kind = (char *)(uintptr_t) "persistent",
                                                 .scope = (char *)(uintptr_t) "rank",
                                                 .name = (char *)(uintptr_t)name,
                                                 .why = (char *)(uintptr_t) "launched late",
                                                 .rank = 1,
                                                 .late = 3e6,
                                                 .cost = cost,
                                                 .cost_low = low});
}

/* Step times that vary by 20 % hide a rank that is late in every run of B; its cost, against its equals, is known. */
static void test_findings(void **state)
{
    struct rs_comparison c;
    (void)state;
    put_side(a, RS_M_STEP_P50, "", -1, 1e6, 0.2);
    put_side(b, RS_M_STEP_P50, "", -1, 1.04e6, 0.2);
    for (int i = 0; i < RUNS; i++) find(&b[i], "rank 1", 0.1 + 0.01 * i, 0.09);
    find(&a[0], "rank 7", 0.5, 0.4);
    compare(&c, RUNS);
    assert_int_equal(c.nfindings, 2);
    assert_int_equal(c.findings[0].change, RS_FINDING_CAME);
    assert_int_equal(c.findings[1].change, RS_FINDING_VARIES);
    close_to(c.findings[0].cost, 0.11, 1e-12);
    assert_int_equal(c.rows[c.first].verdict, RS_NO_DIFFERENCE);
    assert_ptr_equal(rs_comparison_regression(&c, 0.05).finding, &c.findings[0]);
    assert_false(rs_comparison_regressed(&c, 0.12));
    assert_int_equal(c.causes[0].kind, RS_CAUSE_LAUNCH);
    assert_true(
        says(&c, "Rank 1 is late in 3 of 3 runs of B and 0 of 3 of A: that makes the runs of B longer by 11.0 %"));
    rs_comparison_free(&c);
    /* In two of three it is not certain. */
    rs_run_figures_free(&b[0]);
    put(&b[0], RS_M_STEP_P50, "", -1, 1.04e6 * exp(-0.2), 0, 0);
    compare(&c, RUNS);
    assert_int_equal(c.findings[0].change, RS_FINDING_CAME);
    assert_false(rs_comparison_regressed(&c, 0));
    rs_comparison_free(&c);
}

/* What the replay cannot tell: then the step time says how much, and the finding that it is no noise. */
static void test_unknown_cost(void **state)
{
    struct rs_comparison c;
    (void)state;
    put_side(a, RS_M_STEP_P50, "", -1, 1e6, 0.1);
    put_side(b, RS_M_STEP_P50, "", -1, 1.08e6, 0.1);
    for (int i = 0; i < RUNS; i++) find(&b[i], "rank 1", NAN, NAN);
    compare(&c, RUNS);
    assert_int_equal(c.rows[c.first].verdict, RS_NO_DIFFERENCE);
    assert_true(c.findings[0].certain && isnan(c.findings[0].cost));
    assert_true(rs_comparison_regressed(&c, 0.07));
    assert_false(rs_comparison_regressed(&c, 0.09));
    rs_comparison_free(&c);
}

static void test_settings(void **state)
{
    struct rs_comparison c;
    (void)state;
    put_side(a, RS_M_STEP_P50, "", -1, 1e6, 0.01);
    put_side(b, RS_M_STEP_P50, "", -1, 2e6, 0.01);
    put_side(a, RS_M_TRANSFER, "AllReduce, 8 MiB", -1, 1e5, 0.01);
    put_side(b, RS_M_TRANSFER, "AllReduce, 8 MiB", -1, 3e5, 0.01);
    for (int i = 0; i < RUNS; i++) {
        char own[2][16];
        rs_run_setting(&b[i], "NCCL_PROTO", "LL");
        rs_run_setting(&a[i], "CUDA_LAUNCH_BLOCKING", "1");
        rs_run_setting(&a[i], "protocol of AllReduce, 8 MiB", "SIMPLE");
        rs_run_setting(&a[i], "protocol of AllReduce, 8 MiB", "LL");
        rs_run_setting(&b[i], "protocol of AllReduce, 8 MiB", "LL");
        rs_run_setting(&b[i], "protocol of Broadcast, 8 B", "LL"); /* only B has it: not a difference of settings */
        rs_run_setting(&a[i], "NCCL_SAME", "1");
        rs_run_setting(&b[i], "NCCL_SAME", "1");
        snprintf(own[0], sizeof own[0], "a%d", i);
        snprintf(own[1], sizeof own[1], "b%d", i);
        rs_run_setting(&a[i], "NCCL_OF_EACH_RUN", own[0]);
        rs_run_setting(&b[i], "NCCL_OF_EACH_RUN", own[1]);
    }
    compare(&c, RUNS);
    assert_int_equal(c.nsettings, 3);
    assert_string_equal(c.settings[0].name, "NCCL_PROTO");
    assert_null(c.settings[0].a);
    assert_string_equal(c.settings[0].b, "LL");
    assert_string_equal(c.settings[0].explains, "AllReduce, 8 MiB: transfer +200 %");
    assert_string_equal(c.settings[1].name, "protocol of AllReduce, 8 MiB");
    assert_string_equal(c.settings[1].a, "LL,SIMPLE");
    assert_string_equal(c.settings[2].name, "CUDA_LAUNCH_BLOCKING");
    assert_null(c.settings[2].explains);
    rs_comparison_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),
        cmocka_unit_test_setup_teardown(test_interval, clear, clear),
        cmocka_unit_test_setup_teardown(test_family, clear, clear),
        cmocka_unit_test_setup_teardown(test_one_run, clear, clear),
        cmocka_unit_test_setup_teardown(test_causes, clear, clear),
        cmocka_unit_test_setup_teardown(test_findings, clear, clear),
        cmocka_unit_test_setup_teardown(test_unknown_cost, clear, clear),
        cmocka_unit_test_setup_teardown(test_settings, clear, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
