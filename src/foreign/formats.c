#include "foreign/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "foreign/dedup.h"

static const struct rs_format *const formats[] = {
#define X(id, folder, name, reading, caps) [reading] = &rs_##folder##_format,
    RS_EACH_FORMAT(X)
#undef X
};
enum { FORMATS = sizeof formats / sizeof *formats };
_Static_assert(FORMATS == RS_TOOLS - 1, "the places in the order of reading are 0, 1, 2, ...");

const struct rs_format *rs_format_at(int index)
{
    return index >= 0 && index < FORMATS ? formats[index] : NULL;
}

const struct rs_format *rs_format_of(uint8_t tool)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->tool == tool) return formats[i];
    return NULL;
}

/* -1: of none. `why` says what kept the file from being looked at, and *unread is set where something did: it may have
 * been the trace of a rank. `hash` is of its first bytes. */
static int format_of(const char *path, char *head, uint64_t *hash, bool *unread, struct rs_err *why)
{
    struct rs_bytes *bytes;
    why->code = RS_OK;
    *unread = true;
    if (rs_bytes_open(&bytes, path, why) != RS_OK) return -1;
    const char *block;
    size_t n = rs_bytes_peek(bytes, head, RS_FORMAT_HEAD), none = 0;
    if (!n && rs_bytes_next(bytes, &block, &none, why) == RS_OK)
        rs_fail(why, RS_BAD_INPUT, "%s: the file is empty", path);
    rs_bytes_close(bytes);
    if (!n) return -1;
    *unread = false;
    *hash = rs_dedup_hash(RS_TWICE_NOTHING, head, n);
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->is(path, head, n)) return i;
    rs_fail(why, RS_BAD_INPUT, "%s: no trace that ringscope knows (`ringscope explain formats` lists them)", path);
    return -1;
}

static enum rs_status nothing_left(const struct rs_inputs *in, struct rs_err *err)
{
    if (in->nunreadable) return rs_fail(err, RS_BAD_INPUT, "%s", in->unreadable[0].why);
    return rs_fail(err, RS_BAD_INPUT, "no recording (*.rsc) and no trace that ringscope knows among %zu file%s%s",
                   in->nleft_out, in->nleft_out == 1 ? "" : "s",
                   in->nfolders ? " (folders in a folder are not searched: name them)" : "");
}

enum rs_status rs_formats_recognise(struct rs_inputs *in, struct rs_err *err)
{
    char *head = malloc(RS_FORMAT_HEAD);
    uint64_t *hashes = calloc(in->nothers + 1, sizeof *hashes);
    size_t kept = 0;
    enum rs_status status = head && hashes ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < in->nothers; i++) {
        struct rs_other *o = &in->others[i];
        struct rs_err why;
        bool unread = false;
        o->format = status == RS_OK ? format_of(o->path, head, &hashes[kept], &unread, &why) : -1;
        bool said = o->named || unread;
        if (o->format < 0 && said && status == RS_OK) status = rs_inputs_unreadable(in, o->path, why.msg, err);
        in->nleft_out += o->format < 0 && !said;
        if (o->format < 0)
            free(o->path);
        else
            in->others[kept++] = *o;
    }
    in->nothers = kept;
    if (status == RS_OK) status = rs_dedup_drop(in, hashes, err);
    free(head);
    free(hashes);
    return status != RS_OK || in->n || in->nothers ? status : nothing_left(in, err);
}

enum rs_status rs_fill_each(struct rs_fill *fill, rs_fill_add add, struct rs_err *err)
{
    for (size_t i = 0; i < fill->n; i++) {
        struct rs_err why = {0};
        enum rs_status status = add(fill, fill->files[i], &why);
        if (status == RS_NO_MEMORY) return rs_fail(err, status, "%s", why.msg);
        if (status != RS_OK) rs_other_incomplete(fill->files[i], &why);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    return RS_OK;
}

enum rs_status rs_formats_fill(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                               struct rs_err *err)
{
    if (!in->nothers) return RS_OK;
    struct rs_other **files = calloc(in->nothers, sizeof *files);
    if (!files) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    for (int f = 0; f < FORMATS && status == RS_OK; f++) {
        struct rs_fill fill = {.model = m, .files = files, .progress = progress};
        for (size_t i = 0; i < in->nothers; i++) {
            if (in->others[i].format != f) continue;
            in->others[i].complete = true;
            files[fill.n++] = &in->others[i];
        }
        if (fill.n) status = formats[f]->fill(&fill, err);
    }
    free(files);
    for (size_t i = 0; i < in->nothers; i++) {
        struct rs_err why;
        const char *trouble = rs_guard_trouble_of(in->others[i].path);
        if (!trouble) continue;
        rs_fail(&why, RS_BAD_INPUT, "%s: %s", in->others[i].path, trouble);
        rs_other_incomplete(&in->others[i], &why);
    }
    return status;
}
