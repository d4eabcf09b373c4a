#include "cli/sql_print.h"

#ifndef RS_NO_SQLITE

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/print/plain.h"

static enum rs_status failed(sqlite3 *db, struct rs_err *err)
{
    return rs_fail(err, RS_FAILED, "the query failed: %s", sqlite3_errmsg(db));
}

/* Ends a walk over rows: `code` is of the last step. */
static enum rs_status ended(sqlite3 *db, int code, struct rs_err *err)
{
    if (code != SQLITE_DONE && code != SQLITE_ROW) return failed(db, err);
    if (fflush(stdout) || ferror(stdout)) return rs_fail_errno(err, "standard output");
    return RS_OK;
}

/* The shortest text of a number that reads back the same. */
static void real_text(char *text, size_t room, double v)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, room, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (!(back < v) && !(back > v)) return;
    }
}

/* For people: nine digits, and no exponent where plain digits do. */
static void real_cell(struct rs_strbuf *cell, double v)
{
    bool large = (v >= 1e9 && v < 1e15) || (v <= -1e9 && v > -1e15);
    if (large)
        rs_strbuf_printf(cell, "%.0f", v);
    else
        rs_strbuf_printf(cell, "%.9g", v);
}

/* Bytes that are no text, as SQL writes them: X'00FF'. */
static void add_blob(struct rs_strbuf *to, const unsigned char *bytes, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";
    rs_strbuf_puts(to, "X'");
    for (size_t i = 0; i < n; i++) {
        const char pair[] = {hex[bytes[i] >> 4], hex[bytes[i] & 15]};
        rs_strbuf_add(to, pair, sizeof pair);
    }
    rs_strbuf_putc(to, '\'');
}

/* A value that is a text, an integer or bytes; a number is written as SQLite does. */
static void value_text(sqlite3_stmt *q, int i, struct rs_strbuf *to)
{
    rs_strbuf_clear(to);
    if (sqlite3_column_type(q, i) == SQLITE_BLOB) {
        const unsigned char *bytes = sqlite3_column_blob(q, i);
        add_blob(to, bytes, (size_t)sqlite3_column_bytes(q, i));
    } else {
        const char *text = (const char *)sqlite3_column_text(q, i);
        if (text) rs_strbuf_add(to, text, (size_t)sqlite3_column_bytes(q, i));
    }
}

/* ---- JSON ---- */

static bool is_taken(sqlite3_stmt *q, int n, char **names, int before, const char *name)
{
    for (int k = 0; k < before; k++)
        if (names[k] && !strcmp(names[k], name)) return true;
    for (int k = before + 1; k < n; k++) {
        const char *other = sqlite3_column_name(q, k);
        if (other && !strcmp(other, name)) return true;
    }
    return false;
}

/* Names of columns, each once: the second `id` is "id_2", unless another is called so. */
static char **column_names(sqlite3_stmt *q, int n)
{
    char **names = rs_zalloc((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(q, i);
        int same = 1;
        for (int k = 0; k < i; k++) same += name && !strcmp(sqlite3_column_name(q, k), name);
        if (!name) continue;
        names[i] = sqlite3_mprintf(same > 1 ? "%s_%d" : "%s", name, same);
        while (same > 1 && names[i] && is_taken(q, n, names, i, names[i])) {
            sqlite3_free(names[i]);
            names[i] = sqlite3_mprintf("%s_%d", name, ++same);
        }
    }
    return names;
}

static void value_json(struct rs_json *j, sqlite3_stmt *q, int i, struct rs_strbuf *text)
{
    switch (sqlite3_column_type(q, i)) {
    case SQLITE_INTEGER: rs_json_i64(j, sqlite3_column_int64(q, i)); break;
    case SQLITE_FLOAT: rs_json_double(j, sqlite3_column_double(q, i)); break;
    case SQLITE_NULL: rs_json_null(j); break;
    default: value_text(q, i, text); rs_json_strn(j, rs_strbuf_borrow(text), text->len);
    }
}

enum rs_status rs_sql_print_first(sqlite3 *db, sqlite3_stmt *q, uint64_t most, bool *cut, struct rs_err *err)
{
    struct rs_strbuf text = {0}; /* of one value */
    int n = sqlite3_column_count(q), code = SQLITE_DONE;
    struct rs_json *j = rs_alloc(sizeof *j);
    char **names = column_names(q, n);
    enum rs_status status = RS_OK;
    *cut = false;
    rs_json_to_file(j, stdout, "standard output");
    for (uint64_t rows = 0; !rs_json_failed(j) && (code = sqlite3_step(q)) == SQLITE_ROW; rows++) {
        *cut = rows == most;
        if (*cut) break;
        rs_json_object(j);
        for (int i = 0; i < n; i++) {
            rs_json_key(j, names[i] ? names[i] : "");
            value_json(j, q, i, &text);
        }
        rs_json_end(j);
        rs_json_newline(j);
    }
    status = rs_json_finish(j, err);
    if (status == RS_OK) status = ended(db, code, err);
    for (int i = 0; i < n; i++) sqlite3_free(names[i]);
    free(names);
    free(j);
    rs_strbuf_free(&text);
    return status;
}

/* ---- CSV ---- */

static void csv_field(const char *text, size_t n, bool first)
{
    if (!first) putchar(',');
    bool quote = !n;
    for (size_t i = 0; i < n && !quote; i++) quote = strchr(",\"\r\n", text[i]) != NULL;
    if (!quote) {
        fwrite(text, 1, n, stdout);
        return;
    }
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') putchar('"');
        putchar(text[i]);
    }
    putchar('"');
}

