/* Laying over, on hand-made jobs that two tools saw: what is the same is found, and nothing else. */
#include "join/overlay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/view.h"
#include "join/join.h"
#include "join/overlay_facts.h"
#include "join/ranks.h"

enum { RANKS = 2 };
#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct rs_model m;

static void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

/* A tool's view of the job: a process and a clock of its own for each rank. */
struct tool {
    enum rs_tool tool;
    int64_t offset; /* of all its clocks, ns */
    uint32_t procs[RANKS], gpus[RANKS];
};

static struct tool add_tool(enum rs_tool tool, int64_t offset, uint32_t pid)
{
    struct tool t = {.tool = tool, .offset = offset};
    for (uint32_t r = 0; r < RANKS; r++) {
        char boot[32];
        uint32_t host;
        snprintf(boot, sizeof boot, "%d:%u", (int)tool, r);
        fine(rs_model_host(&m, "", boot, &host, NULL));
        fine(rs_model_proc(&m, &t.procs[r], NULL));
        struct rs_proc *p = &m.procs[t.procs[r]];
        p->tool = (uint8_t)tool;
        p->host = host;
        p->pid = pid ? pid + r : 0;
        p->launcher_rank = (int32_t)r;
        p->begin = p->first = offset;
        p->end = p->last = offset + INT64_C(100000) * MS;
        p->ended = RS_END_WELL;
        p->complete = true;
        fine(rs_model_gpu(&m, host, (uint8_t[16]){0}, &t.gpus[r], NULL));
        m.domains[t.gpus[r]].rigid = true;
    }
    return t;
}

static uint32_t add_comm(const struct tool *t, uint64_t hash, const char *name)
{
    uint32_t comm, member;
    fine(rs_model_comm_of(&m, t->tool, hash, &comm, NULL));
    m.comms[comm].nranks = RANKS;
    m.comms[comm].name = name;
    m.comms[comm].made_up = t->tool == RS_TOOL_KINETO || t->tool == RS_TOOL_FLIGHT;
    for (int r = 0; r < RANKS; r++) {
        fine(rs_model_member(&m, comm, &member, NULL));
        m.members[member].rank = r;
        m.members[member].proc = t->procs[r];
        m.members[member].gpu = t->gpus[r];
        m.members[member].device = 0;
        m.members[member].created = t->offset;
    }
    return comm;
}

static uint32_t member_of(uint32_t comm, int32_t rank)
{
    for (uint32_t i = 0; i < m.nmembers; i++)
        if (m.members[i].comm == comm && m.members[i].rank == rank) return i;
    fail();
    return RS_NONE;
}

/* How much later than in step 0 something is: steps are never of one length. */
static int64_t step_at(uint32_t step)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < step; i++) at += 20 * MS + (int64_t)(i * 7919 % 11) * 300 * US;
    return at;
}

struct call {
    const char *func;
    uint64_t count;
    int64_t at; /* ns after the step began */
};

static const struct call calls[] = {
    {"AllReduce", 1 << 20, 1 * MS}, {"AllReduce", 1 << 20, 2 * MS}, {"AllGather", 4096, 3 * MS}};
enum { CALLS = sizeof calls / sizeof *calls };

static uint32_t add_part(const struct tool *t, uint32_t comm, int32_t rank, const struct call *c, uint32_t step,
                         uint64_t seq, bool kernel)
{
    uint32_t part;
    fine(rs_model_part(&m, &part, NULL));
    struct rs_parts *p = &m.parts;
    p->member[part] = member_of(comm, rank);
    p->kind[part] = RS_PART_COLL;
    p->seq[part] = seq;
    p->count[part] = c->count;
    p->handle[part] = part + 1;
    fine(rs_model_string(&m, c->func, &p->func[part], NULL));
    fine(rs_model_string(&m, "ncclFloat32", &p->dtype[part], NULL));
    int64_t at = t->offset + step_at(step) + c->at + (step * 31 + (uint32_t)rank * 17) % 7 * US;
    p->enqueued[part] = at + (t->tool == RS_TOOL_KINETO ? -20 * US : 0);
    if (!kernel) return part;
    p->start[part] = at + 50 * US + rank * 100 * US;
    p->end[part] = t->offset + step_at(step) + c->at + 900 * US;
    p->start_source[part] = p->end_source[part] = RS_FROM_KERNEL;
    return part;
}

