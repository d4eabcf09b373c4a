/* Critical paths through jobs that were made by hand, so that every ns of them is known. */
#include "joined.h"

#include "analyse/critical.h"

static struct rs_view view;
static struct rs_critical path;

static void find_in(const struct rs_filter *filter)
{
    look(&view);
    rs_critical_find(&path, &view, filter, NULL);
    fine(RS_OK);
}

static int forget(void **state)
{
    (void)state;
    rs_critical_free(&path);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

/* Whatever else: segments lie end to end, from the window's begin to its end, and rows are their sums. */
static void assert_whole(void)
{
    int64_t at = path.from, sum = 0;
    for (uint32_t i = 0; i < path.nsegments; i++) {
        assert_true(path.segments[i].from == at && path.segments[i].to > at);
        at = path.segments[i].to;
    }
    assert_true(at == path.to);
    for (uint32_t i = 0; i < path.nrows; i++) sum += path.rows[i].ns;
    assert_true(sum == path.to - path.from);
}

static void assert_segment(uint32_t i, int rank, uint8_t kind, int64_t from, int64_t to, bool tie)
{
    assert_true(i < path.nsegments);
    const struct rs_critical_segment *s = &path.segments[i];
    assert_int_equal(view.model->ranks[s->rank_id].number, rank);
    assert_string_equal(rs_critical_kind_name(s->kind), rs_critical_kind_name(kind));
    assert_int_equal(s->from, from);
    assert_int_equal(s->to, to);
    assert_int_equal(s->tie, tie);
}

/* ---- activities ---- */

static uint32_t add_lane(int rank, uint8_t kind, int64_t id)
{
    uint32_t lane;
    struct rs_lane row = {.proc = procs[rank], .domain = gpus[rank], .kind = kind, .device = 0, .id = id};
    rs_model_lane(&model, &row, &lane);
    fine(RS_OK);
    return lane;
}

static uint32_t add_activity(uint32_t lane, uint8_t kind, const char *name, int64_t start, int64_t end, uint32_t launch)
{
    uint32_t i = act(lane, kind, name, start, end);
    model.activities.launch[i] = launch;
    return i;
}

/* ---- recordings alone ---- */

/* Rank 1 comes late to the first, rank 0 to the second: the path changes over between them. */
static void test_jumps_to_the_last(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t first[] = {0, 3 * MS}, second[] = {9 * MS, 5 * MS};
    uint32_t a = add_coll(world, "AllReduce", 1 << 20, first, 1 * MS),
             b = add_coll(world, "AllReduce", 1 << 20, second, 1 * MS);
    model.parts.launched[model.order[model.ops.part[b]]] = 6 * MS; /* rank 0's, of the second */
    find_in(&everything);
    assert_whole();
    assert_int_equal(path.from, 0);
    assert_int_equal(path.to, 10 * MS);
    assert_int_equal(path.nsegments, 6);
    assert_segment(0, 1, RS_CRITICAL_OUTSIDE, 0, 3 * MS - LAUNCH_NS, false);
    assert_segment(1, 1, RS_CRITICAL_OUTSIDE, 3 * MS - LAUNCH_NS, 3 * MS, false); /* launched, and queued */
    assert_segment(2, 0, RS_CRITICAL_TRANSFER, 3 * MS, 4 * MS, false);
    assert_segment(3, 0, RS_CRITICAL_OUTSIDE, 4 * MS, 6 * MS, false);
    assert_segment(4, 0, RS_CRITICAL_OUTSIDE, 6 * MS, 9 * MS, false);
    assert_segment(5, 0, RS_CRITICAL_TRANSFER, 9 * MS, 10 * MS, false);
    assert_int_equal(path.segments[2].op, a);
    assert_int_equal(path.segments[3].op, b); /* what it was late for */
    assert_int_equal(path.jumps, 1);
    assert_int_equal(path.ties, 0);
}

/* What its end waited for can only be asked of an end that is known. */
static void test_no_end_is_known(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        make_job(1, 2, 1 * US);
        uint32_t world = make_comm(1, 0, 1, 2);
        int64_t first[] = {0, MS}, second[] = {5 * MS, 6 * MS};
        uint32_t a = add_coll(world, "AllReduce", 8, first, MS), b = add_coll(world, "AllReduce", 8, second, MS);
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t parts[] = {model.order[model.ops.part[a] + i], model.order[model.ops.part[b] + i]};
            if (!known) model.parts.end[parts[0]] = RS_TIME_NONE;
            model.parts.end[parts[1]] = RS_TIME_NONE;
            model.parts.before[parts[1]] = 9 * MS;
            model.procs[procs[i]].last = 10 * MS;
        }
        find_in(&everything);
        assert_int_equal(path.nsegments > 0, known);
        assert_int_equal(path.to, known ? 2 * MS : RS_TIME_NONE);
        assert_int_equal(path.unended, known ? 2 : 4);
        assert_false(path.timeless);
        if (known) assert_whole();
        forget(NULL);
        model = (struct rs_model){0};
    }
}

