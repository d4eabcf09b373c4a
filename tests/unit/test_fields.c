/* Tables of output fields: names, sections and texts of each; what JSON leaves out, nests and orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "export/sqlite/rows.h"
#include "fields/operation.h"

/* ---- all tables: those of src/fields, and those that only the database has ---- */

/* The name of a field in an output; NULL: it is not there. What is inside of an object is apart. */
static const char *name_in(const struct rs_out_field *f, enum rs_out_format output)
{
    if (!(f->in & output) || (output == RS_IN_JSON && f->inside)) return NULL;
    return output == RS_IN_SQL && f->column ? f->column : f->name;
}

static void test_names(void **state)
{
    (void)state;
    static const enum rs_out_format outputs[] = {RS_IN_JSON, RS_IN_CSV, RS_IN_SQL};
    const struct rs_out_table *t;
    for (size_t i = 0; (t = rs_sql_each_table(i)); i++) {
        assert_in_range(t->n, 1, RS_OUT_MOST);
        for (const struct rs_out_field *a = t->fields; a < t->fields + t->n; a++) {
            if (strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(a->name) ||
                a->name_len != strlen(a->name))
                fail_msg("%s: '%s' is no plain name", t->name, a->name);
            if (a->in & RS_IN_JSON && !*a->doc) fail_msg("%s: %s has no text", t->name, a->name);
            if (strchr(a->doc, '|') || strchr(a->doc, '\n')) fail_msg("%s: %s: no row of a page", t->name, a->name);
            if (!a->get || !a->in) fail_msg("%s: %s is in no output", t->name, a->name);
            for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
                for (const struct rs_out_field *b = t->fields; b < a; b++) {
                    const char *x = name_in(a, outputs[o]), *y = name_in(b, outputs[o]);
                    if (x && y && !strcmp(x, y)) fail_msg("%s: %s is there twice", t->name, x);
                }
        }
    }
}

/* A name says its unit, and the table says the same. */
static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *end;
        enum rs_out_unit unit;
    } ends[] = {{"_ns", RS_OUT_NS}, {"_gbs", RS_OUT_GBS}, {"_share", RS_OUT_SHARE}, {"_ppm", RS_OUT_PPM}};
    const struct rs_out_table *t;
    for (size_t i = 0; (t = rs_sql_each_table(i)); i++)
        for (const struct rs_out_field *f = t->fields; f < t->fields + t->n; f++)
            for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
                size_t n = strlen(ends[k].end), all = strlen(f->name);
                bool named = all > n && !strcmp(f->name + all - n, ends[k].end);
                if (named && f->unit != ends[k].unit) fail_msg("%s: %s has another unit", t->name, f->name);
            }
}

/* Where an output has an order of its own, each of its fields is in it once. */
static void test_orders(void **state)
{
    (void)state;
    static const enum rs_out_format outputs[] = {RS_IN_JSON, RS_IN_CSV, RS_IN_SQL};
    const struct rs_out_table *t;
    for (size_t i = 0; (t = rs_sql_each_table(i)); i++)
        for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
            struct rs_out_columns c;
            rs_out_columns_make(&c, t, outputs[o]);
            uint32_t n = 0;
            for (uint32_t k = 0; k < t->n; k++) n += (t->fields[k].in & outputs[o]) != 0;
            assert_int_equal(c.n, n);
            for (uint32_t a = 0; a < c.n; a++)
                for (uint32_t b = 0; b < a; b++) assert_ptr_not_equal(c.all[a], c.all[b]);
        }
    struct rs_out_columns csv;
    rs_out_columns_make(&csv, &rs_out_operation, RS_IN_CSV); /* as rows of CSV were before there were tables */
    assert_string_equal(csv.all[0]->name, "op");
    assert_string_equal(csv.all[12]->name, "nranks");
    assert_string_equal(csv.all[13]->name, "pg_name");
    assert_string_equal(csv.all[40]->name, "unknown");
    assert_string_equal(csv.all[41]->name, "compared");
}

/* ---- JSON ---- */

struct row {
    bool child, odd;
    int n;
};

static struct rs_value get_n(const void *row)
{
    return rs_v_int(((const struct row *)row)->n);
}
static struct rs_value get_child(const void *row)
{
    return ((const struct row *)row)->child ? rs_v_some() : rs_v_null();
}
static struct rs_value get_odd(const void *row)
{
    return rs_v_bool(((const struct row *)row)->odd);
}
static struct rs_value get_list(const void *row)
{
    (void)row;
    return rs_v_some();
}
static bool next_of(const void *row, uint32_t *at, struct rs_value *item)
{
    *item = rs_v_uint(*at);
    return (int)(*at)++ < ((const struct row *)row)->n;
}
static bool is_odd(const void *row)
{
    return ((const struct row *)row)->odd;
}

#define NAME(text) .name = text, .name_len = sizeof text - 1
static const struct rs_out_field fields[] = {
    {NAME("n"), .type = RS_OUT_INT, .in = RS_IN_JSON, .get = get_n},
    {NAME("other"), .type = RS_OUT_INT, .in = RS_IN_CSV, .get = get_n},
    {NAME("child"), .type = RS_OUT_OBJECT, .in = RS_IN_JSON, .get = get_child},
    {NAME("a"), .type = RS_OUT_INT, .in = RS_IN_JSON, .inside = true, .get = get_n},
    {NAME("odd"), .type = RS_OUT_BOOL, .in = RS_IN_JSON, .inside = true, .optional = true, .get = get_odd},
    {NAME("when"), .type = RS_OUT_INT, .in = RS_IN_JSON, .when = is_odd, .get = get_n},
    {NAME("list"), .type = RS_OUT_NUMBERS, .in = RS_IN_JSON, .get = get_list, .next = next_of},
};
static const struct rs_out_table table = {"test", "", fields, sizeof fields / sizeof *fields, NULL, NULL};

static void is_json(const struct row *row, const char *want)
{
    struct rs_strbuf text = {0};
    struct rs_json *j = malloc(sizeof *j);
    struct rs_err err;
    assert_non_null(j);
    rs_json_to_text(j, &text, "text");
    rs_out_json(j, &table, row);
    assert_int_equal(rs_json_finish(j, &err), RS_OK);
    assert_string_equal(rs_strbuf_borrow(&text), want);
    rs_strbuf_free(&text);
    free(j);
}

static void test_json(void **state)
{
    (void)state;
    is_json(&(struct row){.n = 2}, "{\"n\":2,\"child\":null,\"list\":[0,1]}");
    is_json(&(struct row){.child = true}, "{\"n\":0,\"child\":{\"a\":0},\"list\":[]}");
    is_json(&(struct row){.child = true, .odd = true, .n = 1},
            "{\"n\":1,\"child\":{\"a\":1,\"odd\":true},\"when\":1,\"list\":[0]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
