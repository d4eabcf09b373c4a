/* ringscope sql: a query on any input, without an export. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/matches.h"
#include "cli/options/opt.h"
#include "cli/options/suggest.h"
#include "cli/print/output.h"
#include "cli/reading.h"
#include "cli/sql_print.h"
#include "cli/view_bundle.h"
#include "export/sqlite/schema.h"

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
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cli/options/opt.h"
#include "cli/options/suggest.h"
#include "cli/print/plain.h"
#include "export/sqlite/fill.h"
#include "export/sqlite/schema.h"

/* ---- one query ----
 * One query on a database: prepared so that it can only read, with the tables that it needs and errors that say
 * where.
 *
 * A query cannot touch files, change anything or load code: what is not a SELECT is refused before it runs. */

struct sqlite3;
struct sqlite3_stmt;

/* ---- what a query may do ---- */

static void note_table(uint32_t *tables, const char *name)
{
    for (int i = 0; i < RS_SQL_TABLES; i++)
        if (!strcmp(rs_sql_tables[i].name, name)) *tables |= UINT32_C(1) << i;
}

static bool is_look(const char *pragma)
{
    static const char *const looks[] = {"table_info", "table_list"};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (!strcmp(looks[i], pragma)) return true;
    return false;
}

/* ---- the schema ----
 * Prints the schema of `ringscope sql`: the tables and views, all or those that are named. */

/* What is asked for: names of tables and views; `n` 0: everything. */
struct asked {
    const char **names;
    int n;
};

static bool is_asked(const struct asked *a, const char *name)
{
    for (int i = 0; i < a->n; i++)
        if (!strcasecmp(a->names[i], name)) return true;
    return !a->n;
}

static bool is_known(const char *name, struct rs_suggest *near)
{
    const struct asked one = {&name, 1};
    bool known = false;
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        known = known || is_asked(&one, rs_sql_tables[i].name);
        rs_suggest_offer(near, rs_sql_tables[i].name);
    }
    for (size_t i = 0; i < rs_sql_nviews; i++) {
        known = known || is_asked(&one, rs_sql_views[i].name);
        rs_suggest_offer(near, rs_sql_views[i].name);
    }
    return known;
}

/* -1 to go on, else the exit status. */
static int take(const struct rs_command *cmd, struct asked *a, const char *name)
{
    struct rs_suggest near = {.typed = name};
    if (is_known(name, &near)) {
        a->names[a->n++] = name;
        return -1;
    }
    if (access(name, F_OK) == 0) return -1;
    return near.best ? rs_opt_usage(cmd, "there is no table '%s'; did you mean '%s'?", name, near.best)
                     : rs_opt_usage(cmd, "there is no table '%s'", name);
}

/* ---- as SQL ---- */

static void print_sql(const struct asked *a)
{
    struct rs_strbuf text = {0};
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        if (!is_asked(a, rs_sql_tables[i].name)) continue;
        if (text.len) rs_strbuf_putc(&text, '\n');
        rs_sql_create_table(&text, (enum rs_sql_table)i);
        rs_strbuf_puts(&text, ";\n");
    }
    for (size_t i = 0; i < rs_sql_nviews; i++) {
        if (!is_asked(a, rs_sql_views[i].name)) continue;
        if (text.len) rs_strbuf_putc(&text, '\n');
        rs_sql_create_view(&text, i);
        rs_strbuf_puts(&text, ";\n");
    }
    fputs(rs_strbuf_borrow(&text), stdout);
    rs_strbuf_free(&text);
}

/* ---- as JSON ---- */

static void put_row(struct rs_json *j, const char *kind, const char *table, const char *column, const char *type,
                    const char *comment)
{
    rs_json_object(j);
    rs_json_key_str(j, "kind", kind);
    rs_json_key_str(j, "table", table);
    rs_json_key_str(j, "column", column);
    rs_json_key_str(j, "type", type && *type ? type : NULL);
    rs_json_key_str(j, "comment", *comment ? comment : NULL);
    rs_json_end(j);
    rs_json_newline(j);
}

