/* The timeline of models made by hand, whose every bar is known. */
#include "timeline/timeline.h"

#include "drawn.h"
#include "join/ranks.h"
#include "join/run_span.h"
#include "joined.h"

static struct rs_timeline t;
static struct rs_bars bars;

static int tear_down(void **state)
{
    (void)state;
    rs_bars_free(&bars);
    rs_timeline_free(&t);
    rs_model_free(&model);
    return 0;
}

/* The model's timeline, without inputs. */
static void make(const struct rs_filter *filter)
{
    rs_waits_find(&model);
    fine(RS_OK);
    rs_run_span_find(&model);
    const struct rs_timeline_options options = {.filter = filter, .rows = UINT64_MAX};
    rs_timeline_init(&t, &model, NULL, &options);
    fine(RS_OK);
    check_groups(&t);
}

/* The bars of the i-th process, when those before are made. */
static void draw(uint32_t i)
{
    uint32_t first = 0;
    for (uint32_t k = 0; k <= i; k++) {
        fine(rs_timeline_process(&t, k, first, &bars, NULL));
        check_process(&t, &bars, t.procs[k]);
        first += bars.n;
    }
}

static const char *label(uint32_t group)
{
    return rs_texts_at(&t.texts, t.groups[group].label);
}

/* Where the bar of a part is among `bars`. */
static uint32_t bar_of(uint32_t part)
{
    assert_int_not_equal(t.bar_of_part[part], RS_NONE);
    assert_true(t.bar_of_part[part] >= bars.first && t.bar_of_part[part] - bars.first < bars.n);
    return t.bar_of_part[part] - bars.first;
}

static const struct rs_bar_lane *lane_of(uint32_t bar)
{
    for (uint32_t i = 0; i < bars.nlanes; i++)
        if (bar - bars.lanes[i].from < bars.lanes[i].n) return &bars.lanes[i];
    fail_msg("a bar on no lane");
    return NULL;
}

/* The n-th bar of a kind; RS_NONE: there are not so many. */
static uint32_t nth(uint8_t kind, uint32_t n)
{
    for (uint32_t i = 0; i < bars.n; i++)
        if (bars.kind[i] == kind && !n--) return i;
    return RS_NONE;
}

/* ---- groups ---- */

static void groups_are_a_tree(void **state)
{
    (void)state;
    make_job(2, 2, 1000);
    uint32_t world = make_comm(0x1122334455667788, 0, 1, 4);
    uint32_t pair = make_comm(0x99aabbccddeeff00, 1, 2, 2); /* ranks 1 and 3 */
    model.comms[pair].name = "tp:0";
    make(NULL);
    static const struct {
        uint8_t level;
        const char *label;
    } want[] = {
        {RS_GROUP_HOST, "node00"},
        {RS_GROUP_PROCESS, "pid 100"},
        {RS_GROUP_RANK, "rank 0 \xc2\xb7 GPU 4"},
        {RS_GROUP_COMM, "comm 11223344, rank 0 of 4"},
        {RS_GROUP_PROCESS, "pid 101"},
        {RS_GROUP_RANK, "rank 1 \xc2\xb7 GPU 5"},
        {RS_GROUP_COMM, "comm 11223344, rank 1 of 4"},
        {RS_GROUP_COMM, "comm 99aabbcc tp:0, rank 0 of 2"},
        {RS_GROUP_HOST, "node01"},
        {RS_GROUP_PROCESS, "pid 102"},
        {RS_GROUP_RANK, "rank 2 \xc2\xb7 GPU 6"},
        {RS_GROUP_COMM, "comm 11223344, rank 2 of 4"},
        {RS_GROUP_PROCESS, "pid 103"},
        {RS_GROUP_RANK, "rank 3 \xc2\xb7 GPU 7"},
        {RS_GROUP_COMM, "comm 11223344, rank 3 of 4"},
        {RS_GROUP_COMM, "comm 99aabbcc tp:0, rank 1 of 2"},
    };
    assert_int_equal(t.ngroups, sizeof want / sizeof *want);
    for (uint32_t i = 0; i < t.ngroups; i++) {
        assert_int_equal(t.groups[i].level, want[i].level);
        assert_string_equal(label(i), want[i].label);
        assert_int_equal(t.groups[i].error_ns, 1000);
    }
    assert_int_equal(t.nprocs, 4);
    assert_int_equal(t.group_of_member[model.comms[world].first_member], 3);
}

