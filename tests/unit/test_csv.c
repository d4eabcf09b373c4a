/* Cells of CSV: quotes, formulas, numbers; and the streams that pack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/compress.h"
#include "export/csv/cells.h"
#include "packed.h"

static char *text;
static size_t size;

static struct rs_csv *csv_begin(FILE **file)
{
    struct rs_csv *c = malloc(sizeof *c);
    *file = open_memstream(&text, &size);
    assert_non_null(c);
    assert_non_null(*file);
    rs_csv_to_file(c, *file, "memory");
    return c;
}

static void csv_is(struct rs_csv *c, FILE *file, const char *want)
{
    struct rs_err err;
    assert_int_equal(rs_csv_finish(c, &err), RS_OK);
    fclose(file);
    assert_string_equal(text, want);
    free(text);
    rs_csv_free(c);
    free(c);
}

static void test_quotes(void **state)
{
    (void)state;
    FILE *file;
    struct rs_csv *c = csv_begin(&file);
    rs_csv_value(c, rs_v_text("a"));
    rs_csv_value(c, rs_v_text("b"));
    rs_csv_line(c);
    rs_csv_value(c, rs_v_text("plain"));
    rs_csv_value(c, rs_v_text("with, comma"));
    rs_csv_value(c, rs_v_text("with \"quotes\""));
    rs_csv_value(c, rs_v_text("two\nlines"));
    rs_csv_value(c, rs_v_text(" blank"));
    rs_csv_value(c, rs_v_text(NULL));
    rs_csv_value(c, rs_v_textn("", 0));
    rs_csv_line(c);
    csv_is(c, file, "a,b\r\nplain,\"with, comma\",\"with \"\"quotes\"\"\",\"two\nlines\",\" blank\",,\r\n");
}

static void test_formulas(void **state)
{
    (void)state;
    FILE *file;
    struct rs_csv *c = csv_begin(&file);
    rs_csv_value(c, rs_v_text("=1+1"));
    rs_csv_value(c, rs_v_text("@x"));
    rs_csv_value(c, rs_v_text("-12.5e3"));
    rs_csv_value(c, rs_v_text("-a"));
    rs_csv_value(c, rs_v_text("+"));
    rs_csv_value(c, rs_v_text("a=1"));
    rs_csv_line(c);
    csv_is(c, file, "\"'=1+1\",\"'@x\",-12.5e3,\"'-a\",\"'+\",a=1\r\n");
}

static void test_numbers(void **state)
{
    (void)state;
    FILE *file;
    struct rs_csv *c = csv_begin(&file);
    rs_csv_value(c, rs_v_uint(UINT64_MAX));
    rs_csv_value(c, rs_v_int(-1));
    rs_csv_value(c, rs_v_known(-1));
    rs_csv_value(c, rs_v_known(0));
    rs_csv_value(c, rs_v_time(INT64_MIN));
    rs_csv_value(c, rs_v_time(INT64_MAX));
    rs_csv_value(c, rs_v_hex(0x1f));
    rs_csv_value(c, rs_v_hash(0));
    rs_csv_value(c, rs_v_double(0.1));
    rs_csv_value(c, rs_v_double(-1));
    rs_csv_value(c, rs_v_bool(true));
    rs_csv_line(c);
    csv_is(c, file, "18446744073709551615,-1,,0,,9223372036854775807,0x000000000000001f,,0.1,,true\r\n");
}

/* A stream without room fails, once and for all. */
static void test_full(void **state)
{
    (void)state;
    struct rs_csv *c = malloc(sizeof *c);
    struct rs_err err;
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    assert_non_null(c);
    rs_csv_to_file(c, full, "a full disk");
    for (int i = 0; i < 20000 && !rs_csv_failed(c); i++) {
        rs_csv_value(c, rs_v_text("some text that fills buffers"));
        rs_csv_line(c);
    }
    assert_int_not_equal(rs_csv_finish(c, &err), RS_OK);
    assert_non_null(strstr(err.msg, "a full disk"));
    fclose(full);
    free(c);
}

static void packs(int packing)
{
    enum { N = 3000000 };
    struct rs_err err;
    char *bytes = malloc(N), *packed = NULL;
    size_t npacked = 0;
    uint32_t x = 1;
    FILE *below = open_memstream(&packed, &npacked), *file;
    assert_true(bytes && below);
    for (int i = 0; i < N; i++) bytes[i] = (char)((x = x * 1664525 + 1013904223) >> 24 & 15);
    assert_int_equal(rs_compress_open(&file, below, packing, "x", &err), RS_OK);
    assert_int_equal(fwrite(bytes, 1, N, file), N);
    assert_int_equal(fclose(file), 0);
    fclose(below);
    assert_true(npacked < N);
    struct rs_bytes *back;
    const char *block;
    size_t n, at = 0;
    assert_int_equal(rs_bytes_memory(&back, "x", packed, npacked, 0, &err), RS_OK);
    assert_int_equal(rs_bytes_packing(back), packing);
    while (rs_bytes_next(back, &block, &n, &err) == RS_OK && n) {
        assert_true(at + n <= N);
        assert_memory_equal(block, bytes + at, n);
        at += n;
    }
    assert_int_equal(at, N);
    rs_bytes_close(back);
    free(bytes);
    free(packed);
}

static void test_packed(void **state)
{
    (void)state;
    assert_int_equal(rs_compression_of("a.csv"), RS_PLAIN);
    assert_int_equal(rs_compression_of("a.csv.GZ"), RS_GZIP);
    assert_int_equal(rs_compression_of(".gz"), RS_PLAIN);
    assert_int_equal(rs_compression_of(NULL), RS_PLAIN);
    assert_int_equal(rs_compression_stem("a.csv.zst"), 5);
#ifndef RS_NO_ZLIB
    packs(RS_GZIP);
#endif
#ifndef RS_NO_ZSTD
    packs(RS_ZSTD);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes), cmocka_unit_test(test_formulas), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_full),   cmocka_unit_test(test_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
