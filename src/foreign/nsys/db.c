#include "foreign/nsys/db.h"

#ifdef RS_NO_SQLITE

enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path};
    return rs_fail(
        err, RS_FAILED,
        "%s: an export of Nsight Systems, which this build cannot read: libsqlite3 was not there when it was "
        "built",
        path);
}

enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err)
{
    (void)bytes;
    (void)n;
    return rs_nsys_open(db, path, err);
}

void rs_nsys_close(struct rs_nsys_db *db)
{
    *db = (struct rs_nsys_db){0};
}

bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column)
{
    (void)db;
    (void)table;
    (void)column;
    return false;
}

void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns)
{
    (void)columns;
    *rows = (struct rs_nsys_rows){.db = db, .table = table};
}

bool rs_nsys_next(struct rs_nsys_rows *rows)
{
    (void)rows;
    return false;
}

void rs_nsys_stop(struct rs_nsys_rows *rows)
{
    (void)rows;
}

bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v)
{
    (void)rows;
    (void)column;
    (void)v;
    return false;
}

const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob)
{
    (void)rows;
    (void)column;
    *n = 0;
    *blob = false;
    return NULL;
}

#else

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/strbuf.h"

enum { MOST_UNPACKED = 1 << 30, LONGEST_VALUE = 16 << 20 };

static void damaged(struct rs_nsys_db *db, const char *table, const char *why)
{
    if (db->damage.code != RS_OK) return;
    rs_fail(&db->damage, RS_BAD_INPUT, "%s: table %s: %s; what was whole before is used", db->path, table, why);
}

/* ---- opening ---- */

static int count_steps(void *of)
{
    struct rs_nsys_db *db = of;
    return --db->steps_left < 0;
}

/* What a damaged or hostile file could do with SQLite is taken from it. */
static enum rs_status make_safe(struct rs_nsys_db *db, struct rs_err *err)
{
    uint64_t longest = db->size < LONGEST_VALUE ? db->size : LONGEST_VALUE;
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, (int)(longest < 4096 ? 4096 : longest));
    sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    db->steps_left = (int64_t)(db->size / 64) + 10000; /* 16 steps a byte: a row takes two or three a column */
    sqlite3_progress_handler(db->handle, 1000, count_steps, db);
    if (sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK)
        return rs_fail(err, RS_BAD_INPUT, "%s: not a database that can be read: %s", db->path,
                       sqlite3_errmsg(db->handle));
    return RS_OK;
}

enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path, .size = n};
    unsigned char *copy = sqlite3_malloc64(n ? n : 1);
    db->bytes = copy;
    if (!copy || sqlite3_open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    memcpy(copy, bytes, n);
    if (n > 19) copy[18] = copy[19] = 1; /* the log of a database that was still written is not here anyway */
    if (sqlite3_deserialize(db->handle, "main", copy, (sqlite3_int64)n, (sqlite3_int64)n,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return rs_fail(err, RS_BAD_INPUT, "%s: not a database that can be read: %s", path, sqlite3_errmsg(db->handle));
    return make_safe(db, err);
}

/* A packed database has to be unpacked as a whole: SQLite reads here and there. */
static enum rs_status open_packed(struct rs_nsys_db *db, const char *path, struct rs_bytes *bytes, struct rs_err *err)
{
    struct rs_strbuf all = {0};
    const char *block;
    size_t n;
    enum rs_status status;
    while ((status = rs_bytes_next(bytes, &block, &n, err)) == RS_OK && n) {
        if (all.len + n > MOST_UNPACKED) {
            status = rs_fail(err, RS_BAD_INPUT, "%s: more than 1 GiB unpacked: unpack it first", path);
            break;
        }
        rs_strbuf_add(&all, block, n);
    }
    if (status == RS_OK) status = rs_strbuf_check(&all, err);
    if (status == RS_OK) status = rs_nsys_open_memory(db, path, rs_strbuf_borrow(&all), all.len, err);
    rs_strbuf_free(&all);
    return status;
}

/* Immutable: SQLite takes no lock, looks for no journal, and writes nothing. */
static enum rs_status open_plain(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    struct rs_strbuf uri = {0};
    struct stat info;
    rs_strbuf_puts(&uri, "file:");
    if (path[0] == '/') rs_strbuf_puts(&uri, "//");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p))
            rs_strbuf_printf(&uri, "%%%02x", (unsigned char)*p);
        else
            rs_strbuf_putc(&uri, *p);
    }
    rs_strbuf_puts(&uri, "?mode=ro&immutable=1");
    enum rs_status status = rs_strbuf_check(&uri, err);
    if (status == RS_OK && stat(path, &info)) status = rs_fail_errno(err, "%s", path);
    if (status == RS_OK) db->size = (uint64_t)info.st_size;
    if (status == RS_OK &&
        sqlite3_open_v2(rs_strbuf_borrow(&uri), &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        status = rs_fail(err, RS_BAD_INPUT, "%s: cannot be opened: %s", path,
                         db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
    rs_strbuf_free(&uri);
    return status == RS_OK ? make_safe(db, err) : status;
}

enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path};
    struct rs_bytes *bytes;
    RS_TRY(rs_bytes_open(&bytes, path, err));
    bool plain = rs_bytes_packing(bytes) == RS_PLAIN;
    enum rs_status status = plain ? RS_OK : open_packed(db, path, bytes, err);
    rs_bytes_close(bytes);
    return plain ? open_plain(db, path, err) : status;
}

