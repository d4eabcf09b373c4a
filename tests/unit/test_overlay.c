/* Laying over, on hand-made jobs that two tools saw: what is the same is found, and nothing else. */
#include "join/overlay.h"

#include "join/overlay_facts.h"
#include "overlaid.h"

/* Steps 5 to 8 of 12: sizes fit in nine places, times in one, though the clocks have nothing in common. */
static void test_window(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_EXAMPLE, 0, 400),
                b = add_tool(RS_TOOL_KINETO, INT64_C(1700000000) * 1000 * MS, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
    add_steps(&a, x, 0, 12);
    add_steps(&b, y, 5, 9);
    join();
    assert_int_equal(m.comms[y].over, x);
    assert_int_equal(count_laid(RS_TOOL_KINETO), 4 * CALLS);
    for (uint32_t i = 0; i < m.ops.n; i++) {
        uint32_t over = m.ops.over[i];
        if (m.ops.comm[i] != y) continue;
        struct rs_facts f;
        rs_facts_of_op(&m, over, &f);
        assert_true(f.tools == (1u << RS_TOOL_EXAMPLE | 1u << RS_TOOL_KINETO));
        assert_string_equal(f.group, "0");
        assert_int_equal(f.desc_len, strlen("default_pg"));
        uint64_t seq = m.ops.func[over] == m.ops.func[i] ? m.ops.seq[over] : UINT64_MAX;
        uint64_t per_step = strcmp(rs_model_text(&m, m.ops.func[over]), "AllGather") ? 2 : 1;
        assert_int_equal(seq / per_step, f.step);
    }
    /* One axis for both. */
    for (int r = 0; r < RANKS; r++) {
        const struct rs_domain *lead = &m.domains[a.gpus[r]], *over = &m.domains[b.gpus[r]];
        assert_int_equal(over->method, RS_CLOCK_OVERLAY);
        assert_int_equal(over->island, lead->island);
        assert_true(over->error_ns >= lead->error_ns && over->error_ns < lead->error_ns + 20 * US);
        assert_int_equal(m.domains[m.hosts[m.procs[b.procs[r]].host].domain].method, RS_CLOCK_OVERLAY);
        assert_int_equal(m.procs[b.procs[r]].same, a.procs[r]);
    }
    for (uint32_t i = 0; i < m.ops.n; i++) {
        if (m.ops.over[i] == RS_NONE) continue;
        int64_t d = m.ops.first[i] - m.ops.first[m.ops.over[i]];
        assert_true(d > -20 * US && d < 20 * US);
    }
    assert_false(has_note("none of its"));
}

/* Another run of the same program: same order, other times. And one with other process ids. */
static void test_another_run(void **state)
{
    (void)state;
    for (int with_pid = 0; with_pid < 2; with_pid++) {
        struct tool a = add_tool(RS_TOOL_EXAMPLE, 0, 400), b = add_tool(RS_TOOL_KINETO, 0, with_pid ? 500 : 0);
        uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
        add_steps(&a, x, 0, 8);
        add_steps(&b, y, 0, 8);
        if (!with_pid) /* its steps were of other lengths */
            for (uint32_t i = 0; i < m.parts.n; i++) {
                if (m.members[m.parts.member[i]].comm != y) continue;
                int64_t late = (int64_t)(m.parts.seq[i] * m.parts.seq[i]) * 3 * MS;
                m.parts.enqueued[i] += late;
                m.parts.start[i] += late;
                m.parts.end[i] += late;
            }
        join();
        assert_int_equal(m.comms[y].over, RS_NONE);
        assert_int_equal(count_laid(RS_TOOL_KINETO), 0);
        for (int r = 0; r < RANKS; r++) assert_int_equal(m.procs[b.procs[r]].same, RS_NONE);
        assert_true(has_note("kineto: none of its 24 operations"));
        rs_model_free(&m);
        m = (struct rs_model){0};
    }
}

/* Equal ranks, other sizes. */
static void test_other_sizes(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_EXAMPLE, 0, 0), b = add_tool(RS_TOOL_FLIGHT, 0, 0);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
    add_steps(&a, x, 0, 8);
    add_steps(&b, y, 0, 8);
    for (uint32_t i = 0; i < m.parts.n; i++)
        if (m.members[m.parts.member[i]].comm == y) m.parts.count[i] += 12345;
    join();
    assert_int_equal(count_laid(RS_TOOL_FLIGHT), 0);
    assert_true(has_note("flight-recorder: none of its 24 operations"));
}

