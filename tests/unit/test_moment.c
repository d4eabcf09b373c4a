/* What a rank did at a moment, on models made by hand: what is sure, what may be, and what was not recorded. */
#include "analyse/moment.h"

#include "joined.h"
#include "nccl/abi.h"

static struct rs_moment *rows;
static uint32_t nrows;

/* The one rank of the job at a moment. */
static const struct rs_moment *at(int64_t ns)
{
    free(rows);
    rs_moment_find(&rows, &nrows, &model, &everything, ns);
    fine(RS_OK);
    assert_true(nrows >= 1);
    return &rows[0];
}

static int tear_down(void **state)
{
    (void)state;
    free(rows);
    rows = NULL;
    rs_model_free(&model);
    return 0;
}

/* One rank alone in its communicator, recorded from 1 ms to 100 ms. */
static uint32_t one_rank(void)
{
    make_job(1, 1, 10 * US);
    uint32_t comm = make_comm(1, 0, 1, 1);
    struct rs_proc *p = &model.procs[procs[0]];
    p->begin = p->first = MS;
    p->end = p->last = 100 * MS;
    p->ended = RS_END_KILLED;
    p->covers = calloc(1, sizeof *p->covers);
    assert_non_null(p->covers);
    p->covers[0] = (struct rs_cover){MS, INT64_MAX, RS_COLL | RS_P2P};
    p->ncovers = 1;
    return comm;
}

static uint32_t add_op(uint32_t comm, int64_t start, int64_t end)
{
    uint32_t op = new_op(comm, RS_OP_COLL, "AllReduce", 4);
    return add_part(op, model.comms[comm].first_member, RS_PART_COLL, start, end);
}

static void only_what_was_recorded_is_nothing(void **state)
{
    (void)state;
    uint32_t comm = one_rank();
    uint32_t part = add_op(comm, 10 * MS, 12 * MS);
    rs_waits_find(&model);
    fine(RS_OK);
    struct rs_proc *p = &model.procs[procs[0]];
    const struct rs_moment *r = at(11 * MS);
    assert_true(r->doing == RS_DOING_TRANSFER && r->part == part && r->error_ns == 10 * US && !r->why);
    assert_int_equal(at(10 * MS)->part, part); /* its start is in it, its end is not */
    r = at(12 * MS);
    assert_true(r->doing == RS_DOING_NOTHING && r->part == RS_NONE && r->before == part && !r->why);
    r = at(20 * MS);
    assert_true(r->doing == RS_DOING_NOTHING && r->part == RS_NONE && r->before == part && !r->why);
    r = at(5 * MS);
    assert_true(r->doing == RS_DOING_NOTHING && r->after == part);
    r = at(0); /* before its recording, and after it: killed, or closed */
    assert_true(r->doing == RS_DOING_UNKNOWN && r->why && r->after == part);
    r = at(101 * MS);
    assert_true(r->doing == RS_DOING_UNKNOWN && r->why);
    p->ended = RS_END_WELL;
    assert_int_equal(at(101 * MS)->doing, RS_DOING_NOTHING);
    p->tool = RS_TOOL_KINETO; /* a window: what came behind it is not known */
    assert_int_equal(at(101 * MS)->doing, RS_DOING_UNKNOWN);
    p->tool = RS_TOOL_RINGSCOPE;
    p->overwritten_until = 4 * MS;
    assert_int_equal(at(4 * MS)->doing, RS_DOING_UNKNOWN);
    assert_int_equal(at(5 * MS)->doing, RS_DOING_NOTHING);
    p->cut_until = 6 * MS;
    assert_int_equal(at(5 * MS)->doing, RS_DOING_UNKNOWN);
    p->gaps = calloc(1, sizeof *p->gaps);
    assert_non_null(p->gaps);
    p->gaps[0] = (struct rs_gap){20 * MS, 30 * MS, 0, 0, 5};
    p->ngaps = 1;
    assert_int_equal(at(25 * MS)->doing, RS_DOING_UNKNOWN);
    assert_int_equal(at(11 * MS)->doing, RS_DOING_TRANSFER);
    p->covers[0].mask = RS_COLL;
    assert_int_equal(at(50 * MS)->doing, RS_DOING_UNKNOWN);
    p->covers[0].mask |= RS_P2P;
    p->drops = true;
    assert_int_equal(at(50 * MS)->doing, RS_DOING_UNKNOWN);
}

