#include "base/compression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifndef RS_NO_ZLIB
#include <zlib.h>
#endif
#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

#include "base/file.h"
#include "base/memory.h"

enum { OUT_BYTES = 1 << 16, IN_BYTES = 1 << 18, GZIP_LEVEL = 6, ZSTD_LEVEL = 3 };

/* Unused in a build without libraries. */
__attribute__((unused)) static void breaks(struct rs_compressed *from, const char *trouble, const char *why)
{
    from->done = true;
    from->trouble = trouble;
    from->why = why;
}

__attribute__((unused)) static bool hand_on(FILE *to, const char *bytes, size_t n)
{
    errno = 0;
    if (!n || fwrite(bytes, 1, n, to) == n) return true;
    if (!errno) errno = EIO;
    return false;
}

/* ---- gzip ---- */

static bool is_gzip(const uint8_t *data, size_t n)
{
    return n >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

#ifndef RS_NO_ZLIB
enum { WINDOW = 15, GZIP_HEADER = 16 };

static void *open_gzip(void)
{
    z_stream *z = rs_zalloc(1, sizeof *z);
    if (inflateInit2(z, WINDOW + GZIP_HEADER) == Z_OK) return z;
    free(z);
    return NULL;
}

static void close_gzip(void *stream)
{
    inflateEnd(stream);
    free(stream);
}

/* After a member: concatenated files are one, and zeros are padding. */
static void next_member(z_stream *z, struct rs_compressed *from)
{
    const uint8_t *rest = from->data + from->at;
    size_t left = from->size - from->at, zeros = 0;
    if (is_gzip(rest, left) && inflateReset(z) == Z_OK) return;
    while (zeros < left && !rest[zeros]) zeros++;
    from->done = true;
    if (zeros < left) breaks(from, "is followed by something else", NULL);
}

static size_t gunzip(void *stream, struct rs_compressed *from, char *to, size_t room)
{
    z_stream *z = stream;
    size_t left = from->size - from->at;
    z->next_in = (Bytef *)(uintptr_t)(from->data + from->at);
    z->avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)room;
    uInt before = z->avail_in;
    int result = inflate(z, Z_NO_FLUSH);
    from->at += before - z->avail_in;
    size_t n = room - z->avail_out;
    if (result == Z_STREAM_END) {
        next_member(z, from);
    } else if (result == Z_BUF_ERROR && !n) { /* neither a byte in nor one out */
        breaks(from, "is cut off here", NULL);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        breaks(from, "is broken", z->msg);
    }
    return n;
}

struct gzip {
    z_stream z;
    char out[OUT_BYTES];
};

static void *new_gzip(void)
{
    struct gzip *g = rs_zalloc(1, sizeof *g);
    if (deflateInit2(&g->z, GZIP_LEVEL, Z_DEFLATED, WINDOW + GZIP_HEADER, 8, Z_DEFAULT_STRATEGY) == Z_OK) return g;
    free(g);
    return NULL;
}

static void close_new_gzip(void *stream)
{
    struct gzip *g = stream;
    deflateEnd(&g->z);
    free(g);
}

static bool gzip(void *stream, const char *bytes, size_t n, bool end, FILE *to)
{
    struct gzip *g = stream;
    z_stream *z = &g->z;
    int done = Z_OK;
    while (n || end) {
        uInt part = n > IN_BYTES ? IN_BYTES : (uInt)n;
        z->next_in = (Bytef *)(uintptr_t)bytes;
        z->avail_in = part;
        do {
            z->next_out = (Bytef *)g->out;
            z->avail_out = OUT_BYTES;
            done = deflate(z, end && part == n ? Z_FINISH : Z_NO_FLUSH);
            if (!hand_on(to, g->out, OUT_BYTES - z->avail_out)) return false;
        } while (z->avail_out == 0 && done != Z_STREAM_END);
        if (part) bytes += part; /* NULL if there are none */
        n -= part;
        if (end && !n) return done == Z_STREAM_END || (errno = EIO, false);
    }
    return true;
}
#endif

/* ---- zstd ---- */

static bool is_zstd(const uint8_t *data, size_t n)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    if (n >= 4 && !memcmp(data, frame, sizeof frame)) return true;
    /* pzstd begins with a skippable frame */
    return n >= 4 && data[0] >> 4 == 5 && !memcmp(data + 1, skippable, sizeof skippable);
}

