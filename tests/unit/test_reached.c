/* Reached against possible bus bandwidth: interpolated by hand, what is not known, and whether waiting explains it. */
#include "joined.h"

#include <math.h>

#include "analyse/reached.h"
#include "analyse/words.h"

static struct rs_view view;
static struct rs_bandwidth found;
static struct rs_reference reference;
static struct rs_reached reached;

static int forget(void **state)
{
    (void)state;
    rs_reached_free(&reached);
    rs_reference_free(&reference);
    rs_bandwidth_free(&found);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static void add(const char *func, const char *dtype, int32_t nranks, uint64_t bytes, double gbs)
{
    struct rs_reference_point p = {func, dtype, nranks, bytes, gbs};
    rs_reference_add(&reference, &p);
    fine(RS_OK);
}

static double possible(const char *func, const char *dtype, int32_t nranks, uint64_t bytes, enum rs_reference_lack lack)
{
    enum rs_reference_lack is;
    double gbs = rs_reference_find(&reference, func, dtype, nranks, bytes, &is);
    assert_int_equal(is, lack);
    return gbs;
}

static void close_to(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b))) fail_msg("%.12g is not %.12g", a, b);
}

static void test_find(void **state)
{
    (void)state;
    const uint64_t M = 1 << 20;
    rs_reference_free(&reference);
    add("AllReduce", "ncclFloat32", 8, 16 * M, 300); /* in any order, some twice */
    add("AllReduce", "ncclFloat32", 8, M, 100);
    add("AllReduce", "ncclFloat32", 8, 4 * M, 180);
    add("AllReduce", "ncclFloat32", 8, 4 * M, 200);
    add("AllReduce", "ncclFloat32", 8, 4 * M, 190);
    add("AllReduce", "ncclFloat32", 4, M, 50);
    add("AllReduce", "ncclBfloat16", 8, M, 80);
    add("AllGather", "ncclFloat32", -1, M, 60);
    add("AllGather", "ncclFloat32", -1, 2 * M, NAN); /* nothing was measured */
    add("AllGather", "ncclFloat32", -1, 3 * M, 0);
    add("AlltoAll", "ncclFloat32", -1, M, 60);
    add("AlltoAll", "ncclBfloat16", -1, 4 * M, 100);
    rs_reference_sort(&reference);
    assert_int_equal(reference.n, 8);
    close_to(possible("AllReduce", "ncclFloat32", 8, M, RS_LACKS_NOTHING), 100);
    close_to(possible("AllReduce", "ncclFloat32", 8, 4 * M, RS_LACKS_NOTHING), 200); /* the best */
    close_to(possible("AllReduce", "ncclFloat32", 8, 2 * M, RS_LACKS_NOTHING), 150); /* half way of two powers of two */
    close_to(possible("AllReduce", "ncclFloat32", 8, 8 * M, RS_LACKS_NOTHING), 250);
    close_to(possible("AllReduce", "ncclFloat32", 8, 3 * M, RS_LACKS_NOTHING), 100 + 100 * log2(3) / 2);
    close_to(possible("AllReduce", "ncclBfloat16", 8, M, RS_LACKS_NOTHING), 80);
    assert_true(isnan(possible("AllReduce", "ncclFloat32", 8, M - 1, RS_LACKS_SIZE)));
    assert_true(isnan(possible("AllReduce", "ncclFloat32", 8, 16 * M + 1, RS_LACKS_SIZE)));
    assert_true(isnan(possible("AllReduce", "ncclFloat32", 4, 2 * M, RS_LACKS_SIZE)));
    assert_true(isnan(possible("AllReduce", "ncclFloat16", 8, M, RS_LACKS_TYPE)));
    assert_true(isnan(possible("AllReduce", "", 8, M, RS_LACKS_TYPE)));
    assert_true(isnan(possible("AllReduce", "ncclFloat32", 2, M, RS_LACKS_RANKS)));
    assert_true(isnan(possible("Broadcast", "ncclFloat32", 8, M, RS_LACKS_FUNC)));
    close_to(possible("AllGather", "ncclFloat16", 8, M, RS_LACKS_NOTHING), 60); /* bytes are bytes, and any ranks */
    assert_true(isnan(possible("AllGather", "", 8, 2 * M, RS_LACKS_SIZE)));
    close_to(possible("AlltoAll", "ncclInt8", 8, 2 * M, RS_LACKS_NOTHING), 80); /* one curve, whatever was measured */
}

static void test_sizes_in_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{1000, " of 1000 B"},       {1024, " of 1 KiB"},      {1434, " of 1.4 KiB"},
                 {1638, " of 1.6 KiB"},      {5 << 19, " of 2.5 MiB"}, {64 << 20, " of 64 MiB"},
                 {105119744, " of 100 MiB"}, {3ull << 30, " of 3 GiB"}};
    make_job(1, 1, 1 * US);
    uint16_t func;
    rs_model_string(&model, "AllReduce", &func);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct rs_func_row row = {.func = func, .bytes = sizes[i].bytes};
        struct rs_strbuf s = {0};
        rs_words_func(&s, &model, &row);
        assert_string_equal(rs_strbuf_borrow(&s) + strlen("AllReduce"), sizes[i].text);
        rs_strbuf_free(&s);
    }
    rs_model_free(&model);
}

