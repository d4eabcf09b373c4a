/* Inspector's logs: the real ones (cut in their last line), a verbose one, and what real ones hold that is not JSON. */
#include "foreign/formats.h"
#include "foreign/inspector/inspector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_real(const char *path, int64_t pid, int64_t rank, uint64_t first, uint64_t last, int64_t first_dump,
                       int64_t last_dump, int64_t first_exec)
{
    struct rs_inspector p;
    struct rs_err err;
    if (rs_inspector_read(&p, path, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(p.lines, 442);
    assert_int_equal(p.n_ops, 441);
    assert_int_equal(p.bad_lines, 1);
    assert_int_equal(p.other_lines, 0);
    assert_int_equal(p.damage.code, RS_BAD_INPUT);
    assert_non_null(strstr(p.damage.msg, path));
    assert_non_null(strstr(p.damage.msg, "cut off"));
    assert_int_equal(p.n_members, 1);
    const struct rs_inspector_member *m = p.members;
    assert_true(m->comm == 0x546aca745134fc);
    assert_int_equal(m->rank, rank);
    assert_int_equal(m->n_ranks, 2);
    assert_int_equal(m->n_nodes, 2);
    assert_int_equal(m->pid, pid);
    assert_int_equal(m->ops, 441);
    assert_string_equal(m->host, "vm");
    assert_string_equal(m->version, "v4.0");
    const struct rs_inspector_op *a = p.ops, *z = p.ops + 440;
    assert_string_equal(a->func, "AllReduce");
    assert_int_equal(a->sn, first);
    assert_int_equal(z->sn, last);
    assert_int_equal(a->bytes, 64);
    assert_int_equal(a->exec_ns, first_exec);
    assert_int_equal(z->exec_ns, 17000);
    assert_int_equal(a->dump_us, first_dump);
    assert_int_equal(z->dump_us, last_dump);
    assert_int_equal(a->timing, RS_INSPECTOR_KERNEL_GPU);
    assert_true(fabs(z->busbw_gbs - 0.003765) < 1e-9);
    assert_int_equal(a->start_us, -1);
    assert_false(p.verbose);
    assert_false(a->p2p);
    rs_inspector_free(&p);
}

static void test_real(void **state)
{
    (void)state;
    check_real("tests/data/inspector/vm-pid1194.log.gz", 1194, 0, 95, 535, 1794702960834758, 1794702960836946, 19000);
    check_real("tests/data/inspector/vm-pid1195.log.gz", 1195, 1, 94, 534, 1794702960834497, 1794702960836361, 20000);
}

static void test_verbose(void **state)
{
    (void)state;
    struct rs_inspector p;
    struct rs_err err;
    if (rs_inspector_read(&p, "tests/data/inspector/inspector_rank0.log", &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(p.n_ops, 3);
    assert_int_equal(p.n_members, 1);
    assert_int_equal(p.damage.code, RS_OK);
    assert_true(p.verbose);
    const struct rs_inspector_op *op = p.ops;
    assert_int_equal(op->start_us, 1727743130000000);
    assert_int_equal(op->stop_us, 1727743130000012);
    assert_int_equal(op->stop_sn, 2);
    assert_int_equal(op->n_kernels, 1);
    const struct rs_inspector_kernel *k = &p.kernels[p.ops[1].first_kernel];
    assert_int_equal(k->channel, 0);
    assert_int_equal(k->start_us, 1727743130000020);
    assert_int_equal(k->stop_us, 1727743130000330);
    assert_int_equal(k->record_us, 1727743130000331);
    assert_int_equal(k->start_sn, 3);
    assert_int_equal(k->stop_sn, 5);
    assert_int_equal(k->record_sn, 4);
    op = &p.ops[2];
    assert_true(op->p2p);
    assert_string_equal(op->func, "Send");
    assert_int_equal(op->peer, 1);
    assert_int_equal(op->bytes, 8192);
    assert_int_equal(op->exec_ns, 22000);
    assert_int_equal(op->n_kernels, 0);
    rs_inspector_free(&p);
}

#define HEAD "{\"header\":{\"id\":\"0xffffffffffffffff\",\"rank\":1},"

static void test_odd(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "\"coll_perf\":{\"coll\":\"AllGather\",\"coll_sn\":1,\"coll_algobw_gbs\":inf,\"coll_busbw_gbs\":\"nan\"}}\n"
        "NCCL INFO a line of somebody else\n\n" /* the empty one does not count */
        HEAD "\"proxy_perf\":{\"coll\":[{\"a\":1}]}}\n" /* v4.3: unknown things are passed over */
        HEAD
        "\"dump_stats\":[1,{\"header\":2}],\"coll_perf\":{\"new\":{\"coll_sn\":9},\"coll\":\"Reduce\",\"coll_sn\":2,"
        "\"coll_algobw_gbs\":-inf}}\r\n"
        "{\"coll_perf\":{\"coll\":\"Reduce\"}}\n" /* of no communicator */
        HEAD "\"coll_perf\":{\"coll\":\"Reduce\",\"coll_sn\":3}"; /* cut */
    struct rs_inspector p;
    struct rs_err err;
    assert_true(rs_inspector_is("", text, sizeof text - 1));
    assert_int_equal(rs_inspector_read_memory(&p, "x", text, sizeof text - 1, &err), RS_OK);
    assert_int_equal(p.lines, 6);
    assert_int_equal(p.n_ops, 2);
    assert_int_equal(p.other_lines, 1);
    assert_int_equal(p.bad_lines, 3);
    assert_non_null(strstr(p.damage.msg, "x: at byte 138: not a JSON object"));
    assert_true(p.members[0].comm == UINT64_MAX);
    assert_int_equal(p.members[0].n_ranks, -1);
    assert_true(isinf(p.ops[0].algbw_gbs) && p.ops[0].algbw_gbs > 0);
    assert_true(isnan(p.ops[0].busbw_gbs));
    assert_int_equal(p.ops[0].exec_ns, -1);
    assert_int_equal(p.ops[1].sn, 2);
    assert_string_equal(p.ops[1].func, "Reduce");
    assert_true(isinf(p.ops[1].algbw_gbs) && p.ops[1].algbw_gbs < 0);
    assert_true(isnan(p.ops[1].busbw_gbs));
    rs_inspector_free(&p);

    assert_int_equal(rs_inspector_read_memory(&p, "x", "", 0, &err), RS_BAD_INPUT);
    rs_inspector_free(&p);
    assert_int_equal(rs_inspector_read_memory(&p, "x", "{", 1, &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "x: at byte 0: the line is cut off"));
    rs_inspector_free(&p);
    assert_false(rs_inspector_is("", "{\"traceEvents\":[", 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_verbose),
        cmocka_unit_test(test_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
