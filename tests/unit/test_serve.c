/* What `serve` makes of requests: tokens, hosts, ranges. The server itself is asked by tests/system/serve.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/request.h"

static void tokens(void **state)
{
    (void)state;
    char a[RS_SERVE_TOKEN + 1], b[RS_SERVE_TOKEN + 1], query[256];
    struct rs_err err;
    assert_int_equal(rs_token_make(a, &err), RS_OK);
    assert_int_equal(rs_token_make(b, &err), RS_OK);
    assert_int_equal(strlen(a), RS_SERVE_TOKEN);
    assert_int_equal(strspn(a, "0123456789abcdef"), RS_SERVE_TOKEN);
    assert_string_not_equal(a, b);

    const char *const fine[] = {"t=%s", "x=1&t=%s", "t=%s&", "&&t=%s&y", "tt=1&t=%s&T=2"};
    const char *const wrong[] = {"%s", "t%s", "T=%s", "t= %s", "t=%s0", "t=%s;", "xt=%s", "t=%s&t=%s", "t=&t=%s"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        snprintf(query, sizeof query, fine[i], a, a);
        assert_true(rs_token_in_query(query, a));
        assert_false(rs_token_in_query(query, b));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(query, sizeof query, wrong[i], a, a);
        assert_false(rs_token_in_query(query, a));
    }
    assert_false(rs_token_in_query(NULL, a));
    /* Every part of it, and every one with one digit changed. */
    for (size_t n = 0; n <= RS_SERVE_TOKEN; n++) {
        snprintf(query, sizeof query, "t=%.*s", (int)n, a);
        assert_int_equal(rs_token_in_query(query, a), n == RS_SERVE_TOKEN);
    }
    for (size_t n = 0; n < RS_SERVE_TOKEN; n++) {
        snprintf(query, sizeof query, "t=%s", a);
        query[n + 2] = a[n] == '0' ? '1' : '0';
        assert_false(rs_token_in_query(query, a));
    }
}

static void hosts(void **state)
{
    (void)state;
    assert_true(rs_host_is_loopback("127.0.0.1:8080"));
    assert_true(rs_host_is_loopback("localhost:8080"));
    assert_true(rs_host_is_loopback("LocalHost:8080"));
    assert_true(rs_host_is_loopback("[::1]:8080"));
    assert_true(rs_host_is_loopback("localhost"));
    assert_true(rs_host_is_loopback("127.0.0.1:1")); /* a tunnel that begins at another port */
    assert_true(rs_host_is_loopback("localhost:65535"));
    const char *const wrong[] = {
        "",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:80800",
        "127.0.0.1:000080",
        "127.0.0.1:8080:8080",
        "127.0.0.1:-1",
        "127.0.0.18080",
        "[::1",
        "[::1]x",
        "127.0.0.1:8080 ",
        "127.0.0.2:8080",
        "localhost.:8080",
        "localhost.evil:8080",
        "evil:8080",
        "127.0.0.1.evil.org:8080",
        "user@127.0.0.1:8080",
        "127.0.0.1:8080@evil.org",
        "::1:8080",
        "0.0.0.0:8080",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(rs_host_is_loopback(wrong[i]));
    assert_false(rs_host_is_loopback(NULL));
}

static void ranges(void **state)
{
    (void)state;
    const uint64_t big = (uint64_t)5 << 32;
    static const struct {
        const char *header;
        uint64_t size;
        enum rs_http_range kind;
        uint64_t from, length;
    } cases[] = {
        {NULL, 100, RS_HTTP_WHOLE, 0, 100},
        {"", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=0-0", 100, RS_HTTP_PART, 0, 1},
        {"bytes=0-99", 100, RS_HTTP_PART, 0, 100},
        {"bytes=0-100", 100, RS_HTTP_PART, 0, 100},
        {"bytes=99-", 100, RS_HTTP_PART, 99, 1},
        {"Bytes=10-19", 100, RS_HTTP_PART, 10, 10},
        {"bytes= 10-19 ", 100, RS_HTTP_PART, 10, 10},
        {"bytes=100-", 100, RS_HTTP_NOTHING, 0, 0},
        {"bytes=100-200", 100, RS_HTTP_NOTHING, 0, 0},
        {"bytes=-1", 100, RS_HTTP_PART, 99, 1},
        {"bytes=-100", 100, RS_HTTP_PART, 0, 100},
        {"bytes=-1000", 100, RS_HTTP_PART, 0, 100},
        {"bytes=-0", 100, RS_HTTP_NOTHING, 100, 0},
        {"bytes=0-0", 0, RS_HTTP_NOTHING, 0, 0},
        {"bytes=-5", 0, RS_HTTP_NOTHING, 0, 0},
        {"bytes=5-4", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=-", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=5", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=a-b", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=1-2x", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=--2", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=1-2,5-6", 100, RS_HTTP_WHOLE, 0, 100},
        {"lines=1-2", 100, RS_HTTP_WHOLE, 0, 100},
        {"bytes=18446744073709551615-", 100, RS_HTTP_NOTHING, 0, 0},
        {"bytes=1-18446744073709551615", 100, RS_HTTP_PART, 1, 99},
        {"bytes=1-99999999999999999999999999", 100, RS_HTTP_PART, 1, 99},
        {"bytes=99999999999999999999999999-", 100, RS_HTTP_NOTHING, 0, 0},
        {"bytes=-99999999999999999999999999", 100, RS_HTTP_PART, 0, 100},
    };
    uint64_t from, length;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(rs_http_range(cases[i].header, cases[i].size, &from, &length), cases[i].kind);
        assert_int_equal(from, cases[i].from);
        assert_int_equal(length, cases[i].length);
    }
    assert_int_equal(rs_http_range("bytes=4294967296-12884901887", big, &from, &length), RS_HTTP_PART);
    assert_true(from == (uint64_t)1 << 32 && length == (uint64_t)2 << 32);
    /* Whatever comes: never beyond the end. */
    srand(5);
    for (int i = 0; i < 200000; i++) {
        static const char letters[] = "0123456789--, bytes=";
        char text[32] = "bytes=";
        size_t n = 6 + (size_t)rand() % 20;
        for (size_t k = 6; k < n; k++) text[k] = letters[(size_t)rand() % (sizeof letters - 1)];
        text[n] = 0;
        uint64_t size = (uint64_t)rand() % 1000;
        enum rs_http_range kind = rs_http_range(text, size, &from, &length);
        assert_true(from <= size && length <= size - from);
        assert_true(kind == RS_HTTP_PART ? length > 0 : kind == RS_HTTP_WHOLE ? length == size : length == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens), cmocka_unit_test(hosts), cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
