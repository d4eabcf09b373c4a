#include "export/perfetto/wire.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"

void rs_wire_free(struct rs_wire *w)
{
    free(w->data);
    *w = (struct rs_wire){0};
}

void rs_wire_grow(struct rs_wire *w, size_t more)
{
    size_t cap = w->cap ? w->cap : 256;
    while (cap - w->n < more && cap < SIZE_MAX / 2) cap *= 2;
    if (cap - w->n < more) rs_memory_out();
    w->data = rs_realloc(w->data, cap);
    w->cap = cap;
}

void rs_wire_string(struct rs_wire *w, uint32_t field, const char *text)
{
    struct rs_strbuf room = {0};
    size_t n = strlen(text);
    const char *whole = rs_utf8_whole(text, &n, &room);
    rs_wire_bytes(w, field, whole, n);
    rs_strbuf_free(&room);
}
