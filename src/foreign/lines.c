#include "foreign/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/scan.h"

void rs_lines_bytes(struct rs_lines *l, struct rs_bytes *bytes)
{
    *l = (struct rs_lines){.bytes = bytes, .text = ""};
}

void rs_lines_memory(struct rs_lines *l, const char *text, size_t n)
{
    *l = (struct rs_lines){.at = text, .end = text + n, .text = ""};
}

void rs_lines_free(struct rs_lines *l)
{
    free(l->buffer);
    l->buffer = NULL;
}

static bool next_block(struct rs_lines *l)
{
    size_t n;
    if (!l->bytes || rs_bytes_next(l->bytes, &l->at, &n, &l->err) != RS_OK || !n) {
        l->bytes = NULL;
        l->at = l->end = NULL;
        return false;
    }
    l->end = l->at + n;
    return true;
}

/* Keeps a part of a line until its end is found in a later block. */
static void hold(struct rs_lines *l, const char *part, size_t n)
{
    if (n > RS_LONGEST_LINE - l->held) {
        n = RS_LONGEST_LINE - l->held;
        l->shortened = true;
    }
    if (l->held + n > l->cap) {
        size_t cap = 2 * (l->held + n);
        char *grown = rs_realloc(l->buffer, cap);
        l->buffer = grown;
        l->cap = cap;
    }
    if (n) memcpy(l->buffer + l->held, part, n);
    l->held += n;
}

static void give(struct rs_lines *l, const char *text, size_t n)
{
    if (n > RS_LONGEST_LINE) {
        n = RS_LONGEST_LINE;
        l->shortened = true;
    }
    l->text = text;
    l->n = n && text[n - 1] == '\r' ? n - 1 : n;
}

bool rs_lines_next(struct rs_lines *l)
{
    l->held = 0;
    l->unended = l->shortened = false;
    l->offset = l->at_offset;
    bool any = false;
    for (;;) {
        if (l->err.code != RS_OK && !any) return false;
        if (l->at == l->end && !next_block(l)) {
            if (!any) return false;
            l->unended = true;
            give(l, l->buffer, l->held);
            return true;
        }
        size_t left = (size_t)(l->end - l->at);
        const char *from = l->at, *newline = memchr(from, '\n', left);
        size_t n = newline ? (size_t)(newline - from) : left;
        l->at += newline ? n + 1 : n;
        l->at_offset += newline ? n + 1 : n;
        if (newline && !any) {
            give(l, from, n);
            return true;
        }
        hold(l, from, n);
        any = true;
        if (newline) {
            give(l, l->buffer, l->held);
            return true;
        }
    }
}

/* ---- fields ---- */

bool rs_slice_is(struct rs_slice f, const char *word)
{
    return strlen(word) == f.n && !memcmp(f.text, word, f.n);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct rs_slice rs_slice_trim(struct rs_slice f)
{
    while (f.n && is_space(f.text[0])) {
        f.text++;
        f.n--;
    }
    while (f.n && is_space(f.text[f.n - 1])) f.n--;
    return f;
}

bool rs_slice_fixed(struct rs_slice f, unsigned digits, int64_t *v)
{
    struct rs_scan s;
    s.text = f.text;
    s.n = f.n;
    return f.n && f.text[0] != '-' && rs_scan_fixed(&s, digits, v) && *v >= 0;
}

bool rs_slice_u64(struct rs_slice f, uint64_t *v)
{
    struct rs_scan s;
    s.text = f.text;
    s.n = f.n;
    return f.n && rs_scan_u64(&s, v);
}

bool rs_slice_double(struct rs_slice f, double *v)
{
    struct rs_scan s;
    s.text = f.text;
    s.n = f.n;
    return f.n && rs_scan_double(&s, v);
}

unsigned rs_csv_split(const char *text, size_t n, struct rs_slice *fields, unsigned most)
{
    const char *at = text, *end = text + n;
    for (unsigned count = 0; count < most;) {
        struct rs_slice f = {at, 0};
        if (at < end && *at == '"') {
            f.text = ++at;
            while (at < end && !(*at == '"' && (at + 1 == end || at[1] != '"'))) at += *at == '"' ? 2 : 1;
            if (at > end) at = end;
            f.n = (size_t)(at - f.text);
            while (at < end && *at != ',') at++;
        } else {
            while (at < end && *at != ',') at++;
            f.n = (size_t)(at - f.text);
            f = rs_slice_trim(f);
        }
        fields[count++] = f;
        if (at == end) return count;
        at++;
    }
    return most;
}
