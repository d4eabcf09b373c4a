/* Pipelines whose period, stages and score are known, from times, from names and between receives. */
#include "profiled.h"

#include <math.h>

static struct rs_stage_time times[4096];
static uint32_t ntimes;

static void put(int rank, int64_t chunk, uint32_t stage, int64_t start, int64_t ns)
{
    times[ntimes++] =
        (struct rs_stage_time){.rank = rank, .stage = stage, .chunk = chunk, .start = start, .end = start + ns};
}

/* Chunks every `period`, stages one behind the other. */
static void make_times(int chunks, int64_t period, const int64_t *stage, uint32_t nstages)
{
    ntimes = 0;
    for (int k = 0; k < chunks; k++) {
        int64_t at = 1000 + k * period;
        for (uint32_t s = 0; s < nstages; s++) {
            put(0, k, s, at, k ? stage[s] : 17 * stage[s]); /* the first is slow */
            at += stage[s];
        }
    }
}

static struct rs_pipeline find(uint32_t nstages, uint32_t warmup)
{
    struct rs_pipeline p;
    rs_pipeline_find(&p, times, ntimes, &(struct rs_pipeline_options){.nstages = nstages, .warmup = warmup});
    rs_pipeline_free(&p); /* its numbers stay */
    return p;
}

static void test_two(void **state)
{
    (void)state;
    static const struct {
        int64_t period, hidden, bubble;
        double score;
        enum rs_pipeline_verdict verdict;
    } cases[] = {{100, 60, 0, 1, RS_PIPELINED},  {160, 0, 0, 0, RS_SERIALISED}, {130, 30, 0, 0.5, RS_PIPELINE_PARTLY},
                 {200, 0, 40, 0, RS_SERIALISED}, {90, 70, 0, 1, RS_PIPELINED},  {104, 56, 0, 56.0 / 60, RS_PIPELINED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_times(11, cases[i].period, (const int64_t[]){100, 60}, 2);
        struct rs_pipeline p = find(2, 1);
        assert_int_equal(p.chunks, 11);
        assert_int_equal(p.warmup, 1);
        assert_int_equal(p.periods, 9);
        assert_int_equal(p.period.p50, cases[i].period);
        assert_int_equal(p.stages[0].p99, 100);
        assert_int_equal(p.stages[1].p50, 60);
        assert_int_equal(p.hidden_ns, cases[i].hidden);
        assert_int_equal(p.bubble_ns, cases[i].bubble);
        assert_true(fabs(p.score - cases[i].score) < 1e-9);
        assert_true(fabs(p.score_p50 - cases[i].score) < 1e-5);
        assert_int_equal(p.verdict, cases[i].verdict);
    }
}

/* Three stages of 50, 30, 20: sum 100, longest 50, P = 70: (100 - 70) / (100 - 50). */
static void test_three(void **state)
{
    (void)state;
    make_times(6, 70, (const int64_t[]){50, 30, 20}, 3);
    struct rs_pipeline p = find(3, 1);
    assert_true(fabs(p.score - 0.6) < 1e-9);
    assert_int_equal(p.hidden_ns, 30);
    assert_int_equal(p.verdict, RS_PIPELINE_PARTLY);
    assert_int_equal(find(3, 0).stages[0].p99, 850); /* with the first */
}

static void test_quantiles(void **state)
{
    (void)state;
    ntimes = 0;
    for (int k = 0; k < 101; k++) { /* stage 0: 1..100 ns after the warm-up; a period of 1000 */
        put(0, k, 0, k * 1000, k ? k : 1000);
        put(0, k, 1, k * 1000 + 500, 10);
    }
    struct rs_pipeline p = find(2, 1);
    assert_int_equal(p.stages[0].p50, 50);
    assert_int_equal(p.stages[0].p90, 90);
    assert_int_equal(p.stages[0].p99, 99);
}

/* A chunk that is missing makes no period of twice the length; one without a stage takes no part in it. */
static void test_holes(void **state)
{
    (void)state;
    make_times(10, 100, (const int64_t[]){80, 40}, 2);
    for (uint32_t i = 0; i < ntimes; i++)
        if (times[i].chunk == 5) times[i] = times[--ntimes], i--;
    struct rs_pipeline p = find(2, 1);
    assert_int_equal(p.chunks, 9);
    assert_int_equal(p.periods, 6);
    assert_int_equal(p.period.p99, 100);
    assert_true(fabs(p.score - 0.5) < 1e-9);
    make_times(1, 100, (const int64_t[]){80, 40}, 2);
    p = find(2, 1);
    assert_true(isnan(p.score));
    assert_int_equal(p.verdict, RS_PIPELINE_UNKNOWN);
    assert_int_equal(p.period.p50, RS_TIME_NONE);
    ntimes = 0;
    assert_int_equal(find(2, 1).chunks, 0);
}

/* By name: annotations on the GPU come before those on the host; two kernels make a chunk of a stage. */
static void test_names(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 1, 0);
    make_lanes(1);
    for (int k = 0; k < 6; k++) {
        int64_t at = k * 100 * US;
        act(threads[0], RS_ACT_RANGE, "load", at, at + US);
        act(streams[0], RS_ACT_GPU_RANGE, "load", at, at + 60 * US);
        act(streams[0], RS_ACT_COMPUTE, "gemm_a", at + 60 * US, at + 100 * US);
        act(streams[0], RS_ACT_COMPUTE, "gemm_b", at + 110 * US, at + 150 * US);
    }
    struct rs_stage_pattern patterns[] = {{"in", "lo*"}, {"run", "gemm_*"}, {"none", "x*"}};
    profile(&p, &(struct rs_profile_options){.patterns = patterns, .npatterns = 2, .warmup = 1});
    const struct rs_pipeline *x = &p.rows[0].pipeline->pipeline;
    assert_int_equal(p.rows[0].pipeline->source, RS_PIPELINE_NAMES);
    assert_int_equal(x->stages[0].p50, 60 * US);
    assert_int_equal(x->stages[1].p50, 80 * US);
    assert_true(fabs(x->score - 40.0 / 60) < 1e-9);
    assert_true(fabs(p.score - x->score) < 1e-9);
    assert_string_equal(p.pipelines.names[1], "run");
    rs_profile_free(&p);
    profile(&p, &(struct rs_profile_options){.patterns = patterns, .npatterns = 3, .warmup = 1});
    assert_null(p.rows[0].pipeline);
    assert_non_null(strstr(p.rows[0].no_stages, "none (x*)"));
    assert_true(isnan(p.score));
    rs_profile_free(&p);
    rs_model_free(&model);
}

