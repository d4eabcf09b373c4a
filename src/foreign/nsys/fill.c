#include <string.h>

#include "foreign/formats.h"
#include "foreign/nsys/model.h"

bool rs_nsys_is(const char *path, const char *head, size_t n)
{
    (void)path;
    return n >= 16 && !memcmp(head, "SQLite format 3", 16);
}

/* What `ringscope export --format sqlite` made is a database, too. */
static bool is_our_export(struct rs_nsys_db *db)
{
    return rs_nsys_has(db, "meta", "key") && rs_nsys_has(db, "operation_ranks", "wait_ns");
}

static enum rs_status take(struct rs_nsys *n, struct rs_err *err)
{
    if (!is_our_export(&n->db)) return rs_nsys_to_model(n, err);
    return rs_model_note(n->m, err, "%s: what `ringscope export` made is no trace: ask it with `ringscope sql`",
                         n->path);
}

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_nsys n = {.m = fill->model, .path = file->path};
    file->proc = RS_NONE;
    enum rs_status status = rs_nsys_open(&n.db, file->path, err);
    bool opened = status == RS_OK;
    if (opened) status = take(&n, err);
    if (opened && n.db.damage.code != RS_OK) rs_other_incomplete(file, &n.db.damage);
    uint64_t pid, proc;
    size_t at = 0;
    if (rs_map_count(&n.procs) == 1 && rs_map_next(&n.procs, &at, &pid, &proc)) file->proc = (uint32_t)proc;
    rs_nsys_free(&n);
    return status;
}

enum rs_status rs_nsys_fill(struct rs_fill *fill, struct rs_err *err)
{
    return rs_fill_each(fill, add, err);
}