/* Hosts and processes are in the order of the ranks that they hold, whatever the order of files. */
static void groups_go_by_rank(void **state)
{
    (void)state;
    make_job(2, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 2), first = model.comms[comm].first_member;
    model.members[first].proc = procs[1]; /* rank 0 runs on the second host */
    model.members[first].gpu = gpus[1];
    model.members[model.members[first].next].proc = procs[0];
    model.members[model.members[first].next].gpu = gpus[0];
    rs_ranks_find(&model);
    fine(RS_OK);
    make(NULL);
    assert_string_equal(label(0), "node01");
    assert_int_equal(t.procs[0], procs[1]);
}

static void flags_tell_lives(void **state)
{
    (void)state;
    make_job(1, 2, 1000);
    uint32_t comm = make_comm(1, 0, 1, 2), x = model.comms[comm].first_member;
    for (uint32_t i = 0; i < model.nmembers; i++) model.members[i].created = model.members[i].destroyed = RS_TIME_NONE;
    model.members[x].created = 5 * MS;
    model.members[x].destroyed = 90 * MS;
    make(NULL);
    assert_int_equal(t.nflags, 2);
    assert_int_equal(t.flags[0].at, 5 * MS);
    assert_false(t.flags[0].destroyed);
    assert_int_equal(t.flags[0].group, t.group_of_member[x]);
    assert_string_equal(rs_texts_at(&t.texts, t.flags[1].label), "comm 00000000 destroyed");
    assert_true(t.flags[1].destroyed);
}

/* ---- operations ---- */

static void operations_wait_for_the_last(void **state)
{
    (void)state;
    make_job(1, 3, 10 * US);
    uint32_t comm = make_comm(1, 0, 1, 3);
    const int64_t starts[] = {MS, 4 * MS, MS + 5 * US}, near[] = {10 * MS, 10 * MS + 3 * US, 10 * MS};
    uint32_t op = add_coll(comm, "AllReduce", 1 << 20, starts, 2 * MS), tie = add_coll(comm, "AllReduce", 8, near, MS);
    make(NULL);
    assert_int_equal(t.nops, 2);
    assert_int_equal(t.ops[0], op);
    for (uint32_t i = 0; i < 3; i++) {
        draw(i);
        uint32_t b = bar_of(model.order[model.ops.part[op] + i]);
        assert_int_equal(bars.start[b], starts[i]);
        assert_int_equal(bars.start[b] + bars.dur[b], 6 * MS);
        assert_int_equal(bars.wait[b], i == 1 ? 0 : 4 * MS - starts[i]);
        assert_int_equal(bars.flags[b], i == 1 ? RS_BAR_LAST : 0);
        assert_int_equal(bars.a2[b], 1 << 20);
        assert_string_equal(t.kinds.rows[bars.kind[b]].label, "AllReduce");
        assert_string_equal(t.kinds.rows[bars.kind[b]].colour, "AllReduce");
        assert_non_null(t.kinds.rows[bars.kind[b]].explain);
        b = bar_of(model.order[model.ops.part[tie] + i]);
        assert_int_equal(bars.wait[b], 0); /* below the clock error nothing is claimed */
        assert_int_equal(bars.flags[b], 0);
    }
}

