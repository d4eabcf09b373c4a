#include "export/rsc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "format/fact.h"

enum { FACT_WORDS = RS_BUFFER_BYTES / 8 };

/* A name that is free: recordings of several folders may be called the same. */
static int create(struct rs_rsc_file *f, const char *folder, const char *name)
{
    size_t stem = strlen(name);
    if (stem > 4 && !strcmp(name + stem - 4, ".rsc")) stem -= 4;
    for (unsigned i = 1; i < 10000; i++) {
        char number[16] = "";
        if (i > 1) snprintf(number, sizeof number, "-%u", i);
        free(f->path);
        if (asprintf(&f->path, "%s/%.*s%s.rsc", folder, (int)stem, name, number) < 0) {
            f->path = NULL;
            errno = ENOMEM;
            return -1;
        }
        int fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

enum rs_status rs_rsc_open(struct rs_rsc_file *f, const char *folder, const char *out, const struct rs_recording *of,
                           struct rs_err *err)
{
    const char *slash = strrchr(of->path, '/'), *name = slash ? slash + 1 : of->path;
    *f = (struct rs_rsc_file){.fd = -1, .header = of->header, .end = sizeof f->header};
    struct rs_file_header *h = &f->header;
    h->features |= RS_FEATURE_CUT;
    h->ring_begin = h->ring_end = 0;
    memset(h->live_name, 0, sizeof h->live_name);
    h->status.live_left = 0;
    memcpy(h->status.lost, of->lost, sizeof h->status.lost);
    f->codec = rs_codec_new();
    f->facts = malloc(FACT_WORDS * sizeof *f->facts);
    if (asprintf(&f->name, "%s/%s", out, name) < 0) f->name = NULL;
    if (!f->codec || !f->facts || !f->name) {
        rs_rsc_abandon(f);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    f->fd = create(f, folder, name);
    if (f->fd >= 0 && lseek(f->fd, (off_t)f->end, SEEK_SET) == (off_t)f->end) return RS_OK;
    enum rs_status status = rs_fail_errno(err, "%s: cannot create", f->name);
    rs_rsc_abandon(f);
    return status;
}

static void put(struct rs_rsc_file *f, const void *bytes, size_t n)
{
    if (f->err.code == RS_OK) rs_write_all(f->fd, bytes, n, f->name, &f->err);
    f->end += n;
}

void rs_rsc_chunk(struct rs_rsc_file *f, struct rs_chunk_header *h, const uint64_t *words, uint32_t n)
{
    static const char zeros[8];
    enum rs_chunk_coding coding;
    const void *stored = rs_codec_encode(f->codec, h->kind, words, n, &h->stored_bytes, &coding);
    h->magic = RS_CHUNK_MAGIC;
    h->coding = (uint8_t)coding;
    h->header_bytes = sizeof *h;
    h->nonce = f->header.nonce;
    h->sequence = f->sequence[h->kind]++;
    h->records_before = f->records;
    h->from = 0;
    h->to = n;
    h->checksum = rs_chunk_checksum(h, stored);
    put(f, h, sizeof *h);
    put(f, stored, h->stored_bytes);
    put(f, zeros, -h->stored_bytes & 7);
    if (h->kind == RS_CHUNK_EVENTS) f->records += h->records;
}

static void seal_facts(struct rs_rsc_file *f)
{
    if (!f->nfacts) return;
    struct rs_chunk_header h = {
        .kind = RS_CHUNK_FACTS, .records = f->nfacts, .slot = RS_SLOT_FACTS, .generation = ++f->generation};
    rs_rsc_chunk(f, &h, f->facts, f->nwords);
    f->nwords = f->nfacts = 0;
}

void rs_rsc_fact(struct rs_rsc_file *f, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                 const void *b, size_t b_bytes)
{
    size_t bytes = a_bytes + b_bytes;
    uint32_t words = rs_fact_words(bytes);
    if (f->nwords + words > FACT_WORDS) seal_facts(f);
    if (words > FACT_WORDS) { /* no recorder writes such a one */
        if (f->err.code == RS_OK)
            rs_fail(&f->err, RS_BAD_INPUT, "%s: a fact of %zu bytes is too large", f->name, bytes);
        return;
    }
    rs_fact_encode(f->facts + f->nwords, type, tick, a, a_bytes, b, b_bytes);
    f->nwords += words;
    f->nfacts++;
}

enum rs_status rs_rsc_finish(struct rs_rsc_file *f, struct rs_err *err)
{
    struct rs_file_header *h = &f->header;
    seal_facts(f);
    h->status.file_end = f->end;
    h->status.sealed_records = f->records;
    h->status.event_chunks = (uint32_t)f->sequence[RS_CHUNK_EVENTS];
    h->status.fact_chunks = (uint32_t)f->sequence[RS_CHUNK_FACTS];
    h->checksum = rs_header_checksum(h);
    if (f->err.code == RS_OK && lseek(f->fd, 0, SEEK_SET) != 0) rs_fail_errno(&f->err, "%s: cannot write", f->name);
    put(f, h, sizeof *h);
    if (close(f->fd) != 0 && f->err.code == RS_OK) rs_fail_errno(&f->err, "%s: cannot write", f->name);
    f->fd = -1;
    enum rs_status status = f->err.code;
    if (status != RS_OK) *err = f->err;
    rs_rsc_abandon(f);
    return status;
}

void rs_rsc_abandon(struct rs_rsc_file *f)
{
    if (f->fd >= 0) close(f->fd);
    rs_codec_free(f->codec);
    free(f->facts);
    free(f->path);
    free(f->name);
    *f = (struct rs_rsc_file){.fd = -1};
}
