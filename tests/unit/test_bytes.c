/* Plain, gzip and zstd: what was packed comes out, and what was whole comes before the message. */
#include "base/bytes.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packed.h"

enum { BIG = 3 << 18 }; /* exactly three blocks */

static char *letters(size_t n)
{
    char *text = malloc(n);
    assert_non_null(text);
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) text[i] = (char)('a' + ((x = x * 1664525 + 1013904223) >> 28));
    return text;
}

/* Takes all: at most `most` bytes, as in `text` (the first `sure` of them: bits that changed may unpack to something
 * before they are noticed), and then `message` (NULL: none). Returns how many. */
static size_t expect_sure(struct rs_bytes *b, const char *text, size_t sure, size_t most, const char *message);

static size_t expect(struct rs_bytes *b, const char *text, size_t most, const char *message)
{
    return expect_sure(b, text, most, most, message);
}

static size_t expect_sure(struct rs_bytes *b, const char *text, size_t sure, size_t most, const char *message)
{
    struct rs_err err = {0};
    const char *block;
    size_t n, sum = 0;
    enum rs_status status;
    while ((status = rs_bytes_next(b, &block, &n, &err)) == RS_OK && n) {
        assert_true(sum + n <= most);
        if (sum < sure) assert_memory_equal(text + sum, block, sum + n > sure ? sure - sum : n);
        sum += n;
    }
    assert_int_equal(status, message ? RS_BAD_INPUT : RS_OK);
    if (message && !strstr(err.msg, message)) fail_msg("'%s' is not in '%s'", message, err.msg);
    /* and again the same */
    assert_int_equal(rs_bytes_next(b, &block, &n, NULL), status);
    assert_int_equal(n, 0);
    return sum;
}

static struct rs_bytes *over(const struct packed *p, size_t block)
{
    struct rs_bytes *b;
    struct rs_err err = {0};
    if (rs_bytes_memory(&b, "it", p->data, p->n, block, &err) != RS_OK) fail_msg("%s", err.msg);
    return b;
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/ringscope-test-bytes.XXXXXX", peeked[8];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char *text = letters(BIG);
    for (int packing = RS_PLAIN; packing <= RS_ZSTD; packing++) {
        if (!can_pack(packing)) continue;
        struct packed p = {0};
        pack(&p, packing, text, BIG);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, p.data, p.n, 0), p.n);
        struct rs_bytes *b;
        assert_int_equal(rs_bytes_open(&b, path, NULL), RS_OK);
        assert_int_equal(rs_bytes_packing(b), packing);
        assert_string_equal(rs_bytes_path(b), path);
        assert_int_equal(rs_bytes_peek(b, peeked, sizeof peeked), sizeof peeked);
        assert_memory_equal(peeked, text, sizeof peeked);
        assert_int_equal(rs_bytes_peek(b, peeked, 3), 3);
        assert_int_equal(expect(b, text, BIG, NULL), BIG);
        rs_bytes_close(b);
        free(p.data);
    }
    free(text);
    close(fd);
    unlink(path);
    struct rs_bytes *b;
    struct rs_err err = {0};
    assert_int_equal(rs_bytes_open(&b, path, &err), RS_NOT_FOUND);
    assert_null(b);
    assert_non_null(strstr(err.msg, path));
    rs_bytes_close(NULL);
}

/* A plain file whose memory is let go is still there. */
static void test_rest(void **state)
{
    (void)state;
    char path[] = "/tmp/ringscope-test-bytes.XXXXXX";
    int fd = mkstemp(path);
    char *text = letters(4 * BIG);
    assert_int_equal(write(fd, text, 4 * BIG), 4 * BIG);
    struct rs_bytes *b;
    const char *block;
    size_t n;
    assert_int_equal(rs_bytes_open(&b, path, NULL), RS_OK);
    assert_int_equal(rs_bytes_next(b, &block, &n, NULL), RS_OK);
    assert_int_equal(n, 4 * BIG);
    rs_bytes_drop_pages(b, block + n / 2);
    rs_bytes_drop_pages(b, block + 5);
    rs_bytes_drop_pages(b, block + n);
    assert_memory_equal(block, text, n);
    rs_bytes_close(b);
    free(text);
    close(fd);
    unlink(path);
}

static void test_empty_and_short(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\x1f", "(\xb5/", "{", "\x1f\x8a"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct packed p = {.data = (char *)(uintptr_t)texts[i], .n = strlen(texts[i])};
        struct rs_bytes *b = over(&p, 0);
        char peeked[4];
        assert_int_equal(rs_bytes_packing(b), RS_PLAIN);
        assert_int_equal(rs_bytes_peek(b, peeked, 4), p.n);
        assert_int_equal(expect(b, texts[i], p.n, NULL), p.n);
        rs_bytes_close(b);
    }
}

/* Members and frames one behind the other, an empty one among them, in blocks that end within and at them. */
static void test_several(void **state)
{
    (void)state;
    char *text = letters(3000);
    static const size_t blocks[] = {1, 7, 1000, 2999, 3000, 3001, 0};
    for (int packing = RS_GZIP; packing <= RS_ZSTD; packing++) {
        if (!can_pack(packing)) continue;
        struct packed p = {0};
        pack(&p, packing, text, 1000);
        pack(&p, packing, text, 0);
        pack(&p, packing, text + 1000, 2000);
        for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
            struct rs_bytes *b = over(&p, blocks[i]);
            assert_int_equal(expect(b, text, 3000, NULL), 3000);
            rs_bytes_close(b);
        }
        free(p.data);
    }
    free(text);
}

