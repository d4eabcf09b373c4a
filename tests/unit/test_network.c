/* Sums of network steps by state, exactly; spans that double and merge without losing anything; samples of messages; whose
 * work it was. */
#include "import/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/handle.h"
#include "import/folding.h"
#include "nccl/abi.h"

#define HOST INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)

/* ---- states of steps ---- */

enum { NONCE = 0x1234, PID = 77, MEMBER = 3 };

static struct rs_model m;
static struct rs_pxn pxn;
static struct rs_folding p;
static struct rs_assembly a;
static uint64_t coll; /* handle of an operation of member 3 */

static int set_up(void **state)
{
    (void)state;
    uint32_t proc, part;
    m = (struct rs_model){0};
    pxn = (struct rs_pxn){0};
    rs_folding_init(&p, &m, &pxn);
    rs_model_proc(&m, &proc);
    rs_model_part(&m, &part);
    rs_folds_add(&p.folds);
    m.procs[proc].nonce = NONCE;
    m.procs[proc].pid = PID;
    m.parts.member[part] = MEMBER;
    coll = rs_handle(NONCE, 1, 1);
    uint32_t row;
    rs_assembly_init(&a, &m, NULL, proc, &rs_folding_visitor, &p);
    rs_flights_add(&a.flights, coll, &row);
    struct rs_flight *f = rs_flight_at(&a.flights, row);
    f->type = RS_COLL;
    f->number = f->piece = 0;
    f->part = part;
    rs_flights_keep(&a.flights, row, false);
    enum rs_status status = RS_OK;
    rs_flights_end(&a.flights, row);
    return status == RS_OK ? 0 : -1;
}
static int tear_down(void **state)
{
    (void)state;
    rs_assembly_free(&a);
    rs_folding_free(&p);
    rs_pxn_free(&pxn);
    rs_model_free(&m);
    return 0;
}

static struct rs_folding_event *flight(uint64_t handle)
{
    return rs_folding_at(&a, rs_flights_find(&a.flights, handle));
}
static void take(const struct rs_callback *cb, int64_t at)
{
    assert_int_equal(rs_assembly_take(&a, cb, HOST + at, NULL), RS_OK);
}
static void start_op(uint64_t handle, uint64_t parent, uint32_t pid, int32_t peer, bool is_send)
{
    uint64_t args[2] = {pid | (uint64_t)(uint32_t)peer << 32, 10};
    take(&(struct rs_callback){.call = RS_CALL_START,
                               .kind = RS_K_PROXY_OP,
                               .type = RS_PROXY_OP,
                               .handle = handle,
                               .parent = parent,
                               .context = rs_handle(rs_handle_nonce(parent), RS_SLOT_CONTEXT, 1),
                               .small = 2u | (is_send ? 1u << 8 : 0),
                               .args = args},
         0);
}
static void start_step(uint64_t handle, uint64_t op, uint64_t step, int64_t at)
{
    take(&(struct rs_callback){.call = RS_CALL_START,
                               .kind = RS_K_PROXY_STEP,
                               .type = RS_PROXY_STEP,
                               .handle = handle,
                               .parent = op,
                               .small = step},
         at);
}
static void set_state(uint64_t handle, int state, uint64_t bytes, int64_t at)
{
    take(&(struct rs_callback){.call = RS_CALL_STATE,
                               .handle = handle,
                               .state = state,
                               .kind = RS_K_STATE_ARG + (unsigned)state,
                               .has_arg = true,
                               .args = &bytes},
         at);
}
static void leave(uint64_t handle, int64_t at)
{
    take(&(struct rs_callback){.call = RS_CALL_STOP, .handle = handle}, at);
}

