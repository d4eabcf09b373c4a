#include "foreign/dedup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "foreign/formats.h"

struct candidate {
    uint64_t head, whole; /* hashes */
    uint64_t size; /* unpacked bytes */
    size_t index; /* of in->others */
    bool read; /* whole and size are known */
};

uint64_t rs_dedup_hash(uint64_t before, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) before = (before ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return before;
}

static int by_head(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_whole(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->read != y->read) return x->read ? -1 : 1;
    if (x->whole != y->whole) return x->whole < y->whole ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A file that cannot be read to its end is like no other. */
static void read_through(struct candidate *c, const char *path)
{
    struct rs_bytes *bytes;
    struct rs_err err;
    const char *block;
    size_t n = 0;
    if (rs_bytes_open(&bytes, path, &err) != RS_OK) return;
    c->whole = RS_TWICE_NOTHING;
    enum rs_status status;
    while ((status = rs_bytes_next(bytes, &block, &n, &err)) == RS_OK && n) {
        c->whole = rs_dedup_hash(c->whole, block, n);
        c->size += n;
    }
    c->read = status == RS_OK;
    rs_bytes_close(bytes);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Of two files with the same bytes. Some formats tell the rank and the process only in the name of the file: there, two
 * ranks that had nothing to write are equal. */
static bool are_one(const struct rs_other *a, const struct rs_other *b)
{
    if (rs_tool_has((uint8_t)rs_format_at(a->format)->tool, RS_CAP_FILE_PROCESS)) return true;
    size_t n = rs_compression_stem(a->path);
    return (n == rs_compression_stem(b->path) && !memcmp(a->path, b->path, n)) || same_file(a->path, b->path);
}

/* Of candidates with the same bytes, by index. */
static enum rs_status drop_of(struct rs_inputs *in, const struct candidate *c, size_t n, bool *dropped,
                              struct rs_err *err)
{
    enum { LOOK_BACK = 16 }; /* under names of their own, as many equal files as there are ranks are no copies */
    for (size_t i = 1; i < n; i++)
        for (size_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            const struct rs_other *o = &in->others[c[i].index], *first = &in->others[c[k].index];
            struct rs_err why;
            if (dropped[c[k].index] || !are_one(first, o)) continue;
            rs_fail(&why, RS_BAD_INPUT, "%s: the same trace as %s; read once", o->path, first->path);
            RS_TRY(rs_inputs_unreadable(in, o->path, why.msg, err));
            dropped[c[i].index] = true;
            break;
        }
    return RS_OK;
}

/* Of candidates with the same first bytes. */
static enum rs_status drop_among(struct rs_inputs *in, struct candidate *c, size_t n, bool *dropped, struct rs_err *err)
{
    for (size_t i = 0; i < n; i++) read_through(&c[i], in->others[c[i].index].path);
    qsort(c, n, sizeof *c, by_whole);
    for (size_t from = 0, to; from < n && c[from].read; from = to) {
        for (to = from + 1; to < n && c[to].read && c[to].whole == c[from].whole && c[to].size == c[from].size;) to++;
        RS_TRY(drop_of(in, &c[from], to - from, dropped, err));
    }
    return RS_OK;
}

enum rs_status rs_dedup_drop(struct rs_inputs *in, const uint64_t *heads, struct rs_err *err)
{
    struct candidate *all = calloc(in->nothers + 1, sizeof *all);
    bool *dropped = calloc(in->nothers + 1, sizeof *dropped);
    enum rs_status status = all && dropped ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (size_t i = 0; status == RS_OK && i < in->nothers; i++)
        all[i] = (struct candidate){.head = heads[i], .index = i};
    if (status == RS_OK) qsort(all, in->nothers, sizeof *all, by_head);
    for (size_t from = 0, to; status == RS_OK && from < in->nothers; from = to) {
        for (to = from + 1; to < in->nothers && all[to].head == all[from].head;) to++;
        if (to - from > 1) status = drop_among(in, &all[from], to - from, dropped, err);
    }
    size_t kept = 0;
    for (size_t i = 0; status == RS_OK && i < in->nothers; i++) {
        if (dropped[i])
            free(in->others[i].path);
        else
            in->others[kept++] = in->others[i];
    }
    if (status == RS_OK) in->nothers = kept;
    free(all);
    free(dropped);
    return status;
}
