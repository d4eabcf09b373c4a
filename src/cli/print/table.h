/* A text table with aligned columns: columns first, then cells row by row, then print.
 *
 * A zeroed struct is a table without columns; it owns copies of all texts until rs_table_free(). Widths are counted
 * in characters of UTF-8. Control characters are shown as '?'. The last column is not padded.
 *
 * A table fits the line (cli/print/screen.h). Where it is too wide, it is changed in this order, until it fits:
 *   1. columns in which no row has anything ("-", "?", nothing) are left out, then those that are the same in all rows;
 *      a line below says what was in them
 *   2. a text in the last column is continued on further lines; names are cut in their middle; numbers never
 *   3. the table continues in a further block, which repeats the first column; where it is long, each row continues on
 *      further lines instead
 * In a pipe lines may have any length, so that nothing of this happens. */
#ifndef RS_CLI_TABLE_H
#define RS_CLI_TABLE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "explain/headings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum rs_table_side { RS_LEFT, RS_RIGHT };

enum { RS_TABLE_COLUMNS = 24 };

struct rs_table {
    struct rs_strbuf text; /* headings, then cells, each ended by a 0 byte */
    struct rs_strbuf marked; /* rows, ascending, as size_t */
    size_t columns;
    size_t cells; /* without the headings */
    enum rs_table_side side[RS_TABLE_COLUMNS];
};

/* Numbers are aligned right. All columns come before the first cell. */
void rs_table_column(struct rs_table *t, enum rs_table_side side, enum rs_heading heading);
void rs_table_numbers(struct rs_table *t, const enum rs_heading *headings, size_t n);
/* Of numbers, with a heading from the inputs. */
void rs_table_column_named(struct rs_table *t, const char *heading);

void rs_table_cell(struct rs_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name from a trace (kernel, annotation): cut in its middle where it is long. */
void rs_table_name(struct rs_table *t, const char *name);
/* The row of the next cell is a culprit's: on a terminal it has their colour. */
void rs_table_mark(struct rs_table *t);

/* Two spaces between columns, each line after `indent`. The last row may be incomplete. */
void rs_table_print(const struct rs_table *t, const char *indent, FILE *to);

void rs_table_free(struct rs_table *t);

#endif
