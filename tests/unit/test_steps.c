/* Steps found in sequences whose steps are known; the start-up; one-offs, and what happened in them. */
#include "joined.h"

#include "analyse/markers.h"
#include "analyse/one_offs.h"
#include "analyse/steps.h"

static struct rs_view view;
static struct rs_steps steps;

static int forget(void **state)
{
    (void)state;
    rs_steps_free(&steps);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static void find(void)
{
    look(&view);
    fine(rs_steps_find(&steps, &view, NULL));
}

/* One operation of both ranks at t; returns its end. */
static int64_t both(uint32_t comm, const char *func, uint64_t bytes, int64_t t, int64_t transfer)
{
    int64_t starts[] = {t, t};
    add_coll(comm, func, bytes, starts, transfer);
    return t + transfer;
}

/* Data parallel: buckets of equal size, 1 ms of backward between them and 10 ms of forward before; a loss with every fifth
 * step, a broadcast before all. */
static void play_ddp(int nsteps, int buckets)
{
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t t = both(world, "Broadcast", 1 << 20, 0, 2 * MS);
    for (int s = 0; s < nsteps; s++) {
        t += 10 * MS;
        for (int b = 0; b < buckets; b++) t = both(world, "AllReduce", 25 << 20, t + 1 * MS, 500 * US);
        if (s % 5 == 4) t = both(world, "AllReduce", 4, t, 30 * US);
    }
}

static void test_equal_buckets(void **state)
{
    (void)state;
    static const int buckets[] = {1, 2, 4, 19};
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
        play_ddp(40, buckets[i]);
        find();
        assert_int_equal(steps.n, 40);
        assert_int_equal(steps.ops, buckets[i]);
        assert_int_equal(steps.usual_ns, 10 * MS + buckets[i] * 1500 * US);
        /* The first begins behind the broadcast; a boundary is the end of what was before. */
        assert_int_equal(steps.rows[0].from, 2 * MS);
        assert_int_equal(steps.rows[0].to, 2 * MS + steps.usual_ns);
        assert_int_equal(steps.rows[1].from, steps.rows[0].to);
        assert_int_equal(steps.time_ns.p50, steps.usual_ns);
        assert_int_equal(steps.marked, 0);
        forget(NULL);
    }
}

static void test_step_of(void **state)
{
    (void)state;
    play_ddp(10, 4);
    find();
    assert_int_equal(rs_steps_of(&steps, steps.rows[0].from - 1), RS_NONE);
    for (uint32_t i = 0; i < steps.n; i++) {
        assert_int_equal(rs_steps_of(&steps, steps.rows[i].from), i);
        assert_int_equal(rs_steps_of(&steps, steps.rows[i].to - 1), i);
    }
    assert_int_equal(rs_steps_of(&steps, steps.rows[steps.n - 1].to), RS_NONE);
}

/* 40 small tensor-parallel operations and two of data parallel: the step is the long period, not one operation. */
static void test_many_small_ones(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t tp = make_comm(1, 0, 1, 2), other = make_comm(2, 2, 1, 2), dp = make_comm(3, 0, 2, 2),
             dp2 = make_comm(4, 1, 2, 2);
    int64_t t = 0;
    for (int s = 0; s < 30; s++) {
        for (int i = 0; i < 40; i++) {
            both(other, "AllReduce", 1 << 18, t, 100 * US);
            t = both(tp, "AllReduce", 1 << 18, t, 100 * US) + 200 * US;
        }
        both(dp2, "ReduceScatter", 1 << 26, t, 2 * MS);
        t = both(dp, "ReduceScatter", 1 << 26, t, 2 * MS);
        both(dp2, "AllGather", 1 << 26, t, 2 * MS);
        t = both(dp, "AllGather", 1 << 26, t, 2 * MS);
    }
    find();
    assert_int_equal(steps.n, 30);
    assert_int_equal(steps.ops, 42);
}

/* Sizes of an all-to-all change each time: they do not hide the pattern. Nothing repeats: no steps. */
static void test_no_pattern(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    for (int i = 0; i < 30; i++) both(world, "AllReduce", (uint64_t)1 << 20 | (uint64_t)i << 4, i * 10 * MS, 100 * US);
    find();
    assert_int_equal(steps.n, 0);
    assert_int_equal(rs_steps_of(&steps, 5), RS_NONE);
}

