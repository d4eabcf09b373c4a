/* Ranks of the job from the members of communicators, against small jobs whose ranks are known. */
#include "join/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t add_proc(struct rs_model *m, int32_t launcher)
{
    uint32_t host, p;
    assert_int_equal(rs_model_host(m, "n0", "b0", &host, NULL), RS_OK);
    assert_int_equal(rs_model_proc(m, &p, NULL), RS_OK);
    m->procs[p].host = host;
    m->procs[p].launcher_rank = launcher;
    return p;
}

static uint32_t add_comm(struct rs_model *m, uint64_t hash, int32_t nranks)
{
    uint32_t c;
    assert_int_equal(rs_model_comm(m, hash, &c, NULL), RS_OK);
    m->comms[c].nranks = nranks;
    return c;
}

static uint32_t add_member(struct rs_model *m, uint32_t comm, int32_t rank, uint32_t proc, int32_t device,
                           int64_t created)
{
    uint32_t x;
    assert_int_equal(rs_model_member(m, comm, &x, NULL), RS_OK);
    m->members[x].rank = rank;
    m->members[x].proc = proc;
    m->members[x].device = device;
    m->members[x].created = created;
    return x;
}

static void assign(struct rs_model *m)
{
    assert_int_equal(rs_model_link(m, NULL), RS_OK);
    assert_int_equal(rs_ranks_assign(m, NULL), RS_OK);
}

static void test_world_numbers_all(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p[4];
    for (int i = 0; i < 4; i++) p[i] = add_proc(&m, 40 - i); /* the launcher says otherwise, and does not count */
    uint32_t half = add_comm(&m, 1, 2), late = add_comm(&m, 2, 4), world = add_comm(&m, 3, 4);
    uint32_t a = add_member(&m, half, 0, p[1], 0, 90), b = add_member(&m, half, 1, p[3], 0, 91);
    for (int i = 0; i < 4; i++) add_member(&m, late, i, p[i], 0, 200); /* in the order of the processes */
    const int order[] = {2, 0, 3, 1}; /* of processes in the first communicator that has all */
    for (int i = 0; i < 4; i++) add_member(&m, world, i, p[order[i]], 0, 100);
    assign(&m);
    assert_int_equal(m.world, 4);
    assert_int_equal(m.members[a].global_rank, 3); /* process 1 is rank 3 */
    assert_int_equal(m.members[b].global_rank, 2);
    const int32_t known[] = {1, 3, 0, 2};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[b + 1 + i].global_rank, known[i]);
    rs_model_free(&m);
}

static void test_devices_of_one_process(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, 0), q = add_proc(&m, 1);
    uint32_t world = add_comm(&m, 1, 8), part = add_comm(&m, 2, 2); /* ranks 4 to 7 of the job were not recorded */
    add_member(&m, world, 0, p, 1, 5);
    add_member(&m, world, 1, p, 0, 5);
    add_member(&m, world, 2, q, 0, 5);
    add_member(&m, world, 3, q, 1, 5);
    uint32_t a = add_member(&m, part, 0, q, 1, 6), b = add_member(&m, part, 1, p, 0, 6);
    assign(&m);
    assert_int_equal(m.members[a].global_rank, 3);
    assert_int_equal(m.members[b].global_rank, 1);
    assert_int_equal(m.world, 8);
    rs_model_free(&m);
}

static void test_ranks_that_share_a_device(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t p = add_proc(&m, 0);
    uint32_t world = add_comm(&m, 1, 4), same = add_comm(&m, 2, 4), few = add_comm(&m, 3, 2);
    for (int i = 0; i < 4; i++) add_member(&m, world, i, p, 0, 5);
    uint32_t first = add_member(&m, same, 0, p, 0, 6);
    for (int i = 1; i < 4; i++) add_member(&m, same, i, p, 0, 6);
    uint32_t a = add_member(&m, few, 0, p, 0, 7);
    add_member(&m, few, 1, p, 0, 7);
    assign(&m);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(m.members[first + i].global_rank, i);
    assert_int_equal(m.members[a].global_rank, -1); /* which two of the four they are cannot be told */
    rs_model_free(&m);
}

/* Two halves without a communicator of all: the launcher knows, unless it says the same twice, or not everything. */
static void test_launcher(void **state)
{
    (void)state;
    const struct {
        int32_t ranks[4];
        bool told;
    } cases[] = {{{3, 2, 1, 0}, true}, {{0, 1, 1, 2}, false}, {{0, 1, -1, 2}, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rs_model m = {0};
        uint32_t low = add_comm(&m, 1, 2), high = add_comm(&m, 2, 2);
        for (int i = 0; i < 4; i++) {
            uint32_t proc = add_proc(&m, cases[k].ranks[i]);
            add_member(&m, i < 2 ? low : high, i % 2, proc, 0, 5);
        }
        assign(&m);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(m.members[i].global_rank, cases[k].told ? cases[k].ranks[i] : -1);
        assert_int_equal(m.world, 2);
        rs_model_free(&m);
    }
}

static void test_launcher_and_two_devices(void **state)
{
    (void)state;
    struct rs_model m = {0};
    uint32_t a = add_proc(&m, 0), b = add_proc(&m, 1), one = add_comm(&m, 1, 2), two = add_comm(&m, 2, 2);
    add_member(&m, one, 0, a, 0, 5);
    add_member(&m, one, 1, a, 1, 5);
    add_member(&m, two, 0, b, 0, 5);
    assign(&m);
    for (uint32_t i = 0; i < m.nmembers; i++) assert_int_equal(m.members[i].global_rank, -1);
    rs_model_free(&m);
}

static void test_nothing(void **state)
{
    (void)state;
    struct rs_model m = {0};
    assign(&m);
    assert_int_equal(m.world, -1);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world_numbers_all),         cmocka_unit_test(test_devices_of_one_process),
        cmocka_unit_test(test_ranks_that_share_a_device), cmocka_unit_test(test_launcher),
        cmocka_unit_test(test_launcher_and_two_devices),  cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
