/* Parents from hashes, against hashes seen in real runs and colours computed by other programs; classes of shapes. */
#include "join/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "join/classes.h"
#include "join/ranks.h"
#include "nccl/digest.h"

static void add_procs(struct rs_model *m, uint32_t n)
{
    uint32_t host, p;
    rs_model_host(m, "n0", "b0", &host);
    for (uint32_t i = 0; i < n; i++) rs_model_proc(m, &p);
}

/* A communicator of these processes, by rank. */
static uint32_t add_comm(struct rs_model *m, uint64_t hash, const char *name, const int32_t *procs, int32_t n,
                         int64_t created)
{
    uint32_t c, x;
    rs_model_comm(m, hash, &c);
    m->comms[c].nranks = n;
    m->comms[c].name = name;
    for (int32_t r = 0; r < n; r++) {
        rs_model_member(m, c, &x);
        m->members[x].rank = r;
        m->members[x].proc = (uint32_t)procs[r];
        m->members[x].device = 0;
        m->members[x].created = created;
    }
    return c;
}

static uint32_t add_range(struct rs_model *m, uint64_t hash, const char *name, int32_t from, int32_t step, int32_t n,
                          int64_t created)
{
    int32_t procs[64];
    for (int32_t i = 0; i < n; i++) procs[i] = from + i * step;
    return add_comm(m, hash, name, procs, n, created);
}

static void find(struct rs_model *m)
{
    rs_model_link(m);
    rs_ranks_find(m);
    assert_int_equal(rs_family_find(m, NULL), RS_OK);
}

static void check(const struct rs_model *m, uint32_t child, uint32_t parent, int32_t count, int32_t color, bool ranks)
{
    const struct rs_parent *p = &m->comms[child].parent;
    assert_int_equal(p->comm, parent);
    if (parent == RS_NONE) return;
    assert_int_equal(p->count, count);
    assert_int_equal(p->color, color);
    assert_int_equal(p->from_ranks, ranks);
}

/* Hashes of a run of NCCL: a split of four ranks into two halves. */
static void test_real_split(void **state)
{
    (void)state;
    struct rs_model m = {0};
    add_procs(&m, 4);
    uint32_t even = add_range(&m, 17943097139690744235u, NULL, 0, 2, 2, 20);
    uint32_t odd = add_range(&m, 5801567698727252458u, NULL, 1, 2, 2, 20);
    uint32_t world = add_range(&m, 4417262467163427312u, NULL, 0, 1, 4, 10);
    uint32_t stranger = add_range(&m, 12345, NULL, 0, 1, 4, 30);
    find(&m);
    check(&m, even, world, 1, 0, false);
    check(&m, odd, world, 1, 1, false);
    check(&m, world, RS_NONE, 0, 0, false);
    check(&m, stranger, RS_NONE, 0, 0, false);
    rs_model_free(&m);
}

/* And of PyTorch on NCCL 2.28: the groups [0, 1] and [2, 3] of four, each a split of the first communicator. */
static void test_real_groups(void **state)
{
    (void)state;
    struct rs_model m = {0};
    add_procs(&m, 4);
    uint32_t world = add_range(&m, 0x9598a5b82b6c17ecu, NULL, 0, 1, 4, 10);
    uint32_t low = add_range(&m, 0x9c22e9517de62878u, NULL, 0, 1, 2, 20);
    uint32_t high = add_range(&m, 0xceef613ff444adb0u, NULL, 2, 1, 2, 20);
    find(&m);
    check(&m, low, world, 1, 2130503744, true);
    check(&m, high, world, 2, 1121016176, true);
    rs_model_free(&m);
}

