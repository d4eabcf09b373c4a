#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"

/* The id of a text in the map; NULL: it is new, and *key is free for it. */
static const uint64_t *find(const struct rs_texts *t, const char *text, size_t n, uint64_t *key)
{
    for (*key = rs_mix_bytes(0, text, n);; ++*key) {
        const uint64_t *id = rs_map_find(&t->ids, *key);
        if (!id || (t->rows[*id].n == n && !memcmp(t->rows[*id].text, text, n))) return id;
    }
}

static void add(struct rs_texts *t, const char *text, size_t n, uint32_t *id)
{
    RS_ROOM(t->rows, t->n, t->cap);
    const char *copy = rs_arena_text(&t->arena, text, n);
    *id = t->n;
    t->rows[t->n++] = (struct rs_texts_row){copy, n};
}

void rs_texts_id(struct rs_texts *t, const char *text, size_t n, uint32_t *id)
{
    *id = 0;
    if (!t->n) add(t, "", 0, id);
    if (!n) return;
    uint64_t key;
    const uint64_t *known = find(t, text, n, &key);
    if (known) {
        *id = (uint32_t)*known;
        return;
    }
    add(t, text, n, id);
    rs_map_put(&t->ids, key, *id);
}

void rs_texts_small_id(struct rs_texts *t, const char *text, size_t n, uint16_t *id)
{
    uint32_t wide;
    uint64_t key;
    *id = 0;
    if (!n) return;
    bool full = t->n >= RS_TEXTS_SMALL - 1 && !find(t, text, n, &key); /* the last place is kept for "?" */
    if (full)
        rs_texts_id(t, "?", 1, &wide);
    else
        rs_texts_id(t, text, n, &wide);
    *id = (uint16_t)wide;
}

void rs_texts_free(struct rs_texts *t)
{
    rs_arena_free(&t->arena);
    rs_map_free(&t->ids);
    free(t->rows);
    *t = (struct rs_texts){0};
}