/* Numbers that look drawn, the same each time. */
static int64_t draw(uint64_t *x, int64_t below)
{
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return (int64_t)(*x % (uint64_t)below);
}

/* 40 steps of 4 equal operations on a machine with other load: pauses of any length hide the step. None is told, rather than
 * 160 of one operation. */
static void test_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_job(1, 2, 1 * US);
        uint32_t world = make_comm(1, 0, 1, 2);
        uint64_t x = seed * 0x9e3779b97f4a7c15;
        int64_t t = 0;
        for (int i = 0; i < 160; i++) {
            int64_t noise = draw(&x, 3) ? draw(&x, 2 * MS) : draw(&x, 20 * MS);
            t = both(world, "AllReduce", 25 << 20, t + (i % 4 ? 1 : 2) * MS + noise, 500 * US);
        }
        find();
        assert_int_equal(steps.n, 0);
        forget(NULL);
    }
}

/* One operation, be it ever so regular, is no step where there are others beside it. */
static void test_one_of_several(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    for (int i = 0; i < 60; i++) {
        both(world, "AllReduce", 25 << 20, i * 10 * MS, 5 * MS);
        if (i == 3 || i == 11 || i == 13 || i == 29 || i == 34 || i == 52)
            both(world, "AllGather", 1 << 20, i * 10 * MS + 6 * MS, 10 * US);
    }
    find();
    assert_int_equal(steps.n, 0);
}

/* Where ends were lost a pause looks longer than it was: it cuts no step in two. */
static void test_lost_ends(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t t = 0;
    for (int i = 0; i < 60 * 4; i++) t = both(world, "AllReduce", 25 << 20, t + (i % 4 ? 1 : 11) * MS, 8 * MS);
    static const uint32_t lost[] = {9, 41, 57, 110, 149, 205}; /* the second of a step, or the third */
    for (uint32_t i = 0; i < model.parts.n; i++)
        for (size_t k = 0; k < sizeof lost / sizeof *lost; k++)
            if (model.parts.op[i] == lost[k]) model.parts.end[i] = RS_TIME_NONE;
    find();
    assert_int_equal(steps.n, 60);
    assert_int_equal(steps.ops, 4);
}

static uint32_t host_lane(uint32_t proc)
{
    uint32_t lane;
    const struct rs_lane row = {.proc = proc, .kind = RS_LANE_THREAD, .device = -1};
    rs_model_lane(&model, &row, &lane);
    fine(RS_OK);
    return lane;
}

static void mark(uint32_t lane, int number, int64_t from, int64_t to)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    act(lane, RS_ACT_STEP, name, from, to);
}

static void test_names_of_marks(void **state)
{
    (void)state;
    assert_int_equal(rs_step_number("ProfilerStep#12"), 12);
    assert_int_equal(rs_step_number("step 7"), 7);
    assert_int_equal(rs_step_number("Step_0"), 0);
    assert_int_equal(rs_step_number("iteration: 33"), 33);
    assert_int_equal(rs_step_number("train_step=4"), 4);
    static const char *const others[] = {"",       "step",    "stepping 3",     "step 3 forward",
                                         "step x", "forward", "step 4294967295"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_int_equal(rs_step_number(others[i]), RS_NONE);
}

/* Marks are the steps, whatever repeats, and times are those of the operations in them: the broadcast
 * at 0 and the first two steps of 16 ms are in the first mark, and over at 34 ms. Another thread's mark of the same step is no other one. */
static void test_marks(void **state)
{
    (void)state;
    play_ddp(10, 4);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t proc = rank < 2 ? procs[rank] : procs[1], lane = host_lane(proc);
        for (int i = 0; i < 5; i++) mark(lane, 20 + i, i * 40 * MS + (int64_t)rank * US, (i + 1) * 40 * MS - 3 * MS);
    }
    find();
    assert_int_equal(steps.n, 5);
    assert_int_equal(steps.marked, 5);
    assert_string_equal(rs_steps_how(steps.n, steps.marked), "annotations");
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(steps.rows[i].mark, 20 + i);
    assert_int_equal(steps.rows[0].start, 0);
    assert_int_equal(steps.rows[1].start, 34 * MS);
    assert_int_equal(steps.rows[0].length, 34 * MS);
    assert_int_equal(steps.usual_ns, 32 * MS); /* of 34, 32, 48.03, 32 and 16.03 */
}

