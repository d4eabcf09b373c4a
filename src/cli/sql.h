/* Queries in SQL for other commands than `sql`: on a database in a file, read only. Errors are printed on stderr. Main
 * thread only. */
#ifndef RS_CLI_SQL_H
#define RS_CLI_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/view_bundle.h"

/* False: built without SQLite; then nothing else here works. */
bool rs_sql_is_there(void);

/* All tables with their columns, and the views, as `sql --schema --json` lists them. */
void rs_sql_describe(struct rs_strbuf *to);

/* Reads the inputs into a new database at `path`, all tables of it. Returns the exit status; after a failure the file is
 * not whole. */
int rs_sql_make(const struct rs_command *self, struct rs_view_options *view, char **paths, int n, const char *path);

/* Prints at most `most` rows of a query on such a database to stdout, as `sql --json` does; *cut: there are more. A query
 * can only read, and only this database. Returns the exit status: RS_EXIT_USAGE for a mistake in the query. */
int rs_sql_ask(const struct rs_command *self, const char *path, const char *sql, uint64_t most, bool *cut);

#endif