static void test_cut(void **state)
{
    (void)state;
    char *text = letters(2000), where[64];
    for (int packing = RS_GZIP; packing <= RS_ZSTD; packing++) {
        if (!can_pack(packing)) continue;
        struct packed p = {0};
        pack(&p, packing, text, 1000);
        size_t first = p.n, before = 0;
        pack(&p, packing, text + 1000, 1000);
        for (size_t n = 4; n < p.n; n++) {
            struct packed cut = {.data = p.data, .n = n};
            struct rs_bytes *b = over(&cut, n % 3 ? 0 : 10);
            /* one byte behind a member is no second one: told as something else */
            snprintf(where, sizeof where, "it: at byte %zu: the ", n == first + 1 && packing == RS_GZIP ? first : n);
            size_t got = expect(b, text, 2000, n == first ? NULL : where);
            assert_true(got >= before && (n < first || got >= 1000));
            before = got;
            rs_bytes_close(b);
        }
        assert_true(before >= 1000);
        free(p.data);
    }
    free(text);
}

static void test_broken(void **state)
{
    (void)state;
    char *text = letters(BIG);
    struct packed p = {0};
    if (can_pack(RS_GZIP)) {
        pack(&p, RS_GZIP, text, BIG);
        memset(p.data + p.n / 2, 0xff, 64);
        struct rs_bytes *b = over(&p, 0);
        assert_true(expect_sure(b, text, BIG / 3, BIG, "the gzip stream is broken (") > BIG / 3);
        rs_bytes_close(b);
        p.n = 0;
        pack(&p, RS_GZIP, text, 100);
        p.data[p.n - 8] ^= 1; /* the checksum */
        b = over(&p, 0);
        assert_int_equal(expect(b, text, 100, "(incorrect data check)"), 100);
        rs_bytes_close(b);
        p.data[p.n - 8] ^= 1;
        append(&p, "\0\0\0", 3); /* a tape's end is fine */
        b = over(&p, 0);
        assert_int_equal(expect(b, text, 100, NULL), 100);
        rs_bytes_close(b);
        append(&p, "junk", 4);
        b = over(&p, 0);
        assert_int_equal(expect(b, text, 100, "the gzip stream is followed by something else"), 100);
        rs_bytes_close(b);
        p.n = 0;
    }
    if (can_pack(RS_ZSTD)) {
        pack(&p, RS_ZSTD, text, BIG);
        memset(p.data + p.n * 3 / 4, 0xff, p.n / 5); /* the head of a block (128 KiB unpacked) is among that */
        struct rs_bytes *b = over(&p, 0);
        assert_true(expect_sure(b, text, BIG / 2, BIG, "the zstd stream is broken (") >= BIG / 2);
        rs_bytes_close(b);
        p.n = 0;
        append(&p, "\x52\x2a\x4d\x18\3\0\0\0abc", 11); /* to be skipped */
        pack(&p, RS_ZSTD, text, 100);
        b = over(&p, 0);
        assert_int_equal(rs_bytes_packing(b), RS_ZSTD);
        assert_int_equal(expect(b, text, 100, NULL), 100);
        rs_bytes_close(b);
        append(&p, "junk", 4);
        b = over(&p, 0);
        assert_int_equal(expect(b, text, 100, "at byte"), 100);
        rs_bytes_close(b);
    }
    free(p.data);
    free(text);
}

/* Without a library its files are refused, and the message says why. */
static void test_without(void **state)
{
    (void)state;
    static const char *const starts[] = {"\x1f\x8b\x08", "(\xb5/\xfd"};
    for (int packing = RS_GZIP; packing <= RS_ZSTD; packing++) {
        if (can_pack(packing)) continue;
        struct rs_bytes *b;
        struct rs_err err = {0};
        const char *start = starts[packing - RS_GZIP];
        assert_int_equal(rs_bytes_memory(&b, "it", start, strlen(start), 0, &err), RS_FAILED);
        assert_null(b);
        assert_non_null(strstr(err.msg, "it: is compressed with"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),    cmocka_unit_test(test_rest), cmocka_unit_test(test_empty_and_short),
        cmocka_unit_test(test_several), cmocka_unit_test(test_cut),  cmocka_unit_test(test_broken),
        cmocka_unit_test(test_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
