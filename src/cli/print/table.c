#include "cli/print/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/print/plain.h"
#include "cli/print/screen.h"

/* ---- filling ---- */

static void add_column(struct rs_table *t, enum rs_table_side side, const char *heading)
{
    assert(t->cells == 0 && t->columns < RS_TABLE_COLUMNS);
    t->side[t->columns++] = side;
    rs_strbuf_add(&t->text, heading, strlen(heading) + 1);
}

void rs_table_column(struct rs_table *t, enum rs_table_side side, enum rs_heading heading)
{
    add_column(t, side, rs_heading_text(heading));
}

void rs_table_numbers(struct rs_table *t, const enum rs_heading *headings, size_t n)
{
    for (size_t i = 0; i < n; i++) rs_table_column(t, RS_RIGHT, headings[i]);
}

void rs_table_column_named(struct rs_table *t, const char *heading)
{
    char text[64];
    snprintf(text, sizeof text, "%s", heading);
    rs_plain(text);
    add_column(t, RS_RIGHT, text);
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

void rs_table_mark(struct rs_table *t)
{
    size_t row = t->cells / t->columns;
    rs_strbuf_add(&t->marked, &row, sizeof row);
}

/* ---- fitting ---- */

enum { GAP = 2, LEAST_NAME = 12, LEAST_PROSE = 28 }; /* characters: between columns; of texts that were shortened */
enum { CONTINUED = 4, MOST_ROWS = 24 }; /* blanks before a row's further lines; rows of a block */

/* A table about to be printed: its cells, and which columns, how wide. */
struct layout {
    const struct rs_table *table;
    const char **cells; /* headings, then rows; "" behind the end of an incomplete row */
    size_t rows; /* without the headings */
    size_t shown[RS_TABLE_COLUMNS], nshown; /* columns */
    size_t wide[RS_TABLE_COLUMNS]; /* by column */
    bool prose; /* the last column is continued on further lines */
    bool folded; /* rows are, at the ends of blocks */
    size_t ends[RS_TABLE_COLUMNS], nblocks; /* of `shown`, where each block ends */
    bool left_out[RS_TABLE_COLUMNS];
};

static const char *cell(const struct layout *l, size_t row, size_t column) /* row 0: the headings */
{
    return l->cells[row * l->table->columns + column];
}

static void lay_out(struct layout *l, const struct rs_table *t)
{
    *l = (struct layout){.table = t, .rows = (t->cells + t->columns - 1) / t->columns, .nshown = t->columns};
    size_t total = t->columns * (l->rows + 1);
    l->cells = rs_alloc(total * sizeof *l->cells);
    const char *text = t->text.data;
    for (size_t i = 0; i < total; i++) {
        bool given = i < t->columns + t->cells;
        l->cells[i] = given ? text : "";
        size_t w = rs_screen_chars(l->cells[i]), column = i % t->columns;
        if (w > l->wide[column]) l->wide[column] = w;
        if (given) text += strlen(text) + 1;
    }
    for (size_t i = 0; i < t->columns; i++) l->shown[i] = i;
}

static size_t width_of(const struct layout *l)
{
    size_t width = 0;
    for (size_t i = 0; i < l->nshown; i++) width += l->wide[l->shown[i]] + (i ? GAP : 0);
    return width;
}

static bool says_nothing(const char *text)
{
    return !*text || !strcmp(text, "-") || !strcmp(text, "?");
}

static bool is_same(const struct layout *l, size_t column)
{
    for (size_t row = 2; row <= l->rows; row++)
        if (strcmp(cell(l, row, column), cell(l, 1, column)) != 0) return false;
    return l->rows > 0;
}

/* Leaves out columns that are the same in all rows, from the right: `empty`, those without anything in them. */
static void leave_out(struct layout *l, size_t room, bool empty)
{
    for (size_t i = l->nshown; i-- > 0 && l->nshown > 1 && width_of(l) > room;) {
        size_t column = l->shown[i];
        if (!is_same(l, column) || (empty ? !says_nothing(cell(l, 1, column)) : l->rows < 2)) continue;
        l->left_out[column] = true;
        memmove(&l->shown[i], &l->shown[i + 1], (--l->nshown - i) * sizeof *l->shown);
    }
}

/* Names may be cut: not numbers, hashes and times, which are of no use without their end. */
static bool is_name(const struct layout *l, size_t column)
{
    if (l->table->side[column] == RS_RIGHT) return false;
    for (size_t row = 1; row <= l->rows; row++) {
        const char *text = cell(l, row, column);
        if (*text && strchr("0123456789<>", *text)) return false;
    }
    return true;
}

static size_t least(const struct layout *l, size_t i)
{
    size_t column = l->shown[i], heading = rs_screen_chars(cell(l, 0, column));
    bool prose = l->prose && i + 1 == l->nshown;
    size_t floor = prose ? LEAST_PROSE : LEAST_NAME;
    if (floor < heading) floor = heading;
    return (prose || is_name(l, column)) && floor < l->wide[column] ? floor : l->wide[column];
}

/* Makes the widest of the names narrower, as far as is needed and as is of use. */
static void shorten(struct layout *l, size_t room)
{
    size_t last = l->shown[l->nshown - 1], all = 0;
    for (size_t row = 1; row <= l->rows && l->table->side[last] == RS_LEFT; row++)
        l->prose |= rs_screen_chars(cell(l, row, last)) > LEAST_PROSE && strchr(cell(l, row, last), ' ') != NULL;
    for (size_t i = 0; i < l->nshown; i++) all += least(l, i) + (i ? GAP : 0);
    if (all > room) { /* in blocks: only what does not fit on a line behind the first column has to be shorter */
        for (size_t i = 0; i < l->nshown; i++) {
            size_t *wide = &l->wide[l->shown[i]], first = i ? l->wide[l->shown[0]] + GAP : room / 2,
                   floor = least(l, i);
            if (*wide + first > room) *wide = first + floor < room ? room - first : floor;
        }
        return;
    }
    for (size_t over; (over = width_of(l)) > room;) {
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < l->nshown; i++)
            if (l->wide[l->shown[i]] > least(l, i) &&
                (widest == SIZE_MAX || l->wide[l->shown[i]] > l->wide[l->shown[widest]]))
                widest = i;
        size_t column = l->shown[widest], less = over - room, most = l->wide[column] - least(l, widest);
        for (size_t i = 0; i < l->nshown; i++) { /* down to the next one, then both */
            size_t other = l->shown[i];
            size_t above = l->wide[column] > l->wide[other] ? l->wide[column] - l->wide[other] : 0;
            if (l->wide[other] > least(l, i) && above && above < most) most = above;
        }
        l->wide[column] -= less < most ? less : most;
    }
}