/* A rank that called an operation whose times nobody tells may be in it: that is not outside of NCCL. */
static void test_calls_without_times(void **state)
{
    (void)state;
    make_job(1, 1, 1 * US);
    uint32_t alone = make_comm(1, 0, 1, 1), x = model.comms[alone].first_member;
    add_part(new_op(alone, RS_OP_COLL, "AllReduce", 8), x, RS_PART_COLL, 0, MS);
    uint32_t call = add_part(new_op(alone, RS_OP_API, "Broadcast", 8), x, RS_PART_API, RS_TIME_NONE, RS_TIME_NONE);
    model.parts.enqueued[call] = 3 * MS;
    model.parts.before[call] = 8 * MS;
    uint32_t last = add_part(new_op(alone, RS_OP_COLL, "AllReduce", 8), x, RS_PART_COLL, 10 * MS, 11 * MS);
    model.parts.launched[last] = 9 * MS;
    find_in(&everything);
    assert_whole();
    assert_int_equal(path.nsegments, 6);
    assert_segment(1, 0, RS_CRITICAL_OUTSIDE, MS, 3 * MS, false);
    assert_segment(2, 0, RS_CRITICAL_UNSURE, 3 * MS, 8 * MS, false);
    assert_segment(3, 0, RS_CRITICAL_OUTSIDE, 8 * MS, 9 * MS, false);
    assert_segment(4, 0, RS_CRITICAL_OUTSIDE, 9 * MS, 10 * MS, false);
}

/* Kernels of a process that is in no communicator are no rank's. */
static void test_no_rank(void **state)
{
    (void)state;
    make_job(1, 1, 1 * US);
    uint32_t stream = add_lane(0, RS_LANE_STREAM, 7);
    add_activity(stream, RS_ACT_COMPUTE, "gemm", 0, MS, RS_NONE);
    find_in(&everything);
    assert_int_equal(path.nsegments, 0);
    assert_true(path.timeless && path.placeless == 1 && path.nconclusion == 1);
    assert_non_null(strstr(path.conclusion[0], "1 kernel"));
}

