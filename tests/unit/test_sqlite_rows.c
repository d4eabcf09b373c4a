/* Rows on their way into a database: several go by one statement, and each must arrive as it was told, whatever their
 * number, and whatever the row before it at the same place held. The truth is read back by SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "export/sqlite/db.h"

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
    struct rs_sql_insert *in = rs_sql_into(&db, RS_SQL_STRINGS, &err);
    assert_non_null(in);
    for (unsigned i = from; i < to; i++) {
        char name[32]; /* gone when the statement runs */
        snprintf(name, sizeof name, "name %u", i);
        rs_sql_i64(in, i);
        rs_sql_text(in, name);
        assert_int_equal(rs_sql_row(&db, RS_SQL_STRINGS, &err), RS_OK);
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
static void tell(struct rs_sql_insert *in, unsigned i)
{
    switch (i % 11) {
    case 0: rs_sql_null(in); break;
    case 1: rs_sql_i64(in, INT64_MIN + i); break;
    case 2: rs_sql_text(in, ""); break;
    case 3: rs_sql_literal(in, "literal"); break;
    case 4: rs_sql_double(in, i / 8.0); break;
    case 5:
        rs_sql_text(in, "a\xff"
                        "b");
        break;
    case 6: rs_sql_hex(in, i); break;
    case 7: rs_sql_known(in, -1); break;
    case 8: rs_sql_double(in, NAN); break;
    case 9: rs_sql_textn(in, "abcdef", 3); break;
    default: rs_sql_i64(in, 7); break;
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
    struct rs_sql_insert *in = rs_sql_into(&db, RS_SQL_META, &err);
    assert_non_null(in);
    for (unsigned i = 0; i < ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%05u", i);
        rs_sql_text(in, key);
        tell(in, i + i / 16 % 5);
        assert_int_equal(rs_sql_row(&db, RS_SQL_META, &err), RS_OK);
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
    struct rs_sql_insert *in = rs_sql_into(&db, RS_SQL_STRINGS, &err);
    rs_sql_i64(in, 1); /* the key is taken */
    rs_sql_text(in, "again");
    assert_int_equal(rs_sql_row(&db, RS_SQL_STRINGS, &err), RS_OK);
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
