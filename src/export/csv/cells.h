/* A table as CSV (RFC 4180), cell by cell: quotes where they are needed, lines that end with CR LF.
 *
 * Text is UTF-8: what is none is replaced. Unknown is an empty cell. A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line
 * end, and is no number) gets an apostrophe in front, inside of its quotes. The first failure sticks and is told by
 * rs_csv_finish(). The struct is large; free it with rs_csv_free(); one thread at a time. */
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

void rs_csv_empty(struct rs_csv *c);
void rs_csv_text(struct rs_csv *c, const char *text); /* NULL: empty */
void rs_csv_textn(struct rs_csv *c, const char *text, size_t n);
void rs_csv_u64(struct rs_csv *c, uint64_t v);
void rs_csv_i64(struct rs_csv *c, int64_t v);
void rs_csv_known(struct rs_csv *c, int64_t v); /* empty when below 0 */
void rs_csv_time(struct rs_csv *c, int64_t ns); /* RS_TIME_NONE (INT64_MIN): empty */
void rs_csv_hex(struct rs_csv *c, uint64_t v); /* 0x and 16 digits */
void rs_csv_hex_or_empty(struct rs_csv *c, uint64_t v); /* empty when 0 */
void rs_csv_double(struct rs_csv *c, double v); /* the shortest text that reads back the same; below 0: empty */
void rs_csv_bool(struct rs_csv *c, bool v);
void rs_csv_line(struct rs_csv *c); /* ends the row */

static inline bool rs_csv_failed(const struct rs_csv *c)
{
    return c->err.code != RS_OK;
}
enum rs_status rs_csv_finish(struct rs_csv *c, struct rs_err *err);
void rs_csv_free(struct rs_csv *c);

#endif
