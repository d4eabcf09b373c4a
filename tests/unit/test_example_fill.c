/* Example-profiler dumps in the model: real ones whose story is known, and small ones made for one rule each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/formats.h"
#include "join/join.h"

#define DATA "tests/data/example/"
#define RING UINT64_C(12715772615376301750)
#define WHOLE UINT64_C(4417262467163427312)
#define EVEN UINT64_C(17943097139690744235)
enum { MOST_FILES = 8 };

/* ---- filling ---- */

static struct rs_other others[MOST_FILES];

static void fill(struct rs_model *m, const char *const *paths, size_t n)
{
    struct rs_other *files[MOST_FILES];
    struct rs_err err = {0};
    struct rs_fill f = {.model = m, .files = files, .n = n};
    *m = (struct rs_model){0};
    for (size_t i = 0; i < n; i++) {
        others[i] = (struct rs_other){.path = (char *)(uintptr_t)paths[i], .complete = true};
        files[i] = &others[i];
    }
    if (rs_example_fill(&f, &err) != RS_OK) fail_msg("%s", err.msg);
    rs_model_link(m);
}

static void join(struct rs_model *m)
{
    struct rs_err err = {0};
    if (rs_join(m, true, &err) != RS_OK) fail_msg("%s", err.msg);
}

static uint32_t member(const struct rs_model *m, uint64_t hash, int32_t rank)
{
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->comms[m->members[i].comm].hash == hash && m->members[i].rank == rank) return i;
    fail_msg("rank %d is not there", rank);
    return 0;
}

/* ---- dumps made here ---- */

static char dir[64];
static char made[MOST_FILES][128];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/example-fill-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}
static int remove_dir(void **state)
{
    (void)state;
    for (int i = 0; i < MOST_FILES; i++)
        if (made[i][0]) unlink(made[i]);
    memset(made, 0, sizeof made);
    return rmdir(dir);
}

static FILE *begin_dump(int i, unsigned comm, int rank)
{
    snprintf(made[i], sizeof made[i], "%s/dump_%u_%d.json", dir, comm, rank);
    FILE *f = fopen(made[i], "w");
    assert_non_null(f);
    fprintf(f, "[\n");
    return f;
}
static void end_dump(FILE *f)
{
    fprintf(f, "{}]\n");
    assert_int_equal(fclose(f), 0);
}
static void line(FILE *f, const char *name, const char *cat, char ph, int id, double us, const char *args)
{
    fprintf(f,
            "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"%c\", \"id\": %d, \"pid\": 7, \"tid\": 1, \"ts\": "
            "%.3f%s%s%s},\n",
            name, cat, ph, id, us, args ? ", \"args\": {" : "", args ? args : "", args ? "}" : "");
}

/* An all-reduce of one rank of communicator 5 on two channels, of which the profiler stops the first alone. Times are
 * us. */
struct coll {
    int id, rank, seq;
    double at; /* of the call; the launch returns 10 later, the start is read 20 later, the stop 100 later */
    uint64_t start, stop; /* GPU ns; 0: not told */
    int stream;
};
static void put_coll(FILE *f, const struct coll *c)
{
    char args[256];
    snprintf(args, sizeof args, "\"groupApiId\": %d, \"groupDepth\":1", c->id);
    line(f, "Group API", "GROUP_API", 'b', c->id, c->at, args);
    snprintf(args, sizeof args, "\"groupId\": 0, \"Stream\": 0x5500%d", c->stream);
    line(f, "KernelLaunch", "KERNEL_LAUNCH", 'b', c->id, 0, args);
    line(f, "KernelLaunch", "KERNEL_LAUNCH", 'e', c->id, c->at + 10, NULL);
    snprintf(args, sizeof args,
             "\"count\": 8, \"datatype\": ncclFloat32, \"root\": 0, \"GraphCaptured\":0, \"Stream\": 0x5500%d",
             c->stream);
    line(f, "AllReduce", "COLL_API", 'b', c->id, 0, args);
    if (c->seq >= 0) {
        snprintf(args, sizeof args,
                 "\"SeqNum\": %d, \"CommHash\": 5, \"Rank\": %d, \"Count\": 8, \"Datatype\": \"ncclFloat32\", "
                 "\"Algorithm\": \"RING\", \"Protocol\": \"LL\", \"nChannels\": 2",
                 c->seq, c->rank);
        line(f, "AllReduce", "COLL", 'b', c->id, c->at + 11, args);
        for (int ch = 0; ch < 2; ch++) {
            snprintf(args, sizeof args, "\"Channel\": %d, \"StartGpuClk\": %llu, \"StopGpuClk\": %llu", ch,
                     (unsigned long long)c->start, (unsigned long long)(ch ? 0 : c->stop));
            line(f, "KernelCh", "GPU", 'b', 0, c->at + 20 + ch, args);
            line(f, "KernelCh", "GPU", 'e', 0, ch || !c->stop ? 0 : c->at + 100, NULL);
        }
        line(f, "AllReduce", "COLL", 'e', c->id, c->at + 12, NULL);
    }
    line(f, "AllReduce", "COLL_API", 'e', c->id, c->at + 1, NULL);
    line(f, "Group API", "GROUP_API", 'e', c->id, c->at + 15, NULL);
}

