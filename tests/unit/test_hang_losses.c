/* Hangs where something was not recorded: what is told is weaker, and never wrong. And whose ranks are spoken of. */
#include "hanging.h"

/* Callbacks of a process were lost: `colls` starts of collectives, and some others. */
static void lose(struct job *j, int32_t rank, int64_t from, int64_t to, uint32_t colls)
{
    struct rs_proc *p = &j->m.procs[rank];
    p->complete = false;
    p->gaps = calloc(1, sizeof *p->gaps);
    assert_non_null(p->gaps);
    p->gaps[0] = (struct rs_gap){from, to, colls, 0, 5};
    p->ngaps = 1;
    p->lost = 5 + colls;
}

static bool said(const struct rs_hang *h, const char *text)
{
    for (uint32_t i = 0; i < h->nconclusion; i++)
        if (strstr(h->conclusion[i], text)) return true;
    return false;
}

/* Only the hop from 1 to 2 is on the network: what came to 1 came from 0, within the host, and nothing tells of it. */
static void fed_inside(struct job *j)
{
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(j, r);
        if (r == 1) open_step(j, part, true, 2, 5, RS_ST_STEP_SEND_GPU_WAIT);
        if (r == 2) open_step(j, part, false, 1, 5, RS_ST_STEP_RECV_WAIT);
        if (r == 3) open_step(j, part, true, 0, 7, RS_ST_STEP_SEND_GPU_WAIT);
    }
}

static void test_who_feeds(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    ring(&j, RS_ST_STEP_SEND_GPU_WAIT, RS_ST_STEP_RECV_WAIT); /* 1 has received up to step 8 */
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    assert_true(said(&h, "though it has received what it needs"));
    finish(&j, &h);

    begin(&j, RANKS);
    fed_inside(&j);
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    assert_false(said(&h, "has received"));
    assert_true(said(&h, "or a rank before it on its host"));
    finish(&j, &h);

    begin(&j, RANKS); /* whether the kernel of 0 has started is not known: it may be the cause */
    fed_inside(&j);
    for (uint32_t i = 0; i < j.m.parts.n; i++)
        if (j.m.parts.start[i] == stuck_at && j.m.members[j.m.parts.member[i]].rank == 0) not_started(&j, i);
    lose(&j, 0, stuck_at, stuck_at + SEC, 0);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_STALLED_STEP);
    assert_int_equal(h.findings[0].nguilty, 0);
    assert_true(said(&h, "or a rank before it on its host"));
    finish(&j, &h);
}

/* Callbacks of rank 1 were lost, among them the stop of an old step. Its steps since then tell what it does. */
static void test_step_without_its_stop(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    ring(&j, RS_ST_STEP_SEND_GPU_WAIT, RS_ST_STEP_RECV_WAIT);
    lose(&j, 1, stuck_at + 2 * MS, stuck_at + 3 * MS, 0);
    struct rs_open old = {.part = RS_NONE};
    for (uint32_t i = 0; i < j.m.nopens; i++) {
        struct rs_open *o = &j.m.opens[i];
        if (o->proc != 1) continue;
        if (o->is_send && o->type == RS_PROXY_STEP) old = *o;
        o->since = stuck_at + 4 * MS;
    }
    assert_int_not_equal(old.part, RS_NONE);
    old.step = 2;
    old.state = RS_ST_STEP_SEND_WAIT;
    rs_model_open(&j.m, &old);
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    assert_true(said(&h, "though it has received what it needs"));
    finish(&j, &h);
}

/* Ranks 2 and 3 of the job are 0 and 1 of a communicator: texts use ranks of the job. */
static void test_ranks_of_the_job(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    uint32_t c, x;
    rs_model_comm(&j.m, 3, &c);
    j.m.comms[c].nranks = 2;
    j.m.comms[c].name = "half";
    for (int32_t r = 0; r < 2; r++) {
        rs_model_member(&j.m, c, &x);
        j.m.members[x].rank = r;
        j.m.members[x].proc = 2 + (uint32_t)r;
        j.m.members[x].device = 0;
        j.m.members[x].created = 3;
    }
    for (uint32_t i = 0; i < j.m.ncomms; i++) { /* members are linked once, when all are in: anew */
        j.m.comms[i].first_member = RS_NONE;
        j.m.comms[i].nmembers = 0;
    }
    rs_model_link(&j.m);
    for (int32_t r = 0; r < 2; r++) {
        uint32_t part = add_part(&j, c, r, j.allreduce, 0, stuck_at);
        open_step(&j, part, !r, 1 - r, 5, r ? RS_ST_STEP_RECV_WAIT : RS_ST_STEP_SEND_WAIT);
    }
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_STALLED_STEP);
    assert_int_equal(h.findings[0].guilty[0].rank, 2);
    assert_non_null(strstr(h.findings[0].detail, "sent by rank 2 to rank 3, is in"));
    finish(&j, &h);
}

/* Of a rank without a recording the rank of the job is known where its communicator is a regular part of it. */
static void test_rank_without_recording(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, 3);
    for (int32_t r = 0; r < 3; r++) stuck(&j, r);
    find(&j, &h);
    assert_int_equal(rs_job_rank(&j.m, j.world, 3), 3);
    assert_int_equal(rs_job_rank(&j.m, j.world, 1), 1);
    assert_int_equal(rs_job_rank(&j.m, j.world, 4), -1);
    finish(&j, &h);
}

