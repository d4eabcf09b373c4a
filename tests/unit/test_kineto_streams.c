/* Sends and receives of Kineto traces that are written here, so that what belongs together is known: in groups and single,
 * several in one kernel, windows that begin at different ones, with and without collectives between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "foreign/formats.h"

enum { FILES = 4 };

static char folder[] = "/tmp/ringscope-streams.XXXXXX";
static struct rs_other files[FILES];
static struct rs_model model;

/* ---- traces ---- */

/* A trace of one of the ranks 0 and 1 that is being written. Times are us. */
struct writer {
    struct rs_strbuf text;
    int rank, pid, ids;
    bool anonymous; /* nothing but the calls says which rank it is */
};

static void begin(struct writer *w, int rank)
{
    *w = (struct writer){.rank = rank, .pid = 100 + rank};
}

static void event(struct writer *w, const char *cat, const char *name, int at, int us, const char *args)
{
    bool gpu = !strcmp(cat, "kernel");
    rs_strbuf_printf(&w->text,
                     "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
                     "\"args\":{%s}}",
                     w->text.len ? "," : "", cat, name, gpu ? 0 : w->pid, gpu ? 7 : w->pid, at, us, args);
}

static void call(struct writer *w, int at, const char *what, int group, int n, const char *more)
{
    char args[512];
    snprintf(args, sizeof args,
             "\"External id\":%d,\"Collective name\":\"%s\",\"In msg nelems\":%d,\"Out msg nelems\":%d,"
             "\"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"%d\",\"Process Group Ranks\":\"[0, 1]\"%s",
             ++w->ids, what, n, n, group, more);
    event(w, "cpu_op", "record_param_comms", at, 2, args);
}

/* A kernel that is launched at a time, perhaps with the External id of the latest call. */
static void kernel(struct writer *w, const char *name, int launched, int start, int us, bool own)
{
    char args[128], id[64] = "";
    int correlation = 1000 + ++w->ids;
    if (own) snprintf(id, sizeof id, "\"External id\":%d,", w->ids - 1);
    snprintf(args, sizeof args, "%s\"correlation\":%d", id, correlation);
    event(w, "cuda_driver", "cuLaunchKernelEx", launched, 1, args);
    snprintf(args, sizeof args, "\"device\":0,\"stream\":7,\"correlation\":%d", correlation);
    event(w, "kernel", name, start, us, args);
}

/* An all-reduce of the group "0", in which both are. */
static void reduce(struct writer *w, int at, int start, int us)
{
    char rank[32];
    snprintf(rank, sizeof rank, ",\"Rank\":%d", w->rank);
    call(w, at, "allreduce", 0, 100, rank);
    kernel(w, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", at + 1, start, us, true);
}

/* A send or receive of the group "1". */
static void p2p(struct writer *w, int at, bool send, int n)
{
    char more[64];
    snprintf(more, sizeof more, ",\"Rank\":%d,\"%s Rank\":%d", !w->rank, send ? "Dst" : "Src", !w->rank);
    call(w, at, send ? "send" : "recv", 1, n, more);
}

/* What launches those that were called in a group. */
static void launch(struct writer *w, int at, int start, int us)
{
    event(w, "user_annotation", "nccl:coalesced", at, 4, "\"External id\":0");
    if (start >= 0) kernel(w, "ncclDevKernel_SendRecv(x)", at + 1, start, us, false);
}

/* A group of one. */
static void batch(struct writer *w, int at, bool send, int start, int us)
{
    p2p(w, at, send, 64);
    launch(w, at + 3, start, us);
}

/* A single one. */
static void single(struct writer *w, int at, bool send, int n, int start, int us)
{
    p2p(w, at, send, n);
    kernel(w, "ncclDevKernel_SendRecv(x)", at + 1, start, us, true);
    event(w, "user_annotation", send ? "nccl:send 0->1" : "nccl:recv 1<-0", at + 1, 1, "\"External id\":0");
}

static void end(struct writer *w, int i)
{
    char path[256];
    snprintf(path, sizeof path, "%s/trace%d.json", folder, i);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "{\"schemaVersion\":1,\"traceEvents\":[%s]", rs_strbuf_borrow(&w->text));
    if (!w->anonymous) fprintf(f, ",\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%d,\"world_size\":2}", w->rank);
    fprintf(f, "}");
    fclose(f);
    rs_strbuf_free(&w->text);
    files[i] = (struct rs_other){.path = strdup(path), .complete = true};
}