/* A profiler that begins anew counts its steps from the same number: all are kept, in the order of their times. */
static void test_marks_again(void **state)
{
    (void)state;
    play_ddp(10, 4);
    uint32_t lane = host_lane(procs[0]);
    for (int i = 0; i < 4; i++) mark(lane, 20 + i % 2, i * 40 * MS, (i + 1) * 40 * MS - 3 * MS);
    find();
    assert_int_equal(steps.marked, 4);
    const struct rs_step *r = steps.rows;
    for (uint32_t i = 0, n = 0; i < steps.n; i++) {
        if (r[i].mark == RS_NONE) continue;
        assert_int_equal(r[i].mark, 20 + n % 2);
        assert_int_equal(r[i].again, n / 2);
        assert_int_equal(r[i].begin, n * 40 * MS);
        n++;
    }
}

/* The profile of steps 4 to 6 of ten: those are marks, the others are by the pattern, and all are numbered in one go. The
 * program runs ahead of its GPU by nearly a step. */
static void test_marks_and_pattern(void **state)
{
    (void)state;
    play_ddp(10, 4);
    for (uint32_t i = 0; i < model.parts.n; i++) { /* operation 0 is the broadcast; a loss with steps 4 and 9 */
        uint32_t op = model.parts.op[i], step = op < 18 ? (op - 1) / 4 : (op - 2) / 4;
        struct rs_tag tag = {.part = i, .step = op && step >= 4 && step <= 6 ? step : RS_NONE, .pg_seq = -1};
        tag.duration_ns = RS_TIME_NONE;
        if (tag.step != RS_NONE) {
            rs_model_tag(&model, &tag);
            fine(RS_OK);
        }
    }
    uint32_t lane = host_lane(procs[0]);
    for (int i = 4; i <= 6; i++) mark(lane, i, (i - 1) * 16 * MS, i * 16 * MS);
    find();
    assert_int_equal(steps.n, 10);
    assert_int_equal(steps.marked, 3);
    assert_string_equal(rs_steps_how(steps.n, steps.marked), "annotations and pattern");
    for (uint32_t i = 0; i < 10; i++) assert_int_equal(steps.rows[i].mark, i >= 4 && i <= 6 ? i : RS_NONE);
    for (uint32_t op = 1; op < 17; op++) assert_int_equal(rs_steps_of_op(&steps, &model, op), (op - 1) / 4);
    assert_int_equal(steps.rows[5].length, 16 * MS);
}

/* Buckets of three sizes, 10 ms of compute before them, and 100 ms more with every 10th step: steps are of three operations,
 * not of thirty. */
static void test_checkpoints(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t t = 0;
    for (int s = 0; s < 40; s++) {
        t += s % 10 == 9 ? 110 * MS : 10 * MS;
        for (int b = 0; b < 3; b++) t = both(world, "AllReduce", (uint64_t)(b + 1) << 20, t + 1 * MS, 500 * US);
    }
    find();
    assert_int_equal(steps.n, 40);
    assert_int_equal(steps.ops, 3);
}

/* 30 steps of 4 equal operations, with a scalar after them; compute of any length hides the step from single times, but not
 * from medians. */
static void test_scalars_in_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_job(1, 2, 1 * US);
        uint32_t world = make_comm(1, 0, 1, 2);
        uint64_t x = seed * 0x9e3779b97f4a7c15;
        int64_t t = 0;
        for (int i = 0; i < 120; i++) {
            int64_t noise = draw(&x, 8) ? 0 : draw(&x, 5 * MS);
            t = both(world, "AllReduce", 2 << 20, t + 500 * US + noise, 50 * US);
            if (i % 4 == 3) t = both(world, "AllReduce", 4096, t + 200 * US, 30 * US);
        }
        find();
        assert_int_equal(steps.n, 30);
        forget(NULL);
    }
}

/* ---- start-up ---- */

