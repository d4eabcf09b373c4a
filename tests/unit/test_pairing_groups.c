/* Group calls, aggregation, point to point, graphs, and operations of which NCCL tells less: from callbacks to parts. */
#include "script.h"

#define GPU_NS UINT64_C(1756135989724672000)
#define HASH UINT64_C(0x1111222233334444)

/* ---- reference 5.3: several devices in one thread, one group call ---- */

static void several_devices(void)
{
    void *ctx[2] = {init(HASH, "world", 2, 0), init(HASH, "world", 2, 1)}, *a[2];
    void *g = notes->h[0] = start(ctx[0], RS_GROUP_API);
    for (int i = 0; i < 2; i++) {
        a[i] = start(ctx[i], RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8", .count = 64);
        stop(a[i]);
    }
    for (int i = 1; i >= 0; i--) { /* in reverse */
        stop(start(ctx[i], RS_KERNEL_LAUNCH, .parent = g));
        void *p = notes->h[1 + i] = start(ctx[i], RS_GROUP);
        notes->h[3 + i] = start(ctx[i], RS_COLL, .parent = a[i], .group = p, .rank = i, .func = "AllReduce",
                                .dtype = "ncclInt8", .count = 64, .channels = 1);
        stop(notes->h[3 + i]);
        stop(p);
    }
    stop(g);
    for (unsigned i = 0; i < 2; i++) kernel(ctx[i], notes->h[3 + i], 0, GPU_NS + i, GPU_NS + 100 + i);
}

static void test_several_devices(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, several_devices);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 2);
    assert_int_equal(m.ncomms, 1);
    assert_int_equal(m.nmembers, 2);
    assert_int_equal(m.comms[0].nmembers, 2);
    uint32_t i[2] = {part_of(&m, 3), part_of(&m, 4)};
    for (unsigned k = 0; k < 2; k++) {
        uint32_t x = i[k];
        assert_int_equal(m.members[t->member[x]].rank, k);
        assert_int_equal(t->group[x], handle_of(0)); /* also that of the communicator which did not open it */
        assert_int_equal(t->launch[x], handle_of(1 + k));
        assert_int_equal(t->start[x], GPU_NS + k);
        assert_int_equal(t->end[x], GPU_NS + 100 + k);
        assert_true(t->enqueued[x] < t->launched[x]);
    }
    assert_true(t->enqueued[i[0]] < t->enqueued[i[1]]); /* called in this order... */
    assert_true(t->launched[i[1]] < t->launched[i[0]]); /* ...and launched in the other */
    rs_model_free(&m);
}

/* ---- reference 5.4: aggregated; the plan's order is not that of the calls ---- */

static void aggregated(void)
{
    void *ctx = init(HASH, "world", 2, 0), *a[3], *g = notes->h[0] = start(ctx, RS_GROUP_API);
    static const size_t counts[] = {10, 30, 20};
    static const unsigned order[] = {1, 2, 0}; /* by size */
    for (int i = 0; i < 3; i++)
        stop(a[i] = start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8", .count = counts[i]));
    for (unsigned plan = 0; plan < 2; plan++) { /* two fit into one plan, the third needs another */
        stop(start(ctx, RS_KERNEL_LAUNCH, .parent = g));
        void *p = notes->h[1 + plan] = start(ctx, RS_GROUP);
        for (unsigned k = plan ? 2 : 0; k < (plan ? 3 : 2); k++)
            notes->h[3 + order[k]] =
                start(ctx, RS_COLL, .parent = a[order[k]], .group = p, .seq = k, .func = "AllReduce",
                      .dtype = "ncclInt8", .count = counts[order[k]], .channels = 1);
        for (unsigned k = plan ? 2 : 0; k < (plan ? 3 : 2); k++) stop(notes->h[3 + order[k]]);
        stop(p);
    }
    stop(g);
    /* Works of one batch have the same times. */
    for (unsigned k = 0; k < 2; k++) kernel(ctx, notes->h[3 + order[k]], 4, GPU_NS, GPU_NS + 500);
    kernel(ctx, notes->h[3 + order[2]], 4, GPU_NS + 5000, GPU_NS + 5500);
}

static void test_aggregated(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, aggregated);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 3);
    static const uint64_t seqs[] = {2, 0, 1}, counts[] = {10, 30, 20};
    uint32_t at[3];
    for (unsigned i = 0; i < 3; i++) {
        uint32_t x = at[i] = part_of(&m, 3 + i);
        assert_int_equal(t->seq[x], seqs[i]);
        assert_int_equal(t->count[x], counts[i]);
        assert_int_equal(t->group[x], handle_of(0));
        assert_int_equal(t->launch[x], handle_of(i == 0 ? 2 : 1));
        assert_int_equal(t->start[x], GPU_NS + (i == 0 ? 5000 : 0));
        assert_int_equal(t->end[x], GPU_NS + (i == 0 ? 5500 : 500));
        assert_int_equal(t->flags[x], RS_PART_STOPPED | RS_PART_LAUNCHED);
    }
    assert_true(t->enqueued[at[0]] < t->enqueued[at[1]] && t->enqueued[at[1]] < t->enqueued[at[2]]);
    assert_int_equal(t->launched[at[1]], t->launched[at[2]]);
    assert_true(t->launched[at[1]] < t->launched[at[0]]);
    rs_model_free(&m);
}

