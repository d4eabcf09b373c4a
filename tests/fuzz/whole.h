/* Whether what exporters wrote is whole: UTF-8, brackets of JSON that close, rows of CSV that are as long as the first. */
#ifndef RS_TESTS_FUZZ_WHOLE_H
#define RS_TESTS_FUZZ_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/utf8.h"

static void must_be(bool fine)
{
    if (!fine) abort();
}

static void check_utf8(const char *s, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) must_be((len = rs_utf8_length(s + i, n - i)) > 0);
}

/* Brackets match, and strings hold no raw control characters. */
static void check_json(const char *s, size_t n)
{
    char open[64];
    unsigned depth = 0;
    bool string = false;
    for (size_t i = 0; i < n; i++) {
        if (string) {
            must_be((unsigned char)s[i] >= 0x20);
            if (s[i] == '\\')
                i++;
            else
                string = s[i] != '"';
        } else if (s[i] == '"') {
            string = true;
        } else if (s[i] == '{' || s[i] == '[') {
            must_be(depth < sizeof open);
            open[depth++] = s[i] == '{' ? '}' : ']';
        } else if (s[i] == '}' || s[i] == ']') {
            must_be(depth && open[--depth] == s[i]);
        }
    }
    must_be(!depth && !string);
}

static void check_csv(const char *s, size_t n)
{
    size_t cells = 1, first = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') quoted = !quoted;
        if (quoted) continue;
        cells += s[i] == ',';
        if (s[i] != '\n') continue;
        must_be(i && s[i - 1] == '\r' && (!first || cells == first));
        first = cells;
        cells = 1;
    }
    must_be(!quoted && first && cells == 1);
}

#endif
