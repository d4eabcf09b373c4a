#ifndef RS_NO_SQLITE

#include "export/sqlite/db.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "foreign/formats.h"

/* ---- rows of a table ----
 * Rows are collected, and several are inserted by one statement: a statement costs SQLite a third of a row in addition to
 * the row itself. Texts are copied, except for literals. */

enum { MANY = 16 }; /* rows per statement: more are no faster, and the statement grows with them */

enum { NUL, INT, DOUBLE, LITERAL, COPY };

struct cell {
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

struct rs_sql_insert {
    struct sqlite3_stmt *one, *many; /* of one row, and of MANY; NULL: not prepared */
    unsigned ncolumns;
    struct cell *cells; /* row by row: values, and after them what `many` has bound */
    struct cell *next; /* value */
    unsigned rows; /* complete ones */
    struct rs_strbuf texts; /* of the collected rows */
    struct rs_strbuf room; /* for a text that is not UTF-8 */
};

static int prepare(struct sqlite3 *db, enum rs_sql_table table, unsigned rows, struct sqlite3_stmt **to)
{
    struct rs_strbuf sql = {0};
    rs_sql_insert_into(&sql, table, rows);
    int code = sqlite3_prepare_v3(db, rs_strbuf_borrow(&sql), (int)sql.len, SQLITE_PREPARE_PERSISTENT, to, NULL);
    rs_strbuf_free(&sql);
    return code;
}

/* Returns SQLite's codes, as all functions here. Free it also after a failure. */
static int insert_open(struct rs_sql_insert *in, struct sqlite3 *db, enum rs_sql_table table)
{
    in->ncolumns = (unsigned)rs_sql_columns(table)->n;
    in->cells = in->next = rs_zalloc((size_t)2 * MANY * in->ncolumns, sizeof *in->cells);
    int code = prepare(db, table, 1, &in->one);
    return code == SQLITE_OK ? prepare(db, table, MANY, &in->many) : code;
}

static void insert_free(struct rs_sql_insert *in)
{
    sqlite3_finalize(in->one);
    sqlite3_finalize(in->many);
    free(in->cells);
    rs_strbuf_free(&in->texts);
    rs_strbuf_free(&in->room);
    *in = (struct rs_sql_insert){0};
}

/* ---- values ---- */

static void put_i64(struct rs_sql_insert *in, int64_t v)
{
    in->next->type = INT;
    in->next++->i = v;
}

static void put_null(struct rs_sql_insert *in)
{
    in->next++->type = NUL;
}

static void put_double(struct rs_sql_insert *in, double v) /* NaN: null */
{
    in->next->type = DOUBLE;
    in->next++->d = v;
}

static void put_copy(struct rs_sql_insert *in, const char *text, size_t n)
{
    if (n > INT32_MAX || in->texts.len > INT32_MAX) rs_memory_out(); /* more than SQLite takes */
    in->next->type = COPY;
    in->next->at = (uint32_t)in->texts.len;
    in->next++->n = (uint32_t)n;
    rs_strbuf_add(&in->texts, text, n);
}

static void put_literal(struct rs_sql_insert *in, const char *text)
{
    in->next->type = LITERAL;
    in->next++->literal = text;
}

static void put_text(struct rs_sql_insert *in, const char *text, size_t n)
{
    const char *whole = rs_utf8_whole(text, &n, &in->room); /* SQLite takes any bytes; programs that read it may not */
    put_copy(in, whole, n);
}

static void put_hex(struct rs_sql_insert *in, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    char hex[18] = "0x";
    for (int i = 17; i > 1; i--, v >>= 4) hex[i] = digits[v & 15];
    put_copy(in, hex, sizeof hex);
}

static void list_item(struct rs_json *j, const struct rs_value *item)
{
    if (item->type == RS_OUT_TEXT)
        rs_json_strn(j, item->text, item->n);
    else
        rs_json_i64(j, item->i);
}

/* A list as JSON. */
static void put_list(struct rs_sql_db *db, struct rs_sql_insert *in, const struct rs_out_field *field, const void *row)
{
    struct rs_value item;
    uint32_t at = 0;
    if (!field->next(row, &at, &item)) {
        put_literal(in, "[]");
        return;
    }
    struct rs_value first = item;
    bool more = field->next(row, &at, &item), one = !more && first.type == RS_OUT_TEXT;
    if (one && first.text == db->one) {
        put_literal(in, db->one_list);
        return;
    }
    if (!db->json) db->json = rs_alloc(sizeof *db->json); /* large: not for the stack */
    rs_strbuf_clear(&db->list);
    rs_json_to_text(db->json, &db->list, "a list");
    rs_json_array(db->json);
    list_item(db->json, &first);
    for (; more; more = field->next(row, &at, &item)) list_item(db->json, &item);
    rs_json_end(db->json);
    rs_json_flush(db->json);
    put_text(in, rs_strbuf_borrow(&db->list), db->list.len);
    if (one && !db->one && db->list.len < sizeof db->one_list) {
        db->one = first.text;
        memcpy(db->one_list, rs_strbuf_borrow(&db->list), db->list.len + 1);
    }
}

static void put_value(struct rs_sql_db *db, struct rs_sql_insert *in, const struct rs_out_field *field, const void *row)
{
    struct rs_value v = field->get(row);
    bool too_large = v.u > INT64_MAX; /* for SQLite's integers: null */
    switch (v.type) {
    case RS_OUT_INT: put_i64(in, v.i); break;
    case RS_OUT_BOOL:
    case RS_OUT_UINT: too_large ? put_null(in) : put_i64(in, v.i); break;
    case RS_OUT_DOUBLE: put_double(in, v.d); break;
    case RS_OUT_HEX: put_hex(in, v.u); break;
    case RS_OUT_TEXT: v.literal ? put_literal(in, v.text) : put_text(in, v.text, v.n); break;
    case RS_OUT_ROWS: put_list(db, in, field, row); break;
    default: put_null(in); break;
    }
}

/* ---- statements ---- */

/* Fails only out of memory, and the statement then with it. */
static void bind(const struct rs_sql_insert *in, struct sqlite3_stmt *to, int at, const struct cell *c)
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
static bool is_bound(const struct cell *is, const struct cell *was)
{
    return is->type == was->type && (is->type == NUL || ((is->type == INT || is->type == LITERAL) && is->i == was->i));
}

static int put_many(struct rs_sql_insert *in)
{
    unsigned n = MANY * in->ncolumns;
    struct cell *bound = in->cells + n;
    for (unsigned i = 0; i < n; i++) {
        if (is_bound(&in->cells[i], &bound[i])) continue;
        bind(in, in->many, (int)i + 1, &in->cells[i]);
        bound[i] = in->cells[i];
    }
    return step(in->many);
}

/* Inserts the collected rows. */
static int insert_put(struct rs_sql_insert *in)
{
    int code = SQLITE_OK;
    if (in->rows == MANY) {
        code = put_many(in);
    } else {
        for (unsigned r = 0; r < in->rows && code == SQLITE_OK; r++) {
            const struct cell *row = in->cells + (size_t)r * in->ncolumns;
            for (unsigned i = 0; i < in->ncolumns; i++) bind(in, in->one, (int)i + 1, &row[i]);
            code = step(in->one);
        }
    }
    in->rows = 0;
    in->next = in->cells;
    rs_strbuf_clear(&in->texts);
    return code;
}

/* The row is complete. */
static int insert_next(struct rs_sql_insert *in)
{
    in->rows++;
    assert(in->next == in->cells + (size_t)in->rows * in->ncolumns);
    return in->rows < MANY ? SQLITE_OK : insert_put(in);
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
    *db = (struct rs_sql_db){.name = name, .inserts = rs_zalloc(RS_SQL_TABLES, sizeof *db->inserts)};
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* statistics that are not used; refused once SQLite is initialized */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path ? path : "", &db->handle, flags, NULL);
    if (code != SQLITE_OK) return failed(db, code, err);
    /* After a failure the file is removed: no journal is needed, and no sync before the end. */
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
    for (int i = 0; i < RS_SQL_TABLES && db->inserts; i++) insert_free(&db->inserts[i]);
    free(db->inserts);
    free(db->json);
    rs_strbuf_free(&db->list);
    sqlite3_close_v2(db->handle);
    *db = (struct rs_sql_db){0};
}

/* ---- rows ---- */

/* The statements of a table, prepared once; NULL: see err. */
static struct rs_sql_insert *insert_into(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err)
{
    struct rs_sql_insert *in = &db->inserts[table];
    if (in->cells) return in;
    int code = insert_open(in, db->handle, table);
    if (code == SQLITE_OK) return in;
    failed(db, code, err);
    insert_free(in);
    return NULL;
}

enum rs_status rs_sql_row(struct rs_sql_db *db, enum rs_sql_table table, const void *row, struct rs_err *err)
{
    struct rs_sql_insert *in = insert_into(db, table, err);
    if (!in) return err->code;
    const struct rs_out_columns *columns = rs_sql_columns(table);
    for (uint32_t i = 0; i < columns->n; i++) put_value(db, in, columns->all[i], row);
    int code = insert_next(in);
    return code == SQLITE_OK ? RS_OK : failed(db, code, err);
}

enum rs_status rs_sql_flush(struct rs_sql_db *db, struct rs_err *err)
{
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        int code = insert_put(&db->inserts[i]);
        if (code != SQLITE_OK) return failed(db, code, err);
    }
    return RS_OK;
}

#endif
