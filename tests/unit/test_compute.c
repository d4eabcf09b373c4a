/* GPUs that compute longer than their equals: kernels made by hand, of known durations. */
#include "profiled.h"

#include <math.h>

#include "base/memory.h"
#include "conclude/compute.h"

enum { RANKS = 4, STEPS = 8, KERNELS = 10 };
#define STEP_NS (10 * MS)

static struct rs_view view;
static struct rs_steps steps;
static struct rs_roles roles;
static struct rs_compute found;
static uint64_t seed;

/* Uniform in -1..1. */
static double noise(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / (double)(INT64_C(1) << 52) - 1;
}

struct plan {
    double slow[RANKS]; /* factor of the durations */
    int64_t extra[RANKS]; /* ns of another kernel in each step */
    double jitter; /* part of a kernel's duration */
    uint32_t once; /* step in which rank 0 takes ten times as long; RS_NONE */
    uint32_t role[RANKS];
    uint32_t nsteps;
};

/* Each step: ten kernels of about 100 us, and an all-reduce that all ranks enter at the same time, late enough to hide
 * everything. */
static void run(const struct plan *plan)
{
    uint32_t nsteps = plan->nsteps ? plan->nsteps : STEPS;
    make_job(1, RANKS, US);
    uint32_t comm = make_comm(0xa, 0, 1, RANKS);
    make_lanes(RANKS);
    steps.rows = rs_zalloc(nsteps + 1, sizeof *steps.rows);
    steps.n = nsteps;
    steps.usual_ns = STEP_NS;
    roles.of = rs_zalloc(RANKS, sizeof *roles.of);
    roles.size = rs_zalloc(RANKS, sizeof *roles.size);
    for (uint32_t r = 0; r < RANKS; r++) {
        roles.of[r] = plan->role[r];
        roles.size[plan->role[r]]++;
    }
    for (uint32_t s = 0; s < nsteps; s++) {
        int64_t t = s * STEP_NS, starts[RANKS];
        for (int r = 0; r < RANKS; r++) {
            int64_t now = t;
            for (int k = 0; k < KERNELS; k++) {
                double ns = 100e3 * (plan->slow[r] > 0 ? plan->slow[r] : 1) * (1 + plan->jitter * noise());
                if (r == 0 && s == plan->once) ns *= 10;
                act(streams[r], RS_ACT_COMPUTE, k % 2 ? "gemm" : "norm", now, now + (int64_t)ns);
                now += (int64_t)ns + 10 * US;
            }
            if (plan->extra[r]) act(streams[r], RS_ACT_COMPUTE, "spin", now, now + plan->extra[r]);
            starts[r] = t + 9 * MS;
        }
        comm_kernels(add_coll(comm, "AllReduce", 1024, starts, 500 * US));
        steps.rows[s] = (struct rs_step){.from = t, .to = t + STEP_NS, .mark = RS_NONE, .unit = s};
    }
    look(&view);
    rs_compute_find(&found, &view, &steps, &roles);
}

