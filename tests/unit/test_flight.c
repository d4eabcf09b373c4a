/* Flight Recorder dumps: pickle and JSON of one rank say the same, the samples say what is known of them, and a cut
 * dump keeps what was whole. */
#include "foreign/flight/flight.h"
#include "foreign/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

#define DATA "tests/data/flight/"

static struct rs_flight load(const char *path)
{
    struct rs_flight f;
    struct rs_err err = {0};
    enum rs_status status = rs_flight_read(&f, path, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(status, RS_OK);
    assert_string_equal(f.damage.msg, "");
    assert_int_equal(f.bad_entries, 0);
    return f;
}

static void same_tensors(const struct rs_flight_tensors *a, const struct rs_flight_tensors *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_dtypes, b->n_dtypes);
    for (uint32_t i = 0; i < a->n_dtypes; i++) assert_string_equal(a->dtypes[i], b->dtypes[i]);
    for (uint32_t i = 0; i < a->n; i++) {
        assert_int_equal(a->rows[i].n, b->rows[i].n);
        for (uint32_t j = 0; j < a->rows[i].n; j++) assert_int_equal(a->rows[i].sizes[j], b->rows[i].sizes[j]);
    }
}

static void same_entry(const struct rs_flight_entry *a, const struct rs_flight_entry *b)
{
    assert_int_equal(a->record_id, b->record_id);
    assert_int_equal(a->pg_id, b->pg_id);
    assert_int_equal(a->collective_seq, b->collective_seq);
    assert_int_equal(a->p2p_seq, b->p2p_seq);
    assert_string_equal(a->pg_name, b->pg_name);
    assert_string_equal(a->pg_desc, b->pg_desc);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->op, b->op);
    assert_int_equal(a->src, b->src);
    assert_int_equal(a->dst, b->dst);
    assert_true(a->created_ns == b->created_ns);
    assert_true(a->duration_ns == b->duration_ns);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->is_p2p, b->is_p2p);
    assert_int_equal(a->retired, b->retired);
    /* The dump itself discovers: two of one process, one behind the other (ddp4, ranks 1 and 3), differ in these. */
    assert_int_equal(!a->discovered.started_ns, !b->discovered.started_ns);
    assert_int_equal(!a->discovered.completed_ns, !b->discovered.completed_ns);
    same_tensors(&a->in, &b->in);
    same_tensors(&a->out, &b->out);
}

static void same(const char *pickle, const char *json, int64_t rank)
{
    struct rs_flight a = load(pickle), b = load(json);
    assert_true(a.pickle);
    assert_false(b.pickle);
    assert_int_equal(a.rank, rank);
    assert_int_equal(b.rank, rank);
    assert_string_equal(a.version, b.version);
    assert_string_equal(a.comm_version, b.comm_version);
    assert_int_equal(a.n_groups, b.n_groups);
    for (uint32_t i = 0; i < a.n_groups; i++) {
        assert_string_equal(a.groups[i].name, b.groups[i].name);
        assert_string_equal(a.groups[i].desc, b.groups[i].desc);
        assert_int_equal(a.groups[i].n, b.groups[i].n);
        assert_memory_equal(a.groups[i].ranks, b.groups[i].ranks, a.groups[i].n * sizeof *a.groups[i].ranks);
    }
    assert_int_equal(a.n_status, b.n_status);
    for (uint32_t i = 0; i < a.n_status; i++) {
        assert_string_equal(a.status[i].id, b.status[i].id);
        assert_int_equal(a.status[i].enqueued, b.status[i].enqueued);
        assert_int_equal(a.status[i].started, b.status[i].started);
        assert_int_equal(a.status[i].completed, b.status[i].completed);
    }
    assert_int_equal(a.n_entries, b.n_entries);
    for (uint32_t i = 0; i < a.n_entries; i++) same_entry(&a.entries[i], &b.entries[i]);
    rs_flight_free(&a);
    rs_flight_free(&b);
}

static void test_same(void **state)
{
    (void)state;
    for (int rank = 0; rank < 4; rank++) {
        char pickle[64], json[64];
        snprintf(pickle, sizeof pickle, DATA "ddp4/fr_rank%d.pkl", rank);
        snprintf(json, sizeof json, DATA "ddp4/fr_rank%d.json", rank);
        same(pickle, json, rank);
    }
    same(DATA "nccl_trace_rank_0", DATA "fr_rank0.json", 0);
    same(DATA "nccl_trace_rank_1", DATA "fr_rank1.json", 1);
}

