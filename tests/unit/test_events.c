/* The second reading: every event of a recording, with its parent, its operation, its times and what it carried. The
 * scripts are played into the real recorder; without a join the common axis is the host's own, or what a test makes
 * it. */
#include "reread.h"

#include <inttypes.h>

/* ---- one operation from its call to the wire ---- */

static void *wire(void *ctx, void *step)
{
    struct rs_nccl_net_ib_v1 ib = {.type = 1, .qp = {.device = 2, .wr_id = 3, .opcode = 4, .qpNum = 5, .length = 777}};
    struct rs_nccl_descr_v6 d = {.type = RS_NET_PLUGIN, .parentObj = step, .rank = 1};
    d.netPlugin.id = RS_NCCL_NET_IB | 1;
    d.netPlugin.data = &ib;
    void *handle = NULL;
    ncclProfiler_v6.startEvent(ctx, &handle, &d);
    return handle;
}

static void *proxy(void *ctx)
{
    void *c = notes->h[COLL], *s = NULL;
    void *in = notes->h[RECV_OP] =
        start(ctx, RS_PROXY_OP, .parent = c, .rank = 1, .peer = 0, .nsteps = 1, .channel = 3);
    void *out = notes->h[SEND_OP] =
        start(ctx, RS_PROXY_OP, .parent = c, .rank = 1, .peer = 2, .nsteps = 2, .channel = 4, .is_send = true);
    TIMED(0, state_plain(in, RS_ST_OP_IN_PROGRESS));
    for (int i = 0; i < 1000; i++) TIMED(1, s = start(ctx, RS_PROXY_STEP, .parent = in, .step = 7));
    notes->h[RECV] = s;
    TIMED(2, state_with(s, RS_ST_STEP_RECV_WAIT, 999));
    nap_us(3000);
    TIMED(3, state_with(s, RS_ST_STEP_RECV_FLUSH_WAIT, 4096));
    TIMED(4, state_with(s, RS_ST_STEP_RECV_GPU_WAIT, 1));
    nap_us(1000);
    TIMED(5, stop(s));
    void *t = notes->h[SEND] = start(ctx, RS_PROXY_STEP, .parent = out, .step = 8);
    state_with(t, RS_ST_STEP_SEND_GPU_WAIT, 11);
    TIMED(6, state_with(t, RS_ST_STEP_SEND_PEER_WAIT, 12));
    nap_us(500);
    for (int i = 0; i < 50; i++) state_with(t, RS_ST_STEP_SEND_PEER_WAIT, 12); /* every retry */
    TIMED(7, state_with(t, RS_ST_STEP_SEND_WAIT, 17));
    void *w = notes->h[WIRE] = wire(ctx, t);
    TIMED(8, stop(w));
    nap_us(500);
    stop(w); /* NCCL's IB plugin stops twice */
    stop(t);
    stop(in);
    stop(out);
    kernel(ctx, c, 5, GPU_NS + 100, GPU_NS + 900);
    void *q = notes->h[KERNEL] = start(ctx, RS_KERNEL_CH, .parent = c, .channel = 6, .timer = GPU_NS);
    state_with(q, RS_ST_KERNEL_CH_STOP, GPU_NS + 1000);
    stop(q);
    return NULL;
}

static void whole(void)
{
    void *ctx = notes->h[CTX] = init(HASH, "world", 3, 1);
    void *g, *a, *k, *p, *c;
    TIMED(10, g = notes->h[GROUP] = start(ctx, RS_GROUP_API));
    state_plain(g, RS_ST_GROUP_START_API_STOP);
    a = notes->h[CALL] = start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8", .count = 5);
    stop(a);
    state_plain(g, RS_ST_GROUP_END_API_START);
    k = notes->h[LAUNCH] = start(ctx, RS_KERNEL_LAUNCH, .parent = g);
    stop(k);
    p = notes->h[PLAN] = start(ctx, RS_GROUP);
    c = notes->h[COLL] = start(ctx, RS_COLL, .parent = a, .group = p, .rank = 1, .func = "AllReduce",
                               .dtype = "ncclInt8", .count = 5, .channels = 2);
    stop(c);
    stop(p);
    nap_us(2000);
    TIMED(11, stop(g));
    on_thread(proxy, ctx);
    struct rs_nccl_descr_v6 d = {.type = UINT64_C(1) << 20, .rank = 1};
    ncclProfiler_v6.startEvent(ctx, &notes->h[STRANGE], &d);
    stop(notes->h[STRANGE]);
    notes->pid = getpid();
    finalize(ctx);
}