/* ---- reference 5.5 and 5.6: send and receive, all-to-all with oneself ---- */

enum { SENDS = 10, RECVS = 20 };

static void all_to_all(void)
{
    void *ctx = init(HASH, "ep", 3, 1), *s[3], *r[3], *g = notes->h[0] = start(ctx, RS_GROUP_API);
    for (int i = 0; i < 3; i++) {
        stop(s[i] = start(ctx, RS_P2P_API, .parent = g, .func = "Send", .dtype = "Unknown", .count = 8));
        stop(r[i] = start(ctx, RS_P2P_API, .parent = g, .func = "Recv", .dtype = "Unknown", .count = 8));
    }
    stop(start(ctx, RS_KERNEL_LAUNCH, .parent = g));
    void *p = notes->h[1] = start(ctx, RS_GROUP);
    static const int rounds[] = {1, 2, 0}; /* oneself first */
    for (int k = 0; k < 3; k++) {
        int i = rounds[k];
        notes->h[SENDS + i] = start(ctx, RS_P2P, .parent = s[i], .group = p, .rank = 1, .func = "Send",
                                    .dtype = "Unknown", .count = 8, .peer = i, .channels = 1);
        notes->h[RECVS + i] = start(ctx, RS_P2P, .parent = r[i], .group = p, .rank = 1, .func = "Recv",
                                    .dtype = "Unknown", .count = 8, .peer = i, .channels = 1);
    }
    for (int i = 0; i < 3; i++) stop(notes->h[SENDS + i]), stop(notes->h[RECVS + i]);
    stop(p), stop(g);
    for (unsigned i = 0; i < 3; i += 2) /* a fused pair is one work: the same times */
        for (unsigned k = SENDS; k <= RECVS; k += RECVS - SENDS)
            kernel(ctx, notes->h[k + i], i, GPU_NS + i, GPU_NS + 50 + i);
}

static void test_all_to_all(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, all_to_all);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 6);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++) {
            uint32_t x = part_of(&m, (k ? RECVS : SENDS) + i);
            assert_int_equal(t->kind[x], k ? RS_PART_RECV : RS_PART_SEND);
            assert_text(&m, t->func[x], k ? "Recv" : "Send");
            assert_int_equal(t->peer[x], i);
            assert_int_equal(t->group[x], handle_of(0));
            assert_int_equal(t->launch[x], handle_of(1));
            assert_int_equal(t->channels[x], 1);
            bool self = i == 1;
            assert_int_equal(t->flags[x], RS_PART_STOPPED | RS_PART_LAUNCHED | (self ? RS_PART_SELF : 0));
            assert_int_equal(t->start[x], self ? RS_TIME_NONE : (int64_t)(GPU_NS + i));
            assert_int_equal(t->end[x], self ? RS_TIME_NONE : (int64_t)(GPU_NS + 50 + i));
            assert_int_equal(t->channels_seen[x], !self);
        }
    assert_int_equal(m.domains[m.members[0].gpu].stale, 0);
    rs_model_free(&m);
}

/* ---- reference 5.7: capture and replay ---- */