static void fill(size_t n)
{
    struct rs_other *list[FILES];
    struct rs_err err = {0};
    for (size_t i = 0; i < n; i++) list[i] = &files[i];
    struct rs_fill f = {.model = &model, .files = list, .n = n};
    assert_int_equal(rs_kineto_fill(&f, &err), RS_OK);
    rs_model_link(&model);
}

static int done(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        if (files[i].path) unlink(files[i].path);
        free(files[i].path);
        files[i] = (struct rs_other){0};
    }
    rs_model_free(&model);
    model = (struct rs_model){0};
    return 0;
}

/* The numbers of the sends or receives, in their order; returns how many. */
static uint32_t numbers(uint8_t kind, uint64_t *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < model.parts.n; i++)
        if (model.parts.kind[i] == kind) to[n++] = model.parts.seq[i];
    return n;
}

/* Receive k is that of send k - behind. */
static void assert_pairs(uint32_t n, int64_t behind)
{
    uint64_t sends[64], recvs[64];
    assert_int_equal(numbers(RS_PART_SEND, sends), n);
    assert_int_equal(numbers(RS_PART_RECV, recvs), n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++) {
            bool mates = (int64_t)k - behind == (int64_t)i;
            if (mates) assert_true(sends[i] == recvs[k]);
            if (!mates) assert_true(sends[i] != recvs[k]);
        }
        assert_true(sends[i] != UINT64_MAX && recvs[i] != UINT64_MAX);
    }
}

/* ---- tests ---- */

/* A pipeline group without any collective; sends that end long before their receives start. */
static void test_order(void **state)
{
    (void)state;
    struct writer a, b;
    begin(&a, 0);
    begin(&b, 1);
    for (int i = 0; i < 6; i++) {
        batch(&a, 100 * i, true, 5000 + 1000 * i, 20);
        batch(&b, 130 * i, false, 5500 + 1000 * i, 20);
    }
    end(&a, 0);
    end(&b, 1);
    fill(2);
    assert_pairs(6, 0);
    assert_int_equal(model.nnotes, 0);
}

/* Windows of equal length: that of the receives begins two steps later, or earlier. All-reduces tell. */
static void test_later(void **state)
{
    (void)state;
    for (int later = -2; later <= 2; later++) {
        struct writer w[2];
        for (int rank = 0; rank < 2; rank++) {
            begin(&w[rank], rank);
            int from = 5 + (rank ? later : 0);
            for (int step = from; step < from + 8; step++) {
                int at = 10000 * step + 137 * (step % 3), lag = rank ? 300 : 0;
                for (int i = 0; i < 2; i++) batch(&w[rank], at + 10 * i, !rank, at + 1000 * (i + 1) + lag, 100);
                reduce(&w[rank], at + 50, at + 4000 + lag, 500);
            }
            end(&w[rank], rank);
        }
        fill(2);
        assert_pairs(16, -2 * later);
        assert_int_equal(model.nnotes, 0);
        done(NULL);
    }
}

