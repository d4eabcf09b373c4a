/* Launch gaps, host calls, waits behind each block, annotations and steps, on models made by hand. */
#include "profiled.h"

#include <math.h>

static void make_one(void)
{
    make_job(1, 1, 0);
    make_lanes(1);
}

static void tear_down(struct rs_profile *p)
{
    rs_profile_free(p);
    rs_model_free(&model);
}

static void test_gaps(void **state)
{
    (void)state;
    struct rs_profile p;
    make_one();
    launched(0, "a", 0, 5 * US, 10 * US);
    launched(0, "b", 12 * US, 15 * US, 20 * US); /* launched into an idle GPU: 5 us */
    launched(0, "c", 13 * US, 21 * US, 40 * US); /* 1 us: between any two kernels */
    launched(0, "d", 14 * US, 70 * US, 80 * US); /* 30 us: launched long ago */
    launched(0, "e", 600 * US, 604 * US, 610 * US); /* 524 us: the host did something else */
    profile(&p, NULL);
    const struct rs_launches *l = &p.rows[0].launches;
    assert_int_equal(l->kernels, 5);
    assert_int_equal(l->launched, 5);
    assert_int_equal(l->median_kernel_ns, 6 * US); /* 5 5 6 10 19 */
    assert_int_equal(l->launch_gaps, 1);
    assert_int_equal(l->launch_gap_ns, 5 * US);
    assert_int_equal(l->other_gaps, 1);
    assert_int_equal(l->other_gap_ns, 30 * US);
    assert_int_equal(l->host_gaps, 1);
    assert_int_equal(l->host_gap_ns, 524 * US);
    assert_true(isnan(l->kernels_a_step));
    assert_int_equal(l->synchronised, RS_SYNC_UNKNOWN);
    assert_null(strstr(p.conclusion[0], "its host launches nothing")); /* once is no pattern */
    tear_down(&p);
}

/* The host does something else for 500 us, six times; or for a long time once, and five times for a moment. */
static void test_host_gaps(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        struct rs_profile p;
        make_one();
        int64_t t = 0;
        for (int i = 0; i < 7; i++) {
            launched(0, "a", t, t + 5 * US, t + (once ? 1000 : 100) * US);
            t += once ? i == 3 ? 9000 * US : 1102 * US : 600 * US;
        }
        profile(&p, NULL);
        const struct rs_launches *l = &p.rows[0].launches;
        assert_int_equal(l->host_gaps, 6);
        assert_int_equal(l->longest_host_gap_ns, once ? 8005 * US : 505 * US);
        bool said = false;
        for (size_t i = 0; i < p.nconclusion; i++) said |= strstr(p.conclusion[i], "its host launches nothing") != NULL;
        assert_int_equal(said, !once);
        tear_down(&p);
    }
}

static void test_calls(void **state)
{
    (void)state;
    struct rs_profile p;
    make_one();
    launched(0, "a", 0, 5 * US, 10 * US);
    act(threads[0], RS_ACT_SYNC, "cudaStreamSynchronize", 10 * US, 14 * US);
    act(threads[0], RS_ACT_MEMORY, "cudaMalloc", 20 * US, 120 * US);
    act(threads[0], RS_ACT_SYNC, "cudaStreamSynchronize", 130 * US, 139 * US);
    act(threads[0], RS_ACT_CALL, "cudaEventRecord", 140 * US, 141 * US);
    profile(&p, NULL);
    const struct rs_launches *l = &p.rows[0].launches;
    assert_int_equal(l->ncalls, 2);
    assert_string_equal(rs_model_name_text(&model, l->calls[0].name), "cudaMalloc");
    assert_int_equal(l->calls[0].total_ns, 100 * US);
    assert_int_equal(l->calls[1].calls, 2);
    assert_int_equal(l->calls[1].total_ns, 13 * US);
    assert_int_equal(l->calls[1].longest_ns, 9 * US);
    assert_int_equal(l->calls_ns, 113 * US);
    tear_down(&p);
}

/* `n` blocks of an annotation with two kernels, each 100 us after the last; every `sync`-th is waited for. */
static void make_blocks(int n, int sync, bool each_kernel)
{
    make_one();
    for (int i = 0; i < n; i++) {
        int64_t at = i * 100 * US;
        launched(0, "a", at + 5 * US, at + 10 * US, at + 20 * US);
        if (each_kernel) act(threads[0], RS_ACT_SYNC, "cudaDeviceSynchronize", at + 8 * US, at + 21 * US);
        launched(0, "b", at + 25 * US, at + 30 * US, at + 50 * US);
        act(threads[0], RS_ACT_RANGE, "block", at, at + 40 * US);
        if (i % sync == 0)
            act(threads[0], RS_ACT_SYNC, "cudaDeviceSynchronize", at + 41 * US, at + 51 * US);
        else
            act(threads[0], RS_ACT_SYNC, "cudaEventSynchronize", at + 41 * US, at + 43 * US); /* of older work */
    }
}

