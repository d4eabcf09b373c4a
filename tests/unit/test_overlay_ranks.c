/* One job by two tools of which one joins the wrong ranks, sees several windows, or knows calls that NCCL makes sends and
 * receives of: each rank's own calls tell what is what. On clocks that have nothing in common, and on one wall clock. */
#include "join/overlay.h"
#include "overlaid.h"

#define WALL_AT (INT64_C(1790000000) * 1000 * MS)

/* Each part of a communicator is laid over the operation in which its rank started when it did. */
static uint32_t check_parts(uint32_t y, int64_t apart)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m.parts.n; i++) {
        const struct rs_member *x = &m.members[m.parts.member[i]];
        if (x->comm != y) continue;
        uint32_t over = m.ops.over[m.parts.op[i]], found = 0;
        assert_int_not_equal(over, RS_NONE);
        for (uint32_t k = 0; k < m.ops.nparts[over]; k++) {
            uint32_t part = m.order[m.ops.part[over] + k];
            if (m.members[m.parts.member[part]].rank != x->rank) continue;
            int64_t d = m.parts.enqueued[i] - m.parts.enqueued[part];
            assert_true(d > -apart && d < apart);
            found++;
        }
        assert_int_equal(found, 1);
        n++;
    }
    return n;
}

/* Every operation that is not laid over another holds each of its ranks once. */
static void check_operations(uint32_t x, uint32_t n)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < m.ops.n; i++) {
        if (m.ops.over[i] != RS_NONE) continue;
        assert_int_equal(m.ops.comm[i], x);
        assert_int_equal(m.ops.nparts[i], RANKS);
        own++;
    }
    assert_int_equal(own, n);
}

static void test_wrong_joins(void **state)
{
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        struct tool a = add_tool(RS_TOOL_RINGSCOPE, wall ? WALL_AT : 0, 400),
                    b = add_tool(RS_TOOL_KINETO, wall ? WALL_AT : 3000 * MS, 400);
        uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
        add_steps(&a, x, 0, 12);
        add_steps(&b, y, 4, 10);
        for (uint32_t i = 0; i < m.parts.n; i++) { /* rank 1 is taken to be one behind, from some place on */
            const struct rs_member *k = &m.members[m.parts.member[i]];
            if (k->comm == y && k->rank == 1 && m.parts.seq[i] >= 3) m.parts.seq[i]++;
        }
        join();
        assert_int_equal(m.comms[y].over, x);
        assert_int_equal(check_parts(y, 100 * US), 6 * CALLS * RANKS);
        check_operations(x, 12 * CALLS);
        assert_false(has_note("match none of the other inputs"));
        rs_model_free(&m);
        m = (struct rs_model){0};
    }
}

/* Two windows of each rank, each numbered from 0. */
static void test_two_windows(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, WALL_AT, 400), b = add_tool(RS_TOOL_KINETO, WALL_AT, 400),
                c = add_tool(RS_TOOL_KINETO, WALL_AT, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0"), again = add_comm(&c, 88, "default_pg:0");
    assert_int_equal(y, again);
    add_steps(&a, x, 0, 14);
    add_steps(&b, y, 2, 5);
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t step = 8; step < 13; step++)
            for (uint32_t k = 0; k < CALLS; k++) {
                uint32_t part = add_part(&c, y, r, &calls[k], step, k == 2 ? step - 8 : 2 * (step - 8) + k, true);
                for (uint32_t i = 0; i < m.nmembers; i++) /* of the second process */
                    if (m.members[i].comm == y && m.members[i].proc == c.procs[r]) m.parts.member[part] = i;
            }
    join();
    assert_int_equal(m.comms[y].over, x);
    assert_int_equal(check_parts(y, 100 * US), 8 * CALLS * RANKS);
    check_operations(x, 14 * CALLS);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(m.procs[b.procs[r]].same, a.procs[r]);
        assert_int_equal(m.procs[c.procs[r]].same, a.procs[r]);
    }
}

