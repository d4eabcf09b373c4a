/* The same collective through every version of NCCL's interface, from callbacks to the model: what each version tells,
 * and that nothing is made up of what it does not. */
#include "script.h"

#define GPU_NS INT64_C(1756135989724672000)
#define HASH UINT64_C(0xfeedc0de12345678)

enum { GROUP_API, COLL_API, PLAN, COLL, CTX };

/* The GPU's timers, by the callback that brings them. Channels need not begin at 0; the second starts first and ends last. */
static const int64_t timers[] = {GPU_NS + 5000, GPU_NS + 1000, GPU_NS + 90000, GPU_NS + 99000};
enum { TIMERS = sizeof timers / sizeof *timers };

static void *two_channels(void *ctx)
{
    void *q2, *q3;
    TIMED(0, q2 = start(ctx, RS_KERNEL_CH, .parent = notes->h[COLL], .channel = 2, .timer = (uint64_t)timers[0]));
    TIMED(1, q3 = start(ctx, RS_KERNEL_CH, .parent = notes->h[COLL], .channel = 3, .timer = (uint64_t)timers[1]));
    if (api >= 4) TIMED(2, state_with(q2, RS_ST_KERNEL_CH_STOP, (uint64_t)timers[2]));
    stop(q2);
    if (api >= 4) TIMED(3, state_with(q3, RS_ST_KERNEL_CH_STOP, (uint64_t)timers[3]));
    stop(q3);
    return NULL;
}

/* No other timer was read sooner after it was written. */
static void check_soonest(int64_t timer)
{
    unsigned k = 0;
    while (k < TIMERS && timers[k] != timer) k++;
    assert_true(k < TIMERS);
    for (unsigned i = 0; i < TIMERS; i++)
        assert_true(notes->ns[2 * k] - timers[k] <= notes->ns[2 * i + 1] - timers[i] + CLOCK_SLACK_NS);
}

/* Reference 5.1. */
static void eager(void)
{
    void *ctx = init(HASH, "world", 4, 3);
    void *g = start(ctx, RS_GROUP_API);
    state_plain(g, RS_ST_GROUP_START_API_STOP);
    void *a = start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclFloat16", .count = 1000);
    stop(a);
    state_plain(g, RS_ST_GROUP_END_API_START);
    stop(start(ctx, RS_KERNEL_LAUNCH, .parent = g));
    void *p = start(ctx, RS_GROUP);
    notes->h[COLL] = start(ctx, RS_COLL, .parent = a, .group = p, .rank = 3, .seq = 7, .func = "AllReduce",
                           .dtype = "ncclFloat16", .count = 1000, .root = 2, .channels = 2, .symmetric = api == 7);
    notes->h[GROUP_API] = g, notes->h[COLL_API] = a, notes->h[PLAN] = p, notes->h[CTX] = ctx;
    on_thread(two_channels, ctx); /* before the stop of the operation */
    stop(notes->h[COLL]);
    stop(p);
    stop(g);
    finalize(ctx);
}

static void check_facts(const struct rs_model *m, uint64_t seq)
{
    const struct rs_parts *t = &m->parts;
    assert_int_equal(t->n, 1);
    assert_int_equal(t->kind[0], RS_PART_COLL);
    assert_int_equal(t->handle[0], handle_of(COLL));
    assert_int_equal(t->seq[0], seq);
    assert_int_equal(t->count[0], 1000);
    assert_int_equal(t->peer[0], 2);
    assert_text(m, t->func[0], "AllReduce");
    assert_text(m, t->dtype[0], "ncclFloat16");
    assert_text(m, t->algo[0], "RING");
    assert_text(m, t->proto[0], "SIMPLE");
    assert_int_equal(t->op[0], RS_NONE);
    assert_int_equal(t->helper[0], RS_NONE);
    assert_int_equal(t->captured[0], 0);
    assert_int_equal(t->launch[0], handle_of(PLAN));
    assert_int_equal(m->nopens, 0);
    assert_int_equal(m->nnets, 0);
}

