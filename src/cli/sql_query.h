/* One query on a database: prepared so that it can only read, with the tables that it needs and errors that say where.
 *
 * A query cannot touch files, change anything or load code: what is not a SELECT is refused before it runs. Main thread
 * only; the caller owns the statement and ends it with sqlite3_finalize(). */
#ifndef RS_CLI_SQL_QUERY_H
#define RS_CLI_SQL_QUERY_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/* Returns 0, or the exit status after the mistake was shown on stderr, with its place in the query and a name that may
 * be meant. *tables: bits 1 << enum rs_sql_table of those that it reads, also through views; may be NULL. */
int rs_sql_query(const char *command, struct sqlite3 *db, const char *sql, struct sqlite3_stmt **statement,
                 uint32_t *tables);

/* Whether a file is a database that `ringscope export --format sqlite` made. If so *db is open, for reading, and the
 * caller's. */
bool rs_sql_is_export(const char *path, struct sqlite3 **db);

#endif
