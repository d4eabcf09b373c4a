/* Compute against communication on models made by hand: every figure worked out beside its spans. */
#include "profiled.h"

#include <math.h>

static void tear_down(struct rs_profile *p)
{
    rs_profile_free(p);
    rs_model_free(&model);
}

/* Rank 0 begins an all-reduce at 100 us, rank 1 at 160 us, both end at 200 us. Rank 0 computes 0..120 and 150..190. */
static void make_two(int64_t error)
{
    make_job(1, 2, error);
    uint32_t comm = make_comm(0xa, 0, 1, 2);
    make_lanes(2);
    uint32_t op = add_coll(comm, "AllReduce", 1024, (const int64_t[]){100 * US, 160 * US}, 40 * US);
    act(streams[0], RS_ACT_COMPUTE, "gemm", 0, 120 * US);
    act(streams[0], RS_ACT_COMPUTE, "gemm", 150 * US, 190 * US);
    act(streams[0], RS_ACT_COPY, "Memcpy", 230 * US, 250 * US);
    act(streams[1], RS_ACT_COMPUTE, "gemm", 0, 150 * US);
    comm_kernels(op);
}

static void test_split(void **state)
{
    (void)state;
    struct rs_profile p;
    make_two(US);
    profile(&p, NULL);
    assert_int_equal(p.nrows, 2);
    const struct rs_overlap_times *x = &p.rows[0].overlap.exact;
    assert_int_equal(p.rows[0].rank, 0);
    assert_int_equal(x->span, 250 * US);
    assert_int_equal(x->compute, 160 * US);
    assert_int_equal(x->comm, 100 * US);
    assert_int_equal(x->overlap, 60 * US); /* 100..120 and 150..190 */
    assert_int_equal(x->exposed, 40 * US);
    assert_int_equal(x->wait, 30 * US); /* 120..150: before 160, where rank 1 came */
    assert_int_equal(x->transfer, 10 * US); /* 190..200 */
    assert_int_equal(x->unclear, 0);
    assert_int_equal(x->comm_wait, 60 * US);
    assert_int_equal(x->comm_transfer, 40 * US);
    assert_int_equal(x->copy, 20 * US);
    assert_int_equal(x->idle, 30 * US); /* 200..230 */
    assert_true(fabs(rs_overlap_pct(x) - 60) < 1e-9);
    assert_true(fabs(rs_idle_pct(x) - 12) < 1e-9);
    assert_int_equal(p.rows[0].overlap.wait_error_ns, US);
    x = &p.rows[1].overlap.exact;
    assert_int_equal(x->wait, 0);
    assert_int_equal(x->transfer, 40 * US);
    assert_int_equal(x->idle, 10 * US);
    assert_int_equal(p.rows[1].overlap.kernels, 2);
    tear_down(&p);
}

/* What is shorter than twice the clock error is neither wait nor transfer; clocks that cannot be compared tell nothing. */
static void test_error(void **state)
{
    (void)state;
    struct rs_profile p;
    make_two(70 * US);
    profile(&p, NULL);
    for (int r = 0; r < 2; r++) {
        const struct rs_overlap_times *x = &p.rows[r].overlap.exact;
        assert_int_equal(x->wait, RS_TIME_NONE);
        assert_int_equal(x->transfer, RS_TIME_NONE);
        assert_int_equal(x->unclear, 40 * US);
    }
    tear_down(&p);
    make_two(25 * US); /* a wait of 60 us is known, a transfer of 40 us only of the rank that was last for certain */
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.wait, 30 * US);
    assert_int_equal(p.rows[0].overlap.exact.transfer, 0);
    assert_int_equal(p.rows[0].overlap.exact.unclear, 10 * US);
    assert_int_equal(p.rows[1].overlap.exact.wait, 0);
    assert_int_equal(p.rows[1].overlap.exact.transfer, 40 * US);
    tear_down(&p);
    make_job(1, 2, 10 * US); /* a tie: not known up to 20 us, transfer behind that */
    uint32_t comm = make_comm(0xa, 0, 1, 2);
    make_lanes(2);
    comm_kernels(add_coll(comm, "AllReduce", 1024, (const int64_t[]){0, 15 * US}, 100 * US));
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.wait, 0);
    assert_int_equal(p.rows[0].overlap.exact.unclear, 20 * US);
    assert_int_equal(p.rows[0].overlap.exact.transfer, 95 * US);
    assert_int_equal(p.rows[0].overlap.wait_error_ns, 0);
    tear_down(&p);
    make_two(US);
    model.domains[gpus[1]].island = 1;
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.exposed, 40 * US);
    assert_int_equal(p.rows[0].overlap.exact.wait, RS_TIME_NONE);
    assert_int_equal(p.rows[0].overlap.exact.transfer, RS_TIME_NONE);
    assert_int_equal(p.rows[0].overlap.exact.unclear, 40 * US);
    tear_down(&p);
}

