/* Blocks, overviews and relations of a bundle, made of bars that are known, read as viewer/FORMAT.md says; and a page
 * around a bundle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundle/blocks.h"
#include "bundle/bundle.h"
#include "bundle/overview.h"
#include "bundle/relations.h"

#ifdef RS_NO_ZSTD
int main(void)
{
    puts("built without zstd");
    return 77;
}
#else
#include <zstd.h>

#include "packed_table.h"

struct made {
    struct rs_bars bars;
    struct rs_packer table;
    struct rs_zip zip;
    struct rs_kinds kinds;
    struct rs_err err;
};

static void made_begin(struct made *x)
{
    *x = (struct made){.kinds = {.n = 2}};
    x->kinds.rows[1].args[1] = RS_EVENT_ARG_work_request;
    assert_int_equal(rs_zip_init(&x->zip, &x->err), RS_OK);
}

static void made_end(struct made *x)
{
    rs_bars_free(&x->bars);
    rs_packer_free(&x->table);
    rs_zip_free(&x->zip);
}

static uint32_t add(struct made *x, int64_t start, int64_t dur, uint8_t kind)
{
    uint32_t i;
    rs_bars_add(&x->bars, &i);
    x->bars.start[i] = start;
    x->bars.dur[i] = dur;
    x->bars.kind[i] = kind;
    return i;
}

/* Unpacks piece i; the caller frees it. */
static uint8_t *piece(struct rs_pieces *p, uint32_t i)
{
    struct rs_err err;
    assert_true(i < p->n);
    uint8_t *packed = malloc(p->stored[i]), *bytes = malloc(p->size[i]);
    assert_int_equal(rs_spool_rewind(&p->spool, &err), RS_OK);
    assert_int_equal(fseeko(p->spool.file, p->offset[i], SEEK_SET), 0);
    assert_int_equal(rs_spool_read(&p->spool, packed, p->stored[i], &err), RS_OK);
    assert_int_equal(ZSTD_decompress(bytes, p->size[i], packed, p->stored[i]), p->size[i]);
    free(packed);
    return bytes;
}

static double at(const uint8_t *table, size_t n, const char *name, uint32_t row)
{
    struct column c;
    assert_true(find_column(table, n, name, &c));
    return value_at(&c, row);
}

static void test_blocks(void **state)
{
    (void)state;
    struct made x;
    struct rs_blocks b;
    made_begin(&x);
    x.bars.first = 1000;
    const int64_t begin = 5000000000;
    for (uint32_t i = 0; i < RS_BLOCK_BARS + 2; i++) add(&x, begin + 100 * i, 50 + i % 3, i & 1);
    uint32_t last = RS_BLOCK_BARS + 1;
    x.bars.fade[last] = 5000;
    x.bars.flags[last] = RS_BAR_END_BOUNDED;
    x.bars.start[last] += 1ll << 33; /* a block of more than 4.29 s */
    x.bars.op[3] = 0;
    x.bars.parent[3] = 17;
    x.bars.a2[3] = -2; /* all ones but the last, as an address */
    x.bars.a1[4] = 12;
    assert_int_equal(rs_blocks_open(&b, "/tmp", &x.err), RS_OK);
    const struct rs_bar_lane lane = {.from = 0, .n = x.bars.n};
    assert_int_equal(rs_blocks_lane(&b, &x.bars, &lane, 7, &x.kinds, &x.table, &x.zip, &x.err), RS_OK);
    assert_int_equal(b.n, 2);
    assert_int_equal(b.pieces.n, 2);
    assert_true(b.lane[0] == 7 && b.lane[1] == 7 && b.first[0] == 1000 && b.first[1] == 1000 + RS_BLOCK_BARS);
    assert_true(b.bars[0] == RS_BLOCK_BARS && b.bars[1] == 2 && b.from[0] == begin);
    assert_true(b.to[1] == x.bars.start[last] + x.bars.dur[last] + 5000);

    uint8_t *t = piece(&b.pieces, 0);
    size_t n = b.pieces.size[0];
    struct column c;
    for (uint32_t i = 0; i < RS_BLOCK_BARS; i += 997) {
        assert_true(at(t, n, "start", i) == 100 * i);
        assert_true(at(t, n, "dur", i) == 50 + i % 3);
        assert_true(at(t, n, "kind", i) == (i & 1));
    }
    assert_true(at(t, n, "op", 3) == 1 && at(t, n, "op", 4) == 0);
    assert_true(at(t, n, "parent", 3) == 18 && at(t, n, "parent", 2) == 0);
    assert_true(at(t, n, "a1", 4) == 12 && at(t, n, "a1", 5) == UINT32_MAX);
    assert_true(at(t, n, "a2", 3) == (double)(uint64_t)-2 && isnan(at(t, n, "a2", 4)));
    const char *const absent[] = {"flags", "name", "wait", "fade", "m1", "m2", "m3", "a3", "a6"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) assert_false(find_column(t, n, absent[i], &c));
    free(t);
    t = piece(&b.pieces, 1);
    n = b.pieces.size[1];
    assert_true(find_column(t, n, "start", &c) && c.type == RS_COLUMN_F64);
    assert_true(at(t, n, "start", 1) == (double)((1ll << 33) + 100));
    assert_true(at(t, n, "fade", 1) == 5000 && at(t, n, "flags", 1) == RS_BAR_END_BOUNDED);
    free(t);
    rs_blocks_free(&b);
    made_end(&x);
}

