/* A database that a run is written into: opening, the schema, rows, indexes.
 *
 * The values of a row are told in the order of its table's columns, and rs_sql_row() ends it.
 * Everything is one transaction, without a journal: after a failure the database is of no use. Owned by the caller until
 * rs_sql_close(); one thread at a time. */
#ifndef RS_EXPORT_SQLITE_DB_H
#define RS_EXPORT_SQLITE_DB_H

#include <stdbool.h>

#include "export/sqlite/schema.h"

/* ---- rows ----
 * Rows of one table on their way into a database: values are gathered, and several rows put by one statement, since
 * a statement costs SQLite a third of a row beside the row itself.
 *
 * A row is told value by value, in the order of its table's columns (export/sqlite/schema.h), and is whole with
 * sql_rows_next(). Texts are copied, but for literals. */

struct sqlite3_stmt;
struct rs_sql_cell;

struct rs_sql_insert {
    struct sqlite3_stmt *one, *many; /* of one row, and of as many as are gathered; NULL: not prepared */
    unsigned ncolumns;
    struct rs_sql_cell *cells; /* row by row: values, and behind them what `many` has bound */
    struct rs_sql_cell *next; /* value */
    unsigned rows; /* whole ones */
    struct rs_strbuf texts; /* of the gathered rows */
    struct rs_strbuf room; /* for a text that must be mended */
};

void rs_sql_i64(struct rs_sql_insert *in, int64_t v);
void rs_sql_null(struct rs_sql_insert *in);
void rs_sql_double(struct rs_sql_insert *in, double v); /* NaN: null */
void rs_sql_text(struct rs_sql_insert *in, const char *text); /* NULL: null */
void rs_sql_textn(struct rs_sql_insert *in, const char *text, size_t n); /* NULL: null */
void rs_sql_literal(struct rs_sql_insert *in, const char *text); /* UTF-8 that stays until the row is put */
void rs_sql_hex(struct rs_sql_insert *in, uint64_t v); /* "0x..." */
/* Null where it is RS_TIME_NONE; where it is below 0; where it is RS_NONE. */
void rs_sql_time(struct rs_sql_insert *in, int64_t ns);
void rs_sql_known(struct rs_sql_insert *in, int64_t v);
void rs_sql_id(struct rs_sql_insert *in, uint32_t id);

/* ---- the database ---- */

struct rs_sql_db {
    struct sqlite3 *handle;
    const char *name; /* for messages */
    struct rs_sql_insert inserts[RS_SQL_TABLES];
};

/* `path` NULL: a database of its own, in memory as long as it is small, else in a temporary file that nobody sees.
 * Tables and views are made. `name` must live on. Close it also after a failure. */
enum rs_status rs_sql_open(struct rs_sql_db *db, const char *path, const char *name, struct rs_err *err);
/* The indexes of the tables in `tables` (bits 1 << enum rs_sql_table). */
enum rs_status rs_sql_index(struct rs_sql_db *db, uint32_t tables, struct rs_err *err);
/* Ends the transaction. */
enum rs_status rs_sql_commit(struct rs_sql_db *db, struct rs_err *err);
void rs_sql_close(struct rs_sql_db *db);

/* Prepares the statement of a table, once. NULL: a failure, said in err. */
struct rs_sql_insert *rs_sql_into(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err);

/* The row whose values were all told is whole. It is in its table after rs_sql_flush() at the latest. */
enum rs_status rs_sql_row(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err);
enum rs_status rs_sql_flush(struct rs_sql_db *db, struct rs_err *err);

#endif