static void test_real(void **state)
{
    (void)state;
    struct rs_flight f = load(DATA "ddp4/fr_rank0.pkl");
    assert_string_equal(f.version, "2.10");
    assert_string_equal(f.comm_version, "2.28.9");
    assert_int_equal(f.rank, 0);
    assert_int_equal(f.rank_inside, 0);
    assert_int_equal(f.n_groups, 2);
    assert_string_equal(f.groups[1].desc, "even");
    assert_int_equal(f.groups[1].n, 2);
    assert_int_equal(f.groups[1].ranks[1], 2);
    assert_int_equal(f.n_status, 2);
    assert_int_equal(f.status[0].enqueued, 79);
    assert_int_equal(f.status[0].started, -1);
    assert_int_equal(f.status[1].completed, 8);
    assert_int_equal(f.n_entries, 111);
    const struct rs_flight_entry *e = &f.entries[0];
    assert_string_equal(e->name, "nccl:all_gather");
    assert_string_equal(e->op, "all_gather");
    assert_true(e->created_ns == INT64_C(1794704822679181916));
    assert_true(e->discovered.started_ns == 0);
    assert_true(e->discovered.completed_ns == INT64_C(1794704823457748890));
    assert_true(e->duration_ns == -1);
    assert_int_equal(e->out.n, 1);
    assert_int_equal(e->out.rows[0].n, 2);
    assert_int_equal(rs_flight_elements(&e->out), 4);
    assert_string_equal(e->out.dtypes[0], "Long");
    assert_int_equal(e->src, -1);
    e = &f.entries[5];
    assert_string_equal(e->op, "send");
    assert_true(e->is_p2p && !e->retired);
    assert_int_equal(e->src, 0);
    assert_int_equal(e->dst, 1);
    assert_int_equal(e->state, RS_FLIGHT_SCHEDULED);
    assert_string_equal(e->pg_name, f.groups[0].name);
    rs_flight_free(&f);
    /* The ring, from the other end; and the rank without the name. */
    struct rs_file_map m;
    assert_int_equal(rs_file_map(&m, DATA "ddp4/fr_rank3.json", NULL), RS_OK);
    assert_int_equal(rs_flight_parse(&f, m.data, m.size, "dump", NULL), RS_OK);
    assert_int_equal(f.rank, 3);
    uint32_t sends = 0, receives = 0;
    for (uint32_t i = 0; i < f.n_entries; i++) {
        sends += !strcmp(f.entries[i].op, "send") && f.entries[i].src == 3 && f.entries[i].dst == 0;
        receives += !strcmp(f.entries[i].op, "recv") && f.entries[i].src == 2 && f.entries[i].dst == 3;
    }
    assert_int_equal(sends, 8);
    assert_int_equal(receives, 8);
    rs_flight_free(&f);
    rs_file_unmap(&m);
}

/* Cut anywhere, a dump gives a message, or the message beside the entries that were whole: never more than there are,
 * never fewer the more of it there is, and each as in the whole dump. */
static void cut(const char *path)
{
    struct rs_flight whole = load(path), f;
    struct rs_file_map m;
    assert_int_equal(rs_file_map(&m, path, NULL), RS_OK);
    uint32_t before = 0;
    for (size_t n = 0; n + 2 < m.size; n += n < 2000 ? 1 : 97) {
        struct rs_err err = {0};
        char *copy = malloc(n + 1); /* so that a look behind the end is seen */
        assert_non_null(copy);
        memcpy(copy, m.data, n);
        if (rs_flight_parse(&f, copy, n, "cut_rank_0", &err) != RS_OK) {
            assert_non_null(strstr(err.msg, "cut_rank_0: at byte "));
            assert_int_equal(before, 0);
        } else {
            assert_non_null(strstr(f.damage.msg, "cut_rank_0: at byte "));
            assert_in_range(f.n_entries, before, whole.n_entries);
            for (uint32_t i = 0; i < f.n_entries; i++) {
                same_entry(&f.entries[i], &whole.entries[i]);
                assert_true(f.entries[i].discovered.completed_ns == whole.entries[i].discovered.completed_ns);
            }
            before = f.n_entries;
        }
        rs_flight_free(&f);
        free(copy);
    }
    assert_in_range(before, whole.n_entries - 1, whole.n_entries);
    rs_flight_free(&whole);
    rs_file_unmap(&m);
}

