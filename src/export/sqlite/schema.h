/* The tables, indexes and views of a run in SQL: data, and the statements made of it. docs/sql.md explains their use.
 *
 * Every table and column has a comment. They stand in the CREATE statements, which SQLite keeps word by word, so that
 * a database says itself what is in it. */
#ifndef RS_EXPORT_SQLITE_SCHEMA_H
#define RS_EXPORT_SQLITE_SCHEMA_H

#include <stddef.h>

#include "base/strbuf.h"
#include "fields/field.h"

enum { RS_SQL_SCHEMA = 1 }; /* its version, in meta: columns are added, not renamed */

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
    const struct rs_out_table *fields; /* those of them that are in SQL */
    const char *indexes; /* statements; NULL: none */
};
extern const struct rs_sql_table_row rs_sql_tables[RS_SQL_TABLES];

/* The columns of a table in their order; worked out with the first call. One thread at a time. */
const struct rs_out_columns *rs_sql_columns(enum rs_sql_table table);

struct rs_sql_column {
    const char *name, *comment; /* comment "": the name says it */
    char type[64]; /* "INTEGER NOT NULL" */
};
struct rs_sql_column rs_sql_column(const struct rs_out_field *field);

struct rs_sql_view {
    const char *name, *comment;
    const char *select;
};
extern const struct rs_sql_view rs_sql_views[];
extern const size_t rs_sql_nviews;

/* CREATE TABLE with its comments, a column a line; CREATE VIEW likewise. Without a final semicolon. */
void rs_sql_create_table(struct rs_strbuf *to, enum rs_sql_table table);
void rs_sql_create_view(struct rs_strbuf *to, size_t view);
/* INSERT INTO table VALUES (?, ...), ...: so many rows. */
void rs_sql_insert_into(struct rs_strbuf *to, enum rs_sql_table table, unsigned rows);

#endif
