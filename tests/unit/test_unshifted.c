/* Wall clocks of unnamed hosts: left as they are where operations allow it, with errors worked out by hand; fitted where
 * operations contradict that. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "join/clocks.h"
#include "model/model.h"

enum { RANKS = 3 };
#define US INT64_C(1000)
#define EPOCH INT64_C(1790000000000000000)

static struct rs_model m;
static uint32_t members[RANKS], gpus[RANKS];
static int64_t shift[RANKS]; /* ns that a clock shows too much */
static uint16_t all_reduce;

static void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

/* A process for each rank, whose tool gives wall times and no host. */
static void make(void)
{
    uint32_t comm;
    memset(&m, 0, sizeof m);
    memset(shift, 0, sizeof shift);
    rs_model_comm(&m, 7, &comm);
    fine(RS_OK);
    m.comms[comm].nranks = RANKS;
    for (int r = 0; r < RANKS; r++) {
        char boot[16];
        uint32_t host, proc;
        snprintf(boot, sizeof boot, "file %d", r);
        rs_model_host(&m, "", boot, &host);
        fine(RS_OK);
        rs_model_gpu(&m, host, (const uint8_t[16]){0}, &gpus[r]);
        fine(RS_OK);
        m.domains[gpus[r]].rigid = true;
        rs_model_proc(&m, &proc);
        fine(RS_OK);
        m.procs[proc].host = host;
        m.procs[proc].first = m.procs[proc].begin = EPOCH;
        rs_model_member(&m, comm, &members[r]);
        fine(RS_OK);
        m.members[members[r]].rank = m.members[members[r]].global_rank = r;
        m.members[members[r]].proc = proc;
        m.members[members[r]].gpu = gpus[r];
    }
    rs_model_string(&m, "AllReduce", &all_reduce);
    fine(RS_OK);
}

/* One all-reduce of some ranks: from start[i] to end[i], us after `at`; no start: not in it. */
static void add(int64_t at, const int64_t start[RANKS], const int64_t end[RANKS])
{
    uint32_t op, part;
    rs_model_op(&m, &op);
    fine(RS_OK);
    m.ops.kind[op] = RS_OP_COLL;
    m.ops.comm[op] = 0;
    m.ops.func[op] = all_reduce;
    m.ops.part[op] = m.norder;
    for (int r = 0; r < RANKS; r++) {
        if (start[r] < 0) continue;
        rs_model_part(&m, &part);
        fine(RS_OK);
        rs_model_order(&m, part);
        fine(RS_OK);
        m.ops.nparts[op]++;
        m.parts.member[part] = members[r];
        m.parts.op[part] = op;
        m.parts.func[part] = all_reduce;
        m.parts.start[part] = EPOCH + shift[r] + (at + start[r]) * US;
        m.parts.end[part] = EPOCH + shift[r] + (at + end[r]) * US;
        m.parts.start_source[part] = m.parts.end_source[part] = RS_FROM_KERNEL;
    }
}

static void align(void)
{
    struct rs_err err = {0};
    if (rs_clocks_align(&m, true, &err) != RS_OK) fail_msg("%s", err.msg);
}

static const struct rs_domain *gpu(int rank)
{
    return &m.domains[gpus[rank]];
}

static double off(int rank, int64_t at)
{
    int64_t local = EPOCH + shift[rank] + at * US;
    return (double)(rs_axis_common(&m.domains[gpus[rank]].axis, local) - (EPOCH + at * US));
}