static void ends_that_are_not_known(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    enum { PARTS = 7 };
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, op[PARTS], part[PARTS];
    for (int i = 0; i < PARTS; i++) {
        op[i] = new_op(comm, RS_OP_COLL, "AllGather", 4);
        part[i] = add_part(op[i], x, RS_PART_COLL, i < 4 ? (10 + 10 * i) * MS : RS_TIME_NONE, RS_TIME_NONE);
        if (i == 6) model.parts.start[part[i]] = 70 * MS;
        model.parts.func[part[i]] = model.ops.func[op[i]];
    }
    model.procs[procs[0]].last = 100 * MS;
    model.procs[procs[0]].ended = RS_END_KILLED;
    model.parts.after[part[0]] = 12 * MS; /* 0: ended between 12 and 15 */
    model.parts.before[part[0]] = 15 * MS;
    model.parts.before[part[1]] = 21 * MS; /* 1: before 21 */
    model.parts.flags[part[2]] = RS_PART_DONE; /* 2: ended, nobody knows when */
    model.parts.flags[part[3]] = RS_PART_OPEN; /* 3: ran when the recording ended */
    model.parts.launched[part[4]] = 50 * MS; /* 4: when it began is not known, when it ended is */
    model.parts.end[part[4]] = 55 * MS;
    model.parts.enqueued[part[5]] = 60 * MS; /* 5: only the call is known */
    make(NULL); /* 6: began, and nobody tells of more: that it had not ended is not known either */
    draw(0);
    static const struct {
        int64_t start, dur, fade;
        uint8_t flags;
    } want[PARTS] = {
        {10 * MS, 2 * MS, 3 * MS, RS_BAR_END_BOUNDED}, {20 * MS, 0, MS, RS_BAR_END_BOUNDED},
        {30 * MS, 0, 0, RS_BAR_END_BOUNDED},           {40 * MS, 60 * MS, 0, RS_BAR_OPEN},
        {50 * MS, 5 * MS, 0, RS_BAR_START_UNKNOWN},    {60 * MS, 0, 0, RS_BAR_START_UNKNOWN | RS_BAR_END_BOUNDED},
        {70 * MS, 0, 0, RS_BAR_END_BOUNDED},
    };
    for (int i = 0; i < PARTS; i++) {
        uint32_t b = bar_of(part[i]);
        assert_int_equal(bars.start[b], want[i].start);
        assert_int_equal(bars.dur[b], want[i].dur);
        assert_int_equal(bars.fade[b], want[i].fade);
        assert_int_equal(bars.flags[b], want[i].flags);
    }
    /* The open one covers those behind it: they are on a lane of their own. */
    assert_int_equal(lane_of(bar_of(part[3]))->sub, 0);
    assert_int_equal(lane_of(bar_of(part[4]))->sub, 1);
    /* The call of 5 is a moment, and its parent; those that were launched have an edge. */
    uint32_t call = nth(RS_BAR_ENQUEUED, 0);
    assert_int_equal(bars.start[call], 60 * MS);
    assert_int_equal(bars.parent[bar_of(part[5])], bars.first + call);
}

/* Tools that draw no fade would not show what has no length: there it reaches to the upper bound. */
static void ends_to_their_bound(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, part[3];
    for (int i = 0; i < 3; i++)
        part[i] = add_part(new_op(comm, RS_OP_COLL, "AllGather", 4), x, RS_PART_COLL, (10 + 10 * i) * MS, RS_TIME_NONE);
    model.procs[procs[0]].last = 100 * MS;
    model.parts.after[part[0]] = 12 * MS; /* between 12 and 15 */
    model.parts.before[part[0]] = 15 * MS;
    model.parts.before[part[1]] = 32 * MS; /* reaches into the next: that one is beside it */
    rs_waits_find(&model);
    fine(RS_OK);
    const struct rs_timeline_options options = {.rows = UINT64_MAX, .to_bound = true};
    rs_timeline_init(&t, &model, NULL, &options);
    fine(RS_OK);
    fine(rs_timeline_process(&t, 0, 0, &bars, NULL));
    static const int64_t dur[] = {5 * MS, 12 * MS, 0}, unsure[] = {3 * MS, 12 * MS, 0};
    for (int i = 0; i < 3; i++) {
        uint32_t b = bar_of(part[i]);
        assert_int_equal(bars.dur[b], dur[i]);
        assert_int_equal(bars.fade[b], unsure[i]);
        assert_int_equal(bars.flags[b], RS_BAR_END_BOUNDED);
        assert_int_equal(lane_of(b)->sub, i == 2);
    }
}

/* A job that hangs: rank 2 never came, so that the others wait to the end. Where rank 2 may have come unseen, what they
 * did is not known. Of a process that closed, an operation without an end is no hang. */
