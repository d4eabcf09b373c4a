#include "base/bytes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifndef RS_NO_ZLIB
#include <zlib.h>
#endif
#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

#include "base/file.h"

enum { BLOCK_BYTES = 1 << 18, REST_STEP = 1 << 20 };

struct rs_bytes {
    char *path;
    struct rs_file_map file;
    bool borrowed; /* the bytes are the caller's */
    enum rs_compression packing;
    size_t at; /* packed bytes taken */
    size_t rested; /* plain bytes in front whose memory was let go; a multiple of REST_STEP */
    char *block; /* of unpacked bytes */
    size_t block_bytes;
    size_t held; /* bytes in `block` that nobody has taken */
    bool done;
#ifndef RS_NO_ZLIB
    z_stream gzip;
    bool gzip_open;
#endif
#ifndef RS_NO_ZSTD
    ZSTD_DStream *zstd;
    size_t hint; /* packed bytes that take zstd to the end of its block */
#endif
    struct rs_err broken; /* found while unpacking; told when the bytes before it are taken */
};

static bool is_gzip(const uint8_t *data, size_t n)
{
    return n >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static enum rs_compression recognise(const uint8_t *data, size_t n)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    if (is_gzip(data, n)) return RS_GZIP;
    if (n >= 4 && !memcmp(data, frame, sizeof frame)) return RS_ZSTD;
    /* pzstd begins with a frame that is to be skipped */
    if (n >= 4 && data[0] >> 4 == 5 && !memcmp(data + 1, skippable, sizeof skippable)) return RS_ZSTD;
    return RS_PLAIN;
}

/* Unused where neither library is there. */
__attribute__((unused)) static void breaks(struct rs_bytes *b, const char *packing, const char *what, const char *why)
{
    b->done = true;
    rs_fail(&b->broken, RS_BAD_INPUT, "%s: at byte %zu: the %s stream %s%s%s%s", b->path, b->at, packing, what,
            why ? " (" : "", why ? why : "", why ? ")" : "");
}

/* ---- gzip ---- */

#ifdef RS_NO_ZLIB
static enum rs_status open_gzip(struct rs_bytes *b, struct rs_err *err)
{
    return rs_fail(err, RS_FAILED,
                   "%s: is packed with gzip, and this ringscope was built without zlib: unpack it first", b->path);
}

static void close_gzip(struct rs_bytes *b)
{
    (void)b;
}

static size_t inflate_some(struct rs_bytes *b, char *to, size_t room)
{
    (void)to;
    (void)room;
    b->done = true;
    return 0;
}
#else
static enum rs_status open_gzip(struct rs_bytes *b, struct rs_err *err)
{
    b->gzip_open = inflateInit2(&b->gzip, 15 + 16) == Z_OK;
    return b->gzip_open ? RS_OK : rs_fail(err, RS_NO_MEMORY, "%s: out of memory", b->path);
}

static void close_gzip(struct rs_bytes *b)
{
    if (b->gzip_open) inflateEnd(&b->gzip);
}

/* Behind a member: files put one behind the other are one, and zeros fill up a tape's block. */
static void next_member(struct rs_bytes *b)
{
    const uint8_t *rest = b->file.data + b->at;
    size_t left = b->file.size - b->at, zeros = 0;
    if (is_gzip(rest, left) && inflateReset(&b->gzip) == Z_OK) return;
    while (zeros < left && !rest[zeros]) zeros++;
    b->done = true;
    if (zeros < left) breaks(b, "gzip", "is followed by something else", NULL);
}

/* Unpacks up to `room` bytes; returns how many. Sets `done` at the end, and `broken` when the stream cannot go on. */
static size_t inflate_some(struct rs_bytes *b, char *to, size_t room)
{
    z_stream *z = &b->gzip;
    size_t left = b->file.size - b->at;
    z->next_in = (Bytef *)(uintptr_t)(b->file.data + b->at);
    z->avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)room;
    uInt before = z->avail_in;
    int result = inflate(z, Z_NO_FLUSH);
    b->at += before - z->avail_in;
    size_t n = room - z->avail_out;
    if (result == Z_STREAM_END) {
        next_member(b);
    } else if (result == Z_BUF_ERROR && !n) { /* neither a byte in nor one out */
        breaks(b, "gzip", "is cut off here", NULL);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        breaks(b, "gzip", "is broken", z->msg);
    }
    return n;
}
#endif

/* ---- zstd ---- */

#ifdef RS_NO_ZSTD
static enum rs_status open_zstd(struct rs_bytes *b, struct rs_err *err)
{
    return rs_fail(err, RS_FAILED, "%s: is packed with zstd, and this ringscope was built without it: unpack it first",
                   b->path);
}

static void close_zstd(struct rs_bytes *b)
{
    (void)b;
}

static size_t unzstd_some(struct rs_bytes *b, char *to, size_t room)
{
    (void)to;
    (void)room;
    b->done = true;
    return 0;
}
#else
static enum rs_status open_zstd(struct rs_bytes *b, struct rs_err *err)
{
    b->zstd = ZSTD_createDStream();
    if (b->zstd) b->hint = ZSTD_initDStream(b->zstd);
    return b->zstd && !ZSTD_isError(b->hint) ? RS_OK : rs_fail(err, RS_NO_MEMORY, "%s: out of memory", b->path);
}

