/* What `serve` makes of requests: their parts, tokens, hosts, ranges, answers. The server itself is asked by tests/system/serve.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/answer.h"

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

static bool reads(const char *text, struct rs_request *r)
{
    static char bytes[1024];
    size_t n = strlen(text);
    memcpy(bytes, text, n);
    assert_int_equal(rs_request_end(bytes, n), n);
    return rs_request_read(bytes, n, r);
}

static void requests(void **state)
{
    (void)state;
    struct rs_request r;
    assert_true(
        reads("GET /a%20b?x=?y HTTP/1.1\r\nhost: \t localhost:1 \r\nX:\r\nRange:bytes=1-\r\nRANGE: z\r\n\r\n", &r));
    assert_string_equal(r.method, "GET");
    assert_string_equal(r.path, "/a%20b");
    assert_string_equal(r.query, "x=?y");
    assert_string_equal(r.host, "localhost:1");
    assert_string_equal(r.range, "bytes=1-");
    assert_true(r.hosts == 1 && !r.body && !r.close && !r.if_range);
    assert_true(reads("GET / HTTP/1.0\r\n\r\n", &r));
    assert_true(r.close && r.query == NULL && r.host == NULL && r.hosts == 0);
    assert_true(reads("X! * HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: x, Close\r\nIf-Range: y\r\n\r\n", &r));
    assert_true(r.close && r.if_range && r.hosts == 2);
    const char *const bodies[] = {
        "Content-Length: 1", "Content-Length: 00",         "Content-Length: -1",
        "Content-Length:",   "Transfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 0"};
    char text[256];
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s\r\n\r\n", bodies[i]);
        assert_true(reads(text, &r) && r.body);
    }
    assert_true(reads("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", &r) && !r.body);

    const char *const wrong[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET /  HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",
        "GET / http/1.1\r\n\r\n",
        "GET\t/ HTTP/1.1\r\n\r\n",
        "GET /\t HTTP/1.1\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(reads(wrong[i], &r));
    char zero[] = "GET / HTTP/1.1\r\nHost: a\0\r\n\r\n";
    assert_false(rs_request_read(zero, sizeof zero - 1, &r));
    /* The end is seen at the byte where it is. */
    static const char two[] = "GET / HTTP/1.1\r\n\r\nGET";
    for (size_t n = 0; n < sizeof two; n++) assert_int_equal(rs_request_end(two, n), n < 18 ? 0 : 18);
}