static enum rs_status print_json(const struct asked *a, struct rs_err *err)
{
    struct rs_json *j = rs_alloc(sizeof *j);
    rs_json_to_file(j, stdout, "standard output");
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        const struct rs_sql_table_row *t = &rs_sql_tables[i];
        if (!is_asked(a, t->name)) continue;
        put_row(j, "table", t->name, NULL, NULL, t->comment);
        const struct rs_out_columns *columns = rs_sql_columns((enum rs_sql_table)i);
        for (uint32_t k = 0; k < columns->n; k++) {
            struct rs_sql_column c = rs_sql_column(columns->all[k]);
            put_row(j, "column", t->name, c.name, c.type, c.comment);
        }
    }
    for (size_t i = 0; i < rs_sql_nviews; i++)
        if (is_asked(a, rs_sql_views[i].name))
            put_row(j, "view", rs_sql_views[i].name, NULL, NULL, rs_sql_views[i].comment);
    enum rs_status status = rs_json_finish(j, err);
    free(j);
    return status;
}

/* Operands are names of tables and views (none: all); inputs say nothing here, since all have the same, and are passed
 * over. As statements of SQL, or JSON Lines. Returns the exit status. */
static int sql_schema(const struct rs_command *cmd, char *const *operands, int n, bool json)
{
    struct rs_err err;
    struct asked a = {.names = rs_zalloc((size_t)n + 1, sizeof *a.names)};
    int done = -1;
    for (int i = 0; a.names && i < n && done < 0; i++) done = take(cmd, &a, operands[i]);
    if (done < 0) {
        if (!a.names) rs_memory_out();
        enum rs_status status = RS_OK;
        if (json)
            status = print_json(&a, &err);
        else
            print_sql(&a);
        done = status == RS_OK ? RS_EXIT_FINE : rs_print_err(cmd->name, &err);
    }
    free(a.names);
    return done;
}

/* ---- the command ---- */

static int authorise(void *to, int action, const char *a, const char *b, const char *schema, const char *within)
{
    (void)schema;
    (void)within;
    switch (action) {
    case SQLITE_READ: note_table(to, a); return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return strcmp(b, "load_extension") ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: return a && is_look(a) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

/* ---- mistakes ---- */

/* The line of the query that contains `offset`, with a mark under it. */
static void show_place(const char *sql, int offset)
{
    enum { WIDTH = 100 };
    const char *at = sql + offset, *begin = at, *end = at;
    while (begin > sql && begin[-1] != '\n' && at - begin < WIDTH) begin--;
    while (*end && *end != '\n' && end - begin < WIDTH + 20) end++;
    while (begin < at && ((unsigned char)*begin & 0xc0) == 0x80) begin++; /* not in the middle of a character */
    fputs("  ", stderr);
    rs_plain_print(begin, (size_t)(end - begin), stderr);
    fputs("\n  ", stderr);
    for (const char *c = begin; c < at; c++)
        if (((unsigned char)*c & 0xc0) != 0x80) fputc(' ', stderr);
    fputs("^\n", stderr);
}

/* All names of a kind in the database, one by one: "SELECT name ...". */
static void offer(struct rs_suggest *s, sqlite3 *db, const char *names, char *best, size_t room)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(db, names, -1, &q, NULL) == SQLITE_OK)
        while (sqlite3_step(q) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(q, 0), *before = s->best;
            if (!name) continue;
            rs_suggest_offer(s, name);
            if (s->best == before) continue;
            snprintf(best, room, "%s", name); /* the row's text goes with the row */
            s->best = best;
        }
    sqlite3_finalize(q);
}

/* Whether a text contains a name as a word of its own. */
static bool has_word(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strcasestr(at, name)); at++) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') return true;
    }
    return false;
}