/* An all-to-all of the framework is sends and receives for NCCL, on a communicator that does nothing else. */
static void test_all_to_all(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, WALL_AT, 400), b = add_tool(RS_TOOL_KINETO, WALL_AT, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "ep:1");
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t s = 0; s < 10; s++) {
            struct call c = {"AlltoAll", 64, 4 * MS}, send = {"Send", 32, 4 * MS}, recv = {"Recv", 32, 4 * MS};
            if (s >= 3 && s < 8) add_part(&b, y, r, &c, s, s - 3, true);
            for (int k = 0; k < 2; k++) { /* no timer of theirs is any good */
                uint32_t part = add_part(&a, x, r, k ? &recv : &send, s, UINT64_MAX, false);
                m.parts.kind[part] = k ? RS_PART_RECV : RS_PART_SEND;
                m.parts.peer[part] = 1 - r;
                m.parts.group[part] = 1000 + s;
                m.parts.enqueued[part] += k * US;
            }
        }
    join();
    assert_int_equal(m.comms[y].over, x);
    uint32_t laid = 0;
    for (uint32_t i = 0; i < m.ops.n; i++) {
        if (m.ops.comm[i] != y) continue;
        uint32_t over = m.ops.over[i];
        assert_int_not_equal(over, RS_NONE);
        assert_int_equal(m.ops.kind[over], RS_OP_FANOUT);
        uint32_t part = m.order[m.ops.part[over]], own = m.order[m.ops.part[i]];
        assert_int_equal(m.parts.group[part], 1000 + 3 + m.ops.seq[i]);
        assert_int_equal(m.parts.start[part], m.parts.start[own]); /* which only this tool knows */
        assert_true(m.parts.flags[part] & RS_PART_LENT_START);
        laid++;
    }
    assert_int_equal(laid, 5);
}

/* One process has one wall clock, but GPU times came onto it by two ways. */
static void test_one_clock(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, WALL_AT, 400), b = add_tool(RS_TOOL_KINETO, WALL_AT, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
    add_steps(&a, x, 0, 12);
    add_steps(&b, y, 4, 7);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        const struct rs_member *k = &m.members[m.parts.member[i]];
        if (k->comm != y) continue;
        m.parts.start[i] += 7 * US + k->rank * (int64_t)m.parts.seq[i] * 300; /* a rate, to whoever looks for one */
        m.parts.end[i] += 7 * US;
    }
    join();
    for (int r = 0; r < RANKS; r++) {
        struct rs_domain *lead = &m.domains[m.hosts[m.procs[a.procs[r]].host].domain],
                         *host = &m.domains[m.hosts[m.procs[b.procs[r]].host].domain], *gpu = &m.domains[b.gpus[r]];
        int64_t at = WALL_AT + 70000 * MS; /* long after the trace */
        assert_int_equal(rs_axis_common(&host->axis, at), rs_axis_common(&lead->axis, at));
        assert_int_equal(host->method, RS_CLOCK_OVERLAY);
        assert_true(host->error_ns <= lead->error_ns + 2 * US);
        int64_t moved = rs_axis_common(&lead->axis, at) - rs_axis_common(&gpu->axis, at);
        assert_true(moved >= 6 * US && moved <= 9 * US);
        assert_true(gpu->drift_ppm == lead->drift_ppm);
    }
}

/* Other pids are other processes, where both tools tell them as the processes see them: Nsight Systems does not. */
static void test_same_process(void **state)
{
    (void)state;
    static const struct {
        enum rs_tool tool;
        uint32_t pid;
        bool same; /* as pid 400 of a recording may be */
    } cases[] = {
        {RS_TOOL_KINETO, 400, true},   {RS_TOOL_KINETO, 500, false}, {RS_TOOL_KINETO, 0, true},
        {RS_TOOL_EXAMPLE, 500, false}, {RS_TOOL_NSYS, 400, true},    {RS_TOOL_NSYS, 500, true},
    };
    struct tool ours = add_tool(RS_TOOL_RINGSCOPE, 0, 400);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tool other = add_tool(cases[i].tool, 0, cases[i].pid);
        assert_int_equal(rs_overlay_same_process(&m, ours.procs[0], other.procs[0]), cases[i].same);
        assert_int_equal(rs_overlay_same_process(&m, other.procs[0], ours.procs[0]), cases[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_wrong_joins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_to_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_process, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
