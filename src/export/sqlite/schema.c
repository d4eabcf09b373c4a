#include "export/sqlite/schema.h"

#include <stdio.h>

#include "fields/tables.h"

/* Columns that the database alone has. */
enum { INTEGER = RS_OUT_INT, REAL = RS_OUT_DOUBLE, TEXT = RS_OUT_TEXT, ANY = RS_OUT_NULL };
#define COLUMN(id, type_, sql_, comment_)                                                                              \
    {                                                                                                                  \
        .name = #id, .type = type_, .in = RS_IN_SQL, .sql = sql_, .comment = comment_                                  \
    }

static const struct rs_out_field meta[] = {
    COLUMN(
        key, TEXT, "PRIMARY KEY",
        "ringscope, schema, title, filters, rows, t0_ns, from_ns, to_ns, operations, compared, ties, compare_error_ns, "
        "clocks_at_ns, aligned, world_size, units"),
    COLUMN(value, ANY, "",
           "t0_ns: the run's first event, where times of commands count from; operations, compared, ties, "
           "compare_error_ns: "
           "as `ringscope report` counts them; filters, rows: what was asked for"),
};

static const struct rs_out_field notes[] = {
    COLUMN(text, TEXT, "NOT NULL", "what could not be used, or should be known"),
};

static const struct rs_out_field ranks[] = {
    COLUMN(id, INTEGER, "PRIMARY KEY", "a GPU of a process"),
    COLUMN(rank, INTEGER, "", "of the job; null: not known"),
    COLUMN(process_id, INTEGER, "NOT NULL REFERENCES processes", ""),
    COLUMN(host, TEXT, "", ""),
    COLUMN(pid, INTEGER, "", ""),
    COLUMN(device, INTEGER, "", "CUDA device number in its process"),
    COLUMN(uuid, TEXT, "", "of the GPU"),
    COLUMN(bus_id, TEXT, "", ""),
};

static const struct rs_out_field lanes[] = {
    COLUMN(id, INTEGER, "PRIMARY KEY", "a row of the timeline: what lies on it does not overlap"),
    COLUMN(process_id, INTEGER, "NOT NULL REFERENCES processes", ""),
    COLUMN(rank_id, INTEGER, "REFERENCES ranks", "null: of the process as such"),
    COLUMN(communicator_id, INTEGER, "REFERENCES communicators", ""),
    COLUMN(row, TEXT, "NOT NULL", "operations, calls, launches, channels, proxy, steps, network, compute, host..."),
    COLUMN(label, TEXT, "", "channel 3; thread 4711 python"),
    COLUMN(sub, INTEGER, "NOT NULL",
           "among the lanes of its row; what would overlap is on a further one of the same label"),
    COLUMN(first_id, INTEGER, "NOT NULL", "of its first event (of row steps: of network_steps)"),
    COLUMN(n, INTEGER, "NOT NULL", "how many"),
};

/* clang-format off */
static const struct rs_out_field events[] = {
    COLUMN(id, INTEGER, "PRIMARY KEY", "of events and network_steps together; on a lane rising by start"),
    COLUMN(process_id, INTEGER, "REFERENCES processes", ""),
    COLUMN(rank_id, INTEGER, "REFERENCES ranks", ""),
    COLUMN(communicator_id, INTEGER, "REFERENCES communicators", ""),
    COLUMN(lane_id, INTEGER, "REFERENCES lanes", ""),
    COLUMN(kind, TEXT, "", "a function (the operation on its rank), CollApi, KernelCh, ProxyOp send, compute..."),
    COLUMN(name_id, INTEGER, "REFERENCES strings", "of a kernel, annotation or call"),
    COLUMN(operation_id, INTEGER, "REFERENCES operations", "that it is, or hangs on"),
    COLUMN(parent_id, INTEGER, "REFERENCES events", "the event that caused it or contains it"),
    COLUMN(start_ns, INTEGER, "", "null: not told, see near_ns"),
    COLUMN(end_ns, INTEGER, "", "null: not known, see end_after_ns and end_before_ns"),
    COLUMN(near_ns, INTEGER, "", "where start_ns is null: its launch, its call or its end"),
    COLUMN(end_after_ns, INTEGER, "", "where end_ns is null: it ended after this"),
    COLUMN(end_before_ns, INTEGER, "", "and before this; null: no bound is known"),
    COLUMN(open, INTEGER, "", "1: had not ended when its recording did"),
    COLUMN(wait_ns, INTEGER, "", "of an operation: it waited for the last rank; null: not, or below the clock error"),
#define ARG(...)
#define COLUMN_ARG(id, unit, label, column, comment_, ...)                                                             \
    {.name = column, .type = INTEGER, .in = RS_IN_SQL, .sql = "", .comment = comment_},
#include "timeline/event_args.inc"
#undef ARG
#undef COLUMN_ARG
    COLUMN(args, TEXT, "", "JSON object of what else is known: args ->> 'steps'"),
};
/* clang-format on */

