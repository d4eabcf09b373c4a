/* Sends and receives: by order where nothing is lost, by time and collectives around where something is, and left alone
 * where that is not clear. Each stream of 32 has its i-th send at 1000 i, so that pairs can be told by their times. */
#include "unjoined.h"

#include "join/collectives.h"
#include "join/pairs.h"
#include "join/presence.h"
#include "join/resync.h"

enum { N = 32, PERIOD = 1000 };

static uint32_t sends[N], recvs[N];

static int32_t at(int i)
{
    return PERIOD * (i + 1);
}

/* A stream from rank 0 to rank 1: the receiver waits long, the ends coincide but for `skew`. Bit i of the masks: lost. */
static void make_stream(uint32_t sends_lost, uint32_t recvs_lost, int32_t skew)
{
    for (int i = 0; i < N; i++) {
        sends[i] = recvs[i] = RS_NONE;
        if (sends_lost >> i & 1)
            make_gap(0, at(i) - 300, at(i) - 299, 0, 1);
        else
            sends[i] = make_send(0, 1, at(i) - 400, at(i) - 100, at(i));
    }
    for (int i = 0; i < N; i++) {
        if (recvs_lost >> i & 1)
            make_gap(1, at(i) - 300, at(i) - 299, 0, 1);
        else
            recvs[i] = make_recv(1, 0, at(i) - 400, at(i) - 350, at(i) + skew);
    }
}

static void join(void)
{
    rs_collectives_join(&model);
    fine(RS_OK);
    rs_pairs_join(&model);
    fine(RS_OK);
    rs_pairs_resync(&model);
    fine(RS_OK);
    for (uint32_t i = 0; i < model.parts.n; i++) assert_int_not_equal(op_of(i), RS_NONE);
}

/* How many are joined; none wrongly. */
static int joined(void)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        if (sends[i] == RS_NONE || model.ops.nparts[op_of(sends[i])] != 2) continue;
        assert_int_not_equal(recvs[i], RS_NONE);
        assert_int_equal(op_of(sends[i]), op_of(recvs[i]));
        n++;
    }
    return n;
}

static void test_order(void **state)
{
    (void)state;
    make_ranks(2, 1);
    make_stream(0, 0, 5000); /* times do not matter */
    model.parts.count[recvs[3]] = 7;
    uint32_t excess = make_send(0, 1, at(N), UNKNOWN, UNKNOWN);
    join();
    assert_int_equal(joined(), N);
    for (int i = 0; i < N; i++) {
        uint32_t op = op_of(sends[i]);
        assert_int_equal(model.ops.kind[op], RS_OP_PAIR);
        assert_int_equal(model.ops.index[op], i);
        assert_int_equal(model.ops.root[op], 0);
        assert_int_equal(model.ops.dst[op], 1);
        assert_int_equal(model.ops.confidence[op], 100);
        assert_int_equal(model.ops.bytes[op], 400);
        assert_int_equal(!!(model.ops.flags[op] & RS_OP_MISMATCH), i == 3);
        assert_string_equal(rs_model_text(&model, model.ops.func[op]), "SendRecv");
    }
    assert_int_equal(model.ops.nparts[op_of(excess)], 1);
    assert_int_equal(model.ops.index[op_of(excess)], N);
    struct rs_presence_index x; /* the receiver lost nothing and did not come */
    rs_presence_init(&x, &model);
    fine(RS_OK);
    assert_int_equal(rs_presence(&x, &model, op_of(excess), 0), RS_PRESENT);
    assert_int_equal(rs_presence(&x, &model, op_of(excess), 1), RS_MISSING);
    rs_presence_free(&x);
    rs_model_free(&model);
}

static void test_streams_apart(void **state)
{
    (void)state;
    make_ranks(3, 1);
    uint32_t to1 = make_send(0, 1, 0, 10, 20), to2 = make_send(0, 2, 0, 10, 20), self = make_send(0, 0, 0, 10, 20);
    uint32_t from_self = make_recv(0, 0, 0, 10, 20);
    uint32_t at1 = make_recv(1, 0, 0, 10, 20), back = make_send(1, 0, 0, 10, 20), at2 = make_recv(2, 0, 0, 10, 20);
    join();
    assert_int_equal(op_of(to1), op_of(at1));
    assert_int_equal(op_of(to2), op_of(at2));
    assert_int_equal(op_of(self), op_of(from_self));
    assert_int_equal(model.ops.nparts[op_of(back)], 1);
    rs_model_free(&model);
}

/* Without times order would shift all that follow a loss by one. */
static void test_losses(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(1u << 14 | 1u << 25, 1u << 20, 3);
    join();
    assert_int_equal(joined(), N - 3);
    assert_int_equal(model.ops.confidence[op_of(sends[2])], 100); /* before the first loss */
    assert_in_range(model.ops.confidence[op_of(sends[28])], 50, 99);
    assert_int_equal(model.ops.nparts[op_of(recvs[14])], 1);
    struct rs_presence_index x;
    rs_presence_init(&x, &model);
    fine(RS_OK);
    assert_int_equal(rs_presence(&x, &model, op_of(recvs[14]), 0), RS_NOT_RECORDED);
    rs_presence_free(&x);
    rs_model_free(&model);
}

