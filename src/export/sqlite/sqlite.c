/* The exporter: a database of SQLite, as export/sqlite/schema.c describes it. */
#include "base/memory.h"
#include "export/exporter.h"

#ifndef RS_NO_SQLITE

#include <stdlib.h>

#include "export/sqlite/fill.h"

struct state {
    struct rs_sql_db db;
    struct rs_sql_fill fill;
};

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct state *s = rs_zalloc(1, sizeof *s);
    x->state = s;
    RS_TRY(rs_sql_open(&s->db, x->path, x->name, err));
    rs_sql_fill_begin(&s->fill, &s->db, x->timeline, x->title, RS_SQL_ALL);
    return rs_sql_fill_model(&s->fill, err);
}

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *bars, struct rs_err *err)
{
    struct state *s = x->state;
    return rs_sql_fill_piece(&s->fill, proc, bars, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct state *s = x->state;
    RS_TRY(rs_sql_fill_end(&s->fill, err));
    RS_TRY(rs_sql_index(&s->db, RS_SQL_ALL, err));
    return rs_sql_commit(&s->db, err);
}

static void end_free(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    rs_sql_fill_free(&s->fill);
    rs_sql_close(&s->db);
    free(s);
    x->state = NULL;
}

#endif

const struct rs_exporter rs_exporter_sqlite = {
    .name = "sqlite",
    .what = "a database; also .sqlite3, .db (`ringscope sql --schema` has its tables)",
    .suffixes = ".sqlite .sqlite3 .db",
    .titled = true,
    .output = RS_EXPORT_PATH,
    .rows = (UINT64_C(1) << RS_ROWS) - 1,
#ifdef RS_NO_SQLITE
    .lacks = "SQLite (Debian: libsqlite3-dev when it is built)",
#else
    .begin = begin,
    .piece = piece,
    .end = end,
    .free = end_free,
#endif
};
