/* Exports of Nsight Systems into the model: known jobs, written with SQLite, come out as they were put in. */
#ifdef RS_NO_SQLITE

int main(void)
{
    return 0; /* this build cannot read them, and says so: tests/system/nsys.sh */
}

#else

#include "foreign/formats.h"
#include "join/join.h"
#include "nsys_made.h"

enum { RANKS = 4, STEPS = 20 };
static const uint64_t world = 0x7f8c496ae9f661, half = 0x1122334455667788;

static struct rs_model model;
static struct rs_other others[RANKS];

static void fill(const struct made *made, size_t n)
{
    struct rs_other *files[RANKS];
    struct rs_fill f = {.model = &model, .files = files, .n = n};
    struct rs_err err;
    model = (struct rs_model){0};
    for (size_t i = 0; i < n; i++) {
        others[i] = (struct rs_other){.path = (char *)made[i].path, .complete = true};
        files[i] = &others[i];
    }
    if (rs_nsys_fill(&f, &err) != RS_OK) fail_msg("%s", err.msg);
    rs_model_link(&model);
    if (rs_join(&model, true, &err) != RS_OK) fail_msg("%s", err.msg);
}

static void done(struct made *made, size_t n)
{
    rs_model_free(&model);
    for (size_t i = 0; i < n; i++) unlink(made[i].path);
}

/* The axis of all clocks may lie some ns beside that of the session. */
static bool is_near(int64_t ns, int64_t since)
{
    return ns >= EPOCH + since - 300 && ns <= EPOCH + since + 300;
}

static uint32_t count_parts(uint8_t kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < model.parts.n; i++) n += model.parts.kind[i] == kind;
    return n;
}

/* Step s of rank r: compute, an all-reduce that rank 2 comes late to, and every fifth step a ring of sends in a group.
 * The sessions began at different times, and rank 1's clock is 3 ms ahead. */
static int64_t session(int rank)
{
    return EPOCH + rank * INT64_C(1000000000) + (rank == 1 ? 3000000 : 0);
}

static void make_rank(struct made *x, int rank)
{
    char host[8];
    snprintf(host, sizeof host, "n%d", rank / 2);
    make_export(x, 1000 + (uint64_t)rank, host, session(rank));
    int64_t zero = INT64_C(10000000000) - rank * INT64_C(1000000000); /* the job's zero on the session's clock */
    add_init(x, world, (uint32_t)rank, RANKS, (uint32_t)rank % 2, zero);
    for (int s = 0; s < STEPS; s++) {
        int64_t at = zero + (s + 1) * 1000000, late = rank == 2 ? 300000 : rank * 1000;
        add_kernel(x, at, 5, rank % 2, at + 10, at + 20000 + late);
        add_range(x, 7, at + 100, at + 200, "ncclAllReduce", 5, hex(world, 4194304, 0, 0));
        add_kernel(x, at + 150, 1, rank % 2, at + 20100 + late, at + 400000 + s);
        if (s % 5) continue;
        add_range(x, 7, at + 500000, at + 500010, "ncclGroupStart", 0, NULL);
        add_range(x, 7, at + 500020, at + 500030, "ncclSend", 9, hex(world, 1024, (uint32_t)(rank + 1) % RANKS, 0));
        add_range(x, 7, at + 500040, at + 500050, "ncclRecv", 9,
                  hex(world, 1024, (uint32_t)(rank + RANKS - 1) % RANKS, 0));
        add_range(x, 7, at + 500060, at + 500100, "ncclGroupEnd", 0, NULL);
        add_kernel(x, at + 500070, 3, rank % 2, at + 510000, at + 520000);
    }
    close_export(x);
}

