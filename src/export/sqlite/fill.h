/* A run, table by table, into a database: those tables that are wanted, and nothing else is made or read for them.
 *
 *     rs_sql_fill_begin(&f, db, timeline, title, tables)     what all need
 *     rs_sql_fill_model(&f)                                  all but the lanes and what lies on them
 *     rs_sql_fill_piece(&f, proc, bars), piece by piece of each process, where rs_sql_fill_rows() is not 0
 *     rs_sql_fill_end(&f)                                    at last: names and notes come with what bears them
 *
 * Owned by the caller until rs_sql_fill_free(), as are database and timeline, which must live on. One thread at a
 * time. */
#ifndef RS_EXPORT_SQLITE_FILL_H
#define RS_EXPORT_SQLITE_FILL_H

#include "analyse/view.h"
#include "base/json.h"
#include "export/sqlite/db.h"
#include "join/presence.h"
#include "timeline/timeline.h"

#define RS_SQL_ALL ((UINT32_C(1) << RS_SQL_TABLES) - 1)

struct rs_sql_kind; /* where the arguments of a kind of bar go */

struct rs_sql_fill {
    struct rs_sql_db *db;
    struct rs_timeline *t;
    const char *title;
    uint32_t tables; /* wanted: bits 1 << enum rs_sql_table */
    struct rs_filter filter; /* the timeline's, or one that lets everything through */
    struct rs_view view; /* its ranks are the rows of ranks */
    uint32_t *only_rank; /* by process: its rank, where it has just one; RS_NONE */
    struct rs_json *json; /* into text */
    struct rs_strbuf text; /* of one value */
    const char *one; /* the only item of a list that came first, and that list: most of `seen_by` are this one */
    char one_list[64];
    struct rs_sql_kind *kinds;
    struct rs_bar_lane *lanes; /* of the process at hand, by id; `from` is the number of the first bar */
    uint32_t nlanes, cap_lanes, lanes_before; /* of the processes before */
};

void rs_sql_fill_begin(struct rs_sql_fill *f, struct rs_sql_db *db, struct rs_timeline *t, const char *title,
                       uint32_t tables);
enum rs_status rs_sql_fill_model(struct rs_sql_fill *f, struct rs_err *err);
enum rs_status rs_sql_fill_piece(struct rs_sql_fill *f, uint32_t proc, const struct rs_bars *bars, struct rs_err *err);
enum rs_status rs_sql_fill_end(struct rs_sql_fill *f, struct rs_err *err);
void rs_sql_fill_free(struct rs_sql_fill *f);

/* The rows of the timeline (bits 1 << enum rs_row) that tables are made of; 0: none is needed. */
uint64_t rs_sql_fill_rows(uint32_t tables);

/* ---- between its modules ---- */

static inline bool rs_sql_wants(const struct rs_sql_fill *f, enum rs_sql_table table)
{
    return f->tables >> table & 1;
}
/* sqlite/operations.c */
enum rs_status rs_sql_fill_operations(struct rs_sql_fill *f, struct rs_err *err);
enum rs_status rs_sql_fill_stragglers(struct rs_sql_fill *f, struct rs_err *err);
/* sqlite/events.c */
void rs_sql_kinds_free(struct rs_sql_fill *f);
/* sqlite/clocks.c */
enum rs_status rs_sql_fill_clocks(struct rs_sql_fill *f, struct rs_err *err);

/* The fields of a row, in the order of the table's columns, and its end. */
enum rs_status rs_sql_fields(struct rs_sql_fill *f, enum rs_sql_table table, const void *row, struct rs_err *err);

/* A value that is JSON: between the two calls it is written to f->json. */
void rs_sql_json_begin(struct rs_sql_fill *f);
void rs_sql_json_bind(struct rs_sql_fill *f, struct rs_sql_insert *in);
/* 0 is null: the tool does not tell it. */
void rs_sql_pid(struct rs_sql_insert *in, uint32_t pid);

#endif
