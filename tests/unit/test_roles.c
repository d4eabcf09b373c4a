/* Ranks that do the same work: jobs made by hand, whose roles follow from how they were made. */
#include "joined.h"

#include "base/memory.h"
#include "conclude/layout.h"
#include "conclude/roles.h"

static struct rs_view view;
static struct rs_steps steps;
static struct rs_roles roles;
static int64_t now;

static int forget(void **state)
{
    (void)state;
    rs_roles_free(&roles);
    free(steps.rows);
    steps = (struct rs_steps){0};
    rs_view_free(&view);
    rs_model_free(&model);
    now = 0;
    return 0;
}

/* A collective of the whole communicator; its members of these bits were not recorded. */
static uint32_t coll_without(uint32_t comm, const char *func, uint64_t bytes, uint64_t absent)
{
    int64_t starts[MOST_RANKS];
    for (int i = 0; i < model.comms[comm].nranks; i++) starts[i] = absent >> i & 1 ? RS_TIME_NONE : now;
    now += 10 * US;
    return add_coll(comm, func, bytes, starts, 5 * US);
}

static uint32_t coll(uint32_t comm, const char *func, uint64_t bytes)
{
    return coll_without(comm, func, bytes, 0);
}

static uint32_t member_of(uint32_t comm, int32_t rank)
{
    uint32_t x = model.comms[comm].first_member;
    while (model.members[x].rank != rank) x = model.members[x].next;
    return x;
}

/* One side of a send: `rank` is the sender or the receiver. */
static void side(uint32_t op, uint32_t comm, int32_t rank, int32_t peer, bool send)
{
    uint32_t part = add_part(op, member_of(comm, rank), send ? RS_PART_SEND : RS_PART_RECV, now, now + 5 * US);
    model.parts.peer[part] = peer;
}

static void pair(uint32_t comm, int32_t src, int32_t dst)
{
    uint32_t op = new_op(comm, RS_OP_PAIR, "Send", 4096);
    model.ops.root[op] = src;
    model.ops.dst[op] = dst;
    side(op, comm, src, dst, true);
    side(op, comm, dst, src, false);
    now += 10 * US;
}

/* Steps of equal length, whose operations `make` adds. */
static void run(uint32_t n, void (*make)(uint32_t step))
{
    steps.rows = rs_zalloc(n + 1, sizeof *steps.rows);
    steps.n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct rs_step *s = &steps.rows[i];
        s->from = now;
        make(i);
        now += 100 * US;
        s->to = now;
        s->begin = s->from;
        s->end = s->to;
        s->mark = RS_NONE;
        s->unit = i;
    }
}

static void find(const struct rs_job_layout *layout)
{
    for (uint32_t i = 0; i < model.ncomms; i++) {
        model.comms[i].first_member = RS_NONE;
        model.comms[i].nmembers = 0;
    }
    rs_model_link(&model);
    look(&view);
    rs_roles_find(&roles, &view, &steps, layout);
}

/* The roles of the ranks of the job, one digit each. */
static const char *text(void)
{
    static char out[MOST_RANKS + 1];
    memset(out, 0, sizeof out);
    for (uint32_t i = 0; i < model.nranks; i++) {
        assert_in_range(model.ranks[i].number, 0, MOST_RANKS - 1);
        out[model.ranks[i].number] = roles.of[i] == RS_NONE ? '-' : (char)('0' + roles.of[i]);
    }
    return out;
}

static uint32_t world, groups[8];

static void data_parallel(uint32_t step)
{
    (void)step;
    for (int i = 0; i < 3; i++) {
        uint32_t op = coll(world, "AllReduce", 1 << 20);
        model.ops.root[op] = 0; /* as NCCL reports it of functions without a root */
    }
}

static void test_data_parallel(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    run(10, data_parallel);
    find(NULL);
    assert_string_equal(text(), "0000");
    assert_int_equal(roles.n, 1);
    assert_int_equal(roles.size[0], 4);
}

/* Rank 3 is recorded from step 7 on; rank 1 lost every third record; one barrier is of ranks 0 and 1 only. */
static void late_and_lossy(uint32_t step)
{
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t absent = (step < 7 ? 8 : 0) | ((step * 3 + i) % 3 == 0 ? 2 : 0);
        coll_without(world, "AllReduce", 1 << 20, absent);
    }
    if (step == 4) coll(groups[0], "AllReduce", 1);
}

static void test_windows_and_losses(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    groups[0] = make_comm(2, 0, 1, 2);
    run(10, late_and_lossy);
    find(NULL);
    assert_string_equal(text(), "0000");
}

