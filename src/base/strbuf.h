/* A byte string that grows.
 *
 * A zeroed struct is an empty string. The struct owns its bytes until rs_strbuf_free() or rs_strbuf_take(). A
 * string belongs to one thread at a time. */
#ifndef RS_BASE_STRBUF_H
#define RS_BASE_STRBUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct rs_strbuf {
    char *data; /* data[len] is 0 whenever data is not NULL */
    size_t len; /* bytes in use, without the final 0 */
    size_t cap; /* bytes allocated */
};

void rs_strbuf_add(struct rs_strbuf *s, const void *bytes, size_t n);
void rs_strbuf_puts(struct rs_strbuf *s, const char *text);
void rs_strbuf_putc(struct rs_strbuf *s, char c);
void rs_strbuf_printf(struct rs_strbuf *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends `text` as one word of a POSIX shell command line, in single quotes. */
void rs_strbuf_shell_quote(struct rs_strbuf *s, const char *text);

/* The text so far, never NULL; valid until the next append. */
const char *rs_strbuf_borrow(const struct rs_strbuf *s);

/* Empties the string and keeps the memory. */
void rs_strbuf_clear(struct rs_strbuf *s);

/* Hands over the text: *text is to be freed with free(), and `s` is empty again. */
void rs_strbuf_take(struct rs_strbuf *s, char **text);

void rs_strbuf_free(struct rs_strbuf *s);

#endif
