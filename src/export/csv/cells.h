/* A table as CSV (RFC 4180), cell by cell: quotes where they are needed, lines that end with CR LF.
 *
 * Text is UTF-8; other bytes are replaced. Unknown is an empty cell. A text that a spreadsheet would take for a formula
 * (it begins with = + - @, a tab or a line end, and is no number) gets an apostrophe in front, inside its quotes. The
 * first failure is kept and reported by rs_csv_finish(). The struct is large; free it with rs_csv_free(); one thread at a
 * time. */
#ifndef RS_EXPORT_CSV_CELLS_H
#define RS_EXPORT_CSV_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "fields/field.h"

enum { RS_CSV_BUFFER = 65536 };

struct rs_csv {
    FILE *file;
    const char *name; /* of the output, for messages */
    size_t len;
    bool begun; /* the line holds a cell */
    struct rs_err err;
    struct rs_strbuf list; /* of one cell */
    char buf[RS_CSV_BUFFER];
};

void rs_csv_to_file(struct rs_csv *c, FILE *file, const char *name);
/* Names of fields as cells of the header line. */
void rs_csv_names(struct rs_csv *c, const struct rs_out_columns *columns);
/* The fields of a row. */
void rs_csv_fields(struct rs_csv *c, const struct rs_out_columns *columns, const void *row);
/* A cell; not a list. Doubles are the shortest text that reads back the same; below 0 they are unknown. */
void rs_csv_value(struct rs_csv *c, struct rs_value v);
void rs_csv_line(struct rs_csv *c); /* ends the row */

static inline bool rs_csv_failed(const struct rs_csv *c)
{
    return c->err.code != RS_OK;
}
enum rs_status rs_csv_finish(struct rs_csv *c, struct rs_err *err);
void rs_csv_free(struct rs_csv *c);

#endif
