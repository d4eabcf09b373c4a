/* Ranks of the job from the members of communicators, against small jobs whose ranks are known. */
#include "join/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t add_proc(struct rs_model *m, int32_t launcher)
{
    uint32_t host, p;
    rs_model_host(m, "n0", "b0", &host);
    rs_model_proc(m, &p);
    m->procs[p].host = host;
    m->procs[p].launcher_rank = launcher;
    return p;
}

static uint32_t add_comm(struct rs_model *m, uint64_t hash, int32_t nranks)
{
    uint32_t c;
    rs_model_comm(m, hash, &c);
    m->comms[c].nranks = nranks;
    return c;
}

static uint32_t add_member(struct rs_model *m, uint32_t comm, int32_t rank, uint32_t proc, int32_t device,
                           int64_t created)
{
    uint32_t x;
    rs_model_member(m, comm, &x);
    m->members[x].rank = rank;
    m->members[x].proc = proc;
    m->members[x].device = device;
    m->members[x].created = created;
    return x;
}

static void assign(struct rs_model *m)
{
    rs_model_link(m);
    rs_ranks_find(m);
}

static void test_world_numbers_all(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p[4];
    for (int i = 0; i < 4; i++) p[i] = add_proc(&m, 40 - i); /* the launcher says otherwise, and does not count */
    uint32_t half = add_comm(&m, 1, 2), late = add_comm(&m, 2, 4), world = add_comm(&m, 3, 4);
    uint32_t a = add_member(&m, half, 0, p[1], 0, 90), b = add_member(&m, half, 1, p[3], 0, 91);
    for (int i = 0; i < 4; i++) add_member(&m, late, i, p[i], 0, 200); /* in the order of the processes */
    const int order[] = {2, 0, 3, 1}; /* of processes in the first communicator that has all */
    for (int i = 0; i < 4; i++) add_member(&m, world, i, p[order[i]], 0, 100);
    assign(&m);
    assert_int_equal(m.world, 4);
    assert_int_equal(m.members[a].global_rank, 3); /* process 1 is rank 3 */
    assert_int_equal(m.members[b].global_rank, 2);
    const int32_t known[] = {1, 3, 0, 2};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[b + 1 + i].global_rank, known[i]);
    rs_model_free(&m);
}

static void test_devices_of_one_process(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, 0), q = add_proc(&m, 1);
    uint32_t world = add_comm(&m, 1, 8), part = add_comm(&m, 2, 2); /* ranks 4 to 7 of the job were not recorded */
    add_member(&m, world, 0, p, 1, 5);
    add_member(&m, world, 1, p, 0, 5);
    add_member(&m, world, 2, q, 0, 5);
    add_member(&m, world, 3, q, 1, 5);
    uint32_t a = add_member(&m, part, 0, q, 1, 6), b = add_member(&m, part, 1, p, 0, 6);
    assign(&m);
    assert_int_equal(m.members[a].global_rank, 3);
    assert_int_equal(m.members[b].global_rank, 1);
    assert_int_equal(m.world, 8);
    rs_model_free(&m);
}

static void test_ranks_that_share_a_device(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, 0);
    uint32_t world = add_comm(&m, 1, 4), same = add_comm(&m, 2, 4), few = add_comm(&m, 3, 2);
    for (int i = 0; i < 4; i++) add_member(&m, world, i, p, 0, 5);
    uint32_t first = add_member(&m, same, 0, p, 0, 6);
    for (int i = 1; i < 4; i++) add_member(&m, same, i, p, 0, 6);
    uint32_t a = add_member(&m, few, 0, p, 0, 7);
    add_member(&m, few, 1, p, 0, 7);
    assign(&m);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[first + i].global_rank, i);
    assert_int_equal(m.members[a].global_rank, -1); /* which two of the four they are cannot be told */
    rs_model_free(&m);
}