#define GPU UINT64_C(1700000000000000000)

/* ---- real ones ---- */

static void test_ring(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "ring4/nccl_example_plugin_point_to_point_12715772615376301750_0.json",
                                        DATA "ring4/nccl_example_plugin_point_to_point_12715772615376301750_1.json",
                                        DATA "ring4/nccl_example_plugin_point_to_point_12715772615376301750_2.json",
                                        DATA "ring4/nccl_example_plugin_point_to_point_12715772615376301750_3.json"};
    struct rs_model m;
    fill(&m, paths, 4);
    assert_true(m.nprocs == 1 && m.nhosts == 1 && m.ncomms == 1 && m.nmembers == 4 && m.parts.n == 8);
    assert_true(m.procs[0].pid == 3937375 && m.procs[0].tool == RS_TOOL_EXAMPLE && m.procs[0].drops);
    assert_true(m.procs[0].complete && m.procs[0].lost == 0);
    assert_int_equal(m.comms[0].nranks, 4);
    static const int64_t launched[] = {1818540878, 1813821208, 1808854598, 1804044098};
    static const int64_t before[] = {1827149591, 1822436480, 1817480801, 1826698151};
    static const int64_t destroyed[] = {2354325190, 2355952827, 2355410982, 2354411932};
    uint32_t gpus[4];
    for (int r = 0; r < 4; r++) {
        const struct rs_member *x = &m.members[member(&m, RING, r)];
        gpus[r] = x->gpu;
        for (int k = 0; k < r; k++) assert_true(gpus[k] != x->gpu);
        assert_non_null(m.domains[x->gpu].bounds);
        assert_int_equal(m.domains[x->gpu].timers, 32);
        assert_true(x->created == 0 && x->created_from == RS_LIFE_FIRST_INIT);
        assert_true(x->destroyed_from == RS_LIFE_LAST_SLEEP);
        if (x->destroyed / 1000000 != destroyed[r] / 1000000) fail_msg("rank %d: %lld", r, (long long)x->destroyed);
    }
    for (uint32_t i = 0; i < m.parts.n; i++) {
        int r = m.members[m.parts.member[i]].rank;
        assert_true(m.parts.kind[i] == RS_PART_SEND ? m.parts.peer[i] == (r + 1) % 4 : m.parts.peer[i] == (r + 3) % 4);
        assert_int_equal(m.parts.launched[i], launched[r]);
        assert_int_equal(m.parts.before[i], before[r]);
        assert_true(m.parts.end[i] == RS_TIME_NONE && m.parts.start_source[i] == RS_FROM_KERNEL);
        assert_true((m.parts.flags[i] & RS_PART_LAUNCH_END) && !(m.parts.flags[i] & (RS_PART_OPEN | RS_PART_STALE)));
        assert_int_equal(m.parts.channels_seen[i], 16);
        assert_int_equal(m.parts.enqueued[i], 1467846534); /* the group call's begin */
    }
    join(&m);
    for (uint32_t i = 0; i < m.parts.n; i++) /* the importer's bound is tighter than destruction, and stays */
        assert_int_equal(m.parts.before[i], before[m.members[m.parts.member[i]].rank]);
    rs_model_free(&m);
}

