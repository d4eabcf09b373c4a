/* A text table with aligned columns: columns first, then cells row by row, then print.
 *
 * A zeroed struct is a table without columns; it owns copies of all texts until rs_table_free(). Widths are counted
 * in characters of UTF-8. Control characters are shown as '?'.
 * The last column is not padded. */
#ifndef RS_CLI_TABLE_H
#define RS_CLI_TABLE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdio.h>

enum rs_table_side { RS_LEFT, RS_RIGHT };

struct rs_table {
    struct rs_strbuf text; /* headings, then cells, each ended by a 0 byte */
    size_t columns;
    size_t cells; /* without the headings */
    enum rs_table_side side[24];
};

/* Numbers are aligned right. All columns come before the first cell. */
void rs_table_column(struct rs_table *t, enum rs_table_side side, const char *heading);
void rs_table_cell(struct rs_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name from a trace (kernel, annotation): cut in its middle where it is long. */
void rs_table_name(struct rs_table *t, const char *name);

/* Two spaces between columns, each line after `indent`. The last row may be incomplete. */
void rs_table_print(const struct rs_table *t, const char *indent, FILE *to);

void rs_table_free(struct rs_table *t);

#endif
