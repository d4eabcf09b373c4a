/* Kineto traces, written by hand, into the model: every way in which PyTorch has told of a communication. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/formats.h"
#include "nccl/comms_id.h"

/* ---- traces ---- */

enum { FILES = 4 };

static char folder[] = "/tmp/ringscope-kineto.XXXXXX";
static struct rs_other files[FILES];
static struct rs_model model;

static void put(int i, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    files[i] = (struct rs_other){.path = strdup(path), .complete = true};
}

static void fill(size_t n)
{
    struct rs_other *list[FILES];
    struct rs_err err = {0};
    for (size_t i = 0; i < n; i++) list[i] = &files[i];
    struct rs_fill f = {.model = &model, .files = list, .n = n};
    assert_int_equal(rs_kineto_fill(&f, &err), RS_OK);
    rs_model_link(&model);
}

static int done(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        if (files[i].path) unlink(files[i].path);
        free(files[i].path);
        files[i] = (struct rs_other){0};
    }
    rs_model_free(&model);
    model = (struct rs_model){0};
    return 0;
}

static const char *func_of(uint32_t part)
{
    return rs_model_text(&model, model.parts.func[part]);
}

#define INFO                                                                                                           \
    "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":0,\"world_size\":2,\"pg_config\":"                             \
    "[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1]}],\"nccl_version\":\"2.28.9\"}"
#define CALL(ts, id, more)                                                                                             \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":7,\"tid\":7,"                            \
    "\"ts\":" ts ",\"dur\":10,\"args\":{\"External id\":" id ",\"Group size\":2,"                                      \
    "\"Process Group Name\":\"0\",\"Process Group Description\":\"default_pg\",\"dtype\":\"Float\"," more "}}"
#define LAUNCH(ts, corr, more)                                                                                         \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernelExC\",\"pid\":7,\"tid\":7,"                     \
    "\"ts\":" ts ",\"dur\":2,\"args\":{" more "\"correlation\":" corr "}}"
#define KERNEL(name, ts, dur, corr, more)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":20,"                                     \
    "\"ts\":" ts ",\"dur\":" dur ",\"args\":{" more "\"device\":0,\"stream\":20,\"correlation\":" corr "}}"
#define REDUCE_OF(rank) "\"Collective name\":\"allreduce\",\"In msg nelems\":100,\"Out msg nelems\":100,\"Rank\":" rank
#define REDUCE REDUCE_OF("0")
#define NEW "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

/* ---- tests ---- */

/* distributedInfo and the base behind the events; times are exact; metadata at the host call alone. */
static void test_behind(void **state)
{
    (void)state;
    put(0, "a.json",
        "{\"schemaVersion\":1,\"traceEvents\":[" CALL("4458676524648.797", "5", REDUCE) "," LAUNCH(
            "4458676524650.001", "9",
            "\"External id\":5,") "," KERNEL(NEW, "4458676524700.250", "50.125", "9",
                                             "") "," KERNEL("gemm", "4458676524600.000", "1.5", "0",
                                                            "\"grid\":[1,2,3],") "]," INFO ",\"baseTimeNanoseconds\":"
                                                                                 "1790857026000000000}");
    fill(1);
    assert_true(files[0].complete);
    assert_int_equal(model.parts.n, 1);
    assert_true(model.parts.enqueued[0] == 1790857026000000000 + 4458676524648797);
    assert_true(model.parts.launched[0] == 1790857026000000000 + 4458676524650001);
    assert_true(model.parts.start[0] == 1790857026000000000 + 4458676524700250);
    assert_true(model.parts.end[0] == model.parts.start[0] + 50125);
    assert_string_equal(func_of(0), "AllReduce");
    assert_string_equal(rs_model_text(&model, model.parts.dtype[0]), "ncclFloat32");
    assert_string_equal(rs_model_text(&model, model.parts.algo[0]), ""); /* RING_LL runs other algorithms, too */
    assert_int_equal(model.parts.count[0], 100);
    assert_int_equal(model.parts.seq[0], 0);
    assert_string_equal(model.comms[0].name, "default_pg:0");
    assert_int_equal(model.comms[0].nranks, 2);
    assert_true(model.comms[0].made_up);
    assert_int_equal(model.procs[0].launcher_rank, 0);
    assert_int_equal(model.procs[0].pid, 7);
    assert_string_equal(model.procs[0].nccl_version, "2.28.9");
    assert_true(model.domains[model.members[0].gpu].rigid);
    /* No number, no Comms Id. */
    assert_false(rs_part_tag(&model, 0)->has_comms_id);
    /* launch, kernel, gemm */
    const struct rs_activities *t = &model.activities;
    assert_int_equal(t->n, 3);
    assert_int_equal(t->kind[0], RS_ACT_LAUNCH);
    assert_int_equal(t->kind[1], RS_ACT_COMM);
    assert_int_equal(t->part[1], 0);
    assert_int_equal(t->launch[1], 0);
    assert_int_equal(t->kind[2], RS_ACT_COMPUTE);
    assert_int_equal(t->launch[2], RS_NONE);
    assert_string_equal(rs_model_name_text(&model, t->name[2]), "gemm");
    assert_int_equal(t->lane[1], t->lane[2]);
    assert_int_equal(model.lanes[t->lane[1]].id, 20);
}