/* Windows that begin in the middle of a step, at different places, and have as many. */
static void test_mid_step(void **state)
{
    (void)state;
    struct writer w[2];
    for (int rank = 0; rank < 2; rank++) {
        begin(&w[rank], rank);
        for (int k = 10 + 2 * rank; k < 30 + 2 * rank; k++) { /* four in a step, then the all-reduce */
            int at = 2000 * k + 137 * (k % 3);
            /* The receiver is there first, and waits. */
            batch(&w[rank], at, !rank, rank ? at + 300 : at + 1500, rank ? 1300 : 60);
            if (k % 4 == 3) reduce(&w[rank], at + 50, at + 1700, 200);
        }
        end(&w[rank], rank);
    }
    fill(2);
    assert_pairs(20, -2);
}

/* Nothing tells: it is said, and left open. */
static void test_open(void **state)
{
    (void)state;
    struct writer a, b;
    uint64_t found[16];
    begin(&a, 0);
    begin(&b, 1);
    for (int i = 0; i < 6; i++) batch(&a, 1000 * i, true, 1000 * i + 500, 20);
    for (int i = 0; i < 5; i++) batch(&b, 1000 * i + 200, false, 1000 * i + 700, 20);
    end(&a, 0);
    end(&b, 1);
    fill(2);
    assert_int_equal(numbers(RS_PART_SEND, found), 6);
    for (int i = 0; i < 6; i++) assert_true(found[i] == UINT64_MAX);
    assert_int_equal(numbers(RS_PART_RECV, found), 5);
    for (int i = 0; i < 5; i++) assert_true(found[i] == UINT64_MAX);
    assert_int_equal(model.nnotes, 1);
    assert_non_null(strstr(model.notes[0].text, "process group 1"));
}

/* Receives that would end before their sends start are not theirs. */
static void test_impossible(void **state)
{
    (void)state;
    struct writer a, b;
    uint64_t found[16];
    begin(&a, 0);
    begin(&b, 1);
    for (int i = 0; i < 6; i++) {
        batch(&a, 10000000 + 1000 * i, true, 10000500 + 1000 * i, 20);
        batch(&b, 1000 * i, false, 1000 * i + 500, 20);
    }
    batch(&b, 10000000, false, 10000100, 20); /* both are of one time */
    batch(&a, 10007000, true, 10007100, 20);
    end(&a, 0);
    end(&b, 1);
    fill(2);
    assert_int_equal(numbers(RS_PART_SEND, found), 7);
    for (int i = 0; i < 7; i++) assert_true(found[i] == UINT64_MAX);
}

/* Single ones and groups have orders of their own. */
static void test_single(void **state)
{
    (void)state;
    struct writer a, b;
    uint64_t sends[8], recvs[8];
    begin(&a, 0);
    begin(&b, 1);
    single(&a, 0, true, 7, 1000, 20);
    batch(&a, 100, true, 1100, 20);
    single(&a, 200, true, 9, 1200, 20);
    batch(&b, 0, false, 1000, 200);
    single(&b, 100, false, 7, 1210, 20);
    single(&b, 200, false, 9, 1240, 20);
    end(&a, 0);
    end(&b, 1);
    fill(2);
    assert_int_equal(numbers(RS_PART_SEND, sends), 3);
    assert_int_equal(numbers(RS_PART_RECV, recvs), 3);
    assert_true(sends[0] == recvs[1] && sends[1] == recvs[0] && sends[2] == recvs[2]);
    assert_true(sends[0] != sends[1] && sends[1] != sends[2]);
}

/* Several in one kernel: the first to a rank starts with it, of the next that is unknown. A kernel that is not there is not
 * the next group's. */
