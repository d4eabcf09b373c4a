/* Costs of lateness against times that were made by hand, so that every ns is known. */
#include "joined.h"

#include "analyse/stragglers.h"

static struct rs_view view;
static struct rs_stragglers found;

static void find(void)
{
    look(&view);
    rs_stragglers_find(&found, &view);
    fine(RS_OK);
}

static int forget(void **state)
{
    (void)state;
    rs_stragglers_free(&found);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static const struct rs_straggler *rank_row(int rank)
{
    for (uint32_t i = 0; i < found.nrows; i++)
        if (found.rows[i].rank_id != RS_NONE && view.model->ranks[found.rows[i].rank_id].number == rank)
            return &found.rows[i];
    return NULL;
}

static const struct rs_straggler *host_row(uint32_t host)
{
    for (uint32_t i = 0; i < found.nrows; i++)
        if (found.rows[i].rank_id == RS_NONE && found.rows[i].host == host) return &found.rows[i];
    return NULL;
}

static int64_t cost_of(int rank)
{
    const struct rs_straggler *r = rank_row(rank);
    return r ? r->cost_ns : 0;
}

/* Rank 2 of 4 is 2 ms behind the next in each of 100 operations; the others are 10, 20 us apart. */
static void test_one_straggler(void **state)
{
    (void)state;
    make_job(2, 2, 3 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    for (int i = 0; i < 100; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t + 10 * US, t + 20 * US + 2 * MS, t + 20 * US};
        uint32_t op = add_coll(world, "AllReduce", 1 << 20, starts, 500 * US);
        assert_int_equal(model.ops.nparts[op], 4);
    }
    find();
    assert_int_equal(found.compared, 100);
    assert_int_equal(found.ties, 0);
    const struct rs_straggler *r = &found.rows[0];
    assert_ptr_equal(r, rank_row(2));
    assert_int_equal(r->cost_ns, 100 * 2 * MS);
    assert_int_equal(found.cost_ns, 100 * 2 * MS);
    assert_int_equal(r->times_last, 100);
    assert_int_equal(r->compared, 100);
    assert_int_equal(r->inherited_ns, 0);
    assert_int_equal(r->repeated_ns, 0);
    assert_int_equal(r->gpu_time_lost_ns, 100 * (3 * 2 * MS + 20 * US + 10 * US));
    assert_true(r->share_low > 0.96 && r->share_high == 1.0);
    assert_null(host_row(1)); /* rank 2 explains it */
    const struct rs_late_row *l = &found.lateness.rows[r->rank_id];
    assert_int_equal(l->mean_ns, 2 * MS + 10 * US);
    assert_int_equal(l->p99_ns, 2 * MS + 10 * US);
    assert_int_equal(l->last, 100);
}

/* Rank 3 is 100, 200, ... 10,000 us behind the others, which come together. */
static void test_how_late(void **state)
{
    (void)state;
    make_job(2, 2, 3 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    for (int i = 0; i < 100; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t, t, t + (i + 1) * 100 * US};
        add_coll(world, "AllReduce", 1 << 20, starts, 500 * US);
    }
    find();
    const struct rs_late_row *l = &found.lateness.rows[rank_row(3)->rank_id];
    assert_int_equal(l->mean_ns, 5050 * US);
    assert_true(l->p99_ns >= 9900 * US && l->p99_ns < 10000 * US);
    assert_int_equal(l->last, 100);
}

static void test_ties_cost_nothing(void **state)
{
    (void)state;
    make_job(1, 3, 30 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    for (int i = 0; i < 10; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t + 59 * US, t};
        add_coll(world, "AllReduce", 4, starts, 100 * US);
    }
    find();
    assert_int_equal(found.ties, 10);
    assert_int_equal(found.nrows, 0);
    assert_int_equal(found.cost_ns, 0);
    rs_stragglers_free(&found);
    for (uint32_t i = 0; i < model.parts.n; i++)
        if (model.members[model.parts.member[i]].rank == 1)
            model.parts.start[i] += 1 * US; /* twice the error: no tie */
    rs_view_free(&view);
    for (uint32_t i = 0; i < model.ops.n; i++) {
        model.ops.first[i] = model.ops.last[i] = model.ops.end[i] = RS_TIME_NONE;
        model.ops.flags[i] = 0;
    }
    find();
    assert_int_equal(found.ties, 0);
    assert_int_equal(cost_of(1), 10 * 60 * US);
}

/* All four ranks of host 1 are 2 ms late, 40 us apart from each other: each alone costs 40 us at most. */
static void test_slow_host(void **state)
{
    (void)state;
    make_job(2, 4, 3 * US);
    uint32_t world = make_comm(1, 0, 1, 8);
    for (int i = 0; i < 40; i++) {
        int64_t starts[8], t = i * 20 * MS;
        for (int r = 0; r < 8; r++) starts[r] = t + (r + i) % 4 * 40 * US + (r >= 4 ? 2 * MS : 0);
        add_coll(world, "AllReduce", 1 << 20, starts, 500 * US);
    }
    find();
    const struct rs_straggler *h = &found.rows[0];
    assert_int_equal(h->rank_id, RS_NONE);
    assert_int_equal(h->host, 1);
    assert_int_equal(h->cost_ns, 40 * 2 * MS);
    assert_int_equal(h->times_last, 40);
    assert_int_equal(h->gpu_time_lost_ns, 40 * (4 * 2 * MS + (40 + 80 + 120) * US));
    for (int r = 4; r < 8; r++) assert_int_equal(cost_of(r), 10 * 40 * US);
    assert_null(host_row(0));
}

/* Rank 5 is 300 us late in each operation and rank 2 of the other host 280 us, so that rank 5 costs little; now and then
 * another rank of host 1 is the last. Host 1 costs more than rank 5 alone, and its ranks are not late together. */
static void test_one_rank_is_no_host(void **state)
{
    (void)state;
    make_job(2, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 8);
    for (int i = 0; i < 200; i++) {
        int64_t starts[8], t = i * 20 * MS;
        for (int r = 0; r < 8; r++) starts[r] = t + (r == 5 ? 300 * US : r == 2 ? 280 * US : 0);
        if (i % 4 == 1) starts[4 + i / 4 % 2 * 2] = t + 330 * US; /* 4 or 6 */
        add_coll(world, "AllReduce", 1 << 20, starts, 500 * US);
    }
    find();
    assert_int_equal(cost_of(5), 150 * 20 * US);
    assert_null(host_row(0));
    assert_null(host_row(1));
}

/* Tensor parallel inside hosts (0-3, 4-7), data parallel across. Rank 5 computes 2 ms longer in each step. Its mates wait
 * for it in the tensor-parallel operation and are late for the data-parallel one: that is rank 5's doing, once. */
static void play_tpdp(int steps, bool drop)
{
    make_job(2, 4, 3 * US);
    uint32_t tp[2] = {make_comm(10, 0, 1, 4), make_comm(11, 4, 1, 4)}, dp[4];
    for (int i = 0; i < 4; i++) dp[i] = make_comm(20 + (uint64_t)i, i, 4, 2);
    for (int s = 0; s < steps; s++) {
        int64_t t = s * 50 * MS, ends[2];
        for (int h = 0; h < 2; h++) {
            int64_t starts[4];
            for (int r = 0; r < 4; r++) starts[r] = t + r * 1 * US + (h == 1 && r == 1 ? 2 * MS : 0);
            ends[h] = starts[h == 1 ? 1 : 3] + 300 * US;
            add_coll(tp[h], "AllReduce", 1 << 16, starts, 300 * US);
        }
        for (int r = 0; r < 4; r++) { /* 10 ms of backward */
            int64_t starts[2] = {ends[0] + 10 * MS, ends[1] + 10 * MS};
            if (drop && s % 5 == 2 && r == 2) starts[0] = RS_TIME_NONE;
            add_coll(dp[r], "AllReduce", 1 << 20, starts, 1 * MS);
        }
    }
}

static void test_passed_on(void **state)
{
    (void)state;
    enum { STEPS = 50 };
    play_tpdp(STEPS, false);
    find();
    int64_t lead = 2 * MS - 2 * US; /* 5 is behind 7 by that in the one; and its host behind the other in the other */
    const struct rs_straggler *r = &found.rows[0];
    assert_ptr_equal(r, rank_row(5));
    assert_int_equal(r->cost_ns, STEPS * lead);
    assert_int_equal(found.cost_ns, STEPS * lead);
    assert_int_equal(r->inherited_ns, 0);
    assert_true(r->repeated_ns >= STEPS * (lead - 5 * US));
    assert_int_equal(r->times_last, 2 * STEPS);
    int64_t inherited = 0;
    for (int k = 4; k < 8; k++) {
        if (k == 5) continue;
        const struct rs_straggler *x = rank_row(k);
        assert_non_null(x);
        assert_int_equal(x->cost_ns, 0);
        assert_true(x->inherited_ns >= STEPS * (lead - 5 * US) && x->inherited_ns <= STEPS * 2 * MS);
        assert_int_equal(x->why, RS_WHY_HELD);
        assert_int_equal(x->inherited_ns + x->repeated_ns, STEPS * lead);
        inherited += x->inherited_ns;
    }
    assert_true(llabs(r->passed_on_ns - inherited) < STEPS * 10);
    assert_null(host_row(0));
    assert_null(host_row(1));
}

/* The same with records of rank 2 lost now and then: windows begin where both ranks were, recorded or not. */
static void test_passed_on_with_losses(void **state)
{
    (void)state;
    enum { STEPS = 50 };
    play_tpdp(STEPS, true);
    find();
    assert_ptr_equal(&found.rows[0], rank_row(5));
    assert_int_equal(found.cost_ns, cost_of(5));
}

/* What rank 6 was in before is not recorded in one step: then nobody knows whether its lateness is its own. */
static void test_unclear(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    play_tpdp(STEPS, false);
    for (uint32_t i = 0; i < model.parts.n; i++) {
        uint32_t op = model.parts.op[i];
        bool tp = model.comms[model.ops.comm[op]].hash == 11;
        if (!tp || op < 6 * 10 || model.members[model.parts.member[i]].global_rank != 6) continue;
        model.parts.start[i] = model.parts.end[i] = RS_TIME_NONE; /* of the 11th step */
        break;
    }
    find();
    assert_int_equal(found.compared, 6 * STEPS - 1);
    int64_t lead = 2 * MS - 2 * US;
    assert_int_equal(rank_row(6)->unclear_ns, lead);
    assert_int_equal(cost_of(6), 0);
    assert_int_equal(cost_of(4), 0); /* the others' times are there, though nobody could be called last */
    assert_int_equal(cost_of(7), 0);
    assert_true(cost_of(5) >= (STEPS - 1) * lead && cost_of(5) <= STEPS * 2 * MS);
}

/* All ranks of host 1 compute 2 ms longer; in the data-parallel groups each meets one of the other host. Each costs 2 ms a
 * step, and it is the host. */
static void test_slow_host_in_groups(void **state)
{
    (void)state;
    enum { STEPS = 30 };
    make_job(4, 4, 3 * US);
    uint32_t dp[4];
    for (int i = 0; i < 4; i++) dp[i] = make_comm(20 + (uint64_t)i, i, 4, 4);
    for (int s = 0; s < STEPS; s++)
        for (int r = 0; r < 4; r++) {
            int64_t t = s * 20 * MS, starts[] = {t, t + 2 * MS, t, t};
            add_coll(dp[r], "AllReduce", 1 << 20, starts, 1 * MS);
        }
    find();
    assert_int_equal(found.rows[0].rank_id, RS_NONE);
    assert_int_equal(found.rows[0].host, 1);
    assert_int_equal(found.rows[0].cost_ns, STEPS * 2 * MS); /* not four times that: they are late at the same time */
    for (int r = 4; r < 8; r++) assert_int_equal(cost_of(r), STEPS * 2 * MS);
}

/* A rank that is late on its own in both communicators is charged for both. */
static void test_late_twice(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    make_job(2, 2, 1 * US);
    uint32_t tp[2] = {make_comm(10, 0, 1, 2), make_comm(11, 2, 1, 2)},
             dp[2] = {make_comm(20, 0, 2, 2), make_comm(21, 1, 2, 2)};
    for (int s = 0; s < STEPS; s++) {
        int64_t t = s * 50 * MS, a[] = {t, t}, b[] = {t, t + 1 * MS}; /* rank 3: 1 ms in the first... */
        add_coll(tp[0], "AllReduce", 8, a, 100 * US);
        add_coll(tp[1], "AllReduce", 8, b, 100 * US);
        int64_t u = t + 10 * MS, c[] = {u, u + 1 * MS}, d[] = {u, u + 4 * MS}; /* ...and 3 ms more in the second */
        add_coll(dp[0], "AllReduce", 64, c, 100 * US);
        add_coll(dp[1], "AllReduce", 64, d, 100 * US);
    }
    find();
    assert_int_equal(cost_of(3), STEPS * (1 + 3) * MS);
    assert_int_equal(rank_row(3)->repeated_ns, STEPS * 1 * MS);
    assert_int_equal(cost_of(2), 0);
    assert_int_equal(rank_row(2)->inherited_ns, STEPS * 1 * MS);
}

/* An operation that still runs on another stream cannot have held the rank. */
static void test_overlapped_does_not_hold(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4), pair = make_comm(2, 0, 1, 2);
    for (int s = 0; s < 20; s++) {
        int64_t t = s * 100 * MS;
        int64_t early[] = {t, t, t, t + 50 * MS}; /* in the background, all wait for rank 3 for 50 ms */
        add_coll(world, "AllReduce", 8, early, 1 * MS);
        int64_t now[] = {t + 10 * MS, t + 13 * MS}; /* rank 1 is 3 ms late meanwhile, on its own */
        add_coll(pair, "AllReduce", 8, now, 1 * MS);
    }
    find();
    assert_int_equal(cost_of(1), 20 * 3 * MS);
    assert_int_equal(cost_of(3), 20 * 50 * MS);
}

