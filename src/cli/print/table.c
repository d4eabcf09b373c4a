#include "cli/print/table.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "cli/print/plain.h"

void rs_table_column(struct rs_table *t, enum rs_table_side side, const char *heading)
{
    assert(t->cells == 0 && t->columns < sizeof(t->side) / sizeof(t->side[0]));
    t->side[t->columns++] = side;
    rs_strbuf_add(&t->text, heading, strlen(heading) + 1);
}

void rs_table_cell(struct rs_table *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    rs_plain(text);
    rs_strbuf_add(&t->text, text, strlen(text) + 1);
    t->cells++;
}

void rs_table_name(struct rs_table *t, const char *name)
{
    enum { MOST = 60 };
    char text[512];
    snprintf(text, sizeof text, "%s", name);
    rs_plain_cut(text, MOST);
    rs_table_cell(t, "%s", text);
}

/* Characters, not bytes: continuation bytes of UTF-8 take no place. */
static size_t width(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void pad(FILE *to, size_t n)
{
    fprintf(to, "%*s", (int)n, "");
}

void rs_table_print(const struct rs_table *t, const char *indent, FILE *to)
{
    assert(t->columns > 0);
    size_t wide[sizeof(t->side) / sizeof(t->side[0])] = {0};
    size_t total = t->columns + t->cells;
    const char *cell = t->text.data;
    for (size_t i = 0; i < total; i++, cell += strlen(cell) + 1) {
        size_t w = width(cell);
        if (w > wide[i % t->columns]) wide[i % t->columns] = w;
    }
    cell = t->text.data;
    size_t blanks = 0; /* due before the next text: none at the end of a line */
    for (size_t i = 0; i < total; i++, cell += strlen(cell) + 1) {
        size_t column = i % t->columns;
        size_t gap = wide[column] - width(cell);
        if (column == 0)
            fputs(indent, to);
        else
            blanks += 2;
        if (t->side[column] == RS_RIGHT) blanks += gap;
        if (*cell != '\0') {
            pad(to, blanks);
            fputs(cell, to);
            blanks = 0;
        }
        if (t->side[column] == RS_LEFT) blanks += gap;
        if (column == t->columns - 1 || i == total - 1) {
            fputc('\n', to);
            blanks = 0;
        }
    }
}

void rs_table_free(struct rs_table *t)
{
    if (t == NULL) return;
    rs_strbuf_free(&t->text);
    *t = (struct rs_table){0};
}
