#include "plugin/chunks.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* Writes everything, or fails. */
static bool write_at(struct rs_files *files, const struct rs_chunk_header *h, const void *stored, uint32_t padded,
                     uint64_t at)
{
    static const char zeros[8];
    uint32_t padding = padded - h->stored_bytes;
    struct iovec parts[3] = {{.iov_base = (void *)(uintptr_t)h, .iov_len = sizeof *h},
                             {.iov_base = (void *)(uintptr_t)stored, .iov_len = h->stored_bytes},
                             {.iov_base = (void *)(uintptr_t)zeros, .iov_len = padding}};
    size_t left = sizeof *h + padded;
    struct iovec *part = parts;
    int nparts = 3, tries = 3;
    while (left) {
        ssize_t n = pwritev(rs_files_fd(files), part, nparts, (off_t)at);
        if (n < 0 && (errno == EINTR || (errno == EBADF && --tries))) continue; /* the program has just closed it */
        if (n <= 0) {
            if (!n) errno = ENOSPC;
            return false;
        }
        left -= (size_t)n;
        at += (uint64_t)n;
        while (nparts && (size_t)n >= part->iov_len) {
            n -= (ssize_t)part->iov_len;
            part++;
            nparts--;
        }
        if (nparts) {
            part->iov_base = (char *)part->iov_base + n;
            part->iov_len -= (size_t)n;
        }
    }
    return true;
}

enum rs_chunk_result rs_chunk_write(struct rs_chunk_file *f, struct rs_chunk_header *h, const uint64_t *words,
                                    uint32_t n, bool raw)
{
    const void *stored = words;
    enum rs_chunk_coding coding = RS_CODING_RAW;
    h->stored_bytes = n * 8;
    if (!raw) stored = rs_codec_encode(f->codec, h->kind, words, n, &h->stored_bytes, &coding);
    h->magic = RS_CHUNK_MAGIC;
    h->coding = (uint8_t)coding;
    h->header_bytes = sizeof *h;
    h->sequence = f->sequence[h->kind];
    h->records_before = f->records;
    h->checksum = rs_chunk_checksum(h, stored);

    uint32_t padded = (h->stored_bytes + 7) & ~7u;
    uint64_t bytes = sizeof *h + padded, at = f->end;
    bool ring = h->kind == RS_CHUNK_EVENTS && f->ring_end;
    if (ring)
        at = f->ring_at + bytes > f->ring_end ? f->ring_begin : f->ring_at;
    else if (h->kind == RS_CHUNK_EVENTS && f->limit && at + bytes > f->limit)
        return RS_CHUNK_PAST_LIMIT;
    if (!write_at(f->files, h, stored, padded, at)) return RS_CHUNK_FAILED;
    if (ring)
        f->ring_at = at + bytes;
    else
        f->end = at + bytes;
    f->sequence[h->kind]++;
    if (h->kind == RS_CHUNK_EVENTS) f->records += h->records;
    return RS_CHUNK_WRITTEN;
}
