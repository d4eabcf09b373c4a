/* The chunk codec: random rows of whole records of every kind come back as they were; other words stay raw; and nothing
 * that is not a row of records is taken for one. */
#include "format/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = (RS_BUFFER_BYTES - 64) / 8 };

static uint64_t seed = 88172645463325252u;
static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
/* Small numbers are as likely as large ones. */
static uint64_t some(void)
{
    return rnd() >> (rnd() % 64);
}

/* A record of `kind`, laid out from the description in kinds.h and not by the code under test. */
static unsigned make_record(uint64_t *w, unsigned kind)
{
    unsigned n = 0;
    bool start = kind >= RS_K_START && kind < RS_K_START_END;
    bool handle = kind != RS_K_LOST && kind != RS_K_TICK_BASE && kind != RS_K_THREAD && kind != RS_K_HANDLE;
    bool far = rnd() % 4 == 0, context = rnd() % 4 == 0, small = rnd() % 4 == 0;
    uint64_t ref = far ? 0 : 1 + some() % 0xfffffe;
    w[n++] = kind | (handle ? ref : some() % 0x1000000) << 8 | (uint64_t)(uint32_t)some() << 32;
    if (handle && far) w[n++] = rnd();
    if (start) {
        uint64_t field = small ? 0xffffff : some() % 0xffffff;
        w[n++] = (context ? 0xffff : some() % 0xffff) | (some() % 0x1000000) << 16 | field << 40;
        if (context) w[n++] = rnd(), w[n++] = some();
        if (small) w[n++] = some();
    }
    for (unsigned i = 0; i < rs_kind_args[kind]; i++) w[n++] = some();
    return n;
}

static uint32_t make_row(uint64_t *words, uint32_t limit)
{
    uint32_t n = 0;
    unsigned kind = RS_K_STOP;
    while (n + RS_RECORD_MAX <= limit) {
        if (rnd() % 3) do
                kind = (unsigned)(rnd() % 256);
            while (rs_kind_args[kind] == 0xff);
        n += make_record(words + n, kind);
    }
    return n;
}

static void round_trip(struct rs_codec *c, enum rs_chunk_kind kind, const uint64_t *words, uint32_t n)
{
    uint32_t bytes;
    enum rs_chunk_coding coding;
    const char *why = "";
    const void *stored = rs_codec_encode(c, kind, words, n, &bytes, &coding);
    assert_true(bytes <= n * 8);
    void *copy = malloc(bytes + 1);
    memcpy(copy, stored, bytes);
    const uint64_t *back = rs_codec_decode(c, copy, bytes, coding, n, &why);
    assert_non_null(back);
    assert_memory_equal(back, words, n * 8);
    /* It is what its header says, or it is nothing. */
    if (n) assert_null(rs_codec_decode(c, copy, bytes, coding, n - 1, &why));
    assert_null(rs_codec_decode(c, copy, bytes, coding, n + 1, &why));
    free(copy);
}

static void test_record_lengths(void **state)
{
    (void)state;
    uint64_t w[RS_RECORD_MAX];
    for (unsigned kind = 0; kind < 256; kind++) {
        if (rs_kind_args[kind] == 0xff) {
            memset(w, 0, sizeof w);
            w[0] = kind;
            assert_int_equal(rs_record_words(w, RS_RECORD_MAX), 0);
            continue;
        }
        for (int i = 0; i < 50; i++) {
            unsigned n = make_record(w, kind);
            assert_true(n <= RS_RECORD_MAX);
            assert_int_equal(rs_record_words(w, n), n);
            assert_int_equal(rs_record_words(w, RS_RECORD_MAX), n);
            for (unsigned cut = 0; cut < n; cut++) assert_int_equal(rs_record_words(w, cut), 0);
        }
    }
}

static void test_rows(void **state)
{
    (void)state;
    struct rs_codec *c = rs_codec_new();
    uint64_t *words = malloc(WORDS * sizeof *words);
    for (uint32_t limit = 24; limit <= WORDS; limit = limit * 3 / 2) {
        uint32_t n = make_row(words, limit);
        round_trip(c, RS_CHUNK_EVENTS, words, n);
    }
    for (int i = 0; i < 20; i++) round_trip(c, RS_CHUNK_EVENTS, words, make_row(words, WORDS));
    /* The same record over and over: what a chunk is made for. */
    uint32_t n = 0;
    for (uint64_t i = 0; n + 2 <= WORDS; i++) {
        words[n++] = RS_K_PROXY_STEP | 1 << 8 | (i * 50) << 32;
        words[n++] = 1 | i << 40;
    }
    round_trip(c, RS_CHUNK_EVENTS, words, n);
    if (rs_codec_has_zstd()) {
        uint32_t bytes;
        enum rs_chunk_coding coding;
        rs_codec_encode(c, RS_CHUNK_EVENTS, words, n, &bytes, &coding);
        assert_int_equal(coding, RS_CODING_PLANES_ZSTD);
        assert_true(bytes < n * 8 / 50);
    }
    free(words);
    rs_codec_free(c);
}