/* pg_config and ranks as texts, a plain list of events, kernels of all generations, Process Group ID, ids above
 * 2^53. */
static void test_older(void **state)
{
    (void)state;
    static const char *const kernels[] = {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
                                          "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", NEW};
    char text[8192];
    for (int i = 0; i < 3; i++) {
        snprintf(
            text, sizeof text,
            "[{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"record_param_comms\",\"pid\":7,\"tid\":7,\"ts\":1790857026000001,"
            "\"dur\":9,\"args\":{\"external id\":5,\"Process Group ID\":3,\"Process Group Ranks\":\"[0, 1]\"," REDUCE
            "}}," KERNEL("%s", "1790857026000005.5", "2", "9", "\"External id\":5,") "]",
            i ? "cpu_op" : "Operator", kernels[i]);
        put(0, "host.rank_1.json", text);
        fill(1);
        assert_int_equal(model.parts.n, 1);
        assert_true(model.parts.start[0] == 1790857026000005500);
        assert_string_equal(model.comms[0].name, "3");
        assert_int_equal(model.members[0].global_rank, 0); /* its own words count more than the file's name */
        assert_int_equal(model.members[0].rank, 0);
        done(NULL);
    }
    put(0, "a.json",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":1,\"pg_config\":\"[{\\\"pg_name\\\": \\\"0\\\", "
        "\\\"ranks\\\": \\\"[0, 1]\\\"}]\"},\"traceEvents\":[" CALL(
            "1", "5", REDUCE ",\"Seq\":3,\"Comms Id\":18446744073709551557") "]}");
    fill(1);
    assert_int_equal(model.members[0].rank, 1);
    assert_int_equal(model.comms[0].nranks, 2);
    assert_true(rs_part_tag(&model, 0)->comms_id == UINT64_C(18446744073709551557));
    assert_true(rs_part_tag(&model, 0)->comms_id_read);
    assert_int_equal(model.parts.seq[0], 3);
}

/* A list of ranks that was cut is no list: the size is known, the ranks are not. */
static void test_cut_ranks(void **state)
{
    (void)state;
    put(0, "a.json",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":7,\"pg_config\":[{\"pg_name\":\"0\",\"pg_size\":8,"
        "\"ranks\":\"[0, 1, ..., 7]\"}]},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
        "\"record_param_comms\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":9,\"args\":{\"External id\":5,"
        "\"Process Group Name\":\"0\"," REDUCE "}}]}");
    fill(1);
    assert_int_equal(model.ncomms, 1);
    assert_int_equal(model.comms[0].nranks, 8);
    assert_null(model.comms[0].ranks);
    assert_int_equal(model.members[0].rank, -1);
    assert_int_equal(model.members[0].global_rank, 7);
}

/* "wait" is none, pids may be texts; Comms Id is computed where there is a number. */
static void test_traps(void **state)
{
    (void)state;
    put(0, "a.json",
        "{\"traceEvents\":[" CALL("1", "5", REDUCE ",\"Seq\":1") "," CALL(
            "20", "6",
            "\"Collective name\":\"wait\",\"Seq\":1") ","
                                                      "{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":0,\"dur\":9,\"pid\":"
                                                      "\"Spans\",\"tid\":\"PyTorch Profiler\",\"name\":\"x\"},"
                                                      "{\"name\":\"Record Window "
                                                      "End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\",\"ts\":"
                                                      "30},"
                                                      "{\"name\":\"thread_name\",\"ph\":\"M\",\"ts\":0,\"pid\":7,"
                                                      "\"tid\":7,\"args\":{\"name\":\"thread 7 (python)\"}}]," INFO
                                                      "}");
    fill(1);
    assert_int_equal(model.parts.n, 1);
    const struct rs_tag *tag = rs_part_tag(&model, 0);
    assert_true(tag->has_comms_id && !tag->comms_id_read);
    assert_true(tag->comms_id == UINT64_C(2297668046887139027)); /* ("0", 1, 0, 0, 1, 2) */
    assert_int_equal(tag->pg_seq, 1);
    assert_true(model.parts.start[0] == RS_TIME_NONE);
    assert_int_equal(model.nlanes, 1);
    assert_string_equal(model.lanes[0].name, "thread 7 (python)");
}

