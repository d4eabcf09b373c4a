/* ringscope sql: a query on any input, without an export. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/sql_print.h"
#include "cli/sql_query.h"
#include "cli/sql_schema.h"
#include "cli/view_bundle.h"

#ifdef RS_NO_SQLITE

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_common common;
    int n, done = rs_common_parse(self, &common, RS_NO_OPTIONS, argc, argv, &n);
    if (done >= 0) return done;
    rs_warn(self->name, "this build has no SQL: libsqlite3 was not there when it was built");
    return RS_EXIT_FAILURE;
}

#else

#include <sqlite3.h>

#include "export/sqlite/fill.h"

struct options {
    struct rs_view_options view;
    bool csv, schema;
};

/* ---- the query ---- */

static enum rs_sql_form form_of(const struct options *o)
{
    return o->view.common.json ? RS_SQL_JSON : o->csv ? RS_SQL_CSV : RS_SQL_TABLE;
}

/* Prepares it again on what is there now, and prints its rows. */
static int answer(const struct rs_command *self, const struct options *o, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    struct rs_err err;
    int bad = rs_sql_query(self->name, db, sql, &q, NULL);
    if (bad) return bad;
    enum rs_status status = rs_sql_print(db, q, form_of(o), &err);
    sqlite3_finalize(q);
    return status == RS_OK ? RS_EXIT_FINE : rs_print_err(self->name, &err);
}

struct filling {
    struct rs_sql_fill fill;
    uint32_t proc;
};

static enum rs_status hand_on(void *to, const struct rs_bars *bars, struct rs_err *err)
{
    struct filling *f = to;
    return rs_sql_fill_piece(&f->fill, f->proc, bars, err);
}

/* Fills the tables that the query reads, and nothing else. */
static enum rs_status fill(struct rs_sql_db *db, struct rs_timeline *t, uint32_t tables, struct rs_err *err)
{
    struct filling f;
    uint32_t bars = 0, nprocs = rs_sql_fill_rows(tables) ? t->nprocs : 0;
    enum rs_status status = rs_sql_fill_begin(&f.fill, db, t, "", tables, err);
    if (status == RS_OK) status = rs_sql_fill_model(&f.fill, err);
    for (uint32_t i = 0; i < nprocs && status == RS_OK; i++) {
        f.proc = t->procs[i];
        status = rs_timeline_pieces(t, i, false, &bars, hand_on, &f, err);
        rs_reading_progress(i + 1, nprocs);
    }
    if (status == RS_OK) status = rs_sql_fill_end(&f.fill, err);
    rs_sql_fill_free(&f.fill);
    /* A query on one table reads it once: an index would cost more than it saves. */
    if (status == RS_OK && (tables & (tables - 1))) status = rs_sql_index(db, tables, err);
    return status == RS_OK ? rs_sql_commit(db, err) : status;
}

static int fill_and_answer(const struct rs_command *self, struct options *o, struct rs_sql_db *db, const char *sql,
                           uint32_t tables, struct rs_inputs *in)
{
    struct rs_model model;
    struct rs_timeline timeline = {0};
    struct rs_err err;
    int bad = rs_reading_join(self, in, &model, &o->view.common);
    if (bad) return bad;
    rs_filter_resolve(&o->view.common.filters.filter, &model);
    const struct rs_timeline_options options = {.filter = &o->view.common.filters.filter,
                                                .rows = o->view.row_bits,
                                                .piece = rs_reading_piece(),
                                                .begins = true};
    enum rs_status status = rs_timeline_init(&timeline, &model, in, &options, &err);
    if (status == RS_OK) status = fill(db, &timeline, tables, &err);
    rs_timeline_free(&timeline);
    rs_model_free(&model); /* all that is wanted is in the database now */
    return status == RS_OK ? answer(self, o, db->handle, sql) : rs_print_err(self->name, &err);
}

/* A mistake in the query is said before minutes are spent on reading. */
static int query_inputs(const struct rs_command *self, struct options *o, char **paths, int n, const char *sql)
{
    struct rs_sql_db db;
    struct rs_err err;
    sqlite3_stmt *q;
    uint32_t tables = 0;
    int status = RS_EXIT_FINE;
    if (rs_sql_open(&db, NULL, "the temporary database", &err) != RS_OK)
        status = rs_print_err(self->name, &err);
    else
        status = rs_sql_query(self->name, db.handle, sql, &q, &tables);
    struct rs_inputs in;
    if (!status) {
        sqlite3_finalize(q);
        sqlite3_set_authorizer(db.handle, NULL, NULL); /* what comes now is ours */
        status = rs_reading_open(self, &in, paths, (size_t)n, o->view.common.run);
        if (!status) {
            status = fill_and_answer(self, o, &db, sql, tables, &in);
            rs_reading_complaints(self, &in);
            rs_inputs_close(&in);
        }
    }
    rs_sql_close(&db);
    return status;
}

