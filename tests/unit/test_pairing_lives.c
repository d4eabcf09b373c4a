/* What is open when a recording ends, processes that are killed or live on, and GPU timers that are not to be believed:
 * from callbacks to the model. */
#include <signal.h>

#include "script.h"

#define GPU_NS UINT64_C(1756135989724672000)
#define HASH UINT64_C(0x9999aaaabbbbcccc)
#define SECOND_NS UINT64_C(1000000000) /* far more than a test may be held up */

static void *coll(void *ctx, uint64_t seq, unsigned channels)
{
    void *g = start(ctx, RS_GROUP_API);
    void *a = start(ctx, RS_COLL_API, .parent = g, .func = "AllReduce", .dtype = "ncclInt8", .count = 3);
    stop(a);
    stop(start(ctx, RS_KERNEL_LAUNCH, .parent = g));
    void *p = start(ctx, RS_GROUP);
    void *c = notes->h[seq] = start(ctx, RS_COLL, .parent = a, .group = p, .seq = seq, .func = "AllReduce",
                                    .dtype = "ncclInt8", .count = 3, .channels = channels);
    stop(c);
    stop(p);
    stop(g);
    return c;
}

/* ---- open ---- */

/* The network is done and the kernel has not stopped. Nothing was lost: it still runs. */
static void kernel_runs_on(void)
{
    void *ctx = init(HASH, "world", 2, 0), *c = coll(ctx, 0, 1);
    start(ctx, RS_KERNEL_CH, .parent = c, .channel = 0, .timer = GPU_NS);
    void *o = start(ctx, RS_PROXY_OP, .parent = c, .peer = 1, .nsteps = 1, .channel = 0, .is_send = true);
    state_plain(o, RS_ST_OP_IN_PROGRESS);
    stop(o);
}

static void test_kernel_runs_on(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, kernel_runs_on);
    uint32_t i = part_of(&m, 0);
    assert_true(m.procs[0].complete);
    assert_int_equal(m.parts.start[i], GPU_NS);
    assert_int_equal(m.parts.end[i], RS_TIME_NONE);
    assert_true(m.parts.flags[i] & RS_PART_OPEN);
    rs_model_free(&m);
}

/* Some transports' proxy operations never stop (H6). Reference 5.9: an abort leaves steps as they are. */
static void never_stopped(void)
{
    void *ctx = init(HASH, "world", 2, 0), *c[4];
    for (unsigned i = 0; i < 4; i++) c[i] = coll(ctx, i, 2);
    /* 0: kernels tell all; a proxy operation stays open. */
    start(ctx, RS_PROXY_OP, .parent = c[0], .peer = 1, .nsteps = 4, .channel = 9);
    kernel(ctx, c[0], 0, GPU_NS, GPU_NS + 10);
    kernel(ctx, c[0], 1, GPU_NS + 1, GPU_NS + 11);
    /* 1: one of two channels does not end. */
    kernel(ctx, c[1], 0, GPU_NS + 10000, GPU_NS + 10010);
    start(ctx, RS_KERNEL_CH, .parent = c[1], .channel = 1, .timer = GPU_NS + 10001);
    /* 2: the second channel is announced and not seen. */
    void *q = start(ctx, RS_KERNEL_CH, .parent = c[2], .channel = 0, .timer = GPU_NS + 20000);
    state_with(q, RS_ST_KERNEL_CH_STOP, GPU_NS + 20010); /* it has ended, though its stop has not come */
    /* 3: no kernel; a send of whose 4 steps two are done, one waits for credit, one for its GPU. */
    void *o = start(ctx, RS_PROXY_OP, .parent = c[3], .peer = 1, .nsteps = 4, .channel = 6, .is_send = true), *s[4];
    state_plain(o, RS_ST_OP_IN_PROGRESS);
    for (int i = 0; i < 4; i++) {
        s[i] = start(ctx, RS_PROXY_STEP, .parent = o, .step = i);
        state_with(s[i], RS_ST_STEP_SEND_GPU_WAIT, 0);
    }
    for (int i = 0; i < 2; i++) state_with(s[i], RS_ST_STEP_SEND_WAIT, 8), stop(s[i]);
    state_with(s[2], RS_ST_STEP_SEND_PEER_WAIT, 8);
    nap_us(3000);
    state_with(s[2], RS_ST_STEP_SEND_PEER_WAIT, 8); /* a retry is no change */
    finalize(ctx);
}

