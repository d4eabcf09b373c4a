/* The timeline as text: one line per row, one column per cell.
 *
 * With colours, a cell's colour is its function; without, its letter. Nothing in a trace can move the cursor
 * (picture/words.h), and no line is wider than requested. */
#ifndef RS_PICTURE_TEXT_H
#define RS_PICTURE_TEXT_H

#include "picture/layout.h"

/* Columns of the time axis: known before the rows are. */
unsigned rs_text_cells(const struct rs_timeline *t, const struct rs_picture_options *o);
enum rs_status rs_text_draw(const struct rs_picture_rows *rows, const struct rs_picture_options *o, FILE *out,
                            const char *name, struct rs_err *err);

#endif
