/* Each kind of hang in a job of four ranks made by hand: the verdict, who is to blame, towards whom, at which step. */
#include "hanging.h"

static void test_dead(void **state)
{
    (void)state;
    for (int32_t guilty = 0; guilty < RANKS; guilty += 3) { /* rank 0 is no better than others */
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) stuck(&j, r);
        for (int32_t r = 0; r < RANKS; r++) /* the others noticed, gave up and closed */
            if (r != guilty) j.m.procs[r].ended = RS_END_WELL;
        j.m.procs[guilty].end = stuck_at + 50 * MS;
        for (int32_t r = 0; r < RANKS; r++)
            if (r != guilty) j.m.procs[r].end = stuck_at + 1050 * MS;
        find(&j, &h);
        check(&j, &h, RS_VERDICT_RANK_DEAD, guilty, RANKS - 1);
        finish(&j, &h);
    }
}

/* Dead, but nobody waits; all killed at once; killed one after the other long after something else went wrong. */
static void test_not_dead(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) j.m.procs[r].ended = r == 2 ? RS_END_KILLED : RS_END_WELL;
    j.m.procs[2].last = 3 * SEC + 120 * MS;
    j.m.procs[2].end = 4 * SEC;
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NONE);
    assert_int_equal(h.findings[0].op, RS_NONE);
    finish(&j, &h);

    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        stuck(&j, r);
        j.m.procs[r].end = stuck_at + (100 + r) * MS;
    }
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NONE);
    assert_int_equal(h.nconclusion, 1);
    finish(&j, &h);

    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (r != 1) stuck(&j, r);
        j.m.procs[r].end = over - r * 2 * SEC;
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_NOT_JOINED, 1, 3);
    finish(&j, &h);
}

static void test_not_joined(void **state)
{
    (void)state;
    for (int32_t guilty = 0; guilty < RANKS; guilty++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) {
            if (r == guilty) continue;
            stuck(&j, r);
            not_started(&j, add_part(&j, j.world, r, j.allreduce, BEFORE + 1, stuck_at + 5 * MS)); /* queued */
        }
        find(&j, &h);
        check(&j, &h, RS_VERDICT_NOT_JOINED, guilty, 3);
        assert_int_equal(h.findings[0].guilty[0].member, member_of(&j, j.world, guilty));
        assert_int_equal(h.findings[0].since, stuck_at);
        finish(&j, &h);
    }
}

/* A rank that is in the call, and in no kernel; one that ended well while the others go on. */
static void test_not_joined_otherwise(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(&j, r);
        if (r != 2) continue;
        not_started(&j, part);
        j.m.parts.flags[part] = RS_PART_OPEN;
        j.m.parts.launched[part] = RS_TIME_NONE;
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_NOT_JOINED, 2, 3);
    finish(&j, &h);

    begin(&j, RANKS);
    for (int32_t r = 1; r < RANKS; r++) stuck(&j, r);
    j.m.procs[0].ended = RS_END_WELL;
    j.m.procs[0].end = stuck_at;
    find(&j, &h);
    check(&j, &h, RS_VERDICT_NOT_JOINED, 0, 3);
    finish(&j, &h);
}

/* Rank 1 died outside of NCCL, rank 2 did not come, and both are named; rank 3 died a moment later of waiting for them. */
static void test_two_causes(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    stuck(&j, 0);
    stuck(&j, 3);
    j.m.procs[1].end = stuck_at + 50 * MS;
    j.m.procs[3].end = stuck_at + 150 * MS;
    find(&j, &h);
    assert_int_equal(h.nfindings, 2);
    check(&j, &h, RS_VERDICT_RANK_DEAD, 1, 2);
    assert_int_equal(h.findings[1].verdict, RS_VERDICT_NOT_JOINED);
    assert_int_equal(h.findings[1].nguilty, 1);
    assert_int_equal(h.findings[1].guilty[0].rank, 2);
    for (uint32_t i = 0; i < h.nfindings; i++) {
        assert_non_null(h.findings[i].evidence);
        assert_non_null(h.findings[i].advice);
    }
    finish(&j, &h);
}

/* The rank is in an operation of another communicator, which waits for another rank: that one is the cause. */
static void test_leads_on(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < 2; r++) add_part(&j, j.second, r, j.allreduce, BEFORE, stuck_at - 100 * MS);
    for (int32_t r = 2; r < 3; r++) stuck(&j, r);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NOT_JOINED);
    assert_int_equal(h.findings[0].nguilty, 1); /* 3 is in nothing; 2 is in `world`, for which it waits */
    assert_int_equal(h.findings[0].guilty[0].rank, 3);
    assert_int_equal(h.also_blocked, 1);
    finish(&j, &h);
}