static void test_cut(void **state)
{
    (void)state;
    cut(DATA "ddp4/fr_rank1.pkl");
    cut(DATA "ddp4/fr_rank1.json");
    cut(DATA "fr_rank0.json");
}

static void test_recognised(void **state)
{
    (void)state;
    static const char *const files[] = {DATA "ddp4/fr_rank0.pkl", DATA "ddp4/fr_rank0.json", DATA "nccl_trace_rank_1",
                                        DATA "fr_rank1.json"};
    for (size_t i = 0; i < 4; i++) {
        struct rs_file_map m;
        assert_int_equal(rs_file_map(&m, files[i], NULL), RS_OK);
        assert_true(rs_flight_is("", (const char *)m.data, m.size < 2048 ? m.size : 2048));
        rs_file_unmap(&m);
    }
    static const char *const others[] = {
        "",
        "{",
        "[]",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"pg_config\":[]},\"traceEvents\":[]}",
        "[{\"pg_config\":1}]",
        "{\"entries\":[1,2]}",
        "\x80\x02}q",
        "ringscope",
    };
    for (size_t i = 0; i < 8; i++) assert_false(rs_flight_is("", others[i], strlen(others[i])));
    assert_true(rs_flight_is("", "{\"entries\":[{\"pg_id\":", 21));
}

static void test_rank_of_name(void **state)
{
    (void)state;
    assert_int_equal(rs_flight_rank_of_name("/tmp/nccl_trace_rank_12"), 12);
    assert_int_equal(rs_flight_rank_of_name("fr_rank3.json.gz"), 3);
    assert_int_equal(rs_flight_rank_of_name("job7/rank_4.attempt2.pkl"), 4);
    assert_int_equal(rs_flight_rank_of_name("rank9/dump41.pickle"), 41);
    assert_int_equal(rs_flight_rank_of_name("rank9/dump"), -1);
    assert_int_equal(rs_flight_rank_of_name(""), -1);
    assert_int_equal(rs_flight_rank_of_name("rank_99999999999999999999"), -1);
}

/* Ranks as lists, durations, the older names, odd values. */
static void test_variants(void **state)
{
    (void)state;
    static const char text[] =
        "{\"version\":\"2.0\",\"nccl_version\":\"2.19.3\",\"pg_config\":{\"7\":{\"desc\":\"x\",\"ranks\":[5,1,3]}},"
        "\"pg_status\":{\"7\":{\"last_enqueued_collective\":\"4\",\"last_started_collective\":null}},"
        "\"entries\":[{\"seq_id\":9,\"process_group\":[\"7\",\"x\"],\"profiling_name\":\"nccl:recv "
        "2<-0\",\"duration_ms\":1.25,"
        "\"input_sizes\":[[2,3],[],[4611686018427387904,4]],\"state\":\"started\"},17,{}]}";
    struct rs_flight f;
    assert_int_equal(rs_flight_parse(&f, text, sizeof text - 1, "dump", NULL), RS_OK);
    assert_int_equal(f.damage.code, RS_OK);
    assert_string_equal(f.comm_version, "2.19.3");
    assert_string_equal(f.groups[0].name, "7");
    assert_int_equal(f.groups[0].ranks[0], 1);
    assert_int_equal(f.groups[0].ranks[2], 5);
    assert_int_equal(f.status[0].enqueued, 4);
    assert_int_equal(f.status[0].started, -1);
    assert_int_equal(f.n_entries, 2);
    assert_int_equal(f.bad_entries, 1);
    const struct rs_flight_entry *e = &f.entries[0];
    assert_int_equal(e->collective_seq, 9);
    assert_int_equal(e->src, 0);
    assert_int_equal(e->dst, 2);
    assert_int_equal(f.rank, 5); /* the third of the group's ranks received */
    assert_int_equal(e->duration_ns, 1250000);
    assert_int_equal(e->in.n, 3);
    assert_int_equal(e->in.n_dtypes, 0);
    assert_int_equal(rs_flight_elements(&e->in), -1);
    assert_int_equal(e->state, RS_FLIGHT_STARTED);
    assert_int_equal(f.entries[1].created_ns, -1);
    assert_string_equal(f.entries[1].name, "");
    rs_flight_free(&f);
    assert_int_equal(rs_flight_read(&f, DATA "none", NULL), RS_NOT_FOUND);
    rs_flight_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),       cmocka_unit_test(test_real),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_recognised), cmocka_unit_test(test_rank_of_name), cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
