/* What nccl-tests print: versions and columns, logs around them, JSON; which test a row is of; what is damaged. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/formats.h"
#include "foreign/nccl_tests/nccl_tests.h"

#define DATA "tests/data/nccl_tests/"
#define DEVICES4                                                                                                       \
    "# Using devices\n#  Rank  0 Group  0 Pid 1 on a device 0 [0x00] X\n#  Rank  1 Group  0 Pid 1 on a device 1\n"     \
    "#  Rank  2 Group  0 Pid 1 on a device 2\n#  Rank  3 Group  0 Pid 1 on a device 3\n"
#define HEADING "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"

static struct rs_nccl_tests t;

static int forget(void **state)
{
    (void)state;
    rs_nccl_tests_free(&t);
    return 0;
}

static void take(const char *path)
{
    struct rs_err err;
    rs_nccl_tests_free(&t);
    if (rs_nccl_tests_read(&t, path, &err) != RS_OK) fail_msg("%s", err.msg);
}

/* A text as a file of that name. */
static void take_text(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/%d-%s", (int)getpid(), name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    take(path);
    unlink(path);
}

static void row_is(uint32_t i, const char *func, const char *dtype, int32_t nranks, uint64_t bytes, double out,
                   double in)
{
    assert_in_range(i, 0, t.n - 1);
    const struct rs_nccl_tests_row *r = &t.rows[i];
    assert_string_equal(r->func ? r->func : "?", func);
    assert_string_equal(r->dtype ? r->dtype : "?", dtype);
    assert_int_equal(r->nranks, nranks);
    assert_int_equal(r->bytes, bytes);
    if (isnan(out) ? !isnan(r->out_of_place.busbw) : fabs(r->out_of_place.busbw - out) > 1e-9)
        fail_msg("row %u: out of place %g", i, r->out_of_place.busbw);
    if (isnan(in) ? !isnan(r->in_place.busbw) : fabs(r->in_place.busbw - in) > 1e-9)
        fail_msg("row %u: in place %g", i, r->in_place.busbw);
}

static void test_text(void **state)
{
    (void)state;
    take(DATA "all_reduce.txt");
    assert_int_equal(t.n, 5);
    assert_int_equal(t.damage.code, RS_OK);
    row_is(0, "AllReduce", "ncclFloat32", 8, 65536, 3.5, 3.57);
    row_is(4, "AllReduce", "ncclFloat32", 8, 16777216, 210, 214.2);
    assert_string_equal(t.rows[0].redop, "sum");
    assert_int_equal(t.rows[0].root, -1);
    assert_true(fabs(t.rows[4].out_of_place.time_us - 139.81) < 1e-9);
    assert_true(fabs(rs_nccl_tests_best(&t.rows[4]) - 214.2) < 1e-9);
}

/* No name but the file's, no redop and root, results not checked. */
static void test_old(void **state)
{
    (void)state;
    take(DATA "all_gather_perf-old.txt");
    assert_int_equal(t.n, 2);
    row_is(0, "AllGather", "ncclFloat16", 4, 1 << 20, 30, 30.6);
    row_is(1, "AllGather", "ncclFloat16", 4, 4 << 20, 60, 61.2);
}

/* Tags of mpirun and srun, NCCL's lines, two tests with the commands before them, a row that is cut. */
static void test_log(void **state)
{
    (void)state;
    take(DATA "several.log");
    assert_int_equal(t.n, 3);
    row_is(0, "ReduceScatter", "ncclBfloat16", 2, 1 << 20, 5, 5.1);
    row_is(1, "ReduceScatter", "ncclBfloat16", 2, 4 << 20, 10, 10.2);
    row_is(2, "Broadcast", "ncclFloat32", 2, 4 << 20, 20, 20.4);
    assert_int_equal(t.rows[2].root, 0);
    assert_int_equal(t.bad_lines, 1);
    assert_non_null(strstr(t.damage.msg, "several.log: at byte "));
}

static void test_json(void **state)
{
    (void)state;
    take(DATA "all_to_all.json");
    assert_int_equal(t.n, 2);
    row_is(0, "AlltoAll", "ncclFloat32", 4, 1 << 20, 24, 24);
    row_is(1, "AlltoAll", "ncclFloat32", 4, 4 << 20, NAN, 48);
    assert_int_equal(t.rows[0].root, -1);
    assert_true(fabs(t.rows[0].in_place.time_us - 32.768) < 1e-9);
}