/* PyTorch's colours as Python's hash() and a program in C++ with std::hash computed them. */
static void test_pytorch_colors(void **state)
{
    (void)state;
    const struct {
        int32_t ranks[8];
        size_t n;
        int32_t colors[RS_FAMILY_COLORS];
    } known[] = {
        {{0, 2}, 2, {1684518034, (int32_t)3832001682u, 1301594145}},
        {{1, 3}, 2, {1984952676, 1984952676, 1301593953}},
        {{4, 5, 6, 7}, 4, {728295930, (int32_t)2875779578u, 1210285426}},
        {{0, 1, 2, 3, 4, 5, 6, 7}, 8, {1266629538, 1266629538, 974727815}},
        {{1474, 1475}, 2, {804787256, 0, 1301430706}},
        {{1984, 1985}, 2, {1817349861, 0, 1301430706}}, /* the same: a collision that users met */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int32_t colors[RS_FAMILY_COLORS];
        rs_family_colors(known[i].ranks, known[i].n, colors);
        assert_int_equal(colors[0], known[i].colors[0]);
        if (known[i].colors[1]) assert_int_equal(colors[1], known[i].colors[1]);
        assert_int_equal(colors[2], known[i].colors[2]);
    }
    struct rs_model m = {0};
    add_procs(&m, 4);
    uint32_t world = add_range(&m, 777, "default_pg:0", 0, 1, 4, 10);
    uint32_t a = add_range(&m, rs_nccl_split_hash(777, 3, 1684518034), "dp:1", 0, 2, 2, 20);
    uint32_t b = add_range(&m, rs_nccl_split_hash(777, 200, 1301593953), "dp:2", 1, 2, 2, 20);
    for (uint64_t i = 0; i < 150; i++) add_range(&m, 1000 + i, NULL, (int32_t)(i % 4), 1, 1, 15); /* 200 are tried */
    find(&m);
    check(&m, a, world, 3, 1684518034, true);
    check(&m, b, world, 200, 1301593953, true);
    rs_model_free(&m);
}

/* A child's child, a shrink, a colour that only all colours find, and a parent of which some are not recorded. */
static void test_generations(void **state)
{
    (void)state;
    struct rs_model m = {0};
    add_procs(&m, 32);
    uint32_t world = add_range(&m, 50, NULL, 0, 1, 32, 1);
    uint32_t left = add_range(&m, rs_nccl_split_hash(50, 2, 0), NULL, 0, 1, 16, 2);
    uint32_t inner = add_range(&m, rs_nccl_split_hash(m.comms[left].hash, 1, 3), NULL, 12, 1, 4, 3);
    uint32_t shrunk = add_range(&m, rs_nccl_split_hash(50, 0, 0), NULL, 0, 1, 31, 4);
    uint32_t odd = add_range(&m, rs_nccl_split_hash(50, 9, 29), NULL, 3, 5, 3, 5);
    uint32_t lowest = add_range(&m, rs_nccl_split_hash(50, 10, 24), NULL, 24, 1, 4, 5);
    m.comms[odd].nranks = 7; /* four of it left no recording */
    find(&m);
    check(&m, left, world, 2, 0, false);
    check(&m, inner, left, 1, 3, false);
    check(&m, shrunk, world, 0, 0, false);
    check(&m, odd, world, 9, 29, false);
    check(&m, lowest, world, 10, 24, false);
    rs_model_free(&m);
}

/* A parent has all members of the child, and was there before. */
static void test_parents_that_cannot_be(void **state)
{
    (void)state;
    struct rs_model m = {0};
    add_procs(&m, 8);
    add_range(&m, 60, NULL, 0, 1, 4, 10);
    uint32_t outside = add_range(&m, rs_nccl_split_hash(60, 1, 0), NULL, 3, 1, 2, 20);
    uint32_t before = add_range(&m, rs_nccl_split_hash(60, 2, 0), NULL, 0, 1, 2, 5);
    uint32_t again = add_range(&m, 60, NULL, 0, 1, 4, 30); /* the same hash in another life */
    uint32_t child = add_range(&m, rs_nccl_split_hash(60, 3, 1), NULL, 2, 1, 2, 40);
    find(&m);
    check(&m, outside, RS_NONE, 0, 0, false);
    check(&m, before, RS_NONE, 0, 0, false);
    check(&m, child, again, 3, 1, false);
    rs_model_free(&m);
}

