/* The second reading where the first has doubts: timers of other operations, what never stops or is open, work for
 * other processes, copy engines and phases of kernels, and dumps of the example profiler. */
#include "reread.h"

#include "join/join.h"

/* ---- timers that are another operation's ---- */

static void stale(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    for (int i = 0; i < 2; i++) {
        void *p = start(ctx, RS_GROUP);
        void *c = notes->h[COLL + i] = start(ctx, RS_COLL, .group = p, .func = "AllReduce", .dtype = "ncclInt8",
                                             .seq = (uint64_t)i, .channels = 1);
        stop(c);
        stop(p);
        kernel(ctx, c, 0, GPU_NS - 50000 * (uint64_t)i, GPU_NS - 50000 * (uint64_t)i + 10);
    }
}

static void test_stale(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, stale, 0);
    assert_int_equal(count_of(&r, RS_KERNEL_CH), 2);
    for (uint32_t i = 0; i < r.n; i++) {
        const struct rs_event *e = &r.events[i];
        if (e->type != RS_KERNEL_CH) continue;
        bool second = e->part == part_of(&r.m, OTHER);
        assert_int_equal(e->stale, second);
        assert_int_equal(e->gpu_start, second ? RS_TIME_NONE : (int64_t)GPU_NS);
        assert_int_equal(e->gpu_end, second ? RS_TIME_NONE : (int64_t)GPU_NS + 10);
        assert_true(e->end != RS_TIME_NONE);
    }
    assert_int_equal(r.m.domains[r.m.members[0].gpu].stale, 1); /* reading again has not counted it twice */
    close_run(&r);
}

/* ---- what is open ---- */

static void stuck(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *c = notes->h[COLL] =
        start(ctx, RS_COLL, .group = start(ctx, RS_GROUP), .func = "AllReduce", .dtype = "ncclInt8", .channels = 1);
    stop(c);
    notes->h[RECV_OP] = start(ctx, RS_PROXY_OP, .parent = c, .nsteps = 4, .channel = 1);
    void *s = start(ctx, RS_PROXY_STEP, .parent = notes->h[RECV_OP], .step = 0);
    notes->h[RECV] = start(ctx, RS_PROXY_STEP, .parent = notes->h[RECV_OP], .step = 0); /* polled again */
    state_with(notes->h[RECV], RS_ST_STEP_RECV_WAIT, 0);
    /* One that was told to end by its state alone, and one whose steps were left behind. */
    void *q = notes->h[KERNEL] = start(ctx, RS_KERNEL_CH, .parent = c, .channel = 1, .timer = GPU_NS);
    state_with(q, RS_ST_KERNEL_CH_STOP, GPU_NS + 10);
    notes->h[SEND_OP] = start(ctx, RS_PROXY_OP, .parent = c, .nsteps = 4, .channel = 2, .is_send = true);
    notes->h[SEND] = start(ctx, RS_PROXY_STEP, .parent = notes->h[SEND_OP], .step = 1);
    stop(notes->h[SEND_OP]);
    notes->h[OTHER] = s;
}

static void check_stuck(struct run *r)
{
    assert_true(event_of(r, RECV)->open);
    assert_int_equal(event_of(r, RECV)->end, RS_TIME_NONE);
    assert_int_equal(event_of(r, RECV)->nstates, 1);
    assert_true(event_of(r, RECV_OP)->open);
    assert_true(event_of(r, OTHER)->polled && !event_of(r, OTHER)->open);
    assert_false(event_of(r, KERNEL)->open);
    assert_int_equal(event_of(r, KERNEL)->end, RS_TIME_NONE);
    assert_int_equal(event_of(r, KERNEL)->gpu_end, GPU_NS + 10);
    assert_true(event_of(r, SEND_OP)->end != RS_TIME_NONE);
    assert_int_equal(event_of(r, SEND)->end, RS_TIME_NONE);
    assert_false(event_of(r, SEND)->open || event_of(r, SEND)->polled);
    assert_false(event_of(r, COLL)->open);
}

static void test_stuck(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, stuck, 0);
    check_stuck(&r);
    /* Where stops were lost, nothing is said to be open. */
    r.m.procs[0].lost = 1;
    read_events(&r, 0, UINT64_MAX);
    assert_false(event_of(&r, RECV)->open);
    close_run(&r);
}