static void test_states(void **state)
{
    (void)state;
    start_op(50, coll, PID, 8, true);
    start_op(51, coll, PID, 9, false);
    start_step(60, 50, 0, 100);
    set_state(60, RS_ST_STEP_SEND_GPU_WAIT, 999, 110); /* from the start to the first state: nobody's */
    start_step(61, 51, 0, 120);
    set_state(61, RS_ST_STEP_RECV_WAIT, 999, 150);
    set_state(60, RS_ST_STEP_SEND_PEER_WAIT, 999, 310);
    for (int i = 0; i < 5; i++) set_state(60, RS_ST_STEP_SEND_PEER_WAIT, 999, 320 + i);
    set_state(61, RS_ST_STEP_RECV_FLUSH_WAIT, 4096, 1150);
    set_state(60, RS_ST_STEP_SEND_WAIT, 1 << 20, 340);
    leave(60, 1340);
    set_state(61, RS_ST_STEP_RECV_GPU_WAIT, 999, 1155);
    leave(61, 1162);
    start_step(62, 50, 1, 2000); /* a second one adds to it; nothing to send */
    set_state(62, RS_ST_STEP_SEND_GPU_WAIT, 0, 2000);
    set_state(62, RS_ST_STEP_SEND_WAIT, 0, 2005);
    leave(62, 2006);
    rs_network_finish(&p.network, &m);
    assert_int_equal(m.nnets, 2);
    const struct rs_net *out = &m.nets[m.nets[0].peer == 8 ? 0 : 1], *in = &m.nets[m.nets[0].peer == 8 ? 1 : 0];
    assert_int_equal(out->peer, 8);
    assert_int_equal(out->member, MEMBER);
    assert_int_equal(out->gpu_ns, 200 + 5);
    assert_int_equal(out->credit_ns, 30); /* from the first SendPeerWait */
    assert_int_equal(out->send_ns, 1000 + 1);
    assert_int_equal(out->sent, 2);
    assert_int_equal(out->sent_bytes, 1 << 20);
    assert_int_equal(out->recv_ns + out->flush_ns + out->consume_ns, 0);
    assert_int_equal(out->received + out->received_bytes, 0);
    assert_int_equal(out->from, HOST + 310);
    assert_int_equal(out->to, HOST + 2006);
    assert_int_equal(in->peer, 9);
    assert_int_equal(in->recv_ns, 1000);
    assert_int_equal(in->flush_ns, 5);
    assert_int_equal(in->consume_ns, 7);
    assert_int_equal(in->received, 1);
    assert_int_equal(in->received_bytes, 4096);
    assert_int_equal(in->gpu_ns + in->credit_ns + in->send_ns, 0);
}

/* NCCL polls for a step and starts it anew each time: it stands still since the first time, unless it had come further. */
static void test_polled(void **state)
{
    (void)state;
    start_op(50, coll, PID, 8, false);
    start_step(60, 50, 0, 100);
    for (uint64_t i = 1; i < 10; i++) start_step(60 + i, 50, 0, 100 + (int64_t)i);
    assert_int_equal(flight(69)->at, HOST + 100);
    set_state(69, RS_ST_STEP_RECV_WAIT, 0, 120);
    start_step(70, 50, 0, 130);
    assert_int_equal(flight(70)->at, HOST + 130);
    assert_int_equal(flight(70)->state, -1);
    leave(70, 140);
    assert_int_equal(flight(50)->done, 1);
    assert_int_equal(a.flights.used, 1);
}

/* Time that goes back, as in a damaged recording, adds nothing. */
static void test_backwards(void **state)
{
    (void)state;
    start_op(50, coll, PID, 8, true);
    start_step(60, 50, 0, 100);
    set_state(60, RS_ST_STEP_SEND_GPU_WAIT, 0, 500);
    leave(60, 400);
    assert_int_equal(p.network.n, 1);
    assert_int_equal(p.network.rows[0].gpu_ns, 0);
}

/* Another process's work is put by under its context: told by the nonce, and where that is the same, by the pid. */
static void test_whose(void **state)
{
    (void)state;
    start_op(50, coll, PID, 8, true);
    assert_int_equal(flight(50)->flight.part, 0);
    assert_int_equal(flight(50)->member, MEMBER);
    assert_int_equal(pxn.nops, 0);
    start_op(51, rs_handle(NONCE + 1, 1, 1), PID + 1, 8, true);
    start_op(52, coll, PID + 2, 8, true);
    start_op(53, rs_handle(NONCE + 1, 1, 9), PID + 1, 8, true);
    assert_int_equal(pxn.nops, 3);
    assert_int_equal(pxn.ncontexts, 2);
    assert_int_equal(flight(51)->member, RS_FOREIGN_MEMBER | 0);
    assert_int_equal(flight(52)->member, RS_FOREIGN_MEMBER | 1);
    assert_int_equal(flight(53)->member, RS_FOREIGN_MEMBER | 0);
    assert_int_equal(flight(52)->flight.part, RS_NONE);
    assert_int_equal(rs_fold_of(&p.folds, 0)->proxies, 1);
    assert_int_equal(pxn.contexts[1].pid, PID + 2);
}

