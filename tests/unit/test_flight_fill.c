/* Flight Recorder dumps in the model: every entry a part with its number, state and Comms Id; one dump in two forms is
 * one process; what a ring has overwritten, or a cut file lost, is not held against a rank. And the verdicts of `hang`
 * on dumps whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyse/hang.h"
#include "foreign/flight/model.h"
#include "foreign/formats.h"
#include "join/join.h"

#define DATA "tests/data/flight/"

struct run {
    struct rs_model m;
    struct rs_other files[16];
    size_t n;
};

static void fill(struct run *r, const char *const *paths, size_t n)
{
    struct rs_other *list[16];
    *r = (struct run){.n = n};
    for (size_t i = 0; i < n; i++) {
        r->files[i] = (struct rs_other){.path = strdup(paths[i]), .complete = true, .proc = RS_NONE};
        list[i] = &r->files[i];
    }
    struct rs_fill f = {.model = &r->m, .files = list, .n = n};
    struct rs_err err = {0};
    assert_int_equal(rs_flight_fill(&f, &err), RS_OK);
    rs_model_link(&r->m);
}

static void done(struct run *r)
{
    rs_model_free(&r->m);
    for (size_t i = 0; i < r->n; i++) free(r->files[i].path);
}

static uint32_t parts_of(const struct rs_model *m, const char *func)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->parts.n; i++) n += !strcmp(rs_model_text(m, m->parts.func[i]), func);
    return n;
}

/* The real job: 111 entries a rank, 8 of them coalesced calls around a send and a receive each. */
static void a_real_dump(void **state)
{
    (void)state;
    struct run r;
    static const char *const paths[] = {DATA "ddp4/fr_rank0.json", DATA "ddp4/fr_rank0.pkl", DATA "ddp4/fr_rank1.pkl"};
    fill(&r, paths, 3);
    const struct rs_model *m = &r.m;
    assert_int_equal(m->nprocs, 2);
    assert_int_equal(r.files[0].proc, 0);
    assert_int_equal(r.files[1].proc, 0);
    assert_int_equal(r.files[2].proc, 1);
    assert_int_equal(m->nnotes, 1);
    assert_non_null(strstr(m->notes[0].text, "the same dump"));
    assert_int_equal(m->parts.n, 2 * (111 - 8));
    assert_int_equal(parts_of(m, "AllReduce"), 2 * (57 + 1 + 8));
    assert_int_equal(parts_of(m, "Send"), 2 * 8);
    assert_int_equal(m->ncomms, 3); /* all, even, odd */
    const struct rs_proc *p = &m->procs[0];
    assert_int_equal(p->tool, RS_TOOL_FLIGHT);
    assert_int_equal(p->launcher_rank, 0);
    assert_true(p->complete);
    assert_string_equal(p->nccl_version, "2.28.9");
    assert_true(p->first == 1794704822679181916);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        assert_true(m->parts.flags[i] & RS_PART_DONE); /* also of sends, which are told by their coalesced call */
        assert_true(m->parts.start[i] == RS_TIME_NONE && m->parts.end[i] == RS_TIME_NONE);
        assert_true(m->parts.enqueued[i] >= m->procs[0].first || m->members[m->parts.member[i]].proc == 1);
    }
    done(&r);
}

