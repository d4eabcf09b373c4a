/* Dumps of the example profiler: real ones whose story is known, lines of every version, and damage. */
#include "foreign/example/example.h"
#include "foreign/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"

#define DATA "tests/data/example/"
#define RING UINT64_C(12715772615376301750)
#define WHOLE UINT64_C(4417262467163427312)
#define EVEN UINT64_C(17943097139690744235)
#define ODD UINT64_C(5801567698727252458)

static void open_dump(struct rs_example *d, const char *name, uint64_t comm, int rank)
{
    struct rs_err err = {0};
    char path[256];
    snprintf(path, sizeof path, DATA "%s_%llu_%d.json%s", name, (unsigned long long)comm, rank,
             strcmp(name, "ddp4/exdump") ? "" : ".gz");
    if (rs_example_open(d, path, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(d->broken.code, RS_OK);
    assert_true(d->named && d->closed && d->comm == comm && d->rank == rank);
    assert_int_equal(d->strays + d->unclosed + d->strange + d->damaged, 0);
}

static const char *name_of(const struct rs_example *d, const struct rs_example_event *e)
{
    return rs_texts_at(&d->texts, e->name);
}

/* ---- ring4-p2p: one process, four GPUs ---- */

static void test_ring_operations(void **state)
{
    (void)state;
    struct rs_example d;
    open_dump(&d, "ring4/nccl_example_plugin_point_to_point", RING, 0);
    assert_int_equal(d.pid, 3937375);
    assert_int_equal(d.counts[RS_EX_P2P], 8);
    assert_int_equal(d.counts[RS_EX_KERNEL], 128);
    assert_int_equal(d.nranks, 4);
    unsigned sends[4] = {0}, receives[4] = {0}, kernels[4][2] = {{0}}, launch = 0;
    static const uint64_t streams[4] = {0x4142e90, 0x4142e50, 0x420aa70, 0x262ca50};
    for (uint32_t i = 0; i < d.n; i++) {
        const struct rs_example_event *e = &d.events[i];
        assert_true(e->closed && e->pid == 3937375);
        if (e->kind == RS_EX_P2P) {
            assert_true(e->comm == RING && e->who == RS_EX_WHO_OWN && e->work.count == 268435456);
            assert_int_equal(e->work.peer, e->work.is_send ? (e->rank + 1) % 4 : (e->rank + 3) % 4);
            assert_string_equal(rs_texts_at(&d.texts, e->work.dtype), "ncclFloat32");
            (e->work.is_send ? sends : receives)[e->rank]++;
            const struct rs_example_event *call = &d.events[e->parent];
            assert_true(call->kind == RS_EX_P2P_API && call->who == RS_EX_WHO_CHILD && call->rank == e->rank);
            assert_true(call->begin == RS_TIME_NONE && call->end > 0 && call->call.stream == streams[e->rank]);
            assert_string_equal(rs_texts_at(&d.texts, call->call.dtype), "ncclFloat32");
        }
        if (e->kind == RS_EX_KERNEL) {
            const struct rs_example_event *op = &d.events[e->op];
            assert_true(e->parent == e->op && op->kind == RS_EX_P2P && e->rank == op->rank && e->comm == RING);
            assert_true(e->kernel.stop == 0 && e->end == RS_TIME_NONE &&
                        e->kernel.start > UINT64_C(1765223000000000000));
            kernels[e->rank][op->work.is_send]++;
        }
        if (e->kind == RS_EX_LAUNCH) { /* launches 0 to 3 are those of ranks 3 to 0 */
            assert_int_equal(e->rank, 3 - (int)launch++);
            assert_int_equal(e->who, RS_EX_WHO_STREAM);
            assert_true(e->begin == RS_TIME_NONE && e->end != RS_TIME_NONE);
        }
    }
    assert_int_equal(launch, 4);
    for (int r = 0; r < 4; r++) {
        assert_true(sends[r] == 1 && receives[r] == 1 && kernels[r][0] == 16 && kernels[r][1] == 16);
        assert_true(d.ranks[r].stream == streams[d.ranks[r].rank] && d.ranks[r].of_file == (d.ranks[r].rank == 0));
    }
    assert_true(d.events[0].kind == RS_EX_GROUP_API && d.events[0].who == RS_EX_WHO_FILE);
    assert_int_equal(d.events[0].begin, 1467846534);
    rs_example_close(&d);
}

static void test_ring_bounds(void **state)
{
    (void)state;
    static const int64_t ends[] = {1827149591, 1822436480, 1817480801, 1826698151};
    static const int64_t destroyed[] = {2354325190, 2355952827, 2355410758, 2354411980};
    struct rs_example all, d;
    open_dump(&all, "ring4/nccl_example_plugin_point_to_point", RING, 0);
    for (int r = 0; r < 4; r++) {
        int64_t started = RS_TIME_NONE;
        for (uint32_t i = 0; i < all.n; i++)
            if (all.events[i].kind == RS_EX_KERNEL && all.events[i].rank == r && all.events[i].begin > started)
                started = all.events[i].begin;
        open_dump(&d, "ring4/nccl_example_plugin_point_to_point", RING, r);
        assert_int_equal(rs_example_sleep_after(&d, started), ends[r]);
        assert_int_equal(rs_example_destroyed(&d), destroyed[r]);
        assert_int_equal(rs_example_sleep_after(&d, ends[r] + 1), RS_TIME_NONE);
        if (r) assert_int_equal(d.n, d.counts[RS_EX_PROXY_CTRL]);
        rs_example_close(&d);
    }
    rs_example_close(&all);
}

/* ---- h200-oneprocess4: three communicators, everything in two files ---- */

static void test_one_process(void **state)
{
    (void)state;
    struct rs_example d;
    open_dump(&d, "oneprocess4/v28", WHOLE, 0);
    assert_int_equal(d.counts[RS_EX_COLL], 12);
    assert_int_equal(d.counts[RS_EX_P2P], 4);
    assert_int_equal(d.counts[RS_EX_KERNEL], 192);
    assert_int_equal(d.nranks, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(d.ranks[i].comm == WHOLE && d.ranks[i].colls == 3 && d.ranks[i].p2ps == 1);
    }
    unsigned calls[4] = {0}, launches[4] = {0};
    for (uint32_t i = 0; i < d.n; i++) { /* receives and later sends found no room, but their streams are known */
        const struct rs_example_event *e = &d.events[i];
        if (e->who == RS_EX_WHO_NONE) fail_msg("event %u (%s) is nobody's", i, name_of(&d, e));
        if (e->kind == RS_EX_P2P_API) calls[e->rank]++;
        if (e->kind == RS_EX_LAUNCH) launches[e->rank]++;
    }
    for (int r = 0; r < 4; r++) assert_true(calls[r] == 6 && launches[r] == 6);
    rs_example_close(&d);

    open_dump(&d, "oneprocess4/v28", EVEN, 0);
    assert_int_equal(d.counts[RS_EX_COLL_API], 24);
    assert_int_equal(d.counts[RS_EX_COLL], 10);
    assert_int_equal(d.nranks, 4);
    unsigned of[2][2] = {{0}};
    for (uint32_t i = 0; i < d.nranks; i++) {
        const struct rs_example_rank *r = &d.ranks[i];
        assert_true((r->comm == EVEN || r->comm == ODD) && (r->rank == 0 || r->rank == 1));
        of[r->comm == ODD][r->rank] += r->colls;
        assert_int_equal(r->of_file, r->comm == EVEN && r->rank == 0);
    }
    assert_true(of[0][0] == 2 && of[0][1] == 2 && of[1][0] == 3 && of[1][1] == 3);
    for (uint32_t i = 0; i < d.n; i++) assert_true(d.events[i].who != RS_EX_WHO_NONE);
    rs_example_close(&d);

    static const struct {
        uint64_t comm;
        int rank;
    } quiet[] = {{WHOLE, 1}, {WHOLE, 2}, {WHOLE, 3}, {EVEN, 1}, {ODD, 0}, {ODD, 1}};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        open_dump(&d, "oneprocess4/v28", quiet[i].comm, quiet[i].rank);
        assert_true(d.nranks == 1 && d.ranks[0].of_file && d.n == d.counts[RS_EX_PROXY_CTRL] && d.pid == 692);
        assert_true(d.events[0].who == RS_EX_WHO_FILE && d.events[0].comm == quiet[i].comm);
        /* the thread of EVEN was woken for work last, and not seen asleep again */
        assert_int_equal(rs_example_destroyed(&d) == RS_TIME_NONE, quiet[i].comm == EVEN);
        rs_example_close(&d);
    }
}

/* ---- h200-ddp4: packed, with network ---- */

static void test_ddp(void **state)
{
    (void)state;
    struct rs_example d;
    open_dump(&d, "ddp4/exdump", UINT64_C(8668739830752950994), 2);
    static const uint32_t truth[RS_EX_KINDS] = {
        [RS_EX_GROUP_API] = 88,  [RS_EX_LAUNCH] = 88, [RS_EX_COLL_API] = 72, [RS_EX_COLL] = 72,
        [RS_EX_P2P_API] = 80,    [RS_EX_P2P] = 80,    [RS_EX_KERNEL] = 194,  [RS_EX_PROXY_OP] = 664,
        [RS_EX_PROXY_CTRL] = 16, [RS_EX_NET] = 9300};
    assert_memory_equal(d.counts, truth, sizeof truth);
    assert_true(d.pid == 423 && d.nranks == 1 && d.ranks[0].colls == 72 && d.ranks[0].p2ps == 80);
    uint32_t in_kernels = 0, waits[9] = {0};
    for (uint32_t i = 0; i < d.n; i++) {
        const struct rs_example_event *e = &d.events[i];
        assert_true(e->who != RS_EX_WHO_NONE && e->comm == d.comm && e->rank == 2);
        in_kernels += e->kind == RS_EX_PROXY_OP && d.events[e->parent].kind == RS_EX_KERNEL;
        if (e->kind == RS_EX_NET) waits[e->net.wait]++;
        if (e->kind == RS_EX_NET) assert_true(d.events[e->parent].kind == RS_EX_PROXY_OP && e->op != RS_NONE);
    }
    assert_int_equal(in_kernels, 664);
    assert_true(!waits[RS_EX_WAIT_OTHER] && waits[RS_EX_SEND_WAIT] == waits[RS_EX_SEND_GPU_WAIT]);
    const struct rs_example_event *op = &d.events[3]; /* group, launch, call, then the first operation */
    assert_true(op->kind == RS_EX_COLL && op->work.seq == 0 && op->work.count == 8 && op->work.nchannels == 1);
    assert_string_equal(name_of(&d, op), "AllGather");
    assert_string_equal(rs_texts_at(&d.texts, op->work.algo), "RING");
    assert_true(op[1].kernel.start == UINT64_C(1794704823410268992) &&
                op[1].kernel.stop == UINT64_C(1794704823416455424));
    assert_true(op[2].proxy.phase == RS_EX_SCHEDULE && op[2].proxy.peer == 1 && op[2].proxy.bytes == 48 &&
                !op[2].proxy.is_send && op[3].proxy.phase == RS_EX_PROGRESS && op[4].net.wait == RS_EX_RECV_WAIT);
    assert_int_equal(rs_example_destroyed(&d), INT64_C(7533634619));
    rs_example_close(&d);
    open_dump(&d, "ddp4/exdump", UINT64_C(15116978122082331235), 0);
    assert_true(d.counts[RS_EX_COLL] == 8 && d.counts[RS_EX_KERNEL] == 16 && d.counts[RS_EX_NET] == 384);
    rs_example_close(&d);
}

/* ---- lines of every version ---- */

#define LINE(name, cat, ph, ts, args)                                                                                  \
    "{\"name\": \"" name "\", \"cat\": \"" cat "\", \"ph\": \"" ph                                                     \
    "\", \"id\": 0, \"pid\": 9, \"tid\": 1, \"ts\": " ts args "},\n"
#define ARGS(text) ", \"args\": {" text "}"

static void parse(struct rs_example *d, const char *path, const char *text)
{
    struct rs_err err = {0};
    if (rs_example_parse(d, path, text, strlen(text), &err) != RS_OK) fail_msg("%s", err.msg);
}

/* 2.23 to 2.26: a name without communicator, numbers for datatypes, states inside of a proxy operation. */
static void test_old(void **state)
{
    (void)state;
    static const char text[] = "[\n" LINE("Group", "GROUP", "b", "1.0", ARGS("\"groupId\": 4")) LINE(
        "AllReduce", "COLL", "b", "2.5",
        ARGS("\"SeqNum\": 7, \"CommHash\": 18446744073709551615, \"Rank\": 3, \"Count\": 5, \"Datatype\": 7, "
             "\"Algorithm\": \"RING\", \"Protocol\": \"LL\", \"nMaxChannels\": 2"))
        LINE(
            "Send", "PROXY", "b", "3.0",
            ARGS("\"Channel\": 1, \"Peer\": 2, \"Steps\": 4, \"ChunkSize\": 64, \"transSize\": 5000000000, \"POSTED\": "
                 "{\"step\": 4, \"ts\": 3.25}, \"REM_FIFO_WAIT\": {\"step\": 3, \"ts\": 0.000000}, \"DONE\": "
                 "{\"step\": 4, "
                 "\"ts\": 9.000001}")) LINE("SendBufferWait", "NET", "b", "4", ARGS("\"Step\": 0"))
            LINE("SendBufferWait", "NET", "e", "5", "") LINE("Send", "PROXY", "e", "10.0", "")
                LINE("AllReduce", "COLL", "e", "2.75", "") LINE("Group", "GROUP", "e", "11", "")
                    LINE("Sleep", "PROXY", "b", "12", "") LINE("Sleep", "PROXY", "e", "0.000000", "") "{}]\n";
    struct rs_example d;
    parse(&d, "dump-host_1-77.txt", text);
    assert_true(d.n == 5 && !d.named && d.rank == 3 && d.comm == UINT64_MAX && d.broken.code == RS_OK);
    const struct rs_example_event *e = d.events;
    assert_true(e[0].group.id == 4 && e[0].who == RS_EX_WHO_FILE && e[0].end == 11000);
    assert_string_equal(rs_texts_at(&d.texts, e[1].work.dtype), "ncclFloat32");
    assert_true(e[1].work.seq == 7 && e[1].work.nchannels == 2 && e[1].begin == 2500 && e[1].end == 2750);
    assert_true(e[2].proxy.phase == RS_EX_WHOLE && e[2].proxy.is_send && e[2].proxy.bytes == 5000000000);
    assert_true(e[2].proxy.at[RS_EX_POSTED] == 3250 && e[2].proxy.done[RS_EX_POSTED] == 4);
    assert_true(e[2].proxy.at[RS_EX_WAITED] == RS_TIME_NONE && e[2].proxy.done[RS_EX_WAITED] == 3);
    assert_true(e[2].proxy.at[RS_EX_TRANSMITTED] == RS_TIME_NONE && e[2].proxy.done[RS_EX_TRANSMITTED] == -1);
    assert_true(e[2].proxy.at[RS_EX_DONE] == 9000 && e[3].net.wait == RS_EX_SEND_BUFFER_WAIT && e[3].op == 1);
    assert_true(e[4].who == RS_EX_WHO_FILE && e[4].end == RS_TIME_NONE && e[4].closed);
    assert_int_equal(rs_example_destroyed(&d), RS_TIME_NONE);
    rs_example_close(&d);
}

/* A receive is posted, received, passed on to the GPU, done: each with its own time and steps. */
static void test_old_receive(void **state)
{
    (void)state;
    static const char text[] =
        "[\n" LINE("Recv", "PROXY", "b", "3.0",
                   ARGS("\"Channel\": 1, \"Peer\": 2, \"Steps\": 9, \"ChunkSize\": 64, \"POSTED\": {\"step\": "
                        "9, \"ts\": 3.25}, \"RECEIVED\": {\"step\": 8, \"ts\": 4.5}, \"TRANSMITTED\": "
                        "{\"step\": 7, \"ts\": 5.5}, \"DONE\": {\"step\": 6, \"ts\": 6.5}"))
            LINE("Recv", "PROXY", "e", "10.0", "") "{}]\n";
    static const int64_t at[RS_EX_STATES] = {
        [RS_EX_POSTED] = 3250, [RS_EX_WAITED] = 4500, [RS_EX_TRANSMITTED] = 5500, [RS_EX_DONE] = 6500};
    static const int32_t steps[RS_EX_STATES] = {
        [RS_EX_POSTED] = 9, [RS_EX_WAITED] = 8, [RS_EX_TRANSMITTED] = 7, [RS_EX_DONE] = 6};
    struct rs_example d;
    parse(&d, "dump-host_1-77.txt", text);
    assert_true(d.n == 1 && d.events[0].proxy.phase == RS_EX_WHOLE && !d.events[0].proxy.is_send);
    assert_memory_equal(d.events[0].proxy.at, at, sizeof at);
    assert_memory_equal(d.events[0].proxy.done, steps, sizeof steps);
    rs_example_close(&d);
}

static void test_new(void **state)
{
    (void)state;
    static const char text[] = "[\n" LINE(
        "AllGather", "COLL_API", "b", "1",
        ARGS("\"count\": 3, \"datatype\": \"ncclInt8\", \"root\": 0, \"GraphCaptured\": 1, \"Stream\": \"0x55d0\""))
        LINE("AllGather", "CE_COLL", "b", "1.5",
             ARGS("\"eventId\": 6, \"count\": 3, \"datatype\": \"ncclInt8\", \"strategy\": \"MC\", \"start_ts_cpu\": "
                  "1.500000, \"stop_ts_cpu\": 2.500000, \"duration_cpu_us\": 1.000000, \"duration_gpu_us\": 12"))
            LINE("CeBatch", "CE_BATCH", "b", "1.6",
                 ARGS("\"eventId\": 6, \"numOps\": 2, \"totalBytes\": 99")) LINE("CeBatch", "CE_BATCH", "e", "1.7", "")
                LINE("AllGather", "CE_COLL", "e", "2.5", "") LINE("AllGather", "COLL_API", "e", "3", "") LINE(
                    "Qp", "NET_IB", "b", "4",
                    ARGS("\"device\": 1, \"qp_num\": 70, \"opcode\": 2, \"wr_id\": 18446744073709551614, \"size\": 8"))
                    LINE("KernelPhase", "PHASE", "b", "4.5", ARGS("\"userTag\": {\"a\": [1, {}]}, \"Channel\": 1"))
                        LINE("KernelPhase", "PHASE", "e", "4.6", "") LINE("Qp", "NET_IB", "e", "5", "")
                            LINE("Sock", "NET_SOCK", "b", "6", ARGS("\"sock\": 33, \"op\": 1, \"size\": 4"))
                                LINE("Sock", "NET_SOCK", "e", "7", "") "{}]\n";
    struct rs_example d;
    parse(&d, "/x/y_00000000000000ff_2.json.zst", text);
    assert_true(d.n == 6 && d.comm == 255 && d.rank == 2 && d.broken.code == RS_OK);
    const struct rs_example_event *e = d.events;
    assert_true(e[0].call.stream == 0x55d0 && e[0].call.captured == 1 && e[0].who == RS_EX_WHO_FILE);
    assert_true(e[1].ce.id == 6 && e[1].ce.cpu_end == 2500 && e[1].ce.cpu_ns == 1000 && e[1].ce.gpu_us == 12);
    assert_true(e[1].who == RS_EX_WHO_PARENT && e[2].op == 1 && e[2].ce.nops == 2 && e[2].ce.bytes == 99);
    assert_true(e[3].wire.qp == 70 && e[3].wire.wr_id == UINT64_MAX - 1 && e[3].who == RS_EX_WHO_NONE);
    assert_true(e[4].kind == RS_EX_OTHER && e[4].parent == 3 && e[5].wire.sock == 33 && e[5].parent == RS_NONE);
    rs_example_close(&d);
}

/* ---- names, recognising, damage ---- */

static void test_names(void **state)
{
    (void)state;
    uint64_t comm;
    int32_t rank;
    assert_true(rs_example_name("a/b_18446744073709551615_12.json.gz", &comm, &rank) && comm == UINT64_MAX &&
                rank == 12);
    assert_true(rs_example_name("nccl_example_7f8c496ae9f661_0.json", &comm, &rank) && comm == 35901568996472417);
    assert_true(rs_example_name("_0xAB_1.json", &comm, &rank) && comm == 0xab && rank == 1);
    static const char *const no[] = {"a.json",
                                     "kineto_rank0.json",
                                     "x_1_.json",
                                     "x__1.json",
                                     "x_1_2.txt",
                                     "x_1_9999999999.json",
                                     "x_fffffffffffffffff_1.json",
                                     "1_2.json",
                                     "",
                                     "x_1_2.json/y"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (rs_example_name(no[i], &comm, &rank)) fail_msg("%s is a name", no[i]);
    struct rs_example d; /* its operations say that these digits are hex */
    parse(&d, "x_10_0.json",
          "[" LINE("Send", "P2P", "b", "1", ARGS("\"CommHash\": 16, \"Rank\": 0, \"Peer\": 1")) "{}]");
    assert_true(d.comm == 16 && d.nranks == 1);
    rs_example_close(&d);
}

static bool is(const char *path, const char *text)
{
    return rs_example_is(path, text, strlen(text));
}

static void test_recognise(void **state)
{
    (void)state;
    assert_true(is("x", "[\n" LINE("Idle", "PROXY", "b", "1.0", "")));
    assert_true(is("x_1_0.json", "[\n{}]\n"));
    assert_false(is("x.json", "[\n{}]\n"));
    assert_false(is("x_1_0.json", "{\"traceEvents\": [" LINE("Idle", "PROXY", "b", "1.0", "")));
    assert_false(is("x_1_0.json", "[" LINE("aten::mm", "cpu_op", "b", "1.0", "")));
    assert_false(is("x_1_0.json", "[{\"name\": \"Idle\", \"cat\": \"PROXY\", \"ph\": \"X\"}]"));
    assert_false(is("x_1_0.json", "[1, 2]"));
    assert_false(is("x_1_0.json", ""));
}

static void test_damage(void **state)
{
    (void)state;
    static const char text[] = "[\n" LINE("Group API", "GROUP_API", "b", "1", ARGS("\"groupApiId\": 0"))
        LINE("Send", "P2P", "b", "2", ARGS("\"CommHash\": 5, \"Rank\": 0, \"Peer\": 1"))
            LINE("Send", "P2P", "e", "3", "") LINE("Group API", "GROUP_API", "e", "4", "") "{}]\n";
    struct rs_err err = {0};
    struct rs_example d;
    for (size_t n = 1; n < sizeof text - 1; n++) { /* cut anywhere: what was whole is there */
        if (rs_example_parse(&d, "x_5_0.json", text, n, &err) != RS_OK) {
            assert_true(err.code == RS_BAD_INPUT && strstr(err.msg, "x_5_0.json"));
            assert_true(n < strlen("[\n" LINE("Group API", "GROUP_API", "b", "1", ARGS("\"groupApiId\": 0"))));
            continue;
        }
        assert_true(d.n >= 1 && d.n <= 2 && d.events[0].begin == 1000);
        if (!d.closed) assert_true(d.broken.code == RS_BAD_INPUT && strstr(d.broken.msg, "x_5_0.json: at byte "));
        rs_example_close(&d);
    }
    /* A line that breaks off in the middle costs itself; an end without a begin is counted. */
    parse(&d, "x_5_0.json",
          "[\n" LINE("Idle", "PROXY", "b", "1", "") "{\"name\": \"Idle\", \"cat\": \"PROXY\",\n" LINE("Sleep", "PROXY",
                                                                                                      "b", "2", "")
              LINE("Sleep", "PROXY", "e", "3", "") LINE("Append", "PROXY", "e", "3", "") "{}]\n");
    assert_true(d.n == 2 && d.events[1].end == 3000 && d.unclosed == 1 && d.strays == 1 && d.damaged == 1);
    assert_non_null(strstr(d.broken.msg, "breaks off"));
    rs_example_close(&d);
    assert_int_equal(rs_example_parse(&d, "x", "hello", 5, &err), RS_BAD_INPUT);
    assert_int_equal(rs_example_open(&d, DATA "none_1_2.json", &err), RS_NOT_FOUND);
    rs_example_close(&d);
}

/* Begin lines without ends, very many: bounded nesting, no quadratic time. */
static void test_deep(void **state)
{
    (void)state;
    static const char line[] = "{\"name\":\"RecvWait\",\"cat\":\"NET\",\"ph\":\"b\",\"ts\":1},";
    size_t n = 200000, size = sizeof line - 1;
    char *text = malloc(n * size + 1);
    struct rs_err err = {0};
    struct rs_example d;
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < n; i++) memcpy(text + 1 + i * size, line, size);
    assert_int_equal(rs_example_parse(&d, "x", text, n * size + 1, &err), RS_OK);
    assert_true(d.n == n && d.unclosed == n && d.events[n - 1].parent == n - 2);
    rs_example_close(&d);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_operations),
        cmocka_unit_test(test_ring_bounds),
        cmocka_unit_test(test_one_process),
        cmocka_unit_test(test_ddp),
        cmocka_unit_test(test_old),
        cmocka_unit_test(test_old_receive),
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_recognise),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