static enum rs_status print_csv(sqlite3 *db, sqlite3_stmt *q, struct rs_strbuf *text, struct rs_err *err)
{
    int n = sqlite3_column_count(q), code = SQLITE_DONE;
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(q, i);
        csv_field(name ? name : "", name ? strlen(name) : 0, !i);
    }
    putchar('\n');
    while (!ferror(stdout) && (code = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++) {
            int type = sqlite3_column_type(q, i);
            char number[40];
            if (type == SQLITE_NULL) { /* nothing at all; "" is an empty text */
                if (i) putchar(',');
            } else if (type == SQLITE_FLOAT) {
                real_text(number, sizeof number, sqlite3_column_double(q, i));
                csv_field(number, strlen(number), !i);
            } else {
                value_text(q, i, text);
                csv_field(rs_strbuf_borrow(text), text->len, !i);
            }
        }
        putchar('\n');
    }
    return ended(db, code, err);
}

/* ---- a table ---- */

/* Rows that say how wide columns are, and bytes of those at most; characters of a cell. */
enum { LOOK = 1000, LOOK_BYTES = 4 << 20, WIDEST = 100 };

struct columns {
    int n;
    size_t *width;
    bool *number; /* aligned right */
    struct rs_strbuf cells; /* of the rows that were looked at, each ended by a 0 byte */
};

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* The cell of a column: fit for a terminal, and not endless. */
static void cell_text(sqlite3_stmt *q, int i, struct rs_strbuf *cell)
{
    rs_strbuf_clear(cell);
    switch (sqlite3_column_type(q, i)) {
    case SQLITE_NULL: rs_strbuf_puts(cell, "null"); return;
    case SQLITE_FLOAT: real_cell(cell, sqlite3_column_double(q, i)); return;
    default:
        value_text(q, i, cell);
        if (!cell->data) return;
        for (size_t k = 0; k < cell->len; k++) /* a text ends with its length, not with a 0 byte */
            if (!cell->data[k]) cell->data[k] = '?';
        rs_plain(cell->data);
        rs_plain_cut(cell->data, WIDEST);
    }
}

static void print_cell(const struct columns *c, int i, const char *text)
{
    size_t is = characters(text), pad = is < c->width[i] ? c->width[i] - is : 0;
    if (i) fputs("  ", stdout);
    if (c->number[i]) printf("%*s", (int)pad, "");
    fputs(text, stdout);
    if (!c->number[i] && i + 1 < c->n) printf("%*s", (int)pad, "");
    if (i + 1 == c->n) putchar('\n');
}

static void look(struct columns *c, sqlite3_stmt *q, struct rs_strbuf *cell)
{
    for (int i = 0; i < c->n; i++) {
        int type = sqlite3_column_type(q, i);
        if (type != SQLITE_NULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT) c->number[i] = false;
        cell_text(q, i, cell);
        const char *text = rs_strbuf_borrow(cell);
        size_t n = characters(text);
        if (n > c->width[i]) c->width[i] = n;
        rs_strbuf_add(&c->cells, text, strlen(text) + 1);
    }
}

static void print_looked(const struct columns *c, sqlite3_stmt *q)
{
    for (int i = 0; i < c->n; i++) {
        const char *name = sqlite3_column_name(q, i);
        print_cell(c, i, name ? name : "");
    }
    const char *at = rs_strbuf_borrow(&c->cells), *end = at + c->cells.len;
    for (int i = 0; at < end; at += strlen(at) + 1, i = (i + 1) % c->n) print_cell(c, i, at);
}

static enum rs_status walk(struct columns *c, sqlite3 *db, sqlite3_stmt *q, struct rs_strbuf *cell, struct rs_err *err)
{
    int code = SQLITE_DONE;
    for (int i = 0; i < c->n; i++) {
        const char *name = sqlite3_column_name(q, i);
        c->width[i] = characters(name ? name : "");
        c->number[i] = true;
    }
    for (int rows = 0; rows < LOOK && c->cells.len < LOOK_BYTES && (code = sqlite3_step(q)) == SQLITE_ROW; rows++)
        look(c, q, cell);
    if (code != SQLITE_DONE && code != SQLITE_ROW) return failed(db, err);
    print_looked(c, q);
    while (code == SQLITE_ROW && !ferror(stdout) && (code = sqlite3_step(q)) == SQLITE_ROW)
        for (int i = 0; i < c->n; i++) {
            cell_text(q, i, cell);
            print_cell(c, i, rs_strbuf_borrow(cell));
        }
    return ended(db, code, err);
}

static enum rs_status print_table(sqlite3 *db, sqlite3_stmt *q, struct rs_strbuf *cell, struct rs_err *err)
{
    struct columns c = {.n = sqlite3_column_count(q)};
    c.width = rs_zalloc((size_t)c.n + 1, sizeof *c.width);
    c.number = rs_zalloc((size_t)c.n + 1, sizeof *c.number);
    enum rs_status status = walk(&c, db, q, cell, err);
    rs_strbuf_free(&c.cells);
    free(c.width);
    free(c.number);
    return status;
}

enum rs_status rs_sql_print(sqlite3 *db, sqlite3_stmt *statement, enum rs_sql_form form, struct rs_err *err)
{
    struct rs_strbuf text = {0}; /* of one value */
    bool cut;
    enum rs_status status = form == RS_SQL_JSON  ? rs_sql_print_first(db, statement, UINT64_MAX, &cut, err)
                            : form == RS_SQL_CSV ? print_csv(db, statement, &text, err)
                                                 : print_table(db, statement, &text, err);
    rs_strbuf_free(&text);
    return status;
}

#endif
