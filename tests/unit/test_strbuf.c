/* The growing string: content after many small appends, printf at the edges of its memory, quoting for a shell. */
#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_empty(void **state)
{
    (void)state;
    struct rs_strbuf s = {0};
    assert_string_equal(rs_strbuf_borrow(&s), "");
    char *text = NULL;
    rs_strbuf_take(&s, &text);
    assert_string_equal(text, "");
    free(text);
    rs_strbuf_free(&s);
    rs_strbuf_free(NULL);
}

/* Every length around the powers of two at which memory grows, written in one printf onto every small beginning. */
static void test_printf_at_edges(void **state)
{
    (void)state;
    char body[300];
    for (size_t start = 0; start < 70; start++) {
        for (size_t n = 0; n < 140; n++) {
            struct rs_strbuf s = {0};
            for (size_t i = 0; i < start; i++) rs_strbuf_putc(&s, 'a');
            memset(body, 'b', n);
            body[n] = '\0';
            rs_strbuf_printf(&s, "%s%d", body, 7);
            assert_int_equal(s.len, start + n + 1);
            assert_int_equal(strlen(s.data), s.len);
            assert_int_equal(strspn(s.data, "a"), start);
            assert_int_equal(strspn(s.data + start, "b"), n);
            assert_int_equal(s.data[s.len - 1], '7');
            rs_strbuf_free(&s);
        }
    }
}

static void test_bytes_and_clear(void **state)
{
    (void)state;
    struct rs_strbuf s = {0};
    rs_strbuf_add(&s, "a\0b", 3);
    rs_strbuf_puts(&s, "cd");
    assert_int_equal(s.len, 5);
    assert_memory_equal(s.data, "a\0bcd", 6);
    rs_strbuf_clear(&s);
    assert_string_equal(rs_strbuf_borrow(&s), "");
    rs_strbuf_puts(&s, "again");
    assert_string_equal(rs_strbuf_borrow(&s), "again");
    rs_strbuf_free(&s);
}

/* The shell itself is the judge: what it makes of the quoted word must be the word. */
static void test_shell_quote(void **state)
{
    (void)state;
    const char *words[] = {"", "plain", "it's", "'", "''", "a b\t$HOME `id` \"x\" \\ * ?\n!", "-n"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_puts(&s, "printf %s. ");
        rs_strbuf_shell_quote(&s, words[i]);
        FILE *shell = popen(rs_strbuf_borrow(&s), "r");
        assert_non_null(shell);
        char back[128] = {0};
        size_t n = fread(back, 1, sizeof(back) - 1, shell);
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(n, strlen(words[i]) + 1);
        back[n - 1] = '\0';
        assert_string_equal(back, words[i]);
        rs_strbuf_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_printf_at_edges),
        cmocka_unit_test(test_bytes_and_clear),
        cmocka_unit_test(test_shell_quote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
