/* What is no UTF-8, after the Unicode standard's own examples, and what stands in for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void whole(const char *text, const char *wanted)
{
    struct rs_strbuf room = {0};
    size_t n = strlen(text);
    const char *got = rs_utf8_whole(text, &n, &room);
    assert_int_equal(n, strlen(wanted));
    assert_memory_equal(got, wanted, n);
    if (!strcmp(text, wanted)) assert_ptr_equal(got, text); /* no copy where none is needed */
    rs_strbuf_free(&room);
}

#define BAD RS_UTF8_STAND_IN

static void test_whole(void **state)
{
    (void)state;
    whole("", "");
    whole("plain", "plain");
    whole("\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e", "\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e");
    whole("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"); /* U+10FFFF */
    whole("\xff", BAD);
    whole("a\xff\xfe"
          "b",
          "a" BAD BAD "b");
    whole("\xc0\xaf", BAD BAD); /* longer than need be */
    whole("\xed\xa0\x80", BAD BAD BAD); /* a surrogate */
    whole("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* above U+10FFFF */
    whole("x\xe2\x82", "x" BAD BAD); /* cut off */
    whole("\xe2\x82\xac\x80", "\xe2\x82\xac" BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
