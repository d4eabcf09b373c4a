#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Makes room for `n` more bytes and the final 0. */
static void reserve(struct rs_strbuf *s, size_t n)
{
    if (n > SIZE_MAX / 2 - s->len - 1) rs_memory_out();
    size_t need = s->len + n + 1;
    if (need <= s->cap) return;
    size_t cap = s->cap < 64 ? 64 : s->cap;
    while (cap < need) cap *= 2;
    s->data = rs_realloc(s->data, cap);
    s->cap = cap;
}

void rs_strbuf_add(struct rs_strbuf *s, const void *bytes, size_t n)
{
    reserve(s, n);
    if (n > 0) memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void rs_strbuf_puts(struct rs_strbuf *s, const char *text)
{
    rs_strbuf_add(s, text, strlen(text));
}

void rs_strbuf_putc(struct rs_strbuf *s, char c)
{
    rs_strbuf_add(s, &c, 1);
}

void rs_strbuf_printf(struct rs_strbuf *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    va_list again;
    va_copy(again, ap);
    size_t room = s->cap - s->len; /* 0 when nothing is allocated yet */
    int n = vsnprintf(room > 0 ? s->data + s->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n < 0) rs_memory_out(); /* more than INT_MAX bytes, or out of memory in the library */
    if ((size_t)n >= room) {
        reserve(s, (size_t)n);
        vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    }
    s->len += (size_t)n;
    va_end(again);
}

void rs_strbuf_shell_quote(struct rs_strbuf *s, const char *text)
{
    rs_strbuf_putc(s, '\'');
    for (const char *p = text; *p != '\0';) {
        size_t plain = strcspn(p, "'");
        rs_strbuf_add(s, p, plain);
        p += plain;
        if (*p == '\'') {
            /* Nothing can be escaped inside single quotes: close, a quoted quote, open again. */
            rs_strbuf_puts(s, "'\\''");
            p++;
        }
    }
    rs_strbuf_putc(s, '\'');
}

const char *rs_strbuf_borrow(const struct rs_strbuf *s)
{
    return s->data == NULL ? "" : s->data;
}

void rs_strbuf_clear(struct rs_strbuf *s)
{
    s->len = 0;
    if (s->data != NULL) s->data[0] = '\0';
}

void rs_strbuf_take(struct rs_strbuf *s, char **text)
{
    *text = NULL;
    if (s->data == NULL) reserve(s, 0);
    s->data[s->len] = '\0';
    *text = s->data;
    *s = (struct rs_strbuf){0};
}

void rs_strbuf_free(struct rs_strbuf *s)
{
    if (s == NULL) return;
    free(s->data);
    *s = (struct rs_strbuf){0};
}
