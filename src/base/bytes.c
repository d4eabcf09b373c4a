#include "base/bytes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/memory.h"

enum { BLOCK_BYTES = 1 << 18, DROP_STEP = 1 << 20 };

struct rs_bytes {
    char *path;
    struct rs_file_map file;
    bool borrowed; /* the bytes are the caller's */
    int packing; /* RS_PLAIN, or: */
    const struct rs_compression *compression;
    void *stream; /* of it */
    struct rs_compressed from;
    size_t dropped; /* plain bytes at the beginning whose pages were dropped; a multiple of DROP_STEP */
    char *block; /* decompressed bytes */
    size_t block_bytes;
    size_t held; /* bytes in `block` that were not taken yet */
    bool done; /* the plain bytes were taken */
    struct rs_err broken; /* found while decompressing; reported when the bytes before it were taken */
};

/* Recognises the compression of b->file. */
static enum rs_status prepare(struct rs_bytes *b, size_t block, struct rs_err *err)
{
    b->packing = rs_compression_recognise(b->file.data, b->file.size);
    if (b->packing == RS_PLAIN) return RS_OK;
    const struct rs_compression *c = b->compression = rs_compression_at(b->packing);
    if (!c->open)
        return rs_fail(err, RS_FAILED,
                       "%s: is compressed with %s, but this ringscope was built without %s: decompress it first",
                       b->path, c->name, strcmp(c->name, c->library) ? c->library : "it");
    b->from = (struct rs_compressed){.data = b->file.data, .size = b->file.size};
    b->block_bytes = block ? block : BLOCK_BYTES;
    b->block = rs_alloc(b->block_bytes);
    b->stream = c->open();
    if (!b->stream) rs_memory_out();
    return RS_OK;
}

static void create(struct rs_bytes **out, const char *path)
{
    *out = rs_zalloc(1, sizeof **out);
    (*out)->path = rs_strdup(path);
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
    create(out, path);
    enum rs_status status = RS_OK;
    status = rs_file_map(&(*out)->file, path, err);
    if (status == RS_OK) status = prepare(*out, 0, err);
    return opened(out, status);
}

enum rs_status rs_bytes_stream(struct rs_bytes **out, const char *path, struct rs_err *err)
{
    create(out, path);
    enum rs_status status = RS_OK;
    status = rs_file_map_stream(&(*out)->file, path, err);
    if (status == RS_OK) status = prepare(*out, 0, err);
    return opened(out, status);
}

enum rs_status rs_bytes_memory(struct rs_bytes **out, const char *name, const void *data, size_t n, size_t block,
                               struct rs_err *err)
{
    create(out, name);
    enum rs_status status = RS_OK;
    (*out)->file = (struct rs_file_map){.data = data, .size = n};
    (*out)->borrowed = true;
    status = prepare(*out, block, err);
    return opened(out, status);
}

void rs_bytes_close(struct rs_bytes *b)
{
    if (!b) return;
    if (b->stream) b->compression->close(b->stream);
    if (!b->borrowed) rs_file_unmap(&b->file);
    free(b->block);
    free(b->path);
    free(b);
}

int rs_bytes_packing(const struct rs_bytes *b)
{
    return b->packing;
}

const char *rs_bytes_path(const struct rs_bytes *b)
{
    return b->path;
}

/* Appends to the block. */
static void fill(struct rs_bytes *b)
{
    struct rs_compressed *from = &b->from;
    while (b->held < b->block_bytes && !from->done)
        b->held += b->compression->decompress(b->stream, from, b->block + b->held, b->block_bytes - b->held);
    if (!from->trouble || b->broken.code != RS_OK) return;
    rs_fail(&b->broken, RS_BAD_INPUT, "%s: at byte %zu: the %s stream %s%s%s%s", b->path, from->at,
            b->compression->name, from->trouble, from->why ? " (" : "", from->why ? from->why : "",
            from->why ? ")" : "");
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

void rs_bytes_drop_pages(struct rs_bytes *b, const char *before)
{
    if (b->packing != RS_PLAIN || !b->file.mapped) return;
    size_t upto = (size_t)(before - (const char *)b->file.data) / DROP_STEP * DROP_STEP;
    if (upto <= b->dropped || upto > b->file.size) return;
    madvise((void *)(uintptr_t)(b->file.data + b->dropped), upto - b->dropped, MADV_DONTNEED);
    b->dropped = upto;
}