static void check_timers(const struct rs_model *m)
{
    const struct rs_parts *t = &m->parts;
    assert_int_equal(t->start[0], GPU_NS + 1000);
    assert_int_equal(t->end[0], GPU_NS + 99000);
    assert_int_equal(t->start_source[0], RS_FROM_KERNEL);
    assert_int_equal(t->end_source[0], RS_FROM_KERNEL);
    assert_int_equal(t->channels[0], 2);
    assert_int_equal(t->channels_seen[0], 2);
    uint32_t gpu = m->members[0].gpu;
    assert_int_equal(rs_part_start_domain(m, 0), gpu);
    assert_int_equal(m->domains[gpu].kind, RS_DOMAIN_GPU);
    assert_int_equal(m->domains[gpu].timers, 2);
    assert_int_equal(m->domains[gpu].stale, 0);
}

static void check_member(const struct rs_model *m)
{
    assert_int_equal(m->nprocs, 1);
    assert_int_equal(m->procs[0].ended, RS_END_WELL);
    assert_int_equal(m->ncomms, 1);
    assert_int_equal(m->comms[0].hash, HASH);
    assert_string_equal(m->comms[0].name, "world");
    assert_int_equal(m->comms[0].nmembers, 1);
    assert_int_equal(m->nmembers, 1);
    assert_int_equal(m->members[0].rank, 3);
    assert_int_equal(m->members[0].context, handle_of(CTX));
    assert_int_equal(rs_comm_member(m, 0, 3), 0);
    assert_int_equal(rs_comm_member(m, 0, 2), RS_NONE);
    assert_true(m->members[0].created < m->members[0].destroyed);
}

static void test_since_v5(void **unused)
{
    (void)unused;
    for (api = 5; api <= 7; api++) {
        struct rs_model m;
        play(&m, eager);
        check_facts(&m, 7);
        check_timers(&m);
        check_member(&m);
        assert_int_equal(m.comms[0].nranks, 4);
        const struct rs_parts *t = &m.parts;
        assert_int_equal(t->flags[0], RS_PART_STOPPED | RS_PART_LAUNCHED | (api == 7 ? RS_PART_SYMMETRIC : 0));
        assert_int_equal(t->group[0], handle_of(GROUP_API));
        assert_true(m.procs[0].first <= t->enqueued[0] && t->enqueued[0] < t->launched[0]);
        assert_true(t->launched[0] < m.procs[0].last);
        /* 20 callbacks: init and finalize with them */
        assert_int_equal(m.callbacks, 20);
        assert_int_equal(m.procs[0].callbacks, 20);
        /* The bounds of the GPU's clock: launched before the first start; each timer read after it was written. */
        const struct rs_bounds *b = m.domains[m.members[0].gpu].bounds;
        assert_non_null(b);
        assert_int_equal(b->n, 1);
        assert_int_equal(b->lower[0].d, t->launched[0] - (GPU_NS + 1000)); /* of the earlier start: the larger */
        assert_int_equal(b->lower[0].at, GPU_NS + 1000);
        check_soonest(b->upper[0].at);
        assert_true(b->lower[0].d < b->upper[0].d + 99000);
        assert_int_equal(b->nsamples, 4);
        rs_model_free(&m);
    }
}

/* Version 4, and version 3 and older: no API events; the parent of an operation is its plan. */
static void eager_old(void)
{
    void *ctx = init(HASH, "world", 4, 3);
    void *p = start(ctx, RS_GROUP);
    notes->h[COLL] = start(ctx, RS_COLL, .parent = p, .rank = 3, .seq = 7, .func = "AllReduce", .dtype = "ncclFloat16",
                           .count = 1000, .root = 2, .channels = 2, .hash = HASH, .name = "world");
    notes->h[PLAN] = p, notes->h[CTX] = ctx;
    stop(notes->h[COLL]);
    stop(p);
    if (api >= 3) on_thread(two_channels, ctx);
    finalize(ctx);
}

static void check_old(const struct rs_model *m)
{
    const struct rs_parts *t = &m->parts;
    check_facts(m, 7);
    check_member(m);
    assert_int_equal(t->group[0], handle_of(PLAN));
    assert_int_equal(t->flags[0], RS_PART_STOPPED);
    assert_int_equal(t->launched[0], RS_TIME_NONE);
    assert_true(t->enqueued[0] > m->procs[0].first && t->enqueued[0] < m->procs[0].last);
}

