/* Chunks are found among bytes that only look like them, and that takes time in proportion to the file. */
#include "trace/chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NONCE = 4711, SIZE = 8 << 20 };

static struct rs_chunk_header header_of(uint32_t stored)
{
    return (struct rs_chunk_header){.magic = RS_CHUNK_MAGIC,
                                    .kind = RS_CHUNK_EVENTS,
                                    .header_bytes = sizeof(struct rs_chunk_header),
                                    .stored_bytes = stored,
                                    .nonce = NONCE,
                                    .to = stored / 8};
}

static void put_whole(uint8_t *to, uint32_t stored)
{
    struct rs_chunk_header h = header_of(stored);
    memset(to + sizeof h, 7, stored);
    h.checksum = rs_chunk_checksum(&h, to + sizeof h);
    memcpy(to, &h, sizeof h);
}

static void test_false_beginnings(void **state)
{
    (void)state;
    uint8_t *bytes = calloc(1, SIZE);
    assert_non_null(bytes);
    struct rs_chunk_header fake = header_of(65000);
    for (size_t at = 0; at + sizeof fake <= SIZE; at += sizeof fake) memcpy(bytes + at, &fake, sizeof fake);
    struct rs_recording r = {.file = {.data = bytes, .size = SIZE}, .header = {.nonce = NONCE}};
    struct rs_holes holes = {0};
    rs_chunks_find(&r, 0, SIZE, &holes);
    assert_int_equal(r.nevents, 0);
    assert_int_equal(holes.n, 1);
    assert_true(holes.vain < UINT64_C(6) * SIZE); /* all of them: 74,000 times 65,000 bytes */
    free(holes.list);
    free(bytes);
}

static void test_whole_among_others(void **state)
{
    (void)state;
    enum { AT = 4096, STORED = 1000, SMALL = 32768 };
    uint8_t *bytes = calloc(1, SMALL);
    assert_non_null(bytes);
    struct rs_chunk_header fake = header_of(20000);
    memcpy(bytes, &fake, sizeof fake); /* says that it goes far beyond the whole ones */
    put_whole(bytes + AT, STORED);
    put_whole(bytes + AT + sizeof fake + STORED, STORED);
    struct rs_recording r = {.file = {.data = bytes, .size = SMALL}, .header = {.nonce = NONCE}};
    struct rs_holes holes = {0};
    rs_chunks_find(&r, 0, SMALL, &holes);
    assert_int_equal(r.nevents, 2);
    assert_int_equal(r.events[0].offset, AT);
    assert_int_equal(r.events[1].offset, AT + sizeof fake + STORED);
    assert_int_equal(holes.n, 2);
    assert_int_equal(holes.list[0].to, AT);
    assert_string_equal(holes.list[0].why, "a chunk's checksum is wrong");
    assert_int_equal(holes.list[1].to, SMALL);
    free(r.events);
    free(holes.list);
    free(bytes);
}

/* A file that ends anywhere inside a chunk: the chunk is not taken, though its other bytes happen to lie behind the end. */
static void test_cut(void **state)
{
    (void)state;
    enum { STORED = 200 };
    _Alignas(8) uint8_t bytes[sizeof(struct rs_chunk_header) + STORED];
    put_whole(bytes, STORED);
    for (size_t size = 1; size <= sizeof bytes; size++) {
        struct rs_recording r = {.file = {.data = bytes, .size = size}, .header = {.nonce = NONCE}};
        struct rs_holes holes = {0};
        bool whole = size == sizeof bytes;
        rs_chunks_find(&r, 0, size, &holes);
        assert_int_equal(r.nevents, whole);
        assert_int_equal(holes.n, !whole);
        if (!whole) {
            assert_string_equal(holes.list[0].why, size < sizeof(struct rs_chunk_header)
                                                       ? "the file ends inside a chunk's header"
                                                       : "the file ends inside a chunk");
            assert_int_equal(holes.list[0].to, size);
        }
        free(r.events);
        free(holes.list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_beginnings),
                                       cmocka_unit_test(test_whole_among_others), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