/* Two halves without a communicator of all: the launcher knows, unless it says the same twice, or not everything. */
static void test_launcher(void **state)
{
    (void)state;
    const struct {
        int32_t ranks[4];
        bool told;
    } cases[] = {{{3, 2, 1, 0}, true}, {{0, 1, 1, 2}, false}, {{0, 1, -1, 2}, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rs_model m = {0};
        uint32_t low = add_comm(&m, 1, 2), high = add_comm(&m, 2, 2);
        for (int i = 0; i < 4; i++) {
            uint32_t proc = add_proc(&m, cases[k].ranks[i]);
            add_member(&m, i < 2 ? low : high, i % 2, proc, 0, 5);
        }
        assign(&m);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(m.members[i].global_rank, cases[k].told ? cases[k].ranks[i] : -1);
        assert_int_equal(m.world, 4);
        assert_int_equal(m.nranks, 4);
        rs_model_free(&m);
    }
}

static void test_launcher_and_two_devices(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t a = add_proc(&m, 0), b = add_proc(&m, 1), one = add_comm(&m, 1, 2), two = add_comm(&m, 2, 2);
    add_member(&m, one, 0, a, 0, 5);
    add_member(&m, one, 1, a, 1, 5);
    add_member(&m, two, 0, b, 0, 5);
    assign(&m);
    for (uint32_t i = 0; i < m.nmembers; i++) assert_int_equal(m.members[i].global_rank, -1);
    rs_model_free(&m);
}

/* ---- how many there are ---- */

static uint32_t number_of(const struct rs_model *m, uint32_t member)
{
    return m->members[member].rank_id == RS_NONE ? RS_NONE : (uint32_t)m->ranks[m->members[member].rank_id].number;
}

/* Groups of one rank, in dumps that tell nothing of their process: three ranks, one of which has such a group. */
static void test_one_rank_groups_add_none(void **state)
{
    (void)state;
    for (uint32_t pid = 0; pid <= 100; pid += 100) { /* not told; or one that several files have */
        struct rs_model m = {0};
        uint32_t world, alone, p[4], x[3];
        rs_model_comm_of(&m, RS_TOOL_EXAMPLE, 1, &world);
        rs_model_comm_of(&m, RS_TOOL_EXAMPLE, 2, &alone);
        m.comms[world].nranks = 3;
        m.comms[alone].nranks = 1;
        for (uint32_t i = 0; i < 4; i++) {
            p[i] = add_proc(&m, -1);
            m.procs[p[i]].tool = RS_TOOL_EXAMPLE;
            m.procs[p[i]].pid = i < 3 ? 100 + i : pid;
        }
        for (uint32_t i = 0; i < 3; i++) x[i] = add_member(&m, world, (int32_t)i, p[i], -1, 5);
        uint32_t y = add_member(&m, alone, 0, p[3], -1, 5);
        assign(&m);
        assert_int_equal(m.nranks, 3);
        assert_int_equal(m.world, 3);
        for (uint32_t i = 0; i < 3; i++) assert_int_equal(number_of(&m, x[i]), i);
        assert_int_equal(m.members[y].rank_id, RS_NONE);
        assert_int_equal(m.members[y].global_rank, -1);
        rs_model_free(&m);
    }
}

/* The same where the process is known, and its device is not told: there is one that it can be. */
static void test_one_rank_group_of_a_process(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t alone = add_comm(&m, 2, 1), pair = add_comm(&m, 1, 2), p = add_proc(&m, -1), q = add_proc(&m, -1);
    m.procs[p].pid = 100;
    m.procs[q].pid = 101;
    uint32_t y = add_member(&m, alone, 0, q, -1, 1);
    add_member(&m, pair, 0, p, 0, 5);
    uint32_t x = add_member(&m, pair, 1, q, 0, 5);
    assign(&m);
    assert_int_equal(m.nranks, 2);
    assert_int_equal(m.members[y].rank_id, m.members[x].rank_id);
    assert_int_equal(m.members[y].global_rank, 1);
    rs_model_free(&m);
}

/* A process that is in a group of one rank and no other is a rank; and so is a job of one. */
static void test_a_process_alone(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct rs_model m = {0};
        uint32_t alone = add_comm(&m, 2, 1), p = add_proc(&m, -1), q = add_proc(&m, -1);
        m.procs[p].pid = 100;
        m.procs[q].pid = 101;
        uint32_t y = add_member(&m, alone, 0, p, 0, 1);
        if (others) add_member(&m, add_comm(&m, 1, 2), 0, q, 0, 5);
        assign(&m);
        assert_int_equal(m.nranks, others ? 2 : 1);
        assert_int_equal(m.members[y].global_rank, others ? -1 : 0);
        rs_model_free(&m);
    }
}