static void test_v4(void **unused)
{
    (void)unused;
    struct rs_model m;
    api = 4;
    play(&m, eager_old);
    check_old(&m);
    check_timers(&m);
    assert_int_equal(m.comms[0].nranks, 4);
    rs_model_free(&m);
}

/* No timers: the host's times of the callbacks, and said to be that. No announced channels either. */
static void test_v3(void **unused)
{
    (void)unused;
    struct rs_model m;
    api = 3;
    play(&m, eager_old);
    check_old(&m);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->start_source[0], RS_FROM_CALLBACK);
    assert_int_equal(t->end_source[0], RS_FROM_CALLBACK);
    assert_true(t->enqueued[0] < t->start[0] && t->start[0] < t->end[0] && t->end[0] < m.procs[0].last);
    assert_int_equal(t->channels[0], 0); /* 24 is how many there may be */
    assert_int_equal(t->channels_seen[0], 2);
    assert_int_equal(rs_part_start_domain(&m, 0), m.hosts[0].domain);
    assert_null(m.domains[m.members[0].gpu].bounds);
    assert_int_equal(m.comms[0].nranks, -1);
    rs_model_free(&m);
}

static void test_v1_v2(void **unused)
{
    (void)unused;
    for (api = 1; api <= 2; api++) {
        struct rs_model m;
        play(&m, eager_old);
        check_old(&m);
        assert_int_equal(m.parts.start[0], RS_TIME_NONE);
        assert_int_equal(m.parts.end[0], RS_TIME_NONE);
        assert_int_equal(m.parts.start_source[0], RS_FROM_NOTHING);
        assert_int_equal(rs_part_start_domain(&m, 0), RS_NONE);
        rs_model_free(&m);
    }
}

/* Two communicators of an old interface: they are told apart by what their operations say. The third has none. */
static void several_old(void)
{
    void *a = init(0, NULL, 0, 0), *b = init(0, NULL, 0, 0);
    init(0, NULL, 0, 0);
    void *p = start(b, RS_GROUP);
    notes->h[0] = start(b, RS_P2P, .parent = p, .rank = 1, .func = "Recv", .dtype = "ncclInt64", .count = 5, .peer = 0,
                        .hash = HASH + 1, .name = "b");
    notes->h[1] = start(b, RS_P2P, .parent = p, .rank = 1, .func = "Send", .dtype = "ncclInt64", .count = 6, .peer = 1,
                        .hash = HASH + 1, .name = "b");
    notes->h[2] = start(a, RS_COLL, .rank = 6, .func = "Broadcast", .dtype = "ncclInt8", .count = 9, .seq = 1,
                        .hash = HASH, .name = "a");
    notes->h[3] = p;
}

static void test_old_communicators(void **unused)
{
    (void)unused;
    for (api = 1; api <= 3; api++) {
        struct rs_model m;
        play(&m, several_old);
        const struct rs_parts *t = &m.parts;
        assert_int_equal(t->n, 3);
        uint32_t recv = part_of(&m, 0), send = part_of(&m, 1), coll = part_of(&m, 2);
        assert_int_equal(t->kind[recv], RS_PART_RECV);
        assert_int_equal(t->kind[send], RS_PART_SEND);
        assert_int_equal(t->peer[recv], 0);
        assert_int_equal(t->count[send], 6);
        assert_int_equal(t->seq[send], UINT64_MAX);
        assert_text(&m, t->func[send], "Send");
        assert_text(&m, t->dtype[send], "ncclInt64");
        assert_int_equal(t->flags[recv], 0); /* not stopped */
        assert_int_equal(t->flags[send], RS_PART_SELF);
        assert_int_equal(t->launch[recv], handle_of(3));
        assert_int_equal(m.nmembers, 3);
        const struct rs_member *x = &m.members[t->member[recv]], *y = &m.members[t->member[coll]];
        assert_int_equal(t->member[recv], t->member[send]);
        assert_int_equal(m.comms[x->comm].hash, HASH + 1);
        assert_string_equal(m.comms[x->comm].name, "b");
        assert_int_equal(x->rank, 1);
        assert_int_equal(m.comms[y->comm].hash, HASH);
        assert_string_equal(m.comms[y->comm].name, "a");
        assert_int_equal(y->rank, 6);
        assert_int_equal(m.ncomms, 3); /* the two, and that of the silent one */
        uint32_t silent = 3 - t->member[recv] - t->member[coll];
        assert_int_equal(m.members[silent].rank, -1);
        assert_int_equal(m.comms[m.members[silent].comm].hash, 0);
        assert_int_equal(m.comms[x->comm].nmembers, 1);
        assert_int_equal(rs_comm_member(&m, x->comm, 1), t->member[recv]);
        rs_model_free(&m);
    }
}

