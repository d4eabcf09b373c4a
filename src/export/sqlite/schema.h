/* The tables, indexes and views of a run in SQL, and their statements. docs/sql.md explains their use.
 *
 * Tables and columns have comments, which are part of the CREATE statements. SQLite keeps these verbatim, so a database
 * documents itself. */
#ifndef RS_EXPORT_SQLITE_SCHEMA_H
#define RS_EXPORT_SQLITE_SCHEMA_H

#include <stddef.h>

#include "base/strbuf.h"
#include "fields/field.h"

enum { RS_SQL_SCHEMA = 1 }; /* version, in meta: columns are added, not renamed */

enum rs_sql_table {
    RS_SQL_META,
    RS_SQL_NOTES,
    RS_SQL_PROCESSES,
    RS_SQL_RANKS,
    RS_SQL_COMMUNICATORS,
    RS_SQL_MEMBERS,
    RS_SQL_OPERATIONS,
    RS_SQL_OPERATION_RANKS,
    RS_SQL_STRAGGLERS,
    RS_SQL_LANES,
    RS_SQL_EVENTS,
    RS_SQL_NETWORK_STEPS,
    RS_SQL_LAUNCHES,
    RS_SQL_CLOCKS,
    RS_SQL_STATISTICS,
    RS_SQL_STRINGS,
    RS_SQL_TABLES
};

struct rs_sql_table_row {
    const char *name, *comment;
    const struct rs_out_table *fields; /* its columns are those with RS_IN_SQL */
    const char *indexes; /* statements; NULL: none */
};
extern const struct rs_sql_table_row rs_sql_tables[RS_SQL_TABLES];

/* The columns of a table in their order; computed by the first call. One thread at a time. */
const struct rs_out_columns *rs_sql_columns(enum rs_sql_table table);

struct rs_sql_column {
    const char *name, *comment; /* comment "": none */
    char type[64]; /* "INTEGER NOT NULL" */
};
struct rs_sql_column rs_sql_column(const struct rs_out_field *field);

struct rs_sql_view {
    const char *name, *comment;
    const char *select;
};
extern const struct rs_sql_view rs_sql_views[];
extern const size_t rs_sql_nviews;

/* CREATE TABLE with its comments, one line per column; CREATE VIEW with its comment. Without a final semicolon. */
void rs_sql_create_table(struct rs_strbuf *to, enum rs_sql_table table);
void rs_sql_create_view(struct rs_strbuf *to, size_t view);
/* INSERT INTO table VALUES (?, ...), ...: for `rows` rows. */
void rs_sql_insert_into(struct rs_strbuf *to, enum rs_sql_table table, unsigned rows);

#endif
