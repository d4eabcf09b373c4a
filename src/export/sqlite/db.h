/* A database that a run is written into: opening, the schema, rows, indexes.
 *
 * Everything is one transaction, without a journal: after a failure the database is of no use. Owned by the caller until
 * rs_sql_close(); one thread at a time. */
#ifndef RS_EXPORT_SQLITE_DB_H
#define RS_EXPORT_SQLITE_DB_H

#include "export/sqlite/schema.h"

struct sqlite3;
struct rs_sql_insert;

struct rs_sql_db {
    struct sqlite3 *handle;
    const char *name; /* for messages */
    struct rs_sql_insert *inserts; /* by enum rs_sql_table */
    struct rs_json *json; /* writes lists to `list` */
    struct rs_strbuf list;
    const char
        *one; /* the only item of the first list that had only one, and that list: most of `seen_by` are this one */
    char one_list[64];
};

/* Creates tables and views. `path` NULL: a private database, in memory as long as it is small, else in an unnamed
 * temporary file. `name` must stay valid. Close it also after a failure. */
enum rs_status rs_sql_open(struct rs_sql_db *db, const char *path, const char *name, struct rs_err *err);
/* Creates the indexes of the tables in `tables` (bits 1 << enum rs_sql_table). */
enum rs_status rs_sql_index(struct rs_sql_db *db, uint32_t tables, struct rs_err *err);
/* Ends the transaction. */
enum rs_status rs_sql_commit(struct rs_sql_db *db, struct rs_err *err);
void rs_sql_close(struct rs_sql_db *db);

/* Adds a row: `row` is the struct that the fields of the table take their values from. It is in the table after
 * rs_sql_flush() at the latest. */
enum rs_status rs_sql_row(struct rs_sql_db *db, enum rs_sql_table table, const void *row, struct rs_err *err);
enum rs_status rs_sql_flush(struct rs_sql_db *db, struct rs_err *err);

#endif