static void check_above(const struct run *r)
{
    const struct rs_event *g = event_of(r, GROUP), *a = event_of(r, CALL), *k = event_of(r, LAUNCH);
    const struct rs_event *p = event_of(r, PLAN), *c = event_of(r, COLL);
    uint32_t part = part_of(&r->m, COLL);
    assert_int_equal(g->number, 0);
    assert_int_equal(g->parent, RS_NONE);
    assert_int_equal(g->type, RS_GROUP_API);
    assert_int_equal(g->part, RS_NONE);
    check_spent(g->end - g->start, 10, 11);
    assert_int_equal(g->nstates, 2);
    assert_int_equal(g->states[0].state, RS_ST_GROUP_START_API_STOP);
    assert_int_equal(g->states[1].state, RS_ST_GROUP_END_API_START);
    assert_int_equal(a->number, 1);
    assert_int_equal(a->parent, 0);
    assert_int_equal(k->parent, 0);
    assert_int_equal(p->parent, RS_NONE);
    assert_int_equal(c->number, 4);
    assert_int_equal(c->parent, 1); /* which was stopped before */
    assert_int_equal(c->parent_handle, handle_of(CALL));
    assert_int_equal(c->part, part);
    assert_int_equal(c->channels, 2);
    assert_int_equal(c->tid, notes->pid);
    const struct rs_event *all[] = {g, a, k, p, c};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(all[i]->member, r->m.parts.member[part]);
        assert_int_equal(all[i]->gpu_start, RS_TIME_NONE);
        assert_false(all[i]->open || all[i]->stale || all[i]->polled);
        assert_int_equal(all[i]->channel, -1);
        assert_int_equal(all[i]->bytes, -1);
    }
}

static void check_steps(const struct run *r)
{
    const struct rs_event *in = event_of(r, RECV_OP), *out = event_of(r, SEND_OP), *s = event_of(r, RECV);
    const struct rs_event *t = event_of(r, SEND), *w = event_of(r, WIRE);
    uint32_t part = part_of(&r->m, COLL);
    assert_int_equal(in->channel, 3);
    assert_int_equal(in->peer, 0);
    assert_int_equal(in->steps, 1);
    assert_int_equal(in->is_send, 0);
    assert_int_equal(out->is_send, 1);
    assert_int_equal(s->parent, in->number);
    assert_int_equal(s->step, 7);
    assert_int_equal(s->channel, 3);
    assert_int_equal(s->peer, 0);
    assert_int_equal(s->bytes, 4096); /* not what the other states carry */
    assert_int_equal(s->nstates, 3);
    check_spent(s->states[0].at - s->start, 1, 2);
    check_spent(s->states[1].at - s->start, 1, 3);
    check_spent(s->end - s->start, 1, 5);
    assert_int_equal(t->bytes, 17);
    assert_int_equal(t->nstates, 3);
    assert_int_equal(t->states[1].state, RS_ST_STEP_SEND_PEER_WAIT);
    check_spent(t->states[2].at - t->states[1].at, 6, 7); /* from the first of the retries */
    assert_int_equal(w->parent, t->number);
    assert_int_equal(w->bytes, 777);
    assert_int_equal(w->step, 8);
    assert_int_equal(w->channel, 4);
    assert_int_equal(w->peer, 2);
    check_spent(w->end - t->states[2].at, 7, 8); /* its first stop */
    const struct rs_event *all[] = {in, out, s, t, w};
    for (int i = 0; i < 5; i++) assert_int_equal(all[i]->part, part);
    assert_true(s->tid != 0 && s->tid != (uint32_t)notes->pid);
    uint32_t polled = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->events[i].polled) continue;
        polled++;
        assert_int_equal(r->events[i].end, RS_TIME_NONE);
        assert_false(r->events[i].open);
        assert_int_equal(r->events[i].step, 7);
        assert_int_equal(r->events[i].part, part);
    }
    assert_int_equal(polled, 999);
}