/* Damaged contexts and pids: as many owners as operations, of hosts in turns, each found again at once. */
static void test_many_owners(void **state)
{
    (void)state;
    enum { OWNERS = 500000 };
    for (uint32_t i = 0; i < 2 * OWNERS; i++) {
        uint32_t k = i % OWNERS, index;
        assert_int_equal(rs_pxn_context(&pxn, k / 4, k % 2, k % 4, &index, NULL), RS_OK);
        assert_int_equal(index, k);
    }
    assert_int_equal(pxn.ncontexts, OWNERS);
}

/* ---- rows ---- */

static struct rs_net *row_at(struct rs_network *net, struct rs_cell *cell, uint32_t member, int32_t peer, int64_t now)
{
    struct rs_net *row = NULL;
    rs_network_row(net, cell, member, peer, now, &row);
    assert_int_equal(row->member, member);
    assert_int_equal(row->peer, peer);
    assert_true(row->from <= now && row->to >= now);
    return row;
}

static void test_spans(void **state)
{
    (void)state;
    struct rs_network net = {0};
    struct rs_cell cell = {0}, other = {0};
    row_at(&net, &cell, 1, 2, HOST)->sent++;
    row_at(&net, &cell, 1, 2, HOST + SECOND - 1)->sent++;
    row_at(&net, &other, 1, -3, HOST + 5)->sent++;
    row_at(&net, &cell, 1, 2, HOST + SECOND)->sent++;
    assert_int_equal(net.n, 3);
    assert_int_equal(net.rows[0].sent, 2);
    assert_int_equal(net.rows[0].to, HOST + SECOND - 1);
    struct rs_cell fresh = {0}; /* another way to the same flow */
    row_at(&net, &fresh, 1, 2, HOST + SECOND + 1)->sent++;
    assert_int_equal(net.n, 3);
    rs_network_free(&net);
}

/* Flows over an hour: few rows, nothing lost, and every row spans no more than it says. */
static void test_merging(void **state)
{
    (void)state;
    enum { FLOWS = 10, SECONDS = 3600 };
    struct rs_network net = {0};
    struct rs_cell cells[FLOWS];
    memset(cells, 0, sizeof cells);
    for (int64_t s = 0; s < SECONDS; s++)
        for (int i = 0; i < FLOWS; i++) {
            struct rs_net *r = row_at(&net, &cells[i], 5 + (uint32_t)i % 2, i, HOST + s * SECOND + i);
            r->gpu_ns += 1;
            r->credit_ns += 2;
            r->send_ns += 3;
            r->recv_ns += 4;
            r->flush_ns += 5;
            r->consume_ns += 6;
            r->sent += 7;
            r->sent_bytes += 8;
            r->received += 9;
            r->received_bytes += 10;
        }
    /* 256 rows are 25 spans of 10 flows: an hour needs 144 s each, and doubling from 1 s on gives 256. */
    assert_int_equal(net.width, 256 * SECOND);
    assert_int_equal(net.n, FLOWS * (SECONDS / 256 + 1));
    rs_network_finish(&net, &m);
    struct rs_net sums[FLOWS];
    memset(sums, 0, sizeof sums);
    for (uint32_t k = 0; k < m.nnets; k++) {
        const struct rs_net *r = &m.nets[k];
        struct rs_net *to = &sums[r->peer];
        assert_int_equal(r->member, 5 + (uint32_t)r->peer % 2);
        assert_true(r->from <= r->to && r->to - r->from < 256 * SECOND);
        /* One a second, from `from` to `to`. */
        assert_int_equal(r->gpu_ns, (r->to - r->from) / SECOND + 1);
        to->gpu_ns += r->gpu_ns;
        to->credit_ns += r->credit_ns;
        to->send_ns += r->send_ns;
        to->recv_ns += r->recv_ns;
        to->flush_ns += r->flush_ns;
        to->consume_ns += r->consume_ns;
        to->sent += r->sent;
        to->sent_bytes += r->sent_bytes;
        to->received += r->received;
        to->received_bytes += r->received_bytes;
    }
    for (int i = 0; i < FLOWS; i++) {
        const struct rs_net *s = &sums[i];
        assert_true(s->gpu_ns == SECONDS && s->credit_ns == 2 * SECONDS && s->send_ns == 3 * SECONDS &&
                    s->recv_ns == 4 * SECONDS && s->flush_ns == 5 * SECONDS && s->consume_ns == 6 * SECONDS &&
                    s->sent == 7 * SECONDS && s->sent_bytes == 8 * SECONDS && s->received == 9 * SECONDS &&
                    s->received_bytes == 10 * SECONDS);
    }
    rs_network_free(&net);
}