/* A send and the next receive are lost: equally many are left, and the two that stand alone do not belong together. */
static void test_both_lose(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(1u << 17, 1u << 18, 3);
    join();
    assert_int_equal(joined(), N - 2);
    assert_int_equal(model.ops.nparts[op_of(recvs[17])], 1);
    assert_int_equal(model.ops.nparts[op_of(sends[18])], 1);
    rs_model_free(&model);
}

/* The same, with nothing else near in time: the two are still too far apart for a pair. */
static void test_both_lose_in_the_distance(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(1u << 30 | 1u << 31, 1u << 30 | 1u << 31, 3);
    uint32_t s = make_send(0, 1, at(100) - 400, at(100) - 100, at(100));
    uint32_t r = make_recv(1, 0, at(101) - 400, at(100) - 350, at(101));
    join();
    assert_int_equal(joined(), N - 2);
    assert_int_equal(model.ops.nparts[op_of(s)], 1);
    assert_int_equal(model.ops.nparts[op_of(r)], 1);
    rs_model_free(&model);
}

/* The first records are gone: nothing is certain, times tell all. */
static void test_overwritten(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(0, 0x3f, 3);
    free(model.procs[1].gaps);
    model.procs[1].gaps = NULL;
    model.procs[1].ngaps = 0;
    model.procs[1].overwritten_until = ns(at(5));
    join();
    assert_int_equal(joined(), N - 6);
    rs_model_free(&model);
}

/* Parts that lack their times follow the rest of their piece. */
static void test_times_missing(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(1u << 13, 0, 3);
    for (int i = 16; i < N; i += 5) {
        model.parts.start[sends[i]] = model.parts.end[sends[i]] = RS_TIME_NONE;
        model.parts.start_source[sends[i]] = model.parts.end_source[sends[i]] = RS_FROM_NOTHING;
    }
    join();
    assert_int_equal(joined(), N - 1);
    rs_model_free(&model);
}

/* Clocks that are not good enough to tell neighbours apart: what is behind the loss is left alone. */
static void test_clocks_too_bad(void **state)
{
    (void)state;
    make_ranks(2, 2000);
    make_stream(1u << 5, 0, 3);
    join();
    assert_in_range(joined(), 1, 4);
    rs_model_free(&model);
}

/* Ends of certain pairs lie a whole period apart: then the nearest end is the wrong one. */
static void test_ends_do_not_tell(void **state)
{
    (void)state;
    make_ranks(2, 5);
    make_stream(1u << 15, 0, PERIOD);
    join();
    assert_in_range(joined(), 13, 15); /* what was certain */
    rs_model_free(&model);
}

/* No common clock, but collectives on the same communicator: two sends between each two of them. */
static void test_collectives_around(void **state)
{
    (void)state;
    make_ranks(2, 5);
    for (uint32_t d = 0; d < model.ndomains; d++) model.domains[d].island = d;
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < N; i++) {
            if (i % 2 == 0) make_coll(r, "AllReduce", (uint64_t)i / 2, at(i) - 600, at(i) - 590, at(i) - 580);
            if (r == 0 && i == 5) {
                make_gap(0, at(i) - 300, at(i) - 299, 0, 1);
                sends[i] = RS_NONE;
            } else if (r == 0) {
                sends[i] = make_send(0, 1, at(i) - 400, at(i) - 100, at(i));
            } else {
                recvs[i] = make_recv(1, 0, at(i) - 400, at(i) - 100, at(i));
            }
        }
    join();
    assert_in_range(joined(), N - 5, N - 1); /* the one beside the loss, and the last two, may be left alone */
    assert_int_equal(op_of(sends[10]), op_of(recvs[10]));
    rs_model_free(&model);
}

/* Two at once, and one of them lost on each side: which is left cannot be told. */
static void test_bursts(void **state)
{
    (void)state;
    make_ranks(2, 5);
    uint32_t s[2][N], r[2][N];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N; i++) {
            uint32_t first = RS_NONE;
            for (int k = 0; k < 2; k++) {
                if (i == 20 && k == side) {
                    make_gap(side, at(i) - 300, at(i) - 299, 0, 1);
                    continue;
                }
                uint32_t p = side ? make_recv(1, 0, at(i) - 400, at(i) - 100, at(i) + 3)
                                  : make_send(0, 1, at(i) - 400, at(i) - 100, at(i));
                if (first != RS_NONE) {
                    model.parts.launch[p] = model.parts.launch[first];
                    model.parts.group[p] = model.parts.group[first];
                }
                first = p;
                if (side)
                    r[k][i] = p;
                else
                    s[k][i] = p;
            }
        }
    join();
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++)
            if (i != 20) assert_int_equal(op_of(s[k][i]), op_of(r[k][i]));
    assert_int_equal(model.ops.nparts[op_of(s[1][20])], 1);
    assert_int_equal(model.ops.nparts[op_of(r[0][20])], 1);
    rs_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_streams_apart),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_both_lose),
        cmocka_unit_test(test_both_lose_in_the_distance),
        cmocka_unit_test(test_overwritten),
        cmocka_unit_test(test_times_missing),
        cmocka_unit_test(test_clocks_too_bad),
        cmocka_unit_test(test_ends_do_not_tell),
        cmocka_unit_test(test_collectives_around),
        cmocka_unit_test(test_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