static void waits_for_one_that_never_came(void **state)
{
    (void)state;
    enum { MISSING, LOST, CLOSED, CASES };
    for (int c = 0; c < CASES; c++) {
        make_job(1, 3, 10 * US);
        uint32_t comm = make_comm(1, 0, 1, 3), op = new_op(comm, RS_OP_COLL, "AllReduce", 4), part[2];
        rs_model_link(&model);
        fine(RS_OK);
        model.ops.seq[op] = 0;
        for (uint32_t i = 0; i < model.nmembers; i++) model.members[i].created = 0;
        for (uint32_t r = 0; r < 2; r++) {
            part[r] = add_part(op, rs_comm_member(&model, comm, (int32_t)r), RS_PART_COLL, (1 + r) * MS, RS_TIME_NONE);
            model.parts.flags[part[r]] = RS_PART_OPEN;
        }
        for (uint32_t r = 0; r < 3; r++) {
            model.procs[procs[r]].end = model.procs[procs[r]].last = 50 * MS;
            model.procs[procs[r]].ended = c == CLOSED ? RS_END_WELL : RS_END_KILLED;
        }
        model.procs[procs[2]].drops = c == LOST;
        make(NULL);
        for (uint32_t r = 0; r < 2; r++) {
            draw(r);
            uint32_t b = bar_of(part[r]);
            assert_int_equal(rs_part_wait(&model, part[r]), RS_TIME_NONE);
            assert_int_equal(bars.flags[b], c == CLOSED ? RS_BAR_END_BOUNDED : RS_BAR_OPEN);
            assert_int_equal(bars.start[b] + bars.dur[b], c == CLOSED ? bars.start[b] : 50 * MS);
            assert_int_equal(bars.wait[b], c == MISSING ? bars.dur[b] : 0);
        }
        tear_down(NULL);
        model = (struct rs_model){0};
    }
}

/* Aggregated: three operations of one launch begin and end together, and are beside each other. */
static void one_launch_of_many(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, part[4];
    for (int i = 0; i < 4; i++) {
        uint32_t op = new_op(comm, RS_OP_COLL, "AllReduce", 4);
        part[i] = add_part(op, x, RS_PART_COLL, i < 3 ? 10 * MS : 30 * MS, i < 3 ? 20 * MS : 31 * MS);
    }
    make(NULL);
    draw(0);
    for (int i = 0; i < 3; i++) assert_int_equal(lane_of(bar_of(part[i]))->sub, i);
    assert_int_equal(lane_of(bar_of(part[3]))->sub, 0);
    uint32_t launch = nth(RS_BAR_LAUNCH, 0), other = nth(RS_BAR_LAUNCH, 1);
    assert_int_equal(bars.start[launch], 10 * MS - LAUNCH_NS);
    assert_int_equal(bars.a3[launch], 3);
    assert_int_equal(bars.a3[other], 1);
    assert_int_equal(bars.nedges, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(bars.edges[i].from, bars.first + (i < 3 ? launch : other));
        assert_int_equal(bars.edges[i].to, bars.first + bar_of(part[i]));
    }
}

static void focus_leaves_warm_up_out(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member;
    model.procs[procs[0]].last = 20000 * MS;
    add_part(new_op(comm, RS_OP_COLL, "Barrier", 4), x, RS_PART_COLL, 100 * MS, 101 * MS); /* far ahead of all */
    for (int i = 0; i < 100; i++)
        add_part(new_op(comm, RS_OP_COLL, "AllReduce", 4), x, RS_PART_COLL, (9000 + i) * MS,
                 (9000 + i) * MS + 500 * US);
    make(NULL);
    assert_true(t.span >= 20000 * MS);
    assert_true(t.focus_from > 8900 * MS && t.focus_from <= 9000 * MS);
    assert_true(t.focus_to >= 9099 * MS + 500 * US && t.focus_to < 9200 * MS);
}

/* ---- activities ---- */