void rs_nsys_close(struct rs_nsys_db *db)
{
    sqlite3_close_v2(db->handle);
    sqlite3_free(db->bytes);
    *db = (struct rs_nsys_db){0};
}

/* ---- tables ---- */

static bool has_table(struct rs_nsys_db *db, const char *table)
{
    sqlite3_stmt *q = NULL;
    bool found = false;
    static const char text[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?1";
    if (sqlite3_prepare_v2(db->handle, text, -1, &q, NULL) == SQLITE_OK) {
        sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
        found = sqlite3_step(q) == SQLITE_ROW;
    }
    sqlite3_finalize(q);
    return found;
}

static bool has_column(struct rs_nsys_db *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db->handle, "main", table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column)
{
    return has_table(db, table) && (!column || has_column(db, table, column));
}

void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns)
{
    *rows = (struct rs_nsys_rows){.db = db, .table = table};
    if (!has_table(db, table)) return;
    struct rs_strbuf text = {0};
    for (size_t i = 0; columns[i]; i++) {
        rs_strbuf_puts(&text, i ? ", " : "SELECT ");
        if (has_column(db, table, columns[i]))
            rs_strbuf_printf(&text, "\"%s\"", columns[i]);
        else
            rs_strbuf_puts(&text, "NULL");
    }
    rs_strbuf_printf(&text, " FROM \"%s\" NOT INDEXED", table);
    if (text.failed || sqlite3_prepare_v2(db->handle, rs_strbuf_borrow(&text), -1, &rows->statement, NULL) != SQLITE_OK)
        damaged(db, table, text.failed ? "out of memory" : sqlite3_errmsg(db->handle));
    rs_strbuf_free(&text);
}

void rs_nsys_stop(struct rs_nsys_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

bool rs_nsys_next(struct rs_nsys_rows *rows)
{
    if (!rows->statement) return false;
    int result = sqlite3_step(rows->statement);
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_INTERRUPT)
        damaged(rows->db, rows->table, "more rows than the file can hold");
    else if (result != SQLITE_DONE)
        damaged(rows->db, rows->table, sqlite3_errmsg(rows->db->handle));
    rs_nsys_stop(rows);
    return false;
}

bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v)
{
    if (sqlite3_column_type(rows->statement, column) == SQLITE_NULL) return false;
    *v = sqlite3_column_int64(rows->statement, column);
    return true;
}

const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob)
{
    int type = sqlite3_column_type(rows->statement, column);
    *n = 0;
    *blob = type == SQLITE_BLOB;
    if (type == SQLITE_NULL) return NULL;
    const char *text = *blob ? sqlite3_column_blob(rows->statement, column)
                             : (const char *)sqlite3_column_text(rows->statement, column);
    *n = text ? (size_t)sqlite3_column_bytes(rows->statement, column) : 0;
    /* Many rows may name the same long chain of pages: what is read counts. */
    rows->db->steps_left -= (int64_t)(*n / 4096);
    return text;
}

#endif
