/* CoMMA's latency file and ncclsee's CSV: small hand-made ones from the formats' descriptions. */
#include "foreign/comma/comma.h"
#include "foreign/formats.h"
#include "foreign/ncclsee/ncclsee.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_comma(void **state)
{
    (void)state;
    struct rs_comma p;
    struct rs_err err;
    if (rs_comma_read(&p, "tests/data/comma/latency.json", &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(p.n_ops, 2);
    assert_int_equal(p.n_proxies, 3); /* that of the cut operation is gone with it */
    assert_int_equal(p.n_steps, 2);
    assert_non_null(strstr(p.damage.msg, "tests/data/comma/latency.json: at byte 904: "));
    const struct rs_comma_op *op = p.ops;
    assert_string_equal(op->name, "all_reduce");
    assert_string_equal(op->algo, "RING");
    assert_true(op->comm == 0xf8aecebabb9e37af);
    assert_int_equal(op->bytes, 20971520);
    assert_int_equal(op->seq, 57);
    assert_int_equal(op->start_ns, 9615369000);
    assert_int_equal(op->dur_ns, 11039000);
    assert_int_equal(op->child_dur_ns, 1456000);
    assert_int_equal(op->child_start_ns, -1);
    assert_false(op->p2p);
    assert_true(op[1].p2p && op[1].reclaimed);
    assert_int_equal(op[1].peer, 2);
    const struct rs_comma_proxy *x = p.proxies;
    assert_true(x[0].op == 0 && x[1].op == 0 && x[2].op == RS_COMMA_NONE);
    assert_true(!x[0].send && x[1].send && x[2].send);
    assert_int_equal(x[0].peer, 16);
    assert_int_equal(x[0].steps, 2);
    assert_int_equal(x[1].steps, 0);
    assert_int_equal(x[1].n_steps, 2);
    assert_int_equal(x[2].parent, 77);
    assert_int_equal(p.steps[1].bytes, 262144);
    assert_int_equal(p.steps[1].end_ns, 9626229000);
    assert_int_equal(p.steps[1].fifo_ready_ns, -1);
    rs_comma_free(&p);
    static const char other[] = "[{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"args\": {\"CommHash\": 1}}]";
    assert_false(rs_comma_is("", other, sizeof other - 1));
    assert_int_equal(rs_comma_read_memory(&p, "x", "{}", 2, &err), RS_BAD_INPUT);
    assert_string_equal(err.msg, "x: at byte 0: no operation of CoMMA in it");
    rs_comma_free(&p);
}

static void test_ncclsee(void **state)
{
    (void)state;
    struct rs_ncclsee p;
    struct rs_err err;
    if (rs_ncclsee_read(&p, "tests/data/ncclsee/4242.csv", &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.rows[0].func, "AllReduce");
    assert_int_equal(p.rows[0].max_bytes, 1024);
    assert_int_equal(p.rows[0].calls, 96);
    assert_int_equal(p.rows[0].time_ns, 852550);
    assert_string_equal(p.rows[1].func, "Group");
    assert_int_equal(p.rows[1].bytes, -1);
    assert_int_equal(p.rows[1].calls, 101);
    assert_int_equal(p.bad_lines, 1);
    assert_non_null(strstr(p.damage.msg, "not a row of ncclsee"));
    rs_ncclsee_free(&p);
    assert_int_equal(rs_ncclsee_read(&p, "tests/data/comma/latency.json", &err), RS_BAD_INPUT);
    rs_ncclsee_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comma), cmocka_unit_test(test_ncclsee)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
