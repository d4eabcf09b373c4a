#include "cli/sql_query.h"

#ifndef RS_NO_SQLITE

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/output.h"
#include "cli/plain.h"
#include "cli/suggest.h"
#include "export/sqlite/schema.h"

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

/* The line of the query in which `offset` lies, and a mark under the place. */
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

static void suggest(sqlite3 *db, const char *message)
{
    static const char table[] = "no such table: ", column[] = "no such column: ";
    bool of_table = !strncmp(message, table, sizeof table - 1);
    if (!of_table && strncmp(message, column, sizeof column - 1)) return;
    const char *typed = message + (of_table ? sizeof table : sizeof column) - 1, *dot = strrchr(typed, '.');
    struct rs_suggest s = {.typed = dot ? dot + 1 : typed};
    char best[128];
    sqlite3_set_authorizer(db, NULL, NULL);
    offer(&s, db,
          of_table ? "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
                   : "SELECT DISTINCT p.name FROM sqlite_schema s, pragma_table_info(s.name) p "
                     "WHERE s.type IN ('table', 'view')",
          best, sizeof best);
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
    suggest(db, message);
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
 * is what stands behind it. */
static int prepare(sqlite3 *db, const char **sql, sqlite3_stmt **statement, const char **rest)
{
    int code;
    *statement = NULL;
    for (; (code = sqlite3_prepare_v2(db, *sql, -1, statement, rest)) == SQLITE_OK; *sql = *rest)
        if (*statement || !**rest) break;
    return code;
}

/* Whether a text holds more than comments. */
static bool is_more(sqlite3 *db, const char *text)
{
    sqlite3_stmt *q;
    const char *rest;
    bool more = prepare(db, &text, &q, &rest) != SQLITE_OK || q;
    sqlite3_finalize(q);
    return more;
}

int rs_sql_query(const char *command, sqlite3 *db, const char *sql, sqlite3_stmt **statement, uint32_t *tables)
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

bool rs_sql_is_export(const char *path, sqlite3 **db)
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

#endif
