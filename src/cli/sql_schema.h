/* Prints the schema of `ringscope sql`: the tables and views, all or those that are named.
 *
 * Main thread only. */
#ifndef RS_CLI_SQL_SCHEMA_H
#define RS_CLI_SQL_SCHEMA_H

#include <stdbool.h>

#include "cli/opt.h"

/* Operands are names of tables and views (none: all); inputs say nothing here, since all have the same, and are passed
 * over. As statements of SQL, or JSON Lines. Returns the exit status. */
int rs_sql_schema(const struct rs_command *cmd, char *const *operands, int n, bool json);

#endif