static void *replay(void *ctx)
{
    for (unsigned i = 0; i < 3; i++) {
        void *p = notes->h[10 + i] = start(ctx, RS_GROUP), *c[2];
        for (unsigned k = 0; k < 2; k++)
            notes->h[20 + 2 * i + k] = c[k] =
                start(ctx, RS_COLL, .parent = notes->h[1 + k], .group = p, .seq = 2 * i + k, .func = "AllReduce",
                      .dtype = "ncclInt8", .count = 5 + k, .channels = 1);
        notes->h[30 + i] = start(ctx, RS_P2P, .parent = notes->h[3], .group = p, .func = "Send", .dtype = "ncclInt8",
                                 .count = 1, .peer = 1);
        for (unsigned k = 0; k < 2; k++) {
            stop(c[k]);
            kernel(ctx, c[k], 0, GPU_NS + 1000000 * i + 10000 * k, GPU_NS + 1000000 * i + 10000 * k + 100);
        }
        stop(p);
    }
    return NULL;
}

static void captured(void)
{
    void *ctx = init(HASH, "world", 2, 0), *g = start(ctx, RS_GROUP_API, .captured = true);
    for (unsigned k = 0; k < 2; k++)
        stop(notes->h[1 + k] = start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8",
                                     .count = 5 + k, .captured = true));
    stop(notes->h[3] =
             start(ctx, RS_P2P_API, .parent = g, .func = "Send", .dtype = "ncclInt8", .count = 1, .captured = true));
    stop(start(ctx, RS_KERNEL_LAUNCH, .parent = g)); /* recorded as a node, not run */
    stop(g);
    notes->h[0] = g;
    on_thread(replay, ctx);
    /* An eager one on the same communicator is none of the captured ones. */
    void *e = start(ctx, RS_GROUP_API);
    void *a = start(ctx, RS_COLL_API, .parent = e, .func = "AllReduce", .dtype = "ncclInt8", .count = 9);
    stop(start(ctx, RS_KERNEL_LAUNCH, .parent = e));
    notes->h[4] = start(ctx, RS_COLL, .parent = a, .group = start(ctx, RS_GROUP), .seq = 6, .func = "AllReduce",
                        .dtype = "ncclInt8", .count = 9);
}

static void test_captured(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, captured);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 10); /* the calls are no parts of their own */
    int64_t before = m.procs[0].first;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 3; k++) {
            uint32_t x = part_of(&m, k < 2 ? 20 + 2 * i + k : 30 + i);
            assert_int_equal(t->captured[x], k < 2 ? k + 1 : 1); /* calls of point to point count apart */
            assert_int_equal(t->replay[x], i);
            assert_int_equal(t->flags[x], RS_PART_CAPTURED | (k < 2 ? RS_PART_STOPPED : 0));
            assert_int_equal(t->launch[x], handle_of(10 + i));
            assert_int_equal(t->group[x], handle_of(10 + i)); /* not the call's: that was once */
            assert_int_equal(t->launched[x], RS_TIME_NONE);
            assert_true(t->enqueued[x] > before); /* of the replay, not of the capture */
            before = t->enqueued[x];
            if (k < 2) assert_int_equal(t->end[x], GPU_NS + 1000000 * i + 10000 * k + 100);
        }
    }
    uint32_t eager = part_of(&m, 4);
    assert_int_equal(t->captured[eager], 0);
    assert_int_equal(t->replay[eager], 0);
    assert_int_equal(t->flags[eager], RS_PART_LAUNCHED);
    /* Replays say nothing of when they were launched: no lower bounds. */
    assert_int_equal(m.domains[m.members[0].gpu].bounds->lower[0].d, RS_TIME_NONE);
    rs_model_free(&m);
}

/* Without proxy work the operation is told once, at the capture. Its launch was recorded as a node: it bounds nothing. */
static void captured_once(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    void *a = start(ctx, RS_COLL_API, .func = "AllReduce", .dtype = "ncclInt8", .captured = true);
    stop(start(ctx, RS_KERNEL_LAUNCH));
    notes->h[0] = start(ctx, RS_COLL, .parent = a, .group = start(ctx, RS_GROUP), .func = "AllReduce",
                        .dtype = "ncclInt8", .channels = 1);
    kernel(ctx, notes->h[0], 0, GPU_NS, GPU_NS + 9);
}

static void test_captured_once(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, captured_once);
    assert_int_equal(m.parts.n, 1);
    assert_int_equal(m.parts.flags[0], RS_PART_CAPTURED | RS_PART_LAUNCHED | RS_PART_UNREPORTED);
    assert_int_equal(m.parts.captured[0], 1);
    assert_int_equal(m.domains[m.members[0].gpu].bounds->lower[0].d, RS_TIME_NONE);
    rs_model_free(&m);
}