static void test_blocks(void **state)
{
    (void)state;
    static const struct {
        int n, sync;
        bool each;
        enum rs_synchronised truth;
    } cases[] = {{10, 1, false, RS_SYNC_RANGES},
                 {10, 1, true, RS_SYNC_KERNELS},
                 {10, 2, false, RS_SYNC_FREE},
                 {3, 1, false, RS_SYNC_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rs_profile p;
        make_blocks(cases[i].n, cases[i].sync, cases[i].each);
        profile(&p, NULL);
        assert_int_equal(p.rows[0].launches.synchronised, cases[i].truth);
        bool said = strstr(p.conclusion[0], "synchronisation after each") != NULL;
        assert_int_equal(said, cases[i].truth >= RS_SYNC_RANGES);
        tear_down(&p);
    }
}

/* Two steps of 100 us with an annotation of 20 and 40 us; one more annotation lies outside of them. */
static void test_ranges(void **state)
{
    (void)state;
    struct rs_profile p;
    make_one();
    act(threads[0], RS_ACT_STEP, "ProfilerStep#1", 100 * US, 200 * US);
    act(threads[0], RS_ACT_STEP, "ProfilerStep#2", 200 * US, 300 * US);
    act(threads[0], RS_ACT_RANGE, "forward", 10 * US, 40 * US);
    act(threads[0], RS_ACT_RANGE, "forward", 110 * US, 130 * US);
    act(threads[0], RS_ACT_RANGE, "forward", 210 * US, 250 * US);
    act(threads[0], RS_ACT_RANGE, "optimizer", 260 * US, 265 * US);
    launched(0, "a", 115 * US, 140 * US, 150 * US); /* runs after it, and was launched in it */
    launched(0, "b", 215 * US, 220 * US, 226 * US);
    launched(0, "c", 220 * US, 226 * US, 240 * US);
    launched(0, "d", 255 * US, 256 * US, 257 * US); /* in none */
    act(streams[0], RS_ACT_COMPUTE, "e", 262 * US, 265 * US); /* by its start: the optimizer's */
    profile(&p, NULL);
    const struct rs_profile_row *row = &p.rows[0];
    assert_int_equal(row->steps.n, 2);
    assert_int_equal(row->steps.marked, row->steps.n);
    assert_int_equal(row->step_ns.p50, 100 * US);
    assert_true(fabs(row->launches.kernels_a_step - 2.5) < 1e-9);
    assert_int_equal(row->ranges.n, 2);
    const struct rs_range_row *x = &row->ranges.rows[0];
    assert_string_equal(rs_model_name_text(&model, x->name), "forward");
    assert_int_equal(x->calls, 3);
    assert_int_equal(x->wall_ns, 90 * US);
    assert_int_equal(x->wall.p50, 30 * US);
    assert_int_equal(x->wall.p99, 40 * US);
    assert_true(fabs(x->share - 0.3) < 1e-9);
    assert_int_equal(x->gpu_ns, 30 * US);
    assert_int_equal(x->gpu.p50, 10 * US);
    assert_int_equal(x->gpu.p99, 20 * US);
    assert_int_equal(row->ranges.rows[1].gpu_ns, 3 * US);
    assert_int_equal(rs_markers_of(&row->steps, 200 * US), 1);
    assert_int_equal(rs_markers_of(&row->steps, 300 * US), RS_NONE);
    assert_int_equal(rs_markers_of(&row->steps, 99 * US), RS_NONE);
    tear_down(&p);
}

/* Short kernels, each launched into an idle GPU. */
static void test_launch_bound(void **state)
{
    (void)state;
    struct rs_profile p;
    make_one();
    for (int i = 0; i < 100; i++) launched(0, "tiny", i * 10 * US, i * 10 * US + 4 * US, i * 10 * US + 6 * US);
    profile(&p, NULL);
    assert_non_null(strstr(p.conclusion[0], "Launch-bound: for 80 % of the time"));
    assert_non_null(strstr(p.conclusion[0], "kernels of 2.0 us"));
    tear_down(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps),   cmocka_unit_test(test_host_gaps),
                                       cmocka_unit_test(test_calls),  cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_ranges), cmocka_unit_test(test_launch_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