static void test_classes(void **state)
{
    (void)state;
    struct rs_model m = {0};
    add_procs(&m, 16);
    uint32_t world = add_range(&m, 1, "default_pg:0", 0, 1, 16, 1), tp[4], dp[4];
    for (int32_t i = 0; i < 4; i++) tp[i] = add_range(&m, 10 + (uint64_t)i, "tp:1", 4 * i, 1, 4, 2);
    for (int32_t i = 0; i < 4; i++) dp[i] = add_range(&m, 20 + (uint64_t)i, "mesh:dp:2", i, 4, 4, 2);
    uint32_t other = add_range(&m, 30, "ep:7", 0, 1, 4, 3), pair = add_range(&m, 31, "alice", 0, 3, 2, 3);
    const int32_t wild[] = {0, 1, 5};
    uint32_t irregular = add_comm(&m, 32, NULL, wild, 3, 3), third = add_range(&m, 33, "bob", 1, 3, 2, 3);
    uint32_t named = add_range(&m, 34, "carol", 0, 5, 2, 3), nameless = add_range(&m, 35, NULL, 1, 5, 2, 3);
    find(&m);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(m.comms[tp[i]].class, m.comms[tp[0]].class);
        assert_int_equal(m.comms[dp[i]].class, m.comms[dp[0]].class);
    }
    assert_int_not_equal(m.comms[other].class, m.comms[tp[0]].class);
    assert_int_equal(m.comms[third].class, m.comms[pair].class);
    assert_string_equal(m.classes[m.comms[world].class].text, "all 16 ranks (default_pg)");
    assert_string_equal(m.classes[m.comms[tp[0]].class].text, "4 x 4 consecutive ranks (tp)");
    assert_string_equal(m.classes[m.comms[dp[0]].class].text, "4 x 4 ranks, every 4th (mesh:dp)");
    assert_string_equal(m.classes[m.comms[pair].class].text, "2 x 2 ranks, every 3rd");
    assert_string_equal(m.classes[m.comms[irregular].class].text, "3 ranks");
    assert_int_equal(m.comms[nameless].class, m.comms[named].class);
    assert_string_equal(m.classes[m.comms[named].class].text,
                        "2 x 2 ranks, every 5th"); /* a name of some is not theirs */
    assert_int_equal(m.classes[m.comms[dp[0]].class].stride, 4);
    assert_int_equal(m.classes[m.comms[irregular].class].stride, 0);
    assert_int_equal(m.nclasses, 7);
    rs_model_free(&m);
}

static void test_group_names(void **state)
{
    (void)state;
    size_t n = 0;
    const char *group = NULL;
    assert_true(rs_group_name("a:b:12", &n, &group));
    assert_int_equal(n, 3);
    assert_string_equal(group, "12");
    assert_false(rs_group_name(NULL, &n, &group));
    assert_false(rs_group_name("plain", &n, &group));
    assert_false(rs_group_name(":1", &n, &group));
    assert_false(rs_group_name("x:", &n, &group));
}

/* 10,000 groups of PyTorch on 64 ranks, each a split of the world: all are found, and soon; as many that are of no
 * family end early and are said. */
static void test_many(void **state)
{
    (void)state;
    static char names[10000][24];
    for (int strangers = 0; strangers < 2; strangers++) {
        struct rs_model m = {0};
        add_procs(&m, 64);
        uint32_t world = add_range(&m, 99, "default_pg:0", 0, 1, 64, 1);
        for (int32_t i = 0; i < 10000; i++) {
            int32_t ranks[8], colors[RS_FAMILY_COLORS], first = i % 57;
            for (int32_t k = 0; k < 8; k++) ranks[k] = first + k;
            rs_family_colors(ranks, 8, colors);
            snprintf(names[i], sizeof names[i], "g:%d", i);
            add_comm(&m, strangers ? 0xabc000u + (uint64_t)i : rs_nccl_split_hash(99, i + 1, colors[0]), names[i],
                     ranks, 8, i + 2);
        }
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        find(&m);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double took = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        print_message("%d communicators: %.2f s\n", 10001, took);
        assert_true(took < 20); /* the sanitizers included; else well below a second */
        if (!strangers)
            for (uint32_t i = 0; i < 10000; i++)
                check(&m, world + 1 + i, world, (int32_t)i + 1, m.comms[world + 1 + i].parent.color, true);
        assert_int_equal(m.nnotes, strangers);
        rs_model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_split),
        cmocka_unit_test(test_real_groups),
        cmocka_unit_test(test_pytorch_colors),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_parents_that_cannot_be),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_group_names),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