/* On two streams: a kernel that transfers outweighs one that waits at the same time. */
static void test_streams(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 2, 0);
    uint32_t comm = make_comm(0xa, 0, 1, 2), other = make_comm(0xb, 0, 1, 2);
    make_lanes(2);
    comm_kernels(add_coll(comm, "AllReduce", 8, (const int64_t[]){0, 80 * US}, 20 * US)); /* waits 0..80 */
    comm_kernels(add_coll(other, "AllGather", 8, (const int64_t[]){30 * US, 30 * US}, 20 * US)); /* transfers 30..50 */
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.comm, 100 * US);
    assert_int_equal(p.rows[0].overlap.exact.wait, 60 * US);
    assert_int_equal(p.rows[0].overlap.exact.transfer, 40 * US);
    tear_down(&p);
}

static uint32_t add_pair(uint32_t comm, int src, int dst, int64_t sent, int64_t received)
{
    uint32_t op = new_op(comm, RS_OP_PAIR, "SendRecv", 64), first = model.comms[comm].first_member;
    model.ops.root[op] = src;
    model.ops.dst[op] = dst;
    uint32_t part = add_part(op, first + (uint32_t)src, RS_PART_SEND, sent, 100 * US);
    add_part(op, first + (uint32_t)dst, RS_PART_RECV, received, 100 * US);
    return part;
}

/* One kernel of rank 0 sends to 1, which comes at 20 us, and to 2, which comes at 50 us: it waits for the last of
 * them. An operation that is laid over another tool's still counts, by what that one passes. */
static void test_group(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 3, 0);
    uint32_t comm = make_comm(0xa, 0, 1, 3);
    make_lanes(3);
    uint32_t a = add_pair(comm, 0, 1, 0, 20 * US);
    uint32_t b = add_pair(comm, 0, 2, 0, 50 * US);
    model.parts.launch[a] = model.parts.launch[b] = 9;
    uint32_t x = act(streams[0], RS_ACT_COMM, "ncclDevKernel_SendRecv", 0, 100 * US);
    model.activities.part[x] = a;
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.wait, 50 * US);
    rs_profile_free(&p);
    uint32_t lead = new_op(comm, RS_OP_PAIR, "SendRecv", 64);
    model.ops.over[model.parts.op[a]] = lead;
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.exact.comm, 100 * US);
    tear_down(&p);
}

/* Recorded: rank 0 receives from 1, which sends at 60 us, and sends to 2, which receives at 0, in one kernel until 100 us.
 * It waits for rank 1; where its timer ended early, what follows is not known, though the network saw the send end. */
static void test_early(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        struct rs_profile p;
        make_job(1, 3, 0);
        uint32_t comm = make_comm(0xa, 0, 1, 3);
        uint32_t send = add_pair(comm, 0, 2, 0, 0), recv = add_pair(comm, 1, 0, 60 * US, 0) + 1;
        model.parts.launch[send] = model.parts.launch[recv] = 9;
        if (early) model.parts.flags[recv] |= RS_PART_END_EARLY;
        profile(&p, NULL);
        const struct rs_overlap_times *x = &p.rows[0].overlap.exact;
        assert_int_equal(x->comm, 100 * US);
        assert_int_equal(x->comm_wait, 60 * US);
        assert_int_equal(x->comm_transfer, early ? 0 : 40 * US);
        assert_int_equal(x->comm_unclear, early ? 40 * US : 0);
        tear_down(&p);
    }
}