static void ends_and_starts_that_are_not_known(void **state)
{
    (void)state;
    uint32_t comm = one_rank();
    uint32_t bounded = add_op(comm, 10 * MS, RS_TIME_NONE); /* ended between 12 and 15 */
    model.parts.after[bounded] = 12 * MS;
    model.parts.before[bounded] = 15 * MS;
    uint32_t called = add_op(comm, RS_TIME_NONE, RS_TIME_NONE); /* called at 20, over by 30 */
    model.parts.enqueued[called] = 20 * MS;
    model.parts.before[called] = 30 * MS;
    uint32_t unknown = add_op(comm, 40 * MS, RS_TIME_NONE); /* nobody tells of its end */
    rs_waits_find(&model);
    fine(RS_OK);
    const struct rs_moment *r = at(11 * MS);
    assert_true(r->doing == RS_DOING_TRANSFER && r->part == bounded);
    r = at(14 * MS);
    assert_true(r->doing == RS_DOING_UNKNOWN && r->part == bounded && r->why);
    r = at(16 * MS);
    assert_true(r->doing == RS_DOING_NOTHING && r->before == bounded && r->after == called);
    r = at(25 * MS);
    assert_true(r->doing == RS_DOING_UNKNOWN && r->part == called && r->why);
    assert_int_equal(at(35 * MS)->doing, RS_DOING_NOTHING);
    r = at(60 * MS);
    assert_true(r->doing == RS_DOING_UNKNOWN && r->part == unknown);
    model.parts.flags[unknown] = RS_PART_OPEN; /* it had not ended when the recording did */
    r = at(60 * MS);
    assert_true(r->doing == RS_DOING_TRANSFER && r->part == unknown);
    r = at(101 * MS);
    assert_true(r->doing == RS_DOING_UNKNOWN && r->part == unknown);
}

/* Two ranks, the second 5 ms later; clocks err by 1 ms. Nothing is told of what is closer to its start. */
static void waits_as_far_as_clocks_tell(void **state)
{
    (void)state;
    make_job(1, 2, MS);
    uint32_t comm = make_comm(1, 0, 1, 2);
    const int64_t starts[] = {10 * MS, 15 * MS};
    add_coll(comm, "AllReduce", 4, starts, 5 * MS);
    for (uint32_t i = 0; i < 2; i++) model.procs[procs[i]].last = 100 * MS;
    rs_waits_find(&model);
    fine(RS_OK);
    assert_int_equal(at(13 * MS)->doing, RS_DOING_WAIT);
    assert_int_equal(at(14 * MS + 1)->doing, RS_DOING_RUN);
    assert_int_equal(at(16 * MS - 1)->doing, RS_DOING_RUN);
    assert_int_equal(at(17 * MS)->doing, RS_DOING_TRANSFER);
}

/* A rank is absent: one that is recorded did not come, and the others wait; one that was lost may be there. */
static void absent_ranks(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        make_job(1, 2, 10 * US);
        uint32_t comm = make_comm(1, 0, 1, 2), op = new_op(comm, RS_OP_COLL, "AllReduce", 4);
        model.ops.seq[op] = 0;
        uint32_t part = add_part(op, model.comms[comm].first_member, RS_PART_COLL, 10 * MS, RS_TIME_NONE);
        model.parts.flags[part] = RS_PART_OPEN;
        for (uint32_t i = 0; i < 2; i++) {
            model.members[i].created = 0;
            model.procs[procs[i]].end = model.procs[procs[i]].last = 100 * MS;
            model.procs[procs[i]].ended = RS_END_KILLED;
            model.procs[procs[i]].drops = lost && i;
        }
        rs_waits_find(&model);
        fine(RS_OK);
        assert_int_equal(at(50 * MS)->doing, lost ? RS_DOING_RUN : RS_DOING_WAIT);
        assert_int_equal(rows[1].doing, lost ? RS_DOING_UNKNOWN : RS_DOING_NOTHING);
        tear_down(NULL);
        model = (struct rs_model){0};
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(only_what_was_recorded_is_nothing),
        TEST(ends_and_starts_that_are_not_known),
        TEST(waits_as_far_as_clocks_tell),
        TEST(absent_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
