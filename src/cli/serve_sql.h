/* Queries of the page that `ringscope serve` shows: POST /sql. Each runs in a child process, so that the server never waits;
 * the first one reads the inputs into a temporary database, which the others use. Main thread only. */
#ifndef RS_CLI_SERVE_SQL_H
#define RS_CLI_SERVE_SQL_H

#include "cli/commands.h"
#include "cli/view_bundle.h"
#include "serve/serve.h"

struct rs_serve_sql;

/* NULL: built without SQLite. View and paths stay the caller's, as long as this lives. */
struct rs_serve_sql *rs_serve_sql_new(const struct rs_command *self, struct rs_view_options *view, char **paths, int n);
/* How the server uses it; NULL is fine: not at all. */
struct rs_serve_job rs_serve_sql_job(struct rs_serve_sql *s);
/* Kills the child, if one runs, and removes the database. After rs_serve_stop(). NULL is fine. */
void rs_serve_sql_free(struct rs_serve_sql *s);

#endif
