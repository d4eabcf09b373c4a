#include "export/compress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifndef RS_NO_ZLIB
#include <zlib.h>
#endif
#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

#include "base/file.h"

enum { OUT_BYTES = 1 << 16, IN_BYTES = 1 << 18, GZIP_LEVEL = 6, ZSTD_LEVEL = 3 };

struct packer {
    FILE *to;
#ifndef RS_NO_ZLIB
    z_stream gzip;
#endif
#ifndef RS_NO_ZSTD
    ZSTD_CStream *zstd;
#endif
    bool (*pack)(struct packer *p, const char *bytes, size_t n, bool end); /* false: errno says why */
    char out[OUT_BYTES];
};

static size_t suffix(const char *path, const char *end)
{
    return path ? rs_name_ending(path, strlen(path), end) : 0;
}

enum rs_compression rs_compression_of(const char *path)
{
    return suffix(path, ".gz") ? RS_GZIP : suffix(path, ".zst") ? RS_ZSTD : RS_PLAIN;
}

size_t rs_compression_stem(const char *path)
{
    return strlen(path) - suffix(path, ".gz") - suffix(path, ".zst");
}

__attribute__((unused)) static bool hand_on(struct packer *p, size_t n)
{
    errno = 0;
    if (!n || fwrite(p->out, 1, n, p->to) == n) return true;
    if (!errno) errno = EIO;
    return false;
}

#ifndef RS_NO_ZLIB
static bool pack_gzip(struct packer *p, const char *bytes, size_t n, bool end)
{
    z_stream *z = &p->gzip;
    int done = Z_OK;
    while (n || end) {
        uInt part = n > IN_BYTES ? IN_BYTES : (uInt)n;
        z->next_in = (Bytef *)(uintptr_t)bytes;
        z->avail_in = part;
        do {
            z->next_out = (Bytef *)p->out;
            z->avail_out = OUT_BYTES;
            done = deflate(z, end && part == n ? Z_FINISH : Z_NO_FLUSH);
            if (!hand_on(p, OUT_BYTES - z->avail_out)) return false;
        } while (z->avail_out == 0 && done != Z_STREAM_END);
        bytes += part;
        n -= part;
        if (end && !n) return done == Z_STREAM_END || (errno = EIO, false);
    }
    return true;
}
#endif

#ifndef RS_NO_ZSTD
static bool pack_zstd(struct packer *p, const char *bytes, size_t n, bool end)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    for (;;) {
        ZSTD_outBuffer out = {p->out, OUT_BYTES, 0};
        size_t left = ZSTD_compressStream2(p->zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return errno = EIO, false;
        if (!hand_on(p, out.pos)) return false;
        if (end ? !left : in.pos == in.size) return true;
    }
}
#endif

static ssize_t write_some(void *cookie, const char *bytes, size_t n)
{
    struct packer *p = cookie;
    return p->pack(p, bytes, n, false) ? (ssize_t)n : 0;
}

static void release(struct packer *p)
{
#ifndef RS_NO_ZLIB
    if (p->gzip.state) deflateEnd(&p->gzip);
#endif
#ifndef RS_NO_ZSTD
    ZSTD_freeCStream(p->zstd);
#endif
    free(p);
}

static int finish(void *cookie)
{
    struct packer *p = cookie;
    bool fine = p->pack(p, NULL, 0, true);
    int why = errno;
    release(p);
    errno = why;
    return fine ? 0 : EOF;
}

static bool prepare(struct packer *p, enum rs_compression packing)
{
#ifndef RS_NO_ZLIB
    enum { GZIP_HEADER = 16 };
    if (packing == RS_GZIP) {
        p->pack = pack_gzip;
        return deflateInit2(&p->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + GZIP_HEADER, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    }
#endif
#ifndef RS_NO_ZSTD
    if (packing == RS_ZSTD) {
        p->pack = pack_zstd;
        p->zstd = ZSTD_createCStream();
        return p->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL));
    }
#endif
    (void)packing;
    return true;
}

enum rs_status rs_compress_open(FILE **file, FILE *to, enum rs_compression packing, const char *name,
                                struct rs_err *err)
{
    const cookie_io_functions_t io = {.write = write_some, .close = finish};
    struct packer *p = calloc(1, sizeof *p);
    if (!p) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    p->to = to;
    bool prepared = prepare(p, packing);
    if (prepared && !p->pack) {
        release(p);
        return rs_fail(err, RS_BAD_INPUT, "%s: this build cannot pack with %s", name,
                       packing == RS_GZIP ? "gzip" : "zstd");
    }
    *file = prepared ? fopencookie(p, "w", io) : NULL;
    if (*file) return RS_OK;
    release(p);
    return rs_fail(err, RS_NO_MEMORY, "out of memory");
}
