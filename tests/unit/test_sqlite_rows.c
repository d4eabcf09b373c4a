/* Rows on their way into a database: one statement inserts several, and each must arrive as given, whatever their number,
 * and whatever the row before it at the same position held. The truth is read back by SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "export/sqlite/db.h"
#include "export/sqlite/rows.h"

#ifndef RS_NO_SQLITE

#include <math.h>
#include <sqlite3.h>

static struct rs_sql_db db;
static struct rs_err err;

static int begin(void **state)
{
    (void)state;
    return rs_sql_open(&db, NULL, "test", &err) == RS_OK ? 0 : 1;
}

static int end(void **state)
{
    (void)state;
    rs_sql_close(&db);
    return 0;
}

/* Rows i of the table of strings: (i, its name). */
static void put_strings(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char name[32]; /* gone when the statement runs */
        int n = snprintf(name, sizeof name, "name %u", i);
        const struct rs_sql_string_row row = {i, name, (size_t)n};
        assert_int_equal(rs_sql_row(&db, RS_SQL_STRINGS, &row, &err), RS_OK);
    }
}

static int64_t number(const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db.handle, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

static void any_number_of_rows(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned more = 0; more < 40; more++) {
        put_strings(n, n + more);
        n += more;
        assert_int_equal(rs_sql_flush(&db, &err), RS_OK);
        assert_int_equal(number("SELECT count(*) FROM strings"), n);
    }
    assert_int_equal(number("SELECT sum(text = 'name ' || id) FROM strings"), n);
    assert_int_equal(number("SELECT max(id) FROM strings"), n - 1);
}

/* What row i holds as its value. */
static struct rs_value value_of(unsigned i)
{
    switch (i % 11) {
    case 0: return rs_v_null();
    case 1: return rs_v_int(INT64_MIN + i);
    case 2: return rs_v_text("");
    case 3: return rs_v_literal("literal");
    case 4: return rs_v_double(i / 8.0);
    case 5:
        return rs_v_text("a\xff"
                         "b");
    case 6: return rs_v_hex(i);
    case 7: return rs_v_uint(UINT64_MAX); /* more than SQLite has */
    case 8: return rs_v_double(NAN);
    case 9: return rs_v_textn("abcdef", 3);
    default: return rs_v_uint(7);
    }
}

static void check(sqlite3_stmt *s, unsigned i)
{
    static const int types[] = {SQLITE_NULL, SQLITE_INTEGER, SQLITE_TEXT, SQLITE_TEXT, SQLITE_FLOAT,  SQLITE_TEXT,
                                SQLITE_TEXT, SQLITE_NULL,    SQLITE_NULL, SQLITE_TEXT, SQLITE_INTEGER};
    const char *texts[] = {[2] = "",
                           [3] = "literal",
                           [5] = "a\xef\xbf\xbd"
                                 "b",
                           [9] = "abc",
                           [10] = NULL};
    char hex[32];
    snprintf(hex, sizeof hex, "0x%016x", i);
    texts[6] = hex;
    assert_int_equal(sqlite3_column_type(s, 1), types[i % 11]);
    if (types[i % 11] == SQLITE_TEXT) assert_string_equal((const char *)sqlite3_column_text(s, 1), texts[i % 11]);
    if (i % 11 == 1) assert_true(sqlite3_column_int64(s, 1) == INT64_MIN + i);
    if (i % 11 == 4) assert_true(sqlite3_column_double(s, 1) == i / 8.0);
    if (i % 11 == 10) assert_int_equal(sqlite3_column_int64(s, 1), 7);
}

/* 11 kinds of values in turn, and 16 or so places: each kind follows each other kind at each place. */
static void values_do_not_stay(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    for (unsigned i = 0; i < ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%05u", i);
        const struct rs_sql_meta_row row = {key, value_of(i + i / 16 % 5)};
        assert_int_equal(rs_sql_row(&db, RS_SQL_META, &row, &err), RS_OK);
    }
    assert_int_equal(rs_sql_flush(&db, &err), RS_OK);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db.handle, "SELECT key, value FROM meta ORDER BY key", -1, &s, NULL),
                     SQLITE_OK);
    for (unsigned i = 0; i < ROWS; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(s, 0), i);
        check(s, i + i / 16 % 5);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

/* A row that SQLite refuses is a failure, at the latest when all are to be there. */
static void refused(void **state)
{
    (void)state;
    put_strings(0, 3);
    const struct rs_sql_string_row again = {1, "again", 5}; /* the key is taken */
    assert_int_equal(rs_sql_row(&db, RS_SQL_STRINGS, &again, &err), RS_OK);
    assert_int_equal(rs_sql_flush(&db, &err), RS_FAILED);
    assert_non_null(strstr(err.msg, "test: cannot be written"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_rows, begin, end),
        cmocka_unit_test_setup_teardown(values_do_not_stay, begin, end),
        cmocka_unit_test_setup_teardown(refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