/* Ranks 0 and 1 meet, and 1 and 2: what is between 0 and 2 is bounded through 1. */
static void test_errors_cover_what_is_open(void **state)
{
    (void)state;
    make();
    add(0, (int64_t[]){0, 60, -1}, (int64_t[]){100, 100, -1}); /* o1 - o0 <= 40, o0 - o1 <= 100 */
    add(1000, (int64_t[]){80, 0, -1}, (int64_t[]){100, 100, -1}); /* o0 - o1 <= 20 */
    add(2000, (int64_t[]){-1, 0, 50}, (int64_t[]){-1, 80, 80}); /* o2 - o1 <= 30, o1 - o2 <= 80 */
    add(3000, (int64_t[]){-1, 70, 0}, (int64_t[]){-1, 80, 80}); /* o1 - o2 <= 10 */
    align();
    /* |o0 - o1| <= 40, |o1 - o2| <= 30, o0 - o2 <= 20 + 10, o2 - o0 <= 30 + 40; each error is half of the largest, and 1 us
     * for how tools convert times. */
    assert_int_equal(gpu(0)->error_ns, 36 * US);
    assert_int_equal(gpu(1)->error_ns, 21 * US);
    assert_int_equal(gpu(2)->error_ns, 36 * US);
    for (int r = 0; r < RANKS; r++) {
        assert_true(off(r, 0) == 0 && off(r, 5000) == 0);
        assert_true(gpu(r)->method == RS_CLOCK_UNSHIFTED || gpu(r)->method == RS_CLOCK_REFERENCE);
        assert_int_equal(gpu(r)->island, gpu(0)->island);
        assert_int_equal(m.domains[gpu(r)->host_domain].error_ns, gpu(r)->error_ns + US);
    }
    rs_model_free(&m);
}

/* Equal, quick operations whose ends come together say more than the hull of ranks of which one is always late. */
static void test_ends_say_more(void **state)
{
    (void)state;
    make();
    for (int64_t k = 0; k < 16; k++) add(10000 * k, (int64_t[]){0, 2000, 10}, (int64_t[]){2040, 2040, 2040});
    align();
    for (int r = 0; r < RANKS; r++) /* 0.6 of 40 us, and 1 us */
        assert_int_equal(gpu(r)->error_ns, 25 * US);
    rs_model_free(&m);
}

/* A clock that is 3 ms ahead: ranks would end before others start, so it is fitted, and found. */
static void test_contradicted(void **state)
{
    (void)state;
    make();
    shift[2] = 3000 * US;
    for (int64_t k = 0; k < 40; k++)
        add(10000 * k, (int64_t[]){k % 3 * 10, (k + 1) % 3 * 10, (k + 2) % 3 * 10}, (int64_t[]){60, 60, 60});
    align();
    for (int r = 0; r < RANKS; r++) {
        assert_true(gpu(r)->method == RS_CLOCK_ENDS || gpu(r)->method == RS_CLOCK_REFERENCE);
        assert_true(fabs(off(r, 200000) - off(0, 200000)) < (double)(gpu(r)->error_ns + gpu(0)->error_ns));
        assert_true(gpu(r)->error_ns < 40 * US);
    }
    rs_model_free(&m);
}

/* One operation in hundreds that contradicts was joined wrongly: the clocks stay. */
static void test_one_wrong_operation(void **state)
{
    (void)state;
    make();
    for (int64_t k = 0; k < 300; k++) add(10000 * k, (int64_t[]){0, 10, 20}, (int64_t[]){60, 60, 60});
    add(4000000, (int64_t[]){0, 5000, 0}, (int64_t[]){100, 5100, 5100});
    align();
    for (int r = 0; r < RANKS; r++) {
        assert_true(off(r, 0) == 0);
        assert_true(gpu(r)->error_ns < 40 * US);
    }
    rs_model_free(&m);
}

/* Hours apart, by too few operations to prove it: each stays on its own wall time. */
static void test_far_apart_needs_proof(void **state)
{
    (void)state;
    for (int proof = 0; proof < 2; proof++) {
        make();
        shift[2] = INT64_C(3) * 3600 * 1000000 * US;
        for (int64_t k = 0; k < (proof ? 40 : 4); k++)
            add(10000 * k, (int64_t[]){k % 3 * 10, (k + 1) % 3 * 10, (k + 2) % 3 * 10}, (int64_t[]){60, 60, 60});
        align();
        bool together = gpu(2)->island == gpu(0)->island;
        assert_int_equal(together, proof);
        if (proof) assert_true(fabs(off(2, 20000) - off(0, 20000)) < 100e3);
        if (!proof)
            assert_true(fabs(off(2, 20000) - (double)shift[2]) < 1e3 || fabs(off(0, 20000) + (double)shift[2]) < 1e3);
        rs_model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_cover_what_is_open),
        cmocka_unit_test(test_ends_say_more),
        cmocka_unit_test(test_contradicted),
        cmocka_unit_test(test_one_wrong_operation),
        cmocka_unit_test(test_far_apart_needs_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
