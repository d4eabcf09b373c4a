#include "bundle/container.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/room.h"

#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

enum { LEVEL = 3, COPY_BYTES = 1 << 18 };

static void put(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

/* ---- temporary files ---- */

int rs_spool_descriptor(const char *folder, struct rs_err *err)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char path[4096]; /* file systems without O_TMPFILE: NFS, overlays of old kernels */
    if ((size_t)snprintf(path, sizeof path, "%s/ringscope-XXXXXX", folder) >= sizeof path) {
        rs_fail(err, RS_BAD_INPUT, "%.100s...: the path of the folder for temporary files is too long", folder);
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        rs_fail_errno(err, "cannot create a temporary file in %s (set TMPDIR to use another folder)", folder);
    else
        unlink(path);
    return fd;
}

enum rs_status rs_spool_open(struct rs_spool *s, const char *folder, struct rs_err *err)
{
    *s = (struct rs_spool){.folder = folder};
    int fd = rs_spool_descriptor(folder, err);
    if (fd < 0) return RS_FAILED;
    s->file = fdopen(fd, "w+");
    if (s->file) return RS_OK;
    close(fd);
    rs_memory_out();
}

static enum rs_status spool_failed(const struct rs_spool *s, struct rs_err *err)
{
    return rs_fail_errno(err, "cannot write to a temporary file in %s (set TMPDIR to use another folder)", s->folder);
}

enum rs_status rs_spool_write(struct rs_spool *s, const void *bytes, size_t n, struct rs_err *err)
{
    /* Rows of a few bytes, one at a time: no lock. In brackets, since the macro of that name warns. */
    if (n && (fwrite_unlocked)(bytes, 1, n, s->file) != n) return spool_failed(s, err);
    s->bytes += n;
    return RS_OK;
}

enum rs_status rs_spool_rewind(struct rs_spool *s, struct rs_err *err)
{
    if (fflush(s->file) != 0 || fseeko(s->file, 0, SEEK_SET) != 0) return spool_failed(s, err);
    return RS_OK;
}

enum rs_status rs_spool_read(struct rs_spool *s, void *to, size_t n, struct rs_err *err)
{
    if (n && (fread_unlocked)(to, 1, n, s->file) != n)
        return rs_fail_errno(err, "cannot read back a temporary file in %s", s->folder);
    return RS_OK;
}

void rs_spool_close(struct rs_spool *s)
{
    if (s->file) fclose(s->file);
    s->file = NULL;
}

/* ---- zstd ---- */

#ifndef RS_NO_ZSTD
enum rs_status rs_zip_init(struct rs_zip *z, struct rs_err *err)
{
    (void)err;
    *z = (struct rs_zip){.context = ZSTD_createCCtx()};
    if (!z->context) rs_memory_out();
    return RS_OK;
}

/* One frame in z->out, valid until the next call. */
static enum rs_status pack(struct rs_zip *z, const void *bytes, size_t n, size_t *packed, struct rs_err *err)
{
    size_t bound = ZSTD_compressBound(n);
    if (bound > z->cap) {
        free(z->out);
        z->out = rs_alloc(bound);
        z->cap = bound;
    }
    *packed = ZSTD_compressCCtx(z->context, z->out, z->cap, bytes, n, LEVEL);
    if (ZSTD_isError(*packed)) return rs_fail(err, RS_FAILED, "zstd: %s", ZSTD_getErrorName(*packed));
    return RS_OK;
}
#else
enum rs_status rs_zip_init(struct rs_zip *z, struct rs_err *err)
{
    *z = (struct rs_zip){0};
    return rs_fail(err, RS_FAILED,
                   "this ringscope was built without zstd, which the page's data needs (pictures do not: -o x.svg)");
}

static enum rs_status pack(struct rs_zip *z, const void *bytes, size_t n, size_t *packed, struct rs_err *err)
{
    (void)z, (void)bytes, (void)n, (void)packed;
    return rs_fail(err, RS_FAILED, "this ringscope was built without zstd");
}
#endif

void rs_zip_free(struct rs_zip *z)
{
#ifndef RS_NO_ZSTD
    ZSTD_freeCCtx(z->context);
#endif
    free(z->out);
    *z = (struct rs_zip){0};
}

/* ---- pieces ---- */

enum rs_status rs_pieces_open(struct rs_pieces *p, const char *folder, struct rs_err *err)
{
    *p = (struct rs_pieces){0};
    return rs_spool_open(&p->spool, folder, err);
}

enum rs_status rs_pieces_add(struct rs_pieces *p, struct rs_zip *z, struct rs_packer *table, struct rs_err *err)
{
    const uint8_t *bytes;
    size_t n, packed;
    RS_TRY(rs_packer_bytes(table, &bytes, &n, err));
    RS_TRY(pack(z, bytes, n, &packed, err));
    RS_ROOM(p->offset, p->n, p->cap);
    RS_ROOM(p->stored, p->n, p->cap_stored);
    RS_ROOM(p->size, p->n, p->cap_size);
    p->offset[p->n] = (int64_t)p->spool.bytes;
    p->stored[p->n] = (uint32_t)packed;
    p->size[p->n] = (uint32_t)n;
    p->n++;
    return rs_spool_write(&p->spool, z->out, packed, err);
}

void rs_pieces_columns(const struct rs_pieces *p, struct rs_packer *table)
{
    rs_packer_i64(table, "offset", p->offset, 0, RS_COLUMN_PLANES);
    rs_packer_u32(table, "stored", p->stored, RS_COLUMN_PLANES);
    rs_packer_u32(table, "size", p->size, RS_COLUMN_PLANES);
}

void rs_pieces_free(struct rs_pieces *p)
{
    rs_spool_close(&p->spool);
    free(p->offset);
    free(p->stored);
    free(p->size);
    *p = (struct rs_pieces){0};
}

/* ---- the whole ---- */

enum rs_status rs_container_begin(struct rs_container *c, int fd, const char *name, struct rs_err *err)
{
    *c = (struct rs_container){.fd = fd, .name = name, .at = RS_CONTAINER_HEAD + sizeof c->directory};
    if (lseek(fd, (off_t)c->at, SEEK_SET) < 0) return rs_fail_errno(err, "%s: cannot seek", name);
    return RS_OK;
}

/* The entry of a section that was written. */
static void enter(struct rs_container *c, const char *section, uint64_t stored, uint64_t size, uint32_t coding)
{
    assert(c->n < RS_CONTAINER_SECTIONS && strlen(section) <= 8);
    uint8_t *entry = c->directory + c->n++ * RS_CONTAINER_ENTRY;
    memcpy(entry, section, strlen(section));
    put(entry + 8, c->at, 8);
    put(entry + 16, stored, 8);
    put(entry + 24, size, 8);
    put(entry + 32, coding, 4);
    c->at += stored;
}

enum rs_status rs_container_bytes(struct rs_container *c, struct rs_zip *z, const char *section, const void *bytes,
                                  size_t n, struct rs_err *err)
{
    size_t packed = 0;
    if (n) RS_TRY(pack(z, bytes, n, &packed, err));
    if (n) RS_TRY(rs_write_all(c->fd, z->out, packed, c->name, err));
    enter(c, section, packed, n, n ? 1 : 0);
    return RS_OK;
}

enum rs_status rs_container_table(struct rs_container *c, struct rs_zip *z, const char *section,
                                  struct rs_packer *table, struct rs_err *err)
{
    const uint8_t *bytes;
    size_t n;
    RS_TRY(rs_packer_bytes(table, &bytes, &n, err));
    return rs_container_bytes(c, z, section, bytes, n, err);
}

static enum rs_status copy(struct rs_container *c, struct rs_pieces *pieces, uint8_t *buffer, struct rs_err *err)
{
    RS_TRY(rs_spool_rewind(&pieces->spool, err));
    for (uint64_t left = pieces->spool.bytes; left > 0;) {
        size_t n = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        RS_TRY(rs_spool_read(&pieces->spool, buffer, n, err));
        RS_TRY(rs_write_all(c->fd, buffer, n, c->name, err));
        left -= n;
    }
    return RS_OK;
}

enum rs_status rs_container_pieces(struct rs_container *c, const char *section, struct rs_pieces *pieces,
                                   struct rs_err *err)
{
    uint8_t *buffer = rs_alloc(COPY_BYTES);
    enum rs_status status = copy(c, pieces, buffer, err);
    free(buffer);
    if (status == RS_OK) enter(c, section, pieces->spool.bytes, pieces->spool.bytes, 0);
    return status;
}

enum rs_status rs_container_end(struct rs_container *c, double span, uint32_t buckets, struct rs_err *err)
{
    uint8_t head[RS_CONTAINER_HEAD] = "RSVIEW\0\1";
    uint64_t bits;
    memcpy(&bits, &span, sizeof bits);
    put(head + 8, RS_CONTAINER_HEAD, 4);
    put(head + 16, RS_CONTAINER_HEAD, 8);
    put(head + 24, c->n, 4);
    put(head + 32, bits, 8);
    put(head + 40, buckets, 4);
    if (lseek(c->fd, 0, SEEK_SET) < 0) return rs_fail_errno(err, "%s: cannot seek", c->name);
    RS_TRY(rs_write_all(c->fd, head, sizeof head, c->name, err));
    return rs_write_all(c->fd, c->directory, sizeof c->directory, c->name, err);
}
