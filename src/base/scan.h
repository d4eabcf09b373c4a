/* A tolerant pull scanner for JSON and what tools write in its place.
 *
 * Gives one token after the other over bytes of any length, in bounded memory. It accepts what real dumps hold:
 * trailing and missing commas, bare words (ncclFloat32, inf), bare 0x numbers, typographic quotes, quotes that nobody
 * escaped, control characters in strings, values that are missing, a text that ends anywhere. Numbers stay text:
 * fixed-point times and 64-bit integers are taken out exactly by the functions below. The caller keeps track of
 * meaning, the scanner of nesting. The struct borrows the bytes, and owns its buffer until rs_scan_free(). One thread
 * at a time. */
#ifndef RS_BASE_SCAN_H
#define RS_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

enum rs_token {
    RS_T_END, /* of the input; everything open is closed. See `cut` and `err` */
    RS_T_OBJECT, /* { */
    RS_T_ARRAY, /* [ */
    RS_T_CLOSE, /* } or ]; `depth` is without the level that it closed, and stays 0 at one too many */
    RS_T_KEY, /* text, n: a key of the object. A value follows always (an empty word where there is none), or the end */
    RS_T_STRING, /* text, n: without the quotes, escapes as they are (rs_scan_text() resolves them) */
    RS_T_NUMBER, /* text, n: begins like a number; whether it is one, the functions below say */
    RS_T_WORD, /* text, n: true, false, null, or any other bare word */
};

struct rs_scan {
    const char *text; /* of the token; good until the next call */
    size_t n;
    unsigned depth; /* objects and arrays that are open, the token's own included */
    uint64_t offset; /* of the token in the unpacked bytes: for messages */
    bool cut; /* the input ended within something */
    /* the scanner's own: */
    bool object; /* the innermost level is one */
    bool want_key; /* inside an object: the next string is a key */
    bool want_value; /* a key came last */
    enum rs_token last;
    const char *start, *at, *end; /* what is at hand; the part that was not taken begins at `at` */
    const char *plain_end; /* of a plain file, all of which is there, but looked at in windows */
    uint64_t start_offset;
    struct rs_bytes *bytes; /* NULL: memory, or no more */
    char *buffer; /* unpacked bytes are put together here, so that no token lies across blocks */
    size_t cap;
    uint64_t nesting[16]; /* bit d: level d is an object. Below 1024 levels keys come as strings */
    struct rs_err err; /* why the bytes broke off */
};

/* Over the bytes of a file, or over memory. */
void rs_scan_bytes(struct rs_scan *s, struct rs_bytes *bytes);
void rs_scan_memory(struct rs_scan *s, const char *text, size_t n);
void rs_scan_free(struct rs_scan *s);

enum rs_token rs_scan_next(struct rs_scan *s);
/* Goes to the end of the value at hand: behind a key that of its value, behind { or [ the bracket that closes it,
 * which is taken; behind any other token it stays. So whatever is not wanted can be skipped. Fast. */
void rs_scan_skip(struct rs_scan *s);
void rs_scan_leave(struct rs_scan *s, unsigned depth); /* goes on until fewer than `depth` (> 0) levels are open */

/* The token's text compared, and taken out. False: it is not such a thing, and *v is as it was. */
static inline bool rs_scan_is(const struct rs_scan *s, const char *word)
{
    return strlen(word) == s->n && !memcmp(s->text, word, s->n);
}
bool rs_scan_u64(const struct rs_scan *s, uint64_t *v); /* decimal or 0x, also inside a string; exact up to 2^64 - 1 */
bool rs_scan_i64(const struct rs_scan *s, int64_t *v); /* the same with a sign; a fraction is rounded */
bool rs_scan_double(const struct rs_scan *s, double *v); /* also inf, nan */
/* A decimal number times 10^digits, exact, half rounded away from 0: "4458676524648.797" with 3 is 4458676524648797. */
bool rs_scan_fixed(const struct rs_scan *s, unsigned digits, int64_t *v);
/* The text with escapes resolved (\u too, as UTF-8), cut to fit between characters; always ended, and without a NUL
 * inside (U+FFFD stands for it, and for half a surrogate pair). Returns its length. */
size_t rs_scan_text(const struct rs_scan *s, char *to, size_t bytes);

#endif