static const struct rs_open *open_of(const struct rs_model *m, uint32_t part, uint64_t type, int32_t step)
{
    const struct rs_open *found = NULL;
    for (uint32_t i = 0; i < m->nopens; i++) {
        const struct rs_open *o = &m->opens[i];
        if (o->part != part || o->type != type || o->step != step) continue;
        assert_null(found);
        found = o;
    }
    assert_non_null(found);
    return found;
}

static void test_open(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, never_stopped);
    const struct rs_parts *t = &m.parts;
    uint32_t i[4];
    for (unsigned k = 0; k < 4; k++) i[k] = part_of(&m, k);
    assert_int_equal(m.nopens, 5);

    assert_int_equal(t->end[i[0]], GPU_NS + 11);
    const struct rs_open *o = open_of(&m, i[0], RS_PROXY_OP, -1);
    assert_int_equal(o->channel, 9);
    assert_int_equal(o->peer, 1);
    assert_int_equal(o->steps, 4);
    assert_int_equal(o->done, 0);
    assert_false(o->is_send);

    assert_int_equal(t->start[i[1]], GPU_NS + 10000);
    assert_int_equal(t->end[i[1]], RS_TIME_NONE);
    assert_int_equal(t->end_source[i[1]], RS_FROM_NOTHING);
    assert_int_equal(t->after[i[1]], GPU_NS + 10010);
    assert_int_equal(t->after_source[i[1]], RS_FROM_KERNEL);
    assert_int_equal(t->flags[i[1]],
                     RS_PART_STOPPED | RS_PART_LAUNCHED | RS_PART_OPEN | RS_PART_KERNEL_OPEN | RS_PART_UNFINISHED);
    assert_int_equal(open_of(&m, i[1], RS_KERNEL_CH, -1)->channel, 1);

    assert_int_equal(t->end[i[2]], RS_TIME_NONE);
    assert_int_equal(t->channels[i[2]], 2);
    assert_int_equal(t->channels_seen[i[2]], 1);
    assert_int_equal(t->flags[i[2]], RS_PART_STOPPED | RS_PART_LAUNCHED | RS_PART_UNFINISHED);

    assert_int_equal(t->start_source[i[3]], RS_FROM_PROXY);
    assert_int_equal(t->end[i[3]], RS_TIME_NONE);
    assert_int_equal(t->after[i[3]], t->start[i[3]]);
    assert_int_equal(t->after_source[i[3]], RS_FROM_PROXY);
    assert_int_equal(t->flags[i[3]], RS_PART_STOPPED | RS_PART_LAUNCHED | RS_PART_OPEN | RS_PART_NET);
    o = open_of(&m, i[3], RS_PROXY_OP, -1);
    assert_int_equal(o->done, 2);
    assert_true(o->is_send);
    const struct rs_open *credit = open_of(&m, i[3], RS_PROXY_STEP, 2), *gpu = open_of(&m, i[3], RS_PROXY_STEP, 3);
    assert_int_equal(credit->state, RS_ST_STEP_SEND_PEER_WAIT);
    assert_int_equal(gpu->state, RS_ST_STEP_SEND_GPU_WAIT);
    assert_int_equal(gpu->channel, 6);
    assert_int_equal(gpu->peer, 1);
    assert_int_equal(gpu->steps, 4);
    assert_int_equal(gpu->done, 2);
    assert_true(gpu->is_send);
    assert_true(gpu->since < o->since && o->since < credit->since);
    assert_true(m.procs[0].last - credit->since > 2000000); /* not since the retry */
    rs_model_free(&m);
}

/* A receive that is polled for stands still since its first start. */
static void polled(void)
{
    void *ctx = init(HASH, "world", 2, 0), *c = coll(ctx, 0, 1);
    void *o = start(ctx, RS_PROXY_OP, .parent = c, .peer = 1, .nsteps = 4);
    for (int i = 0; i < 20; i++) {
        start(ctx, RS_PROXY_STEP, .parent = o, .step = 0);
        nap_us(200);
    }
}