/* What is near to a column's name among those of the tables that the query names; and where a column of this very name is. */
static void suggest_column(sqlite3 *db, const char *sql, const char *typed)
{
    struct rs_suggest s = {.typed = typed};
    char best[128];
    sqlite3_stmt *q = NULL;
    struct rs_strbuf owners = {0};
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", -1, &q, NULL) ==
        SQLITE_OK)
        while (sqlite3_step(q) == SQLITE_ROW) {
            const char *table = (const char *)sqlite3_column_text(q, 0);
            if (!table) continue;
            char *columns = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q)", table);
            char *same =
                sqlite3_mprintf("SELECT 1 FROM pragma_table_info(%Q) WHERE name = %Q COLLATE NOCASE", table, typed);
            sqlite3_stmt *has = NULL;
            if (columns && has_word(sql, table)) offer(&s, db, columns, best, sizeof best);
            if (same && sqlite3_prepare_v2(db, same, -1, &has, NULL) == SQLITE_OK && sqlite3_step(has) == SQLITE_ROW)
                rs_strbuf_printf(&owners, "%s%s", owners.len ? ", " : "", table);
            sqlite3_finalize(has);
            sqlite3_free(columns);
            sqlite3_free(same);
        }
    sqlite3_finalize(q);
    if (s.best) fprintf(stderr, "did you mean '%s'? ", s.best);
    if (owners.len) fprintf(stderr, "'%s' is a column of %s. ", typed, rs_strbuf_borrow(&owners));
    rs_strbuf_free(&owners);
}

static void suggest(sqlite3 *db, const char *sql, const char *message)
{
    static const char table[] = "no such table: ", column[] = "no such column: ";
    bool of_table = !strncmp(message, table, sizeof table - 1);
    if (!of_table && strncmp(message, column, sizeof column - 1)) return;
    const char *typed = message + (of_table ? sizeof table : sizeof column) - 1, *dot = strrchr(typed, '.');
    struct rs_suggest s = {.typed = dot ? dot + 1 : typed};
    char best[128];
    sqlite3_set_authorizer(db, NULL, NULL);
    if (of_table)
        offer(&s, db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", best, sizeof best);
    else
        suggest_column(db, sql, s.typed);
    if (s.best) fprintf(stderr, "did you mean '%s'? ", s.best);
    fprintf(stderr, "`ringscope sql --schema` lists all tables and columns\n");
}

static int mistake(const char *command, sqlite3 *db, const char *sql)
{
    char *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    int code = sqlite3_errcode(db), offset = -1;
#if SQLITE_VERSION_NUMBER >= 3038000
    offset = sqlite3_error_offset(db);
#endif
    if (!message) {
        rs_warn(command, "out of memory");
        return RS_EXIT_FAILURE;
    }
    rs_plain(message);
    if (code == SQLITE_AUTH)
        rs_warn(command, "a query may only read: SELECT, WITH, VALUES, EXPLAIN (%s)", message);
    else
        rs_warn(command, "%s", message);
    if (offset >= 0 && (size_t)offset <= strlen(sql)) show_place(sql, offset);
    if (sql[strspn(sql, " \t\r\n")] == '.')
        fputs("commands of the program sqlite3 are not known here; `ringscope sql --schema` lists the tables\n",
              stderr);
    suggest(db, sql, message);
    sqlite3_free(message);
    return code == SQLITE_NOMEM ? RS_EXIT_FAILURE : RS_EXIT_USAGE;
}

/* ---- preparing ---- */

/* Functions that stand for tables are made when they are first named, by a CREATE of their own, which no query may do:
 * so they are named here. */
static void make_functions(sqlite3 *db)
{
    static const char *const looks[] = {"SELECT 1 FROM json_each", "SELECT 1 FROM json_tree",
                                        "SELECT 1 FROM pragma_table_info", "SELECT 1 FROM pragma_table_list"};
    sqlite3_set_authorizer(db, NULL, NULL);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        sqlite3_stmt *q = NULL;
        sqlite3_prepare_v2(db, looks[i], -1, &q, NULL); /* a library without it: the query will say so */
        sqlite3_finalize(q);
    }
}

/* The first statement of a text, NULL: there is none. *sql goes behind the comments and semicolons in front of it, *rest
 * is what follows it. */
static int prepare(sqlite3 *db, const char **sql, sqlite3_stmt **statement, const char **rest)
{
    int code;
    *statement = NULL;
    for (; (code = sqlite3_prepare_v2(db, *sql, -1, statement, rest)) == SQLITE_OK; *sql = *rest)
        if (*statement || !**rest) break;
    return code;
}

/* Whether a text contains more than comments. */
static bool is_more(sqlite3 *db, const char *text)
{
    sqlite3_stmt *q;
    const char *rest;
    bool more = prepare(db, &text, &q, &rest) != SQLITE_OK || q;
    sqlite3_finalize(q);
    return more;
}

