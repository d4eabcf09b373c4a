/* field_tables: what the tables of output fields say, as text for the documentation.
 *
 *   field_tables names          the tables with fields in JSON, one per line
 *   field_tables json TABLE     the rows of a table of docs/json.md: name, type, meaning
 *   field_tables csv TABLE      the names of its columns in CSV, one per line, in their order
 *
 * TABLE: "operation", as rs_out_table.name has it. */
#include <stdio.h>
#include <string.h>

#include "fields/field.h"

static const char *const types[] = {
    [RS_OUT_INT] = "number",
    [RS_OUT_UINT] = "number",
    [RS_OUT_DOUBLE] = "number",
    [RS_OUT_BOOL] = "bool",
    [RS_OUT_HEX] = "hex",
    [RS_OUT_TEXT] = "string",
    [RS_OUT_OBJECT] = "object",
    [RS_OUT_ROWS] = "array",
    [RS_OUT_NUMBERS] = "array of numbers",
    [RS_OUT_TEXTS] = "array of strings",
};
static const char *const units[RS_OUT_UNITS] = {
    [RS_OUT_NS] = " (ns)",        [RS_OUT_BYTES] = " (bytes)",    [RS_OUT_GBS] = " (GB/s)",
    [RS_OUT_SHARE] = " (0 to 1)", [RS_OUT_PPM] = " (millionths)",
};

static void json(const struct rs_out_table *t)
{
    const char *object = "";
    for (const struct rs_out_field *f = t->fields; f < t->fields + t->n; f++) {
        if (!(f->in & RS_IN_JSON)) continue;
        if (f->type == RS_OUT_OBJECT && !f->inside) object = f->name;
        bool is_true = f->type == RS_OUT_BOOL && f->optional;
        printf("| `%s%s%s` | %s%s%s | %s |\n", f->inside ? object : "", f->inside ? "." : "", f->name,
               is_true ? "true" : types[f->type], units[f->unit] ? units[f->unit] : "", f->null ? ", null" : "",
               f->doc);
    }
}

static void csv(const struct rs_out_table *t)
{
    struct rs_out_columns c;
    rs_out_columns_make(&c, t, RS_IN_CSV);
    for (uint32_t i = 0; i < c.n; i++) printf("%s\n", c.all[i]->name);
}

static bool has_json(const struct rs_out_table *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->fields[i].in & RS_IN_JSON) return true;
    return false;
}

int main(int argc, char **argv)
{
    const struct rs_out_table *t;
    if (argc == 2 && !strcmp(argv[1], "names")) {
        for (size_t i = 0; (t = rs_out_table(i)); i++)
            if (has_json(t)) printf("%s\n", t->name);
        return 0;
    }
    for (size_t i = 0; argc == 3 && (t = rs_out_table(i)); i++) {
        if (strcmp(t->name, argv[2]) != 0) continue;
        if (!strcmp(argv[1], "json"))
            json(t);
        else
            csv(t);
        return 0;
    }
    fprintf(stderr, "usage: field_tables names, field_tables json|csv TABLE\n");
    return 2;
}
