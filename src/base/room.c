#include "base/room.h"

#include "base/memory.h"

enum { FIRST = 64 };

void rs_room(void **rows, uint32_t n, uint32_t *cap, size_t bytes)
{
    if (n < *cap) return;
    if (n == UINT32_MAX - 1) rs_memory_end("more than 4 billion rows of one kind");
    uint32_t more = n < FIRST ? FIRST : n > UINT32_MAX / 2 - 1 ? UINT32_MAX - 1 : 2 * n;
    *rows = rs_realloc(*rows, more * bytes);
    *cap = more;
}
