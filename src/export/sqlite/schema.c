#include "export/sqlite/schema.h"

#include <stdio.h>

#include "export/sqlite/rows.h"

const struct rs_sql_table_row rs_sql_tables[RS_SQL_TABLES] = {
    [RS_SQL_META] = {"meta", "facts about the whole run. All times are ns of wall time on the common axis",
                     &rs_sql_meta, NULL},
    [RS_SQL_NOTES] = {"notes", "notes on the inputs", &rs_sql_notes, NULL},
    [RS_SQL_PROCESSES] = {"processes", "processes, one row for each tool that recorded one", &rs_out_process, NULL},
    [RS_SQL_RANKS] = {"ranks", "ranks of the job", &rs_sql_ranks, NULL},
    [RS_SQL_COMMUNICATORS] = {"communicators", "communicators of NCCL", &rs_out_communicator, NULL},
    [RS_SQL_MEMBERS] = {"members", "ranks of communicators", &rs_out_member,
                        "CREATE INDEX members_by_rank ON members (communicator_id, rank);"},
    [RS_SQL_OPERATIONS] = {"operations", "collectives, sends with their receives, fan-outs: joined across ranks",
                           &rs_out_operation,
                           "CREATE INDEX operations_by_op ON operations (op);"
                           "CREATE INDEX operations_by_communicator ON operations (communicator_id, func);"
                           "CREATE INDEX operations_by_start ON operations (start_ns);"},
    [RS_SQL_OPERATION_RANKS] = {"operation_ranks", "each rank in each operation", &rs_out_op_rank,
                                "CREATE INDEX operation_ranks_by_operation ON operation_ranks (operation_id, rank);"
                                "CREATE INDEX operation_ranks_by_rank ON operation_ranks (rank_id, start_ns);"},
    [RS_SQL_STRAGGLERS] = {"stragglers", "late ranks and hosts, their cost and its cause: as in `ringscope report`",
                           &rs_out_straggler, NULL},
    [RS_SQL_LANES] = {"lanes", "lanes of the timeline", &rs_sql_lanes, NULL},
    [RS_SQL_EVENTS] = {"events", "all bars of the timeline, except for network steps", &rs_sql_events,
                       "CREATE INDEX events_by_operation ON events (operation_id)"
                       " WHERE operation_id IS NOT NULL;"
                       "CREATE INDEX events_by_parent ON events (parent_id) WHERE parent_id IS NOT NULL;"
                       "CREATE INDEX events_by_start ON events (start_ns);"},
    [RS_SQL_NETWORK_STEPS] = {"network_steps", "steps of network operations (ProxyStep), one per chunk of data",
                              &rs_sql_network_steps,
                              "CREATE INDEX network_steps_by_operation ON network_steps (operation_id)"
                              " WHERE operation_id IS NOT NULL;"},
    [RS_SQL_LAUNCHES] = {"launches", "launches and what they launched", &rs_sql_launches,
                         "CREATE INDEX launches_by_event ON launches (event_id);"
                         "CREATE INDEX launches_by_launch ON launches (launch_id);"},
    [RS_SQL_CLOCKS] = {"clocks", "the clocks of each process and device", &rs_out_clock, NULL},
    [RS_SQL_STATISTICS] = {"statistics", "sums without times", &rs_sql_statistics, NULL},
    [RS_SQL_STRINGS] = {"strings", "names", &rs_sql_strings, NULL},
};

const struct rs_out_columns *rs_sql_columns(enum rs_sql_table table)
{
    static struct rs_out_columns columns[RS_SQL_TABLES];
    if (!columns[table].n) rs_out_columns_make(&columns[table], rs_sql_tables[table].fields, RS_IN_SQL);
    return &columns[table];
}

struct rs_sql_column rs_sql_column(const struct rs_out_field *f)
{
    static const char *const types[] = {[RS_OUT_NULL] = "",       [RS_OUT_INT] = "INTEGER",  [RS_OUT_UINT] = "INTEGER",
                                        [RS_OUT_DOUBLE] = "REAL", [RS_OUT_BOOL] = "INTEGER", [RS_OUT_HEX] = "TEXT",
                                        [RS_OUT_TEXT] = "TEXT",   [RS_OUT_NUMBERS] = "TEXT", [RS_OUT_TEXTS] = "TEXT"};
    struct rs_sql_column c = {.name = f->column ? f->column : f->name, .comment = f->comment ? f->comment : f->doc};
    const char *sql = f->sql ? f->sql : "";
    snprintf(c.type, sizeof c.type, "%s%s%s", types[f->type], *sql ? " " : "", sql);
    return c;
}

void rs_sql_create_table(struct rs_strbuf *to, enum rs_sql_table table)
{
    const struct rs_sql_table_row *t = &rs_sql_tables[table];
    const struct rs_out_columns *columns = rs_sql_columns(table);
    rs_strbuf_printf(to, "CREATE TABLE %s ( -- %s\n", t->name, t->comment);
    for (uint32_t i = 0; i < columns->n; i++) {
        struct rs_sql_column c = rs_sql_column(columns->all[i]);
        rs_strbuf_printf(to, "    %s%s%s%s", c.name, *c.type ? " " : "", c.type, i + 1 < columns->n ? "," : "");
        if (*c.comment) rs_strbuf_printf(to, " -- %s", c.comment);
        rs_strbuf_putc(to, '\n');
    }
    rs_strbuf_puts(to, ")");
}

void rs_sql_create_view(struct rs_strbuf *to, size_t view)
{
    const struct rs_sql_view *v = &rs_sql_views[view];
    rs_strbuf_printf(to, "CREATE VIEW %s AS -- %s\n%s", v->name, v->comment, v->select);
}

void rs_sql_insert_into(struct rs_strbuf *to, enum rs_sql_table table, unsigned rows)
{
    rs_strbuf_printf(to, "INSERT INTO %s VALUES ", rs_sql_tables[table].name);
    for (unsigned r = 0; r < rows; r++) {
        rs_strbuf_puts(to, r ? ",(?" : "(?");
        for (uint32_t i = 1; i < rs_sql_columns(table)->n; i++) rs_strbuf_puts(to, ",?");
        rs_strbuf_putc(to, ')');
    }
}