/* Groups: of 4 ranks, 2 in each communicator. A process that prints the devices of its own only is a run of one. */
static void test_ranks(void **state)
{
    (void)state;
    take_text("all_gather_perf", "# Using devices\n#  Rank  0 Group  0 Pid 1 on a\n#  Rank  1 Group  1 Pid 1 on a\n"
                                 "#  Rank  2 Group  0 Pid 1 on a\n#  Rank  3 Group  1 Pid 1 on a\n" HEADING
                                 "8 2 float none -1 10 2.00 1.00 0 10 2.00 1.00 0\n");
    row_is(0, "AllGather", "ncclFloat32", 2, 8, 1, 1);
    take_text("x", "# Using devices\n#   Rank  0 Pid 1 on a\n#   Rank  0 Pid 2 on b\n" HEADING
                   "8 2 float sum -1 10 2.00 2.00 0 10 2.00 2.00 0\n");
    assert_int_equal(t.rows[0].nranks, 1);
}

/* Of a row that no line names. */
static void test_functions(void **state)
{
    (void)state;
    take_text("x", DEVICES4 HEADING "64 16 float sum -1 10 2.00 3.00 0 10 2.00 3.00 0\n"
                                    "64 16 float sum -1 10 2.00 1.50 0 10 2.00 1.50 0\n"
                                    "64 16 float sum 0 10 2.00 2.00 0 10 2.00 2.00 0\n"
                                    "64 16 float none 0 10 2.00 2.00 0 10 2.00 2.00 0\n"
                                    "64 16 float none 0 10 2.00 1.50 0 10 2.00 1.50 0\n" /* gather or scatter */
                                    "64 16 float none -1 10 2.00 1.50 0 10 2.00 1.50 0\n" /* all-gather or all-to-all */
                                    "64 16 float sum -1 10 0.02 0.03 0 10 0.02 0.03 0\n"); /* too few digits */
    static const char *const funcs[] = {"AllReduce", "ReduceScatter", "Reduce", "Broadcast", "?", "?", "?"};
    assert_int_equal(t.n, 7);
    for (uint32_t i = 0; i < 7; i++) assert_string_equal(t.rows[i].func ? t.rows[i].func : "?", funcs[i]);
    assert_int_equal(t.unnamed, 3);
    /* Where one row tells, the others of its table are of the same test. */
    take_text("x", DEVICES4 HEADING "8 2 float sum -1 10 0.00 0.00 0 10 0.00 0.00 0\n"
                                    "64 16 float sum -1 10 2.00 3.00 0 10 2.00 3.00 0\n" DEVICES4 HEADING
                                    "8 2 float sum -1 10 0.00 0.00 0 10 0.00 0.00 0\n");
    assert_string_equal(t.rows[0].func, "AllReduce");
    assert_null(t.rows[2].func);
    assert_int_equal(t.unnamed, 1);
    /* A name that cannot be: other lines of a log name tests, too. */
    take_text("x", "building all_gather_perf\n" DEVICES4 HEADING "64 16 float sum -1 10 2.00 3.00 0 10 2.00 3.00 0\n");
    row_is(0, "?", "ncclFloat32", 4, 64, 3, 3);
    /* The next test has no name of its own. */
    take_text("x", "all_gather_perf\n# nThread 1 nGpus 4\n" DEVICES4 HEADING
                   "64 4 float none -1 10 2.00 1.50 0 10 2.00 1.50 0\n# nThread 1 nGpus 4\n" DEVICES4 HEADING
                   "64 4 float none -1 10 2.00 1.50 0 10 2.00 1.50 0\n");
    assert_string_equal(t.rows[0].func, "AllGather");
    assert_null(t.rows[1].func);
    /* One that nothing counts like is known, and of no use. */
    take_text("x", "# Collective test starting: alltoallv_perf\n" HEADING
                   "64 4 float none -1 10 2.00 1.50 0 10 2.00 1.50 0\n");
    assert_null(t.rows[0].func);
    assert_int_equal(t.unnamed, 0);
}

