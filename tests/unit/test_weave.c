/* Keys put into events of a Kineto trace: where they go, and that nothing else changes, however the bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/kineto/weave.h"

static bool odd(void *of, uint64_t event)
{
    uint64_t *last = of;
    assert_true(event == 0 || event == *last + 1); /* in order, none left out */
    *last = event;
    return event % 2;
}

static bool all(void *of, uint64_t event)
{
    (void)of, (void)event;
    return true;
}

static void keys(void *of, uint64_t event, bool has_comms_id, struct rs_strbuf *to)
{
    (void)of;
    rs_strbuf_printf(to, "\"ringscope op\": %d%s", (int)event, has_comms_id ? "" : ", \"Comms Id\": 7");
}

static void weave(const char *in, rs_weave_wants wants, const char *want, uint64_t nwoven)
{
    struct rs_err err;
    size_t n = strlen(in);
    char *copy = NULL;
    size_t ncopy = 0;
    uint64_t last = 0, woven;
    struct rs_bytes *bytes;
    FILE *to = open_memstream(&copy, &ncopy);
    assert_int_equal(rs_bytes_memory(&bytes, "trace", in, n, 0, &err), RS_OK);
    assert_int_equal(rs_kineto_weave(bytes, to, "out", wants, keys, &last, &woven, &err), RS_OK);
    rs_bytes_close(bytes);
    fclose(to);
    assert_string_equal(copy, want);
    assert_int_equal(woven, nwoven);
    free(copy);
}

static void test_events(void **state)
{
    (void)state;
    weave(
        "{\"a\": [{}], \"traceEvents\": [ {\"x\": 1}, {\"args\": {\"b\": 2}} ], \"traceEventsNot\": [{}]}", odd,
        "{\"a\": [{}], \"traceEvents\": [ {\"x\": 1}, {\"args\": {\"ringscope op\": 1, \"Comms Id\": 7, \"b\": 2}} ], "
        "\"traceEventsNot\": [{}]}",
        1);
    weave("[{\"args\":{}},{},{\"args\":{\"Comms Id\":3}},7,[{\"args\":{}}]]", all,
          "[{\"args\":{\"ringscope op\": 0, \"Comms Id\": 7}},{\"args\": {\"ringscope op\": 1, \"Comms Id\": 7}},"
          "{\"args\":{\"ringscope op\": 2, \"Comms Id\":3}},7,[{\"args\":{}}]]",
          3);
}

/* Brackets and quotes in texts, args inside of args, args that are none, what is there already. */
static void test_odd(void **state)
{
    (void)state;
    weave("[{\"n\":\"}]\\\"args\\\":{\",\"args\" : {\"a\":{\"args\":{}}, \"Comms Id\" : 1} }]", all,
          "[{\"n\":\"}]\\\"args\\\":{\",\"args\" : {\"ringscope op\": 0, \"a\":{\"args\":{}}, \"Comms Id\" : 1} }]", 1);
    weave("[{\"x\":{\"args\":{}} }]", all, "[{\"x\":{\"args\":{}}, \"args\": {\"ringscope op\": 0, \"Comms Id\": 7} }]",
          1);
    weave("[{\"args\":{\"ringscope op\":1}}]", all, "[{\"args\":{\"ringscope op\":1}}]", 0);
    /* What is not as Kineto writes it is left alone: a second "args" would hide the first. */
    static const char *const alone[] = {"[{\"args\":null}]", "[{\"args\":[1]}]", "[{\"args\":\"x\"}]",
                                        "[{\"\\u0061rgs\":{}}]", "[{\"args\":{},\"args\":{\"b\":1}}]"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) weave(alone[i], all, alone[i], 0);
    weave("[{\"a\":1,}]", all, "[{\"a\":1,\"args\": {\"ringscope op\": 0, \"Comms Id\": 7}}]", 1);
    weave("{\"traceEvents\":3,\"x\":[{}]}", all, "{\"traceEvents\":3,\"x\":[{}]}", 0);
}

/* A trace that breaks off anywhere is copied as far as it goes. */
static void test_cut(void **state)
{
    (void)state;
    const char whole[] = "{\"traceEvents\": [{\"args\": {\"a\": \"\\\\\"}}, {\"b\": [1, {\"c\": \"x\"}]";
    for (size_t n = 0; n < sizeof whole; n++) {
        struct rs_err err;
        char *copy = NULL;
        size_t ncopy = 0;
        uint64_t woven;
        struct rs_bytes *bytes;
        FILE *to = open_memstream(&copy, &ncopy);
        assert_int_equal(rs_bytes_memory(&bytes, "trace", whole, n, 0, &err), RS_OK);
        assert_int_equal(rs_kineto_weave(bytes, to, "out", all, keys, NULL, &woven, &err), RS_OK);
        rs_bytes_close(bytes);
        fclose(to);
        assert_true(ncopy == n + (woven ? strlen("\"ringscope op\": 0, \"Comms Id\": 7, ") : 0));
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
