#include "export/sqlite/rows.h"

#ifndef RS_NO_SQLITE

#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model/model.h"

enum { MANY = 16 }; /* rows a statement: more are no faster, and the statement itself grows with them */

enum { NUL, INT, DOUBLE, LITERAL, COPY };

struct rs_sql_cell {
    uint8_t type;
    union {
        int64_t i;
        double d;
        const char *literal;
        struct {
            uint32_t at, n; /* in `texts` */
        };
    };
};

static int prepare(struct sqlite3 *db, enum rs_sql_table table, unsigned rows, struct sqlite3_stmt **to)
{
    struct rs_strbuf sql = {0};
    rs_sql_insert_into(&sql, table, rows);
    int code = sql.failed
                   ? SQLITE_NOMEM
                   : sqlite3_prepare_v3(db, rs_strbuf_borrow(&sql), (int)sql.len, SQLITE_PREPARE_PERSISTENT, to, NULL);
    rs_strbuf_free(&sql);
    return code;
}

int rs_sql_rows_open(struct rs_sql_insert *in, struct sqlite3 *db, enum rs_sql_table table)
{
    in->ncolumns = (unsigned)rs_sql_columns(table)->n;
    in->cells = in->next = calloc((size_t)2 * MANY * in->ncolumns, sizeof *in->cells);
    if (!in->cells) return SQLITE_NOMEM;
    int code = prepare(db, table, 1, &in->one);
    return code == SQLITE_OK ? prepare(db, table, MANY, &in->many) : code;
}

void rs_sql_rows_free(struct rs_sql_insert *in)
{
    sqlite3_finalize(in->one);
    sqlite3_finalize(in->many);
    free(in->cells);
    rs_strbuf_free(&in->texts);
    rs_strbuf_free(&in->room);
    *in = (struct rs_sql_insert){0};
}

/* ---- values ---- */

void rs_sql_i64(struct rs_sql_insert *in, int64_t v)
{
    in->next->type = INT;
    in->next++->i = v;
}

void rs_sql_null(struct rs_sql_insert *in)
{
    in->next++->type = NUL;
}

void rs_sql_double(struct rs_sql_insert *in, double v)
{
    in->next->type = DOUBLE;
    in->next++->d = v;
}

/* UTF-8 already. */
static void copy(struct rs_sql_insert *in, const char *text, size_t n)
{
    if (n > INT32_MAX || in->texts.len > INT32_MAX) {
        in->texts.failed = true; /* more than SQLite takes */
        n = 0;
    }
    in->next->type = COPY;
    in->next->at = (uint32_t)in->texts.len;
    in->next++->n = (uint32_t)n;
    rs_strbuf_add(&in->texts, text, n);
}

void rs_sql_textn(struct rs_sql_insert *in, const char *text, size_t n)
{
    if (!text) {
        rs_sql_null(in);
        return;
    }
    const char *whole = rs_utf8_whole(text, &n, &in->room); /* SQLite takes any bytes; programs that read it may not */
    copy(in, whole, n);
}

void rs_sql_text(struct rs_sql_insert *in, const char *text)
{
    rs_sql_textn(in, text, text ? strlen(text) : 0);
}

void rs_sql_literal(struct rs_sql_insert *in, const char *text)
{
    in->next->type = LITERAL;
    in->next++->literal = text;
}

void rs_sql_hex(struct rs_sql_insert *in, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    char hex[18] = "0x";
    for (int i = 17; i > 1; i--, v >>= 4) hex[i] = digits[v & 15];
    copy(in, hex, sizeof hex);
}

void rs_sql_time(struct rs_sql_insert *in, int64_t ns)
{
    if (ns == RS_TIME_NONE)
        rs_sql_null(in);
    else
        rs_sql_i64(in, ns);
}

void rs_sql_known(struct rs_sql_insert *in, int64_t v)
{
    if (v < 0)
        rs_sql_null(in);
    else
        rs_sql_i64(in, v);
}

void rs_sql_id(struct rs_sql_insert *in, uint32_t id)
{
    if (id == RS_NONE)
        rs_sql_null(in);
    else
        rs_sql_i64(in, id);
}

/* ---- putting ---- */

/* Fails only out of memory, and the statement then with it. */
static void bind(const struct rs_sql_insert *in, struct sqlite3_stmt *to, int at, const struct rs_sql_cell *c)
{
    switch (c->type) {
    case INT: sqlite3_bind_int64(to, at, c->i); break;
    case DOUBLE: sqlite3_bind_double(to, at, c->d); break;
    case LITERAL: sqlite3_bind_text(to, at, c->literal, -1, SQLITE_STATIC); break;
    case COPY: sqlite3_bind_text(to, at, rs_strbuf_borrow(&in->texts) + c->at, (int)c->n, SQLITE_STATIC); break;
    default: sqlite3_bind_null(to, at); break;
    }
}

static int step(struct sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Whether a value is bound already: SQLite keeps them from one run of a statement to the next. */
static bool is_bound(const struct rs_sql_cell *is, const struct rs_sql_cell *was)
{
    return is->type == was->type && (is->type == NUL || ((is->type == INT || is->type == LITERAL) && is->i == was->i));
}

static int put_many(struct rs_sql_insert *in)
{
    unsigned n = MANY * in->ncolumns;
    struct rs_sql_cell *bound = in->cells + n;
    for (unsigned i = 0; i < n; i++) {
        if (is_bound(&in->cells[i], &bound[i])) continue;
        bind(in, in->many, (int)i + 1, &in->cells[i]);
        bound[i] = in->cells[i];
    }
    return step(in->many);
}

int rs_sql_rows_put(struct rs_sql_insert *in)
{
    int code = in->texts.failed || in->room.failed ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK && in->rows == MANY) {
        code = put_many(in);
    } else {
        for (unsigned r = 0; r < in->rows && code == SQLITE_OK; r++) {
            const struct rs_sql_cell *row = in->cells + (size_t)r * in->ncolumns;
            for (unsigned i = 0; i < in->ncolumns; i++) bind(in, in->one, (int)i + 1, &row[i]);
            code = step(in->one);
        }
    }
    in->rows = 0;
    in->next = in->cells;
    rs_strbuf_clear(&in->texts);
    return code;
}

int rs_sql_rows_next(struct rs_sql_insert *in)
{
    in->rows++;
    assert(in->next == in->cells + (size_t)in->rows * in->ncolumns);
    return in->rows < MANY ? SQLITE_OK : rs_sql_rows_put(in);
}

#endif
