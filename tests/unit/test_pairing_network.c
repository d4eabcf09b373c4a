/* Proxy operations and network steps: from callbacks to the rows of the network, to starts and ends that only they tell,
 * and, where another process did them (PXN), to their owner. */
#include "script.h"

#define GPU_NS UINT64_C(1756135989724672000)
#define HASH UINT64_C(0x5555666677778888)

enum { COLL, OTHER, CTX, RECV_OP, SEND_OP, STEP };

/* In two stretches together. */
static void check_spent_twice(int64_t ns, unsigned from, unsigned to, unsigned from2, unsigned to2)
{
    struct spent a = spent(from, to), b = spent(from2, to2);
    check_within(ns, (struct spent){a.least + b.least, a.most + b.most});
}

/* Reference 5.2: one receive, of which a step is started again and again, and one send that waits for credit. */
static void play_proxy(void *ctx)
{
    void *c = notes->h[COLL];
    void *in = start(ctx, RS_PROXY_OP, .parent = c, .rank = 1, .peer = 0, .nsteps = 1, .channel = 3);
    void *out = start(ctx, RS_PROXY_OP, .parent = c, .rank = 1, .peer = 2, .nsteps = 2, .channel = 3, .is_send = true);
    TIMED(0, state_plain(in, RS_ST_OP_IN_PROGRESS));
    state_plain(out, RS_ST_OP_IN_PROGRESS);
    void *s = NULL;
    for (int i = 0; i < 1000; i++) s = start(ctx, RS_PROXY_STEP, .parent = in, .step = 0);
    TIMED(1, state_with(s, RS_ST_STEP_RECV_WAIT, 999));
    nap_us(3000);
    TIMED(2, state_with(s, RS_ST_STEP_RECV_FLUSH_WAIT, 4096));
    nap_us(2000);
    TIMED(3, state_with(s, RS_ST_STEP_RECV_GPU_WAIT, 4096));
    nap_us(1000);
    TIMED(4, stop(s));
    for (int step = 0; step < 2; step++) {
        void *t = start(ctx, RS_PROXY_STEP, .parent = out, .step = step);
        TIMED(5, state_with(t, RS_ST_STEP_SEND_GPU_WAIT, 4096));
        nap_us(step ? 0 : 2500);
        TIMED(6, state_with(t, RS_ST_STEP_SEND_PEER_WAIT, 4096));
        for (int i = 0; i < 50; i++) state_with(t, RS_ST_STEP_SEND_PEER_WAIT, 4096); /* every retry */
        nap_us(step ? 0 : 3500);
        for (int i = 0; i < 50; i++) state_with(t, RS_ST_STEP_SEND_PEER_WAIT, 4096);
        TIMED(7, state_with(t, RS_ST_STEP_SEND_WAIT, step ? 17 : 1000));
        nap_us(step ? 0 : 1500);
        TIMED(8, stop(t));
        if (!step) memcpy(notes->ns + 30, notes->ns + 10, 8 * sizeof *notes->ns); /* TIMED 5 to 8 -> 15 to 18 */
    }
    stop(in);
    TIMED(9, stop(out));
}

static void remote(void)
{
    void *ctx = init(HASH, "world", 3, 1);
    notes->h[CTX] = ctx;
    notes->h[COLL] = start(ctx, RS_COLL, .rank = 1, .group = start(ctx, RS_GROUP), .func = "AllReduce",
                           .dtype = "ncclInt8", .count = 1, .channels = 1);
    notes->h[OTHER] = start(ctx, RS_COLL, .rank = 1, .func = "AllReduce", .dtype = "ncclInt8", .seq = 1);
    play_proxy(ctx);
}

static const struct rs_net *row_of(const struct rs_model *m, int32_t peer)
{
    const struct rs_net *found = NULL;
    for (uint32_t i = 0; i < m->nnets; i++)
        if (m->nets[i].peer == peer) {
            assert_null(found);
            found = &m->nets[i];
        }
    assert_non_null(found);
    return found;
}

static void check_rows(const struct rs_model *m, uint32_t member)
{
    assert_int_equal(m->nnets, 2);
    const struct rs_net *in = row_of(m, 0), *out = row_of(m, 2);
    assert_int_equal(in->member, member);
    assert_int_equal(out->member, member);
    assert_int_equal(in->received, 1); /* not a thousand */
    assert_int_equal(in->received_bytes, 4096); /* not what the other states carry */
    assert_int_equal(in->sent + in->sent_bytes, 0);
    check_spent(in->recv_ns, 1, 2);
    check_spent(in->flush_ns, 2, 3);
    check_spent(in->consume_ns, 3, 4);
    assert_int_equal(in->gpu_ns + in->credit_ns + in->send_ns, 0);
    assert_int_equal(out->sent, 2);
    assert_int_equal(out->sent_bytes, 1017);
    assert_int_equal(out->received + out->received_bytes, 0);
    assert_int_equal(out->recv_ns + out->flush_ns + out->consume_ns, 0);
    check_spent_twice(out->gpu_ns, 5, 6, 15, 16);
    check_spent_twice(out->credit_ns, 6, 7, 16, 17); /* from the first SendPeerWait to SendWait */
    check_spent_twice(out->send_ns, 7, 8, 17, 18);
    assert_true(in->from <= in->to && out->from <= out->to);
}