static void activities_are_nested(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), thread, stream;
    model.members[model.comms[comm].first_member].device = 0;
    const struct rs_lane host = {.proc = procs[0], .kind = RS_LANE_THREAD, .device = -1, .id = 7, .name = "python"};
    const struct rs_lane gpu = {.proc = procs[0], .kind = RS_LANE_STREAM, .device = 0, .id = 20};
    rs_model_lane(&model, &host, &thread);
    fine(RS_OK);
    rs_model_lane(&model, &gpu, &stream);
    fine(RS_OK);
    act(thread, RS_ACT_RANGE, "inner", 10 * MS, 20 * MS);
    act(thread, RS_ACT_RANGE, "outer", 10 * MS, 90 * MS); /* begins together, and is longer: above */
    act(thread, RS_ACT_RANGE, "innermost", 12 * MS, 13 * MS);
    act(thread, RS_ACT_RANGE, "next", 30 * MS, 40 * MS);
    uint32_t launch = act(thread, RS_ACT_LAUNCH, "cudaLaunchKernel", 14 * MS, 15 * MS);
    uint32_t kernel = act(stream, RS_ACT_COMPUTE, "gemm", 16 * MS, 18 * MS);
    model.activities.launch[kernel] = launch;
    const int64_t at = 50 * MS;
    uint32_t op = add_coll(comm, "AllReduce", 4, &at, MS);
    model.parts.launched[model.order[model.ops.part[op]]] = 45 * MS; /* by whom, no tool says */
    make(NULL);
    draw(0);
    static const struct {
        const char *name;
        uint16_t sub;
    } want[] = {{"outer", 0}, {"inner", 1}, {"next", 1}, {"innermost", 2}};
    for (int i = 0; i < 4; i++) {
        uint32_t b = nth(RS_BAR_RANGE, (uint32_t)i);
        assert_string_equal(rs_texts_at(&t.texts, bars.name[b]), want[i].name);
        assert_int_equal(lane_of(b)->sub, want[i].sub);
        assert_string_equal(rs_texts_at(&t.texts, lane_of(b)->label), "thread 7 python");
        assert_int_equal(t.groups[lane_of(b)->group].level, RS_GROUP_PROCESS);
    }
    uint32_t b = nth(RS_BAR_COMPUTE, 0);
    assert_int_equal(bars.parent[b], bars.first + nth(RS_BAR_HOST_LAUNCH, 0));
    assert_int_equal(bars.a3[b], 14 * MS);
    assert_string_equal(rs_texts_at(&t.texts, lane_of(b)->label), "stream 20");
    assert_int_equal(t.groups[lane_of(b)->group].level, RS_GROUP_RANK);
    b = nth(RS_BAR_HOST_LAUNCH, 0);
    assert_string_equal(rs_texts_at(&t.texts, lane_of(b)->label), "thread 7 python");
    b = nth(RS_BAR_LAUNCH, 0);
    assert_string_equal(rs_texts_at(&t.texts, lane_of(b)->label), "unknown thread");
}

/* A process that another tool saw, too: its kernels are on the groups of the one that leads. */
static void laid_over(void **state)
{
    (void)state;
    make_job(1, 2, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), other = make_comm(2, 1, 1, 1), stream;
    model.members[model.comms[comm].first_member].device = model.members[model.comms[other].first_member].device = 0;
    model.members[model.comms[other].first_member].global_rank = 0;
    model.procs[procs[0]].same = RS_NONE;
    model.procs[procs[1]].same = procs[0];
    for (uint32_t i = 0; i < model.ncomms; i++) model.comms[i].over = model.comms[i].view = RS_NONE;
    model.comms[other].over = comm;
    const int64_t at = 10 * MS;
    uint32_t op = add_coll(comm, "AllReduce", 4, &at, MS), same = add_coll(other, "AllReduce", 4, &at, MS);
    model.ops.over[same] = op;
    for (uint32_t i = 0; i < model.ncomms; i++) model.comms[i].first_member = RS_NONE; /* linked anew */
    rs_model_link(&model);
    fine(RS_OK);
    const struct rs_lane gpu = {.proc = procs[1], .kind = RS_LANE_STREAM, .device = 0, .id = 20};
    rs_model_lane(&model, &gpu, &stream);
    fine(RS_OK);
    uint32_t kernel = act(stream, RS_ACT_COMM, "ncclDevKernel", 10 * MS, 11 * MS);
    model.activities.part[kernel] = model.order[model.ops.part[same]];
    act(stream, RS_ACT_COMPUTE, "gemm", 20 * MS, 21 * MS);
    rs_ranks_find(&model);
    fine(RS_OK);
    assert_int_equal(model.nranks, 1);
    make(NULL);
    assert_int_equal(t.nprocs, 1);
    assert_int_equal(t.nops, 1);
    assert_int_equal(t.ngroups, 4);
    assert_int_equal(t.group_of_member[model.comms[other].first_member], 3);
    draw(0);
    assert_int_equal(bars.op[bar_of(model.order[model.ops.part[op]])], 0);
    assert_int_equal(t.bar_of_part[model.order[model.ops.part[same]]], RS_NONE);
    assert_int_equal(bars.op[nth(RS_BAR_COMM, 0)], 0);
    assert_int_equal(lane_of(nth(RS_BAR_COMPUTE, 0))->group, 2);
}