static void test_job_joins(void **state)
{
    (void)state;
    struct made made[RANKS];
    for (int r = 0; r < RANKS; r++) make_rank(&made[r], r);
    fill(made, RANKS);
    uint32_t colls = 0, pairs = 0;
    assert_int_equal(model.nprocs, RANKS);
    assert_int_equal(model.ncomms, 1);
    assert_true(model.comms[0].hash == world && !model.comms[0].made_up && model.comms[0].nranks == RANKS);
    assert_int_equal(count_parts(RS_PART_COLL), RANKS * STEPS);
    assert_int_equal(count_parts(RS_PART_SEND), RANKS * STEPS / 5);
    for (uint32_t i = 0; i < model.ops.n; i++) {
        colls += model.ops.kind[i] == RS_OP_COLL;
        pairs += model.ops.kind[i] == RS_OP_PAIR;
        if (model.ops.kind[i] == RS_OP_COLL) {
            assert_int_equal(model.ops.nparts[i], RANKS);
            assert_int_equal(model.ops.bytes[i], 4194304);
            assert_true(model.ops.flags[i] & RS_OP_COMPLETE);
            assert_false(model.ops.flags[i] & RS_OP_MISMATCH);
            assert_true(model.ops.flags[i] & RS_OP_CLOCKED);
            /* Rank 2 was last, 299 us behind the others: the 3 ms of rank 1's clock are gone. */
            assert_int_equal(model.members[model.parts.member[model.ops.last_part[i]]].rank, 2);
            assert_in_range(model.ops.last[i] - model.ops.first[i], 290000, 310000);
        } else if (model.ops.kind[i] == RS_OP_PAIR) {
            assert_int_equal(model.ops.nparts[i], 2);
            assert_int_equal(model.ops.dst[i], (model.ops.root[i] + 1) % RANKS);
            assert_int_equal(model.ops.bytes[i], 1024);
        }
    }
    assert_int_equal(colls, STEPS);
    assert_int_equal(pairs, RANKS * STEPS / 5);
    for (uint32_t i = 0; i < model.parts.n; i++) {
        assert_true(model.parts.enqueued[i] < model.parts.launched[i] || model.parts.kind[i] != RS_PART_COLL);
        assert_true(model.parts.launched[i] < model.parts.start[i]);
        assert_int_equal(model.parts.start_source[i], RS_FROM_KERNEL);
    }
    for (uint32_t i = 0; i < RANKS; i++) assert_true(others[i].complete && others[i].proc == i);
    done(made, RANKS);
}

static void test_activities(void **state)
{
    (void)state;
    struct made made[1];
    uint32_t kinds[RS_ACTIVITY_KINDS] = {0};
    make_export(&made[0], 55, "n0", EPOCH);
    add_kernel(&made[0], 1000, 5, 0, 2000, 3000);
    sql(&made[0],
        "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);"
        "INSERT INTO ThreadNames VALUES(6, 0, %lld)",
        global(&made[0], 7));
    sql(&made[0],
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
        " correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(3500, 3600, 0, 7, 99, %lld, 4096, 1)",
        global(&made[0], 0));
    sql(&made[0], "INSERT INTO NVTX_EVENTS VALUES(500,4000,59,'forward',%lld,NULL,0,NULL,NULL)", global(&made[0], 7));
    close_export(&made[0]);
    fill(made, 1);
    for (uint32_t i = 0; i < model.activities.n; i++) kinds[model.activities.kind[i]]++;
    assert_int_equal(kinds[RS_ACT_COMPUTE], 1);
    assert_int_equal(kinds[RS_ACT_COPY], 1);
    assert_int_equal(kinds[RS_ACT_LAUNCH], 1);
    assert_int_equal(kinds[RS_ACT_RANGE], 1);
    for (uint32_t i = 0; i < model.activities.n; i++) {
        const struct rs_lane *lane = &model.lanes[model.activities.lane[i]];
        if (model.activities.kind[i] == RS_ACT_COMPUTE) {
            assert_true(model.activities.launch[i] != RS_NONE && lane->kind == RS_LANE_STREAM && lane->id == 20);
            assert_true(model.activities.start[i] == EPOCH + 2000 && model.domains[lane->domain].rigid);
        }
        if (model.activities.kind[i] == RS_ACT_COPY) {
            assert_int_equal(model.activities.bytes[i], 4096);
            assert_string_equal(rs_model_name_text(&model, model.activities.name[i]), "[CUDA memcpy HtoD]");
        }
        if (model.activities.kind[i] == RS_ACT_RANGE) assert_string_equal(lane->name, "worker");
    }
    assert_int_equal(model.parts.n, 0);
    assert_int_equal(model.nnotes, 1); /* no operation of NCCL in it */
    done(made, 1);
}

/* A captured all-reduce, whose graph runs three times; eager ones before and after. Numbers go on through all of
 * them. */
