#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct rs_arena_block {
    struct rs_arena_block *next;
    alignas(max_align_t) unsigned char bytes[];
};

#ifdef RS_FUZZED
enum { BLOCK_BYTES = 1024 }; /* small: sanitizers notice reads beyond it, and tests build many small models quickly */
#else
enum { BLOCK_BYTES = 64 * 1024 };
#endif
enum { ALIGN = alignof(max_align_t) };

void *rs_arena_alloc(struct rs_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGN - sizeof(struct rs_arena_block)) rs_memory_out();
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->blocks || a->size - a->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct rs_arena_block *b = rs_zalloc(1, sizeof *b + size);
        b->next = a->blocks;
        a->blocks = b;
        a->size = size;
        a->used = 0;
    }
    void *piece = a->blocks->bytes + a->used;
    a->used += bytes;
    return piece;
}

char *rs_arena_text(struct rs_arena *a, const char *text, size_t n)
{
    return memcpy(rs_arena_alloc(a, n + 1), text, n);
}

void rs_arena_free(struct rs_arena *a)
{
    while (a->blocks) {
        struct rs_arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    *a = (struct rs_arena){0};
}
