/* Inspector's logs in the model: with times where it told them, with durations where not, and waits from durations
 * alone against waits worked out by hand. What Inspector dropped is not recorded, never missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/bandwidth.h"
#include "foreign/formats.h"
#include "foreign/inspector/model.h"
#include "join/durations.h"
#include "join/join.h"
#include "join/presence.h"

#define DATA "tests/data/inspector/"

static void read_text(struct rs_model *m, const char *path, const char *text, uint64_t *lost)
{
    struct rs_inspector log;
    struct rs_err err = {0};
    uint32_t proc;
    assert_int_equal(rs_inspector_read_memory(&log, path, text, strlen(text), &err), RS_OK);
    assert_int_equal(rs_inspector_to_model(m, &log, path, &proc, lost, &err), RS_OK);
    assert_int_not_equal(proc, RS_NONE);
    rs_inspector_free(&log);
}

static void finish(struct rs_model *m)
{
    struct rs_err err = {0};
    rs_model_link(m);
    assert_int_equal(rs_join(m, true, &err), RS_OK);
}

#define HEAD(rank, pid)                                                                                                \
    "{\"header\":{\"id\":\"0x5\",\"comm_name\":\"unknown\",\"rank\":" rank ",\"n_ranks\":2,\"nnodes\":1},"             \
    "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1794702960834758,"               \
    "\"hostname\":\"n0\",\"pid\":" pid "},"
#define COLL(rank, pid, func, sn, us, from)                                                                            \
    HEAD(rank, pid)                                                                                                    \
    "\"coll_perf\":{\"coll\":\"" func "\",\"coll_sn\":" sn ",\"coll_msg_size_bytes\":4096,\"coll_exec_time_us\":" us   \
    ",\"coll_timing_source\":\"" from "\",\"coll_algobw_gbs\":inf,\"coll_busbw_gbs\":inf}}\n"

/* Number 3: 30 us against 50. Number 4: the quick one is the other. 5 is lost on rank 1, 6 and 7 on both. */
static void waits_from_durations(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint64_t lost;
    read_text(&m, "a",
              COLL("0", "7", "AllReduce", "3", "30", "kernel_gpu") COLL("0", "7", "AllReduce", "4", "90", "kernel_gpu")
                  COLL("0", "7", "AllReduce", "5", "10", "kernel_gpu")
                      COLL("0", "7", "AllReduce", "8", "10", "kernel_gpu"),
              &lost);
    assert_int_equal(lost, 4);
    read_text(&m, "b",
              COLL("1", "8", "AllReduce", "3", "50", "kernel_gpu") COLL("1", "8", "AllReduce", "4", "20", "kernel_gpu")
                  COLL("1", "8", "AllReduce", "8", "10", "collective_cpu"),
              &lost);
    assert_int_equal(lost, 5);
    finish(&m);
    assert_int_equal(m.nprocs, 2);
    assert_int_equal(m.ncomms, 1);
    assert_int_equal(m.ops.n, 4);
    struct rs_presence_index presence;
    rs_presence_init(&presence, &m);
    for (uint32_t op = 0; op < m.ops.n; op++) {
        int64_t shortest = rs_op_shortest(&m, op);
        bool whole = m.ops.nparts[op] == 2;
        if (m.ops.seq[op] == 3) assert_true(shortest == 30000);
        if (m.ops.seq[op] == 4) assert_true(shortest == 20000);
        if (m.ops.seq[op] == 5) assert_int_equal(rs_presence(&presence, &m, op, 1), RS_NOT_RECORDED);
        if (m.ops.seq[op] == 5) assert_true(shortest == RS_TIME_NONE);
        if (m.ops.seq[op] == 8) assert_true(shortest == RS_TIME_NONE); /* one of the two is the enqueueing's */
        assert_int_equal(!!(m.ops.flags[op] & RS_OP_COMPLETE), whole);
        assert_true(m.ops.first[op] == RS_TIME_NONE);
    }
    struct rs_view view;
    struct rs_bandwidth b;
    struct rs_filter filter = {0};
    rs_view_init(&view, &m, &filter);
    rs_bandwidth_find(&b, &view, false);
    assert_int_equal(b.nrows, 1);
    assert_int_equal(b.rows[0].calls, 4);
    assert_int_equal(b.rows[0].clock_free, 2);
    assert_int_equal(b.rows[0].waited, 4);
    assert_true(b.rows[0].wait_sum_ns == 20000 + 70000);
    assert_int_equal(b.rows[0].transferred, 2);
    assert_true(b.rows[0].transfer_sum_ns == 30000 + 20000);
    assert_int_equal(b.rows[0].timed, 6);
    assert_true(b.rows[0].total_ns == 1000 * (30 + 90 + 10 + 10 + 50 + 20));
    rs_bandwidth_free(&b);
    rs_view_free(&view);
    rs_presence_free(&presence);
    rs_model_free(&m);
}