/* ---- what is not there ---- */

static void losses_are_drawn(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1);
    const int64_t at = 10 * MS;
    add_coll(comm, "AllReduce", 4, &at, MS);
    struct rs_gap gaps[] = {{20 * MS, 28 * MS, 1, 2, 0}, {24 * MS, 30 * MS, 2, 0, 1}, {40 * MS, 41 * MS, 0, 0, 1}};
    struct rs_cover covers[] = {{0, 50 * MS, UINT64_MAX}, {50 * MS, 60 * MS, 0}, {60 * MS, INT64_MAX, UINT64_MAX}};
    struct rs_proc *p = &model.procs[procs[0]];
    p->gaps = gaps; /* the first two overlap: two threads */
    p->ngaps = 3;
    p->covers = covers;
    p->ncovers = 3;
    p->last = 100 * MS;
    p->overwritten_until = 5 * MS;
    make(NULL);
    draw(0);
    uint32_t b = nth(RS_BAR_LOSS, 0);
    assert_int_equal(bars.start[b], 20 * MS);
    assert_int_equal(bars.dur[b], 10 * MS);
    assert_int_equal(bars.flags[b], RS_BAR_LOST);
    assert_int_equal(bars.a1[b], 3);
    assert_int_equal(bars.start[nth(RS_BAR_LOSS, 1)], 40 * MS);
    assert_int_equal(nth(RS_BAR_LOSS, 2), RS_NONE);
    assert_int_equal(t.groups[lane_of(b)->group].level, RS_GROUP_RANK);
    assert_int_equal(lane_of(b)->row, RS_ROW_OPERATIONS);
    static const int64_t want[][2] = {{0, 5}, {50, 60}};
    for (int i = 0; i < 2; i++) {
        b = nth(RS_BAR_BLANK, (uint32_t)i);
        assert_int_equal(bars.start[b], want[i][0] * MS);
        assert_int_equal(bars.start[b] + bars.dur[b], want[i][1] * MS);
        assert_int_equal(bars.flags[b], RS_BAR_NOT_RECORDED);
    }
    assert_int_equal(nth(RS_BAR_BLANK, 2), RS_NONE);
    p->ngaps = p->ncovers = 0; /* they are not the model's */
    p->gaps = NULL;
    p->covers = NULL;
}

/* What lies before the window of a profiler that was started within the run is drawn as not recorded. */
static void windows_are_drawn(void **state)
{
    (void)state;
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++) {
        make_job(1, 2, 1000);
        const int64_t both[] = {40 * MS, 40 * MS}, alone[] = {10 * MS};
        uint32_t comm = make_comm(1, 0, 1, 2);
        add_coll(make_comm(2, 0, 1, 1), "AllReduce", 4, alone, MS);
        add_coll(comm, "AllReduce", 4, both, MS);
        struct rs_cover covers[] = {{30 * MS, INT64_MAX, UINT64_MAX}};
        struct rs_proc *p = &model.procs[procs[1]];
        p->tool = tool;
        p->covers = covers;
        p->ncovers = 1;
        make(NULL);
        draw(1);
        uint32_t b = nth(RS_BAR_BLANK, 0);
        bool window = tool == RS_TOOL_KINETO || tool == RS_TOOL_NSYS || tool == RS_TOOL_NVPROF || tool == RS_TOOL_JAX;
        if ((b != RS_NONE) != window) fail_msg("%s: %s", rs_tool_name(tool), window ? "nothing" : "blank");
        if (window) {
            assert_int_equal(bars.start[b], t.begin);
            assert_int_equal(bars.start[b] + bars.dur[b], 30 * MS);
            assert_int_equal(bars.flags[b], RS_BAR_NOT_RECORDED);
        }
        p->ncovers = 0; /* they are not the model's */
        p->covers = NULL;
        tear_down(NULL);
        bars = (struct rs_bars){0};
        t = (struct rs_timeline){0};
        model = (struct rs_model){0};
    }
}