static void test_remote(void **unused)
{
    (void)unused;
    for (api = 4; api <= 7; api++) {
        struct rs_model m;
        play(&m, remote);
        const struct rs_parts *t = &m.parts;
        uint32_t i = part_of(&m, COLL), other = part_of(&m, OTHER);
        check_rows(&m, t->member[i]);
        assert_int_equal(t->flags[i], RS_PART_NET);
        assert_int_equal(t->start_source[i], RS_FROM_PROXY);
        assert_int_equal(t->end_source[i], RS_FROM_PROXY); /* KernelCh is off */
        check_spent(t->end[i] - t->start[i], 0, 9); /* first in progress to last stop */
        assert_int_equal(rs_part_end_domain(&m, i), m.hosts[0].domain);
        assert_int_equal(t->flags[other], 0);
        assert_int_equal(t->start[other], RS_TIME_NONE);
        assert_int_equal(m.nopens, 0); /* the 999 are not open */
        rs_model_free(&m);
    }
    api = 6;
}

/* Before v4 steps say neither that they wait for credit nor how many bytes: states are there all the same. */
static void test_remote_old(void **unused)
{
    (void)unused;
    api = 3;
    struct rs_model m;
    play(&m, remote);
    const struct rs_net *in = row_of(&m, 0);
    check_spent(in->recv_ns, 1, 2);
    assert_int_equal(in->received_bytes, 0);
    assert_int_equal(m.parts.end_source[part_of(&m, COLL)], RS_FROM_PROXY);
    rs_model_free(&m);
    api = 6;
}

/* With KernelCh, times are the GPU's, whatever the proxy says. */
static void with_kernels(void)
{
    remote();
    kernel(notes->h[CTX], notes->h[COLL], 3, GPU_NS, GPU_NS + 77);
}

static void test_with_kernels(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, with_kernels);
    uint32_t i = part_of(&m, COLL);
    assert_int_equal(m.parts.start[i], GPU_NS);
    assert_int_equal(m.parts.end[i], GPU_NS + 77);
    assert_int_equal(m.parts.start_source[i], RS_FROM_KERNEL);
    assert_int_equal(m.parts.end_source[i], RS_FROM_KERNEL);
    assert_int_equal(m.parts.flags[i], RS_PART_NET);
    check_rows(&m, m.parts.member[i]);
    rs_model_free(&m);
}

/* ---- PXN: the operation is one process's, the proxy another's ---- */

static int to_helper[2];

static void owner(void)
{
    void *other = init(HASH + 1, "other", 3, 2); /* must not be taken for the one that is meant */
    void *ctx = notes->h[CTX] = init(HASH, "world", 3, 1);
    start(other, RS_COLL, .rank = 2, .func = "AllReduce", .dtype = "ncclInt8", .count = 1);
    notes->h[COLL] = start(ctx, RS_COLL, .rank = 1, .group = start(ctx, RS_GROUP), .func = "AllReduce",
                           .dtype = "ncclInt8", .count = 1, .channels = 1);
    notes->pid = getpid();
    if (write(to_helper[1], "x", 1) != 1) _exit(9);
}

/* Proxy operations and their steps come with the owner's context, its operation, and its pid. */
static void helper_stuck(void)
{
    void *ctx = notes->h[CTX];
    void *o = start(ctx, RS_PROXY_OP, .parent = notes->h[OTHER], .rank = 1, .peer = 0, .nsteps = 9, .channel = 5,
                    .pid = notes->pid);
    void *s = start(ctx, RS_PROXY_STEP, .parent = o, .step = 4);
    state_with(s, RS_ST_STEP_RECV_WAIT, 0);
}

static void helper(void)
{
    char c;
    if (read(to_helper[0], &c, 1) != 1) _exit(9);
    init(HASH, "world", 3, 0);
    /* play_proxy() passes our own pid: as under pid namespaces, the nonce must do. */
    play_proxy(notes->h[CTX]);
}

static void play_pxn(struct rs_model *m, bool helper_first)
{
    empty_folder();
    memset(notes, 0, sizeof *notes);
    assert_int_equal(pipe(to_helper), 0);
    /* Recordings of a host are read by pid. */
    pid_t one = play_begin(helper_first ? helper : owner), two = play_begin(helper_first ? owner : helper);
    play_end(one, 0);
    play_end(two, 0);
    close(to_helper[0]);
    close(to_helper[1]);
    read_model(m);
    if (m->procs[0].nonce != m->procs[1].nonce) return;
    rs_model_free(m); /* by chance: then play_proxy()'s pid is as wrong as its nonce is right */
    play_pxn(m, helper_first);
}

