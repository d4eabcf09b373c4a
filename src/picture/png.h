/* A canvas that draws a PNG with cairo, which is loaded when it is wanted: ringscope itself runs without it. Of
 * picture/canvas.h's rules. The few functions of cairo that are used are declared here, not taken from its headers:
 * they are the same in every libcairo.so.2. */
#ifndef RS_PICTURE_PNG_H
#define RS_PICTURE_PNG_H

#include "picture/canvas.h"

/* RS_NOT_FOUND where there is no cairo: the message says what to do. */
enum rs_status rs_png_make(struct rs_canvas **canvas, double width, double height, FILE *out, const char *name,
                           struct rs_err *err);

#endif