static void test_any_words(void **state)
{
    (void)state;
    struct rs_codec *c = rs_codec_new();
    uint64_t *words = malloc(WORDS * sizeof *words);
    for (int i = 0; i < 200; i++) {
        uint32_t n = (uint32_t)(some() % (WORDS + 1));
        for (uint32_t k = 0; k < n; k++) words[k] = some();
        round_trip(c, RS_CHUNK_EVENTS, words, n);
        round_trip(c, RS_CHUNK_FACTS, words, n);
    }
    /* A row whose last record is cut off is no row of records. */
    for (int i = 0; i < 50; i++) {
        uint32_t n = make_row(words, 1000);
        n += make_record(words + n, RS_K_COLL_V7) - 1;
        round_trip(c, RS_CHUNK_EVENTS, words, n);
    }
    free(words);
    rs_codec_free(c);
}

static void test_garbage(void **state)
{
    (void)state;
    struct rs_codec *c = rs_codec_new();
    uint64_t *words = malloc(WORDS * sizeof *words);
    uint32_t n = make_row(words, WORDS), bytes;
    enum rs_chunk_coding coding;
    const char *why = NULL;
    const void *stored = rs_codec_encode(c, RS_CHUNK_EVENTS, words, n, &bytes, &coding);
    uint8_t *copy = malloc(bytes), *bad = malloc(bytes);
    memcpy(copy, stored, bytes);
    for (int i = 0; i < 2000; i++) {
        memcpy(bad, copy, bytes);
        for (uint64_t flips = 1 + rnd() % 4; flips; flips--) bad[rnd() % bytes] ^= (uint8_t)(1u << rnd() % 8);
        const uint64_t *got = rs_codec_decode(c, bad, bytes, coding, n, &why);
        if (got) { /* may happen without the checksum: but then it is a row of records */
            for (uint32_t at = 0, size; at < n && coding == RS_CODING_PLANES_ZSTD; at += size)
                assert_true((size = rs_record_words(got + at, n - at)) > 0);
        } else {
            assert_non_null(why);
        }
        rs_codec_decode(c, copy, (uint32_t)(rnd() % bytes), coding, n, &why);
    }
    assert_null(rs_codec_decode(c, copy, bytes, (enum rs_chunk_coding)7, n, &why));
    assert_null(rs_codec_decode(c, copy, bytes, RS_CODING_RAW, UINT32_MAX, &why));
    assert_null(rs_codec_decode(c, copy, bytes, RS_CODING_RAW, UINT32_MAX / 8 + 1, &why));
    free(bad);
    free(copy);
    free(words);
    rs_codec_free(c);
    rs_codec_free(NULL);
}

/* Every bit of a chunk's header and body, and of a file's constant header, is under its checksum. */
static void test_checksums(void **state)
{
    (void)state;
    uint8_t body[64];
    for (size_t i = 0; i < sizeof body; i++) body[i] = (uint8_t)rnd();
    struct rs_chunk_header h = {.stored_bytes = sizeof body, .records = 7, .tid = 9};
    uint64_t sum = rs_chunk_checksum(&h, body);
    for (size_t i = offsetof(struct rs_chunk_header, stored_bytes) + 4; i < sizeof h; i++) {
        ((uint8_t *)&h)[i] ^= 1;
        assert_true(rs_chunk_checksum(&h, body) != sum);
        ((uint8_t *)&h)[i] ^= 1;
    }
    for (size_t i = 0; i < sizeof body; i++) {
        body[i] ^= 0x80;
        assert_true(rs_chunk_checksum(&h, body) != sum);
        body[i] ^= 0x80;
    }
    assert_true(rs_chunk_checksum(&h, body) == sum);
    struct rs_file_header f = {.pid = 3};
    sum = rs_header_checksum(&f);
    for (size_t i = offsetof(struct rs_file_header, nonce); i < offsetof(struct rs_file_header, status); i++) {
        ((uint8_t *)&f)[i] ^= 1;
        assert_true(rs_header_checksum(&f) != sum);
        ((uint8_t *)&f)[i] ^= 1;
    }
    f.status.heartbeat_ns++; /* what changes while the process runs is not */
    assert_true(rs_header_checksum(&f) == sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_record_lengths), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_any_words), cmocka_unit_test(test_garbage),
                                       cmocka_unit_test(test_checksums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