/* Losses made two operations of one: nobody called "AllReduce 3 where the others called AllReduce 3". */
static void test_joined_as_two(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    uint32_t part = RS_NONE, two;
    for (int32_t r = 0; r < RANKS; r++) part = stuck(&j, r);
    rs_ranks_find(&j.m);
    assert_int_equal(rs_family_find(&j.m, NULL), RS_OK);
    rs_collectives_join(&j.m);
    rs_model_op(&j.m, &two);
    struct rs_ops *o = &j.m.ops;
    uint32_t one = j.m.parts.op[part];
    o->comm[two] = o->comm[one];
    o->kind[two] = o->kind[one];
    o->func[two] = o->func[one];
    o->seq[two] = o->seq[one];
    o->part[two] = o->part[one] + RANKS - 1; /* parts are by rank: that of rank 3 */
    o->nparts[one] = RANKS - 1;
    o->nparts[two] = 1;
    j.m.parts.op[part] = two;
    rs_hang_find(&j.m, &(struct rs_filter){0}, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_STALLED_STEP);
    assert_int_equal(h.findings[0].nguilty, 0);
    assert_int_equal(h.findings[0].nwaiting, RANKS);
    finish(&j, &h);
}

/* Rank 1 is with the others in `world`, and its record of that is lost. What it launched behind that on `second` waits for its
 * turn: it is not blocked by anything else. */
static void test_in_what_was_lost(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (r != 1) stuck(&j, r);
        not_started(&j, add_part(&j, j.second, r, j.allreduce, BEFORE, stuck_at + 10 * MS));
    }
    lose(&j, 1, stuck_at - 5 * MS, stuck_at + MS, 1);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_STALLED_STEP);
    assert_int_equal(h.findings[0].comm, j.world);
    assert_int_equal(h.findings[0].nguilty, 0);
    assert_true(said(&h, "Of rank 1 nothing was recorded here"));
    finish(&j, &h);
}

/* The call of rank 1 is lost, and replays of a graph that it made before were told behind the gap. */
static void test_replays_behind_a_gap(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t replay = add_part(&j, j.world, r, j.allreduce, BEFORE, stuck_at + 4 * MS);
        ended(&j, replay, stuck_at + 5 * MS);
        j.m.parts.captured[replay] = 1;
        j.m.parts.replay[replay] = 0;
        j.m.parts.flags[replay] |= RS_PART_CAPTURED;
        if (r != 1) add_part(&j, j.world, r, j.allreduce, BEFORE + 1, stuck_at + 6 * MS);
    }
    lose(&j, 1, stuck_at - 2 * MS, stuck_at - MS, 1);
    find(&j, &h);
    assert_int_not_equal(h.findings[0].verdict, RS_VERDICT_NOT_JOINED);
    for (uint32_t i = 0; i < h.findings[0].nguilty; i++) assert_int_not_equal(h.findings[0].guilty[i].rank, 1);
    finish(&j, &h);
}

/* A step of rank 3 that stands far behind, as it seems: its end is lost. The hop from 1 to 2 is what all wait for. */
static void test_lost_end_of_a_step(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(&j, r);
        if (r == 1) open_step(&j, part, true, 2, 5, RS_ST_STEP_SEND_WAIT);
        if (r == 2) open_step(&j, part, false, 1, 5, RS_ST_STEP_RECV_WAIT);
        if (r == 3) open_step(&j, part, false, 2, 0, RS_ST_STEP_RECV_GPU_WAIT);
    }
    lose(&j, 3, stuck_at + 2 * MS, stuck_at + 3 * MS, 0);
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    assert_int_equal(h.findings[0].peer.rank, 2);
    finish(&j, &h);
}

/* All but rank 0 have ended what it seems to be in still, by a step without an end: the others hang in the next. */
static void test_lost_end(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = add_part(&j, j.second, r, j.allreduce, BEFORE, stuck_at - 100 * MS);
        if (r)
            ended(&j, part, stuck_at - 90 * MS);
        else
            open_step(&j, part, true, 1, 5, RS_ST_STEP_SEND_WAIT);
        part = stuck(&j, r);
        if (r == 1) open_step(&j, part, true, 2, 5, RS_ST_STEP_SEND_WAIT);
        if (r == 2) open_step(&j, part, false, 1, 5, RS_ST_STEP_RECV_WAIT);
    }
    not_started(&j, add_part(&j, j.second, 0, j.allreduce, BEFORE + 1, stuck_at + 10 * MS));
    lose(&j, 0, stuck_at - 95 * MS, stuck_at - 80 * MS, 0);
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    finish(&j, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_feeds),
        cmocka_unit_test(test_step_without_its_stop),
        cmocka_unit_test(test_ranks_of_the_job),
        cmocka_unit_test(test_rank_without_recording),
        cmocka_unit_test(test_joined_as_two),
        cmocka_unit_test(test_in_what_was_lost),
        cmocka_unit_test(test_replays_behind_a_gap),
        cmocka_unit_test(test_lost_end_of_a_step),
        cmocka_unit_test(test_lost_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