/* Two communicators of the same ranks: the one whose times have the pattern, or that has the name. */
static void test_which_of_two(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_EXAMPLE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t first = add_comm(&a, 77, NULL), second = add_comm(&a, 78, NULL), y = add_comm(&b, 88, "dp:3");
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t s = 0; s < 10; s++) {
            struct call early = {"AllReduce", 64, (int64_t)(s * 5 % 7) * MS},
                        late = {"AllReduce", 64, (int64_t)(s * 3 % 5) * 2 * MS};
            add_part(&a, first, r, &early, s, s, true);
            add_part(&a, second, r, &late, s, s, true);
        }
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t s = 3; s < 9; s++) {
            struct call late = {"AllReduce", 64, (int64_t)(s * 3 % 5) * 2 * MS};
            add_part(&b, y, r, &late, s, s - 3, true);
        }
    join();
    assert_int_equal(m.comms[y].over, second);
    assert_int_equal(m.comms[first].over, RS_NONE);
    assert_int_equal(count_laid(RS_TOOL_KINETO), 6);
}

/* An operation that the leading tool lost: what comes behind it still finds its place, and the lost one is kept. */
static void test_a_gap(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_EXAMPLE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "dp:3");
    struct call c = {"AllReduce", 64, 0};
    for (int32_t r = 0; r < RANKS; r++) {
        for (uint32_t s = 0; s < 20; s++)
            if (s != 12) add_part(&a, x, r, &c, s, s, true);
        for (uint32_t s = 0; s < 20; s++) add_part(&b, y, r, &c, s, s, true);
    }
    join();
    assert_int_equal(m.comms[y].over, x);
    for (uint32_t i = 0; i < m.ops.n; i++) {
        if (m.ops.comm[i] != y) continue;
        if (m.ops.seq[i] == 12)
            assert_int_equal(m.ops.over[i], RS_NONE);
        else
            assert_int_equal(m.ops.seq[m.ops.over[i]], m.ops.seq[i]);
    }
    assert_true(has_note("kineto: 1 of its 20 operations"));
}

/* Three tools: all lie over the first, and one that only tells calls is placed by those. */
static void test_three(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400),
                c = add_tool(RS_TOOL_FLIGHT, 9000 * MS, 0);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0"), z = add_comm(&c, 89, "default_pg:0");
    add_steps(&a, x, 0, 12);
    add_steps(&b, y, 5, 9);
    add_steps(&c, z, 0, 12);
    join();
    assert_int_equal(m.comms[y].over, x);
    assert_int_equal(m.comms[z].over, x);
    assert_int_equal(count_laid(RS_TOOL_KINETO), 4 * CALLS);
    assert_int_equal(count_laid(RS_TOOL_FLIGHT), 12 * CALLS);
    for (int r = 0; r < RANKS; r++) {
        uint32_t host = m.hosts[m.procs[c.procs[r]].host].domain;
        assert_int_equal(m.domains[host].method, RS_CLOCK_OVERLAY);
        assert_int_equal(m.domains[host].island, m.domains[a.gpus[r]].island);
    }
    struct rs_facts f;
    rs_facts_of_comm(&m, x, &f);
    assert_int_equal(f.tools, 1 << RS_TOOL_RINGSCOPE | 1 << RS_TOOL_KINETO | 1 << RS_TOOL_FLIGHT);
    assert_string_equal(f.group, "0");
}

