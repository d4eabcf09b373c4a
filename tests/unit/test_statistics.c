/* Summaries side by side: waits, differences, ranges, against numbers made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/statistics.h"

static struct rs_model model;
static struct rs_statistics stats;

static void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

static uint32_t name(const char *text)
{
    uint32_t id;
    fine(rs_model_name(&model, text, strlen(text), &id, NULL));
    return id;
}

static void make(uint32_t procs)
{
    model = (struct rs_model){0};
    for (uint32_t i = 0; i < procs; i++) {
        uint32_t host, proc;
        rs_model_host(&model, "", "x", &host);
        fine(RS_OK);
        rs_model_proc(&model, &proc);
        fine(RS_OK);
        model.procs[proc].pid = 100 + i;
    }
}

static void add(uint32_t proc, uint8_t kind, const char *func, const char *text, uint64_t calls, int64_t total)
{
    struct rs_stat s = {.proc = proc, .member = RS_NONE, .kind = kind, .calls = calls, .total_ns = total};
    rs_model_string(&model, func, &s.func);
    fine(RS_OK);
    s.name = name(text);
    s.min_ns = total == RS_TIME_NONE ? RS_TIME_NONE : total / (int64_t)calls;
    s.max_ns = s.min_ns;
    rs_model_stat(&model, &s);
    fine(RS_OK);
}

static void done(void)
{
    rs_statistics_free(&stats);
    rs_model_free(&model);
}

static const struct rs_stat_row *row_of(enum rs_table_of table, const char *text)
{
    for (uint32_t i = 0; i < stats.nrows[table]; i++)
        if (!strcmp(rs_model_name_text(&model, stats.rows[table][i].name), text)) return &stats.rows[table][i];
    fail_msg("no row %s", text);
    return NULL;
}

static void test_waits(void **state)
{
    (void)state;
    static const int64_t totals[] = {900000000, 300000000, 500000000};
    make(3);
    for (uint32_t p = 0; p < 3; p++) {
        add(p, RS_STAT_COMM, "AllReduce", "reduce", 100, totals[p]);
        add(p, RS_STAT_COMM, "AllGather", "gather", 10 + p, totals[p]); /* other calls: not the same operations */
        add(p, RS_STAT_COMM, "SendRecv", "p2p", 10, totals[p]);
        add(p, RS_STAT_OPERATION, "AllReduce", "timed otherwise", 10, totals[p]);
    }
    add(0, RS_STAT_COMM, "Broadcast", "alone", 5, 1000);
    rs_statistics_init(&stats, &model);
    fine(RS_OK);
    const struct rs_stat_row *row = row_of(RS_TABLE_OPERATIONS, "reduce");
    assert_ptr_equal(row, stats.rows[RS_TABLE_OPERATIONS]); /* the longest wait first */
    assert_int_equal(row->n, 3);
    assert_int_equal(row->wait_ns, 800000000);
    for (uint32_t p = 0; p < 3; p++) assert_int_equal(stats.cells[row->first + p].wait_ns, totals[p] - 300000000);
    assert_true(row_of(RS_TABLE_OPERATIONS, "gather")->wait_ns == RS_TIME_NONE);
    assert_true(row_of(RS_TABLE_OPERATIONS, "p2p")->wait_ns == RS_TIME_NONE);
    assert_true(row_of(RS_TABLE_OPERATIONS, "alone")->wait_ns == RS_TIME_NONE);
    assert_true(row_of(RS_TABLE_OPERATIONS, "timed otherwise")->wait_ns == RS_TIME_NONE);
    assert_int_equal(stats.procs[0].wait_ns, 600000000);
    assert_int_equal(stats.procs[0].comm_ns, 900000000 * INT64_C(3) + 1000);
    unsigned next = 0;
    struct rs_strbuf text = {0};
    assert_true(rs_statistics_say(&stats, &next, &text));
    assert_non_null(strstr(rs_strbuf_borrow(&text),
                           "process 100 waited about 600 ms of its 900 ms in AllReduce kernels "
                           "(100 calls of 9 ms on average, against 3 ms in process 101)"));
    rs_strbuf_clear(&text);
    assert_true(rs_statistics_say(&stats, &next, &text));
    assert_non_null(strstr(rs_strbuf_borrow(&text), "NCCL kernels take 100.0 % of the GPU time of process 100"));
    rs_strbuf_clear(&text);
    assert_true(rs_statistics_say(&stats, &next, &text));
    assert_non_null(strstr(rs_strbuf_borrow(&text), "no time axis"));
    assert_false(rs_statistics_say(&stats, &next, &text));
    rs_strbuf_free(&text);
    done();
}