/* Steps of one operation, `ms[i]` long each, after a broadcast at 0 that ends `early` before them. */
static void play_lengths(const int64_t *ms, int n, int64_t early)
{
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t t = both(world, "Broadcast", 1 << 20, 0, early);
    for (int s = 0; s < n; s++) {
        int64_t half = ms[s] * MS / 2;
        both(world, "ReduceScatter", 1 << 24, t + half - 2 * MS, 2 * MS);
        both(world, "AllGather", 1 << 24, t + 2 * half - 1 * MS, 1 * MS);
        t += 2 * half;
    }
    find();
    assert_int_equal(steps.n, n);
}

static void fill_lengths(int64_t *ms, int n)
{
    for (int i = 0; i < n; i++) ms[i] = 100 + i % 3;
}

static void test_startup(void **state)
{
    (void)state;
    int64_t ms[40];
    fill_lengths(ms, 40);
    play_lengths(ms, 40, 10 * MS); /* all alike */
    assert_int_equal(steps.startup, 0);
    assert_false(steps.early);
    assert_int_equal(steps.after_ns, RS_TIME_NONE);
    assert_null(steps.left_out);
    forget(NULL);

    ms[0] = 900, ms[1] = 140, ms[2] = 260; /* the second is not long, but two of three are */
    play_lengths(ms, 40, 10 * MS);
    assert_int_equal(steps.startup, 3);
    assert_int_equal(steps.warmup, 3);
    assert_int_equal(steps.after_ns, steps.rows[3].from);
    assert_int_equal(steps.begin_ns, 0);
    assert_int_equal(steps.counted, 40);
    assert_int_equal(steps.time_ns.p99, 102 * MS); /* without them */
    assert_string_equal(steps.left_out,
                        "the first 3 of 40 steps (start-up) are left out: 1.3 s; --warmup 0 includes them");
    rs_steps_within(&steps, &everything, 0);
    assert_int_equal(steps.warmup, 0);
    assert_int_equal(steps.startup, 3);
    assert_int_equal(steps.time_ns.p99, 452 * MS); /* the first begins with its first operation */
    assert_null(steps.left_out);
    rs_steps_within(&steps, &everything, 1);
    assert_string_equal(steps.left_out, "the first of 40 steps is left out: 0.91 s");
    rs_steps_within(&steps, &(struct rs_filter){.has_to = true, .to = 2000 * MS}, RS_NONE);
    assert_int_equal(steps.warmup, 0); /* the user selects a time */
    assert_int_equal(steps.after_ns, RS_TIME_NONE);
    forget(NULL);

    fill_lengths(ms, 40);
    ms[5] = 900; /* later: a one-off, not start-up */
    play_lengths(ms, 40, 10 * MS);
    assert_int_equal(steps.startup, 0);
    forget(NULL);

    for (int i = 0; i < 20; i++) ms[i] = 300; /* half of the run: at most a third is left out */
    play_lengths(ms, 40, 10 * MS);
    assert_true(steps.startup <= 13);
    forget(NULL);

    fill_lengths(ms, 40);
    ms[0] = 900;
    play_lengths(ms, 5, 10 * MS); /* so few are all needed */
    assert_int_equal(steps.startup, 0);
    forget(NULL);
    play_lengths(ms, 6, 10 * MS);
    assert_int_equal(steps.startup, 1);
    forget(NULL);

    for (int i = 0; i < 40; i++) ms[i] = i % 2 ? 100 : 350; /* every second one is long: that is no start-up */
    play_lengths(ms, 40, 10 * MS);
    assert_int_equal(steps.startup, 0);
    forget(NULL);

    fill_lengths(ms, 40);
    play_lengths(ms, 5, 3000 * MS); /* before the first step */
    assert_int_equal(steps.startup, 0);
    assert_true(steps.early);
    assert_int_equal(steps.after_ns, steps.rows[0].from);
    assert_string_equal(steps.left_out,
                        "what is before the first step (start-up) is left out: 3.0 s; --warmup 0 includes it");
}

/* ---- one-offs ---- */

static struct rs_bandwidth funcs;
static struct rs_one_offs odd;

static void find_odd(void)
{
    find();
    rs_bandwidth_find(&funcs, &view, false);
    rs_one_offs_find(&odd, &view, &steps, &funcs);
}

static int forget_odd(void **state)
{
    rs_one_offs_free(&odd);
    rs_bandwidth_free(&funcs);
    return forget(state);
}