/* A block ends before its starts need 8 bytes, if it has enough bars; moments go as what they are after their bar. */
static void test_long_lanes(void **state)
{
    (void)state;
    enum { FEW = 3, MANY = RS_BLOCK_FEW };
    struct made x;
    struct rs_blocks b;
    struct column c;
    made_begin(&x);
    x.kinds.rows[0].args[2] = RS_EVENT_ARG_launched;
    const int64_t far = 1ll << 33;
    for (int64_t i = 0; i < MANY; i++) {
        uint32_t bar = add(&x, i * 10, 1, 0);
        x.bars.a3[bar] = i * 10 - 7;
    }
    x.bars.a3[5] = RS_BAR_NO_ARG;
    for (int64_t i = 0; i < FEW; i++) add(&x, far * (i + 1), 1, 1);
    x.bars.a3[MANY] = 12; /* of a kind whose third is no time */
    assert_int_equal(rs_blocks_open(&b, "/tmp", &x.err), RS_OK);
    const struct rs_bar_lane lane = {.from = 0, .n = x.bars.n};
    assert_int_equal(rs_blocks_lane(&b, &x.bars, &lane, 0, &x.kinds, &x.table, &x.zip, &x.err), RS_OK);
    assert_int_equal(b.n, 2);
    assert_true(b.bars[0] == MANY && b.bars[1] == FEW && b.from[1] == far);
    uint8_t *t = piece(&b.pieces, 0);
    size_t n = b.pieces.size[0];
    assert_true(find_column(t, n, "start", &c) && c.type == RS_COLUMN_U16);
    assert_true(at(t, n, "a3", 4) == -7 && isnan(at(t, n, "a3", 5)));
    free(t);
    t = piece(&b.pieces, 1);
    n = b.pieces.size[1];
    assert_true(find_column(t, n, "start", &c) && c.type == RS_COLUMN_F64);
    assert_true(at(t, n, "start", 2) == 2.0 * (double)far && at(t, n, "a3", 0) == 12);
    free(t);
    rs_blocks_free(&b);
    made_end(&x);
}

static uint8_t bucket(const uint8_t *table, size_t n, const char *name, uint32_t i)
{
    return (uint8_t)at(table, n, name, i);
}

