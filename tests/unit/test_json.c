/* The JSON writer: exact text for each kind of value, numbers read back by the C library, bad UTF-8, failing writes,
 * and its speed. */
#include "base/json.h"
#include "base/strbuf.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct rs_json j;
static struct rs_strbuf out;

static enum rs_status collect(void *to, const void *bytes, size_t n, struct rs_err *err)
{
    (void)err;
    rs_strbuf_add(to, bytes, n);
    return RS_OK;
}

static void begin(void)
{
    rs_strbuf_free(&out);
    rs_json_to(&j, collect, &out, "test");
}

static void expect(const char *text)
{
    assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
    assert_string_equal(rs_strbuf_borrow(&out), text);
}

static void test_nesting(void **state)
{
    (void)state;
    begin();
    rs_json_object(&j);
    rs_json_key_str(&j, "a", "x");
    rs_json_key(&j, "b");
    rs_json_array(&j);
    rs_json_u64(&j, 1);
    rs_json_array(&j);
    rs_json_end(&j);
    rs_json_object(&j);
    rs_json_end(&j);
    rs_json_null(&j);
    rs_json_end(&j);
    rs_json_key_bool(&j, "c", true);
    rs_json_key_bool(&j, "d", false);
    rs_json_key_null(&j, "e");
    rs_json_key_str(&j, "f", NULL);
    rs_json_end(&j);
    rs_json_newline(&j);
    rs_json_i64(&j, -5);
    rs_json_newline(&j);
    expect("{\"a\":\"x\",\"b\":[1,[],{},null],\"c\":true,\"d\":false,\"e\":null,\"f\":null}\n-5\n");
}

static void test_deep(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < RS_JSON_MAX_DEPTH - 1; i++) rs_json_array(&j);
    for (int i = 0; i < RS_JSON_MAX_DEPTH - 1; i++) rs_json_end(&j);
    assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
    assert_int_equal(out.len, 2 * (RS_JSON_MAX_DEPTH - 1));
}

static void test_integers(void **state)
{
    (void)state;
    uint64_t value = 1;
    for (int bit = 0; bit < 64; bit++, value <<= 1) {
        for (uint64_t around = value - 1; around != value + 2; around++) {
            char text[64];
            begin();
            rs_json_u64(&j, around);
            snprintf(text, sizeof(text), "%" PRIu64, around);
            expect(text);
            begin();
            rs_json_i64(&j, (int64_t)around);
            snprintf(text, sizeof(text), "%" PRId64, (int64_t)around);
            expect(text);
            begin();
            rs_json_hex(&j, around);
            snprintf(text, sizeof(text), "\"0x%016" PRIx64 "\"", around);
            expect(text);
        }
    }
    for (uint64_t power = 1; power < 10000000000000000000u; power *= 10) {
        char text[32];
        begin();
        rs_json_u64(&j, power - 1);
        snprintf(text, sizeof(text), "%" PRIu64, power - 1);
        expect(text);
    }
}

static void expect_double(double value, const char *text)
{
    begin();
    rs_json_double(&j, value);
    expect(text);
}

static void test_doubles(void **state)
{
    (void)state;
    expect_double(0, "0");
    expect_double(1, "1");
    expect_double(-1.5, "-1.5");
    expect_double(0.1, "0.1");
    expect_double(12.05, "12.05");
    expect_double(0.000001, "0.000001");
    expect_double(123456.789, "123456.789");
    expect_double(1e300, "1e+300");
    expect_double((double)NAN, "null");
    expect_double((double)INFINITY, "null");
    expect_double(-(double)INFINITY, "null");
    /* Any other double reads back as itself. */
    uint64_t x = 88172645463325252ull;
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double value;
        memcpy(&value, &x, sizeof(value));
        if (i % 2) value = (double)(int64_t)(x >> 20) / 1000.0;
        if (!isfinite(value)) continue;
        begin();
        rs_json_double(&j, value);
        assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
        char *end;
        double back = strtod(out.data, &end);
        if (*end != '\0' || memcmp(&back, &value, sizeof(value)) != 0) fail_msg("%a became %s", value, out.data);
    }
    expect_double(DBL_MAX, "1.7976931348623157e+308");
    expect_double(DBL_TRUE_MIN, "4.94065645841247e-324");
}

static void expect_thousandths(int64_t value, const char *text)
{
    begin();
    rs_json_thousandths(&j, value);
    expect(text);
}

static void test_thousandths(void **state)
{
    (void)state;
    expect_thousandths(0, "0");
    expect_thousandths(1, "0.001");
    expect_thousandths(10, "0.01");
    expect_thousandths(100, "0.1");
    expect_thousandths(1000, "1");
    expect_thousandths(1234, "1.234");
    expect_thousandths(-1050, "-1.05");
    expect_thousandths(123456789012345678, "123456789012345.678");
    expect_thousandths(INT64_MIN, "-9223372036854775.808");
}