/* Of rank 1 in step 12 8 ms; the transfer takes 7 ms more in step 20; all compute 6 ms longer in step 30, in step 35, too,
 * and rank 2 4 ms longer than that. Rank 0 is always 50 us later than the others: that is usual. */
static void test_one_offs(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    int64_t t = 0;
    for (int s = 0; s < 40; s++) {
        t += 10 * MS + s % 4 * 10 * US + (s == 30 || s == 35 ? 6 * MS : 0);
        int64_t starts[] = {t + 50 * US, t + (s == 12 ? 8 * MS : 0), t + (s == 35 ? 4 * MS : 0)};
        int64_t transfer = 1 * MS + (s == 20 ? 7 * MS : 0), last = starts[0];
        add_coll(world, "AllReduce", 1 << 24, starts, transfer);
        for (int i = 1; i < 3; i++) last = starts[i] > last ? starts[i] : last;
        t = last + transfer;
    }
    find_odd();
    assert_int_equal(steps.n, 40);
    assert_int_equal(odd.n, 4);
    assert_int_equal(odd.rows[0].step, 12);
    assert_int_equal(odd.rows[0].what, RS_ONE_OFF_RANK_PAUSED);
    assert_int_equal(view.model->ranks[odd.rows[0].rank_id].number, 1);
    assert_int_equal(odd.rows[0].ranks, 1);
    assert_in_range(odd.rows[0].late_ns, 7900 * US, 8100 * US);
    assert_in_range(odd.rows[0].excess_ns, 7900 * US, 8100 * US);
    assert_int_equal(odd.rows[0].at_ns, steps.rows[12].start);
    assert_int_equal(odd.rows[0].row, RS_NONE);
    assert_int_equal(odd.rows[0].cause, RS_CAUSE_UNKNOWN);
    assert_non_null(strstr(odd.rows[0].text, "rank 1 (node00"));
    assert_non_null(strstr(odd.rows[0].text, "and the others waited"));
    assert_int_equal(odd.rows[1].step, 20);
    assert_int_equal(odd.rows[1].what, RS_ONE_OFF_TRANSFER);
    assert_int_equal(odd.rows[1].rank_id, RS_NONE);
    assert_int_equal(odd.rows[1].row, 0);
    assert_int_equal(odd.rows[1].slow_ns, 7 * MS);
    assert_int_equal(odd.rows[2].step, 30);
    assert_int_equal(odd.rows[2].what, RS_ONE_OFF_ALL_PAUSED);
    assert_int_equal(odd.rows[2].rank_id, RS_NONE);
    assert_int_equal(odd.rows[2].ranks, 3);
    assert_in_range(odd.rows[2].pause_ns, 5900 * US, 6100 * US);
    assert_non_null(strstr(odd.rows[2].text, "all ranks paused outside NCCL for 6.0 ms"));
    assert_int_equal(odd.rows[3].step, 35);
    assert_int_equal(odd.rows[3].what, RS_ONE_OFF_ALL_PAUSED);
    assert_in_range(odd.rows[3].pause_ns, 5900 * US, 6100 * US);
    assert_int_equal(view.model->ranks[odd.rows[3].rank_id].number, 2);
    assert_in_range(odd.rows[3].late_ns, 3900 * US, 4100 * US);
    rs_one_offs_free(&odd);
    rs_steps_within(&steps, &everything, 13);
    rs_one_offs_find(&odd, &view, &steps, &funcs);
    assert_int_equal(odd.n, 4);
    assert_true(odd.rows[0].left_out);
    assert_false(odd.rows[1].left_out);
}

/* Two of four ranks pause in step 9; a checkpoint with every 10th step from the 6th on, and one of them is missing; the first
 * step of the job; a communicator is created in step 22. */