/* ---- samples of messages ---- */

static void send(struct rs_network *net, struct rs_cell *cell, int32_t peer, uint64_t bytes, int64_t ns, int64_t now)
{
    row_at(net, cell, 1, peer, now);
    rs_network_message(net, cell, &(struct rs_message){1, peer, true, bytes, ns, now});
}

static int by_ns(const void *one, const void *other)
{
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)other;
    return x < y ? -1 : x > y;
}

static double median_of(const struct rs_net_sample *s)
{
    uint32_t list[RS_NET_SAMPLE];
    memcpy(list, s->ns, sizeof list);
    qsort(list, s->n, sizeof *list, by_ns);
    return ((double)list[(s->n - 1) / 2] + list[s->n / 2]) / 2;
}

/* Few messages are all there, in order; sizes and directions apart. */
static void test_few_messages(void **state)
{
    (void)state;
    struct rs_network net = {0};
    struct rs_cell cell = {0};
    for (int i = 0; i < 10; i++) send(&net, &cell, 2, 4096 + 100 * (uint64_t)i, 1000 + i, HOST + i);
    send(&net, &cell, 2, 8192, 7, HOST + 20);
    send(&net, &cell, 2, 4096, 1010, HOST + 21);
    send(&net, &cell, 2, 0, 5, HOST + 22); /* nothing was sent */
    send(&net, &cell, 2, 4096, -5, HOST + 23); /* damaged */
    rs_network_message(&net, &cell, &(struct rs_message){1, 2, false, 65536, 9, HOST + 24});
    rs_network_finish(&net, &m);
    assert_int_equal(m.nnet_samples, 3 + 1 + 1);
    uint32_t at = 0, sizes[] = {4, 4, 3, 1, 1};
    for (uint32_t i = 0; i < 5; i++) {
        const struct rs_net_sample *s = &m.net_samples[i];
        assert_int_equal(s->n, sizes[i]);
        assert_int_equal(s->messages, sizes[i]);
        assert_int_equal(s->member, 1);
        assert_int_equal(s->peer, 2);
        assert_int_equal(s->size, i < 3 ? 12 : i == 3 ? 13 : 16);
        assert_int_equal(s->sent, i < 4);
        for (uint32_t k = 0; i < 3 && k < s->n; k++) assert_int_equal(s->ns[k], 1000 + at++);
    }
    assert_int_equal(m.net_samples[1].from, HOST + 4);
    assert_int_equal(m.net_samples[1].to, HOST + 7);
    rs_network_free(&net);
}

/* Many messages: bounded, all counted, and the medians of blocks are those of their messages, within 2 % in the mean over
 * all blocks. Messages become slower over time and vary from one to three times as long; of every four the first takes
 * another four times as long (a pattern), so that the median is at two thirds of the others. */
static void test_many_messages(void **state)
{
    (void)state;
    enum { FLOWS = 30, MESSAGES = 20000 };
    struct rs_network net = {0};
    uint64_t x = 88172645463325252;
    for (int32_t flow = 0; flow < FLOWS; flow++) {
        struct rs_cell cell = {0};
        for (int i = 0; i < MESSAGES; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            double ns = (10000 + i / 2.0) * (1 + 2 * (double)(x >> 11) / 9007199254740992.0);
            send(&net, &cell, flow, 65536, (int64_t)(i % 4 ? ns : 4 * ns), HOST + i * 1000);
        }
    }
    rs_network_finish(&net, &m);
    assert_true(m.nnet_samples >= 16 * FLOWS && m.nnet_samples <= 32 * FLOWS);
    uint64_t messages = 0;
    double error = 0;
    for (uint32_t i = 0; i < m.nnet_samples; i++) {
        const struct rs_net_sample *s = &m.net_samples[i];
        if (i && s->peer != s[-1].peer) messages = 0;
        double middle = (double)messages + (double)s->messages / 2;
        double median = (10000 + middle / 2) * (1 + 2 * 2 / 3.0);
        error += (median_of(s) / median - 1) / m.nnet_samples;
        messages += s->messages;
        if (i + 1 == m.nnet_samples || s->peer != s[1].peer) assert_int_equal(messages, MESSAGES);
    }
    if (error < -0.02 || error > 0.02) fail_msg("medians are off by %.1f %%", 100 * error);
    rs_network_free(&net);
}