static void expect_text(const char *bytes, size_t n, const char *text)
{
    begin();
    rs_json_strn(&j, bytes, n);
    expect(text);
}

#define BAD "\xef\xbf\xbd"

static void test_strings(void **state)
{
    (void)state;
    expect_text("", 0, "\"\"");
    expect_text("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    expect_text("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
    expect_text("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"");
    /* Well-formed sequences of 2, 3 and 4 bytes, at their limits. */
    expect_text("\xc2\x80\xdf\xbf", 4, "\"\xc2\x80\xdf\xbf\"");
    expect_text("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 12,
                "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"");
    expect_text("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
    /* Overlong, surrogate, past the end of Unicode, lone continuation, cut short. */
    expect_text("\xc0\xaf", 2, "\"" BAD BAD "\"");
    expect_text("\xe0\x9f\xbf", 3, "\"" BAD BAD BAD "\"");
    expect_text("\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"");
    expect_text("\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"");
    expect_text("\xf5x", 2, "\"" BAD "x\"");
    expect_text("a\x80z", 3, "\"a" BAD "z\"");
    expect_text("\xe2\x82", 2, "\"" BAD BAD "\"");
    expect_text("\xe2\x82\"", 3, "\"" BAD BAD "\\\"\"");
}

/* A string longer than the buffer, and one of escapes that meets the buffer's end at every offset. */
static void test_long_strings(void **state)
{
    (void)state;
    size_t n = 3 * RS_JSON_BUFFER + 17;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'q', n);
    begin();
    rs_json_strn(&j, text, n);
    assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
    assert_int_equal(out.len, n + 2);
    assert_int_equal(strspn(out.data + 1, "q"), n);
    for (size_t lead = RS_JSON_BUFFER - 16; lead < RS_JSON_BUFFER + 2; lead++) {
        memset(text, 'q', lead);
        memset(text + lead, 1, 5);
        begin();
        rs_json_strn(&j, text, lead + 5);
        assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
        assert_int_equal(out.len, lead + 2 + 5 * 6);
        assert_string_equal(out.data + 1 + lead, "\\u0001\\u0001\\u0001\\u0001\\u0001\"");
    }
    free(text);
}

static void test_full_disk(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) skip();
    rs_json_to_file(&j, full, "/dev/full");
    rs_json_array(&j);
    for (uint64_t i = 0; i < 100000; i++) rs_json_u64(&j, i);
    assert_true(rs_json_failed(&j)); /* seen before the end: it sticks */
    struct rs_err err;
    assert_int_equal(rs_json_finish(&j, &err), RS_FAILED); /* also with the array left open */
    assert_non_null(strstr(err.msg, "/dev/full"));
    assert_non_null(strstr(err.msg, "No space left"));
    /* A text that fits into all buffers must not get away either. */
    fclose(full);
    full = fopen("/dev/full", "w");
    assert_non_null(full);
    rs_json_to_file(&j, full, "/dev/full");
    rs_json_u64(&j, 1);
    assert_int_equal(rs_json_finish(&j, &err), RS_FAILED);
    fclose(full);
}

static enum rs_status swallow(void *to, const void *bytes, size_t n, struct rs_err *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)to += n;
    return RS_OK;
}

/* 2 M objects a second are wanted on a machine of our day; a tenth of it here, so that only a real fault fails. */
static void test_speed(void **state)
{
    (void)state;
    enum { OBJECTS = 400000 };
    const char *sanitizers = getenv("SAN");
    if (sanitizers != NULL && *sanitizers != '\0') skip(); /* they cost ten times as much */
    size_t total = 0;
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    rs_json_to(&j, swallow, &total, "nowhere");
    for (uint64_t i = 0; i < OBJECTS; i++) {
        rs_json_object(&j);
        rs_json_key_str(&j, "call", "startEvent");
        rs_json_key_u64(&j, "time_ns", 1700000000000000000u + i);
        rs_json_key_u64(&j, "tid", 4711);
        rs_json_key_hex(&j, "event", i * 0x9e3779b97f4a7c15u);
        rs_json_key_i64(&j, "rank", 3);
        rs_json_end(&j);
        rs_json_newline(&j);
    }
    assert_int_equal(rs_json_finish(&j, NULL), RS_OK);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    print_message("%.2f M objects/s, %.0f MB/s\n", OBJECTS / seconds / 1e6, (double)total / seconds / 1e6);
    assert_true(OBJECTS / seconds > 200000);
}

static int clean_up(void **state)
{
    (void)state;
    rs_strbuf_free(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),      cmocka_unit_test(test_deep),        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),      cmocka_unit_test(test_thousandths), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_long_strings), cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
