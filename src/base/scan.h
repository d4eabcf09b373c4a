/* A tolerant pull scanner for JSON and almost-JSON as tools write it.
 *
 * Returns one token at a time from bytes of any length, in bounded memory. It accepts what real dumps contain: trailing
 * and missing commas, bare words (ncclFloat32, inf), bare 0x numbers, typographic quotes, unescaped quotes and control
 * characters in strings, missing values, a text that ends anywhere. Numbers stay text: the functions below convert
 * fixed-point times and 64-bit integers exactly. The scanner keeps track of nesting only. The struct borrows the bytes,
 * and owns its buffer until rs_scan_free(). One thread at a time. */
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
    RS_T_CLOSE, /* } or ]; `depth` is without the level that it closed, and stays 0 if there is one too many */
    RS_T_KEY, /* text, n: a key of the object. A value (an empty word if it is missing) or the end follows */
    RS_T_STRING, /* text, n: without the quotes, escapes as they are (rs_scan_text() resolves them) */
    RS_T_NUMBER, /* text, n: begins like a number; the functions below say whether it is one */
    RS_T_WORD, /* text, n: true, false, null, or any other bare word */
};

struct rs_scan {
    const char *text; /* of the token; valid until the next call */
    size_t n;
    unsigned depth; /* objects and arrays that are open, the token's own included */
    uint64_t offset; /* of the token in the decompressed bytes: for messages */
    bool cut; /* the input ended inside a value */
    /* the scanner's own: */
    bool object; /* the innermost level is one */
    bool want_key; /* inside an object: the next string is a key */
    bool want_value; /* the last token was a key */
    enum rs_token last;
    const char *start, *at, *end; /* bytes available; those not consumed begin at `at` */
    const char *plain_end; /* of a plain file, which is mapped but scanned in windows */
    uint64_t start_offset;
    struct rs_bytes *bytes; /* NULL: memory, or no more */
    char *buffer; /* decompressed bytes are joined here, so that no token is split between blocks */
    size_t cap;
    uint64_t nesting[16]; /* bit d: level d is an object. Deeper than 1024 levels keys are strings */
    struct rs_err err; /* why the input ended early */
};

/* Over the bytes of a file, or over memory. */
void rs_scan_bytes(struct rs_scan *s, struct rs_bytes *bytes);
void rs_scan_memory(struct rs_scan *s, const char *text, size_t n);
void rs_scan_free(struct rs_scan *s);

enum rs_token rs_scan_next(struct rs_scan *s);
/* Skips a value: after a key its value, after { or [ everything up to and including the closing bracket; after any
 * other token nothing. Fast. */
void rs_scan_skip(struct rs_scan *s);
void rs_scan_leave(struct rs_scan *s, unsigned depth); /* skips until fewer than `depth` (> 0) levels are open */

/* Compare or convert the token's text. False: it is not such a value, and *v is unchanged. */
static inline bool rs_scan_is(const struct rs_scan *s, const char *word)
{
    return strlen(word) == s->n && !memcmp(s->text, word, s->n);
}
bool rs_scan_u64(const struct rs_scan *s, uint64_t *v); /* decimal or 0x, also inside a string; exact up to 2^64 - 1 */
bool rs_scan_i64(const struct rs_scan *s, int64_t *v); /* the same with a sign; a fraction is rounded */
bool rs_scan_double(const struct rs_scan *s, double *v); /* also inf, nan */
/* A decimal number times 10^digits, exact, half rounded away from 0: "4458676524648.797" with 3 is 4458676524648797. */
bool rs_scan_fixed(const struct rs_scan *s, unsigned digits, int64_t *v);
/* The text with escapes resolved (\u too, as UTF-8), truncated between characters to fit; always terminated. A NUL
 * inside and half a surrogate pair become U+FFFD. Returns its length. */
size_t rs_scan_text(const struct rs_scan *s, char *to, size_t bytes);

#endif