/* Whether an option is given that says how inputs are read. */
static bool says_how_to_read(const struct options *o)
{
    const struct rs_common *c = &o->view.common;
    return !rs_filter_is_empty(&c->filters.filter) || c->filters.has_level || c->run || c->same_host || !c->align;
}

/* What `export --format sqlite` made is asked as it is. */
static int query_export(const struct rs_command *self, const struct options *o, sqlite3 *db, const char *sql)
{
    if (says_how_to_read(o)) {
        sqlite3_close_v2(db);
        return rs_opt_usage(self, "an exported database is asked as it is: filters go into the query");
    }
    int status = answer(self, o, db, sql);
    sqlite3_close_v2(db);
    return status;
}

/* ---- where the query is ---- */

/* The whole of standard input. */
static enum rs_status read_query(struct rs_strbuf *text, struct rs_err *err)
{
    enum { MOST = 1 << 20 };
    char piece[4096];
    for (size_t n; text->len <= MOST && (n = fread(piece, 1, sizeof piece, stdin)) > 0;) rs_strbuf_add(text, piece, n);
    if (ferror(stdin)) return rs_fail_errno(err, "standard input");
    if (text->len > MOST) return rs_fail(err, RS_FAILED, "standard input: a query has at most 1 MiB");
    return rs_strbuf_check(text, err);
}

/* Operands are the inputs, then the query. -1 to go on, else the exit status. */
static int check_operands(const struct rs_command *self, char **operands, int n)
{
    const char *last = n ? operands[n - 1] : NULL;
    if (n >= 2 && (strcmp(last, "-") == 0 || access(last, F_OK) != 0)) return -1;
    if (!last || access(last, F_OK) != 0)
        return rs_opt_usage(self, "inputs first, then the query in quotes: rec \"SELECT * FROM v_stragglers\"");
    return rs_opt_usage(self,
                        "there is no query behind '%s'. Put it there, in quotes (\"SELECT * FROM v_stragglers\"; "
                        "--schema lists the tables), or - to read it from standard input",
                        last);
}

static int ask(const struct rs_command *self, struct options *o, char **inputs, int n, const char *sql)
{
    for (int i = 0; i < n; i++) {
        sqlite3 *export;
        if (!rs_sql_is_export(inputs[i], &export)) continue;
        if (n == 1) return query_export(self, o, export, sql);
        sqlite3_close_v2(export);
        return rs_opt_usage(self, "%s: an exported database is asked alone, without other inputs", inputs[i]);
    }
    return query_inputs(self, o, inputs, n, sql);
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {0};
    const struct rs_opt opts[] = {
        {RS_OPT_FLAG, 0, "csv", &o.csv, NULL, "comma-separated values, with a line of names"},
        {RS_OPT_FLAG, 0, "schema", &o.schema, NULL, "list tables (those named, or all) with what is in them"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.view.common, opts, argc, argv, &n);
    if (done < 0) done = rs_view_options_check(self, &o.view);
    if (done >= 0) return done;
    if (o.view.common.json && o.csv) return rs_opt_usage(self, "--json or --csv, not both");
    struct rs_err err;
    if (o.schema) {
        if (o.csv || says_how_to_read(&o)) return rs_opt_usage(self, "--schema goes with --json or alone");
        return rs_sql_schema(self, argv + 1, n, o.view.common.json);
    }
    done = check_operands(self, argv + 1, n);
    if (done >= 0) return done;
    struct rs_strbuf typed = {0};
    const char *sql = argv[n];
    enum rs_status status = RS_OK;
    if (!strcmp(sql, "-")) {
        status = read_query(&typed, &err);
        sql = rs_strbuf_borrow(&typed);
    }
    done = status == RS_OK ? ask(self, &o, argv + 1, n - 1, sql) : rs_print_err(self->name, &err);
    rs_strbuf_free(&typed);
    return done;
}

#endif

const struct rs_command rs_cmd_sql = {
    .name = "sql",
    .summary = "ask anything of a run in SQL, without an export; --schema lists the tables",
    .usage = "[options] IN... QUERY|-",
    .text =
        "Reads and joins the inputs, puts what the query needs into tables that nobody else sees, and prints its "
        "rows.\n"
        "The tables are those of `ringscope export --format sqlite`; such a database is an input too. A query only "
        "reads.\n"
        "Begin with the views: v_stragglers (who was late), v_waits (who waited for whom), v_bandwidth, v_network,\n"
        "v_operations, v_timeline. Times are ns on one axis, sizes bytes; null is not known. QUERY - reads standard "
        "input.",
    .examples = "ringscope sql rec \"SELECT * FROM v_stragglers\"\n"
                "ringscope sql rec \"SELECT func, count(*), sum(bytes) FROM operations GROUP BY func\"\n"
                "ringscope sql rec --csv \"SELECT rank, sum(wait_ns) FROM v_waits GROUP BY rank\" >waits.csv\n"
                "ringscope sql rec - <query.sql                     # a query from a file\n"
                "ringscope sql --schema operations v_waits          # their columns, with what they mean",
    .json = "JSON Lines: one object per row",
    .takes = "filter level reading",
    .run = run,
};
