/* CoMMA's latency file and ncclsee's table in the model: times of the network where there are any, sums of its steps,
 * what was given up without an end, and statistics without times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/comma/model.h"
#include "foreign/formats.h"

static void fill(struct rs_model *m, const char *path, struct rs_other *file,
                 enum rs_status (*how)(struct rs_fill *fill, struct rs_err *err))
{
    *file = (struct rs_other){.path = strdup(path), .complete = true, .proc = RS_NONE};
    struct rs_fill f = {.model = m, .files = &file, .n = 1};
    struct rs_err err = {0};
    assert_int_equal(how(&f, &err), RS_OK);
}

/* An all-reduce with two proxy operations, a send that was given up, and half an object. */
static void a_file(void **state)
{
    (void)state;
    struct rs_model m = {0};
    struct rs_other file;
    fill(&m, "tests/data/comma/latency.json", &file, rs_comma_fill);
    assert_false(file.complete);
    assert_non_null(strstr(file.why, "byte 904"));
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 2);
    assert_string_equal(rs_model_text(&m, t->func[0]), "AllReduce");
    assert_string_equal(rs_model_text(&m, t->algo[0]), "RING");
    assert_int_equal(t->seq[0], 57);
    assert_int_equal(t->count[0], 20971520);
    assert_int_equal(t->channels[0], 8);
    assert_true(t->enqueued[0] == 9615369000);
    assert_true(t->start[0] == 9624951000); /* of the first proxy operation... */
    assert_true(t->end[0] == 9625026000 + 1382000); /* ...to the end of the last */
    assert_int_equal(t->start_source[0], RS_FROM_PROXY);
    assert_true(t->flags[0] & RS_PART_DONE);
    assert_int_equal(t->kind[1], RS_PART_SEND);
    assert_int_equal(t->peer[1], 2);
    assert_true(t->start[1] == RS_TIME_NONE && t->end[1] == RS_TIME_NONE);
    assert_false(t->flags[1] & RS_PART_DONE); /* reclaimed: its end was not seen */
    assert_int_equal(m.nmembers, 1);
    assert_true(m.comms[0].hash == 0xf8aecebabb9e37af);
    assert_int_equal(m.nnets, 1); /* the proxy operation with steps */
    assert_int_equal(m.nets[0].peer, 16);
    assert_int_equal(m.nets[0].received, 2);
    assert_int_equal(m.nets[0].received_bytes, 1048576 + 262144);
    assert_true(m.nets[0].recv_ns == (1277 + 1276) * 1000);
    assert_true(m.procs[0].drops);
    free(file.path);
    rs_model_free(&m);
}

/* What CoMMA says of the children itself, and a send's step with its wait. */
static void a_send(void **state)
{
    (void)state;
    static const char text[] =
        "{\"args\":{\"size\":10},\"cat\":\"COLL\",\"child_start_ts\":50,\"child_dur\":20,\"comm_hash\":\"0x9\",\"dur\":"
        "5,"
        "\"name\":\"all_gather\",\"ph\":\"X\",\"rank\":1,\"seq_num\":2,\"ts\":40,\"proxyops\":[{\"cat\":\"PROXY\","
        "\"dur\":9,\"is_send\":true,\"name\":\"ProxyOp\",\"peer\":0,\"ph\":\"X\",\"pid\":169,\"ts\":52,\"steps\":["
        "{\"end_time\":60,\"fifo_ready_time\":56,\"size\":8,\"start_time\":53,\"step\":1}]}]}\n";
    struct rs_comma rows;
    struct rs_err err = {0};
    struct rs_model m = {0};
    uint32_t proc;
    assert_int_equal(rs_comma_read_memory(&rows, "x", text, sizeof text - 1, &err), RS_OK);
    assert_int_equal(rs_comma_to_model(&m, &rows, "x", &proc, &err), RS_OK);
    assert_true(m.parts.start[0] == 50000 && m.parts.end[0] == 70000 && m.parts.enqueued[0] == 40000);
    assert_true(m.nets[0].credit_ns == 3000 && m.nets[0].send_ns == 4000);
    assert_int_equal(m.nets[0].sent_bytes, 8);
    assert_true(m.procs[proc].begin == 40000 && m.procs[proc].end == 70000);
    rs_comma_free(&rows);
    rs_model_free(&m);
}

static void statistics(void **state)
{
    (void)state;
    struct rs_model m = {0};
    struct rs_other file;
    fill(&m, "tests/data/ncclsee/4242.csv", &file, rs_ncclsee_fill);
    assert_false(file.complete); /* its last line is cut */
    assert_int_equal(m.procs[0].pid, 4242);
    assert_int_equal(m.nstats, 2);
    assert_int_equal(m.stats[0].kind, RS_STAT_OPERATION);
    assert_string_equal(rs_model_text(&m, m.stats[0].func), "AllReduce");
    assert_string_equal(rs_model_name_text(&m, m.stats[0].name), "AllReduce 64B-1KB");
    assert_int_equal(m.stats[0].calls, 96);
    assert_int_equal(m.stats[0].bytes, 6144);
    assert_true(m.stats[0].total_ns == 852550);
    assert_int_equal(m.stats[1].func, 0); /* a group call is no function */
    assert_int_equal(m.stats[1].calls, 101);
    assert_int_equal(m.parts.n, 0);
    free(file.path);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file), cmocka_unit_test(a_send),
                                       cmocka_unit_test(statistics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