static void test_mismatch(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(&j, r);
        if (r == 1) j.m.parts.count[part] = 500;
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_MISMATCH, 1, 3);
    assert_non_null(strstr(h.findings[0].detail, "count 500"));
    finish(&j, &h);

    begin(&j, RANKS); /* another function at the same place */
    for (int32_t r = 0; r < RANKS; r++)
        if (r == 0)
            add_part(&j, j.world, r, j.allgather, 0, stuck_at);
        else
            stuck(&j, r);
    find(&j, &h);
    check(&j, &h, RS_VERDICT_MISMATCH, 0, 3);
    assert_non_null(strstr(h.findings[0].detail, "AllGather 0 of world"));
    finish(&j, &h);
}

/* The rank that called it with another count has not even launched it, or not started: the count is why, not that. */
static void test_mismatch_not_started(void **state)
{
    (void)state;
    for (int launched = 0; launched < 2; launched++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) {
            uint32_t part = stuck(&j, r);
            if (r != 1) continue;
            j.m.parts.count[part] = 500;
            not_started(&j, part);
            if (launched) continue;
            j.m.parts.flags[part] = RS_PART_OPEN;
            j.m.parts.launched[part] = RS_TIME_NONE;
        }
        find(&j, &h);
        check(&j, &h, RS_VERDICT_MISMATCH, 1, 3);
        assert_non_null(strstr(h.findings[0].detail, "count 500"));
        finish(&j, &h);
    }
}

/* A send that is larger than its receive; a send without a receive. */
static void test_pairs(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    uint32_t s = add_part(&j, j.world, 1, j.send, UINT64_MAX, stuck_at);
    uint32_t r = add_part(&j, j.world, 3, j.recv, UINT64_MAX, stuck_at);
    j.m.parts.peer[s] = 3;
    j.m.parts.peer[r] = 1;
    j.m.parts.count[r] = 400;
    rs_pairs_join(&j.m);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_MISMATCH);
    assert_int_equal(h.findings[0].nguilty, 2);
    assert_int_equal(h.findings[0].guilty[0].rank, 1);
    assert_int_equal(h.findings[0].guilty[1].rank, 3);
    finish(&j, &h);

    begin(&j, RANKS);
    s = add_part(&j, j.world, 1, j.send, UINT64_MAX, stuck_at);
    j.m.parts.peer[s] = 3;
    rs_pair_add(&j.m, s, RS_NONE, 0, 100);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NOT_JOINED);
    assert_int_equal(h.findings[0].nguilty, 1);
    assert_int_equal(h.findings[0].guilty[0].rank, 3);
    finish(&j, &h);
}

static void test_stream_blocked(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(&j, r);
        if (r == 3) not_started(&j, part);
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STREAM_BLOCKED, 3, 3);
    finish(&j, &h);
}