static void test_causes(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4), other = make_comm(2, 0, 1, 4);
    for (uint32_t i = 0; i < model.nprocs; i++)
        model.procs[i].overwritten_until = model.procs[i].cut_until = RS_TIME_NONE;
    int64_t t = 0;
    for (int s = 0; s < 60; s++) {
        bool save = s % 10 == 5 && s != 35;
        if (s == 22)
            for (uint32_t i = 0; i < model.nmembers; i++)
                if (model.members[i].comm == other) model.members[i].created = t + 5 * MS;
        t += (s ? 10 : 200) * MS + (save ? 80 * MS : 0) + (s == 22 ? 40 * MS : 0);
        int64_t late = s == 9 ? 30 * MS : 0, starts[] = {t, t + late, t, t + late};
        add_coll(world, "ReduceScatter", 1 << 24, starts, 1 * MS);
        t += late + 3 * MS;
        add_coll(world, "AllGather", 1 << 24, (int64_t[]){t, t, t, t}, 1 * MS);
        t += 1 * MS;
    }
    find_odd();
    assert_int_equal(steps.n, 60);
    static const uint32_t want[] = {5, 9, 15, 22, 25, 45, 55};
    assert_int_equal(odd.n, 7);
    for (uint32_t i = 0; i < 7; i++) {
        const struct rs_one_off *x = &odd.rows[i];
        bool save = want[i] % 10 == 5;
        assert_int_equal(x->step, want[i]);
        assert_int_equal(x->every, save ? 10 : 0);
        assert_int_equal(x->cause, save ? RS_CAUSE_PERIODIC : want[i] == 22 ? RS_CAUSE_COMMUNICATOR : RS_CAUSE_UNKNOWN);
        assert_int_equal(x->what, want[i] == 9 ? RS_ONE_OFF_RANK_PAUSED : RS_ONE_OFF_ALL_PAUSED);
    }
    assert_non_null(strstr(odd.rows[0].text, "every 10 steps"));
    assert_int_equal(odd.rows[1].ranks, 2);
    assert_int_equal(odd.rows[1].late_ns, 30 * MS);
    assert_non_null(strstr(odd.rows[1].text, " and 1 more paused"));
    assert_non_null(strstr(odd.rows[3].text, "communicators were created"));
}

/* Windows do not overlap: a step by the pattern gives way to a mark, and of two marks the first ends where the next begins. */
static void test_windows(void **state)
{
    (void)state;
    static const struct {
        int64_t begin, end;
        bool marked;
        int64_t from, to; /* of the window */
    } rows[] = {{0, 10, true, 0, 8},
                {8, 20, true, 8, 20},
                {15, 30, false, 20, 30},
                {30, 45, false, 30, 40},
                {40, 50, true, 40, 50}};
    enum { N = sizeof rows / sizeof *rows };
    make_job(1, 1, 1 * US);
    struct rs_step made[N];
    for (uint32_t i = 0; i < N; i++)
        made[i] = (struct rs_step){.begin = rows[i].begin, .end = rows[i].end, .mark = rows[i].marked ? i : RS_NONE};
    const struct rs_steps all = {.rows = made, .n = N};
    const struct rs_rank_track track = {.proc = procs[0]};
    struct rs_markers found;
    rs_markers_find(&found, &model, &track, &all, &everything);
    assert_int_equal(found.n, N);
    assert_int_equal(found.marked, 3);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(found.windows[i].from, rows[i].from);
        assert_int_equal(found.windows[i].to, rows[i].to);
        assert_int_equal(found.windows[i].length, rows[i].end - rows[i].begin);
        assert_int_equal(found.windows[i].marked, rows[i].marked);
    }
    rs_markers_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_buckets),
        cmocka_unit_test_teardown(test_step_of, forget),
        cmocka_unit_test_teardown(test_many_small_ones, forget),
        cmocka_unit_test_teardown(test_no_pattern, forget),
        cmocka_unit_test(test_noise),
        cmocka_unit_test_teardown(test_one_of_several, forget),
        cmocka_unit_test_teardown(test_lost_ends, forget),
        cmocka_unit_test(test_names_of_marks),
        cmocka_unit_test_teardown(test_marks, forget),
        cmocka_unit_test_teardown(test_marks_again, forget),
        cmocka_unit_test_teardown(test_marks_and_pattern, forget),
        cmocka_unit_test_teardown(test_checkpoints, forget),
        cmocka_unit_test_teardown(test_scalars_in_noise, forget),
        cmocka_unit_test_teardown(test_startup, forget),
        cmocka_unit_test_teardown(test_one_offs, forget_odd),
        cmocka_unit_test_teardown(test_causes, forget_odd),
        cmocka_unit_test_teardown(test_windows, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