/* Steps first .. last, on every rank. Kineto tells the step. */
static void add_steps(const struct tool *t, uint32_t comm, uint32_t first, uint32_t last)
{
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t step = first; step < last; step++)
            for (uint32_t k = 0; k < CALLS; k++) {
                uint64_t seq = k == 2 ? step - first : 2 * (step - first) + k;
                uint32_t part = add_part(t, comm, r, &calls[k], step, seq, t->tool != RS_TOOL_FLIGHT);
                struct rs_tag tag = {.part = part, .step = step, .pg_seq = (int64_t)seq, .duration_ns = RS_TIME_NONE};
                if (t->tool == RS_TOOL_KINETO) fine(rs_model_tag(&m, &tag, NULL));
            }
}

static void join(void)
{
    fine(rs_model_link(&m, NULL));
    fine(rs_join(&m, true, NULL));
}

static int setup(void **state)
{
    (void)state;
    m = (struct rs_model){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rs_model_free(&m);
    return 0;
}

static uint32_t count_laid(enum rs_tool tool)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m.ops.n; i++) n += m.comms[m.ops.comm[i]].tool == tool && m.ops.over[i] != RS_NONE;
    return n;
}

static bool has_note(const char *text)
{
    for (uint32_t i = 0; i < m.nnotes; i++)
        if (strstr(m.notes[i].text, text)) return true;
    return false;
}

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
        assert_true(over->error_ns >= 0 && over->error_ns < 100 * US);
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

static void test_seats_once(void **state)
{
    (void)state;
    struct tool b = add_tool(RS_TOOL_KINETO, 5000 * MS, 400), a = add_tool(RS_TOOL_EXAMPLE, 0, 400);
    uint32_t y = add_comm(&b, 88, "default_pg:0"), x = add_comm(&a, 77, NULL);
    add_steps(&b, y, 2, 6);
    add_steps(&a, x, 0, 8);
    join();
    static const struct rs_filter everything;
    struct rs_view view;
    fine(rs_view_make(&view, &m, &everything, NULL));
    assert_int_equal(view.nseats, RANKS);
    for (uint32_t i = 0; i < view.nseats; i++) assert_int_equal(m.procs[view.seats[i].proc].tool, RS_TOOL_EXAMPLE);
    for (int32_t r = 0; r < RANKS; r++) assert_int_equal(view.seat_of[member_of(x, r)], view.seat_of[member_of(y, r)]);
    assert_int_equal(view.nops, 8 * CALLS);
    rs_view_free(&view);
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
    assert_false(has_note("counterpart"));
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
        if (!(m.parts.flags[i] & RS_PART_LENT)) continue;
        lent++;
        assert_int_equal(m.members[m.parts.member[i]].comm, x);
        assert_true(m.parts.start[i] > m.parts.enqueued[i] && m.parts.start[i] < m.parts.enqueued[i] + MS);
        assert_int_equal(m.procs[m.members[m.parts.member[i]].proc].tool, RS_TOOL_RINGSCOPE);
        assert_int_equal(rs_part_start_domain(&m, i), b.gpus[m.members[m.parts.member[i]].rank]);
    }
    assert_int_equal(lent, 2 * RANKS); /* an all-reduce and an all-gather of that number */
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
            fine(rs_model_tag(&m, &tag, NULL));
        }
    join();
    for (uint32_t i = 0; i < m.ops.n; i++) {
        struct rs_facts f;
        rs_facts_of_op(&m, i, &f);
        assert_int_equal(f.has_comms_id, m.ops.seq[i] != 1);
        if (f.has_comms_id) assert_true(f.comms_id == UINT64_C(0xf000000000000001) + m.ops.seq[i]);
        assert_int_equal(f.pg_seq, m.ops.seq[i]);
    }
    assert_true(has_note("1 collectives have another comms id"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seats_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_which_of_two, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_three, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pairs_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lends_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comms_id, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