/* A plan of CUDA's thread comes between the launch and the plan of the program's own thread. */
static void *foreign_plan(void *ctx)
{
    start(ctx, RS_GROUP);
    return NULL;
}
static void two_threads(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    stop(start(ctx, RS_KERNEL_LAUNCH));
    on_thread(foreign_plan, ctx);
    notes->h[0] = start(ctx, RS_COLL, .group = start(ctx, RS_GROUP), .func = "AllReduce", .dtype = "ncclInt8");
}
static void test_two_threads(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, two_threads);
    assert_int_equal(m.parts.n, 1);
    assert_true(m.parts.launched[0] != RS_TIME_NONE && m.parts.flags[0] & RS_PART_LAUNCHED);
    assert_int_equal(m.parts.enqueued[0], RS_TIME_NONE); /* its call is not known */
    rs_model_free(&m);
}

/* ---- operations of which there is less ---- */

static void less(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    for (unsigned i = 0; i < 3; i++) { /* broadcasts on NCCL 2.29 and 2.30; symmetric kernels */
        void *g = notes->h[3 + i] = start(ctx, RS_GROUP_API);
        stop(notes->h[i] = start(ctx, RS_COLL_API, .parent = g, .func = i == 1 ? "AllReduce" : "Broadcast",
                                 .dtype = "ncclFloat32", .count = 100 + i, .root = 1));
        stop(g);
    }
    void *a = start(ctx, RS_COLL_API, .func = "AllGather", .dtype = "ncclFloat32", .count = 77);
    stop(a);
    notes->h[6] =
        start(ctx, RS_CE_COLL, .parent = a, .func = "AllGather", .dtype = "ncclFloat32", .count = 77, .seq = 4);
    stop(start(ctx, RS_CE_SYNC, .parent = notes->h[6]));
    stop(start(ctx, RS_CE_BATCH, .parent = notes->h[6]));
    stop(notes->h[6]);
    /* A call of point to point that became nothing: it has no peer, so nobody can say whose it is. */
    stop(start(ctx, RS_P2P_API, .func = "Send", .dtype = "ncclInt8", .count = 1));
}

static void test_less(void **unused)
{
    (void)unused;
    for (api = 6; api <= 7; api++) {
        struct rs_model m;
        play(&m, less);
        const struct rs_parts *t = &m.parts;
        assert_int_equal(t->n, 4);
        static const uint64_t seqs[] = {0, 0, 1};
        for (unsigned i = 0; i < 3; i++) {
            uint32_t x = part_of(&m, i);
            assert_int_equal(t->kind[x], RS_PART_API);
            assert_text(&m, t->func[x], i == 1 ? "AllReduce" : "Broadcast");
            assert_int_equal(t->seq[x], seqs[i]); /* as the function is called */
            assert_int_equal(t->count[x], 100 + i);
            assert_int_equal(t->peer[x], 1);
            assert_int_equal(t->group[x], handle_of(3 + i));
            assert_int_equal(t->flags[x], 0);
            assert_true(t->enqueued[x] > m.procs[0].first && t->enqueued[x] < m.procs[0].last);
            assert_int_equal(t->start[x], RS_TIME_NONE);
        }
        uint32_t ce = part_of(&m, 6);
        assert_int_equal(t->kind[ce], RS_PART_CE);
        assert_int_equal(t->seq[ce], 4);
        assert_int_equal(t->count[ce], 77);
        assert_int_equal(t->flags[ce], RS_PART_STOPPED);
        assert_int_equal(t->start[ce], RS_TIME_NONE);
        assert_true(t->enqueued[ce] > t->enqueued[part_of(&m, 2)] && t->enqueued[ce] < m.procs[0].last);
        rs_model_free(&m);
    }
    api = 6;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_several_devices),
                                       cmocka_unit_test(test_aggregated),
                                       cmocka_unit_test(test_all_to_all),
                                       cmocka_unit_test(test_captured),
                                       cmocka_unit_test(test_captured_once),
                                       cmocka_unit_test(test_two_threads),
                                       cmocka_unit_test(test_less)};
    return cmocka_run_group_tests(tests, script_set_up, script_tear_down);
}