static void test_stalled(void **state)
{
    (void)state;
    const struct {
        int32_t send, recv; /* states of the hop */
        int32_t rank, peer, told; /* who is to blame; the state that tells it */
    } cases[] = {
        {RS_ST_STEP_SEND_WAIT, RS_ST_STEP_RECV_WAIT, 1, 2, RS_ST_STEP_SEND_WAIT}, /* the network */
        {RS_ST_STEP_SEND_PEER_WAIT, RS_ST_STEP_RECV_WAIT, 1, 2, RS_ST_STEP_SEND_PEER_WAIT}, /* the credit was lost */
        {RS_ST_STEP_SEND_GPU_WAIT, RS_ST_STEP_RECV_WAIT, 1, 2, RS_ST_STEP_SEND_GPU_WAIT}, /* GPU of 1 */
        {RS_ST_STEP_SEND_PEER_WAIT, RS_ST_STEP_RECV_GPU_WAIT, 2, 1, RS_ST_STEP_RECV_GPU_WAIT}, /* GPU of 2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        ring(&j, cases[i].send, cases[i].recv);
        find(&j, &h);
        check(&j, &h, RS_VERDICT_STALLED_STEP, cases[i].rank, 3);
        assert_int_equal(h.findings[0].peer.rank, cases[i].peer);
        assert_int_equal(h.findings[0].step, 5);
        assert_int_equal(h.findings[0].state, cases[i].told);
        assert_int_equal(h.findings[0].channel, 1);
        assert_int_equal(h.findings[0].since, stuck_at + MS);
        finish(&j, &h);
    }
}

/* All that 1 had to send is sent; 2 waits for step 5 of it. And a rank without a recording that owes data. */
static void test_stalled_one_side(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(&j, r);
        if (r == 2) open_step(&j, part, false, 1, 5, RS_ST_STEP_RECV_WAIT);
        if (r == 1) j.m.parts.flags[part] |= RS_PART_NET;
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 1, 3);
    assert_int_equal(h.findings[0].peer.rank, 2);
    assert_int_equal(h.findings[0].step, 5);
    finish(&j, &h);

    begin(&j, 3);
    for (int32_t r = 0; r < 3; r++) {
        uint32_t part = stuck(&j, r);
        if (r == 0) open_step(&j, part, false, 3, 0, RS_ST_STEP_RECV_WAIT);
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_STALLED_STEP, 3, 3);
    assert_int_equal(h.findings[0].guilty[0].member, RS_NONE);
    assert_int_equal(h.findings[0].peer.rank, 0);
    assert_int_equal(h.nunseen, 1);
    assert_int_equal(h.unseen[0], 3);
    finish(&j, &h);
}

/* All ranks are in it, three without a move for 20 s. Where the fourth moved just now it goes on; else it hangs. */
static void test_still_moves(void **state)
{
    (void)state;
    for (int32_t mover = -1; mover < RANKS; mover++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        ring(&j, RS_ST_STEP_SEND_WAIT, RS_ST_STEP_RECV_WAIT);
        for (uint32_t i = 0; i < j.m.nopens; i++)
            if ((int32_t)j.m.opens[i].proc == mover) j.m.opens[i].since = over - MS;
        find(&j, &h);
        assert_int_equal(h.findings[0].verdict, mover < 0 ? RS_VERDICT_STALLED_STEP : RS_VERDICT_NONE);
        finish(&j, &h);
    }
}

static void test_deadlock(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) { /* programs that go on to the second call, or wait for the first */
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) {
            uint32_t first = r == 2 ? j.second : j.world, then = r == 2 ? j.world : j.second;
            add_part(&j, first, r, j.allreduce, BEFORE, stuck_at);
            if (both) not_started(&j, add_part(&j, then, r, j.allreduce, BEFORE, stuck_at + MS));
        }
        find(&j, &h);
        check(&j, &h, RS_VERDICT_DEADLOCK, 2, 3);
        assert_non_null(strstr(h.findings[0].detail, "AllReduce 3 of second"));
        finish(&j, &h);
    }
}

/* Two against two: no order is the rarer one. Of three sends in a ring, each waits for the next: one rank is named. */
static void test_deadlock_undecided(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) add_part(&j, r < 2 ? j.world : j.second, r, j.allreduce, BEFORE, stuck_at);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_DEADLOCK);
    assert_true(h.findings[0].undecided);
    assert_int_equal(h.findings[0].nguilty, RANKS);
    assert_non_null(strstr(h.findings[0].evidence, "Ranks 0, 1, 2 and 3 do not agree on the order of "));
    finish(&j, &h);

    begin(&j, RANKS);
    for (int32_t r = 0; r < 3; r++) {
        uint32_t i = add_part(&j, j.world, r, j.send, UINT64_MAX, stuck_at);
        j.m.parts.peer[i] = (r + 1) % 3;
        rs_pair_add(&j.m, i, RS_NONE, 0, 100);
    }
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_DEADLOCK);
    assert_int_equal(h.findings[0].nguilty, 3);
    assert_non_null(strstr(h.findings[0].evidence, "Ranks 0, 1 and 2 do not agree on the order of "));
    finish(&j, &h);
}

/* A rank whose record of the end may be lost is where others still are: it is not blamed for not being elsewhere. */
static void test_deadlock_with_losses(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) add_part(&j, r == 2 ? j.second : j.world, r, j.allreduce, BEFORE, stuck_at);
    struct rs_proc *p = &j.m.procs[1];
    p->complete = false;
    p->gaps = calloc(1, sizeof *p->gaps);
    assert_non_null(p->gaps);
    p->gaps[0] = (struct rs_gap){stuck_at + MS, stuck_at + SEC, 0, 0, 5};
    p->ngaps = 1;
    find(&j, &h);
    check(&j, &h, RS_VERDICT_DEADLOCK, 2, 3);
    finish(&j, &h);
}

static void test_outside(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_OUTSIDE_NCCL);
    assert_int_equal(h.findings[0].nguilty, 0);
    finish(&j, &h);

    begin(&j, RANKS); /* soon after its last call */
    for (int32_t r = 0; r < RANKS; r++) j.m.procs[r].end = j.m.procs[r].last + SEC;
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NONE);
    finish(&j, &h);
}

