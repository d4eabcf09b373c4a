/* What operations of several tools know together, on hand-made jobs: ranks, times that are lent, ids. */
#include "join/overlay_facts.h"

#include "analyse/view.h"
#include "overlaid.h"

static void test_ranks_once(void **state)
{
    (void)state;
    struct tool b = add_tool(RS_TOOL_KINETO, 5000 * MS, 400), a = add_tool(RS_TOOL_EXAMPLE, 0, 400);
    uint32_t y = add_comm(&b, 88, "default_pg:0"), x = add_comm(&a, 77, NULL);
    add_steps(&b, y, 2, 6);
    add_steps(&a, x, 0, 8);
    join();
    static const struct rs_filter everything;
    struct rs_view view;
    rs_view_init(&view, &m, &everything);
    fine(RS_OK);
    assert_int_equal(view.model->nranks, RANKS);
    for (uint32_t i = 0; i < view.model->nranks; i++)
        assert_int_equal(m.procs[view.model->ranks[i].proc].tool, RS_TOOL_EXAMPLE);
    for (int32_t r = 0; r < RANKS; r++)
        assert_int_equal(view.model->members[member_of(x, r)].rank_id, view.model->members[member_of(y, r)].rank_id);
    assert_int_equal(view.nops, 8 * CALLS);
    rs_view_free(&view);
}

/* Times that the leading tool lacks are those of the other, with its clock's error. */
static void test_lends_times(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
    add_steps(&a, x, 0, 8);
    add_steps(&b, y, 0, 8);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        if (m.members[m.parts.member[i]].comm != x || m.parts.seq[i] != 3) continue;
        m.parts.start[i] = m.parts.end[i] = RS_TIME_NONE;
        m.parts.start_source[i] = m.parts.end_source[i] = RS_FROM_NOTHING;
    }
    join();
    uint32_t lent = 0;
    for (uint32_t i = 0; i < m.parts.n; i++) {
        if (!(m.parts.flags[i] & RS_PART_LENT_START)) continue;
        lent++;
        assert_int_equal(m.members[m.parts.member[i]].comm, x);
        assert_true(m.parts.start[i] > m.parts.enqueued[i] && m.parts.start[i] < m.parts.enqueued[i] + MS);
        assert_int_equal(m.procs[m.members[m.parts.member[i]].proc].tool, RS_TOOL_RINGSCOPE);
        assert_int_equal(rs_part_start_domain(&m, i), b.gpus[m.members[m.parts.member[i]].rank]);
    }
    assert_int_equal(lent, 2 * RANKS); /* an all-reduce and an all-gather of that number */
}

/* What the leading tool knows stays, whatever another says of it; an end that it does not know comes from there, and only
 * where both saw the kernel start. */
static void test_keeps_times(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0"), other = RS_NONE, early = RS_NONE;
    add_steps(&a, x, 0, 12);
    add_steps(&b, y, 0, 12);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        const struct rs_member *k = &m.members[m.parts.member[i]];
        bool reduce = !strcmp(rs_model_text(&m, m.parts.func[i]), "AllReduce");
        if (k->comm == y && k->rank == 0 && reduce && m.parts.seq[i] == 5) m.parts.start[i] -= 5 * MS;
        if (k->comm != x || k->rank != 0 || !reduce) continue;
        if (m.parts.seq[i] == 5) other = i;
        if (m.parts.seq[i] == 7) early = i;
        if (m.parts.seq[i] == 5 || m.parts.seq[i] == 7) m.parts.flags[i] |= RS_PART_END_EARLY;
    }
    int64_t starts[2] = {m.parts.start[other] - m.parts.enqueued[other],
                         m.parts.start[early] - m.parts.enqueued[early]};
    int64_t ends[2] = {m.parts.end[other] - m.parts.start[other], m.parts.end[early] - m.parts.start[early]};
    join();
    assert_int_equal(m.parts.start[other] - m.parts.enqueued[other], starts[0]);
    assert_int_equal(m.parts.end[other] - m.parts.start[other], ends[0]);
    assert_true(m.parts.flags[other] & RS_PART_END_EARLY);
    assert_int_equal(m.parts.start[early] - m.parts.enqueued[early], starts[1]);
    assert_true(llabs(m.parts.end[early] - m.parts.start[early] - ends[1]) < 100 * US);
    assert_int_equal(m.parts.flags[early] & (RS_PART_END_EARLY | RS_PART_LENT_START | RS_PART_LENT_END),
                     RS_PART_LENT_END);
    assert_int_equal(rs_part_start_domain(&m, early), a.gpus[0]);
    assert_int_equal(rs_part_end_domain(&m, early), b.gpus[0]);
    for (uint32_t i = 0; i < m.parts.n; i++)
        if (i != early) assert_false(m.parts.flags[i] & (RS_PART_LENT_START | RS_PART_LENT_END | RS_PART_STALE));
}

