/* What a token of the scanner says: integers, numbers with a fixed point, texts without their escapes. */
#include "base/scan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rs_scan token(const char *text)
{
    return (struct rs_scan){.text = text, .n = strlen(text)};
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fine;
        uint64_t v;
    } u[] = {
        {"0", true, 0},
        {"9007199254740993", true, 9007199254740993u}, /* 2^53 + 1 */
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"0xFFffFFffFFffFFff", true, UINT64_MAX},
        {"0x10000000000000000", false, 0},
        {"0x7f8c496ae9f661", true, 0x7f8c496ae9f661},
        {"0X1a", true, 26},
        {"0x", false, 0},
        {"0xg", false, 0},
        {"", false, 0},
        {"-1", false, 0},
        {"1a", false, 0},
        {"1.0", false, 0},
        {" 1", false, 0},
    };
    for (size_t i = 0; i < sizeof u / sizeof u[0]; i++) {
        struct rs_scan s = token(u[i].text);
        uint64_t v = 42;
        assert_true(rs_scan_u64(&s, &v) == u[i].fine);
        assert_true(v == (u[i].fine ? u[i].v : 42));
    }
    static const struct {
        const char *text;
        bool fine;
        int64_t v;
    } t[] = {
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"-9007199254740993", true, -9007199254740993},
        {"+5", true, 5},
        {"-0x10", true, -16},
        {"2.5", true, 3},
        {"-2.5", true, -3},
        {"1e3", true, 1000},
        {"-", false, 0},
        {"inf", false, 0},
    };
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct rs_scan s = token(t[i].text);
        int64_t v = 42;
        assert_true(rs_scan_i64(&s, &v) == t[i].fine);
        assert_true(v == (t[i].fine ? t[i].v : 42));
    }
}

static void test_fixed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned digits;
        bool fine;
        int64_t v;
    } t[] = {
        {"4458676524648.797", 3, true, 4458676524648797},
        {"1790857026000000.123", 3, true, 1790857026000000123},
        {"9223372036854775.807", 3, true, INT64_MAX},
        {"9223372036854775.8074", 3, true, INT64_MAX},
        {"9223372036854775.8075", 3, false, 0},
        {"-9223372036854775.808", 3, true, INT64_MIN},
        {"0.0005", 3, true, 1},
        {"0.00049999999999999999999999999999", 3, true, 0},
        {"-0.0005", 3, true, -1},
        {"1.9995", 3, true, 2000},
        {"7", 3, true, 7000},
        {"7.", 3, true, 7000},
        {".5", 3, true, 500},
        {"1.2345678e4", 3, true, 12345678},
        {"1.5E+2", 0, true, 150},
        {"15e-1", 0, true, 2},
        {"5e-1", 0, true, 1},
        {"49e-2", 0, true, 0},
        {"1e-99999999999", 3, true, 0},
        {"0e99999999999", 3, true, 0},
        {"1e99999999999", 3, false, 0},
        {"0.0000000000000000000000000001e28", 0, true, 1},
        {"000000000000000000000000000000000012", 0, true, 12},
        {"1e", 3, false, 0},
        {"1e+", 3, false, 0},
        {"1.2.3", 3, false, 0},
        {"1x", 3, false, 0},
        {".", 3, false, 0},
        {"-", 3, false, 0},
        {"-.", 3, false, 0},
        {"", 3, false, 0},
        {"e5", 3, false, 0},
        {"nan", 3, false, 0},
    };
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct rs_scan s = token(t[i].text);
        int64_t v = 42;
        if (rs_scan_fixed(&s, t[i].digits, &v) != t[i].fine) fail_msg("%s", t[i].text);
        if (v != (t[i].fine ? t[i].v : 42)) fail_msg("%s: %lld", t[i].text, (long long)v);
    }
}

static void test_double(void **state)
{
    (void)state;
    double v = 0;
    struct rs_scan s = token("0.372364");
    assert_true(rs_scan_double(&s, &v) && v == 0.372364);
    s = token("inf");
    assert_true(rs_scan_double(&s, &v) && isinf(v));
    s = token("-nan");
    assert_true(rs_scan_double(&s, &v) && isnan(v));
    static const char *const wrong[] = {"", "x", "1x", " 1", "1 "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        s = token(wrong[i]);
        assert_false(rs_scan_double(&s, &v));
    }
    s = (struct rs_scan){.text = "\0", .n = 1};
    assert_false(rs_scan_double(&s, &v));
}

static void expect_text(const char *text, size_t bytes, const char *want)
{
    char *to = malloc(bytes + !bytes);
    struct rs_scan s = token(text);
    assert_int_equal(rs_scan_text(&s, to, bytes), strlen(want));
    if (bytes) assert_string_equal(to, want);
    free(to);
}

static void test_text(void **state)
{
    (void)state;
    expect_text("plain", 64, "plain");
    expect_text("\\\"\\\\\\/\\b\\f\\n\\r\\t", 64, "\"\\/\b\f\n\r\t");
    expect_text("\\u0041\\u00e4\\u20AC\\ud83d\\ude00!", 64, "Aä€\xf0\x9f\x98\x80!");
    expect_text("\\ud83dx\\ude00\\ud83d", 64, "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd");
    expect_text("\\ud83d\\u0041", 64,
                "\xef\xbf\xbd"
                "A");
    expect_text("a\\u0000b", 64,
                "a\xef\xbf\xbd"
                "b");
    expect_text("\\u12g4 \\u12", 64, "\\u12g4 \\u12");
    expect_text("torch\\cuda\\", 64, "torch\\cuda\\");
    /* cut to fit, between characters */
    expect_text("abc", 4, "abc");
    expect_text("abcd", 4, "abc");
    expect_text("ab\\u20ac", 5, "ab");
    expect_text("ab\\u20ac", 6, "ab€");
    expect_text("ab€", 5, "ab");
    expect_text("ab€", 4, "ab");
    expect_text("ab€c", 6, "ab€");
    expect_text("aäö", 4, "aä");
    expect_text("a", 1, "");
    expect_text("a", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