/* Three operations of one launch wait for the same rank at the same time: that counts once. */
static void test_together_counts_once(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    for (int i = 0; i < 30; i++) {
        int64_t t = i / 3 * 10 * MS, starts[] = {t, t + 1 * MS};
        add_coll(world, "AllReduce", 8u << i % 3, starts, 100 * US);
    }
    find();
    assert_int_equal(cost_of(1), 10 * MS);
    assert_int_equal(rank_row(1)->repeated_ns, 20 * MS);
}

/* Of a lead of 2 ms, the launch came 1.5 ms late for rank 1, and long before for rank 2. */
static void test_why(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    for (int i = 0; i < 20; i++) {
        int64_t t = i * 20 * MS, late = t + 2 * MS;
        int64_t starts[] = {t, i % 2 ? late : t, i % 2 ? t : late};
        uint32_t op = add_coll(world, "AllReduce", 8, starts, 100 * US), part = model.ops.part[op];
        if (i % 2)
            model.parts.launched[model.order[part + 1]] = t + 1500 * US - LAUNCH_NS;
        else
            model.parts.launched[model.order[part + 2]] = t - 10 * MS;
    }
    find();
    const struct rs_straggler *a = rank_row(1), *b = rank_row(2);
    assert_int_equal(a->cost_ns, 10 * 2 * MS);
    assert_int_equal(a->why_ns[RS_WHY_LAUNCHED_LATE], 10 * 1500 * US);
    assert_int_equal(a->why_ns[RS_WHY_QUEUED], 10 * 500 * US);
    assert_int_equal(a->why, RS_WHY_LAUNCHED_LATE);
    assert_int_equal(b->why_ns[RS_WHY_QUEUED], 10 * 2 * MS);
    assert_int_equal(b->why, RS_WHY_QUEUED);
    for (uint32_t i = 0; i < model.parts.n; i++) model.parts.launched[i] = RS_TIME_NONE;
    rs_stragglers_free(&found);
    rs_stragglers_find(&found, &view);
    fine(RS_OK);
    assert_int_equal(rank_row(2)->why_ns[RS_WHY_UNKNOWN], 10 * 2 * MS);
    assert_int_equal(rank_row(2)->why, RS_WHY_UNKNOWN);
}