/* Closed well: whatever is open (NCCL never stops some things), nothing hangs. */
static void test_closed_well(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < 3; r++) stuck(&j, r);
    for (int32_t r = 0; r < RANKS; r++) j.m.procs[r].ended = RS_END_WELL;
    find(&j, &h);
    assert_int_equal(h.findings[0].verdict, RS_VERDICT_NONE);
    finish(&j, &h);
}

/* What was not recorded is not missing: rank 1 lost records there, or was overwritten; no kernels were asked for. */
static void test_not_recorded(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++)
        if (r != 1) stuck(&j, r);
    struct rs_proc *p = &j.m.procs[1];
    p->complete = false;
    p->gaps = calloc(1, sizeof *p->gaps);
    assert_non_null(p->gaps);
    p->gaps[0] = (struct rs_gap){stuck_at - SEC, stuck_at + SEC, 5, 0, 5};
    p->ngaps = 1;
    p->lost = 10;
    find(&j, &h);
    assert_int_not_equal(h.findings[0].verdict, RS_VERDICT_NOT_JOINED);
    for (uint32_t i = 0; i < h.findings[0].nguilty; i++) assert_int_not_equal(h.findings[0].guilty[i].rank, 1);
    assert_int_equal(h.findings[0].rows[1].stage, RS_STAGE_NOT_RECORDED);
    bool said = false;
    for (uint32_t i = 0; i < h.nconclusion; i++) said |= strstr(h.conclusion[i], "nothing was recorded") != NULL;
    assert_true(said);
    finish(&j, &h);

    for (int absent = 0; absent < 2; absent++) { /* ends are never told: an old interface, or few events */
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS - absent; r++) stuck(&j, r);
        for (uint32_t i = 0; i < j.m.parts.n; i++) {
            not_started(&j, i);
            j.m.parts.end[i] = RS_TIME_NONE;
            j.m.parts.end_source[i] = RS_FROM_NOTHING;
            j.m.parts.channels_seen[i] = 0;
        }
        for (int32_t r = 0; r < RANKS; r++) j.m.procs[r].covers[0].mask = RS_COLL;
        find(&j, &h);
        if (absent)
            check(&j, &h, RS_VERDICT_NOT_JOINED, RANKS - 1, RANKS - 1);
        else
            assert_int_equal(h.findings[0].verdict,
                             RS_VERDICT_UNKNOWN); /* all have called the same: it may be complete */
        finish(&j, &h);
    }
}

/* Nothing is pending, and what a process that did not close did last may be absent: that nothing hangs cannot be said. */
static void test_unknown(void **state)
{
    (void)state;
    enum { WHOLE, NO_LIVE_FILE, NOT_ASKED_FOR, LOST, LOST_BEFORE, CUT, CUT_BEFORE, CLOSED, OTHER_TOOL, CASES };
    for (int c = 0; c < CASES; c++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) {
            struct rs_proc *p = &j.m.procs[r];
            p->end = p->last + SEC; /* stopped while all was well */
            if (c == OTHER_TOOL) p->tool = RS_TOOL_KINETO;
            if (c == CLOSED) p->ended = RS_END_WELL;
        }
        struct rs_proc *p = &j.m.procs[1];
        if (c == NO_LIVE_FILE || c == CLOSED) p->end_missing = true;
        if (c == NOT_ASKED_FOR) p->covers[p->ncovers - 1].mask = RS_KERNEL_CH;
        if (c == CUT) p->cut_until = p->last + 1;
        if (c == CUT_BEFORE) p->cut_until = p->last - 1;
        if (c == LOST || c == LOST_BEFORE) {
            p->gaps = calloc(1, sizeof *p->gaps);
            assert_non_null(p->gaps);
            p->gaps[0] = (struct rs_gap){p->last - 10, c == LOST ? p->last : p->last - 1, 1, 0, 0};
            p->ngaps = 1;
            p->complete = false;
        }
        find(&j, &h);
        bool known = c == WHOLE || c == LOST_BEFORE || c == CUT_BEFORE || c == CLOSED;
        assert_int_equal(h.findings[0].verdict, known ? RS_VERDICT_NONE : RS_VERDICT_UNKNOWN);
        assert_int_equal(h.unknown, known             ? RS_HANG_KNOWN
                                    : c == CUT        ? RS_HANG_CUT
                                    : c == OTHER_TOOL ? RS_HANG_BLIND
                                                      : RS_HANG_NOT_RECORDED);
        assert_true(h.nconclusion >= 1);
        finish(&j, &h);
    }
}

/* Whose files tell what was still running; those of the others cannot say that nothing hangs. Of a dump nobody knows when it
 * was made: it is not silent. What is lost at the end is a matter of recordings. */
