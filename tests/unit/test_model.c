/* The tables of the model: texts, communicators that come again, members by rank, rows that survive growth. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_strings(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint16_t id, other;
    rs_model_string(&m, NULL, &id);
    assert_int_equal(id, 0);
    rs_model_string(&m, "", &id);
    assert_int_equal(id, 0);
    assert_string_equal(rs_model_text(&m, 0), "");
    char text[16] = "AllReduce"; /* the caller's, not kept */
    rs_model_string(&m, text, &id);
    strcpy(text, "x");
    assert_string_equal(rs_model_text(&m, id), "AllReduce");
    rs_model_string(&m, "AllReduce", &other);
    assert_int_equal(other, id);
    rs_model_string(&m, "AllReducE", &other);
    assert_int_not_equal(other, id);
    assert_string_equal(rs_model_text(&m, 65535), "");
    rs_model_free(&m);
}

static void test_too_many_strings(void **state)
{
    (void)state;
    struct rs_model m = {0};
    enum { N = 70000 };
    static uint16_t ids[N];
    char text[32];
    uint32_t unknown = 0;
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "text %d", i);
        rs_model_string(&m, text, &ids[i]);
    }
    for (int i = 0; i < N; i++) {
        uint16_t again;
        snprintf(text, sizeof text, "text %d", i);
        rs_model_string(&m, text, &again);
        assert_int_equal(again, ids[i]);
        if (strcmp(rs_model_text(&m, ids[i]), "?"))
            assert_string_equal(rs_model_text(&m, ids[i]), text);
        else
            unknown++;
    }
    assert_int_equal(unknown, N - (65535 - 2)); /* "" and "?" take two */
    rs_model_free(&m);
}

static void test_hosts_and_gpus(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t a, b, again, g[5];
    rs_model_host(&m, "n0", "boot0", &a);
    rs_model_host(&m, "n0", "boot1", &b); /* the name alone is no identity */
    rs_model_host(&m, "container", "boot0", &again);
    assert_int_not_equal(a, b);
    assert_int_equal(again, a);
    assert_string_equal(m.hosts[a].name, "n0");
    assert_int_equal(m.domains[m.hosts[b].domain].kind, RS_DOMAIN_HOST);
    assert_int_equal(m.domains[m.hosts[b].domain].host_domain, m.hosts[b].domain);
    static const uint8_t none[16], one[16] = {1}, two[16] = {[15] = 1};
    rs_model_gpu(&m, a, one, &g[0]);
    rs_model_gpu(&m, a, two, &g[1]);
    rs_model_gpu(&m, a, one, &g[2]);
    rs_model_gpu(&m, a, none, &g[3]);
    rs_model_gpu(&m, a, none, &g[4]);
    assert_int_equal(g[0], g[2]);
    assert_int_not_equal(g[0], g[1]);
    assert_int_not_equal(g[3], g[4]); /* not known: never the same */
    assert_int_equal(m.domains[g[1]].host_domain, m.hosts[a].domain);
    assert_int_equal(m.domains[g[1]].error_ns, RS_TIME_NONE);
    rs_model_free(&m);
}

static uint32_t add_member(struct rs_model *m, uint32_t comm, int32_t rank)
{
    uint32_t x;
    rs_model_member(m, comm, &x);
    m->members[x].rank = rank;
    return x;
}

static void test_incarnations(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t a, b, c, d, e;
    rs_model_comm(&m, 7, &a);
    rs_model_comm(&m, 8, &b);
    rs_model_comm(&m, 7, &c);
    rs_model_comm(&m, 7, &d);
    rs_model_comm(&m, 0, &e); /* without a number: never the same */
    rs_model_comm(&m, 0, &e);
    assert_int_equal(m.comms[a].incarnation, 0);
    assert_int_equal(m.comms[b].incarnation, 0);
    assert_int_equal(m.comms[c].incarnation, 1);
    assert_int_equal(m.comms[d].incarnation, 2);
    assert_int_equal(m.comms[e].incarnation, 0);
    assert_int_equal(rs_map_get(&m.comm_index, 7, RS_NONE), d);
    assert_int_equal(m.comms[a].nranks, -1);
    assert_int_equal(m.comms[a].parent.comm, RS_NONE);
    assert_int_equal(m.comms[a].class, RS_NONE);
    rs_model_free(&m);
}

