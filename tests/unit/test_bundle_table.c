/* Tables of a bundle: what is written is what a reader after viewer/FORMAT.md finds, in the narrowest type. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bundle/table.h"
#include "packed_table.h"

static void take(struct rs_packer *p, const uint8_t **bytes, size_t *n)
{
    struct rs_err err;
    assert_int_equal(rs_packer_bytes(p, bytes, n, &err), RS_OK);
}

static void check_i64(const int64_t *values, uint32_t n, int64_t base, enum rs_column_coding coding, unsigned type)
{
    struct rs_packer p = {0};
    const uint8_t *bytes;
    size_t size;
    struct column c;
    rs_packer_begin(&p, n);
    rs_packer_i64(&p, "v", values, base, coding);
    take(&p, &bytes, &size);
    assert_true(find_column(bytes, size, "v", &c));
    assert_int_equal(c.type, type);
    for (uint32_t i = 0; i < n; i++) assert_true(value_at(&c, i) == (double)(values[i] - base));
    rs_packer_free(&p);
}

static void test_narrowest(void **state)
{
    (void)state;
    const int64_t bytes[] = {0, 255, 3}, words[] = {0, 256, 65535}, longs[] = {65536, UINT32_MAX, 0};
    const int64_t negative[] = {-1, 5, INT32_MAX}, wide[] = {0, 1ll << 32, 7}, both[] = {-1, UINT32_MAX, 0};
    for (enum rs_column_coding coding = RS_COLUMN_PLANES; coding <= RS_COLUMN_DELTA; coding++) {
        check_i64(bytes, 3, 0, coding, RS_COLUMN_U8);
        check_i64(words, 3, 0, coding, RS_COLUMN_U16);
        check_i64(longs, 3, 0, coding, RS_COLUMN_U32);
        check_i64(negative, 3, 0, coding, RS_COLUMN_I32);
        check_i64(wide, 3, 0, coding, RS_COLUMN_F64);
        check_i64(both, 3, 0, coding, RS_COLUMN_F64);
    }
    const int64_t late[] = {1763000000000000000, 1763000000000000009, 1763000000000000300};
    check_i64(late, 3, late[0], RS_COLUMN_DELTA, RS_COLUMN_U16);
}

/* Several columns in one table, a second table with the same packer, and no rows at all. */
static void test_tables(void **state)
{
    (void)state;
    struct rs_packer p = {0};
    const uint8_t *bytes;
    size_t n;
    struct column c;
    const uint8_t kind[] = {1, 2, 250, 0};
    const uint32_t op[] = {UINT32_MAX, 0, 70000, UINT32_MAX}, none[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const uint64_t id[] = {UINT64_MAX, 1, 0x123456789abcdef0, 0};
    const double d[] = {0.5, NAN, -1e300, 3};
    rs_packer_begin(&p, 4);
    rs_packer_u8(&p, "kind", kind);
    rs_packer_next(&p, "op", op);
    rs_packer_next(&p, "parent", none);
    rs_packer_u64(&p, "id", id);
    rs_packer_f64(&p, "d", d);
    rs_packer_f32(&p, "twelve_chars", d);
    take(&p, &bytes, &n);
    assert_int_equal(le(bytes, 4), 4);
    assert_int_equal(le(bytes + 4, 4), 5);
    assert_false(find_column(bytes, n, "parent", &c)); /* none has one */
    assert_true(find_column(bytes, n, "kind", &c));
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(bits_at(&c, i), kind[i]);
    assert_true(find_column(bytes, n, "op", &c));
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(bits_at(&c, i), op[i] == UINT32_MAX ? 0 : op[i] + 1);
    assert_true(find_column(bytes, n, "id", &c));
    for (uint32_t i = 0; i < 4; i++) assert_true(bits_at(&c, i) == id[i]);
    assert_true(find_column(bytes, n, "d", &c));
    assert_true(value_at(&c, 0) == 0.5 && isnan(value_at(&c, 1)) && value_at(&c, 2) == -1e300);
    assert_true(find_column(bytes, n, "twelve_chars", &c));
    assert_true(value_at(&c, 0) == 0.5 && isnan(value_at(&c, 1)) && value_at(&c, 3) == 3);

    rs_packer_begin(&p, 1);
    rs_packer_u8(&p, "b", kind + 2);
    take(&p, &bytes, &n);
    assert_int_equal(n, 8 + 24 + 1);
    assert_true(find_column(bytes, n, "b", &c) && bits_at(&c, 0) == 250);
    assert_false(find_column(bytes, n, "kind", &c));

    rs_packer_begin(&p, 0);
    rs_packer_u8(&p, "b", kind);
    rs_packer_next(&p, "op", op);
    take(&p, &bytes, &n);
    assert_int_equal(n, 8 + 24);
    assert_int_equal(le(bytes, 4), 0);
    rs_packer_free(&p);
}

/* Arguments that some bars do not have. */
static void test_sparse(void **state)
{
    (void)state;
    enum { N = 3 };
    const struct {
        int64_t values[N];
        bool hex[N];
        int type; /* -1: no column */
    } cases[] = {
        {{INT64_MIN, INT64_MIN, INT64_MIN}, {false}, -1},
        {{7, 8, 9}, {false}, RS_COLUMN_U8},
        {{7, INT64_MIN, 9}, {false}, RS_COLUMN_U32},
        {{UINT32_MAX, INT64_MIN, 9}, {false}, RS_COLUMN_F64}, /* that is NONE already */
        {{-7, INT64_MIN, 9}, {false}, RS_COLUMN_F64},
        {{-7, 0, 9}, {false}, RS_COLUMN_I32},
        {{-7, 0x7f0011223344, 9}, {true, true, false}, RS_COLUMN_U64},
        {{-7, INT64_MIN, 9}, {true, true, true}, RS_COLUMN_F64},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rs_packer p = {0};
        const uint8_t *bytes;
        size_t n;
        struct column c;
        rs_packer_begin(&p, N);
        rs_packer_sparse(&p, "a1", cases[k].values, cases[k].hex);
        take(&p, &bytes, &n);
        bool there = find_column(bytes, n, "a1", &c);
        assert_int_equal(there, cases[k].type >= 0);
        if (there) assert_int_equal(c.type, cases[k].type);
        for (uint32_t i = 0; there && i < N; i++) {
            int64_t v = cases[k].values[i];
            if (v == INT64_MIN)
                assert_true(c.type == RS_COLUMN_F64 ? isnan(value_at(&c, i)) : bits_at(&c, i) == UINT32_MAX);
            else if (c.type == RS_COLUMN_U64)
                assert_true(bits_at(&c, i) == (uint64_t)v);
            else
                assert_true(value_at(&c, i) == (cases[k].hex[i] ? (double)(uint64_t)v : (double)v));
        }
        rs_packer_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrowest),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