/* A broadcast's root may be done long before the others: its shortest time says nothing. */
static void not_of_a_broadcast(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint64_t lost;
    read_text(&m, "a", COLL("0", "7", "Broadcast", "3", "30", "kernel_gpu"), &lost);
    read_text(&m, "b", COLL("1", "8", "Broadcast", "3", "50", "kernel_gpu"), &lost);
    finish(&m);
    assert_int_equal(m.ops.n, 1);
    assert_true(rs_op_shortest(&m, 0) == RS_TIME_NONE);
    assert_true(rs_part_duration(&m, 0) == 30000);
    rs_model_free(&m);
}

static void fill(struct rs_model *m, const char *path, struct rs_other *file)
{
    *file = (struct rs_other){.path = strdup(path), .complete = true, .proc = RS_NONE};
    struct rs_fill f = {.model = m, .files = &file, .n = 1};
    struct rs_err err = {0};
    assert_int_equal(rs_inspector_fill(&f, &err), RS_OK);
}

static void verbose(void **state)
{
    (void)state;
    struct rs_model m = {0};
    struct rs_other file;
    fill(&m, DATA "inspector_rank0.log", &file);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(file.proc, 0);
    assert_int_equal(m.procs[0].pid, 100);
    assert_string_equal(m.hosts[m.procs[0].host].name, "n0");
    assert_true(m.procs[0].drops);
    uint32_t timed = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->start[i] == RS_TIME_NONE) continue;
        timed++;
        assert_int_equal(t->start_source[i], RS_FROM_CALLBACK); /* the host's clock */
        assert_true(t->enqueued[i] == 1727743130000000000 && t->start[i] == 1727743130000020000);
        assert_true(t->end[i] == 1727743130000330000);
        assert_true(rs_part_duration(&m, i) == 300000);
    }
    assert_int_equal(timed, 2);
    int64_t first = INT64_MAX, last = INT64_MIN; /* of all that has a time; the log was written later */
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->enqueued[i] != RS_TIME_NONE && t->enqueued[i] < first) first = t->enqueued[i];
        if (t->before[i] != RS_TIME_NONE && t->before[i] < first) first = t->before[i];
        if (t->end[i] > last) last = t->end[i];
    }
    assert_true(m.procs[0].first == first && m.procs[0].begin == first);
    assert_true(m.procs[0].last >= last && m.procs[0].end == m.procs[0].last);
    free(file.path);
    rs_model_free(&m);
}

/* The real logs, whose last line is cut: kept, said, and dropped operations counted. */
static void real(void **state)
{
    (void)state;
    struct rs_model m = {0};
    struct rs_other files[2];
    fill(&m, DATA "vm-pid1194.log.gz", &files[0]);
    fill(&m, DATA "vm-pid1195.log.gz", &files[1]);
    for (int i = 0; i < 2; i++) {
        assert_false(files[i].complete);
        assert_non_null(strstr(files[i].why, "vm-pid119"));
        free(files[i].path);
    }
    assert_int_equal(m.procs[0].lost, 94); /* numbers 95 to 535 are there */
    assert_int_equal(m.nhosts, 1);
    finish(&m);
    uint32_t whole = 0, told = 0;
    for (uint32_t op = 0; op < m.ops.n; op++) {
        whole += m.ops.nparts[op] == 2;
        told += rs_op_shortest(&m, op) != RS_TIME_NONE;
        assert_false(m.ops.flags[op] & RS_OP_MISMATCH);
    }
    assert_true(whole > 100);
    assert_int_equal(told, whole);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_from_durations), cmocka_unit_test(not_of_a_broadcast),
                                       cmocka_unit_test(verbose), cmocka_unit_test(real)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