static void test_whole(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, whole, 0);
    assert_int_equal(r.n, 5 + 2 + 1000 + 1 + 1 + 2 + 1);
    check_above(&r);
    check_steps(&r);
    const struct rs_event *q = event_of(&r, KERNEL);
    assert_int_equal(q->channel, 6);
    assert_int_equal(q->gpu_start, GPU_NS);
    assert_int_equal(q->gpu_end, GPU_NS + 1000);
    assert_false(q->stale);
    assert_int_equal(q->part, part_of(&r.m, COLL));
    assert_int_equal(event_of(&r, STRANGE)->type, 0);
    assert_int_equal(event_of(&r, STRANGE)->number, r.n - 1);
    assert_true(r.thread[0] != 0);
    bool seen[1012] = {0};
    for (uint32_t i = 0; i < r.n; i++) {
        assert_false(seen[r.events[i].number]);
        seen[r.events[i].number] = true;
    }
    /* Numbers are the same whatever is asked for. */
    uint32_t number = q->number;
    read_events(&r, 0, RS_KERNEL_CH);
    assert_int_equal(r.n, 2);
    assert_int_equal(event_of(&r, KERNEL)->number, number);
    close_run(&r);
}

/* Times come onto the common axis: the host's by its own, the GPU's by its own. */
static void test_axis(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, whole, 0);
    int64_t start = event_of(&r, RECV)->start, state = event_of(&r, RECV)->states[1].at, end = event_of(&r, RECV)->end;
    const struct rs_knot host = {0, 1000}, gpu = {0, -500};
    uint32_t part = part_of(&r.m, COLL);
    r.m.domains[r.m.hosts[0].domain].axis = (struct rs_axis){.knots = &host, .n = 1};
    r.m.domains[r.m.members[r.m.parts.member[part]].gpu].axis = (struct rs_axis){.knots = &gpu, .n = 1};
    r.m.parts.start[part] -= 500; /* as the join does */
    r.m.parts.end[part] -= 500;
    read_events(&r, 0, UINT64_MAX);
    const struct rs_event *s = event_of(&r, RECV), *q = event_of(&r, KERNEL);
    assert_int_equal(s->start, start + 1000);
    assert_int_equal(s->states[1].at, state + 1000);
    assert_int_equal(s->end, end + 1000);
    assert_int_equal(q->gpu_start, GPU_NS - 500);
    assert_int_equal(q->gpu_end, GPU_NS + 500);
    close_run(&r);
}

static enum rs_status refuse(void *to, const struct rs_event *e, struct rs_err *err)
{
    return ++*(int *)to == 3 ? rs_fail(err, RS_BAD_INPUT, "no %" PRIu32, e->number) : RS_OK;
}

static void test_refused(void **unused)
{
    (void)unused;
    struct run r;
    struct rs_err err = {0};
    int n = 0;
    play_run(&r, whole, 0);
    assert_int_equal(rs_events_read(&r.m, &r.in, 0, UINT64_MAX, NULL, refuse, &n, &err), RS_BAD_INPUT);
    assert_int_equal(n, 3);
    assert_memory_equal(err.msg, "no ", 3);
    close_run(&r);
}

/* ---- captured calls: every replay hangs on the one call ---- */

static void *replay(void *ctx)
{
    for (int i = 0; i < 2; i++) {
        void *p = start(ctx, RS_GROUP);
        void *c = notes->h[COLL + i] = start(ctx, RS_COLL, .parent = notes->h[CALL], .group = p, .func = "AllReduce",
                                             .dtype = "ncclInt8", .seq = (uint64_t)i, .channels = 1);
        stop(c);
        stop(p);
        kernel(ctx, c, 0, GPU_NS + 1000 * (uint64_t)i, GPU_NS + 1000 * (uint64_t)i + 10);
    }
    return NULL;
}

static void captured(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *g = start(ctx, RS_GROUP_API, .captured = true);
    void *a = notes->h[CALL] =
        start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8", .captured = true);
    stop(a);
    stop(g);
    on_thread(replay, ctx);
}

static void test_captured(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, captured, 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct rs_event *c = event_of(&r, COLL + i);
        assert_int_equal(c->parent, event_of(&r, CALL)->number);
        assert_int_equal(c->part, part_of(&r.m, COLL + i));
        uint32_t kernels = 0;
        for (uint32_t k = 0; k < r.n; k++) {
            if (r.events[k].type != RS_KERNEL_CH || r.events[k].parent != c->number) continue;
            kernels++;
            assert_int_equal(r.events[k].part, c->part);
            assert_int_equal(r.events[k].gpu_start, GPU_NS + 1000 * i);
        }
        assert_int_equal(kernels, 1);
    }
    assert_int_equal(event_of(&r, CALL)->part, RS_NONE);
    close_run(&r);
}

/* The call is overwritten long since when its replay comes: it was kept apart, and is its parent still. */
static void overwritten(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *a = notes->h[CALL] = start(ctx, RS_COLL_API, .func = "AllReduce", .dtype = "ncclInt8", .captured = true);
    stop(a);
    uint64_t x = 1;
    for (int i = 0; i < 250000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        void *o = start(ctx, RS_PROXY_OP, .peer = (int)(x >> 40), .nsteps = (int)(x >> 33), .channel = 1);
        stop(o);
    }
    on_thread(replay, ctx);
}

