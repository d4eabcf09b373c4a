#include "cli/explain_terms.h"

#include <assert.h>
#include <string.h>

#include "export/sqlite/rows.h"
#include "foreign/formats.h"

/* ---- terms of our own fields ---- */

enum { MOST = 512 };

/* A table of terms with those of fields behind its own. */
struct made {
    struct rs_term_table table;
    struct rs_term terms[MOST];
};

static struct rs_term *find(struct made *m, const char *name)
{
    for (size_t i = 0; i < m->table.n; i++)
        if (!strcmp(m->terms[i].name, name)) return &m->terms[i];
    return NULL;
}

/* A name that several tables have gets the term that one of them gives, else what the first says. */
static void add(struct made *m, const char *name, const char *kind, const char *term, const char *doc)
{
    struct rs_term *known = find(m, name);
    if (known) {
        if (term) known->text = term;
        return;
    }
    assert(m->table.n < MOST);
    m->terms[m->table.n++] = (struct rs_term){name, kind, term ? term : doc};
}

static void begin(struct made *m, const struct rs_term_table *own)
{
    m->table = *own;
    m->table.terms = m->terms;
    memcpy(m->terms, own->terms, own->n * sizeof *own->terms);
}

/* Fields of JSON, and names that exports alone have. */
static void make(struct made *json, struct made *export)
{
    const struct rs_out_table *t;
    begin(json, &rs_terms_json);
    begin(export, &rs_terms_export);
    for (size_t i = 0; (t = rs_sql_each_table(i)); i++)
        for (const struct rs_out_field *f = t->fields; f < t->fields + t->n; f++)
            if (f->in & RS_IN_JSON) add(json, f->name, "field", f->term, f->doc);
#define PROPERTY(name, member, description) add(export, "RINGSCOPE::" #name, "field", NULL, description);
#include "export/otf2/properties.inc"
#undef PROPERTY
    for (size_t i = 0; (t = rs_sql_each_table(i)); i++)
        for (const struct rs_out_field *f = t->fields; f < t->fields + t->n; f++) {
            bool key = !f->term && f->sql && !strcmp(f->sql, "PRIMARY KEY"); /* id */
            if (f->column && !find(json, f->column)) add(export, f->column, "column", f->column_term, f->doc);
            if (!f->column && !key && !find(json, f->name)) add(export, f->name, "column", f->term, f->doc);
        }
}

/* ---- all ---- */

const struct rs_term_table *rs_explain_table(size_t index)
{
    static struct rs_term_table tables[RS_TOOLS + 5];
    static struct made json, export;
    static size_t n;
    if (!n) {
        tables[n++] = rs_terms_words;
        tables[n++] = rs_terms_headings;
        tables[n++] = rs_terms_nccl;
        for (uint8_t tool = 0; tool < RS_TOOLS; tool++) {
            const struct rs_format *f = rs_format_of(tool);
            if (f) tables[n++] = (struct rs_term_table){rs_tool_name(tool), f->what, f->holds, f->terms, f->nterms};
        }
        make(&json, &export);
        tables[n++] = json.table;
        tables[n++] = export.table;
    }
    return index < n ? &tables[index] : NULL;
}