/* Processes without a communicator: one whose number is known is a rank, one that says nothing is none. */
static void test_processes_without_a_communicator(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t pair = add_comm(&m, 1, 3), p[4];
    for (int i = 0; i < 4; i++) p[i] = add_proc(&m, i < 3 ? i : -1);
    add_member(&m, pair, 0, p[0], 0, 5);
    add_member(&m, pair, 1, p[1], 0, 5);
    assign(&m);
    assert_int_equal(m.nranks, 3);
    assert_int_equal(m.ranks[2].number, 2);
    assert_int_equal(m.ranks[2].proc, p[2]);
    assert_int_equal(m.ranks[2].member, RS_NONE);
    rs_model_free(&m);
}

/* Its GPU's work tells of it as well, one rank a device; copies to another device of a process with ranks do not. */
static void test_processes_that_worked(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, -1), q = add_proc(&m, -1), lane, act;
    m.procs[p].tool = m.procs[q].tool = RS_TOOL_KINETO;
    uint32_t comm;
    rs_model_comm_of(&m, RS_TOOL_KINETO, 1, &comm);
    add_member(&m, comm, 0, q, 0, 5);
    const struct rs_lane lanes[] = {{.proc = p, .kind = RS_LANE_STREAM, .device = 0, .id = 7},
                                    {.proc = p, .kind = RS_LANE_STREAM, .device = 0, .id = 8},
                                    {.proc = p, .kind = RS_LANE_STREAM, .device = 1, .id = 7},
                                    {.proc = p, .kind = RS_LANE_STREAM, .device = 2, .id = 7},
                                    {.proc = q, .kind = RS_LANE_STREAM, .device = 1, .id = 7}};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        rs_model_lane(&m, &lanes[i], &lane);
        if (lanes[i].device == 2) continue; /* nothing ran there */
        rs_model_activity(&m, &act);
        m.activities.lane[act] = lane;
        m.activities.kind[act] = RS_ACT_COMPUTE;
    }
    assign(&m);
    assert_int_equal(m.nranks, 3);
    rs_model_free(&m);
}

/* A recording and its copy, and two windows that one tool wrote of a process. */
static void test_files_of_one_process(void **state)
{
    (void)state;
    for (int kineto = 0; kineto < 2; kineto++) {
        struct rs_model m = {0};
        uint32_t world;
        rs_model_comm_of(&m, kineto ? RS_TOOL_KINETO : RS_TOOL_RINGSCOPE, 1, &world);
        m.comms[world].nranks = 2;
        for (int i = 0; i < 4; i++) {
            uint32_t p = add_proc(&m, i % 2);
            m.procs[p].pid = 100 + (uint32_t)i % 2;
            m.procs[p].nonce = 7 + (uint32_t)i % 2;
            m.procs[p].tool = kineto ? RS_TOOL_KINETO : RS_TOOL_RINGSCOPE;
            add_member(&m, world, i % 2, p, 0, 5);
        }
        assign(&m);
        assert_int_equal(m.nranks, 2);
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[i].global_rank, i % 2);
        assert_int_equal(m.procs[2].same, RS_NONE);
        rs_ranks_settle(&m);
        assert_int_equal(m.procs[2].same, 0);
        rs_model_free(&m);
    }
}

/* ---- several tools ---- */