/* A program far ahead of its GPU: rank 1 launches later than the others, because its queue is full, but a second early. */
static void test_why_full_queue(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    for (int i = 0; i < 20; i++) {
        int64_t t = i * 20 * MS, starts[] = {t, t + 2 * MS, t};
        uint32_t op = add_coll(world, "AllReduce", 8, starts, 100 * US), part = model.ops.part[op];
        for (uint32_t r = 0; r < 3; r++)
            model.parts.launched[model.order[part + r]] = t - 1000 * MS + (r == 1 ? 5 * MS : 0);
    }
    find();
    assert_int_equal(rank_row(1)->why_ns[RS_WHY_LAUNCHED_LATE], 0);
    assert_int_equal(rank_row(1)->why, RS_WHY_QUEUED);
}

/* A pipeline: stage 1 sends late because stage 0 sent late. Receives are posted early. */
static void test_pipeline_inherits(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    for (int i = 0; i < 20; i++) {
        int64_t t = i * 20 * MS;
        for (int k = 0; k < 2; k++) { /* rank 0 is 4 ms behind the receive; rank 1 computes 1 ms behind what it got */
            uint32_t op = new_op(world, RS_OP_PAIR, "SendRecv", 1 << 20);
            int64_t send = k ? t + 5100 * US : t + 4 * MS, end = send + 100 * US;
            model.ops.root[op] = k;
            model.ops.dst[op] = k + 1;
            uint32_t from = add_part(op, (uint32_t)k, RS_PART_SEND, send, end);
            uint32_t to = add_part(op, (uint32_t)k + 1, RS_PART_RECV, t, end);
            model.parts.peer[from] = k + 1;
            model.parts.peer[to] = k;
        }
    }
    find();
    assert_int_equal(cost_of(0), 20 * 4 * MS);
    assert_int_equal(cost_of(1), 20 * 1 * MS);
    assert_int_equal(rank_row(1)->inherited_ns, 20 * 4100 * US);
    assert_int_equal(rank_row(0)->passed_on_ns, 20 * 4 * MS); /* the 100 us of transfer are nobody's */
}