/* Within twice the clock error nobody is last: the path stays where it is, and says so. */
static void test_ties(void **state)
{
    (void)state;
    make_job(1, 3, 100 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    int64_t first[] = {1 * MS, 1 * MS, 0}, second[] = {3 * MS + 50 * US, 3 * MS + 150 * US, 3 * MS};
    add_coll(world, "AllReduce", 1 << 20, first, 1 * MS);
    add_coll(world, "AllReduce", 1 << 20, second, 1 * MS);
    find_in(&everything);
    assert_whole();
    assert_int_equal(path.ties, 2);
    assert_int_equal(path.jumps, 0);
    assert_int_equal(path.error_ns, 100 * US);
    for (uint32_t i = 0; i + 1 < path.nsegments; i++) {
        assert_true(path.segments[i].tie);
        assert_int_equal(path.segments[i].alone, 0); /* nobody came last, so nobody did by how much */
    }
    assert_int_equal(view.model->ranks[path.segments[path.nsegments - 1].rank_id].number,
                     0); /* all ended together: the lowest */
}

/* Rank 2 is not of those that tie for the last: the lowest of these is taken. */
static void test_tie_of_others(void **state)
{
    (void)state;
    make_job(1, 4, 100 * US);
    uint32_t world = make_comm(1, 0, 1, 4), pair = make_comm(2, 2, 1, 2);
    int64_t all[] = {1 * MS, 2 * MS, 0, 2 * MS + 10 * US}, two[] = {5 * MS, 4 * MS};
    add_coll(world, "AllReduce", 1 << 20, all, 1 * MS);
    add_coll(pair, "AllReduce", 1 << 20, two, 1 * MS);
    find_in(&everything);
    assert_whole();
    uint32_t last = path.nsegments - 1;
    assert_segment(last, 2, RS_CRITICAL_TRANSFER, 5 * MS, 6 * MS, false);
    assert_int_equal(view.model->ranks[path.segments[0].rank_id].number, 1);
    assert_true(path.segments[0].tie);
    assert_int_equal(path.segments[0].alone, 0);
}

static uint32_t add_pair(uint32_t comm, uint32_t from, uint32_t to, int64_t send, int64_t recv, int64_t end)
{
    uint32_t op = new_op(comm, RS_OP_PAIR, "SendRecv", 1 << 20);
    uint32_t a = add_part(op, from, RS_PART_SEND, send, end), b = add_part(op, to, RS_PART_RECV, recv, end);
    model.parts.peer[a] = model.members[to].rank;
    model.parts.peer[b] = model.members[from].rank;
    model.ops.root[op] = model.members[from].rank;
    model.ops.dst[op] = model.members[to].rank;
    return op;
}

/* A receive leads to its send when that was late, and not when it was there before. */
static void test_pairs(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3), first = model.comms[world].first_member;
    add_pair(world, first, first + 1, 2 * MS, 0, 3 * MS);
    add_pair(world, first + 1, first + 2, 4 * MS, 5 * MS, 6 * MS);
    find_in(&everything);
    assert_whole();
    assert_segment(path.nsegments - 1, 1, RS_CRITICAL_TRANSFER, 5 * MS, 6 * MS, false);
    assert_int_equal(path.jumps, 1); /* over to the receiver, who came last; it did nothing before */
    assert_int_equal(view.model->ranks[path.segments[0].rank_id].number, 2);
    rs_critical_free(&path);
    struct rs_filter early = {.has_to = true, .to = 3 * MS};
    rs_critical_find(&path, &view, &early, NULL);
    fine(RS_OK);
    assert_whole();
    assert_segment(path.nsegments - 1, 0, RS_CRITICAL_TRANSFER, 2 * MS, 3 * MS, false);
    assert_int_equal(view.model->ranks[path.segments[0].rank_id].number, 0);
}

/* A rank of a broadcast does not wait for other leaves, nor a leaf of a reduce for anybody. */
static void test_rooted(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3), first = model.comms[world].first_member;
    uint32_t op = new_op(world, RS_OP_COLL, "Broadcast", 1 << 20);
    model.ops.root[op] = 0;
    add_part(op, first, RS_PART_COLL, 1 * MS, 9 * MS);
    add_part(op, first + 1, RS_PART_COLL, 0, 9 * MS + 500 * US);
    add_part(op, first + 2, RS_PART_COLL, 8 * MS, 9 * MS);
    find_in(&everything);
    assert_whole();
    assert_int_equal(path.nsegments, 3);
    assert_segment(2, 1, RS_CRITICAL_TRANSFER, 1 * MS, 9 * MS + 500 * US, false);
    assert_int_equal(view.model->ranks[path.segments[0].rank_id].number, 0);
}