static void sends_and_comms_ids(void **state)
{
    (void)state;
    struct run r;
    static const char *const paths[] = {DATA "ddp4/fr_rank0.json", DATA "ddp4/fr_rank1.json"};
    fill(&r, paths, 2);
    const struct rs_model *m = &r.m;
    const struct rs_parts *t = &m->parts;
    /* Parts 5 and 6 of rank 0: send 0->1 and recv 0<-3 in one call. */
    assert_int_equal(t->kind[5], RS_PART_SEND);
    assert_int_equal(t->kind[6], RS_PART_RECV);
    assert_int_equal(t->peer[5], 1);
    assert_int_equal(t->peer[6], 3);
    assert_true(t->group[5] && t->group[5] == t->group[6] && t->launch[5] == t->launch[6]);
    assert_true(t->group[4] != t->group[5]);
    assert_int_equal(t->count[5], 4096);
    const struct rs_tag *send = rs_part_tag(m, 5), *first = rs_part_tag(m, 0), *other = rs_part_tag(m, 103);
    assert_true(send->is_p2p && send->has_comms_id);
    assert_int_equal(send->pg_seq, 1);
    /* The first all-gather: the same Comms Id on both ranks, of its own number. */
    assert_true(first->has_comms_id && first->comms_id == other->comms_id && !first->comms_id_read);
    assert_true(first->comms_id != rs_part_tag(m, 1)->comms_id);
    assert_int_equal(t->seq[0], 1);
    assert_int_equal(t->count[0], 1); /* one rank's share */
    assert_string_equal(rs_model_text(m, t->dtype[0]), "ncclInt64");
    assert_string_equal(m->comms[m->members[t->member[0]].comm].name, "default_pg:0");
    assert_int_equal(m->comms[m->members[t->member[0]].comm].nranks, 4);
    assert_int_equal(m->members[t->member[0]].asked, 80);
    uint32_t exchanges = 0;
    for (uint32_t i = 0; i < t->n; i++) { /* tensors of 1024 floats, of which each of 4 ranks is sent a quarter */
        if (strcmp(rs_model_text(m, t->func[i]), "AlltoAll")) continue;
        assert_int_equal(t->count[i], 256);
        exchanges++;
    }
    assert_int_equal(exchanges, 2 * 8);
    done(&r);
}

/* The dump of rank 0 with the name of rank 1, which is not in the group of the even ranks. */
static void a_dump_by_another_name(void **state)
{
    (void)state;
    struct run r;
    char folder[] = "/tmp/ringscope-flight-XXXXXX", path[64], *real = realpath(DATA "ddp4/fr_rank0.json", NULL);
    assert_non_null(real);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fr_rank1.json", folder);
    assert_int_equal(symlink(real, path), 0);
    fill(&r, &(const char *){path}, 1);
    unlink(path);
    rmdir(folder);
    free(real);
    const struct rs_model *m = &r.m;
    assert_int_equal(m->nmembers, 2);
    for (uint32_t i = 0; i < m->nmembers; i++)
        assert_int_equal(m->members[i].rank, strcmp(m->comms[m->members[i].comm].name, "even:1") ? 1 : -1);
    assert_int_equal(m->nnotes, 1);
    assert_non_null(strstr(m->notes[0].text, "its name says rank 1, its content rank 0"));
    done(&r);
}

static void a_ring_that_went_round(void **state)
{
    (void)state;
    struct run r;
    static const char *const paths[] = {DATA "hang-wrapped/fr_rank0.json"};
    fill(&r, paths, 1);
    const struct rs_proc *p = &r.m.procs[0];
    assert_false(p->complete);
    assert_int_equal(p->overwritten, 2000);
    assert_true(p->overwritten_until == p->first - 1);
    assert_true(r.m.members[0].created == RS_TIME_NONE);
    assert_int_equal(r.m.members[0].asked, 73);
    done(&r);
}

/* Rank 2 did not join. A dump of it that is cut off says nothing of the kind, unless its summary does. */
static void a_cut_dump(void **state)
{
    (void)state;
    struct rs_err err = {0};
    struct rs_flight f;
    static const char text[] =
        "{\"version\":\"2.10\",\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"d\",\"ranks\":\"[0, 1]\"}},"
        "\"entries\":[{\"record_id\":0,\"pg_id\":0,\"process_group\":[\"0\",\"d\"],\"collective_seq_id\":1,"
        "\"profiling_name\":\"nccl:all_reduce\",\"time_created_ns\":1000,\"state\":\"completed\"},{\"record_id\":1,"
        "\"pg";
    assert_int_equal(rs_flight_parse(&f, text, sizeof text - 1, "fr_rank1.json", &err), RS_OK);
    assert_int_not_equal(f.damage.code, RS_OK);
    struct rs_model m = {0};
    uint32_t proc;
    assert_int_equal(rs_flight_to_model(&m, &f, "fr_rank1.json", &proc, &err), RS_OK);
    assert_int_equal(m.parts.n, 1);
    assert_false(m.procs[proc].complete);
    assert_int_equal(m.members[0].asked, 0);
    assert_int_equal(m.members[0].rank, 1);
    assert_int_equal(m.procs[proc].ngaps, 1);
    rs_flight_free(&f);
    rs_model_free(&m);
}

