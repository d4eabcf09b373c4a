#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"

/* Where the id of a text stands in the map; NULL: it is new, and *key is free for it. */
static const uint64_t *find(const struct rs_texts *t, const char *text, size_t n, uint64_t *key)
{
    for (*key = rs_mix_bytes(0, text, n);; ++*key) {
        const uint64_t *id = rs_map_find(&t->ids, *key);
        if (!id || (t->rows[*id].n == n && !memcmp(t->rows[*id].text, text, n))) return id;
    }
}

static enum rs_status add(struct rs_texts *t, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    RS_ROOM(t->rows, t->n, t->cap, err);
    const char *copy = rs_arena_text(&t->arena, text, n);
    if (!copy) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    *id = t->n;
    t->rows[t->n++] = (struct rs_texts_row){copy, n};
    return RS_OK;
}

enum rs_status rs_texts_id(struct rs_texts *t, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    *id = 0;
    if (!t->n) RS_TRY(add(t, "", 0, id, err));
    if (!n) return RS_OK;
    uint64_t key;
    const uint64_t *known = find(t, text, n, &key);
    if (known) {
        *id = (uint32_t)*known;
        return RS_OK;
    }
    RS_TRY(add(t, text, n, id, err));
    return rs_map_put(&t->ids, key, *id, err);
}

enum rs_status rs_texts_small_id(struct rs_texts *t, const char *text, size_t n, uint16_t *id, struct rs_err *err)
{
    uint32_t wide;
    uint64_t key;
    *id = 0;
    if (!n) return RS_OK;
    bool full = t->n >= RS_TEXTS_SMALL - 1 && !find(t, text, n, &key); /* the last place is kept for "?" */
    RS_TRY(full ? rs_texts_id(t, "?", 1, &wide, err) : rs_texts_id(t, text, n, &wide, err));
    *id = (uint16_t)wide;
    return RS_OK;
}

void rs_texts_free(struct rs_texts *t)
{
    rs_arena_free(&t->arena);
    rs_map_free(&t->ids);
    free(t->rows);
    *t = (struct rs_texts){0};
}
