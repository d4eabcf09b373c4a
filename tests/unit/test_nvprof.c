/* nvprof's logs: a real one of four processes, and small ones of each kind. The expected values were read off the
 * files. */
#include "foreign/formats.h"
#include "foreign/nvprof/nvprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char data[] = "tests/data/nvprof/";

static void read_file(struct rs_nvprof *p, const char *name)
{
    struct rs_err err;
    char path[128];
    snprintf(path, sizeof path, "%s%s", data, name);
    if (rs_nvprof_read(p, path, &err) != RS_OK) fail_msg("%s", err.msg);
}

static void read_text(struct rs_nvprof *p, const char *text)
{
    struct rs_err err;
    assert_true(rs_nvprof_is("", text, strlen(text)));
    if (rs_nvprof_read_memory(p, "x", text, strlen(text), &err) != RS_OK) fail_msg("%s", err.msg);
}

static uint32_t by_pid(const struct rs_nvprof *p, uint64_t pid)
{
    for (uint32_t i = 0; i < p->n_processes; i++)
        if (p->processes[i].pid == pid) return i;
    fail_msg("no process %u", (unsigned)pid);
    return 0;
}

static const struct rs_nvprof_row *find(const struct rs_nvprof *p, uint32_t process, const char *name)
{
    for (uint32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].process == process && p->rows[i].range == RS_NVPROF_NONE && strstr(p->rows[i].name, name))
            return &p->rows[i];
    fail_msg("no %s", name);
    return NULL;
}

static void test_processes(void **state)
{
    (void)state;
    static const struct {
        uint64_t pid;
        uint32_t gpu, api, ranges;
        bool no_kernels;
    } truth[] = {
        {74075, 0, 8, 0, true}, {74120, 37, 46, 13, false}, {74121, 37, 46, 13, false}, {74122, 0, 13, 0, true}};
    struct rs_nvprof p;
    read_file(&p, "nvprof-ddp2.txt");
    assert_int_equal(p.n_processes, 4);
    for (int i = 0; i < 4; i++) {
        const struct rs_nvprof_process *x = &p.processes[by_pid(&p, truth[i].pid)];
        assert_int_equal(x->gpu_rows, truth[i].gpu);
        assert_int_equal(x->api_rows, truth[i].api);
        assert_int_equal(x->ranges, truth[i].ranges);
        assert_int_equal(x->no_kernels, truth[i].no_kernels);
        assert_true(x->has_result);
    }
    assert_memory_equal(p.processes[by_pid(&p, 74075)].command, "python -u launcher.py ", 22);
    assert_int_equal(p.n_traces, 0);
    assert_int_equal(p.damage.code, RS_OK);

    const struct rs_nvprof_row *slow = find(&p, by_pid(&p, 74120), "ncclKernel_AllReduce_RING_LL_Sum_float");
    const struct rs_nvprof_row *fast = find(&p, by_pid(&p, 74121), "ncclKernel_AllReduce_RING_LL_Sum_float");
    assert_int_equal(slow->avg_ns, 3066100);
    assert_int_equal(fast->avg_ns, 852550);
    assert_int_equal(slow->time_ns, 294350000);
    assert_int_equal(fast->time_ns, 81845000);
    assert_int_equal(slow->calls, 96);
    assert_int_equal(slow->min_ns, 253660);
    assert_int_equal(slow->max_ns, 37947000);
    assert_true(slow->percent > 76.60 && slow->percent < 76.62);
    assert_int_equal(slow->kind, RS_NVPROF_GPU);
    assert_string_equal(slow->name, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)");

    const struct rs_nvprof_row *host = find(&p, by_pid(&p, 74120), "cudaStreamIsCapturing");
    assert_int_equal(host->kind, RS_NVPROF_API);
    assert_string_equal(host->type, "API calls");
    assert_int_equal(host->time_ns, 5132190000);
    assert_int_equal(find(&p, by_pid(&p, 74122), "cuDeviceGetPCIBusId")->min_ns, 0);
    rs_nvprof_free(&p);
}