/* Work that was given up is retired whatever its state: nobody waits for it any more. */
static void what_is_retired(void **state)
{
    (void)state;
    static const struct {
        const char *state, *retired, *started;
        uint32_t flags;
    } cases[] = {
        {"scheduled", "false", "0", 0},
        {"scheduled", "false", "5", RS_PART_STARTED},
        {"started", "false", "0", RS_PART_STARTED},
        {"completed", "false", "0", RS_PART_STARTED | RS_PART_DONE},
        {"scheduled", "true", "0", RS_PART_STARTED | RS_PART_DONE | RS_PART_SETTLED},
        {"started", "true", "0", RS_PART_STARTED | RS_PART_DONE | RS_PART_SETTLED},
        {"completed", "true", "0", RS_PART_STARTED | RS_PART_DONE | RS_PART_SETTLED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct rs_err err = {0};
        struct rs_flight f;
        struct rs_model m = {0};
        uint32_t proc;
        int n = snprintf(
            text, sizeof text,
            "{\"version\":\"2.10\",\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"d\",\"ranks\":\"[0, 1]\"}},"
            "\"entries\":[{\"record_id\":0,\"pg_id\":0,\"process_group\":[\"0\",\"d\"],\"collective_seq_id\":1,"
            "\"profiling_name\":\"nccl:all_reduce\",\"time_created_ns\":1000,\"state\":\"%s\",\"retired\":%s,"
            "\"time_discovered_started_ns\":%s}]}",
            cases[i].state, cases[i].retired, cases[i].started);
        assert_int_equal(rs_flight_parse(&f, text, (size_t)n, "fr_rank1.json", &err), RS_OK);
        assert_int_equal(rs_flight_to_model(&m, &f, "fr_rank1.json", &proc, &err), RS_OK);
        assert_int_equal(m.parts.n, 1);
        uint32_t told = RS_PART_STARTED | RS_PART_DONE | RS_PART_SETTLED;
        if ((m.parts.flags[0] & told) != cases[i].flags) fail_msg("case %zu: flags %x", i, m.parts.flags[0] & told);
        rs_flight_free(&f);
        rs_model_free(&m);
    }
}

static void a_file_that_is_none(void **state)
{
    (void)state;
    struct run r;
    static const char *const paths[] = {"tests/data/README.md", DATA "hang-size/fr_rank1.json"};
    fill(&r, paths, 2);
    assert_false(r.files[0].complete);
    assert_non_null(strstr(r.files[0].why, "README.md"));
    assert_true(r.files[1].complete);
    assert_int_equal(r.m.nprocs, 1);
    done(&r);
}

/* Folder, how many dumps, and what is known to be the truth. */
static const struct truth {
    const char *folder;
    enum { FR_JSON, FR_PKL, NCCL_TRACE } form;
    int ranks;
    enum rs_verdict verdict;
    uint32_t guilty; /* bit r: rank r */
    const char *detail; /* begins so; NULL: none */
    uint32_t unseen;
} truths[] = {
    {"hang-not-joined", FR_JSON, 4, RS_VERDICT_NOT_JOINED, 1 << 2, "rank 2 enqueued number 1 last", 0},
    {"hang-wrapped", FR_JSON, 4, RS_VERDICT_NOT_JOINED, 1 << 2, "rank 2 enqueued number 71 last", 0},
    {"hang-send", FR_JSON, 4, RS_VERDICT_NOT_JOINED, 1 << 1, "a send without its receive", 0},
    {"hang-type", FR_JSON, 4, RS_VERDICT_MISMATCH, 1 << 0, "COLLECTIVE_TYPE_MISMATCH", 0},
    {"hang-size", FR_JSON, 4, RS_VERDICT_MISMATCH, 1 << 1, "SIZE_OR_SYNTAX_MISMATCH", 0},
    {"hang-dtype", FR_JSON, 4, RS_VERDICT_MISMATCH, 1 << 3, "COLLECTIVE_DTYPE_MISMATCH", 0},
    {"hang-alltoall", FR_JSON, 4, RS_VERDICT_MISMATCH, 15, "SIZE_OR_SYNTAX_MISMATCH: all ranks", 0},
    {"hang-state", FR_JSON, 4, RS_VERDICT_STALLED_STEP, 1 << 3, "COLLECTIVE_STATE_MISMATCH", 0},
    {"hang-stalled", FR_JSON, 4, RS_VERDICT_STALLED_STEP, 0, "FULLY_MATCHED", 0},
    {"hang-unseen", FR_JSON, 3, RS_VERDICT_STALLED_STEP, 0, "UNDECIDED", 1 << 3},
    {"hang-older", FR_JSON, 4, RS_VERDICT_UNKNOWN, 0, NULL, 0},
    {"hang-stream", FR_JSON, 4, RS_VERDICT_STREAM_BLOCKED, 1 << 1, NULL, 0},
    {"hang-deadlock", FR_JSON, 4, RS_VERDICT_DEADLOCK, 15, "two orders", 0},
    {"hang-real/notjoined", NCCL_TRACE, 4, RS_VERDICT_NOT_JOINED, 1 << 1, "rank 1 enqueued number 5", 0},
    {"hang-real/mismatch", NCCL_TRACE, 4, RS_VERDICT_MISMATCH, 1 << 3, "COLLECTIVE_TYPE_MISMATCH", 0},
    {"hang-real/size", NCCL_TRACE, 4, RS_VERDICT_MISMATCH, 1 << 2, "SIZE_OR_SYNTAX_MISMATCH", 0},
    {"hang-real/recv", NCCL_TRACE, 4, RS_VERDICT_NOT_JOINED, 1 << 3, "a receive without its send", 0},
    {"ddp4", FR_PKL, 4, RS_VERDICT_NONE, 0, NULL, 0},
};

static void verdict_of(const struct truth *t, uint32_t leave_out)
{
    struct run r;
    char names[4][256];
    const char *paths[4];
    size_t n = 0;
    for (int i = 0; i < t->ranks; i++) {
        if (leave_out >> i & 1) continue;
        static const char *const forms[][2] = {{"fr_rank", ".json"}, {"fr_rank", ".pkl"}, {"nccl_trace_rank_", ""}};
        snprintf(names[n], sizeof names[n], DATA "%s/%s%d%s", t->folder, forms[t->form][0], i, forms[t->form][1]);
        paths[n] = names[n];
        n++;
    }
    fill(&r, paths, n);
    struct rs_err err = {0};
    struct rs_hang h;
    struct rs_filter filter = {0};
    assert_int_equal(rs_join(&r.m, true, &err), RS_OK);
    rs_hang_find(&r.m, &filter, &h);
    uint32_t guilty = 0, unseen = 0;
    for (uint32_t i = 0; i < h.findings[0].nguilty; i++) guilty |= 1u << h.findings[0].guilty[i].rank;
    for (uint32_t i = 0; i < h.nunseen; i++) unseen |= 1u << h.unseen[i];
    if (leave_out) { /* who left no dump is never accused */
        assert_int_equal(guilty & leave_out, 0);
        assert_int_equal(unseen, leave_out);
    } else {
        print_message("%s: %s\n", t->folder, h.findings[0].detail ? h.findings[0].detail : "-");
        assert_string_equal(rs_verdict_name(h.findings[0].verdict), rs_verdict_name(t->verdict));
        assert_int_equal(guilty, t->guilty);
        assert_int_equal(unseen, t->unseen);
        if (t->detail)
            assert_memory_equal(h.findings[0].detail ? h.findings[0].detail : "", t->detail, strlen(t->detail));
    }
    rs_hang_free(&h);
    done(&r);
}

static void verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) verdict_of(&truths[i], 0);
}

static void who_left_no_dump(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        for (int r = 0; r < 4; r++)
            if (truths[i].ranks == 4) verdict_of(&truths[i], 1u << r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_dump),
        cmocka_unit_test(sends_and_comms_ids),
        cmocka_unit_test(a_dump_by_another_name),
        cmocka_unit_test(a_ring_that_went_round),
        cmocka_unit_test(a_cut_dump),
        cmocka_unit_test(what_is_retired),
        cmocka_unit_test(a_file_that_is_none),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(who_left_no_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
