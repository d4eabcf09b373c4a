/* A hang in a picture: the verdict below the title, and at the row of each rank to blame what it did not do.
 *
 * Any thread. */
#ifndef RS_PICTURE_HANG_H
#define RS_PICTURE_HANG_H

#include "picture/layout.h"
#include "picture/palette.h"

/* The mark of the i-th row: of the first row of its GPU that has operations; NULL: none. */
const struct rs_row_mark *rs_hang_mark_of(const struct rs_picture_rows *rows, uint32_t i);
/* Draws both: over the rows. */
void rs_hang_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_rows *rows,
                   const struct rs_theme *theme);

#endif
