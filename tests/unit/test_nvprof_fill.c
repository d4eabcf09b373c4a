/* nvprof's logs in the model: summaries as statistics, traces as activities and operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/formats.h"
#include "join/join.h"

static struct rs_model model;
static struct rs_other other;

static void fill(const char *path)
{
    struct rs_other *file = &other;
    struct rs_fill f = {.model = &model, .files = &file, .n = 1};
    struct rs_err err;
    model = (struct rs_model){0};
    other = (struct rs_other){.path = (char *)path, .complete = true};
    if (rs_nvprof_fill(&f, &err) != RS_OK) fail_msg("%s", err.msg);
    rs_model_link(&model);
    if (rs_join(&model, true, &err) != RS_OK) fail_msg("%s", err.msg);
}

static void fill_text(const char *text)
{
    char path[] = "/tmp/rs_nvprof_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    fill(path);
    unlink(path);
}

static bool noted(const char *words)
{
    for (uint32_t i = 0; i < model.nnotes; i++)
        if (strstr(model.notes[i].text, words)) return true;
    return false;
}

static void test_summary(void **state)
{
    (void)state;
    uint32_t kinds[RS_STAT_OPERATION + 1] = {0};
    fill("tests/data/nvprof/nvprof-ddp2.txt");
    assert_true(other.complete && other.proc == RS_NONE);
    assert_int_equal(model.nprocs, 4);
    assert_int_equal(model.parts.n + model.ops.n + model.nmembers + model.activities.n, 0); /* no time is made up */
    for (uint32_t i = 0; i < model.nstats; i++) {
        const struct rs_stat *x = &model.stats[i];
        kinds[x->kind]++;
        if (x->kind != RS_STAT_COMM || model.procs[x->proc].pid != 74121) continue;
        if (strcmp(rs_model_text(&model, x->func), "AllReduce")) continue;
        assert_true(x->calls == 96 && x->total_ns == 81845000 && x->min_ns == 236260 && x->max_ns == 1612100);
    }
    assert_int_equal(kinds[RS_STAT_COMM], 4); /* two processes, two functions */
    assert_int_equal(kinds[RS_STAT_RANGE], 26);
    assert_int_equal(kinds[RS_STAT_RANGE_WORK], 6);
    for (uint32_t p = 0; p < model.nprocs; p++) assert_null(rs_host_name(&model, model.procs[p].host));
    assert_true(noted("no time axis"));
    assert_true(noted("no kernels were profiled in process 74075, 74122"));
    assert_true(noted("records have same start and end"));
    assert_true(noted("5 lines of the programs' own output"));
    assert_true(model.nnotes <= 5);
    rs_model_free(&model);
}

#define HEAD                                                                                                           \
    "\"Start\",\"Duration\",\"Size\",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\nms,us,MB,,,,,\n"
#define REDUCE "\"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)\""
#define GATHER "\"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)\""

/* Two processes with clocks of their own, that did the same: one communicator, made up; rank 1's are 2 ms later on its
 * clock, and its second kernel waits for nobody. */
static void test_traces_join(void **state)
{
    (void)state;
    fill_text("==11== Profiling result:\n" HEAD "1.0,500.0,,\"V100 (0)\",1,7," REDUCE ",5\n"
              "3.0,100.0,,\"V100 (0)\",1,7," GATHER ",6\n"
              "2.0,10.0,4.0,\"V100 (0)\",1,8,\"[CUDA memcpy DtoD]\",7\n"
              "4.0,300.0,,\"V100 (0)\",1,7," REDUCE ",8\n"
              "==12== Profiling result:\n" HEAD "3.3,200.0,,\"V100 (1)\",1,7," REDUCE ",5\n"
              "5.0,100.0,,\"V100 (1)\",1,7," GATHER ",6\n"
              "6.1,200.0,,\"V100 (1)\",1,7," REDUCE ",8\n");
    assert_int_equal(model.nprocs, 2);
    assert_int_equal(model.ncomms, 1);
    assert_true(model.comms[0].made_up && model.comms[0].nranks == 2 && model.comms[0].nmembers == 2);
    assert_int_equal(model.parts.n, 6);
    assert_int_equal(model.ops.n, 3);
    for (uint32_t i = 0; i < model.ops.n; i++) assert_int_equal(model.ops.nparts[i], 2);
    assert_int_equal(model.ops.seq[model.parts.op[2]], 1); /* the second all-reduce: each function counts for itself */
    assert_int_equal(model.activities.n, 7);
    uint32_t copies = 0;
    for (uint32_t i = 0; i < model.activities.n; i++) {
        copies += model.activities.kind[i] == RS_ACT_COPY && model.activities.bytes[i] == 4 << 20;
        assert_true((model.activities.kind[i] == RS_ACT_COMM) == (model.activities.part[i] != RS_NONE));
        assert_true(model.domains[model.lanes[model.activities.lane[i]].domain].rigid);
    }
    assert_int_equal(copies, 1);
    assert_true(model.procs[0].host != model.procs[1].host); /* each counts from its own start */
    assert_true(noted("does not record communicators"));
    rs_model_free(&model);
}

static void test_traces_apart(void **state)
{
    (void)state;
    fill_text("==11== Profiling result:\n" HEAD "1.0,500.0,,\"V100 (0)\",1,7," REDUCE ",5\n"
              "==12== Profiling result:\n" HEAD "3.3,200.0,,\"V100 (1)\",1,7," GATHER ",5\n");
    assert_int_equal(model.ncomms, 2);
    assert_int_equal(model.ops.n, 2);
    assert_true(model.comms[0].nranks == -1 && model.members[0].rank == -1);
    assert_true(noted("cannot be joined"));
    rs_model_free(&model);
}

/* A host call and the kernel that it launched, by their correlation. */
static void test_launches(void **state)
{
    (void)state;
    fill_text("==11== Profiling result:\n" HEAD "0.9,20.0,,,,,\"cudaLaunchKernel\",5\n"
              "0.95,3.0,,,,,\"cudaStreamSynchronize\",6\n1.0,500.0,,\"V100 (0)\",1,7," REDUCE ",5\n");
    uint32_t launches = 0;
    for (uint32_t i = 0; i < model.activities.n; i++) {
        uint32_t by = model.activities.launch[i];
        if (by == RS_NONE) continue;
        launches++;
        assert_int_equal(model.activities.kind[by], RS_ACT_LAUNCH);
        assert_int_equal(model.activities.start[i] - model.activities.start[by], 100000);
    }
    assert_int_equal(launches, 1);
    assert_true(model.parts.n == 1 && model.parts.start[0] - model.parts.launched[0] == 100000);
    rs_model_free(&model);
}

static void test_damaged(void **state)
{
    (void)state;
    fill_text("==11== Profiling result:\n" HEAD "1.0,500.0,,\"V100 (0)\",1,7," REDUCE ",5\n3.0,10");
    assert_int_equal(model.parts.n, 1);
    rs_model_free(&model);
    /* The largest start that there is, and 1 s more: an end is not before its start. */
    fill_text("==11== Profiling result:\n" HEAD "9223372036854.0,1000000.0,,\"V100 (0)\",1,7," REDUCE ",5\n");
    assert_int_equal(model.activities.n, 1);
    assert_true(model.activities.end[0] >= model.activities.start[0]);
    rs_model_free(&model);
    fill_text("nothing of nvprof\n");
    assert_false(other.complete);
    assert_true(other.why[0] != 0);
    assert_int_equal(model.nprocs, 0);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),  cmocka_unit_test(test_traces_join), cmocka_unit_test(test_traces_apart),
        cmocka_unit_test(test_launches), cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
