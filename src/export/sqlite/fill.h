/* A run, table by table, into a database: only the requested tables, and only what they need is computed or read.
 *
 *     rs_sql_fill_begin(&f, db, timeline, title, tables)     what all tables need
 *     rs_sql_fill_model(&f)                                  all tables except lanes and what is on them
 *     rs_sql_fill_piece(&f, proc, bars)                      for each piece of each process, if rs_sql_fill_rows() is not 0
 *     rs_sql_fill_end(&f)                                    names and notes, which the steps before add to
 *
 * Owned by the caller until rs_sql_fill_free(), as are database and timeline, which must stay valid. One thread at a
 * time. */
#ifndef RS_EXPORT_SQLITE_FILL_H
#define RS_EXPORT_SQLITE_FILL_H

#include "base/json.h"
#include "export/sqlite/db.h"
#include "model/filter.h"
#include "timeline/timeline.h"

#define RS_SQL_ALL ((UINT32_C(1) << RS_SQL_TABLES) - 1)

struct rs_sql_kind; /* where the arguments of a kind of bar go */

struct rs_sql_fill {
    struct rs_sql_db *db;
    struct rs_timeline *t;
    const char *title;
    uint32_t tables; /* requested: bits 1 << enum rs_sql_table */
    struct rs_filter filter; /* the timeline's, or one that passes everything */
    uint32_t *only_rank; /* by process: its rank, if it has only one; else RS_NONE */
    struct rs_json *json; /* writes arguments of an event to `text` */
    struct rs_strbuf text;
    struct rs_sql_kind *kinds;
    struct rs_bar_lane *lanes; /* of the current process, by id; `from` is the number of the first bar */
    uint32_t nlanes, cap_lanes, lanes_before; /* of the processes before */
};

void rs_sql_fill_begin(struct rs_sql_fill *f, struct rs_sql_db *db, struct rs_timeline *t, const char *title,
                       uint32_t tables);
enum rs_status rs_sql_fill_model(struct rs_sql_fill *f, struct rs_err *err);
enum rs_status rs_sql_fill_piece(struct rs_sql_fill *f, uint32_t proc, const struct rs_bars *bars, struct rs_err *err);
enum rs_status rs_sql_fill_end(struct rs_sql_fill *f, struct rs_err *err);
void rs_sql_fill_free(struct rs_sql_fill *f);

/* The rows of the timeline (bits 1 << enum rs_row) that the tables are made of; 0: none is needed. */
uint64_t rs_sql_fill_rows(uint32_t tables);

/* ---- between fill.c and events.c ---- */

static inline bool rs_sql_wants(const struct rs_sql_fill *f, enum rs_sql_table table)
{
    return f->tables >> table & 1;
}
void rs_sql_kinds_free(struct rs_sql_fill *f);

#endif