/* Fewer blocks for each of many flows. */
static void test_many_samples(void **state)
{
    (void)state;
    struct rs_network net = {0};
    enum { FLOWS = 1000, EACH = 200 };
    for (int i = 0; i < EACH; i++)
        for (int32_t peer = 0; peer < FLOWS; peer++) {
            struct rs_cell cell = {0};
            send(&net, &cell, peer, 1024, 5000, HOST + i);
        }
    rs_network_finish(&net, &m);
    assert_true(m.nnet_samples <= 10 * FLOWS);
    uint64_t messages = 0;
    for (uint32_t i = 0; i < m.nnet_samples; i++) messages += m.net_samples[i].messages;
    assert_int_equal(messages, FLOWS * EACH);
    rs_network_free(&net);
}

/* Steps of sends to a peer that was ready, and of receives; not those that waited for the peer's credit. */
static void test_ready(void **state)
{
    (void)state;
    start_op(50, coll, PID, 8, true);
    start_op(51, coll, PID, 9, false);
    for (uint64_t i = 0; i < 3; i++) {
        int64_t at = (int64_t)i * 100000, credit = i == 1 ? 6000 : 4000;
        start_step(60 + i, 50, i, at);
        set_state(60 + i, RS_ST_STEP_SEND_GPU_WAIT, 0, at + 1);
        set_state(60 + i, RS_ST_STEP_SEND_PEER_WAIT, 0, at + 20000);
        set_state(60 + i, RS_ST_STEP_SEND_WAIT, 4096, at + 20000 + credit);
        leave(60 + i, at + 50000 + credit);
        start_step(70 + i, 51, i, at);
        set_state(70 + i, RS_ST_STEP_RECV_WAIT, 0, at + 2);
        set_state(70 + i, RS_ST_STEP_RECV_FLUSH_WAIT, 4096, at + 2 + 700);
        leave(70 + i, at + 90000);
    }
    rs_network_finish(&p.network, &m);
    assert_int_equal(m.nnet_samples, 2);
    const struct rs_net_sample *out = &m.net_samples[m.net_samples[0].sent ? 0 : 1],
                               *in = &m.net_samples[m.net_samples[0].sent ? 1 : 0];
    assert_true(out->sent && !in->sent);
    assert_int_equal(out->messages, 2);
    assert_int_equal(out->peer, 8);
    assert_true(out->ns[0] == 30000 && out->ns[1] == 30000);
    assert_int_equal(in->messages, 3);
    assert_int_equal(in->ns[2], 700);
}

/* Many flows at once are not merged away. */
static void test_many_flows(void **state)
{
    (void)state;
    struct rs_network net = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < 5000; i++) {
            struct rs_cell cell = {0};
            row_at(&net, &cell, 1, i, HOST + i)->sent += 1;
        }
    assert_int_equal(net.n, 5000);
    for (int32_t i = 0; i < 5000; i++) assert_int_equal(net.rows[i].sent, 2);
    rs_network_free(&net);
}

/* After one process comes another: nothing of the first is left, nor is a cell of then good now. */
static void test_anew(void **state)
{
    (void)state;
    struct rs_network net = {0};
    struct rs_cell old = {0}, cell = {0};
    row_at(&net, &old, 1, 2, HOST)->sent++;
    rs_network_finish(&net, &m);
    assert_int_equal(m.nnets, 1);
    row_at(&net, &cell, 7, 8, HOST - 5 * SECOND)->sent++;
    row_at(&net, &old, 1, 2, HOST - 5 * SECOND + 1)->sent++;
    assert_int_equal(net.n, 2);
    assert_int_equal(net.rows[0].sent, 1);
    rs_network_free(&net);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_states),       TEST(test_backwards),     TEST(test_polled),
                                       TEST(test_whose),        TEST(test_many_owners),   TEST(test_spans),
                                       TEST(test_merging),      TEST(test_many_flows),    TEST(test_anew),
                                       TEST(test_few_messages), TEST(test_many_messages), TEST(test_many_samples),
                                       TEST(test_ready)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