/* Sends between two ranks, on a communicator of their own that the framework counts to the group. */
static void test_pairs_elsewhere(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t x = add_comm(&a, 77, "default_pg:0"), two = add_comm(&a, 78, NULL), y = add_comm(&b, 88, "default_pg:0");
    for (int32_t r = 0; r < RANKS; r++) /* in the other order */
        m.members[member_of(two, r)].proc = a.procs[RANKS - 1 - r];
    uint32_t first = member_of(two, 0), second = member_of(two, 1);
    m.members[first].gpu = a.gpus[1];
    m.members[second].gpu = a.gpus[0];
    add_steps(&a, x, 0, 8);
    add_steps(&b, y, 0, 8);
    for (uint32_t s = 0; s < 5; s++)
        for (int32_t r = 0; r < RANKS; r++) {
            struct call c = {"Send", 512, 7 * MS};
            uint32_t lead = add_part(&a, two, 1 - r, &c, s, UINT64_MAX, false);
            uint32_t over = add_part(&b, y, r, &c, s, UINT64_MAX, false);
            m.parts.kind[lead] = m.parts.kind[over] = r ? RS_PART_RECV : RS_PART_SEND;
            m.parts.peer[lead] = r;
            m.parts.peer[over] = 1 - r;
        }
    join();
    uint32_t parts = 0; /* whether they are paired there or not */
    for (uint32_t i = 0; i < m.parts.n; i++) {
        uint32_t op = m.parts.op[i];
        if (m.members[m.parts.member[i]].comm != y || m.parts.kind[i] == RS_PART_COLL) continue;
        parts++;
        assert_int_not_equal(m.ops.over[op], RS_NONE);
        uint32_t over = m.ops.over[op], rank = m.parts.kind[i] == RS_PART_SEND ? 1 : 0;
        assert_int_equal(m.ops.comm[over], two);
        int64_t apart = m.parts.enqueued[i] - m.parts.enqueued[rs_op_part_of(&m, over, (int32_t)rank)];
        assert_true(apart > -100 * US && apart < 100 * US);
    }
    assert_int_equal(parts, 5 * RANKS);
    assert_int_equal(m.comms[y].over, x);
    assert_false(has_note("match none of the other inputs"));
}

/* Both tools read wall time, and one of them 5 ms wrong: its clocks go by the operations, not by what they claim. */
static void test_wrong_wall_time(void **state)
{
    (void)state;
    const int64_t wall = INT64_C(1700000000) * 1000 * MS;
    struct tool tools[] = {add_tool(RS_TOOL_KINETO, wall, 400), add_tool(RS_TOOL_FLIGHT, wall - 5 * MS, 400)};
    for (int t = 0; t < 2; t++) {
        uint32_t comm = add_comm(&tools[t], 88, "default_pg:0");
        for (uint32_t i = 0; i < 8 * RANKS; i++) {
            uint32_t step = i / RANKS, part = add_part(&tools[t], comm, i % RANKS, &calls[0], step, step, !t);
            struct rs_tag tag = {.part = part, .step = RS_NONE, .pg_seq = step, .duration_ns = RS_TIME_NONE};
            tag.has_comms_id = true;
            tag.comms_id = UINT64_C(0xf000000000000001) + step;
            rs_model_tag(&m, &tag);
        }
    }
    join();
    assert_int_equal(count_laid(RS_TOOL_FLIGHT), 8);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        uint32_t over = m.ops.over[m.parts.op[i]];
        if (over == RS_NONE) continue;
        uint32_t lead = rs_op_part_of(&m, over, m.members[m.parts.member[i]].rank);
        int64_t apart = m.parts.enqueued[i] - m.parts.enqueued[lead];
        assert_true(apart > -100 * US && apart < 100 * US);
    }
}

/* A rank that has no part in an operation is not given its neighbour's. */
static void test_part_of_a_rank(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400);
    uint32_t x = add_comm(&a, 77, NULL), alone = add_part(&a, x, 1, &calls[0], 0, 0, true), both[RANKS];
    for (int32_t r = 0; r < RANKS; r++) both[r] = add_part(&a, x, r, &calls[1], 0, 1, true);
    join();
    uint32_t op = m.parts.op[alone];
    assert_int_equal(rs_op_part_of(&m, op, 0), RS_NONE);
    assert_int_equal(rs_op_part_of(&m, op, 1), alone);
    assert_int_equal(rs_op_part_of(&m, op, 2), RS_NONE);
    op = m.parts.op[both[0]];
    for (int32_t r = 0; r < RANKS; r++) assert_int_equal(rs_op_part_of(&m, op, r), both[r]);
    assert_int_equal(rs_op_part_of(&m, op, RANKS), RS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_which_of_two, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_three, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pairs_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_wall_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_part_of_a_rank, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