static void fit(struct layout *l, size_t room)
{
    if (width_of(l) <= room) return;
    leave_out(l, room, true);
    leave_out(l, room, false);
    if (width_of(l) > room) shorten(l, room);
}

static void divide(struct layout *l, size_t room)
{
    size_t key = l->wide[l->shown[0]];
    for (size_t i = 0, used = 0; i < l->nshown; i++) {
        size_t more = l->wide[l->shown[i]] + (i ? GAP : 0);
        bool begins = i && used + more > room;
        if (begins) l->ends[l->nblocks++] = i;
        used = begins ? key + more : used + more;
    }
    l->ends[l->nblocks++] = l->nshown;
    l->folded = l->nblocks > 1 && l->rows > MOST_ROWS && key >= CONTINUED;
}

/* ---- printing ---- */

/* The bytes of a text that a line of its column takes: up to a blank, where it does not fit. */
static size_t line_of(const char *text, size_t width)
{
    size_t n = 0, chars = 0, blank = 0;
    for (; text[n]; n++) {
        bool begins = ((unsigned char)text[n] & 0xc0) != 0x80;
        if (begins && chars == width) return text[n] == ' ' ? n : blank ? blank : n;
        if (text[n] == ' ') blank = n;
        chars += begins;
    }
    return n;
}

/* One row in the columns [from, to) of those that are shown. Where from is not 0, the first column comes before them, or a
 * few blanks in a table whose rows are continued. */
