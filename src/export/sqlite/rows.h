/* Rows of one table on their way into a database: values are gathered, and several rows put by one statement, since a
 * statement costs SQLite a third of a row beside the row itself.
 *
 * A row is told value by value, in the order of its table's columns (export/sqlite/schema.h), and is whole with
 * rs_sql_rows_next(). Texts are copied, but for literals. Owned by export/sqlite/db.h; one thread at a time. */
#ifndef RS_EXPORT_SQLITE_ROWS_H
#define RS_EXPORT_SQLITE_ROWS_H

#include <stdbool.h>

#include "export/sqlite/schema.h"

struct sqlite3;
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

/* SQLite's own codes: SQLITE_OK, else the database tells why. Free it also after a failure. */
int rs_sql_rows_open(struct rs_sql_insert *in, struct sqlite3 *db, enum rs_sql_table table);
/* The row is whole. */
int rs_sql_rows_next(struct rs_sql_insert *in);
/* Puts what is gathered. */
int rs_sql_rows_put(struct rs_sql_insert *in);
void rs_sql_rows_free(struct rs_sql_insert *in);

/* ---- values of a row ---- */

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

#endif