#ifndef RS_NO_ZSTD
struct unzstd {
    ZSTD_DStream *z;
    size_t hint; /* compressed bytes up to the end of the block */
};

static void close_zstd(void *stream)
{
    struct unzstd *u = stream;
    ZSTD_freeDStream(u->z);
    free(u);
}

static void *open_zstd(void)
{
    struct unzstd *u = rs_zalloc(1, sizeof *u);
    u->z = ZSTD_createDStream();
    if (u->z) u->hint = ZSTD_initDStream(u->z);
    if (u->z && !ZSTD_isError(u->hint)) return u;
    close_zstd(u);
    return NULL;
}

/* When zstd fails it does not say what it had written, so it gets one of its blocks at a time: everything before the
 * damaged block is kept. */
static size_t unzstd(void *stream, struct rs_compressed *from, char *to, size_t room)
{
    struct unzstd *u = stream;
    size_t left = from->size - from->at;
    ZSTD_inBuffer in = {from->data + from->at, left < u->hint ? left : u->hint, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(u->z, &out, &in);
    if (ZSTD_isError(result)) {
        breaks(from, "is broken", ZSTD_getErrorName(result));
        return 0;
    }
    from->at += in.pos;
    if (from->at == from->size && !result) {
        from->done = true; /* the end of the last frame */
    } else if (from->at == from->size && out.pos < room) {
        breaks(from, "is cut off here", NULL);
    }
    u->hint = result ? result : ZSTD_initDStream(u->z);
    return out.pos;
}

struct zstd {
    ZSTD_CStream *z;
    char out[OUT_BYTES];
};

static void close_new_zstd(void *stream)
{
    struct zstd *s = stream;
    ZSTD_freeCStream(s->z);
    free(s);
}

static void *new_zstd(void)
{
    struct zstd *s = rs_zalloc(1, sizeof *s);
    s->z = ZSTD_createCStream();
    if (s->z && !ZSTD_isError(ZSTD_CCtx_setParameter(s->z, ZSTD_c_compressionLevel, ZSTD_LEVEL))) return s;
    close_new_zstd(s);
    return NULL;
}

static bool zstd(void *stream, const char *bytes, size_t n, bool end, FILE *to)
{
    struct zstd *s = stream;
    ZSTD_inBuffer in = {bytes, n, 0};
    for (;;) {
        ZSTD_outBuffer out = {s->out, OUT_BYTES, 0};
        size_t left = ZSTD_compressStream2(s->z, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return errno = EIO, false;
        if (!hand_on(to, s->out, out.pos)) return false;
        if (end ? !left : in.pos == in.size) return true;
    }
}
#endif

/* ---- the table ---- */

static const struct rs_compression table[] = {
    {.name = "gzip",
     .library = "zlib",
     .suffix = ".gz",
     .is = is_gzip,
#ifndef RS_NO_ZLIB
     .open = open_gzip,
     .decompress = gunzip,
     .close = close_gzip,
     .open_new = new_gzip,
     .compress = gzip,
     .close_new = close_new_gzip
#endif
    },
    {.name = "zstd",
     .library = "zstd",
     .suffix = ".zst",
     .is = is_zstd,
#ifndef RS_NO_ZSTD
     .open = open_zstd,
     .decompress = unzstd,
     .close = close_zstd,
     .open_new = new_zstd,
     .compress = zstd,
     .close_new = close_new_zstd
#endif
    },
};
enum { N = sizeof table / sizeof *table };

const struct rs_compression *rs_compression_at(int packing)
{
    return packing > 0 && packing <= N ? &table[packing - 1] : NULL;
}

int rs_compression_recognise(const uint8_t *data, size_t n)
{
    for (int i = 0; i < N; i++)
        if (table[i].is(data, n)) return i + 1;
    return RS_PLAIN;
}

int rs_compression_of(const char *name)
{
    for (int i = 0; name && i < N; i++)
        if (rs_name_ending(name, strlen(name), table[i].suffix)) return i + 1;
    return RS_PLAIN;
}

size_t rs_compression_stem(const char *name)
{
    int packing = rs_compression_of(name);
    return strlen(name) - (packing ? strlen(table[packing - 1].suffix) : 0);
}