static void test_one_process(void **state)
{
    (void)state;
    static const char *const paths[] = {
        DATA "oneprocess4/v28_4417262467163427312_0.json",  DATA "oneprocess4/v28_4417262467163427312_1.json",
        DATA "oneprocess4/v28_4417262467163427312_2.json",  DATA "oneprocess4/v28_4417262467163427312_3.json",
        DATA "oneprocess4/v28_17943097139690744235_0.json", DATA "oneprocess4/v28_17943097139690744235_1.json",
        DATA "oneprocess4/v28_5801567698727252458_0.json",  DATA "oneprocess4/v28_5801567698727252458_1.json"};
    struct rs_model m;
    fill(&m, paths, 8);
    assert_true(m.nprocs == 1 && m.ncomms == 3 && m.nmembers == 8);
    /* Devices by streams: rank 1 of the even half is rank 2 of the whole. */
    assert_int_equal(m.members[member(&m, EVEN, 1)].gpu, m.members[member(&m, WHOLE, 2)].gpu);
    assert_true(m.members[member(&m, EVEN, 1)].gpu != m.members[member(&m, WHOLE, 1)].gpu);
    unsigned calls[3] = {0};
    for (uint32_t i = 0; i < m.parts.n; i++) {
        if (m.parts.kind[i] != RS_PART_API) continue;
        assert_string_equal(rs_model_text(&m, m.parts.func[i]), "Broadcast");
        assert_true(m.parts.seq[i] < 3);
        calls[m.parts.seq[i]]++;
    }
    assert_true(calls[0] == 4 && calls[1] == 4 && calls[2] == 4);
    assert_true(m.procs[0].lost > 0 && !m.procs[0].complete && m.nnotes == 1);
    join(&m);
    assert_int_equal(m.members[member(&m, EVEN, 1)].global_rank, 2);
    rs_model_free(&m);
}

/* ---- rules ---- */

/* The two files have one pid. Both ranks are in three collectives: at about the same time, or seconds apart. */
static uint32_t processes(double apart, int second_id, int second_stream)
{
    FILE *f = begin_dump(0, 5, 0);
    for (int i = 0; i < 3; i++) {
        uint64_t gpu = GPU + 200000u * (unsigned)i;
        put_coll(f, &(struct coll){i, 0, i, 1000 + 200 * i, gpu, gpu + 90000, 1});
    }
    end_dump(f);
    f = begin_dump(1, 5, 1);
    for (int i = 0; i < 3; i++) {
        uint64_t gpu = GPU + 5000000000u + 200000u * (unsigned)i;
        put_coll(f, &(struct coll){second_id + i, 1, i, 1000 + apart + 200 * i, gpu, 0, second_stream});
    }
    end_dump(f);
    const char *paths[] = {made[0], made[1]};
    struct rs_model m;
    fill(&m, paths, 2);
    uint32_t n = m.nprocs;
    assert_true(m.nmembers == 2 && m.parts.n == 6 && m.nhosts == n);
    assert_true((others[0].proc == others[1].proc) == (n == 1));
    rs_model_free(&m);
    return n;
}

static void test_processes_of_one_pid(void **state)
{
    (void)state;
    assert_int_equal(processes(20, 3, 2), 1); /* numbers go on, and times agree */
    assert_int_equal(processes(20, 0, 2), 2); /* numbers collide, and nothing speaks for one */
    assert_int_equal(processes(20, 3, 1), 2); /* two ranks on one stream */
    assert_int_equal(processes(3000000, 3, 2), 2); /* one had ended before the other began */
}

static void test_ends(void **state)
{
    (void)state;
    FILE *f = begin_dump(0, 5, 0);
    put_coll(f, &(struct coll){0, 0, 0, 1000, GPU, GPU + 50000, 1});
    put_coll(f, &(struct coll){1, 0, 1, 2000, GPU + 1000000, 0, 1}); /* no channel tells its stop */
    put_coll(f,
             &(struct coll){2, 0, 2, 3000, GPU + 20000, GPU + 60000, 1}); /* before the end of the first: another's */
    put_coll(f, &(struct coll){3, 0, 3, 4000, GPU + 3000000, GPU + 2900000, 1}); /* stops before it starts */
    line(f, "Sleep", "PROXY", 'b', 0, 2500, NULL);
    line(f, "Sleep", "PROXY", 'e', 0, 9000, NULL);
    end_dump(f);
    const char *paths[] = {made[0]};
    struct rs_model m;
    fill(&m, paths, 1);
    const struct rs_parts *t = &m.parts;
    assert_int_equal(t->n, 4);
    assert_int_equal(t->end[0] - t->start[0], 50000); /* by the channel that tells it */
    assert_true(t->channels_seen[0] == 2 && t->end_source[0] == RS_FROM_KERNEL && t->before[0] == RS_TIME_NONE);
    assert_int_equal(t->start[1] - t->start[0], 1000000);
    assert_true(t->end[1] == RS_TIME_NONE && t->before[1] == 2500000);
    assert_true((t->flags[2] & RS_PART_STALE) && t->start[2] == RS_TIME_NONE && t->end[2] == RS_TIME_NONE);
    assert_true((t->flags[3] & RS_PART_STALE) && t->end[3] == RS_TIME_NONE);
    assert_true(t->seq[3] == 3 && t->launch[2] != t->launch[3] && t->launch[0]);
    assert_int_equal(m.members[0].destroyed, 9000000);
    rs_model_free(&m);
}

