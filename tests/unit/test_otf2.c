/* NCCL's functions as OTF2's: which collective each is, and what a rank of 8 puts into 800 bytes and gets out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef RS_NO_OTF2

static void test_nothing(void **state)
{
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include "export/otf2/kinds.h"
#include "export/otf2/plan.h"

static void check(const char *func, OTF2_CollectiveOp op, bool root, uint64_t sent, uint64_t received)
{
    const struct rs_otf2_kind *kind = rs_otf2_kind(func);
    uint64_t in, out;
    assert_non_null(kind);
    assert_true(kind->is_collective);
    assert_int_equal(kind->op, op);
    rs_otf2_sizes(kind, 800, 8, root, &in, &out);
    assert_int_equal(in, sent);
    assert_int_equal(out, received);
}

static void test_collectives(void **state)
{
    (void)state;
    check("AllReduce", OTF2_COLLECTIVE_OP_ALLREDUCE, false, 800, 800);
    check("AllGather", OTF2_COLLECTIVE_OP_ALLGATHER, false, 100, 800); /* bytes are those of all ranks */
    check("ReduceScatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, false, 800, 100);
    check("AlltoAll", OTF2_COLLECTIVE_OP_ALLTOALL, false, 800, 800);
    check("Broadcast", OTF2_COLLECTIVE_OP_BCAST, true, 800, 0);
    check("Broadcast", OTF2_COLLECTIVE_OP_BCAST, false, 0, 800);
    check("Reduce", OTF2_COLLECTIVE_OP_REDUCE, true, 800, 800);
    check("Reduce", OTF2_COLLECTIVE_OP_REDUCE, false, 800, 0);
    check("Gather", OTF2_COLLECTIVE_OP_GATHER, true, 800, 6400); /* bytes are one rank's */
    check("Gather", OTF2_COLLECTIVE_OP_GATHER, false, 800, 0);
    check("Scatter", OTF2_COLLECTIVE_OP_SCATTER, true, 6400, 800);
    check("Scatter", OTF2_COLLECTIVE_OP_SCATTER, false, 0, 800);
}

static void test_others(void **state)
{
    (void)state;
    assert_null(rs_otf2_kind("Nonsense"));
    assert_false(rs_otf2_kind("Send")->is_collective);
    assert_int_equal(rs_otf2_kind("Recv")->role, OTF2_REGION_ROLE_POINT2POINT);
}

/* Lanes 0, 2 and the shared one are used: their places are 0, 1 and 2. */
static void test_lanes(void **state)
{
    (void)state;
    uint32_t lanes = 1u | 1u << 2 | 1u << RS_OTF2_GROUPED;
    assert_int_equal(rs_otf2_nth(lanes, 0), 0);
    assert_int_equal(rs_otf2_nth(lanes, 2), 1);
    assert_int_equal(rs_otf2_nth(lanes, RS_OTF2_GROUPED), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_collectives), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