static void test_ranges(void **state)
{
    (void)state;
    struct rs_nvprof p;
    read_file(&p, "nvprof-ddp2.txt");
    assert_int_equal(p.n_ranges, 26);
    const struct rs_nvprof_range *g = &p.ranges[1];
    assert_int_equal(p.processes[g->process].pid, 74120);
    assert_int_equal(g->thread, 291264256);
    assert_string_equal(g->thread_name, "<unnamed>");
    assert_string_equal(g->domain, "NCCL");
    assert_string_equal(g->name, "ncclGroupEnd");
    assert_int_equal(g->calls, 96);
    assert_int_equal(g->time_ns, 3281200);
    assert_int_equal(g->avg_ns, 34179);
    assert_int_equal(g->gpu_ns, 294350000);
    assert_int_equal(g->gpu_calls, 96);
    assert_int_equal(g->api_ns, 1695000);
    assert_string_equal(p.ranges[0].name, "ncclAllReduce"); /* "No kernels were profiled in this range." */
    assert_int_equal(p.ranges[0].gpu_ns, 0);
    g = &p.ranges[25];
    assert_int_equal(p.processes[g->process].pid, 74121);
    assert_int_equal(g->thread, 1915152128);
    assert_string_equal(g->name, "ncclGroupStart");
    assert_int_equal(g->time_ns, 22164);
    rs_nvprof_free(&p);
}

static void test_notes(void **state)
{
    (void)state;
    struct rs_nvprof p;
    read_file(&p, "nvprof-ddp2.txt");
    unsigned count[4] = {0};
    const char *warning = NULL, *output = NULL;
    for (uint32_t i = 0; i < p.n_notes; i++) {
        count[p.notes[i].kind]++;
        if (p.notes[i].kind == RS_NVPROF_WARNING && p.processes[p.notes[i].process].pid == 74120)
            warning = p.notes[i].text;
        if (p.notes[i].kind == RS_NVPROF_OUTPUT) output = p.notes[i].text;
    }
    assert_int_equal(count[RS_NVPROF_WARNING], 3);
    assert_int_equal(count[RS_NVPROF_NOTHING], 2);
    assert_int_equal(count[RS_NVPROF_TOOL], 0);
    /* "Namespace(...", "train epoch=0" twice, "benchmark warmup done", "metrics for ..."; the table below that is read */
    assert_int_equal(count[RS_NVPROF_OUTPUT], 5);
    assert_non_null(
        strstr(warning, "159 API trace records have same start and end timestamps. This can happen because"));
    assert_string_equal(output, "metrics for trainer_metrics"); /* the last one: no row of any table ended up here */
    rs_nvprof_free(&p);
}

static void check_summary(const char *file, uint32_t rows)
{
    struct rs_nvprof p;
    read_file(&p, file);
    assert_int_equal(p.n_processes, 1);
    assert_int_equal(p.processes[0].pid, 4242);
    assert_int_equal(p.n_rows, rows);
    assert_int_equal(p.n_notes, 0);
    const struct rs_nvprof_row *r = find(&p, 0, "ncclAllReduceRingLLKernel_sum_f32(ncclColl)");
    assert_int_equal(r->kind, RS_NVPROF_GPU);
    assert_int_equal(r->time_ns, 12302000);
    assert_int_equal(r->avg_ns, 307550);
    assert_int_equal(r->max_ns, 712400);
    r = find(&p, 0, "cudaMalloc");
    assert_int_equal(r->kind, RS_NVPROF_API);
    assert_int_equal(r->time_ns, 1312050000);
    assert_int_equal(r->min_ns, 4127);
    assert_int_equal(r->calls, 12);
    rs_nvprof_free(&p);
}

static void check_trace(const char *file, int device, bool second_correlated)
{
    struct rs_nvprof p;
    read_file(&p, file);
    assert_int_equal(p.n_traces, 2);
    assert_int_equal(p.n_notes, 0);
    const struct rs_nvprof_trace *t = p.traces;
    assert_true(t[0].gpu && t[1].gpu);
    assert_int_equal(t[0].start_ns, 500000000);
    assert_int_equal(t[0].duration_ns, 307550);
    assert_int_equal(t[0].device, device);
    assert_int_equal(t[0].context, 1);
    assert_int_equal(t[0].stream, 20);
    assert_int_equal(t[0].bytes, -1);
    assert_true(t[0].has_correlation);
    assert_int_equal(t[0].correlation, 301);
    assert_string_equal(t[0].name, "ncclAllReduceRingLLKernel_sum_f32(ncclColl)");
    assert_memory_equal(t[0].device_name, "Tesla V100-SXM2", 15);
    assert_int_equal(t[1].start_ns, 500400000);
    assert_int_equal(t[1].duration_ns, 12000);
    assert_int_equal(t[1].bytes, 4 << 20);
    assert_int_equal(t[1].stream, 27);
    assert_string_equal(t[1].name, "[CUDA memcpy DtoD]");
    assert_int_equal(t[1].has_correlation, second_correlated);
    rs_nvprof_free(&p);
}

static void test_small_files(void **state)
{
    (void)state;
    check_summary("nvprof_summary.txt", 4);
    check_summary("nvprof_summary.csv", 2);
    check_trace("nvprof_gpu_trace.txt", -1, false);
    check_trace("nvprof_gpu_trace.csv", 0, true);
}