/* Some transports' proxy operations never stop, and show no progress: they are not open when all went well. */
static void never_stopped(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    for (int i = 0; i < 3; i++) {
        void *c = start(ctx, RS_COLL, .group = start(ctx, RS_GROUP), .func = "AllReduce", .dtype = "ncclInt8",
                        .seq = (uint64_t)i, .channels = 1);
        stop(c);
        start(ctx, RS_PROXY_OP, .parent = c, .nsteps = 4, .channel = 1);
        kernel(ctx, c, 0, GPU_NS + 1000 * (uint64_t)i, GPU_NS + 1000 * (uint64_t)i + 10);
    }
    finalize(ctx);
}

static void test_never_stopped(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, never_stopped, 0);
    assert_int_equal(count_of(&r, RS_PROXY_OP), 3);
    for (uint32_t i = 0; i < r.n; i++)
        if (r.events[i].type == RS_PROXY_OP) assert_true(!r.events[i].open && r.events[i].end == RS_TIME_NONE);
    close_run(&r);
}

/* ---- PXN: the operation is one process's, the proxy another's ---- */

static int to_helper[2];

static void owner(void)
{
    void *ctx = notes->h[CTX] = init(HASH, "world", 3, 1);
    notes->h[COLL] = start(ctx, RS_COLL, .rank = 1, .group = start(ctx, RS_GROUP), .func = "AllReduce",
                           .dtype = "ncclInt8", .count = 1, .channels = 1);
    stop(notes->h[COLL]);
    notes->pid = getpid();
    if (write(to_helper[1], "x", 1) != 1) _exit(9);
}

static void helper(void)
{
    char c;
    if (read(to_helper[0], &c, 1) != 1) _exit(9);
    init(HASH, "world", 3, 0);
    void *ctx = notes->h[CTX];
    void *o = notes->h[SEND_OP] = start(ctx, RS_PROXY_OP, .parent = notes->h[COLL], .rank = 1, .peer = 2, .nsteps = 1,
                                        .channel = 5, .is_send = true, .pid = notes->pid);
    void *s = notes->h[SEND] = start(ctx, RS_PROXY_STEP, .parent = o, .rank = 1, .step = 0);
    stop(s);
    stop(o);
}

static void test_pxn(void **unused)
{
    (void)unused;
    empty_folder();
    memset(notes, 0, sizeof *notes);
    assert_int_equal(pipe(to_helper), 0);
    pid_t one = play_begin(owner), two = play_begin(helper);
    play_end(one, 0);
    play_end(two, 0);
    close(to_helper[0]);
    close(to_helper[1]);
    struct run r;
    open_run(&r, folder);
    assert_int_equal(r.m.nprocs, 2);
    uint32_t part = part_of(&r.m, COLL), p = r.m.members[r.m.parts.member[part]].proc;
    read_events(&r, 1 - p, UINT64_MAX);
    const struct rs_event *o = event_of(&r, SEND_OP), *s = event_of(&r, SEND);
    assert_int_equal(o->part, part);
    assert_int_equal(o->parent, RS_NONE);
    assert_int_equal(o->parent_handle, handle_of(COLL));
    assert_int_equal(o->member, r.m.parts.member[part]);
    assert_int_equal(o->proc, 1 - p);
    assert_int_equal(s->part, part);
    assert_int_equal(s->parent, o->number);
    assert_int_equal(s->member, r.m.parts.member[part]);
    assert_int_equal(s->channel, 5);
    close_run(&r);
}

/* ---- copy engines, and phases of kernels ---- */

static void engines(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *a = notes->h[CALL] = start(ctx, RS_COLL_API, .func = "AllGather", .dtype = "ncclInt8");
    stop(a);
    void *e = notes->h[COLL] = start(ctx, RS_CE_COLL, .parent = a, .func = "AllGather", .dtype = "ncclInt8");
    notes->h[SEND] = start(ctx, RS_CE_SYNC, .parent = e);
    stop(notes->h[SEND]);
    notes->h[RECV] = start(ctx, RS_CE_BATCH, .parent = e);
    stop(notes->h[RECV]);
    stop(e);
    void *c = notes->h[OTHER] = start(ctx, RS_COLL, .func = "AllReduce", .dtype = "ncclInt8", .channels = 1);
    void *q = notes->h[KERNEL] = start(ctx, RS_KERNEL_CH, .parent = c, .channel = 9, .timer = GPU_NS);
    struct rs_nccl_descr_v7 d = {.type = RS_KERNEL_PHASE, .parentObj = q};
    d.kernelPhase.channelId = 9;
    d.kernelPhase.phaseId = 1;
    d.kernelPhase.phaseName = "compute";
    d.kernelPhase.pTimer = GPU_NS + 10;
    ncclProfiler_v7.startEvent(ctx, &notes->h[PHASE], &d);
    state_with(notes->h[PHASE], RS_ST_KERNEL_PHASE_STOP, GPU_NS + 60);
    stop(notes->h[PHASE]);
    state_with(q, RS_ST_KERNEL_CH_STOP, GPU_NS + 70);
    stop(q);
}

