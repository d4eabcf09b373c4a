/* A database that a run is written into: opening, the schema, rows, indexes.
 *
 * The values of a row are told in the order of its table's columns (export/sqlite/rows.h), and rs_sql_row() ends it.
 * Everything is one transaction, without a journal: after a failure the database is of no use. Owned by the caller until
 * rs_sql_close(); one thread at a time. */
#ifndef RS_EXPORT_SQLITE_DB_H
#define RS_EXPORT_SQLITE_DB_H

#include "export/sqlite/rows.h"

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
