#include "foreign/nsys/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "foreign/formats.h"
#include "foreign/nsys/nsys.h"
#include "nccl/abi.h"

/* ---- the session ---- */

static bool first_text(struct rs_nsys *n, const char *table, const char *const *columns, const char *wanted, char *to,
                       size_t bytes)
{
    struct rs_nsys_rows rows;
    bool found = false;
    rs_nsys_select(&rows, &n->db, table, columns);
    while (!found && rs_nsys_next(&rows)) {
        size_t length;
        bool blob;
        const char *name = rs_nsys_text(&rows, 0, &length, &blob);
        if (!name || blob || strcmp(name, wanted)) continue;
        const char *value = rs_nsys_text(&rows, 1, &length, &blob);
        found = value && !blob && length < bytes;
        if (found) memcpy(to, value, length);
        if (found) to[length] = 0;
    }
    rs_nsys_stop(&rows);
    return found;
}

/* A session has a clock of its own: another one of the same host was started at another time, by another reading of
 * it. */
static void read_session(struct rs_nsys *n)
{
    static const char *const epoch[] = {"utcEpochNs", NULL}, *const environment[] = {"name", "value", NULL};
    char host[256] = "";
    struct rs_nsys_rows rows;
    struct rs_strbuf boot = {0};
    rs_nsys_select(&rows, &n->db, "TARGET_INFO_SESSION_START_TIME", epoch);
    if (rs_nsys_next(&rows)) rs_nsys_i64(&rows, 0, &n->epoch);
    rs_nsys_stop(&rows);
    first_text(n, "TARGET_INFO_SYSTEM_ENV", environment, "Hostname", host, sizeof host);
    rs_strbuf_printf(&boot, "nsys:%s:%" PRId64 ":%s", host, n->epoch, n->path);
    rs_model_host(n->m, host, rs_strbuf_borrow(&boot), &n->host);
    rs_strbuf_free(&boot);
}

static enum rs_status read_strings(struct rs_nsys *n, struct rs_err *err)
{
    static const char *const columns[] = {"id", "value", NULL};
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    rs_nsys_select(&rows, &n->db, "StringIds", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) {
        int64_t id;
        size_t length;
        bool blob;
        uint32_t name;
        const char *text = rs_nsys_text(&rows, 1, &length, &blob);
        if (!text || blob || !rs_nsys_i64(&rows, 0, &id)) continue;
        status = rs_model_name(n->m, text, strnlen(text, length), &name, err);
        if (status == RS_OK) rs_map_put(&n->strings, (uint64_t)id, name);
    }
    rs_nsys_stop(&rows);
    return status;
}

/* ---- what was seen ---- */

static void set_spans(struct rs_nsys *n)
{
    uint64_t pid, proc;
    for (size_t at = 0; rs_map_next(&n->procs, &at, &pid, &proc);) {
        struct rs_proc *p = &n->m->procs[proc];
        p->begin = p->first != RS_TIME_NONE ? p->first : n->epoch;
        p->end = p->last != RS_TIME_NONE ? p->last : p->begin;
        p->complete = n->db.damage.code == RS_OK;
        p->covers = rs_zalloc(2, sizeof *p->covers);
        p->covers[0] = (struct rs_cover){p->begin, p->end,
                                         RS_COLL | RS_P2P | RS_COLL_API | RS_P2P_API | RS_KERNEL_CH | RS_KERNEL_LAUNCH};
        p->covers[1] = (struct rs_cover){p->end, INT64_MAX, 0}; /* recording may have ended before its process */
        p->ncovers = 2;
    }
}

static enum rs_status note_missing(struct rs_nsys *n, uint32_t parts_before, struct rs_err *err)
{
    if (n->m->parts.n > parts_before || n->db.damage.code != RS_OK) return RS_OK;
    if (n->ncalls && !n->schemas.n)
        return rs_model_note(n->m, err,
                             "%s: NCCL's ranges have no payloads that can be read (communicator, size): operations are "
                             "unknown; export again with a newer Nsight Systems",
                             n->path);
    if (n->nkernels)
        return rs_model_note(n->m, err,
                             "%s: %" PRIu32
                             " kernels of NCCL, but not its NVTX ranges (record with --trace=cuda,nvtx): "
                             "communicators and operations are unknown",
                             n->path, n->nkernels);
    return rs_model_note(n->m, err, "%s: no operation of NCCL in it", n->path);
}

enum rs_status rs_nsys_to_model(struct rs_nsys *n, struct rs_err *err)
{
    bool advanced;
    uint32_t parts_before = n->m->parts.n;
    read_session(n);
    RS_TRY(read_strings(n, err));
    RS_TRY(rs_nsys_calls_read(n, err));
    RS_TRY(rs_nsys_work_read(n, err));
    rs_nsys_members_read(n);
    RS_TRY(rs_nsys_ops_make(n, &advanced, err));
    if (!advanced) rs_nsys_parts_make(n);
    set_spans(n);
    return note_missing(n, parts_before, err);
}

/* ---- all files ---- */

bool rs_nsys_is(const char *path, const char *head, size_t n)
{
    (void)path;
    return n >= 16 && !memcmp(head, "SQLite format 3", 16);
}

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_nsys n = {.m = fill->model, .path = file->path};
    file->proc = RS_NONE;
    enum rs_status status = rs_nsys_open(&n.db, file->path, err);
    bool opened = status == RS_OK;
    if (opened) status = rs_nsys_to_model(&n, err);
    if (opened && n.db.damage.code != RS_OK) rs_other_incomplete(file, &n.db.damage);
    uint64_t pid, proc;
    size_t at = 0;
    if (rs_map_count(&n.procs) == 1 && rs_map_next(&n.procs, &at, &pid, &proc)) file->proc = (uint32_t)proc;
    rs_nsys_free(&n);
    return status;
}

enum rs_status rs_nsys_fill(struct rs_fill *fill, struct rs_err *err)
{
    (void)err;
    rs_fill_each(fill, add);
    return RS_OK;
}