static const struct rs_out_field network_steps[] = {
    COLUMN(id, INTEGER, "PRIMARY KEY", "of events and network_steps together"),
    COLUMN(process_id, INTEGER, "REFERENCES processes", "that did it (under PXN: for another)"),
    COLUMN(rank_id, INTEGER, "REFERENCES ranks", ""),
    COLUMN(communicator_id, INTEGER, "REFERENCES communicators", ""),
    COLUMN(lane_id, INTEGER, "REFERENCES lanes", ""),
    COLUMN(operation_id, INTEGER, "REFERENCES operations", ""),
    COLUMN(parent_id, INTEGER, "REFERENCES events", "its ProxyOp"),
    COLUMN(is_send, INTEGER, "", "1: sends, 0: receives"),
    COLUMN(channel, INTEGER, "", ""),
    COLUMN(peer, INTEGER, "", "rank in the communicator"),
    COLUMN(step, INTEGER, "", ""),
    COLUMN(steps, INTEGER, "", "of its ProxyOp"),
    COLUMN(bytes, INTEGER, "", ""),
    COLUMN(start_ns, INTEGER, "", ""),
    COLUMN(end_ns, INTEGER, "", "null: not known"),
    COLUMN(end_after_ns, INTEGER, "", "where end_ns is null: it ended after this"),
    COLUMN(gpu_ns, INTEGER, "", "a send: waited for its own GPU"),
    COLUMN(credit_ns, INTEGER, "", "a send: waited for the peer's credit"),
    COLUMN(net_ns, INTEGER, "", "a send: was on the network"),
    COLUMN(recv_ns, INTEGER, "", "a receive: waited for sender and network"),
    COLUMN(flush_ns, INTEGER, "", "a receive: flushed"),
    COLUMN(consume_ns, INTEGER, "", "a receive: waited for its own GPU"),
};

static const struct rs_out_field launches[] = {
    COLUMN(launch_id, INTEGER, "REFERENCES events", "the launch"),
    COLUMN(event_id, INTEGER, "REFERENCES events", "what it launched"),
};

static const struct rs_out_field statistics[] = {
    COLUMN(process_id, INTEGER, "NOT NULL REFERENCES processes", "inputs without times: sums of tools"),
    COLUMN(communicator_id, INTEGER, "REFERENCES communicators", ""),
    COLUMN(kind, TEXT, "NOT NULL", "kernel, comm, copy, call, range, range_work, operation"),
    COLUMN(func, TEXT, "", "NCCL's name of the function"),
    COLUMN(name, TEXT, "", ""),
    COLUMN(within, TEXT, "", "the annotation around it; of a range its domain"),
    COLUMN(thread, TEXT, "", ""),
    COLUMN(calls, INTEGER, "NOT NULL", ""),
    COLUMN(bytes, INTEGER, "", ""),
    COLUMN(total_ns, INTEGER, "", ""),
    COLUMN(min_ns, INTEGER, "", ""),
    COLUMN(max_ns, INTEGER, "", ""),
};

static const struct rs_out_field strings[] = {
    COLUMN(id, INTEGER, "PRIMARY KEY", ""),
    COLUMN(text, TEXT, "NOT NULL", "names of kernels, annotations and calls"),
};

#define OWN(name)                                                                                                      \
    &(const struct rs_out_table)                                                                                       \
    {                                                                                                                  \
        .fields = name, .n = sizeof name / sizeof *name                                                                \
    }

const struct rs_sql_table_row rs_sql_tables[RS_SQL_TABLES] = {
    [RS_SQL_META] = {"meta", "facts of the whole. Times everywhere are ns of wall time on one axis", OWN(meta), NULL},
    [RS_SQL_NOTES] = {"notes", "what should be known of the inputs", OWN(notes), NULL},
    [RS_SQL_PROCESSES] = {"processes", "processes, a row for each tool that saw one", &rs_out_process, NULL},
    [RS_SQL_RANKS] = {"ranks", "ranks of the job", OWN(ranks), NULL},
    [RS_SQL_COMMUNICATORS] = {"communicators", "communicators of NCCL", &rs_out_communicator, NULL},
    [RS_SQL_MEMBERS] = {"members", "ranks of communicators", &rs_out_member,
                        "CREATE INDEX members_by_rank ON members (communicator_id, rank);"},
    [RS_SQL_OPERATIONS] = {"operations", "collectives, sends with their receives, fan-outs: joined across ranks",
                           &rs_out_operation,
                           "CREATE INDEX operations_by_op ON operations (op);"
                           "CREATE INDEX operations_by_communicator ON operations (communicator_id, func);"
                           "CREATE INDEX operations_by_start ON operations (start_ns);"},
    [RS_SQL_OPERATION_RANKS] = {"operation_ranks", "what each rank did in an operation", &rs_out_op_rank,
                                "CREATE INDEX operation_ranks_by_operation ON operation_ranks (operation_id, rank);"
                                "CREATE INDEX operation_ranks_by_rank ON operation_ranks (rank_id, start_ns);"},
    [RS_SQL_STRAGGLERS] = {"stragglers", "who was late, what that cost and why: as in `ringscope report`",
                           &rs_out_straggler, NULL},
    [RS_SQL_LANES] = {"lanes", "rows of the timeline", OWN(lanes), NULL},
    [RS_SQL_EVENTS] = {"events", "all that lies on the timeline, but for network steps", OWN(events),
                       "CREATE INDEX events_by_operation ON events (operation_id)"
                       " WHERE operation_id IS NOT NULL;"},
    [RS_SQL_NETWORK_STEPS] = {"network_steps", "steps of network operations (ProxyStep), one a chunk of data",
                              OWN(network_steps),
                              "CREATE INDEX network_steps_by_operation ON network_steps (operation_id)"
                              " WHERE operation_id IS NOT NULL;"},
    [RS_SQL_LAUNCHES] = {"launches", "what was launched by what", OWN(launches),
                         "CREATE INDEX launches_by_event ON launches (event_id);"
                         "CREATE INDEX launches_by_launch ON launches (launch_id);"},
    [RS_SQL_CLOCKS] = {"clocks", "the clocks of each process and device", &rs_out_clock, NULL},
    [RS_SQL_STATISTICS] = {"statistics", "sums without a time axis", OWN(statistics), NULL},
    [RS_SQL_STRINGS] = {"strings", "names", OWN(strings), NULL},
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
