#include "export/compress.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

struct packer {
    FILE *to;
    const struct rs_compression *compression;
    void *stream;
};

static ssize_t write_some(void *cookie, const char *bytes, size_t n)
{
    struct packer *p = cookie;
    return p->compression->compress(p->stream, bytes, n, false, p->to) ? (ssize_t)n : 0;
}

static void release(struct packer *p)
{
    if (p->stream) p->compression->close_new(p->stream);
    free(p);
}

static int finish(void *cookie)
{
    struct packer *p = cookie;
    bool fine = p->compression->compress(p->stream, NULL, 0, true, p->to);
    int why = errno;
    release(p);
    errno = why;
    return fine ? 0 : EOF;
}

enum rs_status rs_compress_open(FILE **file, FILE *to, int packing, const char *name, struct rs_err *err)
{
    const cookie_io_functions_t io = {.write = write_some, .close = finish};
    const struct rs_compression *c = rs_compression_at(packing);
    if (!c->open_new) return rs_fail(err, RS_BAD_INPUT, "%s: this build cannot compress with %s", name, c->name);
    struct packer *p = rs_zalloc(1, sizeof *p);
    *p = (struct packer){.to = to, .compression = c, .stream = c->open_new()};
    *file = p->stream ? fopencookie(p, "w", io) : NULL;
    if (*file) return RS_OK;
    release(p);
    rs_memory_out();
}