static void test_tools(void **state)
{
    (void)state;
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++) {
        bool sees = tool == RS_TOOL_RINGSCOPE || tool == RS_TOOL_EXAMPLE || tool == RS_TOOL_FLIGHT;
        for (int lossy = 0; lossy < 2; lossy++) {
            struct job j;
            struct rs_hang h;
            begin(&j, RANKS);
            for (int32_t r = 0; r < RANKS; r++) {
                j.m.procs[r].tool = tool;
                j.m.procs[r].end = j.m.procs[r].last + SEC;
                if (lossy) j.m.procs[r].covers[0].mask = RS_KERNEL_CH;
            }
            find(&j, &h);
            bool lost = lossy && tool == RS_TOOL_RINGSCOPE;
            assert_int_equal(h.unknown, !sees ? RS_HANG_BLIND : lost ? RS_HANG_NOT_RECORDED : RS_HANG_KNOWN);
            assert_int_equal(h.findings[0].verdict, !sees || lost ? RS_VERDICT_UNKNOWN : RS_VERDICT_NONE);
            finish(&j, &h);
        }
        if (!sees) continue;
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS); /* nothing for 27 s */
        for (int32_t r = 0; r < RANKS; r++) j.m.procs[r].tool = tool;
        find(&j, &h);
        assert_int_equal(h.findings[0].verdict, tool == RS_TOOL_FLIGHT ? RS_VERDICT_NONE : RS_VERDICT_OUTSIDE_NCCL);
        finish(&j, &h);
    }
}

/* A rank that lost records after its call: whether its kernel started, or ended, is not held against it. */
static void test_doubtful(void **state)
{
    (void)state;
    for (int running = 0; running < 2; running++) {
        struct job j;
        struct rs_hang h;
        begin(&j, RANKS);
        for (int32_t r = 0; r < RANKS; r++) {
            if (r == 3) continue; /* the cause */
            uint32_t part = stuck(&j, r);
            if (r == 1 && !running) not_started(&j, part);
        }
        struct rs_proc *p = &j.m.procs[1];
        p->complete = false;
        p->gaps = calloc(1, sizeof *p->gaps);
        assert_non_null(p->gaps);
        p->gaps[0] = (struct rs_gap){stuck_at, stuck_at + SEC, 0, 0, 5};
        p->ngaps = 1;
        find(&j, &h);
        check(&j, &h, RS_VERDICT_NOT_JOINED, 3, 3);
        assert_int_equal(h.findings[0].rows[1].stage, RS_STAGE_ENTERED);
        finish(&j, &h);

        begin(&j, RANKS); /* nothing hangs but what looks so on the rank that lost records */
        uint32_t part = stuck(&j, 1);
        if (!running) not_started(&j, part);
        for (int32_t r = 0; r < RANKS; r++)
            if (r != 1) ended(&j, stuck(&j, r), stuck_at + 10 * MS);
        p = &j.m.procs[1];
        p->complete = false;
        p->gaps = calloc(1, sizeof *p->gaps);
        assert_non_null(p->gaps);
        p->gaps[0] = (struct rs_gap){stuck_at, stuck_at + SEC, 0, 0, 5};
        p->ngaps = 1;
        find(&j, &h);
        assert_int_equal(h.findings[0].verdict, RS_VERDICT_OUTSIDE_NCCL);
        finish(&j, &h);
    }
}

/* Replays of a graph are told later than calls that were made after them, and run before them. */
static void test_replays_told_late(void **state)
{
    (void)state;
    struct job j;
    struct rs_hang h;
    begin(&j, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (r != 1) stuck(&j, r);
        uint32_t replay = add_part(&j, j.world, r, j.allgather, 0, stuck_at - 20 * MS);
        ended(&j, replay, stuck_at - 10 * MS);
        j.m.parts.captured[replay] = 1;
        j.m.parts.flags[replay] |= RS_PART_CAPTURED;
    }
    find(&j, &h);
    check(&j, &h, RS_VERDICT_NOT_JOINED, 1, 3);
    finish(&j, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_not_dead),
        cmocka_unit_test(test_not_joined),
        cmocka_unit_test(test_not_joined_otherwise),
        cmocka_unit_test(test_two_causes),
        cmocka_unit_test(test_leads_on),
        cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_mismatch_not_started),
        cmocka_unit_test(test_still_moves),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_stream_blocked),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_stalled_one_side),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_deadlock_undecided),
        cmocka_unit_test(test_deadlock_with_losses),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_closed_well),
        cmocka_unit_test(test_not_recorded),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_doubtful),
        cmocka_unit_test(test_replays_told_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