/* An end that is only bounded; ranks that are not recorded; a rank that the filter leaves out. */
static void test_what_is_not_known(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t late[] = {0, 2 * MS}, alone[] = {6 * MS, RS_TIME_NONE}, next[] = {9 * MS, 9 * MS + 500 * US};
    uint32_t op = add_coll(world, "AllReduce", 1 << 20, late, 1 * MS);
    uint32_t part = model.order[model.ops.part[op]];
    model.parts.end[part] = RS_TIME_NONE;
    model.parts.after[part] = 2 * MS + 500 * US;
    model.parts.before[part] = 5 * MS;
    add_coll(world, "AllReduce", 1 << 20, alone, 2 * MS);
    add_coll(world, "AllReduce", 1 << 20, next, 1 * MS);
    struct rs_range zero = {0, 0};
    struct rs_filter only = {.ranks = &zero, .nranks = 1};
    find_in(&only);
    assert_whole();
    assert_int_equal(path.ranks, 1);
    assert_segment(0, 0, RS_CRITICAL_WAIT, 0, 2 * MS, false);
    assert_segment(1, 0, RS_CRITICAL_TRANSFER, 2 * MS, 2 * MS + 500 * US, false);
    assert_segment(2, 0, RS_CRITICAL_UNSURE, 2 * MS + 500 * US, 5 * MS, false);
    assert_segment(3, 0, RS_CRITICAL_OUTSIDE, 5 * MS, 6 * MS - LAUNCH_NS, false);
    assert_segment(5, 0, RS_CRITICAL_OPERATION, 6 * MS, 8 * MS, false);
}

/* ---- with activities ---- */

/* A kernel that is launched late: what the host did before, the innermost, and the launch. Then one that was queued. */
static void test_host(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), stream = add_lane(0, RS_LANE_STREAM, 7),
             thread = add_lane(0, RS_LANE_THREAD, 1);
    add_activity(thread, RS_ACT_STEP, "ProfilerStep#3", 1 * MS, 20 * MS, RS_NONE);
    add_activity(thread, RS_ACT_RANGE, "loader", 2 * MS, 4 * MS, RS_NONE);
    add_activity(thread, RS_ACT_CALL, "open", 3 * MS, 3 * MS + 500 * US, RS_NONE);
    uint32_t launch = add_activity(thread, RS_ACT_LAUNCH, "cudaLaunchKernel", 5 * MS, 5 * MS + 10 * US, RS_NONE);
    uint32_t ahead =
        add_activity(thread, RS_ACT_LAUNCH, "cudaLaunchKernel", 5 * MS + 20 * US, 5 * MS + 30 * US, RS_NONE);
    add_activity(stream, RS_ACT_COPY, "Memcpy HtoD", 0, 500 * US, RS_NONE);
    add_activity(stream, RS_ACT_COMPUTE, "gemm", 6 * MS, 8 * MS, launch);
    add_activity(stream, RS_ACT_COMPUTE, "relu", 8 * MS + 100 * US, 9 * MS, ahead);
    int64_t starts[] = {9 * MS, 1 * MS};
    add_coll(world, "AllReduce", 1 << 20, starts, 1 * MS);
    find_in(&everything);
    assert_whole();
    assert_true(path.has_activities);
    uint32_t i = 0;
    assert_segment(i++, 0, RS_CRITICAL_COPY, 0, 500 * US, false);
    assert_segment(i++, 0, RS_CRITICAL_GAP, 500 * US, 1 * MS, false);
    assert_segment(i++, 0, RS_CRITICAL_HOST, 1 * MS, 2 * MS, false);
    assert_segment(i++, 0, RS_CRITICAL_HOST, 2 * MS, 3 * MS, false);
    assert_segment(i, 0, RS_CRITICAL_HOST, 3 * MS, 3 * MS + 500 * US, false);
    assert_string_equal(path.names[path.segments[i++].name], "open");
    assert_segment(i, 0, RS_CRITICAL_HOST, 3 * MS + 500 * US, 4 * MS, false);
    assert_string_equal(path.names[path.segments[i++].name], "loader");
    assert_segment(i++, 0, RS_CRITICAL_HOST, 4 * MS, 5 * MS, false); /* the step: no name of its own */
    assert_segment(i++, 0, RS_CRITICAL_LAUNCH, 5 * MS, 6 * MS, false);
    assert_segment(i++, 0, RS_CRITICAL_COMPUTE, 6 * MS, 8 * MS, false);
    assert_segment(i++, 0, RS_CRITICAL_GAP, 8 * MS, 8 * MS + 100 * US, false); /* it had been launched */
    assert_segment(i++, 0, RS_CRITICAL_COMPUTE, 8 * MS + 100 * US, 9 * MS, false);
    assert_segment(i++, 0, RS_CRITICAL_TRANSFER, 9 * MS, 10 * MS, false);
    assert_int_equal(path.nsegments, i);
}

