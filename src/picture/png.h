/* A canvas that draws a PNG with cairo, which is loaded on demand: ringscope runs without it. Follows picture/canvas.h.
 * The few cairo functions in use are declared here, not taken from its headers: they are the same in every
 * libcairo.so.2. */
#ifndef RS_PICTURE_PNG_H
#define RS_PICTURE_PNG_H

#include "picture/canvas.h"

/* RS_NOT_FOUND if there is no cairo: the message says what to do. */
enum rs_status rs_png_make(struct rs_canvas **canvas, double width, double height, FILE *out, const char *name,
                           struct rs_err *err);

#endif
