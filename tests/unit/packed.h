/* Packs bytes as gzip and zstd do, for the tests of what unpacks them. `data` is the caller's to free. */
#ifndef RS_TESTS_PACKED_H
#define RS_TESTS_PACKED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifndef RS_NO_ZLIB
#include <zlib.h>
#endif
#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

#include "base/bytes.h"

enum { RS_GZIP = 1, RS_ZSTD }; /* of the table in base/compression.c */

struct packed {
    char *data;
    size_t n;
};

static inline bool can_pack(int packing)
{
#ifdef RS_NO_ZLIB
    if (packing == RS_GZIP) return false;
#endif
#ifdef RS_NO_ZSTD
    if (packing == RS_ZSTD) return false;
#endif
    return packing <= RS_ZSTD;
}

static inline void append(struct packed *p, const void *data, size_t n)
{
    p->data = realloc(p->data, p->n + n + 1);
    if (!p->data) abort();
    if (n) memcpy(p->data + p->n, data, n);
    p->n += n;
}

/* Puts one more member or frame behind what there is. */
static inline void pack(struct packed *p, int packing, const void *data, size_t n)
{
    size_t cap = n + n / 8 + 1024;
    char *room = malloc(cap);
    if (!room) abort();
    if (packing == RS_PLAIN) append(p, data, n);
#ifndef RS_NO_ZLIB
    if (packing == RS_GZIP) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)n};
        z.next_out = (Bytef *)room;
        z.avail_out = (uInt)cap;
        if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
        if (deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
        append(p, room, cap - z.avail_out);
        deflateEnd(&z);
    }
#endif
#ifndef RS_NO_ZSTD
    if (packing == RS_ZSTD) {
        size_t packed = ZSTD_compress(room, cap, data, n, 1);
        if (ZSTD_isError(packed)) abort();
        append(p, room, packed);
    }
#endif
    free(room);
}

#endif