/* Kineto's spans are cut to whole us inwards, as Holistic Trace Analysis does; the exact ones stand beside. */
static void test_grain(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 1, 0);
    make_lanes(1);
    model.procs[procs[0]].tool = RS_TOOL_KINETO;
    act(streams[0], RS_ACT_COMPUTE, "gemm", 1300, 4900); /* 2000..4000 */
    act(streams[0], RS_ACT_COMPUTE, "gemm", 5100, 5900); /* nothing */
    act(streams[0], RS_ACT_COMM, "ncclX", 3000, 8000);
    profile(&p, NULL);
    assert_int_equal(p.rows[0].overlap.grain_ns, 1000);
    assert_int_equal(p.rows[0].overlap.cut.compute, 2000);
    assert_int_equal(p.rows[0].overlap.cut.overlap, 1000);
    assert_int_equal(p.rows[0].overlap.cut.span, 6000);
    assert_int_equal(p.rows[0].overlap.exact.compute, 4400);
    assert_int_equal(p.rows[0].overlap.exact.overlap, 1900 + 800);
    assert_int_equal(p.rows[0].overlap.exact.span, 6700);
    assert_int_equal(p.rows[0].overlap.exact.wait, RS_TIME_NONE); /* in no operation */
    assert_int_equal(p.rows[0].overlap.exact.unclear, 5000 - 2700);
    tear_down(&p);
}

/* Without a tool that sees compute, communication comes from the parts, and the rest is not known. */
static void test_no_compute(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 2, US);
    uint32_t comm = make_comm(0xa, 0, 1, 2);
    add_coll(comm, "AllReduce", 1024, (const int64_t[]){100 * US, 160 * US}, 40 * US);
    uint32_t open = add_coll(comm, "AllReduce", 1024, (const int64_t[]){300 * US, 300 * US}, 40 * US);
    model.parts.end[model.order[model.ops.part[open]]] = RS_TIME_NONE;
    profile(&p, NULL);
    const struct rs_overlap_times *x = &p.rows[0].overlap.cut;
    assert_int_equal(x->comm, 100 * US);
    assert_int_equal(x->comm_wait, 60 * US);
    assert_int_equal(x->compute, RS_TIME_NONE);
    assert_int_equal(x->idle, RS_TIME_NONE);
    assert_int_equal(x->exposed, RS_TIME_NONE);
    assert_true(isnan(rs_overlap_pct(x)));
    assert_int_equal(p.rows[0].overlap.untimed, 1);
    assert_int_equal(p.nconclusion, 1);
    assert_non_null(strstr(p.conclusion[0], "NCCL does not report compute"));
    tear_down(&p);
}

/* --from and --to cut spans; an operation that is filtered away is no communication, but keeps the GPU busy. */
static void test_filter(void **state)
{
    (void)state;
    struct rs_profile p;
    struct rs_filter f = {.has_from = true, .has_to = true, .from = 110 * US, .to = 160 * US};
    make_two(0);
    profile(&p, &(struct rs_profile_options){.filter = &f});
    const struct rs_overlap_times *x = &p.rows[0].overlap.exact;
    assert_int_equal(x->span, 50 * US);
    assert_int_equal(x->compute, 20 * US);
    rs_profile_free(&p);
    const char *func = "AllGather";
    f = (struct rs_filter){.funcs = &func, .nfuncs = 1};
    profile(&p, &(struct rs_profile_options){.filter = &f});
    assert_int_equal(p.rows[0].overlap.exact.comm, 0);
    assert_int_equal(p.rows[0].overlap.exact.idle, 30 * US);
    rs_profile_free(&p);
    struct rs_range one = {1, 1};
    f = (struct rs_filter){.ranks = &one, .nranks = 1};
    profile(&p, &(struct rs_profile_options){.filter = &f});
    assert_int_equal(p.nrows, 1);
    assert_int_equal(p.rows[0].rank, 1);
    tear_down(&p);
}