#define P2P(name, n, end)                                                                                              \
    "\"Collective name\":\"" name "\",\"In msg nelems\":" n ",\"Out msg nelems\":" n ",\"Rank\":1,\"" end "\":1"
#define SEND_AND_RECEIVE CALL("1", "5", P2P("send", "8", "Dst Rank")) "," CALL("20", "6", P2P("recv", "4", "Src Rank"))

/* A send and a receive whose kernel is launched behind both, and knows nothing. */
static void test_ring(void **state)
{
    (void)state;
    static const char trace[] =
        "{\"traceEvents\":[" SEND_AND_RECEIVE
        "," LAUNCH("35", "9", "") "," CALL("50", "7", REDUCE) "," LAUNCH("55", "10", "\"External id\":7,") "," KERNEL(
            "ncclDevKernel_SendRecv(x)", "60", "5", "9", "") "," KERNEL(NEW, "70", "5", "10", "") "]," INFO "}";
    put(0, "a.json", trace);
    fill(1);
    assert_int_equal(model.parts.n, 3);
    assert_int_equal(model.parts.kind[0], RS_PART_SEND);
    assert_int_equal(model.parts.kind[1], RS_PART_RECV);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(model.parts.peer[i], 1);
        assert_true(model.parts.start[i] == 60000 && model.parts.end[i] == 65000);
        assert_true(model.parts.launched[i] == 35000);
        assert_int_equal(model.parts.count[i], i ? 4 : 8);
    }
    assert_true(model.parts.launch[0] && model.parts.launch[0] == model.parts.launch[1]);
    assert_true(model.parts.launch[2] && model.parts.launch[2] != model.parts.launch[0]);
    assert_true(model.parts.start[2] == 70000);
    assert_int_equal(model.parts.seq[0], 0); /* alone: the other side is not there */
    assert_int_equal(model.parts.seq[1], 0);
}

/* Only a kernel tells: no host events were recorded. */
static void test_kernel_alone(void **state)
{
    (void)state;
    put(0, "a.json",
        "{\"traceEvents\":[" KERNEL(
            NEW, "70", "5", "10",
            REDUCE ",\"dtype\":\"Float\",\"Group size\":2,"
                   "\"Process Group Name\":\"0\",\"Seq\":4,") "," KERNEL("ncclDevKernel_Generic(x)", "90", "5", "11",
                                                                         "") "]," INFO "}");
    fill(1);
    assert_int_equal(model.parts.n, 1);
    assert_true(model.parts.enqueued[0] == RS_TIME_NONE);
    assert_true(model.parts.start[0] == 70000);
    assert_int_equal(model.parts.seq[0], 4);
    assert_int_equal(model.activities.kind[1], RS_ACT_COMM);
    assert_int_equal(model.activities.part[1], RS_NONE);
}

/* Coalesced operations share a Seq: they stay apart, in order, on all ranks. */
static void test_coalesced(void **state)
{
    (void)state;
#define RANKS ",\"Process Group Ranks\":\"[0, 1]\""
#define NUMBERED(rank, seq) REDUCE_OF(rank) ",\"Seq\":" seq RANKS
#define THREE(rank)                                                                                                    \
    "{\"traceEvents\":[" CALL("1", "5", NUMBERED(rank, "1")) "," CALL("20", "6", NUMBERED(rank, "1")) "," CALL(        \
        "40", "7", NUMBERED(rank, "2")) "],\"deviceProperties\":[]}"
    put(0, "rank0.json", THREE("0"));
    put(1, "rank1.json", THREE("1"));
    fill(2);
    assert_int_equal(model.parts.n, 6);
    assert_int_equal(model.ncomms, 1);
    assert_int_equal(model.members[1].global_rank, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(model.parts.seq[i] == model.parts.seq[i + 3]);
        if (i) assert_true(model.parts.seq[i] > model.parts.seq[i - 1]);
    }
    assert_int_equal(rs_part_tag(&model, 1)->pg_seq, 1);
}

