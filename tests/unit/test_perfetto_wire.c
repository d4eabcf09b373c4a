/* The wire format of Protocol Buffers: bytes worked out by hand from its description, and packets of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/perfetto/packets.h"
#include "export/perfetto/wire.h"

static struct rs_wire w, inner;

#define EXPECT(...)                                                                                                    \
    do {                                                                                                               \
        const uint8_t wanted[] = {__VA_ARGS__};                                                                        \
        assert_int_equal(w.n, sizeof wanted);                                                                          \
        assert_memory_equal(w.data, wanted, sizeof wanted);                                                            \
        rs_wire_clear(&w);                                                                                             \
    } while (0)

static void test_varints(void **state)
{
    (void)state;
    rs_wire_uint(&w, 1, 0);
    EXPECT(0x08, 0x00);
    rs_wire_uint(&w, 1, 1);
    EXPECT(0x08, 0x01);
    rs_wire_uint(&w, 1, 127);
    EXPECT(0x08, 0x7f);
    rs_wire_uint(&w, 1, 128);
    EXPECT(0x08, 0x80, 0x01);
    rs_wire_uint(&w, 1, 150);
    EXPECT(0x08, 0x96, 0x01);
    rs_wire_uint(&w, 15, 300);
    EXPECT(0x78, 0xac, 0x02);
    /* A number above 15 takes two bytes of tag. */
    rs_wire_uint(&w, 16, 1);
    EXPECT(0x80, 0x01, 0x01);
    rs_wire_uint(&w, 60, 5);
    EXPECT(0xe0, 0x03, 0x05);
    rs_wire_uint(&w, 2, UINT64_MAX);
    EXPECT(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    /* Negative numbers are sign-extended to 64 bits: ten bytes, whatever their size. */
    rs_wire_uint(&w, 4, (uint64_t)(int64_t)-2);
    EXPECT(0x20, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

static void test_fixed(void **state)
{
    (void)state;
    rs_wire_fixed64(&w, 47, 0x0102030405060708);
    EXPECT(0xf9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1);
    rs_wire_fixed64(&w, 1, 0);
    EXPECT(0x09, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void test_lengths(void **state)
{
    (void)state;
    rs_wire_string(&w, 2, "testing");
    EXPECT(0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
    rs_wire_string(&w, 2, "");
    EXPECT(0x12, 0x00);
    rs_wire_clear(&inner);
    rs_wire_uint(&inner, 1, 150);
    rs_wire_message(&w, 3, &inner);
    EXPECT(0x1a, 0x03, 0x08, 0x96, 0x01);
    /* 200 bytes: the length takes two. */
    char text[201] = "";
    memset(text, 'x', 200);
    rs_wire_string(&w, 1, text);
    assert_int_equal(w.n, 203);
    assert_int_equal(w.data[1], 0xc8);
    assert_int_equal(w.data[2], 0x01);
    assert_int_equal(w.data[202], 'x');
    rs_wire_clear(&w);
}

static void test_growth(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) rs_wire_uint(&w, 1, i);
    size_t at = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(w.data[at++], 0x08);
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            value |= (uint64_t)(w.data[at] & 0x7f) << shift;
            if (!(w.data[at++] & 0x80)) break;
        }
        assert_int_equal(value, i);
    }
    assert_int_equal(at, w.n);
    rs_wire_free(&w);
    rs_wire_free(&inner);
}

/* A state, a slice with a name that is told once, and its end: times are distances. */
static void test_packets(void **state)
{
    (void)state;
    char *bytes;
    size_t n;
    FILE *file = open_memstream(&bytes, &n);
    struct rs_packets p;
    rs_packets_open(&p, file, "test", 1000);
    rs_packets_sequence(&p);
    rs_packets_track(&p, 9);
    for (int i = 0; i < 2; i++) {
        rs_packets_begin(&p, 0);
        rs_wire_uint(&p.event, PF_EVENT_NAME_IID, rs_packets_intern(&p, RS_INTERNED_NAMES, 7, "ab"));
        rs_packets_event(&p, 5 + 10 * i, true);
        rs_packets_slice_end(&p, 8 + 10 * i);
    }
    rs_packets_flush(&p);
    assert_int_equal(rs_packets_check(&p, NULL), RS_OK);
    rs_packets_free(&p);
    fclose(file);
    static const uint8_t wanted[] = {
        0x0a, 31, /* packet */
        0x50, 2,    0x68, 1, /* sequence 2, a new state */
        0xda, 0x03, 7,    0x5a, 2,    0x58, 9,    0xd0, 0x03, 64, /* defaults: track 9, clock 64 */
        0x32, 15,   0x0a, 6,    0x08, 64,   0x10, 0,    0x18, 1,  0x0a, 5,
        0x08, 6,    0x10, 0xe8, 0x07, /* its 0 is 1000 of the trace's */
        0x0a, 20,   0x62, 8,    0x12, 6,    0x08, 1,    0x12, 2,  'a',  'b', /* key 7 is the first name */
        0x40, 5,    0x50, 2,    0x68, 2,    0x5a, 2,    0x50, 1, /* + 5 */
        0x0a, 8,    0x40, 3,    0x50, 2,    0x5a, 2,    0x48, 2, /* + 3: its end */
        0x0a, 10,   0x40, 7,    0x50, 2,    0x68, 2,    0x5a, 2,  0x50, 1, /* + 7: the name is known */
        0x0a, 8,    0x40, 3,    0x50, 2,    0x5a, 2,    0x48, 2,
    };
    assert_int_equal(n, sizeof wanted);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    free(bytes);
}

static void test_full_disk(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/full", "w");
    if (!file) skip();
    setvbuf(file, NULL, _IONBF, 0);
    struct rs_packets p;
    struct rs_err err;
    rs_packets_open(&p, file, "there", 0);
    rs_packets_sequence(&p);
    rs_packets_track(&p, 1);
    rs_packets_flush(&p);
    assert_int_equal(rs_packets_check(&p, &err), RS_FAILED);
    assert_non_null(strstr(err.msg, "there"));
    rs_packets_free(&p);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints), cmocka_unit_test(test_fixed),   cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_growth),  cmocka_unit_test(test_packets), cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