/* Two tools, ranks 0 and 1 each. They are one rank where a communicator is laid over the other's, or where their
 * processes have one id; else there are two of each number. */
static void test_tools(void **state)
{
    (void)state;
    enum { OVER, SAME_PID, APART, CASES };
    for (int k = 0; k < CASES; k++) {
        struct rs_model m = {0};
        uint32_t a = add_comm(&m, 1, 2), b, x[2], y[2];
        rs_model_comm_of(&m, RS_TOOL_KINETO, 9, &b);
        m.comms[b].nranks = 2;
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t p = add_proc(&m, -1);
            m.procs[p].pid = 100 + i;
            x[i] = add_member(&m, a, (int32_t)i, p, 3, 5);
        }
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t q = add_proc(&m, (int32_t)i);
            m.procs[q].tool = RS_TOOL_KINETO;
            m.procs[q].pid = k == APART ? 200 + i : k == SAME_PID ? 100 + i : 0;
            if (k == OVER) m.procs[q].same = i;
            y[i] = add_member(&m, b, (int32_t)i, q, 0, RS_TIME_NONE);
        }
        if (k == OVER) m.comms[b].over = a;
        assign(&m);
        assert_int_equal(m.nranks, k == APART ? 4 : 2);
        assert_int_equal(m.world, 2);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(m.members[x[i]].rank_id == m.members[y[i]].rank_id, k != APART);
            assert_int_equal(m.members[x[i]].global_rank, i);
            assert_int_equal(m.members[y[i]].global_rank, i);
        }
        assert_int_equal(m.ranks[0].device, 3); /* as the tool that leads has it */
        rs_model_free(&m);
    }
}

/* A process group of PyTorch says which ranks of the job it is made of; alone it would number them 0 and 1. */
static void test_groups_of_pytorch(void **state)
{
    (void)state;
    static const int32_t ranks[] = {4, 6};
    struct rs_model m = {0};
    uint32_t c;
    rs_model_comm_of(&m, RS_TOOL_KINETO, 9, &c);
    m.comms[c].nranks = 2;
    m.comms[c].ranks = ranks;
    for (int32_t i = 0; i < 2; i++) add_member(&m, c, i, add_proc(&m, -1), 0, 5);
    assign(&m);
    assert_int_equal(m.ranks[0].number, 4);
    assert_int_equal(m.ranks[1].number, 6);
    assert_int_equal(m.world, 7);
    rs_model_free(&m);
}

/* ---- others beside the job ---- */

/* A communicator of two processes that the job does not know, without a word of the launcher's. */
static void test_odd_communicator(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t odd = add_comm(&m, 1, 2), world = add_comm(&m, 2, 4), x[4], y[2];
    for (int32_t i = 0; i < 2; i++) y[i] = add_member(&m, odd, i, add_proc(&m, -1), 0, 1);
    for (int32_t i = 0; i < 4; i++) x[i] = add_member(&m, world, i, add_proc(&m, i), 0, 5);
    assign(&m);
    assert_int_equal(m.nranks, 6);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[x[i]].global_rank, i);
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(m.members[y[i]].global_rank, -1);
    rs_model_free(&m);
}

/* A job that was started again: both attempts have their numbers, as the launcher says the same. */
static void test_second_attempt(void **state)
{
    (void)state;
    for (int launcher = 0; launcher < 2; launcher++) {
        struct rs_model m = {0};
        uint32_t first = add_comm(&m, 1, 3), second = add_comm(&m, 2, 3);
        for (int32_t i = 0; i < 6; i++)
            add_member(&m, i < 3 ? first : second, i % 3, add_proc(&m, launcher ? i % 3 : -1), 0, 5);
        assign(&m);
        assert_int_equal(m.nranks, 6);
        for (int32_t i = 0; i < 6; i++) assert_int_equal(m.members[i].global_rank, launcher ? i % 3 : -1);
        assert_int_equal(m.world, launcher ? 3 : 6);
        rs_model_free(&m);
    }
}

