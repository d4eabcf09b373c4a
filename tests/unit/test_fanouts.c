/* Fan-outs: which pairs make one, what it is called, and what it says. */
#include "unjoined.h"

#include "join/fanouts.h"
#include "join/pairs.h"
#include "join/resync.h"
#include "join/waits.h"

static uint64_t calls[8]; /* of the group call that each rank is in now */

/* Every rank goes on to its next group call. */
static void next_calls(void)
{
    static uint64_t call = 77;
    for (int r = 0; r < 8; r++) calls[r] = ++call;
}

/* One pair within the group calls of both ranks. Launches differ: a group call may be launched in several. */
static void make_pair(int src, int dst, uint64_t count)
{
    uint32_t s = make_send(src, dst, 0, 100 + src, 200), r = make_recv(dst, src, 0, 100 + dst, 200);
    model.parts.group[s] = calls[src];
    model.parts.group[r] = calls[dst];
    model.parts.count[s] = model.parts.count[r] = count;
}

/* The only fan-out, or RS_NONE. */
static uint32_t join(void)
{
    uint32_t found = RS_NONE;
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_pairs_resync(&model);
    fine(RS_OK);
    rs_fanouts_join(&model);
    fine(RS_OK);
    rs_waits_find(&model);
    fine(RS_OK);
    for (uint32_t op = 0; op < model.ops.n; op++) {
        if (model.ops.kind[op] != RS_OP_FANOUT) continue;
        assert_int_equal(found, RS_NONE);
        found = op;
    }
    return found;
}

static const char *name(uint32_t op)
{
    return rs_model_text(&model, model.ops.func[op]);
}

static void test_alltoall(void **state)
{
    (void)state;
    make_ranks(4, 1);
    next_calls();
    for (int s = 0; s < 4; s++)
        for (int d = 0; d < 4; d++) make_pair(s, d, s == 2 ? 20 : 10);
    uint32_t op = join();
    assert_int_not_equal(op, RS_NONE);
    assert_string_equal(name(op), "AlltoAll");
    assert_int_equal(model.ops.nparts[op], 32);
    assert_int_equal(model.ops.bytes[op], 4 * 20 * 4); /* what rank 2 sends */
    assert_int_equal(model.ops.flags[op] & (RS_OP_WHOLE | RS_OP_COMPLETE | RS_OP_CLOCKED | RS_OP_DOUBLE),
                     RS_OP_WHOLE | RS_OP_COMPLETE | RS_OP_CLOCKED);
    int32_t rank = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t part = model.order[model.ops.part[op] + i];
        assert_true(model.members[model.parts.member[part]].rank >= rank);
        rank = model.members[model.parts.member[part]].rank;
        assert_int_equal(model.ops.fanout[op_of(part)], op); /* a part is its pair's, a pair its fan-out's */
        assert_int_equal(model.ops.kind[op_of(part)], RS_OP_PAIR);
    }
    assert_int_equal(model.ops.last[op], ns(103));
    assert_int_equal(model.parts.member[model.ops.last_part[op]], 3);
    rs_model_free(&model);
}

static void test_calls_apart(void **state)
{
    (void)state;
    make_ranks(3, 1);
    for (int k = 0; k < 5; k++) { /* a pair alone is none */
        next_calls();
        make_pair(0, 1, 10);
    }
    assert_int_equal(join(), RS_NONE);
    rs_model_free(&model);

    make_ranks(3, 1);
    next_calls();
    make_pair(0, 1, 10);
    make_pair(1, 2, 10);
    next_calls();
    make_pair(2, 0, 10);
    uint32_t op = join();
    assert_int_equal(model.ops.nparts[op], 4);
    assert_string_equal(name(op), "SendRecv");
    assert_int_equal(model.ops.bytes[op], 80);
    assert_int_equal(model.ops.fanout[op_of(4)], RS_NONE);
    rs_model_free(&model);
}

/* Pairs left out: an AlltoAll as long as all ranks are in it, half of the ways are used, and ranks keep a share themselves:
 * rings and pipelines, in which they do not, are no all-to-alls. */
static void test_unequal(void **state)
{
    (void)state;
    for (int selves = 0; selves < 2; selves++)
        for (int used = 5; used <= 12; used++) {
            make_ranks(4, 1);
            next_calls();
            int n = 0;
            for (int k = 1; k < 4; k++)
                for (int s = 0; s < 4; s++)
                    if (n++ < used) make_pair(s, (s + k) % 4, 10);
            if (selves) make_pair(0, 0, 10);
            uint32_t op = join();
            assert_string_equal(name(op), used == 12 || (selves && used >= 6) ? "AlltoAll" : "SendRecv");
            rs_model_free(&model);
        }
}

static void test_rooted(void **state)
{
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        make_ranks(4, 1);
        next_calls();
        for (int r = 0; r < 4; r++) make_pair(gather ? r : 2, gather ? 2 : r, 10);
        uint32_t op = join();
        assert_string_equal(name(op), gather ? "Gather" : "Scatter");
        assert_int_equal(model.ops.root[op], 2);
        assert_int_equal(model.ops.bytes[op], 160);
        rs_model_free(&model);
    }
}

static void test_two_ranks(void **state)
{
    (void)state;
    for (int selves = 0; selves < 2; selves++) {
        make_ranks(2, 1);
        next_calls();
        make_pair(0, 1, 10);
        make_pair(1, 0, 10);
        if (selves) make_pair(0, 0, 10);
        if (selves) make_pair(1, 1, 10);
        assert_string_equal(name(join()), selves ? "AlltoAll" : "SendRecv");
        rs_model_free(&model);
    }
}

/* The other side of a pair is not recorded: the rest still is a fan-out, but not a whole one. */
static void test_not_whole(void **state)
{
    (void)state;
    make_ranks(3, 1);
    next_calls();
    make_pair(0, 1, 10);
    uint32_t lone = make_send(0, 2, 0, 100, 200);
    model.parts.group[lone] = calls[0];
    uint32_t op = join();
    assert_int_equal(model.ops.nparts[op], 3);
    assert_int_equal(model.ops.fanout[op_of(lone)], op);
    assert_false(model.ops.flags[op] & RS_OP_WHOLE);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alltoall), cmocka_unit_test(test_calls_apart), cmocka_unit_test(test_unequal),
        cmocka_unit_test(test_rooted),   cmocka_unit_test(test_two_ranks),   cmocka_unit_test(test_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
