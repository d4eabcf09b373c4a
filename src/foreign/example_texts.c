#include "foreign/example_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"

enum { MOST_TEXTS = 65535 };

static uint64_t hash_text(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    while (*text) h = (h ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return h;
}

enum rs_status rs_example_text_id(struct rs_example_texts *t, const char *text, uint16_t *id, struct rs_err *err)
{
    *id = 0;
    if (!t->n) {
        RS_ROOM(t->rows, t->n, t->cap, err);
        t->rows[t->n++] = "";
    }
    if (!*text) return RS_OK;
    for (uint64_t key = hash_text(text);; key++) {
        uint64_t *found;
        RS_TRY(rs_map_at(&t->ids, key, 0, &found, err));
        if (*found && !strcmp(t->rows[*found], text)) {
            *id = (uint16_t)*found;
            return RS_OK;
        }
        if (*found) continue;
        if (t->n >= MOST_TEXTS) {
            rs_map_delete(&t->ids, key);
            *id = MOST_TEXTS - 1;
            return RS_OK;
        }
        RS_ROOM(t->rows, t->n, t->cap, err);
        if (t->n == MOST_TEXTS - 1) text = "?";
        t->rows[t->n] = rs_arena_text(&t->arena, text, strlen(text));
        if (!t->rows[t->n]) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        *found = t->n;
        *id = (uint16_t)t->n++;
        return RS_OK;
    }
}

void rs_example_texts_free(struct rs_example_texts *t)
{
    rs_arena_free(&t->arena);
    rs_map_free(&t->ids);
    free(t->rows);
    *t = (struct rs_example_texts){0};
}
