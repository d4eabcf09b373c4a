/* The rows of a query on standard output: a table, CSV, or JSON Lines. Rows are printed as they come. Main thread
 * only. */
#ifndef RS_CLI_SQL_PRINT_H
#define RS_CLI_SQL_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sqlite3;
struct sqlite3_stmt;

enum rs_sql_form { RS_SQL_TABLE, RS_SQL_CSV, RS_SQL_JSON };

/* Runs a prepared query to its end. Fails where the query does, or standard output. */
enum rs_status rs_sql_print(struct sqlite3 *db, struct sqlite3_stmt *statement, enum rs_sql_form form,
                            struct rs_err *err);
/* The same as JSON Lines, but at most `most` rows; *cut: there are more. */
enum rs_status rs_sql_print_first(struct sqlite3 *db, struct sqlite3_stmt *statement, uint64_t most, bool *cut,
                                  struct rs_err *err);

#endif