static void test_polled(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, polled);
    assert_int_equal(m.nopens, 2);
    const struct rs_open *s = open_of(&m, 0, RS_PROXY_STEP, 0);
    assert_int_equal(s->state, -1);
    assert_true(m.procs[0].last - s->since > 3000000);
    rs_model_free(&m);
}

/* ---- processes that did not end well ---- */

static void begin_to_hang(void)
{
    void *ctx = init(HASH, "world", 2, 0);
    for (unsigned i = 0; i < 5; i++)
        kernel(ctx, coll(ctx, i, 1), 0, GPU_NS + SECOND_NS * i, GPU_NS + SECOND_NS * i + 9);
    notes->h[10] = start(ctx, RS_COLL_API, .func = "Broadcast", .dtype = "ncclInt8", .count = 3); /* as on 2.29 */
    /* The calls that it hangs in: their operations never come. */
    for (unsigned i = 11; i < 13; i++)
        notes->h[i] = start(ctx, RS_COLL_API, .func = "AllReduce", .dtype = "ncclInt8", .count = 3);
}

static void killed(void)
{
    begin_to_hang();
    raise(SIGKILL);
}

static void check_hung(const struct rs_model *m)
{
    const struct rs_parts *t = &m->parts;
    assert_int_equal(t->n, 8);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t x = part_of(m, i);
        assert_int_equal(t->seq[x], i);
        assert_int_equal(t->end[x], GPU_NS + SECOND_NS * i + 9);
    }
    uint32_t api_only = part_of(m, 10);
    assert_int_equal(t->kind[api_only], RS_PART_API);
    assert_int_equal(t->seq[api_only], 0);
    assert_int_equal(t->flags[api_only], 0);
    for (unsigned i = 11; i < 13; i++) {
        uint32_t hung = part_of(m, i);
        assert_int_equal(t->kind[hung], RS_PART_COLL);
        assert_int_equal(t->seq[hung], i - 6); /* the next of its function: 5, 6 */
        assert_int_equal(t->flags[hung], RS_PART_OPEN);
        assert_int_equal(t->start[hung], RS_TIME_NONE);
    }
}

static void test_killed(void **unused)
{
    (void)unused;
    struct rs_model m;
    play_until(&m, killed, SIGKILL);
    assert_int_equal(m.procs[0].ended, RS_END_KILLED);
    check_hung(&m);
    rs_model_free(&m);
}

static int to_test[2], to_child[2];