static void close_zstd(struct rs_bytes *b)
{
    ZSTD_freeDStream(b->zstd);
}

/* As inflate_some(). When zstd fails it does not tell what it had written, so it gets one of its blocks at a time: all
 * that came before the broken one is kept. */
static size_t unzstd_some(struct rs_bytes *b, char *to, size_t room)
{
    size_t left = b->file.size - b->at;
    ZSTD_inBuffer in = {b->file.data + b->at, left < b->hint ? left : b->hint, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(b->zstd, &out, &in);
    if (ZSTD_isError(result)) {
        breaks(b, "zstd", "is broken", ZSTD_getErrorName(result));
        return 0;
    }
    b->at += in.pos;
    if (b->at == b->file.size && !result) {
        b->done = true; /* of a frame, with nothing behind it */
    } else if (b->at == b->file.size && out.pos < room) {
        breaks(b, "zstd", "is cut off here", NULL);
    }
    b->hint = result ? result : ZSTD_initDStream(b->zstd);
    return out.pos;
}
#endif

/* ---- all of them ---- */

/* Takes what is in b->file. */
static enum rs_status prepare(struct rs_bytes *b, size_t block, struct rs_err *err)
{
    b->packing = recognise(b->file.data, b->file.size);
    if (b->packing == RS_PLAIN) return RS_OK;
    b->block_bytes = block ? block : BLOCK_BYTES;
    if (!(b->block = malloc(b->block_bytes))) return rs_fail(err, RS_NO_MEMORY, "%s: out of memory", b->path);
    return b->packing == RS_GZIP ? open_gzip(b, err) : open_zstd(b, err);
}

static enum rs_status create(struct rs_bytes **out, const char *path, struct rs_err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out && ((*out)->path = strdup(path))) return RS_OK;
    return rs_fail(err, RS_NO_MEMORY, "%s: out of memory", path);
}

static enum rs_status opened(struct rs_bytes **out, enum rs_status status)
{
    if (status != RS_OK) {
        rs_bytes_close(*out);
        *out = NULL;
    }
    return status;
}

enum rs_status rs_bytes_open(struct rs_bytes **out, const char *path, struct rs_err *err)
{
    enum rs_status status = create(out, path, err);
    if (status == RS_OK) status = rs_file_map(&(*out)->file, path, err);
    if (status == RS_OK) status = prepare(*out, 0, err);
    return opened(out, status);
}

enum rs_status rs_bytes_stream(struct rs_bytes **out, const char *path, struct rs_err *err)
{
    enum rs_status status = create(out, path, err);
    if (status == RS_OK) status = rs_file_map_stream(&(*out)->file, path, err);
    if (status == RS_OK) status = prepare(*out, 0, err);
    return opened(out, status);
}

enum rs_status rs_bytes_memory(struct rs_bytes **out, const char *name, const void *data, size_t n, size_t block,
                               struct rs_err *err)
{
    enum rs_status status = create(out, name, err);
    if (status == RS_OK) {
        (*out)->file = (struct rs_file_map){.data = data, .size = n};
        (*out)->borrowed = true;
        status = prepare(*out, block, err);
    }
    return opened(out, status);
}

void rs_bytes_close(struct rs_bytes *b)
{
    if (!b) return;
    close_gzip(b);
    close_zstd(b);
    if (!b->borrowed) rs_file_unmap(&b->file);
    free(b->block);
    free(b->path);
    free(b);
}

enum rs_compression rs_bytes_packing(const struct rs_bytes *b)
{
    return b->packing;
}

const char *rs_bytes_path(const struct rs_bytes *b)
{
    return b->path;
}

/* Fills the block behind what it holds. */
static void fill(struct rs_bytes *b)
{
    while (b->held < b->block_bytes && !b->done) {
        char *to = b->block + b->held;
        size_t room = b->block_bytes - b->held;
        b->held += b->packing == RS_GZIP ? inflate_some(b, to, room) : unzstd_some(b, to, room);
    }
}

enum rs_status rs_bytes_next(struct rs_bytes *b, const char **block, size_t *n, struct rs_err *err)
{
    if (b->packing == RS_PLAIN) {
        *block = (const char *)b->file.data;
        *n = b->done ? 0 : b->file.size;
        b->done = true;
        return RS_OK;
    }
    fill(b);
    *block = b->block;
    *n = b->held;
    b->held = 0; /* the block is the caller's until the next call */
    if (*n || b->broken.code == RS_OK) return RS_OK;
    if (err) *err = b->broken;
    return b->broken.code;
}

size_t rs_bytes_peek(struct rs_bytes *b, char *to, size_t n)
{
    const char *from = (const char *)b->file.data;
    size_t have = b->file.size;
    if (b->packing != RS_PLAIN) {
        fill(b);
        from = b->block;
        have = b->held;
    }
    if (n > have) n = have;
    if (n) memcpy(to, from, n);
    return n;
}

void rs_bytes_rest(struct rs_bytes *b, const char *before)
{
    if (b->packing != RS_PLAIN || !b->file.mapped) return;
    size_t upto = (size_t)(before - (const char *)b->file.data) / REST_STEP * REST_STEP;
    if (upto <= b->rested || upto > b->file.size) return;
    madvise((void *)(uintptr_t)(b->file.data + b->rested), upto - b->rested, MADV_DONTNEED);
    b->rested = upto;
}