static void test_overview(void **state)
{
    (void)state;
    enum { WIDTH = 1000 }; /* ns of a bucket */
    struct made x;
    struct rs_overviews o;
    uint32_t buckets;
    made_begin(&x);
    assert_int_equal(rs_overviews_open(&o, (double)RS_OVERVIEW_MOST * WIDTH, "/tmp", &x.err), RS_OK);
    add(&x, 0, 500, 0); /* half of bucket 0... */
    uint32_t flagged = add(&x, 600, 400, 1); /* ...and 0.4 of it, to its very end */
    x.bars.flags[flagged] = RS_BAR_LAST;
    add(&x, 2500, 3000, 1); /* half of 2, all of 3 and 4, half of 5 */
    add(&x, 10000, 0, 1); /* a moment */
    uint32_t fading = add(&x, 20000, 1000, 0);
    x.bars.fade[fading] = 2000; /* counts half */
    add(&x, (int64_t)RS_OVERVIEW_MOST * WIDTH, 0, 1); /* at the very end */
    const struct rs_bar_lane lane = {.from = 0, .n = x.bars.n}, empty = {0};
    assert_int_equal(rs_overviews_lane(&o, &x.bars, &empty, &x.err), RS_OK);
    assert_int_equal(rs_overviews_lane(&o, &x.bars, &lane, &x.err), RS_OK);
    assert_int_equal(rs_overviews_pack(&o, &x.table, &x.zip, &buckets, &x.err), RS_OK);
    assert_int_equal(buckets, RS_OVERVIEW_MOST);
    assert_int_equal(o.pieces.n, 1);
    uint8_t *t = piece(&o.pieces, 0);
    size_t n = o.pieces.size[0];
    assert_int_equal(le(t, 4), 2 * RS_OVERVIEW_MOST);
    for (uint32_t i = 0; i < RS_OVERVIEW_MOST; i += 13) assert_int_equal(bucket(t, n, "busy", i), 0);
    const struct {
        uint32_t bucket;
        uint8_t busy, kind, flags;
    } want[] = {{0, 230, 0, RS_BAR_LAST}, {1, 0, 0, 0},    {2, 128, 1, 0}, {3, 255, 1, 0},
                {5, 128, 1, 0},           {6, 0, 0, 0},    {10, 1, 1, 0},  {20, 255, 0, 0},
                {21, 128, 0, 0},          {22, 128, 0, 0}, {23, 0, 0, 0},  {RS_OVERVIEW_MOST - 1, 1, 1, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint32_t b = RS_OVERVIEW_MOST + want[i].bucket;
        assert_int_equal(bucket(t, n, "busy", b), want[i].busy);
        assert_int_equal(bucket(t, n, "kind", b), want[i].kind);
        assert_int_equal(bucket(t, n, "flags", b), want[i].flags);
    }
    free(t);
    rs_overviews_free(&o);
    made_end(&x);
}

/* With more lanes than 4096 buckets fit, those that were spooled in more are halved: all end with the same number. */
static void test_many_lanes(void **state)
{
    (void)state;
    enum { LANES = RS_OVERVIEW_ALL / RS_OVERVIEW_MOST + 1 };
    struct made x;
    struct rs_overviews o;
    uint32_t buckets;
    made_begin(&x);
    assert_int_equal(rs_overviews_open(&o, (double)RS_OVERVIEW_MOST * 1000, "/tmp", &x.err), RS_OK);
    add(&x, 0, 1000, 1); /* all of bucket 0 of 4096 is half of 0 of 2048 */
    uint32_t odd = add(&x, 1000, 100, 0); /* the shorter, in the second half of the pair */
    add(&x, 4000, 2000, 1);
    uint32_t even = add(&x, 8000, 100, 0); /* the shorter, in the first half */
    add(&x, 9000, 800, 1);
    add(&x, 12000, 100, 0);
    uint32_t longer = add(&x, 13000, 800, 1);
    x.bars.flags[odd] = RS_BAR_LOST;
    x.bars.flags[even] = RS_BAR_LOST | RS_BAR_OPEN;
    x.bars.flags[longer] = RS_BAR_MISMATCH;
    const struct rs_bar_lane lane = {.from = 0, .n = x.bars.n};
    for (int i = 0; i < LANES; i++) assert_int_equal(rs_overviews_lane(&o, &x.bars, &lane, &x.err), RS_OK);
    assert_int_equal(rs_overviews_pack(&o, &x.table, &x.zip, &buckets, &x.err), RS_OK);
    assert_int_equal(buckets, RS_OVERVIEW_MOST / 2);
    assert_int_equal(o.pieces.n, (LANES + RS_OVERVIEW_LANES - 1) / RS_OVERVIEW_LANES);
    uint8_t *first = piece(&o.pieces, 0), *last = piece(&o.pieces, o.pieces.n - 1);
    assert_int_equal(le(last, 4), buckets);
    const uint8_t busy[] = {140, 0, 255, 0, 115, 0, 115, 0};
    const uint8_t flags[] = {RS_BAR_LOST, 0, 0, 0, RS_BAR_LOST | RS_BAR_OPEN, 0, RS_BAR_MISMATCH, 0};
    for (uint32_t i = 0; i < sizeof busy; i++) {
        size_t n = o.pieces.size[0], m = o.pieces.size[o.pieces.n - 1];
        assert_in_range(bucket(first, n, "busy", i), busy[i] ? busy[i] - 1 : 0, busy[i] + (busy[i] && busy[i] < 255));
        assert_in_range(bucket(last, m, "busy", i), busy[i] ? busy[i] - 1 : 0, busy[i] + (busy[i] && busy[i] < 255));
        assert_int_equal(bucket(first, n, "kind", i), busy[i] != 0);
        assert_int_equal(bucket(last, m, "kind", i), busy[i] != 0);
        assert_int_equal(bucket(first, n, "flags", i), flags[i]);
        assert_int_equal(bucket(last, m, "flags", i), flags[i]);
    }
    free(first);
    free(last);
    rs_overviews_free(&o);
    made_end(&x);
}

/* Two processes; and what must not be, a child whose parent is in another process. */
static void test_relations(void **state)
{
    (void)state;
    struct made x;
    struct rs_edges e;
    made_begin(&x);
    assert_int_equal(rs_edges_open(&e, "/tmp", &x.err), RS_OK);
    for (int i = 0; i < 5; i++) add(&x, i, 1, 0);
    x.bars.parent[4] = 0;
    x.bars.parent[1] = 3;
    x.bars.parent[2] = 0;
    struct rs_bar_edge launches[] = {{0, 3}, {1, 0}};
    x.bars.edges = launches;
    x.bars.nedges = 2;
    assert_int_equal(rs_edges_process(&e, &x.bars, &x.table, &x.zip, &x.err), RS_OK);
    x.bars.edges = NULL;
    x.bars.nedges = 0;
    rs_bars_clear(&x.bars);
    x.bars.first = 5;
    for (int i = 0; i < 2; i++) add(&x, i, 1, 0);
    x.bars.parent[0] = 1; /* of the first process */
    x.bars.parent[1] = 5;
    assert_int_equal(rs_edges_process(&e, &x.bars, &x.table, &x.zip, &x.err), RS_FAILED);
    x.bars.parent[0] = RS_BAR_NONE;
    assert_int_equal(rs_edges_process(&e, &x.bars, &x.table, &x.zip, &x.err), RS_OK);
    assert_int_equal(rs_edges_end(&e, &x.table, &x.zip, &x.err), RS_OK);
    const uint32_t want[][3] = {{0, 2, 0}, {0, 3, 1}, {0, 4, 0}, {1, 0, 1}, {3, 1, 0}, {5, 6, 0}};
    uint8_t *t = piece(&e.pieces, 0);
    size_t n = e.pieces.size[0];
    assert_int_equal(le(t, 4), sizeof want / sizeof *want);
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(at(t, n, "from", i) == want[i][0]);
        assert_true(at(t, n, "to", i) == want[i][1]);
        assert_true(at(t, n, "kind", i) == want[i][2]);
    }
    assert_true(e.pieces.n == 1 && e.first[0] == 0);
    free(t);
    rs_edges_free(&e);
    made_end(&x);
}