/* A launcher without kernels is not compared; a process without the call counts as 0. */
static void test_differences(void **state)
{
    (void)state;
    make(3);
    add(0, RS_STAT_KERNEL, NULL, "gemm", 5, 1000);
    add(1, RS_STAT_KERNEL, NULL, "gemm", 5, 1000);
    add(0, RS_STAT_CALL, NULL, "cudaMalloc", 5, 5000000);
    add(1, RS_STAT_CALL, NULL, "cudaMalloc", 5, 4000000);
    add(2, RS_STAT_CALL, NULL, "cudaMalloc", 5, 900000000);
    add(1, RS_STAT_CALL, NULL, "cudaFree", 5, 7000000);
    rs_statistics_init(&stats, &model);
    fine(RS_OK);
    assert_int_equal(row_of(RS_TABLE_CALLS, "cudaMalloc")->spread_ns, 1000000);
    assert_int_equal(row_of(RS_TABLE_CALLS, "cudaFree")->spread_ns, 7000000);
    assert_ptr_equal(row_of(RS_TABLE_CALLS, "cudaFree"), stats.rows[RS_TABLE_CALLS]);
    assert_int_equal(row_of(RS_TABLE_KERNELS, "gemm")->n, 2);
    assert_int_equal(row_of(RS_TABLE_CALLS, "cudaMalloc")->n, 3);
    done();
}

/* Ranges of two threads stay apart; work inside goes to the range of its thread. */
static void test_ranges(void **state)
{
    (void)state;
    make(1);
    for (uint32_t t = 0; t < 2; t++) {
        struct rs_stat s = {.member = RS_NONE, .kind = RS_STAT_RANGE, .calls = 3, .total_ns = 10, .min_ns = 1};
        s.name = name("forward");
        s.thread = name(t ? "2" : "1");
        rs_model_stat(&model, &s);
        fine(RS_OK);
        s.kind = RS_STAT_RANGE_WORK;
        s.within = s.name;
        s.name = name("gemm");
        s.total_ns = 1000 * (t + 1);
        rs_model_stat(&model, &s);
        fine(RS_OK);
    }
    rs_statistics_init(&stats, &model);
    fine(RS_OK);
    assert_int_equal(stats.nrows[RS_TABLE_RANGES], 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rs_stat_row *row = &stats.rows[RS_TABLE_RANGES][i];
        bool second = !strcmp(rs_model_name_text(&model, row->thread), "2");
        assert_int_equal(stats.cells[row->first].gpu_ns, second ? 2000 : 1000);
        assert_int_equal(stats.cells[row->first].gpu_calls, 3);
    }
    assert_int_equal(stats.nrows[RS_TABLE_KERNELS], 0); /* it stands in the whole too, where there is one */
    done();
}

static void test_nothing(void **state)
{
    (void)state;
    unsigned next = 0;
    struct rs_strbuf text = {0};
    make(1);
    rs_statistics_init(&stats, &model);
    fine(RS_OK);
    assert_false(rs_statistics_say(&stats, &next, &text));
    done();
    make(2);
    add(0, RS_STAT_COMM, "AllReduce", "r", 1, INT64_MAX); /* damaged numbers */
    add(1, RS_STAT_COMM, "AllReduce", "r", 1, INT64_MAX);
    add(1, RS_STAT_COMM, "AllReduce", "s", 1, RS_TIME_NONE);
    add(0, RS_STAT_COMM, "AllReduce", "s", 1, 5);
    rs_statistics_init(&stats, &model);
    fine(RS_OK);
    assert_true(row_of(RS_TABLE_OPERATIONS, "r")->total_ns == INT64_MAX);
    assert_true(row_of(RS_TABLE_OPERATIONS, "s")->wait_ns == RS_TIME_NONE);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
