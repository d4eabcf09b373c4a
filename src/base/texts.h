/* Interned texts: each is stored once and has an id; 0 is "", the others count from 1 in the order of addition.
 *
 * A zeroed struct is an empty one. It owns its texts until rs_texts_free(); they do not move. One thread at a time. */
#ifndef RS_BASE_TEXTS_H
#define RS_BASE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

struct rs_texts_row {
    const char *text; /* 0-terminated */
    size_t n;
};

struct rs_texts {
    struct rs_arena arena;
    struct rs_map ids; /* hash -> id; texts with the same hash take the next keys */
    struct rs_texts_row *rows; /* by id */
    uint32_t n, cap;
};

enum { RS_TEXTS_SMALL = UINT16_MAX }; /* as many as ids of 16 bits can name */

/* The id of the first `n` bytes of `text`, added if new. */
void rs_texts_id(struct rs_texts *t, const char *text, size_t n, uint32_t *id);
/* The same for ids of 16 bits: at most RS_TEXTS_SMALL texts; the rest share the id of "?". */
void rs_texts_small_id(struct rs_texts *t, const char *text, size_t n, uint16_t *id);
void rs_texts_free(struct rs_texts *t);

/* The text of an id; "" where there is none. */
static inline const char *rs_texts_at(const struct rs_texts *t, uint32_t id)
{
    return id < t->n ? t->rows[id].text : "";
}

#endif