static void lives_on(void)
{
    char c = 0;
    begin_to_hang();
    if (write(to_test[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1) _exit(9);
}

static void test_alive(void **unused)
{
    (void)unused;
    empty_folder();
    memset(notes, 0, sizeof *notes);
    assert_int_equal(pipe(to_test) | pipe(to_child), 0);
    pid_t child = play_begin(lives_on);
    char c = 0;
    assert_int_equal(read(to_test[0], &c, 1), 1);
    struct rs_model m;
    read_model(&m);
    assert_int_equal(write(to_child[1], &c, 1), 1);
    play_end(child, 0);
    assert_int_equal(m.procs[0].ended, RS_END_ALIVE);
    check_hung(&m);
    rs_model_free(&m);
    read_model(&m); /* afterwards, it ended well: the call is all that there was */
    assert_int_equal(m.procs[0].ended, RS_END_WELL);
    assert_int_equal(m.parts.kind[part_of(&m, 11)], RS_PART_API);
    assert_int_equal(m.parts.flags[part_of(&m, 11)], 0);
    rs_model_free(&m);
    for (int i = 0; i < 2; i++) close(to_test[i]), close(to_child[i]);
}

/* The same number again in the same process is another communicator. */
static void again(void)
{
    for (unsigned i = 0; i < 2; i++) {
        void *ctx = init(HASH, "world", 2, 1);
        coll(ctx, i, 1);
        finalize(ctx);
    }
}

static void test_again(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, again);
    assert_int_equal(m.ncomms, 2);
    const struct rs_member *a = &m.members[m.parts.member[part_of(&m, 0)]],
                           *b = &m.members[m.parts.member[part_of(&m, 1)]];
    assert_int_equal(m.comms[a->comm].incarnation, 0);
    assert_int_equal(m.comms[b->comm].incarnation, 1);
    assert_int_equal(m.comms[b->comm].hash, HASH);
    assert_true(a->destroyed < b->created);
    rs_model_free(&m);
}

/* ---- timers of older work ---- */

static uint64_t gpu_now(void)
{
    return (uint64_t)raw_ns() + GPU_NS;
}

/* What the GPU does in a while, as one channel tells it afterwards: from and to are noted. */
static void work(unsigned n)
{
    notes->ns[2 * n] = (int64_t)gpu_now();
    nap_us(500);
    notes->ns[2 * n + 1] = (int64_t)gpu_now();
}
static void tell(void *ctx, void *c, unsigned channel, unsigned n)
{
    kernel(ctx, c, channel, (uint64_t)notes->ns[2 * n], (uint64_t)notes->ns[2 * n + 1]);
}

static void stale(void)
{
    void *ctx = init(HASH, "world", 2, 0), *c[6];
    c[0] = coll(ctx, 0, 2);
    work(0);
    tell(ctx, c[0], 0, 0);
    tell(ctx, c[0], 1, 0);
    c[1] = coll(ctx, 1, 2);
    c[2] = coll(ctx, 2, 1);
    work(1);
    tell(ctx, c[1], 0, 0); /* the triple of before; the other channel tells its own */
    tell(ctx, c[1], 1, 1);
    /* 2: launched long since, but before the end of the launch before. */
    kernel(ctx, c[2], 0, (uint64_t)notes->ns[2] + 250000, gpu_now());
    /* 3: stop before start. */
    c[3] = coll(ctx, 3, 1);
    kernel(ctx, c[3], 0, gpu_now(), (uint64_t)notes->ns[3]);
    /* 4: fine again. */
    c[4] = coll(ctx, 4, 1);
    work(4);
    tell(ctx, c[4], 0, 4);
    nap_us(10000);
    /* 5: later than all before, but it was launched 9 ms after that. */
    c[5] = coll(ctx, 5, 1);
    kernel(ctx, c[5], 0, (uint64_t)notes->ns[9] + 1000000, (uint64_t)notes->ns[9] + 1000001);
}

static void test_stale(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, stale);
    const struct rs_parts *t = &m.parts;
    static const bool marked[] = {false, true, true, true, false, true};
    for (unsigned k = 0; k < 6; k++) assert_int_equal(!!(t->flags[part_of(&m, k)] & RS_PART_STALE), marked[k]);
    assert_int_equal(t->start[part_of(&m, 0)], notes->ns[0]);
    assert_int_equal(t->end[part_of(&m, 0)], notes->ns[1]);
    /* The start comes from the other channel, which began with it; the end is not known, but it was not before. */
    uint32_t x = part_of(&m, 1);
    assert_int_equal(t->start[x], notes->ns[2]);
    assert_int_equal(t->start_source[x], RS_FROM_KERNEL);
    assert_int_equal(t->end[x], RS_TIME_NONE);
    assert_int_equal(t->after[x], notes->ns[3]);
    assert_int_equal(t->channels_seen[x], 2);
    assert_int_equal(t->flags[x], RS_PART_STOPPED | RS_PART_LAUNCHED | RS_PART_STALE);
    static const unsigned none[] = {2, 5};
    for (unsigned k = 0; k < 2; k++) {
        x = part_of(&m, none[k]);
        assert_int_equal(t->start[x], RS_TIME_NONE);
        assert_int_equal(t->start_source[x], RS_FROM_NOTHING);
        assert_int_equal(t->end[x], RS_TIME_NONE);
    }
    assert_int_equal(t->end[part_of(&m, 3)], RS_TIME_NONE);
    assert_int_equal(t->start[part_of(&m, 4)], notes->ns[8]);
    assert_int_equal(t->end[part_of(&m, 4)], notes->ns[9]);
    const struct rs_domain *gpu = &m.domains[m.members[0].gpu];
    assert_int_equal(gpu->timers, 8);
    assert_int_equal(gpu->stale, 4);
    assert_int_equal(gpu->overruns, 0);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernel_runs_on), cmocka_unit_test(test_open),
                                       cmocka_unit_test(test_polled),         cmocka_unit_test(test_killed),
                                       cmocka_unit_test(test_alive),          cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_stale)};
    return cmocka_run_group_tests(tests, script_set_up, script_tear_down);
}