/* ---- ranks that share a GPU ---- */

static void called_by(struct rs_model *m, uint32_t proc, const struct rs_caller *callers, uint32_t n)
{
    m->procs[proc].callers = malloc(n * sizeof *callers);
    assert_non_null(m->procs[proc].callers);
    memcpy(m->procs[proc].callers, callers, n * sizeof *callers);
    m->procs[proc].ncallers = n;
}

/* A thread for each rank tells who is in a communicator of two of them; one thread for all does not. */
static void test_threads_of_a_device(void **state)
{
    (void)state;
    for (int threads = 0; threads < 2; threads++) {
        struct rs_model m = {0};
        uint32_t p = add_proc(&m, -1), world = add_comm(&m, 1, 4), pair = add_comm(&m, 2, 2), x[4], y[2];
        for (int32_t i = 0; i < 4; i++) x[i] = add_member(&m, world, i, p, 0, 5);
        for (int32_t i = 0; i < 2; i++) y[i] = add_member(&m, pair, i, p, 0, 6);
        const struct rs_caller callers[] = {{threads ? 11 : 9, x[0]}, {threads ? 12 : 9, x[1]},
                                            {threads ? 13 : 9, x[2]}, {threads ? 14 : 9, x[3]},
                                            {threads ? 12 : 9, y[0]}, {threads ? 14 : 9, y[1]}};
        called_by(&m, p, callers, 6);
        assign(&m);
        assert_int_equal(m.nranks, 4);
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[x[i]].global_rank, i);
        assert_int_equal(m.members[y[0]].global_rank, threads ? 1 : -1);
        assert_int_equal(m.members[y[1]].global_rank, threads ? 3 : -1);
        assert_int_equal(m.members[y[0]].place, m.members[x[0]].rank_id); /* on that GPU, in any case */
        rs_model_free(&m);
    }
}

/* ---- words ---- */

static void test_words(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, -1), row;
    m.procs[p].pid = 4711;
    rs_model_rank(&m, &row);
    m.ranks[row].proc = p;
    m.ranks[row].host = m.procs[p].host;
    static const struct {
        int32_t number, device;
        const char *words, *label;
    } cases[] = {{3, 2, "rank 3 (n0, GPU 2)", "rank 3 \xc2\xb7 GPU 2"},
                 {3, -1, "rank 3 (n0)", "rank 3"},
                 {-1, 2, "process 4711 (n0, GPU 2)", "GPU 2"},
                 {-1, -1, "process 4711 (n0)", "GPU"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rs_strbuf words = {0}, label = {0};
        m.ranks[row].number = cases[i].number;
        m.ranks[row].device = cases[i].device;
        rs_rank_words(&words, &m, row);
        rs_rank_label(&label, &m, row);
        assert_string_equal(rs_strbuf_borrow(&words), cases[i].words);
        assert_string_equal(rs_strbuf_borrow(&label), cases[i].label);
        rs_strbuf_free(&words);
        rs_strbuf_free(&label);
    }
    rs_model_free(&m);
}

static void test_nothing(void **state)
{
    (void)state;
    struct rs_model m = {0};
    assign(&m);
    assert_int_equal(m.world, -1);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world_numbers_all),
        cmocka_unit_test(test_devices_of_one_process),
        cmocka_unit_test(test_ranks_that_share_a_device),
        cmocka_unit_test(test_launcher),
        cmocka_unit_test(test_launcher_and_two_devices),
        cmocka_unit_test(test_one_rank_groups_add_none),
        cmocka_unit_test(test_one_rank_group_of_a_process),
        cmocka_unit_test(test_a_process_alone),
        cmocka_unit_test(test_processes_without_a_communicator),
        cmocka_unit_test(test_processes_that_worked),
        cmocka_unit_test(test_files_of_one_process),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_groups_of_pytorch),
        cmocka_unit_test(test_odd_communicator),
        cmocka_unit_test(test_second_attempt),
        cmocka_unit_test(test_threads_of_a_device),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