/* A whole tensor-parallel group (ranks 2 and 3) is recorded from the middle of step 6 on. */
static void late_group(uint32_t step)
{
    for (int i = 0; i < 8; i++) {
        coll(groups[0], "AllReduce", 1 << 16);
        if (step > 6 || (step == 6 && i >= 4)) coll(groups[1], "AllReduce", 1 << 16);
    }
    coll_without(groups[2], "AllReduce", 1 << 20, step > 6 ? 0 : 2);
    coll_without(groups[3], "AllReduce", 1 << 20, step > 6 ? 0 : 2);
}

static void test_late_group(void **state)
{
    (void)state;
    make_job(2, 2, 0);
    groups[0] = make_comm(1, 0, 1, 2);
    groups[1] = make_comm(2, 2, 1, 2);
    groups[2] = make_comm(3, 0, 2, 2);
    groups[3] = make_comm(4, 1, 2, 2);
    run(12, late_group);
    find(NULL);
    assert_string_equal(text(), "0000");
}

/* Two equal groups, of which one has a barrier in two steps of ten. */
static void extra_barriers(uint32_t step)
{
    for (int i = 0; i < 4; i++) {
        coll(groups[0], "AllReduce", 1 << 16);
        coll(groups[1], "AllReduce", 1 << 16);
    }
    if (step == 2 || step == 7) coll(groups[0], "AllReduce", 1);
}

static void test_extra_barriers(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    groups[0] = make_comm(1, 0, 1, 2);
    groups[1] = make_comm(2, 2, 1, 2);
    run(10, extra_barriers);
    find(NULL);
    assert_string_equal(text(), "0000");
}

/* Four stages, two replicas; ranks 0 1 | 2 3 | 4 5 | 6 7. */
static void pipeline(uint32_t step)
{
    (void)step;
    for (int replica = 0; replica < 2; replica++)
        for (int i = 0; i < 4; i++) {
            for (int32_t s = 0; s < 3; s++) pair(groups[replica], s, s + 1);
            for (int32_t s = 3; s > 0; s--) pair(groups[replica], s, s - 1);
        }
    for (int s = 0; s < 4; s++) coll(groups[2 + s], "AllReduce", 1 << 20);
}

static void make_pipeline(void)
{
    make_job(2, 4, 0);
    for (int i = 0; i < 2; i++) groups[i] = make_comm(10 + (uint64_t)i, i, 2, 4);
    for (int i = 0; i < 4; i++) groups[2 + i] = make_comm(20 + (uint64_t)i, 2 * i, 1, 2);
    run(10, pipeline);
}

static void test_stages(void **state)
{
    (void)state;
    make_pipeline();
    find(NULL);
    assert_string_equal(text(), "00111122"); /* the same sends and receives */
    rs_roles_free(&roles);
    rs_view_free(&view);
    uint32_t stage[8];
    for (uint32_t i = 0; i < 8; i++) stage[i] = (uint32_t)model.ranks[i].number / 2;
    struct rs_job_layout layout = {.stage = stage, .nranks = 8};
    find(&layout);
    assert_string_equal(text(), "00112233");
}

/* Two stages: both send and receive as often as the other, to the only other rank. */
static void two_stages(uint32_t step)
{
    (void)step;
    for (int i = 0; i < 4; i++) pair(world, 0, 1);
    for (int i = 0; i < 4; i++) pair(world, 1, 0);
}

static void test_two_stages(void **state)
{
    (void)state;
    make_job(1, 2, 0);
    world = make_comm(1, 0, 1, 2);
    run(5, two_stages);
    find(NULL);
    assert_string_equal(text(), "01");
}

/* A ring: each sends to the next and receives from the one before, as with context parallelism. */
static void ring(uint32_t step)
{
    (void)step;
    int32_t n = model.comms[world].nranks;
    uint32_t op = new_op(world, RS_OP_FANOUT, "SendRecv", 4096);
    for (int32_t i = 0; i < n; i++) {
        side(op, world, i, (i + 1) % n, true);
        side(op, world, i, (i + n - 1) % n, false);
    }
    now += 10 * US;
}

static void test_rings(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++) {
        make_job(1, n, 0);
        world = make_comm(1, 0, 1, n);
        run(5, ring);
        find(NULL);
        assert_int_equal(roles.n, 1);
        assert_int_equal(roles.size[0], n);
        forget(NULL);
    }
    make_job(1, 1, 0);
}

/* Rank 2 sends to rank 3, and its own recording begins in step 8: its sends follow from the receives. */
static void one_sided(uint32_t step)
{
    for (int32_t i = 0; i < 4; i += 2) {
        if (i == 0 || step >= 8) {
            pair(world, i, i + 1);
            continue;
        }
        uint32_t op = new_op(world, RS_OP_PAIR, "Send", 4096);
        model.ops.root[op] = i;
        model.ops.dst[op] = i + 1;
        side(op, world, i + 1, i, false);
        now += 10 * US;
    }
    coll_without(world, "AllReduce", 4, step < 8 ? 4 : 0);
}