static void test_wilson(void **state)
{
    (void)state;
    double low, high;
    rs_wilson(0, 0, &low, &high);
    assert_true(low == 0 && high == 1);
    rs_wilson(50, 100, &low, &high); /* textbook: 0.404 to 0.596 */
    assert_true(low > 0.4035 && low < 0.4045 && high > 0.5955 && high < 0.5965);
    rs_wilson(10, 10, &low, &high); /* 0.722 to 1 */
    assert_true(low > 0.722 && low < 0.723 && high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_one_straggler, forget),
        cmocka_unit_test_teardown(test_how_late, forget),
        cmocka_unit_test_teardown(test_ties_cost_nothing, forget),
        cmocka_unit_test_teardown(test_slow_host, forget),
        cmocka_unit_test_teardown(test_one_rank_is_no_host, forget),
        cmocka_unit_test_teardown(test_passed_on, forget),
        cmocka_unit_test_teardown(test_passed_on_with_losses, forget),
        cmocka_unit_test_teardown(test_unclear, forget),
        cmocka_unit_test_teardown(test_slow_host_in_groups, forget),
        cmocka_unit_test_teardown(test_late_twice, forget),
        cmocka_unit_test_teardown(test_overlapped_does_not_hold, forget),
        cmocka_unit_test_teardown(test_together_counts_once, forget),
        cmocka_unit_test_teardown(test_why, forget),
        cmocka_unit_test_teardown(test_why_full_queue, forget),
        cmocka_unit_test_teardown(test_pipeline_inherits, forget),
        cmocka_unit_test(test_wilson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