/* More than a piece holds: the next one goes on where it ended. */
static void test_many_relations(void **state)
{
    (void)state;
    struct made x;
    struct rs_edges e;
    made_begin(&x);
    assert_int_equal(rs_edges_open(&e, "/tmp", &x.err), RS_OK);
    enum { N = RS_PIECE_ROWS + 10 };
    for (uint32_t i = 0; i < N + 2; i++) {
        add(&x, i, 1, 0);
        if (i > 1) x.bars.parent[i] = i < 8 ? 0 : 1;
    }
    assert_int_equal(rs_edges_process(&e, &x.bars, &x.table, &x.zip, &x.err), RS_OK);
    assert_int_equal(rs_edges_end(&e, &x.table, &x.zip, &x.err), RS_OK);
    assert_int_equal(rs_edges_end(&e, &x.table, &x.zip, &x.err), RS_OK); /* nothing is left */
    assert_true(e.n == N && e.pieces.n == 2 && e.first[0] == 0 && e.first[1] == 1);
    uint8_t *t = piece(&e.pieces, 1);
    assert_int_equal(le(t, 4), 10);
    for (uint32_t i = 0; i < 10; i++) assert_true(at(t, e.pieces.size[1], "to", i) == RS_PIECE_ROWS + 2 + i);
    free(t);
    rs_edges_free(&e);
    made_end(&x);
}

static void test_page(void **state)
{
    (void)state;
    static const char page[] = "<html><body><div id=\"app\"></div><script>x</script></body></html>";
    struct rs_err err;
    int fd = rs_spool_descriptor("/tmp", &err);
    assert_true(fd >= 0);
    assert_int_equal(write(fd,
                           "\xff\xfe\xfd\x00"
                           "abcde",
                           9),
                     9);
    const struct rs_bundle_sizes sizes = {.bytes = 9, .first_bytes = 4};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(rs_bundle_html(page, sizeof page - 1, fd, &sizes, out, "x", &err), RS_OK);
    fclose(out);
    assert_string_equal(text, "<html><body><script type=\"application/octet-stream\" id=\"ringscope-data\">//79AA=="
                              "</script><div id=\"app\"></div><script>x</script>"
                              "<script type=\"application/octet-stream\" id=\"ringscope-rest\">YWJjZGU=</script>"
                              "</body></html>");
    assert_int_equal(n, rs_bundle_html_bytes(sizeof page - 1, &sizes));
    free(text);
    out = open_memstream(&text, &n);
    assert_int_not_equal(rs_bundle_html("<html>", 6, fd, &sizes, out, "x", &err), RS_OK); /* no page at all */
    fclose(out);
    free(text);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),     cmocka_unit_test(test_long_lanes), cmocka_unit_test(test_overview),
        cmocka_unit_test(test_many_lanes), cmocka_unit_test(test_relations),  cmocka_unit_test(test_many_relations),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
