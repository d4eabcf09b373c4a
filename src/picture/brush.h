/* What drawing a picture needs all along: canvas, colours, and boxes that wait to be drawn with others of their colour.
 *
 * Of picture/paint.c and the files that draw its pieces. One thread at a time. */
#ifndef RS_PICTURE_BRUSH_H
#define RS_PICTURE_BRUSH_H

#include "picture/paint.h"

struct rs_brush_box {
    uint32_t colour;
    struct rs_box box;
};

struct rs_brush {
    struct rs_canvas *canvas;
    const struct rs_layout *layout;
    const struct rs_picture_rows *rows;
    const struct rs_theme *theme;
    uint32_t colours[256]; /* by kind */
    struct rs_brush_box *boxes;
    uint32_t n, cap;
    double least_titled; /* pixels: bars as wide as this have a tooltip */
    double cell; /* pixels that folded ones are merged to */
    uint32_t words, marks; /* drawn so far */
    size_t title_bytes;
};

/* Bars and pixels of a row (brush.c); the relations over all (lines.c); all that is not time (frame.c). */
enum rs_status rs_brush_row(struct rs_brush *b, const struct rs_picture_row *row, uint32_t ground, struct rs_err *err);
/* How many runs the pixels of a row make in cells of this width. */
uint32_t rs_brush_runs(const struct rs_picture_row *row, double cell);
void rs_brush_relations(struct rs_brush *b, const struct rs_relations *relations);
void rs_brush_ground(struct rs_brush *b); /* under the rows: stripes, headings, ruler */
void rs_brush_frame(struct rs_brush *b); /* over them: labels, flags, title, legend, footer */

#endif