/* Returns 0, or the exit status after the mistake was shown on stderr, with its place in the query and a name that may
 * be meant. *tables: bits 1 << enum rs_sql_table of those that it reads, also through views; may be NULL. */
static int sql_query(const char *command, sqlite3 *db, const char *sql, sqlite3_stmt **statement, uint32_t *tables)
{
    static uint32_t read; /* outlives this call: SQLite may prepare the statement again when it runs */
    const char *rest = NULL;
    make_functions(db);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    read = 0;
    sqlite3_set_authorizer(db, authorise, &read);
    if (prepare(db, &sql, statement, &rest) != SQLITE_OK) return mistake(command, db, sql);
    if (tables) *tables = read;
    bool more = *statement && is_more(db, rest);
    if (*statement && !more && sqlite3_stmt_readonly(*statement)) return 0;
    rs_warn(command, !*statement ? "the query is empty"
                     : more      ? "one query at a time: there is more behind the first"
                                 : "a query may only read: SELECT, WITH, VALUES, EXPLAIN");
    if (more) show_place(sql, (int)(rest - sql));
    sqlite3_finalize(*statement);
    *statement = NULL;
    return RS_EXIT_USAGE;
}

/* Whether a file is a database that `ringscope export --format sqlite` made. If so *db is open, for reading, and the
 * caller's. */
static bool sql_is_export(const char *path, sqlite3 **db)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(head, sizeof head, 1, file) == 1 && !memcmp(head, magic, sizeof magic);
    if (file) fclose(file);
    *db = NULL;
    if (!is) return false;
    sqlite3_stmt *q = NULL;
    is = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(*db, "SELECT 1 FROM meta WHERE key = 'ringscope'", -1, &q, NULL) == SQLITE_OK &&
         sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    if (is) {
        sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        return true;
    }
    sqlite3_close_v2(*db);
    *db = NULL;
    return false;
}

/* ---- the command ---- */

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
    int bad = sql_query(self->name, db, sql, &q, NULL);
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
    rs_sql_fill_begin(&f.fill, db, t, "", tables);
    enum rs_status status = RS_OK;
    status = rs_sql_fill_model(&f.fill, err);
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
    bad = rs_matches_check(self, &o->view.common.filters.filter, &model);
    if (bad) {
        rs_model_free(&model);
        return bad;
    }
    const struct rs_timeline_options options = {.filter = &o->view.common.filters.filter,
                                                .rows = o->view.row_bits,
                                                .piece = rs_reading_piece(),
                                                .begins = true};
    rs_timeline_init(&timeline, &model, in, &options);
    enum rs_status status = RS_OK;
    status = fill(db, &timeline, tables, &err);
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
        status = sql_query(self->name, db.handle, sql, &q, &tables);
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
    return RS_OK;
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
        if (!sql_is_export(inputs[i], &export)) continue;
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
        {RS_OPT_FLAG, 0, "csv", &o.csv, NULL, "comma-separated values, with a header line"},
        {RS_OPT_FLAG, 0, "schema", &o.schema, NULL, "list tables (those named, or all) with their columns"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.view.common, opts, argc, argv, &n);
    if (done < 0) done = rs_view_options_check(self, &o.view);
    if (done >= 0) return done;
    if (o.view.common.json && o.csv) return rs_opt_usage(self, "--json or --csv, not both");
    struct rs_err err;
    if (o.schema) {
        if (o.csv || says_how_to_read(&o)) return rs_opt_usage(self, "--schema goes with --json or alone");
        return sql_schema(self, argv + 1, n, o.view.common.json);
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
    .summary = "query a run in SQL, without an export; --schema lists the tables",
    .usage = "[options] IN... QUERY|-",
    .text =
        "Reads and joins the inputs, loads what the query needs into a private database, and prints the rows.\n"
        "The tables are those of `ringscope export --format sqlite`; such a database is an input too. A query only "
        "reads.\n"
        "Begin with the views: v_stragglers (who was late), v_waits (who waited for whom), v_bandwidth, v_network,\n"
        "v_operations, v_timeline. Times are ns on one axis, sizes bytes; null is unknown. QUERY - reads standard "
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