/* Times that cannot be those of the operation are not lent: before its launch, behind the next one's start. */
static void test_refuses_times(void **state)
{
    (void)state;
    struct tool a = add_tool(RS_TOOL_RINGSCOPE, 0, 400), b = add_tool(RS_TOOL_KINETO, 3000 * MS, 400);
    uint32_t x = add_comm(&a, 77, NULL), y = add_comm(&b, 88, "default_pg:0");
    add_steps(&a, x, 0, 12);
    add_steps(&b, y, 0, 12);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        const struct rs_member *k = &m.members[m.parts.member[i]];
        bool reduce = !strcmp(rs_model_text(&m, m.parts.func[i]), "AllReduce");
        uint64_t seq = m.parts.seq[i];
        if (!reduce || (seq != 6 && seq != 8 && seq != 10)) continue;
        int64_t off = seq == 6 ? -3 * MS : seq == 8 ? 8 * MS : 0;
        if (k->comm == y) {
            m.parts.start[i] += off;
            m.parts.end[i] += off;
        } else {
            m.parts.start[i] = m.parts.end[i] = RS_TIME_NONE;
            m.parts.start_source[i] = m.parts.end_source[i] = RS_FROM_NOTHING;
        }
    }
    join();
    for (uint32_t i = 0; i < m.parts.n; i++) {
        if (m.members[m.parts.member[i]].comm != x) continue;
        bool reduce = !strcmp(rs_model_text(&m, m.parts.func[i]), "AllReduce");
        bool lent = reduce && m.parts.seq[i] == 10, lacks = reduce && (m.parts.seq[i] == 6 || m.parts.seq[i] == 8);
        assert_int_equal((m.parts.flags[i] & RS_PART_LENT_START) != 0, lent);
        assert_int_equal(m.parts.start[i] == RS_TIME_NONE, lacks);
    }
}

/* The ids of ranks that do not agree are not shown. */
static void test_comms_id(void **state)
{
    (void)state;
    struct tool b = add_tool(RS_TOOL_KINETO, 0, 400);
    uint32_t y = add_comm(&b, 88, "default_pg:0");
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t s = 0; s < 3; s++) {
            struct call c = {"AllReduce", 64, 0};
            uint32_t part = add_part(&b, y, r, &c, s, s, true);
            struct rs_tag tag = {.part = part,
                                 .step = RS_NONE,
                                 .pg_seq = s,
                                 .duration_ns = RS_TIME_NONE,
                                 .comms_id = s == 1 ? 500 + (uint64_t)r : UINT64_C(0xf000000000000001) + s,
                                 .has_comms_id = true};
            rs_model_tag(&m, &tag);
            fine(RS_OK);
        }
    join();
    for (uint32_t i = 0; i < m.ops.n; i++) {
        struct rs_facts f;
        rs_facts_of_op(&m, i, &f);
        assert_int_equal(f.has_comms_id, m.ops.seq[i] != 1);
        if (f.has_comms_id) assert_true(f.comms_id == UINT64_C(0xf000000000000001) + m.ops.seq[i]);
        assert_int_equal(f.pg_seq, m.ops.seq[i]);
    }
    assert_true(has_note("1 collectives have different comms ids"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranks_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lends_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keeps_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comms_id, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