static void test_graph(void **state)
{
    (void)state;
    struct made made[1];
    struct made *x = &made[0];
    make_export(x, 55, "n0", EPOCH);
    add_init(x, world, 0, 1, 0, 10);
    add_range(x, 7, 1000, 1100, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    add_kernel(x, 1050, 1, 0, 1500, 1600);
    add_range(x, 7, 2000, 2100, "ncclAllReduce", 5, hex(world, 128, 0, 0)); /* captured */
    sql(x,
        "CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, graphNodeId INTEGER,"
        " originalGraphNodeId INTEGER);"
        "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES(2050, 2051, %lld, 11, NULL), (3000, 3001, %lld, 22, 11)",
        global(x, 7), global(x, 7));
    for (int i = 0; i < 3; i++) {
        int64_t at = 4000 + 1000 * i;
        sql(x, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(%lld,%lld,%lld,%d,4)", (long long)at, (long long)at + 5,
            global(x, 7), 500 + i);
        sql(x, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%lld,%lld,0,20,%d,%lld,1,1,22)", (long long)at + 100,
            (long long)at + 200, 500 + i, global(x, 0));
    }
    add_range(x, 7, 9000, 9100, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    add_kernel(x, 9050, 1, 0, 9500, 9600);
    close_export(x);
    fill(made, 1);
    assert_int_equal(model.parts.n, 5);
    for (uint32_t i = 0; i < 5; i++) {
        bool captured = i >= 1 && i <= 3;
        assert_int_equal(model.parts.seq[i], i);
        assert_int_equal(model.parts.count[i], captured ? 128 : 64);
        assert_int_equal((model.parts.flags[i] & RS_PART_CAPTURED) != 0, captured);
        assert_int_equal(model.parts.captured[i], captured);
        assert_int_equal(model.parts.replay[i], captured ? i - 1 : 0);
        assert_true((model.parts.enqueued[i] == RS_TIME_NONE) == captured);
        assert_true(is_near(model.parts.start[i], i == 0 ? 1500 : i == 4 ? 9500 : 4100 + 1000 * (int64_t)(i - 1)));
    }
    done(made, 1);
}

/* Two communicators in one group call: each has the kernel of its own; two calls of one share it. A split tells its
 * parent, in JSON, as newer exports write it. */
static void test_group_of_communicators(void **state)
{
    (void)state;
    struct made made[1];
    struct made *x = &made[0];
    make_export(x, 55, "n0", EPOCH);
    add_init(x, world, 3, 8, 1, 10);
    sql(x,
        "INSERT INTO NVTX_EVENTS VALUES(300,400,59,'ncclCommSplit',%lld,NULL,1,'{\"NCCL communicator ID\": %lld, "
        "\"Parent "
        "NCCL communicator ID\": \"%lld\", \"No. of ranks\": 4, \"Rank\": 1, \"CUDA device\": 1, \"Color\": 2, "
        "\"Key\": "
        "3}',NULL)",
        global(x, 7), (long long)half, (long long)world);
    add_range(x, 7, 1000, 1010, "ncclGroupStart", 0, NULL);
    add_range(x, 7, 1020, 1030, "ncclAllReduce", 5, hex(world, 100, 0, 0));
    add_range(x, 7, 1040, 1050, "ncclAllReduce", 5, hex(half, 200, 0, 0));
    add_range(x, 7, 1060, 1070, "ncclAllReduce", 5, hex(half, 300, 0, 0));
    add_range(x, 7, 1080, 1200, "ncclGroupEnd", 0, NULL);
    add_kernel(x, 1100, 1, 1, 2000, 3000);
    add_kernel(x, 1150, 1, 1, 3100, 4000);
    close_export(x);
    fill(made, 1);
    assert_int_equal(model.parts.n, 3);
    assert_int_equal(model.ncomms, 2);
    assert_true(is_near(model.parts.start[0], 2000) && is_near(model.parts.start[1], 3100));
    assert_true(model.parts.launch[1] == model.parts.launch[2] && model.parts.launch[0] != model.parts.launch[1]);
    assert_true(model.parts.group[0] && model.parts.group[0] == model.parts.group[2]);
    const struct rs_member *x1 = &model.members[model.parts.member[1]];
    assert_int_equal(x1->rank, 1);
    assert_int_equal(x1->device, 1);
    assert_int_equal(model.comms[x1->comm].nranks, 4);
    assert_true(model.comms[x1->comm].hash == half);
    assert_int_equal(model.comms[model.comms[x1->comm].parent.comm].hash, world);
    assert_int_equal(model.comms[x1->comm].parent.color, 2);
    done(made, 1);
}

/* The tables of NCCL's own tracing lead: number, rank, count and type as they say; the calls give root and
 * enqueueing. */
static void test_advanced(void **state)
{
    (void)state;
    struct made made[2];
    for (int r = 0; r < 2; r++) {
        struct made *x = &made[r];
        make_export(x, 70 + (uint64_t)r, "n0", EPOCH + r * 1000);
        sql(x,
            "CREATE TABLE NCCL_GPU_OPERATIONS(localId INTEGER, text TEXT, start INTEGER, end INTEGER, commHash INTEGER,"
            " commRank INTEGER, count INTEGER, dataType INTEGER, operationClass INTEGER, operationId INTEGER);"
            "CREATE TABLE NCCL_GPU_OPERATIONS_COLLECTIVE(localId INTEGER, seqNumber INTEGER, apiId INTEGER);");
        for (int i = 0; i < 3; i++) {
            sql(x, "INSERT INTO NCCL_GPU_OPERATIONS VALUES(%d,'AllReduce',%d,%d,%lld,%d,256,7,0,%d)", 40 + i,
                10000 * (i + 1), 10000 * (i + 1) + 500, (long long)world, r, 900 + i);
            sql(x, "INSERT INTO NCCL_GPU_OPERATIONS_COLLECTIVE VALUES(%d,%d,%d)", 40 + i, 17 + i, i);
            add_range(x, 7, 5000 + 1000 * i, 5100 + 1000 * i, "ncclAllReduce", 5, hex(world, 1024, 0, 0));
        }
        close_export(x);
    }
    fill(made, 2);
    assert_int_equal(model.parts.n, 6);
    assert_int_equal(model.ops.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(model.ops.nparts[i], 2);
        assert_int_equal(model.ops.seq[i], 17 + i);
        assert_int_equal(model.ops.bytes[i], 1024);
        assert_string_equal(rs_model_text(&model, model.ops.dtype[i]), "ncclFloat32");
        assert_true(model.parts.enqueued[i] == EPOCH + 5000 + 1000 * (int64_t)i);
    }
    done(made, 2);
}

/* A process that holds one rank: the device of its kernels is its own, whatever the call that made the communicator
 * says. One that holds two: each call is of the rank on whose device its kernel ran. */
static void test_devices(void **state)
{
    (void)state;
    struct made made[2];
    make_export(&made[0], 55, "n0", EPOCH);
    add_init(&made[0], world, 5, 8, 0, 10);
    add_range(&made[0], 7, 1000, 1100, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    add_kernel(&made[0], 1050, 1, 3, 2000, 3000);
    close_export(&made[0]);
    make_export(&made[1], 56, "n1", EPOCH);
    add_init(&made[1], world, 6, 8, 0, 10);
    add_init(&made[1], world, 7, 8, 1, 300);
    add_range(&made[1], 7, 1000, 1010, "ncclGroupStart", 0, NULL);
    add_range(&made[1], 7, 1020, 1030, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    add_range(&made[1], 7, 1040, 1050, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    add_range(&made[1], 7, 1060, 1200, "ncclGroupEnd", 0, NULL);
    add_kernel(&made[1], 1070, 1, 0, 2000, 3000);
    add_kernel(&made[1], 1090, 1, 1, 2100, 3000);
    close_export(&made[1]);
    fill(made, 2);
    assert_int_equal(model.nmembers, 3);
    assert_int_equal(model.parts.n, 3);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(model.members[model.parts.member[i]].rank, 5 + i);
    assert_int_equal(model.ops.n, 1);
    assert_int_equal(model.ops.nparts[0], 3);
    done(made, 2);
}

/* A call that was not seen to launch has no start; tables that are missing are no damage. */
/* Two processes in one session, one on two devices: pid, device, stream and correlation tell apart only together. */
static void test_processes(void **state)
{
    (void)state;
    struct made made[1];
    uint32_t procs[2] = {RS_NONE, RS_NONE}, streams = 0;
    make_export(&made[0], 1000, "n0", EPOCH);
    for (int r = 0; r < 2; r++) {
        made[0].pid = 1000 + (uint64_t)r;
        made[0].correlation = 7 - r; /* the same bits differ in both */
        add_kernel(&made[0], 1000 + 100 * r, 5, r, 2000, 3000 + 100 * r);
    }
    sql(&made[0], "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start, end, 1, 21, correlationId, globalPid,"
                  " demangledName, shortName, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 0");
    close_export(&made[0]);
    fill(made, 1);
    for (uint32_t i = 0; i < model.activities.n; i++) {
        if (model.activities.kind[i] != RS_ACT_COMPUTE) continue;
        uint32_t r = model.activities.end[i] != EPOCH + 3000, launch = model.activities.launch[i];
        if (model.lanes[model.activities.lane[i]].id == 20) procs[r] = model.lanes[model.activities.lane[i]].proc;
        assert_true(launch != RS_NONE && model.activities.start[launch] == EPOCH + 1000 + 100 * r);
    }
    assert_true(procs[0] != RS_NONE && procs[1] != RS_NONE && procs[0] != procs[1]);
    for (uint32_t i = 0; i < model.nlanes; i++) streams += model.lanes[i].kind == RS_LANE_STREAM;
    assert_int_equal(streams, 3);
    done(made, 1);
}

static void test_missing_tables(void **state)
{
    (void)state;
    struct made made[1];
    make_export(&made[0], 55, "n0", EPOCH);
    add_range(&made[0], 7, 1000, 1100, "ncclAllReduce", 5, hex(world, 64, 0, 0));
    sql(&made[0], "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                  "DROP TABLE TARGET_INFO_SYSTEM_ENV; DROP TABLE StringIds");
    close_export(&made[0]);
    fill(made, 1);
    assert_true(others[0].complete);
    assert_int_equal(model.parts.n, 1);
    assert_true(model.parts.start[0] == RS_TIME_NONE && model.parts.enqueued[0] == EPOCH + 1000);
    assert_int_equal(model.members[0].rank, -1);
    assert_null(rs_host_name(&model, model.procs[0].host));
    done(made, 1);
}

static void cut(const char *path, long from, long bytes)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    if (bytes < 0) {
        assert_int_equal(ftruncate(fileno(f), from), 0);
    } else {
        fseek(f, from, SEEK_SET);
        for (long i = 0; i < bytes; i++) fputc(0xa5, f);
    }
    fclose(f);
}

static void test_damage(void **state)
{
    (void)state;
    struct made made[1];
    for (int kind = 0; kind < 3; kind++) {
        make_rank(&made[0], 0);
        cut(made[0].path, kind == 0 ? 20480 : kind == 1 ? 16384 : 200, kind == 0 ? -1 : kind == 1 ? 8192 : 3896);
        fill(made, 1);
        assert_false(others[0].complete);
        assert_int_equal(strncmp(others[0].why, made[0].path, strlen(made[0].path)), 0);
        done(made, 1);
    }
}

/* Nothing is written beside an export, even one whose writer had not finished. */
static void test_nothing_beside(void **state)
{
    (void)state;
    struct made made[1];
    char beside[80];
    make_rank(&made[0], 0);
    assert_int_equal(sqlite3_open(made[0].path, &made[0].db), SQLITE_OK);
    sqlite3_exec(made[0].db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_close(made[0].db);
    fill(made, 1);
    assert_true(others[0].complete);
    assert_true(model.parts.n > 0);
    snprintf(beside, sizeof beside, "%s-wal", made[0].path);
    assert_int_equal(access(beside, F_OK), -1);
    snprintf(beside, sizeof beside, "%s-shm", made[0].path);
    assert_int_equal(access(beside, F_OK), -1);
    done(made, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_joins),      cmocka_unit_test(test_activities),
        cmocka_unit_test(test_graph),          cmocka_unit_test(test_group_of_communicators),
        cmocka_unit_test(test_advanced),       cmocka_unit_test(test_missing_tables),
        cmocka_unit_test(test_devices),        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_nothing_beside), cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