static void test_pxn(void **unused)
{
    (void)unused;
    for (int helper_first = 0; helper_first < 2; helper_first++) {
        struct rs_model m;
        play_pxn(&m, helper_first);
        const struct rs_parts *t = &m.parts;
        assert_int_equal(m.nprocs, 2);
        assert_int_equal(t->n, 2);
        uint32_t i = part_of(&m, COLL), p = m.members[t->member[i]].proc;
        assert_int_equal(m.procs[p].pid, notes->pid);
        assert_int_equal(t->flags[i], RS_PART_HELPED | RS_PART_NET);
        assert_int_equal(t->helper[i], 1 - p);
        assert_int_equal(t->start_source[i], RS_FROM_PROXY);
        assert_int_equal(t->end_source[i], RS_FROM_PROXY);
        check_spent(t->end[i] - t->start[i], 0, 9);
        assert_int_equal(m.members[t->member[i]].rank, 1);
        check_rows(&m, t->member[i]); /* at the owner's member */
        assert_int_equal(m.nnotes, 0);
        uint32_t other = 1 - i;
        assert_int_equal(t->flags[other], 0);
        assert_int_equal(t->helper[other], RS_NONE);
        rs_model_free(&m);
    }
}

/* The owner's own kernels know better; what hangs in the helper is the owner's. */
static void owner_with_kernel(void)
{
    owner();
    kernel(notes->h[CTX], notes->h[COLL], 0, GPU_NS, GPU_NS + 5);
    notes->h[OTHER] = start(notes->h[CTX], RS_COLL, .rank = 1, .func = "AllReduce", .dtype = "ncclInt8", .seq = 1);
}

static void helper_of_both(void)
{
    helper();
    helper_stuck();
}

static void test_pxn_open(void **unused)
{
    (void)unused;
    empty_folder();
    memset(notes, 0, sizeof *notes);
    assert_int_equal(pipe(to_helper), 0);
    play_end(play_begin(owner_with_kernel), 0);
    play_end(play_begin(helper_of_both), 0);
    close(to_helper[0]);
    close(to_helper[1]);
    struct rs_model m;
    read_model(&m);
    uint32_t i = part_of(&m, COLL), j = part_of(&m, OTHER);
    assert_int_equal(m.parts.start[i], GPU_NS);
    assert_int_equal(m.parts.end[i], GPU_NS + 5);
    assert_int_equal(m.parts.end_source[i], RS_FROM_KERNEL);
    assert_int_equal(m.parts.flags[i], RS_PART_HELPED | RS_PART_NET);
    assert_int_equal(m.parts.flags[j], RS_PART_HELPED | RS_PART_NET | RS_PART_OPEN);
    assert_int_equal(m.parts.end[j], RS_TIME_NONE);
    assert_int_equal(m.parts.start_source[j], RS_FROM_PROXY);
    assert_int_equal(m.nopens, 2);
    uint32_t helper_proc = 1 - m.members[m.parts.member[i]].proc;
    for (uint32_t k = 0; k < 2; k++) {
        const struct rs_open *o = &m.opens[k];
        assert_int_equal(o->part, j);
        assert_int_equal(o->proc, helper_proc);
        assert_int_equal(o->channel, 5);
        assert_int_equal(o->peer, 0);
        assert_int_equal(o->steps, 9);
        assert_int_equal(o->step, o->type == RS_PROXY_STEP ? 4 : -1);
        assert_int_equal(o->state, o->type == RS_PROXY_STEP ? RS_ST_STEP_RECV_WAIT : -1);
    }
    rs_model_free(&m);
}

/* The owner's recording is not here: nothing is made up, and it is said. */
static void orphan(void)
{
    uintptr_t mine = (uintptr_t)init(HASH, "world", 3, 0), foreign = mine ^ (uintptr_t)1 << 48; /* another nonce */
    void *ctx = (void *)foreign;
    notes->h[COLL] = (void *)(foreign & ~((uintptr_t)0xfff << 36)); /* of slot 0 */
    play_proxy(ctx);
}

static void test_pxn_alone(void **unused)
{
    (void)unused;
    struct rs_model m;
    play(&m, orphan);
    assert_int_equal(m.parts.n, 0);
    assert_int_equal(m.nnets, 0);
    assert_int_equal(m.nnotes, 1);
    assert_non_null(strstr(m.notes[0].text, "2 proxy operations"));
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_remote),       cmocka_unit_test(test_remote_old),
                                       cmocka_unit_test(test_with_kernels), cmocka_unit_test(test_pxn),
                                       cmocka_unit_test(test_pxn_open),     cmocka_unit_test(test_pxn_alone)};
    return cmocka_run_group_tests(tests, script_set_up, script_tear_down);
}