static void answers(void **state)
{
    (void)state;
    struct rs_site site = {.page = "<p>", .page_bytes = 3, .bundle_bytes = 100};
    memset(site.token, 'a', RS_SERVE_TOKEN);
    rs_site_policy(&site);
    static const struct {
        const char *request; /* %s: the token */
        const char *status;
        bool known, close;
        size_t text;
        uint64_t from, length;
    } cases[] = {
        {"GET /?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", true, false, 3, 0, 0},
        {"HEAD /?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", true, false, 0, 0, 0},
        {"GET /?t=%s HTTP/1.0\r\nHost: localhost\r\n\r\n", "200", true, true, 3, 0, 0},
        {"GET /bundle?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", true, false, 0, 0, 100},
        {"GET /bundle?t=%s HTTP/1.1\r\nHost: localhost\r\nRange: bytes=5-6\r\n\r\n", "206", true, false, 0, 5, 2},
        {"HEAD /bundle?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", true, false, 0, 0, 0},
        {"GET /bundle?t=%s HTTP/1.1\r\nHost: evil\r\n\r\n", "403", false, true, 1, 0, 0},
        {"GET /bundle?t=%s0 HTTP/1.1\r\nHost: localhost\r\n\r\n", "403", false, true, 1, 0, 0},
        {"POST /bundle?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "405", true, true, 1, 0, 0},
        {"POST /bundle?t=%s0 HTTP/1.1\r\nHost: localhost\r\n\r\n", "403", false, true, 1, 0, 0},
        {"GET /x?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", true, true, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct rs_request r;
        struct rs_answer a;
        snprintf(text, sizeof text, cases[i].request, site.token);
        assert_true(reads(text, &r));
        rs_answer_make(&site, &r, &a);
        assert_int_equal(strncmp(a.head + 9, cases[i].status, 3), 0);
        assert_true(a.known == cases[i].known && a.close == cases[i].close && a.page == (a.text == site.page));
        assert_true(cases[i].text == 1 ? a.text_bytes > 0 : a.text_bytes == cases[i].text);
        assert_true(a.from == cases[i].from && a.length == cases[i].length);
        assert_int_equal(strlen(a.head), a.head_bytes);
    }
}

/* A body is for one address only, and its length must be beyond doubt. */
static void jobs(void **state)
{
    (void)state;
    struct rs_site site = {.page = "<p>", .page_bytes = 3, .bundle_bytes = 100};
    site.job = (struct rs_site_job){.path = "/sql", .about = "abcde", .about_bytes = 5, .most = 1000};
    memset(site.token, 'a', RS_SERVE_TOKEN);
    static const struct {
        const char *line, *headers;
        int status; /* 0: a job of `bytes` */
        size_t bytes;
    } cases[] = {
        {"POST /sql?t=%s", "Content-Length: 8\r\n", 0, 8},
        {"POST /sql?t=%s", "Content-Length: 1000\r\nOrigin: http://localhost:80\r\n", 0, 1000},
        {"POST /sql?t=%s", "Content-Length: 0\r\n", 0, 0},
        {"POST /sql?t=%s", "Content-Length: 1001\r\n", 413, 0},
        {"POST /sql?t=%s", "Content-Length: 18446744073709551624\r\n", 413, 0},
        {"POST /sql?t=%s", "", 400, 0},
        {"POST /sql?t=%s", "Content-Length: 8\r\nContent-Length: 8\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length: 8, 8\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length: -8\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length: 0x8\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length:\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length: 8\r\nTransfer-Encoding: chunked\r\n", 400, 0},
        {"POST /sql?t=%s", "Content-Length: 8\r\nOrigin: http://localhost\r\n", 403, 0},
        {"POST /sql?t=%s", "Content-Length: 8\r\nOrigin: http://evil\r\n", 403, 0},
        {"POST /sql?t=%s", "Content-Length: 8\r\nOrigin: null\r\n", 403, 0},
        {"POST /sql?t=%s0", "Content-Length: 8\r\n", 403, 0},
        {"POST /sql/?t=%s", "Content-Length: 8\r\n", 405, 0},
        {"PUT /sql?t=%s", "Content-Length: 8\r\n", 405, 0},
        {"GET /sql?t=%s", "Content-Length: 8\r\n", 413, 0},
        {"GET /sql?t=%s", "", 200, 5},
        {"HEAD /sql?t=%s", "", 200, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[128], text[256];
        struct rs_request r;
        struct rs_answer a;
        snprintf(line, sizeof line, cases[i].line, site.token);
        snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: localhost:80\r\n%s\r\n", line, cases[i].headers);
        assert_true(reads(text, &r));
        rs_answer_make(&site, &r, &a);
        assert_true(a.job == (cases[i].status == 0));
        if (a.job) assert_int_equal(a.body_bytes, cases[i].bytes);
        if (!a.job) assert_int_equal(atoi(a.head + 9), cases[i].status);
        if (cases[i].status == 200) assert_int_equal(a.text_bytes, cases[i].bytes);
    }
    struct rs_answer a = {0};
    rs_answer_job(&a, 200, "text/plain", "X-Y: z\r\n", 12);
    assert_true(strstr(a.head, "X-Y: z\r\n") && strstr(a.head, "Content-Length: 12\r\n") && a.length == 12 && !a.close);
    rs_answer_no_job(&a, "wait\n");
    assert_true(!strncmp(a.head, "HTTP/1.1 503 ", 13) && a.close && a.text_bytes == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens),   cmocka_unit_test(hosts),   cmocka_unit_test(ranges),
                                       cmocka_unit_test(requests), cmocka_unit_test(answers), cmocka_unit_test(jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