/* Compute under communication: what the last operation came behind is followed, not what runs beside it. */
static void test_beside(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), stream = add_lane(1, RS_LANE_STREAM, 7);
    add_activity(stream, RS_ACT_COMPUTE, "gemm", 0, 1 * MS, RS_NONE);
    add_activity(stream, RS_ACT_COMPUTE, "beside", 1 * MS, 5 * MS, RS_NONE);
    int64_t first[] = {500 * US, 1 * MS}, second[] = {4 * MS, 4 * MS + 2 * US};
    add_coll(world, "AllReduce", 1 << 20, first, 3 * MS);
    add_coll(world, "AllReduce", 1 << 20, second, 2 * MS);
    find_in(&everything);
    assert_whole();
    for (uint32_t i = 0; i < path.nsegments; i++)
        if (path.segments[i].kind == RS_CRITICAL_COMPUTE)
            assert_string_equal(path.names[path.segments[i].name], "gemm");
    assert_segment(0, 1, RS_CRITICAL_COMPUTE, 0, 1 * MS, false);
}

/* Whatever times come: a path that is whole. */
static void test_anything(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    make_job(2, 4, 3 * US);
    uint32_t world = make_comm(1, 0, 1, 8), half = make_comm(2, 0, 2, 4);
    uint32_t lanes[6];
    for (int i = 0; i < 6; i++) lanes[i] = add_lane(i % 3, i < 3 ? RS_LANE_STREAM : RS_LANE_THREAD, i);
    for (int i = 0; i < 400; i++) {
        int64_t starts[8];
        for (int k = 0; k < 8; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            starts[k] = (int64_t)(x % 5000) * US;
        }
        add_coll(i % 3 ? world : half, i % 5 ? "AllReduce" : "Broadcast", 1024, starts, (int64_t)(x >> 20 & 1023) * US);
        uint8_t kind = (uint8_t)((uint8_t)(x >> 40 & 3) % 3 * RS_ACT_COPY);
        uint32_t lane = lanes[x >> 44 & 3];
        add_activity(lane, lane < 3 ? kind : RS_ACT_CALL, "x", starts[0], starts[0] + (int64_t)(x >> 50 & 511) * US,
                     RS_NONE);
    }
    struct rs_filter cut = {.has_from = true, .from = 1 * MS, .has_to = true, .to = 4 * MS + 1};
    find_in(&cut);
    assert_whole();
    assert_int_equal(path.to - path.from, 3 * MS + 1);
    rs_critical_free(&path);
    struct rs_filter none = {.has_from = true, .from = 90 * MS};
    rs_critical_find(&path, &view, &none, NULL);
    fine(RS_OK);
    assert_true(path.from == RS_TIME_NONE && !path.nsegments && path.nconclusion == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_jumps_to_the_last, forget),
        cmocka_unit_test_teardown(test_ties, forget),
        cmocka_unit_test_teardown(test_no_end_is_known, forget),
        cmocka_unit_test_teardown(test_calls_without_times, forget),
        cmocka_unit_test_teardown(test_no_rank, forget),
        cmocka_unit_test_teardown(test_tie_of_others, forget),
        cmocka_unit_test_teardown(test_pairs, forget),
        cmocka_unit_test_teardown(test_rooted, forget),
        cmocka_unit_test_teardown(test_what_is_not_known, forget),
        cmocka_unit_test_teardown(test_host, forget),
        cmocka_unit_test_teardown(test_beside, forget),
        cmocka_unit_test_teardown(test_anything, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