static void test_one_sided(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    run(10, one_sided);
    find(NULL);
    assert_string_equal(text(), "0101");
}

/* Ranks 0 and 1 also do an all-to-all in each step (experts); rank 2 is the root of a broadcast in each. */
static void experts(uint32_t step)
{
    data_parallel(step);
    coll(groups[0], "AllReduce", 1 << 12);
    uint32_t op = coll(world, "Broadcast", 1 << 10);
    model.ops.root[op] = 2;
}

static void test_experts_and_roots(void **state)
{
    (void)state;
    make_job(1, 5, 0);
    world = make_comm(1, 0, 1, 5);
    groups[0] = make_comm(2, 0, 1, 2);
    run(10, experts);
    find(NULL);
    assert_string_equal(text(), "00122");
}

/* Tokens of experts: who sends to whom depends on the data. Rank 0 receives the most. */
static void uneven_experts(uint32_t step)
{
    uint32_t op = new_op(world, RS_OP_FANOUT, step % 2 ? "SendRecv" : "AlltoAll", 4096 + step);
    for (int32_t i = 0; i < 5; i++)
        for (int32_t peer = 0; peer < 5; peer++) {
            if (peer == i) continue;
            if (!peer || (step + (uint32_t)(7 * i + peer)) % 3) side(op, world, i, peer, true);
            if (!i || (step + (uint32_t)(7 * peer + i)) % 3) side(op, world, i, peer, false);
        }
    now += 10 * US;
}

static void test_uneven_experts(void **state)
{
    (void)state;
    make_job(1, 5, 0);
    world = make_comm(1, 0, 1, 5);
    run(12, uneven_experts);
    find(NULL);
    assert_string_equal(text(), "00000");
}

/* Roots that take turns, not exactly evenly, are equals. */
static void turns(uint32_t step)
{
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t op = coll(world, "Broadcast", 1 << 10);
        model.ops.root[op] = (int32_t)((step + i) % 4);
    }
}

static void test_turns(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    run(11, turns);
    find(NULL);
    assert_string_equal(text(), "0000");
}

/* Layers that are divided 12 : 10. */
static void uneven(uint32_t step)
{
    (void)step;
    for (int i = 0; i < 12; i++) coll(groups[0], "AllReduce", 1 << 16);
    for (int i = 0; i < 10; i++) coll(groups[1], "AllReduce", 1 << 16);
}

static void test_uneven_layers(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    groups[0] = make_comm(1, 0, 1, 2);
    groups[1] = make_comm(2, 2, 1, 2);
    run(10, uneven);
    find(NULL);
    assert_string_equal(text(), "0011");
}

/* No steps are known; rank 4 takes part in nothing. */
static void test_without_steps(void **state)
{
    (void)state;
    make_job(1, 5, 0);
    world = make_comm(1, 0, 1, 4);
    make_comm(2, 4, 1, 1);
    for (uint32_t i = 0; i < 10; i++) data_parallel(i);
    find(NULL);
    assert_string_equal(text(), "0000-");
}

/* Rank 0 is the root of a broadcast in every fourth step. */
static void broadcasts(uint32_t step)
{
    data_parallel(step);
    if (step % 4) return;
    uint32_t op = coll(world, "Broadcast", 1 << 10);
    model.ops.root[op] = 0;
}

static void test_rare_root(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    run(40, broadcasts);
    find(NULL);
    assert_string_equal(text(), "0000");
}

/* A group of checkpoints, used in one of ten steps, is not what ranks do. */
static void checkpoints(uint32_t step)
{
    data_parallel(step);
    if (step % 10 == 9) coll(groups[0], "AllReduce", 1);
}

static void test_checkpoints(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    world = make_comm(1, 0, 1, 4);
    groups[0] = make_comm(2, 0, 2, 2);
    run(60, checkpoints);
    find(NULL);
    assert_string_equal(text(), "0000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_data_parallel, forget),
        cmocka_unit_test_teardown(test_windows_and_losses, forget),
        cmocka_unit_test_teardown(test_late_group, forget),
        cmocka_unit_test_teardown(test_extra_barriers, forget),
        cmocka_unit_test_teardown(test_stages, forget),
        cmocka_unit_test_teardown(test_two_stages, forget),
        cmocka_unit_test_teardown(test_rings, forget),
        cmocka_unit_test_teardown(test_one_sided, forget),
        cmocka_unit_test_teardown(test_experts_and_roots, forget),
        cmocka_unit_test_teardown(test_uneven_experts, forget),
        cmocka_unit_test_teardown(test_turns, forget),
        cmocka_unit_test_teardown(test_uneven_layers, forget),
        cmocka_unit_test_teardown(test_without_steps, forget),
        cmocka_unit_test_teardown(test_rare_root, forget),
        cmocka_unit_test_teardown(test_checkpoints, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
