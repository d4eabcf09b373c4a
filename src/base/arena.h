/* An arena: small allocations that are freed together.
 *
 * A zeroed struct is an empty arena. Memory is zeroed, aligned for any type, and valid until rs_arena_free(). An arena
 * belongs to one thread at a time. */
#ifndef RS_BASE_ARENA_H
#define RS_BASE_ARENA_H

#include <stddef.h>

struct rs_arena {
    struct rs_arena_block *blocks; /* the newest first */
    size_t used, size; /* bytes of the newest block */
};

void *rs_arena_alloc(struct rs_arena *arena, size_t bytes);
/* A copy of the first `n` bytes of `text`, ended with a 0. */
char *rs_arena_text(struct rs_arena *arena, const char *text, size_t n);
void rs_arena_free(struct rs_arena *arena);

#endif