static void test_api_trace(void **state)
{
    (void)state;
    struct rs_nvprof p;
    read_text(&p, "==7== Profiling result:\n   Start  Duration  Name\n"
                  "231.22ms  12.500us  cudaMalloc [17]\r\n1.50000s     320ns  cuDeviceGet\n");
    assert_int_equal(p.n_traces, 2);
    assert_false(p.traces[0].gpu);
    assert_int_equal(p.traces[0].start_ns, 231220000);
    assert_int_equal(p.traces[0].correlation, 17);
    assert_string_equal(p.traces[0].name, "cudaMalloc");
    assert_int_equal(p.traces[1].start_ns, 1500000000);
    assert_int_equal(p.traces[1].duration_ns, 320);
    assert_false(p.traces[1].has_correlation);
    rs_nvprof_free(&p);

    read_text(
        &p,
        "\"Start\",\"Duration\",\"Name\",\"Correlation_ID\"\nms,us,,\n231.220000,12.500000,\"a(\"\"b\"\", c)\",17\n");
    assert_int_equal(p.n_traces, 1);
    assert_int_equal(p.processes[0].pid, 0);
    assert_int_equal(p.traces[0].start_ns, 231220000);
    assert_int_equal(p.traces[0].correlation, 17);
    assert_string_equal(p.traces[0].name, "a(\"b\", c)");
    rs_nvprof_free(&p);
}

/* Before CUDA 9 the parts are named by lines of their own; unknown parts are counted; rows between output are found. */
static void test_odd(void **state)
{
    (void)state;
    struct rs_nvprof p;
    read_text(&p, "======== NVPROF is profiling process 9, command: a\n======== Profiling result:\n"
                  "Time(%)      Time     Calls       Avg       Min       Max  Name\n"
                  "100.00%  1e+03s         1  1e+03s  1e+03s  1e+03s  k<int,  int>(x)\nloss 3.25%  of 7\n"
                  "======== API calls:\nTime(%)      Time     Calls       Avg       Min       Max  Name\n"
                  "100.00%  2.0000us         2  1.0000us  1.0000us  1.0000us  cuInit\n"
                  "======== Unified Memory profiling result:\nDevice \"Tesla\"\n   Count  Avg Size\n");
    assert_int_equal(p.n_rows, 2);
    assert_int_equal(p.rows[0].kind, RS_NVPROF_GPU);
    assert_int_equal(p.rows[0].time_ns, 1000000000000);
    assert_string_equal(p.rows[0].name, "k<int,  int>(x)");
    assert_int_equal(p.rows[1].kind, RS_NVPROF_API);
    assert_int_equal(p.lines_not_read, 2);
    assert_int_equal(p.n_notes, 2);
    assert_string_equal(p.notes[0].text, "loss 3.25%  of 7");
    assert_int_equal(p.notes[1].kind, RS_NVPROF_TOOL);
    rs_nvprof_free(&p);
}

static void test_damaged(void **state)
{
    (void)state;
    struct rs_nvprof p;
    struct rs_err err;
    static const char valgrind[] = "==12== Memcheck, a memory error detector\n==12== Command: ./x\n";
    assert_false(rs_nvprof_is("", valgrind, sizeof valgrind - 1));
    assert_int_equal(rs_nvprof_read_memory(&p, "x.txt", valgrind, sizeof valgrind - 1, &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "x.txt: at byte 0"));
    rs_nvprof_free(&p);
    assert_int_equal(rs_nvprof_read(&p, "tests/data/nvprof/none", &err), RS_NOT_FOUND);
    rs_nvprof_free(&p);

    /* Cut anywhere, the rows before stay as they are. */
    struct rs_nvprof whole;
    read_file(&whole, "nvprof_summary.txt");
    char text[2048];
    FILE *f = fopen("tests/data/nvprof/nvprof_summary.txt", "rbe");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut++) {
        enum rs_status status = rs_nvprof_read_memory(&p, "x", text, cut, &err);
        assert_true(status == RS_OK || cut < 36); /* up to "NVPROF is profiling process" */
        for (uint32_t i = 0; i + 1 < p.n_rows; i++) {
            assert_string_equal(p.rows[i].name, whole.rows[i].name);
            assert_int_equal(p.rows[i].time_ns, whole.rows[i].time_ns);
        }
        rs_nvprof_free(&p);
    }
    rs_nvprof_free(&whole);
    rs_nvprof_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes),   cmocka_unit_test(test_ranges),    cmocka_unit_test(test_notes),
        cmocka_unit_test(test_small_files), cmocka_unit_test(test_api_trace), cmocka_unit_test(test_odd),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
