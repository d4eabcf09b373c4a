#include "cli/sql_schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "cli/output.h"
#include "cli/suggest.h"
#include "export/sqlite/schema.h"

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

static enum rs_status print_sql(const struct asked *a, struct rs_err *err)
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
    enum rs_status status = rs_strbuf_check(&text, err);
    if (status == RS_OK) fputs(rs_strbuf_borrow(&text), stdout);
    rs_strbuf_free(&text);
    return status;
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
    struct rs_json *j = malloc(sizeof *j);
    if (!j) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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

int rs_sql_schema(const struct rs_command *cmd, char *const *operands, int n, bool json)
{
    struct rs_err err;
    struct asked a = {.names = calloc((size_t)n + 1, sizeof *a.names)};
    int done = -1;
    for (int i = 0; a.names && i < n && done < 0; i++) done = take(cmd, &a, operands[i]);
    if (done < 0) {
        enum rs_status status = !a.names ? rs_fail(&err, RS_NO_MEMORY, "out of memory")
                                : json   ? print_json(&a, &err)
                                         : print_sql(&a, &err);
        done = status == RS_OK ? RS_EXIT_FINE : rs_print_err(cmd->name, &err);
    }
    free(a.names);
    return done;
}