/* Per-iteration columns, the time of the host, a time stamp, only in place, the first version's milliseconds. */
static void test_columns(void **state)
{
    (void)state;
    take_text("all_reduce_perf",
              "# size count type redop root cputime algbw busbw #wrong i_min i_max i_p99 i_cv% cputime "
              "algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
              "8 2 float sum -1 10 2 3 N/A 1 2 3 4 20 4 6 N/A 1 2 3 4 2026-05-04 10:00:00\n"
              "8 2 float sum -1 20 4 6 N/A 1 2 3 4 2026-05-04 10:00:00\n"
              "8 2 float sum -1 20 4 6 N/A 1 2 3 4 5 6 7\n"
              "8 2 float\n10:00:01 next\n");
    assert_int_equal(t.n, 2);
    row_is(0, "AllReduce", "ncclFloat32", -1, 8, 3, 6);
    row_is(1, "AllReduce", "ncclFloat32", -1, 8, NAN, 6);
    assert_int_equal(t.bad_lines, 1); /* the last is no row at all */
    take_text("all_reduce_perf", "#  bytes  N  type  op  time  algbw  busbw  delta\n 8 2 float sum 0.5 2 3 0e+00\n");
    row_is(0, "AllReduce", "ncclFloat32", -1, 8, 3, NAN);
    assert_true(fabs(t.rows[0].out_of_place.time_us - 500) < 1e-9);
    take_text("all_reduce_perf",
              "#  size  count  type  redop  time  algbw  busbw  error\n 8 2 float sum 5 2 3 0\n 8 2 float "
              "sum 5 2 3");
    assert_int_equal(t.n, 1);
    assert_non_null(strstr(t.damage.msg, "the last line has no end"));
}

/* What report --table prints where it does not know the type. */
static void test_own(void **state)
{
    (void)state;
    take_text("x", "# Using devices\n#  Rank  0 Group  0 Pid 1 on a device 0 [?]\n"
                   "# Collective: all_gather_perf nranks 4 (AllGather on all 4 ranks)\n"
                   "# size count type redop root time algbw busbw #wrong\n64 N/A n/a n/a -1 10 2.00 1.50 N/A\n"
                   "# Collective: no test nranks 8 (SendRecv on all 8 ranks)\n64 64 int8 n/a n/a 10 2.00 2.00 N/A\n");
    assert_int_equal(t.n, 2);
    row_is(0, "AllGather", "?", 4, 64, 1.5, NAN);
    row_is(1, "?", "ncclInt8", 8, 64, 2, NAN);
    assert_int_equal(t.unnamed, 0);
}

/* A small bandwidth is told by its time: 1000 B in 10 us are 0.1 GB/s, 0.15 on the bus of 4 ranks. */
static void test_best(void **state)
{
    (void)state;
    take_text("all_reduce_perf", DEVICES4 HEADING "1000 250 float sum -1 10.00 0.10 0.15 0 8.00 0.13 0.19 0\n");
    assert_true(fabs(rs_nccl_tests_best(&t.rows[0]) - 0.1875) < 1e-12);
}

static void test_none(void **state)
{
    (void)state;
    struct rs_err err;
    rs_nccl_tests_free(&t);
    assert_int_equal(rs_nccl_tests_read(&t, "tests/data/ncclsee/4242.csv", &err), RS_BAD_INPUT);
    rs_nccl_tests_free(&t);
    assert_int_equal(rs_nccl_tests_read(&t, "tests/data/comma/latency.json", &err), RS_BAD_INPUT);
    assert_false(rs_nccl_tests_is("x", "size,count,type,time,busbw\n", 27));
    assert_false(rs_nccl_tests_is("x", "{\"version\":3,\"args\":[\"python\"]}", 31));
    assert_true(rs_nccl_tests_is("x", HEADING, strlen(HEADING)));
    assert_false(rs_nccl_tests_is("README.md", HEADING, strlen(HEADING))); /* shows one */
    static const char fenced[] = "# How fast\n```\n" HEADING "```\n";
    assert_false(rs_nccl_tests_is("notes.txt", fenced, strlen(fenced)));
    assert_string_equal(rs_nccl_tests_type("Unknown"), "uint8");
    assert_string_equal(rs_nccl_tests_program("Reduce"), "reduce_perf");
    assert_null(rs_nccl_tests_program("Send"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),    cmocka_unit_test(test_old),   cmocka_unit_test(test_log),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_ranks), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_best),  cmocka_unit_test(test_own),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
