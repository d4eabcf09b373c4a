/* Values as Python and JSON know them: what the readers of structured foreign files give.
 *
 * Values are in the arena of their builder; a text may instead be in the bytes that were read, which must then live as
 * long. Nothing is freed alone. A pickle may hold one value in several places, or within itself: code that walks
 * values must count its steps. Read by any thread once built. */
#ifndef RS_FOREIGN_FLIGHT_VALUE_H
#define RS_FOREIGN_FLIGHT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/scan.h"

enum rs_value_kind {
    RS_V_NONE,
    RS_V_BOOL, /* i */
    RS_V_INT, /* i */
    RS_V_DOUBLE, /* d; also integers of more than 64 bits */
    RS_V_TEXT, /* text, n; bytes too; not ended with a 0 */
    RS_V_LIST, /* items, n; sets too */
    RS_V_TUPLE, /* items, n */
    RS_V_DICT, /* items, n: key, value, key, value; of equal keys the last counts */
    RS_V_TAG, /* the name of something that Python would run, never run here; items: its arguments. rs_value_plain() */
};

struct rs_value {
    uint8_t kind;
    bool cut; /* the input ended inside */
    uint32_t n, cap;
    const char *name; /* of a tag: "module name" */
    union {
        int64_t i;
        double d;
        const char *text;
        struct rs_value **items;
    };
};

/* Builds values, up to `most` bytes of them. */
struct rs_value_builder {
    struct rs_arena *arena;
    uint64_t held, most;
};

/* NULL: `most` is reached. */
struct rs_value *rs_value_new(struct rs_value_builder *b, enum rs_value_kind kind);
char *rs_value_chars(struct rs_value_builder *b, size_t n); /* n + 1 zeroed bytes */
bool rs_value_add(struct rs_value_builder *b, struct rs_value *to, struct rs_value *item);

/* The JSON value that comes next in `s`, up to 64 levels deep (NULL below that). *end: there was none, since the
 * enclosing list or object, or the input, has ended. False: no memory. */
bool rs_value_scan(struct rs_value_builder *b, struct rs_scan *s, struct rs_value **value, bool *end);

/* The data that a tag wraps: its list or dict argument. Other values are what they are. NULL stays
 * NULL. */
const struct rs_value *rs_value_plain(const struct rs_value *v);
bool rs_value_is_list(const struct rs_value *v); /* a list or tuple */
bool rs_value_is(const struct rs_value *v, const char *text);
/* Value of a key; NULL: none, or no dict. */
const struct rs_value *rs_value_get(const struct rs_value *dict, const char *key);
/* Numbers also from texts and booleans; `otherwise` when it is none or does not fit. */
int64_t rs_value_i64(const struct rs_value *v, int64_t otherwise);
double rs_value_double(const struct rs_value *v, double otherwise);

#endif