/* Each rank was profiled twice: the windows of one time belong together, and have numbers of their own. */
static void test_windows(void **state)
{
    (void)state;
#define WINDOW(rank, first, second)                                                                                    \
    "{\"traceEvents\":[" CALL(first, "5", REDUCE_OF(rank) RANKS) "," CALL(                                             \
        second, "6", REDUCE_OF(rank) RANKS) "],"                                                                       \
                                            "\"deviceProperties\":[]}"
    put(0, "rank0.1.json", WINDOW("0", "1000", "2000"));
    put(1, "rank0.2.json", WINDOW("0", "900000", "901000"));
    put(2, "rank1.1.json", WINDOW("1", "1100", "2100"));
    put(3, "rank1.2.json", WINDOW("1", "900100", "901100"));
    fill(4);
    assert_int_equal(model.parts.n, 8);
    assert_int_equal(model.nprocs, 2);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(model.parts.seq[i], i);
        assert_int_equal(model.parts.seq[i + 4], i);
    }
}

/* Steps and annotations, the innermost that is not NCCL's own. */
static void test_scopes(void **state)
{
    (void)state;
#define RANGE(name, tid, ts, dur)                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"" name "\",\"pid\":7,\"tid\":" tid ",\"ts\":" ts             \
    ",\"dur\":" dur ",\"args\":{}}"
    put(0, "a.json",
        "{\"traceEvents\":[" RANGE("ProfilerStep#12", "7", "0", "100") "," RANGE("outer", "7", "1", "90") "," RANGE(
            "in\\\"ner", "7", "5",
            "20") "," RANGE("before", "7", "2",
                            "2") "," RANGE("nccl:all_reduce", "7", "9",
                                           "12") "," CALL("10", "5", REDUCE) "," CALL("40", "6",
                                                                                      REDUCE) "," CALL("200", "7",
                                                                                                       REDUCE) "]," INFO
                                                                                                               "}");
    fill(1);
    assert_int_equal(model.parts.n, 3);
    assert_int_equal(rs_part_tag(&model, 0)->step, 12);
    assert_string_equal(rs_model_name_text(&model, rs_part_tag(&model, 0)->scope), "in\"ner");
    assert_string_equal(rs_model_name_text(&model, rs_part_tag(&model, 1)->scope), "outer");
    assert_int_equal(rs_part_tag(&model, 2)->step, RS_NONE);
    assert_int_equal(rs_part_tag(&model, 2)->scope, 0);
    assert_int_equal(model.activities.kind[0], RS_ACT_STEP);
    assert_int_equal(model.activities.kind[1], RS_ACT_RANGE);
}

/* A cut trace keeps what was whole, and says where it ends. */
static void test_cut(void **state)
{
    (void)state;
    put(0, "a.json",
        "{" INFO
        ",\"traceEvents\":[" CALL("1", "5", REDUCE) ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"x\",\"ts\":1");
    fill(1);
    assert_false(files[0].complete);
    assert_non_null(strstr(files[0].why, "a.json: byte "));
    assert_int_equal(model.parts.n, 1);
    assert_int_equal(model.activities.n, 0);
    assert_false(model.procs[0].complete);
}

static bool is(const char *head)
{
    return rs_kineto_is("x", head, strlen(head));
}

static void test_recognised(void **state)
{
    (void)state;
    assert_true(is(" {\n \"schemaVersion\": 1,\n \"deviceProperties\": ["));
    assert_true(is("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\""));
    assert_true(is("\xef\xbb\xbf[{\"ph\":\"X\",\"cat\":\"cuda_runtime\""));
    /* The example profiler's dumps are Chrome's JSON too. */
    assert_false(is(
        "[\n{\"name\": \"Group\", \"cat\": \"GROUP\", \"ph\": \"b\", \"id\": 0, \"pid\": 1, \"tid\": 1, \"ts\": 1.0"));
    assert_false(is("[\n{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"ph\": \"b\""));
    assert_false(is("{\"version\": \"2.10\", \"entries\": [], \"pg_config\": {}}"));
    assert_false(is("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"disk\"}]}"));
    assert_false(is(""));
    assert_false(is("==1== NVPROF \"cpu_op\""));
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_behind, done),
        cmocka_unit_test_teardown(test_older, done),
        cmocka_unit_test_teardown(test_cut_ranks, done),
        cmocka_unit_test_teardown(test_traps, done),
        cmocka_unit_test_teardown(test_ring, done),
        cmocka_unit_test_teardown(test_kernel_alone, done),
        cmocka_unit_test_teardown(test_coalesced, done),
        cmocka_unit_test_teardown(test_scopes, done),
        cmocka_unit_test_teardown(test_cut, done),
        cmocka_unit_test_teardown(test_windows, done),
        cmocka_unit_test(test_recognised),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