static void test_engines(void **unused)
{
    (void)unused;
    api = 7;
    struct run r;
    play_run(&r, engines, 0);
    uint32_t part = part_of(&r.m, COLL);
    assert_int_equal(event_of(&r, COLL)->part, part);
    assert_int_equal(event_of(&r, COLL)->parent, event_of(&r, CALL)->number);
    assert_int_equal(event_of(&r, SEND)->type, RS_CE_SYNC);
    assert_int_equal(event_of(&r, SEND)->part, part);
    assert_int_equal(event_of(&r, RECV)->type, RS_CE_BATCH);
    assert_int_equal(event_of(&r, RECV)->parent, event_of(&r, COLL)->number);
    const struct rs_event *q = event_of(&r, KERNEL), *p = event_of(&r, PHASE);
    assert_int_equal(p->type, RS_KERNEL_PHASE);
    assert_int_equal(p->parent, q->number);
    assert_int_equal(p->part, part_of(&r.m, OTHER));
    assert_int_equal(p->channel, 9);
    assert_int_equal(p->gpu_start, GPU_NS + 10);
    assert_int_equal(p->gpu_end, GPU_NS + 60);
    assert_int_equal(q->gpu_end, GPU_NS + 70);
    close_run(&r);
    api = 6;
}

/* ---- too many ---- */

enum { CROWD = 80000 };

static void crowd(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    notes->h[GROUP] = start(ctx, RS_GROUP_API);
    for (int i = 0; i < CROWD; i++) start(ctx, RS_PROXY_OP, .nsteps = 1, .channel = (unsigned)i & 63);
    stop(notes->h[GROUP]);
}

/* What nobody stops is given up, the oldest first; each is handed out once all the same. */
static void test_crowd(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, crowd, 0);
    assert_int_equal(r.n, CROWD + 1);
    uint64_t sum = 0, open = 0;
    for (uint32_t i = 0; i < r.n; i++) sum += r.events[i].number, open += r.events[i].open;
    assert_int_equal(sum, (uint64_t)CROWD * (CROWD + 1) / 2);
    assert_int_equal(open, 0);
    assert_int_equal(r.events[0].number, 0); /* the group call went with them */
    assert_int_equal(r.events[0].end, RS_TIME_NONE);
    close_run(&r);
}

/* ---- dumps of the example profiler ---- */

static void test_dump(void **unused)
{
    (void)unused;
    struct run r;
    struct rs_err err = {0};
    char path[] = "tests/data/example/oneprocess4";
    open_run(&r, path);
    assert_int_equal(rs_join(&r.m, true, &err), RS_OK);
    assert_int_equal(r.m.nprocs, 1);
    read_events(&r, 0, UINT64_MAX);
    assert_int_equal(r.n, 543);
    uint32_t parts = 0, kernels = 0;
    for (uint32_t i = 0; i < r.n; i++) {
        const struct rs_event *e = &r.events[i];
        assert_int_equal(e->number, i);
        assert_true(e->parent == RS_NONE || e->parent < i);
        assert_false(e->open || e->polled);
        if (e->parent != RS_NONE && r.events[e->parent].part != RS_NONE)
            assert_int_equal(e->part, r.events[e->parent].part);
        if (e->part == RS_NONE) continue;
        assert_int_equal(e->member, r.m.parts.member[e->part]);
        bool own = r.m.parts.handle[e->part] == e->handle;
        assert_int_equal(own, (e->type & (RS_COLL | RS_P2P | RS_COLL_API)) != 0);
        parts += own;
        if (e->type != RS_KERNEL_CH || e->gpu_start == RS_TIME_NONE) continue;
        kernels++;
        assert_true(e->gpu_start >= r.m.parts.start[e->part]);
        assert_true(e->channel >= 0);
    }
    assert_int_equal(parts, r.m.parts.n);
    assert_true(kernels > 0);
    uint32_t colls = count_of(&r, RS_COLL);
    read_events(&r, 0, RS_COLL);
    assert_int_equal(r.n, colls);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stale), cmocka_unit_test(test_stuck),   cmocka_unit_test(test_never_stopped),
        cmocka_unit_test(test_pxn),   cmocka_unit_test(test_engines), cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_dump),
    };
    return cmocka_run_group_tests(tests, reread_set_up, script_tear_down);
}