static int forget(void **state)
{
    (void)state;
    rs_compute_free(&found);
    rs_roles_free(&roles);
    free(steps.rows);
    steps = (struct rs_steps){0};
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static void test_slow(void **state)
{
    (void)state;
    seed = 1;
    run(&(struct plan){.slow = {1, 1, 1.2, 1}, .jitter = 0.05, .once = RS_NONE});
    assert_int_equal(found.compared, RANKS);
    assert_int_equal(found.steps, STEPS);
    assert_int_equal(found.n, 1);
    const struct rs_compute_row *r = &found.rows[0];
    assert_int_equal(model.ranks[r->rank_id].number, 2);
    assert_int_equal(r->equals, 3);
    assert_int_equal(r->steps, STEPS);
    assert_int_equal(r->late, STEPS);
    assert_true(fabs(r->ratio - 1.2) < 0.02 && r->ratio_low < r->ratio && r->ratio < r->ratio_high);
    assert_true(llabs((long long)r->usual_ns - 1000000) < 20000);
    assert_true(llabs((long long)r->excess_ns - 200000) < 20000);
    assert_true(r->p < 0.005);
    assert_true(rs_compute_is_slower(r) && r->slower_ns == r->excess_ns);
    assert_int_equal(r->nkernels, 2);
    assert_true(fabs(r->kernels[0].launches - 5) < 1e-9 && fabs(r->kernels[0].usual_launches - 5) < 1e-3);
    assert_true(llabs((long long)(r->kernels[0].excess_ns + r->kernels[1].excess_ns) - 200000) < 20000);
}

/* Another kernel of 2 ms: more work, not a slow GPU. */
static void test_more_work(void **state)
{
    (void)state;
    seed = 2;
    run(&(struct plan){.extra = {0, 2 * MS, 0, 0}, .jitter = 0.05, .once = RS_NONE});
    assert_int_equal(found.n, 1);
    const struct rs_compute_row *r = &found.rows[0];
    assert_int_equal(model.ranks[r->rank_id].number, 1);
    assert_true(llabs((long long)r->excess_ns - 2 * MS) < 50000);
    assert_false(rs_compute_is_slower(r));
    assert_string_equal(rs_model_name_text(&model, r->kernels[0].name), "spin");
    assert_true(fabs(r->kernels[0].launches - 1) < 1e-9 && r->kernels[0].usual_launches == 0);
    assert_true(llabs((long long)r->kernels[0].excess_ns - 2 * MS) < 1000);
}

/* Noise, a single long step, differences of 4 % or of 0.3 % of a step, and 20 % of a rank that has no equals: nobody. */
static void test_nobody(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        seed = 100 + i;
        run(&(struct plan){.jitter = 0.3, .once = RS_NONE});
        assert_int_equal(found.compared, RANKS);
        assert_int_equal(found.n, 0);
        forget(NULL);
    }
    run(&(struct plan){.jitter = 0.05, .once = 3});
    assert_int_equal(found.n, 0);
    forget(NULL);
    run(&(struct plan){.slow = {3, 3, 3, 3.12}, .jitter = 0.001, .once = RS_NONE});
    assert_int_equal(found.n, 0);
    forget(NULL);
    run(&(struct plan){.slow = {0.3, 0.3, 0.3, 0.33}, .jitter = 0.001, .once = RS_NONE}); /* 0.3 % of a step */
    assert_int_equal(found.n, 0);
    forget(NULL);
    run(&(struct plan){.slow = {1, 1, 1, 1.2}, .role = {0, 0, 0, 1}, .jitter = 0.05, .once = RS_NONE});
    assert_int_equal(found.compared, 3);
    assert_int_equal(found.n, 0);
}

/* Two stages, of which the second computes twice as long; in it rank 3 more than its only equal. */
static void test_stages(void **state)
{
    (void)state;
    seed = 3;
    run(&(struct plan){.slow = {1, 1, 2, 2.3}, .role = {0, 0, 1, 1}, .jitter = 0.05, .once = RS_NONE, .nsteps = 12});
    assert_int_equal(found.n, 1);
    assert_int_equal(model.ranks[found.rows[0].rank_id].number, 3);
    assert_true(fabs(found.rows[0].ratio - 1.15) < 0.02);
}

static void test_few_steps(void **state)
{
    (void)state;
    run(&(struct plan){.slow = {1, 1, 2, 1}, .jitter = 0.05, .once = RS_NONE, .nsteps = 4});
    assert_int_equal(found.compared, 0);
    assert_int_equal(found.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_slow, forget),      cmocka_unit_test_teardown(test_more_work, forget),
        cmocka_unit_test_teardown(test_nobody, forget),    cmocka_unit_test_teardown(test_stages, forget),
        cmocka_unit_test_teardown(test_few_steps, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