/* Two tools saw rank 0: the one that sees its work stands for it. */
static void test_two_tools(void **state)
{
    (void)state;
    struct rs_profile p;
    make_two(0);
    uint32_t proc, member, comm = make_comm(0xc, 0, 1, 2);
    rs_model_proc(&model, &proc);
    fine(RS_OK);
    rs_model_member(&model, comm, &member);
    fine(RS_OK);
    model.members[member].proc = proc;
    model.members[member].global_rank = 0;
    model.members[member].gpu = RS_NONE;
    profile(&p, NULL);
    assert_int_equal(p.nrows, 2);
    assert_int_equal(p.rows[0].track->proc, procs[0]);
    tear_down(&p);
}

/* The one that waits least is named, with the share of the wait, if the report names it, too. */
static void test_conclusion(void **state)
{
    (void)state;
    struct rs_profile p;
    make_job(1, 3, US);
    uint32_t comm = make_comm(0xa, 0, 1, 3);
    make_lanes(3);
    for (int i = 0; i < 10; i++) {
        int64_t at = i * 10 * MS;
        comm_kernels(add_coll(comm, "AllReduce", 8, (const int64_t[]){at, at + 8 * MS, at + 10 * US}, 50 * US));
    }
    profile(&p, NULL);
    assert_non_null(strstr(p.conclusion[0], "no single rank stands out"));
    rs_profile_free(&p);
    const bool named[] = {false, true, false}, other[] = {true, false, true};
    profile(&p, &(struct rs_profile_options){.named = other});
    assert_non_null(strstr(p.conclusion[0], "no single rank stands out"));
    rs_profile_free(&p);
    profile(&p, &(struct rs_profile_options){.named = named});
    assert_non_null(strstr(p.conclusion[0], "The others wait for rank 1"));
    assert_non_null(strstr(p.conclusion[0], "rank 0: 80 ms"));
    rs_profile_free(&p);
    act(streams[1], RS_ACT_COMM, "ncclX", 100 * MS, 108 * MS); /* in no operation; the difference is 80 ms */
    profile(&p, &(struct rs_profile_options){.named = named});
    assert_non_null(strstr(p.conclusion[0], "The others wait for rank 1"));
    rs_profile_free(&p);
    act(streams[1], RS_ACT_COMM, "ncclX", 108 * MS, 110 * MS);
    profile(&p, &(struct rs_profile_options){.named = named});
    assert_non_null(strstr(p.conclusion[0], "waiting for other ranks"));
    assert_null(strstr(p.conclusion[0], "wait for rank"));
    assert_non_null(strstr(p.conclusion[0], "is unknown"));
    tear_down(&p);
}

static uint64_t seed = 7;

static uint64_t any(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 20;
}

/* A time of any size, often a small one. */
static int64_t any_time(void)
{
    return any() % 3 ? (int64_t)(any() % 1000000) : (int64_t)(any() << 20 ^ any());
}

/* Whatever stands in activities: nothing breaks (the sanitizers look at the sums). */
static void test_damage(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "", "nccl"};
    static const struct rs_stage_pattern patterns[] = {{"x", "a*"}, {"y", "b"}};
    for (int round = 0; round < 50; round++) {
        struct rs_profile p;
        make_two(round % 2 ? US : RS_TIME_NONE);
        uint32_t n = 500, parts = model.parts.n;
        for (uint32_t i = 0; i < n; i++) {
            int64_t start = any_time(), end = any() % 2 ? start : any_time();
            uint32_t lane = any() % 2 ? streams[any() % 2] : threads[any() % 2];
            uint32_t x = act(lane, (uint8_t)(any() % RS_ACTIVITY_KINDS), names[any() % 4], start < end ? start : end,
                             start < end ? end : start);
            if (any() % 3) model.activities.launch[x] = (uint32_t)(any() % n);
            if (any() % 3) model.activities.part[x] = (uint32_t)(any() % parts);
        }
        profile(&p,
                &(struct rs_profile_options){.patterns = patterns, .npatterns = (uint32_t)(round % 3), .warmup = 1});
        assert_int_equal(p.nrows, 2);
        tear_down(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),     cmocka_unit_test(test_error),      cmocka_unit_test(test_streams),
        cmocka_unit_test(test_grain),     cmocka_unit_test(test_no_compute), cmocka_unit_test(test_filter),
        cmocka_unit_test(test_two_tools), cmocka_unit_test(test_conclusion), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_group),     cmocka_unit_test(test_early)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