/* NCCL 2.27 and newer give old plugins no hash: communicators are told apart by their contexts alone. */
static void hashless(void)
{
    void *a = init(0, NULL, 0, 0), *b = init(0, NULL, 0, 0);
    notes->h[0] = start(a, RS_COLL, .rank = 2, .func = "AllReduce", .dtype = "ncclInt8", .count = 1, .seq = 0);
    notes->h[1] = start(b, RS_COLL, .rank = 5, .func = "AllReduce", .dtype = "ncclInt8", .count = 1, .seq = 0);
    notes->h[2] = start(a, RS_COLL, .rank = 2, .func = "AllReduce", .dtype = "ncclInt8", .count = 1, .seq = 1);
}

static void test_hashless(void **unused)
{
    (void)unused;
    for (api = 1; api <= 3; api++) {
        struct rs_model m;
        play(&m, hashless);
        uint32_t a = m.parts.member[part_of(&m, 0)], b = m.parts.member[part_of(&m, 1)];
        assert_int_equal(m.parts.member[part_of(&m, 2)], a);
        assert_int_not_equal(a, b);
        assert_int_equal(m.ncomms, 2);
        assert_int_not_equal(m.members[a].comm, m.members[b].comm);
        assert_int_equal(m.members[a].rank, 2);
        assert_int_equal(m.members[b].rank, 5);
        assert_int_equal(m.comms[m.members[a].comm].hash, 0);
        assert_null(m.comms[m.members[a].comm].name);
        rs_model_free(&m);
    }
}

/* The v4 shim of newer NCCL leaves the number of channels of a send unset. */
static void p2p_v4(void)
{
    void *ctx = init(HASH, NULL, 2, 0), *p = start(ctx, RS_GROUP);
    notes->h[COLL] = start(ctx, RS_P2P, .parent = p, .func = "Send", .dtype = "ncclInt8", .count = 4, .peer = 1);
    kernel(ctx, notes->h[COLL], 0, (uint64_t)GPU_NS, (uint64_t)GPU_NS + 10);
}

static void test_p2p_v4(void **unused)
{
    (void)unused;
    struct rs_model m;
    api = 4;
    play(&m, p2p_v4);
    assert_int_equal(m.parts.channels[0], 0);
    assert_int_equal(m.parts.end[0], GPU_NS + 10); /* all that started has ended */
    rs_model_free(&m);
}

/* Two ranks of a process call their communicator by different names: the first stays. */
static void two_names(void)
{
    init(HASH, "", 3, 0);
    init(HASH, "first", 3, 1);
    init(HASH, "second", 3, 2);
}

static void test_two_names(void **unused)
{
    (void)unused;
    struct rs_model m;
    api = 6;
    play(&m, two_names);
    assert_int_equal(m.ncomms, 1);
    assert_int_equal(m.nmembers, 3);
    assert_string_equal(m.comms[0].name, "first");
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_since_v5), cmocka_unit_test(test_v4),
                                       cmocka_unit_test(test_v3),       cmocka_unit_test(test_v1_v2),
                                       cmocka_unit_test(test_hashless), cmocka_unit_test(test_old_communicators),
                                       cmocka_unit_test(test_p2p_v4),   cmocka_unit_test(test_two_names)};
    return cmocka_run_group_tests(tests, script_set_up, script_tear_down);
}