static void test_overwritten(void **unused)
{
    (void)unused;
    struct run r;
    setenv("RINGSCOPE_LIMIT", "1M", 1);
    setenv("RINGSCOPE_KEEP", "last", 1);
    play_run(&r, overwritten, 0);
    unsetenv("RINGSCOPE_LIMIT");
    unsetenv("RINGSCOPE_KEEP");
    assert_true(r.m.procs[0].overwritten > 0);
    assert_true(count_of(&r, RS_PROXY_OP) < 250000);
    const struct rs_event *a = event_of(&r, CALL);
    assert_int_equal(a->end, RS_TIME_NONE); /* its stop was overwritten */
    assert_false(a->open);
    for (unsigned i = 0; i < 2; i++) assert_int_equal(event_of(&r, COLL + i)->parent, a->number);
    close_run(&r);
}

/* A call without an operation is a part itself. */
static void broadcast(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *g = start(ctx, RS_GROUP_API);
    void *a = notes->h[CALL] = start(ctx, RS_COLL_API, .parent = g, .func = "Broadcast", .dtype = "ncclInt8");
    stop(a);
    stop(g);
    finalize(ctx);
}

static void test_call_alone(void **unused)
{
    (void)unused;
    struct run r;
    play_run(&r, broadcast, 0);
    assert_int_equal(event_of(&r, CALL)->part, part_of(&r.m, CALL));
    assert_int_equal(r.m.parts.kind[event_of(&r, CALL)->part], RS_PART_API);
    close_run(&r);
}

/* ---- all versions ---- */

static void *old_proxy(void *ctx)
{
    void *o = notes->h[SEND_OP] = start(ctx, RS_PROXY_OP, .parent = notes->h[P2P], .rank = 1, .peer = 2, .nsteps = 1,
                                        .channel = 5, .is_send = true);
    void *s = notes->h[SEND] = start(ctx, RS_PROXY_STEP, .parent = o, .rank = 1, .step = 3);
    stop(s);
    stop(o);
    if (api >= 3) kernel(ctx, notes->h[P2P], 2, GPU_NS, GPU_NS + 5);
    return NULL;
}

static void send_one(void)
{
    void *ctx = init(HASH, "world", 3, 1);
    void *p = notes->h[PLAN] = start(ctx, RS_GROUP);
    notes->h[P2P] = start(ctx, RS_P2P, .parent = p, .group = p, .rank = 1, .peer = 2, .func = "Send",
                          .dtype = "ncclInt8", .count = 4, .hash = HASH, .name = "world", .channels = 1);
    stop(notes->h[P2P]);
    stop(p);
    on_thread(old_proxy, ctx);
}

static void test_versions(void **unused)
{
    (void)unused;
    for (api = 1; api <= 7; api++) {
        struct run r;
        play_run(&r, send_one, 0);
        uint32_t part = part_of(&r.m, P2P);
        const struct rs_event *x = event_of(&r, P2P), *o = event_of(&r, SEND_OP), *s = event_of(&r, SEND);
        assert_int_equal(r.n, api >= 3 ? 5 : 4);
        assert_int_equal(x->type, RS_P2P);
        assert_int_equal(x->part, part);
        assert_int_equal(x->peer, 2);
        assert_int_equal(x->is_send, 1);
        assert_int_equal(x->parent, event_of(&r, PLAN)->number);
        assert_int_equal(x->member, r.m.parts.member[part]);
        assert_int_equal(o->part, part);
        assert_int_equal(o->parent, x->number);
        assert_int_equal(s->parent, o->number);
        assert_int_equal(s->step, 3);
        assert_int_equal(s->peer, 2);
        for (uint32_t i = 0; i < r.n && api >= 3; i++) {
            const struct rs_event *e = &r.events[i];
            if (e->type != RS_KERNEL_CH) continue;
            assert_int_equal(e->channel, 2);
            assert_int_equal(e->gpu_start, api == 3 ? RS_TIME_NONE : (int64_t)GPU_NS);
            assert_int_equal(e->part, part);
            assert_false(e->stale);
        }
        close_run(&r);
    }
    api = 6;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_axis),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_captured), cmocka_unit_test(test_overwritten), cmocka_unit_test(test_call_alone),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, reread_set_up, script_tear_down);
}
