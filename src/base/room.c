#include "base/room.h"

#include <stdlib.h>

enum { FIRST = 64 };

enum rs_status rs_room(void **rows, uint32_t n, uint32_t *cap, size_t bytes, struct rs_err *err)
{
    if (n < *cap) return RS_OK;
    if (n == UINT32_MAX - 1) return rs_fail(err, RS_BAD_INPUT, "more than 4 billion rows of one kind");
    uint32_t more = n < FIRST ? FIRST : n > UINT32_MAX / 2 - 1 ? UINT32_MAX - 1 : 2 * n;
    void *p = realloc(*rows, more * bytes);
    if (!p) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    *rows = p;
    *cap = more;
    return RS_OK;
}