/* ---- times and amounts that cannot be ---- */

static void wild_times(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, stream;
    static const int64_t times[] = {INT64_MIN + 1, -1, 0, MS, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX, RS_TIME_NONE};
    enum { N = sizeof times / sizeof *times };
    const struct rs_lane gpu = {.proc = procs[0], .kind = RS_LANE_STREAM, .device = -1, .id = INT64_MAX};
    rs_model_lane(&model, &gpu, &stream);
    fine(RS_OK);
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            uint32_t part = add_part(new_op(comm, RS_OP_COLL, "AllReduce", UINT64_MAX), x, RS_PART_COLL, MS, times[b]);
            model.parts.start[part] = times[a];
            model.parts.launched[part] = times[(a + 3) % N];
            model.parts.enqueued[part] = times[(b + 5) % N];
            model.parts.after[part] = times[(a + b) % N];
            model.parts.before[part] = times[(a + 2 * b) % N];
            if (times[a] <= times[b]) act(stream, RS_ACT_COMPUTE, "k", times[a], times[b]);
        }
    model.members[x].created = INT64_MIN + 5;
    model.members[x].destroyed = INT64_MAX;
    model.procs[procs[0]].end = INT64_MAX;
    model.procs[procs[0]].overwritten_until = INT64_MAX;
    make(NULL);
    assert_true(t.begin >= -1000 * MS && t.span < INT64_C(100000) * MS); /* what cannot be does not stretch the axis */
    draw(0);
    assert_true(bars.n > 0);
    assert_true(model.nnotes > 0); /* says what is left out */
}

/* More at once than there can be lanes: the rest is left out, and said. */
static void too_many_at_once(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, drawn = 0;
    for (int i = 0; i < 5000; i++) add_part(new_op(comm, RS_OP_COLL, "AllReduce", 4), x, RS_PART_COLL, MS + i, 10 * MS);
    for (uint32_t i = 0; i < model.parts.n; i++) model.parts.launched[i] = RS_TIME_NONE;
    make(NULL);
    draw(0);
    for (uint32_t i = 0; i < model.parts.n; i++) drawn += t.bar_of_part[i] != RS_NONE;
    assert_int_equal(drawn, bars.n);
    assert_int_equal(drawn, 256);
    assert_int_equal(model.nnotes, 1);
}

/* In any order, they come out sorted. */
static void any_order(void **state)
{
    (void)state;
    make_job(1, 1, 1000);
    uint32_t comm = make_comm(1, 0, 1, 1), x = model.comms[comm].first_member, seed = 1;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t start = (seed >> 8) % 100000;
        add_part(new_op(comm, RS_OP_COLL, "AllReduce", 4), x, RS_PART_COLL, start * US, start * US + (seed >> 20));
    }
    make(NULL);
    draw(0); /* checks it */
    for (uint32_t i = 0; i < model.parts.n; i++)
        assert_int_equal(bars.start[bar_of(i)] + t.begin, model.parts.start[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(groups_are_a_tree),
        TEST(groups_go_by_rank),
        TEST(flags_tell_lives),
        TEST(operations_wait_for_the_last),
        TEST(ends_that_are_not_known),
        TEST(ends_to_their_bound),
        TEST(waits_for_one_that_never_came),
        TEST(one_launch_of_many),
        TEST(focus_leaves_warm_up_out),
        TEST(activities_are_nested),
        TEST(laid_over),
        TEST(losses_are_drawn),
        TEST(windows_are_drawn),
        TEST(wild_times),
        TEST(too_many_at_once),
        TEST(any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