static void print_row(const struct layout *l, size_t row, size_t from, size_t to, const char *indent, FILE *out)
{
    const char *rest = NULL;
    size_t order[RS_TABLE_COLUMNS + 1], n = 0;
    size_t blanks = 0, before = 0; /* due before the next text: none at the end of a line; characters before the last */
    if (from && !l->folded) order[n++] = 0;
    for (size_t i = from; i < to; i++) order[n++] = i;
    if (from && l->folded) {
        size_t i = from;
        while (i < to && !*cell(l, row, l->shown[i])) i++;
        if (i == to) return; /* nothing to continue with */
        before = blanks = CONTINUED;
    }
    fputs(indent, out);
    for (size_t k = 0; k < n; k++) {
        size_t column = l->shown[order[k]];
        bool prose = l->prose && order[k] + 1 == l->nshown;
        char text[512];
        snprintf(text, sizeof text, "%s", cell(l, row, column));
        if (prose) {
            size_t bytes = line_of(text, l->wide[column]);
            rest = cell(l, row, column) + bytes;
            text[bytes] = 0;
        } else if (rs_screen_chars(text) > l->wide[column]) {
            rs_plain_cut(text, l->wide[column]);
        }
        size_t gap = l->wide[column] - rs_screen_chars(text);
        if (k) blanks += GAP;
        if (l->table->side[column] == RS_RIGHT) blanks += gap;
        if (*text) {
            fprintf(out, "%*s%s", (int)blanks, "", text);
            blanks = 0;
        }
        if (l->table->side[column] == RS_LEFT) blanks += gap;
        if (k + 1 < n) before += l->wide[column] + GAP;
    }
    fputc('\n', out);
    while (rest && *(rest += strspn(rest, " "))) {
        size_t bytes = line_of(rest, l->wide[l->shown[l->nshown - 1]]);
        fprintf(out, "%s%*s%.*s\n", indent, (int)before, "", (int)bytes, rest);
        rest += bytes;
    }
}

static bool is_marked(const struct rs_table *t, size_t row)
{
    for (size_t at = 0, x; at < t->marked.len; at += sizeof x) {
        memcpy(&x, t->marked.data + at, sizeof x);
        if (x == row) return true;
    }
    return false;
}

/* The blocks [first, last) of a row. */
static void print_blocks(const struct layout *l, size_t row, size_t first, size_t last, const char *indent, FILE *out)
{
    bool mark = row && out == stdout && is_marked(l->table, row - 1);
    if (mark) fputs(rs_screen_style(RS_STYLE_CULPRIT), out);
    for (size_t i = first; i < last; i++) print_row(l, row, i ? l->ends[i - 1] : 0, l->ends[i], indent, out);
    if (mark) fputs(rs_screen_style(RS_STYLE_NONE), out);
}

/* "in all rows: host node1, GPU 0" */
static void print_left_out(const struct layout *l, const char *indent)
{
    struct rs_strbuf s = {0};
    for (size_t i = 0; i < l->table->columns; i++) {
        const char *text = l->rows ? cell(l, 1, i) : "", *heading = cell(l, 0, i);
        if (!l->left_out[i] || !*text) continue;
        rs_strbuf_printf(&s, "%s%s%s%s", s.len ? ", " : "in all rows: ", heading, *heading ? " " : "", text);
    }
    if (s.len) rs_screen_print("%s%s\n", indent, rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
}

void rs_table_print(const struct rs_table *t, const char *indent, FILE *to)
{
    assert(t->columns > 0);
    size_t line = to == stdout ? rs_screen_width() : SIZE_MAX, before = strlen(indent);
    size_t room = line > before ? line - before : 1;
    struct layout l;
    lay_out(&l, t);
    fit(&l, room);
    divide(&l, room);
    for (size_t i = 0; i < l.nblocks; i++) {
        if (i) fputc('\n', to);
        for (size_t row = 0; row <= l.rows; row++) print_blocks(&l, row, i, l.folded ? l.nblocks : i + 1, indent, to);
        if (l.folded) break;
    }
    print_left_out(&l, indent);
    free(l.cells);
}

void rs_table_free(struct rs_table *t)
{
    if (t == NULL) return;
    rs_strbuf_free(&t->text);
    rs_strbuf_free(&t->marked);
    *t = (struct rs_table){0};
}
