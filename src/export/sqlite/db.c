#include "export/sqlite/db.h"

#ifndef RS_NO_SQLITE

#include <sqlite3.h>

static enum rs_status failed(struct rs_sql_db *db, int code, struct rs_err *err)
{
    if ((code & 0xff) == SQLITE_NOMEM) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
        status = rs_strbuf_check(&sql, err);
        if (status == RS_OK) status = exec(db, rs_strbuf_borrow(&sql), err);
    }
    for (size_t i = 0; i < rs_sql_nviews && status == RS_OK; i++) {
        rs_strbuf_clear(&sql);
        rs_sql_create_view(&sql, i);
        status = rs_strbuf_check(&sql, err);
        if (status == RS_OK) status = exec(db, rs_strbuf_borrow(&sql), err);
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
    for (int i = 0; i < RS_SQL_TABLES; i++) rs_sql_rows_free(&db->inserts[i]);
    sqlite3_close_v2(db->handle);
    *db = (struct rs_sql_db){0};
}

/* ---- rows ---- */

struct rs_sql_insert *rs_sql_into(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err)
{
    struct rs_sql_insert *in = &db->inserts[table];
    if (in->cells) return in;
    int code = rs_sql_rows_open(in, db->handle, table);
    if (code == SQLITE_OK) return in;
    failed(db, code, err);
    rs_sql_rows_free(in);
    return NULL;
}

enum rs_status rs_sql_row(struct rs_sql_db *db, enum rs_sql_table table, struct rs_err *err)
{
    int code = rs_sql_rows_next(&db->inserts[table]);
    return code == SQLITE_OK ? RS_OK : failed(db, code, err);
}

enum rs_status rs_sql_flush(struct rs_sql_db *db, struct rs_err *err)
{
    for (int i = 0; i < RS_SQL_TABLES; i++) {
        int code = rs_sql_rows_put(&db->inserts[i]);
        if (code != SQLITE_OK) return failed(db, code, err);
    }
    return RS_OK;
}

#endif
