/* A SQLite export of Nsight Systems, opened so that nothing beside it is written, and read table by table.
 *
 * Tables, and columns in them, are there only if they have something to say, and differ between versions: a table that
 * is missing has no rows, a column that is missing is NULL. Rows come in the order of the table, one at a time; there
 * are no joins, since a damaged file may have no index that holds. Whatever SQLite finds wrong ends a table and is kept
 * in `damage`. A file that would give more rows than its bytes can hold is damaged too. One thread at a time. */
#ifndef RS_FOREIGN_NSYS_DB_H
#define RS_FOREIGN_NSYS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rs_nsys_db {
    const char *path; /* the caller's, for messages */
    struct rs_err damage; /* code RS_OK: none; else the first */
    /* its own: */
    struct sqlite3 *handle;
    void *bytes; /* of a packed file, unpacked */
    uint64_t size; /* of the file */
    int64_t steps_left; /* of SQLite's machine, in thousands: against files that never end */
};

struct rs_nsys_rows {
    struct rs_nsys_db *db;
    struct sqlite3_stmt *statement; /* NULL: no rows */
    const char *table;
};

/* Fails where the file is none, or this build has no SQLite. */
enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err);
/* The same over memory, which is copied. */
enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err);
void rs_nsys_close(struct rs_nsys_db *db); /* a zeroed struct is fine */

/* Whether the table is there, and has the column (NULL: any). Views and virtual tables are none. */
bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column);

/* All rows of a table; `columns` ends with NULL. The names are the program's own words. */
void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns);
bool rs_nsys_next(struct rs_nsys_rows *rows); /* false: no more, and all is freed */
void rs_nsys_stop(struct rs_nsys_rows *rows); /* before the end */

/* Of the row at hand. */
bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v); /* false: NULL, and *v is as it was */
/* A text or blob; NULL: none. Good until the next row. *blob: it is one. */
const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob);

#endif
