/* Draws a layout onto a canvas.
 *
 * The picture stays small whatever the run: bars are merged into pixels, pixels into runs; tooltips, texts and marks
 * are for the widest bars (RS_PAINT_...): an SVG has less than 2 MB. */
#ifndef RS_PICTURE_PAINT_H
#define RS_PICTURE_PAINT_H

#include "picture/palette.h"
#include "picture/relations.h"

enum {
    RS_PAINT_BARS = 9000, /* one by one */
    RS_PAINT_RUNS = 8000, /* of pixels */
    RS_PAINT_TITLES = 2000,
    RS_PAINT_TITLE_BYTES = 400000, /* of all of them */
    RS_PAINT_WORDS = 2000,
    RS_PAINT_MARKS = 3000,
};

void rs_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_rows *rows,
              const struct rs_relations *relations, const struct rs_theme *theme);

#endif