/* 4 ranks, AllReduce of 8 MiB ten times, 1 ms behind the last: 12.582912 GB/s on the bus. `late`: of the last rank. */
static void make(int64_t late, double gbs)
{
    forget(NULL);
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(7, 0, 1, 4);
    uint16_t type;
    rs_model_string(&model, "ncclFloat32", &type);
    fine(RS_OK);
    for (int i = 0; i < 10; i++) {
        int64_t at = i * 20 * MS, starts[] = {at, at, at, at + late};
        uint32_t op = add_coll(world, "AllReduce", 8 << 20, starts, 1 * MS);
        model.ops.dtype[op] = type;
    }
    look(&view);
    rs_bandwidth_find(&found, &view, false);
    fine(RS_OK);
    add("AllReduce", "ncclFloat32", 4, 8 << 20, gbs);
    rs_reference_sort(&reference);
    rs_reached_find(&reached, &reference, &model, &found);
    fine(RS_OK);
    assert_int_equal(reached.n, 1);
}

static void says(const char *wanted, int64_t error_ns)
{
    struct rs_strbuf text = {0};
    unsigned next = 0;
    assert_true(rs_reached_say(&reached, &model, &found, error_ns, &next, &text));
    if (!strstr(rs_strbuf_borrow(&text), wanted)) fail_msg("'%s' does not say '%s'", rs_strbuf_borrow(&text), wanted);
    assert_false(rs_reached_say(&reached, &model, &found, error_ns, &next, &text));
    rs_strbuf_free(&text);
}

static void test_reached(void **state)
{
    (void)state;
    const double bus = 8.388608 * 1.5;
    /* Nobody late, and all of it reached. */
    make(0, bus);
    close_to(reached.rows[0].share, 1);
    close_to(reached.rows[0].share_seen, 1);
    assert_true(isnan(reached.rows[0].waiting));
    says("none that takes 1 % of the time or more is below 70 % of it, the lowest is AllReduce of 8 MiB with 100 %.",
         1000);
    /* The last comes 4 ms late: three ranks see 5 ms, one 1 ms. */
    make(4 * MS, bus);
    close_to(reached.rows[0].share, 1);
    close_to(reached.rows[0].share_seen, 4.0 / 16);
    close_to(reached.rows[0].waiting, 1);
    says("AllReduce of 8 MiB on 4 ranks reaches 25 % of the reference bus bandwidth (3.15 of 12.6 GB/s) "
         "as the "
         "ranks saw it, and 100 % after the last start: waiting for late ranks explains it (100 %",
         1000);
    says("how much of it is waiting is unknown: its transfer is below ten times the clock error", MS / 5);
    /* Nobody late, and twice as much is possible. */
    make(0, 2 * bus);
    close_to(reached.rows[0].share, 0.5);
    close_to(reached.rows[0].waiting, 0);
    says("reaches 50 %", 1000);
    says("waiting does not explain it", 1000);
    /* Both: 4 ms are seen in the mean, 1 ms without waiting, half a ms is possible: 3 of 3.5 ms. */
    make(4 * MS, 2 * bus);
    close_to(reached.rows[0].waiting, 3 / 3.5);
    /* 1.25 ms seen, 1 ms without waiting, half a ms possible: a third. */
    make(MS / 3, 2 * bus);
    close_to(round(reached.rows[0].waiting * 1e6), 333333);
    says("explains 33 % of the time above the reference", 1000);
}

/* Sends in a group call are counted in another way, whatever the table has. */
static void test_unlike(void **state)
{
    (void)state;
    make(0, 10);
    found.rows[0].kind = RS_OP_FANOUT;
    rs_reached_free(&reached);
    rs_reached_find(&reached, &reference, &model, &found);
    fine(RS_OK);
    assert_int_equal(reached.rows[0].lack, RS_LACKS_LIKENESS);
    says("the reference has none of these functions", 1000);
    found.rows[0].kind = RS_OP_COLL;
    found.rows[0].unsized = true;
    rs_reached_free(&reached);
    rs_reached_find(&reached, &reference, &model, &found);
    fine(RS_OK);
    assert_int_equal(reached.rows[0].lack, RS_LACKS_SIZE);
    /* What one rank puts into a gather; nccl-tests print what the root holds in the end. */
    found.rows[0].unsized = false;
    rs_model_string(&model, "Gather", &found.rows[0].func);
    fine(RS_OK);
    add("Gather", "ncclFloat32", 4, 8 << 20, 10);
    rs_reference_sort(&reference);
    rs_reached_free(&reached);
    rs_reached_find(&reached, &reference, &model, &found);
    fine(RS_OK);
    assert_int_equal(reached.rows[0].lack, RS_LACKS_LIKENESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_find), cmocka_unit_test(test_sizes_in_words),
                                       cmocka_unit_test(test_reached), cmocka_unit_test(test_unlike)};
    return cmocka_run_group_tests(tests, NULL, forget);
}