static void test_several(void **state)
{
    (void)state;
    struct writer a;
    begin(&a, 0);
    p2p(&a, 0, true, 8);
    p2p(&a, 10, true, 9);
    p2p(&a, 20, false, 8);
    launch(&a, 30, 1000, 500);
    p2p(&a, 100, true, 8);
    launch(&a, 110, -1, 0);
    p2p(&a, 200, true, 8);
    launch(&a, 210, 2000, 500);
    end(&a, 0);
    fill(1);
    const struct rs_parts *t = &model.parts;
    assert_int_equal(t->n, 5);
    assert_true(t->start[0] == 1000000 && t->start[1] == RS_TIME_NONE && t->start[2] == 1000000);
    for (int i = 0; i < 3; i++) assert_true(t->end[i] == 1500000 && t->launch[i] == t->launch[0]);
    assert_true(t->start[3] == RS_TIME_NONE && t->end[3] == RS_TIME_NONE);
    assert_true(t->start[4] == 2000000 && t->launch[4] != t->launch[0]);
}

/* Who only sends to rank 0 in groups of two is rank 1, also where nothing else says so. */
static void test_anonymous(void **state)
{
    (void)state;
    struct writer a, b;
    begin(&a, 0);
    begin(&b, 1);
    a.anonymous = b.anonymous = true;
    for (int i = 0; i < 3; i++) {
        batch(&a, 100 * i, true, 5000 + 1000 * i, 20);
        batch(&b, 100 * i, false, 5500 + 1000 * i, 20);
    }
    end(&a, 0);
    end(&b, 1);
    fill(2);
    assert_int_equal(model.procs[0].launcher_rank, 0);
    assert_int_equal(model.procs[1].launcher_rank, 1);
    assert_pairs(3, 0);
}

/* Two windows of each rank, the later one first: one process, with what it did in between unseen. */
static void test_windows(void **state)
{
    (void)state;
    for (int window = 0; window < 2; window++)
        for (int rank = 0; rank < 2; rank++) {
            struct writer w;
            begin(&w, rank);
            for (int i = 0; i < 4 - rank * window; i++) { /* the last of one is outside of its window */
                int at = 1000000 * (2 - window) + 1000 * i;
                batch(&w, at, !rank, at + 100 + 50 * rank, 200);
                reduce(&w, at + 10, at + 400, 50);
            }
            end(&w, 2 * window + rank);
        }
    fill(4);
    uint64_t sends[16], recvs[16];
    assert_int_equal(model.nprocs, 2);
    assert_int_equal(model.nhosts, 2);
    assert_int_equal(model.nmembers, 4); /* of two groups */
    assert_int_equal(model.nnotes, 0);
    assert_int_equal(model.nlanes, 4); /* a thread and a stream of each */
    for (uint32_t i = 0; i < 2; i++) {
        const struct rs_proc *p = &model.procs[i];
        assert_int_equal(p->ncovers, 4);
        assert_true(p->covers[0].mask && !p->covers[1].mask && p->covers[2].mask && !p->covers[3].mask);
        assert_true(p->covers[0].from == 1000000000 && p->covers[2].from == 2000000000);
        assert_true(p->covers[1].from == p->covers[0].to && p->covers[1].to == p->covers[2].from);
    }
    for (uint32_t i = 1; i < model.parts.n; i++) /* by time */
        if (model.parts.member[i] == model.parts.member[i - 1])
            assert_true(model.parts.enqueued[i] > model.parts.enqueued[i - 1]);
    assert_int_equal(numbers(RS_PART_SEND, sends), 8);
    assert_int_equal(numbers(RS_PART_RECV, recvs), 7);
    for (int i = 0; i < 3; i++) assert_true(sends[i] == recvs[i]);
    for (int i = 4; i < 8; i++) assert_true(sends[i] == recvs[i - 1]);
    for (int i = 0; i < 7; i++) assert_true(sends[3] != recvs[i]);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_order, done),      cmocka_unit_test_teardown(test_later, done),
        cmocka_unit_test_teardown(test_mid_step, done),   cmocka_unit_test_teardown(test_open, done),
        cmocka_unit_test_teardown(test_impossible, done), cmocka_unit_test_teardown(test_single, done),
        cmocka_unit_test_teardown(test_several, done),    cmocka_unit_test_teardown(test_anonymous, done),
        cmocka_unit_test_teardown(test_windows, done),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