/* Rank 1 receives every 100 us for 40 us and computes 80 us of it. */
static void test_pairs(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 2, 0);
    uint32_t comm = make_comm(0xa, 0, 1, 2), other;
    make_lanes(2);
    rs_model_lane(&model, &(struct rs_lane){.proc = procs[1], .domain = gpus[1], .kind = RS_LANE_STREAM, .device = -1},
                  &other);
    fine(RS_OK);
    for (int k = 0; k < 8; k++) {
        int64_t at = k * 100 * US;
        uint32_t op = new_op(comm, RS_OP_PAIR, "SendRecv", 64);
        uint32_t first = model.comms[comm].first_member;
        add_part(op, first, RS_PART_SEND, at, at + 40 * US);
        add_part(op, model.members[first].next, RS_PART_RECV, at, at + 40 * US);
        comm_kernels(op);
        act(other, RS_ACT_COMPUTE, "gemm", at + 10 * US, at + 90 * US);
    }
    profile(&p, &(struct rs_profile_options){.warmup = 1});
    const struct rs_pipeline *x = &p.rows[1].pipeline->pipeline;
    assert_int_equal(p.rows[1].pipeline->source, RS_PIPELINE_PAIRS);
    assert_int_equal(x->period.p50, 100 * US);
    assert_int_equal(x->stages[0].p50, 80 * US);
    assert_int_equal(x->stages[1].p50, 40 * US);
    assert_int_equal(x->hidden_ns, 20 * US);
    assert_true(fabs(x->score - 0.5) < 1e-9);
    rs_profile_free(&p);
    rs_model_free(&model);
}

/* Times from a file: a rank that is nowhere else gets a row of its own, and the lowest score is the job's. */
static void test_file(void **state)
{
    (void)state;
    struct rs_profile p;
    static const char *const names[] = {"a", "b"};
    ntimes = 0;
    for (int k = 0; k < 5; k++)
        for (int rank = 3; rank >= 2; rank--) {
            put(rank, k, 0, k * (rank == 3 ? 20 : 30), 20);
            put(rank, k, 1, k * (rank == 3 ? 20 : 30) + 20, 10);
        }
    model = (struct rs_model){0};
    profile(&p,
            &(struct rs_profile_options){.times = times, .ntimes = ntimes, .names = names, .nnames = 2, .warmup = 1});
    assert_int_equal(p.nrows, 2);
    assert_int_equal(p.rows[0].rank, 2);
    assert_true(p.rows[0].pipeline->pipeline.score < 1e-9);
    assert_true(p.rows[1].pipeline->pipeline.score > 1 - 1e-9);
    assert_ptr_equal(p.worst, p.rows[0].pipeline);
    assert_int_equal(p.rows[0].overlap.cut.comm, RS_TIME_NONE);
    rs_profile_free(&p);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two),       cmocka_unit_test(test_three),
                                       cmocka_unit_test(test_quantiles), cmocka_unit_test(test_holes),
                                       cmocka_unit_test(test_names),     cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