/* A call whose operation is not there, of a function that has others: the pool was full. */
static void test_losses(void **state)
{
    (void)state;
    FILE *f = begin_dump(0, 5, 0);
    put_coll(f, &(struct coll){0, 0, 0, 1000, GPU, GPU + 50000, 1});
    put_coll(f, &(struct coll){1, 0, -1, 2000, 0, 0, 1});
    end_dump(f);
    const char *paths[] = {made[0]};
    struct rs_model m;
    fill(&m, paths, 1);
    assert_int_equal(m.parts.n, 1);
    assert_true(m.procs[0].lost == 1 && m.procs[0].ngaps == 1 && !m.procs[0].complete && m.procs[0].drops);
    assert_true(m.procs[0].gaps[0].from == 2000000 && m.procs[0].gaps[0].colls == 1 && m.procs[0].gaps[0].p2ps == 0);
    rs_model_free(&m);
}

static void test_network(void **state)
{
    (void)state;
    const char *proxy = "\"Channel\": 0, \"Peer\": 1, \"Steps\": 1, \"ChunkSize\": 64, \"transSize\": 64";
    FILE *f = begin_dump(0, 5, 0);
    line(f, "AllReduce", "COLL", 'b', 0, 100,
         "\"SeqNum\": 0, \"CommHash\": 5, \"Rank\": 0, \"Count\": 8, \"Datatype\": \"ncclFloat32\", "
         "\"Algorithm\": \"RING\", \"Protocol\": \"LL\", \"nChannels\": 1");
    line(f, "ScheduleSend", "PROXY", 'b', 0, 110, proxy);
    line(f, "ScheduleSend", "PROXY", 'e', 0, 120, NULL);
    line(f, "ProgressSend", "PROXY", 'b', 0, 120, proxy);
    static const char *const waits[] = {"SendGpuWait", "SendPeerWait", "SendWait"};
    for (int i = 0; i < 3; i++) {
        line(f, waits[i], "NET", 'b', 0, 121 + 10 * i, "\"Step\": 0");
        line(f, waits[i], "NET", 'e', 0, 122 + 11 * i, NULL);
    }
    line(f, "ProgressSend", "PROXY", 'e', 0, 150, NULL);
    line(f, "AllReduce", "COLL", 'e', 0, 105, NULL);
    end_dump(f);
    const char *paths[] = {made[0]};
    struct rs_model m;
    fill(&m, paths, 1);
    assert_true(m.nnets == 1 && m.nets[0].peer == 1 && m.comms[0].nranks == 2);
    assert_true(m.nets[0].gpu_ns == 1000 && m.nets[0].credit_ns == 2000 && m.nets[0].send_ns == 3000);
    assert_true(m.nets[0].sent == 1 && m.nets[0].sent_bytes == 64 && m.nets[0].received == 0);
    /* Without kernels the proxy tells start and end. */
    assert_true(m.parts.start[0] == 120000 && m.parts.end[0] == 150000 && m.parts.end_source[0] == RS_FROM_PROXY);
    rs_model_free(&m);
}

static void test_damage(void **state)
{
    (void)state;
    FILE *f = begin_dump(0, 5, 0);
    put_coll(f, &(struct coll){0, 0, 0, 1000, GPU, GPU + 50000, 1});
    fprintf(f, "{\"name\": \"Group API\", \"cat\": \"GROUP_");
    fclose(f);
    f = begin_dump(1, 5, 1);
    fprintf(f, "hello");
    fclose(f);
    const char *paths[] = {made[0], made[1]};
    struct rs_model m;
    fill(&m, paths, 2);
    assert_int_equal(m.parts.n, 1);
    assert_true(!others[0].complete && others[0].proc == 0 && strstr(others[0].why, "byte"));
    assert_true(!others[1].complete && others[1].proc == RS_NONE && !strncmp(others[1].why, made[1], strlen(made[1])));
    assert_false(m.procs[0].complete);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_one_process),
        cmocka_unit_test_setup_teardown(test_processes_of_one_pid, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_ends, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_losses, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_network, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_damage, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
