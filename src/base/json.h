/* A streaming JSON writer: objects, arrays and values go straight to a FILE, a string or a function of the caller.
 *
 * The writer adds commas, colons and escapes. Strings become valid UTF-8 (an invalid byte becomes U+FFFD). Text is
 * collected in a buffer inside the struct and written when that is full and at rs_json_finish(). After the first
 * failure (disk full, closed pipe) everything is dropped, and rs_json_finish() reports it. Wrong nesting is a bug and
 * is asserted. The struct is large (keep it off small stacks), owns nothing, and belongs to one thread at a time.
 *
 *     struct rs_json j;
 *     rs_json_to_file(&j, stdout, "standard output");
 *     rs_json_object(&j);
 *     rs_json_key_str(&j, "host", host);
 *     rs_json_key(&j, "ranks");
 *     rs_json_array(&j);
 *     rs_json_u64(&j, 3);
 *     rs_json_end(&j);
 *     rs_json_end(&j);
 *     rs_json_newline(&j);
 *     return rs_json_finish(&j, err);                                   {"host":"n1","ranks":[3]}
 */
#ifndef RS_BASE_JSON_H
#define RS_BASE_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rs_strbuf;

/* Takes all `n` bytes or fails. */
typedef enum rs_status (*rs_json_write_fn)(void *to, const void *bytes, size_t n, struct rs_err *err);

enum { RS_JSON_BUFFER = 32768, RS_JSON_MAX_DEPTH = 64 };

struct rs_json {
    rs_json_write_fn write;
    void *to;
    const char *name; /* of the output, for messages; the caller's */
    size_t len; /* bytes in buf */
    unsigned depth; /* open objects and arrays */
    uint64_t is_object; /* bit d: level d is an object */
    uint64_t has_items; /* bit d: level d is not empty, so a comma comes first */
    bool after_key; /* a key was written, its value comes next */
    struct rs_err err; /* the first failure */
    char buf[RS_JSON_BUFFER];
};

void rs_json_to_file(struct rs_json *j, FILE *file, const char *name);
void rs_json_to(struct rs_json *j, rs_json_write_fn write, void *to, const char *name);
/* Appends to `text`, which stays the caller's. */
void rs_json_to_text(struct rs_json *j, struct rs_strbuf *text, const char *name);

void rs_json_object(struct rs_json *j);
void rs_json_array(struct rs_json *j);
void rs_json_end(struct rs_json *j); /* of the innermost object or array */

/* Each key of an object is followed by one value. */
void rs_json_key(struct rs_json *j, const char *key);
/* The same for n letters, digits and underscores: faster. */
void rs_json_plain_key(struct rs_json *j, const char *key, size_t n);

void rs_json_str(struct rs_json *j, const char *text); /* NULL is written as null */
void rs_json_strn(struct rs_json *j, const char *text, size_t n);
void rs_json_u64(struct rs_json *j, uint64_t value);
void rs_json_i64(struct rs_json *j, int64_t value);
void rs_json_double(struct rs_json *j, double value); /* shortest text that reads back the same; NaN, Inf: null */
void rs_json_thousandths(struct rs_json *j, int64_t value); /* ns as us: 1234 is 1.234, 5000 is 5, exactly */
void rs_json_bool(struct rs_json *j, bool value);
void rs_json_null(struct rs_json *j);
void rs_json_hex(struct rs_json *j, uint64_t value); /* "0x" and 16 digits: for hashes and ids above 2^53 */

/* Key and value in one call. */
void rs_json_key_str(struct rs_json *j, const char *key, const char *text);
void rs_json_key_u64(struct rs_json *j, const char *key, uint64_t value);
void rs_json_key_i64(struct rs_json *j, const char *key, int64_t value);
void rs_json_key_number_or_null(struct rs_json *j, const char *key, int64_t value); /* null (unknown) if negative */
void rs_json_key_double(struct rs_json *j, const char *key, double value);
void rs_json_key_bool(struct rs_json *j, const char *key, bool value);
void rs_json_key_null(struct rs_json *j, const char *key);
void rs_json_key_hex(struct rs_json *j, const char *key, uint64_t value);

/* Ends a line: between top-level values (JSON Lines), or after an item of an array, for legibility. */
void rs_json_newline(struct rs_json *j);

/* True once a write failed: a long job may stop early. */
static inline bool rs_json_failed(const struct rs_json *j)
{
    return j->err.code != RS_OK;
}

/* Writes out the buffer, so that others may write to the same FILE. */
void rs_json_flush(struct rs_json *j);

/* Flushes (the FILE too) and says whether everything was written. Everything opened must have been ended, unless a
 * failure is being reported. */
enum rs_status rs_json_finish(struct rs_json *j, struct rs_err *err);

#endif
