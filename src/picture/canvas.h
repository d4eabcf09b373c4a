/* What a picture is drawn with: a few calls that SVG and PNG both implement.
 *
 * Coordinates are pixels from the top left. Texts are clean (picture/words.h); a canvas escapes markup itself. Calls do
 * not fail: end() reports errors. One thread at a time; owned by its creator until end(). */
#ifndef RS_PICTURE_CANVAS_H
#define RS_PICTURE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct rs_box {
    double x, y, w, h;
};
struct rs_point {
    double x, y;
};

enum rs_dash { RS_DASH_NONE, RS_DASH_DOTTED };

struct rs_stroke {
    uint32_t colour;
    double width, alpha;
    enum rs_dash dash;
};

enum rs_anchor { RS_ANCHOR_START, RS_ANCHOR_MIDDLE, RS_ANCHOR_END };

struct rs_font {
    uint32_t colour;
    double size;
    enum rs_anchor anchor;
    bool bold;
};

/* Mean width of a character relative to the font size: layouts count characters, so that they are the same everywhere. */
#define RS_FONT_WIDTH 0.56

struct rs_canvas {
    /* Opens a group, with a title (tooltip); closes it. */
    void (*open)(struct rs_canvas *c, const char *title);
    void (*close)(struct rs_canvas *c);
    void (*box)(struct rs_canvas *c, const struct rs_box *box, uint32_t colour);
    /* Many boxes of one colour. */
    void (*boxes)(struct rs_canvas *c, const struct rs_box *boxes, uint32_t n, uint32_t colour);
    void (*line)(struct rs_canvas *c, const struct rs_point *points, uint32_t n, const struct rs_stroke *stroke);
    void (*shape)(struct rs_canvas *c, const struct rs_point *points, uint32_t n, uint32_t colour);
    /* Slanted lines over a pale background. */
    void (*hatch)(struct rs_canvas *c, const struct rs_box *box, uint32_t colour);
    /* From the colour at the left to transparent at the right. */
    void (*fade)(struct rs_canvas *c, const struct rs_box *box, uint32_t colour);
    void (*text)(struct rs_canvas *c, double x, double y, const char *text, const struct rs_font *font);
    /* Writes the rest and frees the canvas. */
    enum rs_status (*end)(struct rs_canvas *c, struct rs_err *err);
};

#endif
