#ifndef RS_NO_SQLITE

#include "export/sqlite/db.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "foreign/formats.h"

/* ---- rows ---- */

struct sqlite3;

/* ---- values of a row ---- */

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
    int code = sqlite3_prepare_v3(db, rs_strbuf_borrow(&sql), (int)sql.len, SQLITE_PREPARE_PERSISTENT, to, NULL);
    rs_strbuf_free(&sql);
    return code;
}

/* SQLite's own codes: SQLITE_OK, else the database tells why. Free it also after a failure. */
static int sql_rows_open(struct rs_sql_insert *in, struct sqlite3 *db, enum rs_sql_table table)
{
    in->ncolumns = (unsigned)rs_sql_columns(table)->n;
    in->cells = in->next = rs_zalloc((size_t)2 * MANY * in->ncolumns, sizeof *in->cells);
    int code = prepare(db, table, 1, &in->one);
    return code == SQLITE_OK ? prepare(db, table, MANY, &in->many) : code;
}

static void sql_rows_free(struct rs_sql_insert *in)
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
    if (n > INT32_MAX || in->texts.len > INT32_MAX) rs_memory_out(); /* more than SQLite takes */
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

/* Puts what is gathered. */
static int sql_rows_put(struct rs_sql_insert *in)
{
    int code = SQLITE_OK;
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

/* The row is whole. */
static int sql_rows_next(struct rs_sql_insert *in)
{
    in->rows++;
    assert(in->next == in->cells + (size_t)in->rows * in->ncolumns);
    return in->rows < MANY ? SQLITE_OK : sql_rows_put(in);
}

/* ---- the database ---- */

static enum rs_status failed(struct rs_sql_db *db, int code, struct rs_err *err)
{
    if ((code & 0xff) == SQLITE_NOMEM) rs_memory_out();
    return rs_fail(err, RS_FAILED, "%s: cannot be written: %s", db->name, sqlite3_errmsg(db->handle));
}

static enum rs_status exec(struct rs_sql_db *db, const char *sql, struct rs_err *err)
{
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? RS_OK : failed(db, code, err);
}

static enum rs_status make_schema(struct rs_sql_db *db, struct rs_err *err)
{
    struct rs_strbuf sql = {0};
    enum rs_status status = RS_OK;
    for (int i = 0; i < RS_SQL_TABLES && status == RS_OK; i++) {
        rs_strbuf_clear(&sql);
        rs_sql_create_table(&sql, (enum rs_sql_table)i);
        status = exec(db, rs_strbuf_borrow(&sql), err);
    }
    for (size_t i = 0; i < rs_sql_nviews && status == RS_OK; i++) {
        rs_strbuf_clear(&sql);
        rs_sql_create_view(&sql, i);
        status = exec(db, rs_strbuf_borrow(&sql), err);
    }
    rs_strbuf_free(&sql);
    return status;
}

enum rs_status rs_sql_open(struct rs_sql_db *db, const char *path, const char *name, struct rs_err *err)
{
    *db = (struct rs_sql_db){.name = name};
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* nobody asks how much memory it has; refused where it runs already */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path ? path : "", &db->handle, flags, NULL);
    if (code != SQLITE_OK) return failed(db, code, err);
    /* What fails is thrown away as a whole: nothing need be undone, and nothing be on the disk before the end. */
    RS_TRY(exec(db,
                "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -4000; BEGIN",
                err));
    char id[48];
    snprintf(id, sizeof id, "PRAGMA application_id = %d", RS_SQLITE_ID);
    RS_TRY(exec(db, id, err));
    return make_schema(db, err);
}

enum rs_status rs_sql_index(struct rs_sql_db *db, uint32_t tables, struct rs_err *err)
{
    for (int i = 0; i < RS_SQL_TABLES; i++)
        if (tables >> i & 1 && rs_sql_tables[i].indexes) RS_TRY(exec(db, rs_sql_tables[i].indexes, err));
    return RS_OK;
}

enum rs_status rs_sql_commit(struct rs_sql_db *db, struct rs_err *err)
{
    return exec(db, "COMMIT", err);
}

void rs_sql_close(struct rs_sql_db *db)
{
    for (int i = 0; i < RS_SQL_TABLES; i++) sql_rows_free(&db->inserts[i]);
    sqlite3_close_v2(db->handle);
    *db = (struct rs_sql_db){0};
}

/* ---- rows ---- */

struct rs_sql_insert *rs_sql_into(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err)
{
    struct rs_sql_insert *in = &db->inserts[table];
    if (in->cells) return in;
    int code = sql_rows_open(in, db->handle, table);
    if (code == SQLITE_OK) return in;
    failed(db, code, err);
    sql_rows_free(in);
    return NULL;
}

enum rs_status rs_sql_row(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err)
{
    int code = sql_rows_next(&db->inserts[table]);
    return code == SQLITE_OK ? RS_OK : failed(db, code, err);
}

enum rs_status rs_sql_flush(struct rs_sql_db *db, struct rs_err *err)
{
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        int code = sql_rows_put(&db->inserts[i]);
        if (code != SQLITE_OK) return failed(db, code, err);
    }
    return RS_OK;
}

#endif