static void test_link(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t empty, big, small, again;
    rs_model_comm(&m, 0, &empty); /* turned out to be another: goes */
    rs_model_comm(&m, 5, &big);
    rs_model_comm(&m, 0, &empty);
    rs_model_comm(&m, 6, &small);
    rs_model_comm(&m, 5, &again);
    enum { N = 1000 };
    for (int32_t i = 0; i < N; i++) add_member(&m, big, (i * 7 + 3) % N); /* 7 and 1000 have no common divisor */
    uint32_t late = add_member(&m, again, 2), nameless = add_member(&m, small, -1), one = add_member(&m, small, 1);
    rs_model_link(&m);
    assert_int_equal(m.ncomms, 3);
    big = 0, small = 1, again = 2; /* they moved up */
    assert_int_equal(m.comms[big].hash, 5);
    assert_int_equal(m.comms[small].hash, 6);
    assert_int_equal(m.comms[again].hash, 5);
    assert_int_equal(m.comms[again].incarnation, 1);
    assert_int_equal(rs_map_get(&m.comm_index, 5, RS_NONE), again);
    assert_int_equal(rs_map_get(&m.comm_index, 6, RS_NONE), small);
    int32_t rank = 0;
    for (uint32_t x = m.comms[big].first_member; x != RS_NONE; x = m.members[x].next, rank++) {
        assert_int_equal(m.members[x].rank, rank);
        assert_int_equal(m.members[x].comm, big);
        assert_int_equal(rs_comm_member(&m, big, rank), x);
    }
    assert_int_equal(rank, N);
    assert_int_equal(m.comms[big].nmembers, N);
    assert_int_equal(rs_comm_member(&m, big, N), RS_NONE);
    assert_int_equal(rs_comm_member(&m, big, -1), RS_NONE);
    assert_int_equal(rs_comm_member(&m, again, 2), late);
    assert_int_equal(rs_comm_member(&m, again, 3), RS_NONE);
    assert_int_equal(m.comms[small].first_member, nameless); /* there, but not to be found by a rank */
    assert_int_equal(m.members[nameless].next, one);
    assert_int_equal(rs_comm_member(&m, small, -1), RS_NONE);
    assert_int_equal(rs_comm_member(&m, small, 1), one);
    rs_model_free(&m);
    rs_model_link(&m); /* an empty one */
    rs_model_free(&m);
}

/* Rows keep what was written while tables grow; new ones say that nothing is known. */
static void test_growth(void **state)
{
    (void)state;
    struct rs_model m = {0};
    enum { N = 5000 };
    for (uint32_t i = 0; i < N; i++) {
        uint32_t p, o;
        rs_model_part(&m, &p);
        rs_model_op(&m, &o);
        assert_int_equal(p, i);
        assert_int_equal(o, i);
        struct rs_parts *t = &m.parts;
        assert_true(t->start[i] == RS_TIME_NONE && t->end[i] == RS_TIME_NONE && t->enqueued[i] == RS_TIME_NONE &&
                    t->launched[i] == RS_TIME_NONE && t->after[i] == RS_TIME_NONE && t->before[i] == RS_TIME_NONE);
        assert_true(t->seq[i] == UINT64_MAX && t->op[i] == RS_NONE && t->member[i] == RS_NONE &&
                    t->helper[i] == RS_NONE && t->peer[i] == -1 && t->flags[i] == 0 && t->count[i] == 0);
        assert_true(m.ops.comm[i] == RS_NONE && m.ops.fanout[i] == RS_NONE && m.ops.last_part[i] == RS_NONE &&
                    m.ops.root[i] == -1 && m.ops.dst[i] == -1 && m.ops.seq[i] == UINT64_MAX &&
                    m.ops.confidence[i] == 100 && m.ops.end[i] == RS_TIME_NONE);
        t->handle[i] = i + 1000000;
        t->channels_seen[i] = (uint8_t)i;
        m.ops.id[i] = ~(uint64_t)i;
        m.ops.kind[i] = (uint8_t)(i * 3);
        rs_model_order(&m, N - i);
        rs_model_open(&m, &(struct rs_open){.part = i, .step = -5});
        rs_model_net(&m, &(struct rs_net){.member = i, .sent = i});
        assert_int_equal(rs_model_note(&m, NULL, "note %u", i), RS_OK);
    }
    for (uint32_t i = 0; i < N; i++) {
        char text[16];
        snprintf(text, sizeof text, "note %u", i);
        assert_int_equal(m.parts.handle[i], i + 1000000);
        assert_int_equal(m.parts.channels_seen[i], (uint8_t)i);
        assert_int_equal(m.ops.id[i], ~(uint64_t)i);
        assert_int_equal(m.ops.kind[i], (uint8_t)(i * 3));
        assert_int_equal(m.order[i], N - i);
        assert_int_equal(m.opens[i].part, i);
        assert_int_equal(m.nets[i].sent, i);
        assert_string_equal(m.notes[i].text, text);
    }
    rs_model_free(&m);
    rs_model_free(&m); /* and a zeroed one */
}

static void test_begin_and_end(void **state)
{
    (void)state;
    struct rs_model m = {0};
    assert_int_equal(rs_model_begin(&m), RS_TIME_NONE);
    static const int64_t times[][2] = {{RS_TIME_NONE, RS_TIME_NONE}, {50, 60}, {40, 45}, {-7, 90}};
    for (int i = 0; i < 4; i++) {
        uint32_t p;
        rs_model_proc(&m, &p);
        assert_int_equal(m.procs[p].launcher_rank, -1);
        m.procs[p].first = times[i][0];
        m.procs[p].last = times[i][1];
    }
    assert_int_equal(rs_model_begin(&m), -7);
    assert_int_equal(rs_model_end(&m), 90);
    rs_model_free(&m);
}

static void test_dtypes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned bytes;
    } all[] = {{"ncclInt8", 1},    {"Unknown", 1},      {"ncclInt32", 4},      {"ncclUint32", 4},
               {"ncclInt64", 8},   {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
               {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_int_equal(rs_dtype_bytes(all[i].name), all[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strings),        cmocka_unit_test(test_too_many_strings),
                                       cmocka_unit_test(test_hosts_and_gpus), cmocka_unit_test(test_incarnations),
                                       cmocka_unit_test(test_link),           cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_begin_and_end),  cmocka_unit_test(test_dtypes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
