/* A canvas that writes SVG: text stays text, with tooltips. Follows picture/canvas.h. */
#ifndef RS_PICTURE_SVG_H
#define RS_PICTURE_SVG_H

#include "picture/canvas.h"

/* `out` and `name` (of the file, for messages) must stay valid until end(). */
void rs_svg_make(struct rs_canvas **canvas, double width, double height, const char *title, FILE *out,
                 const char *name);

#endif
