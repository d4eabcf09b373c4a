#include "picture/png.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Constants of cairo's API. */
enum { FORMAT_RGB24 = 1, SLANT_NORMAL = 0, WEIGHT_NORMAL = 0, WEIGHT_BOLD = 1, STATUS_OK = 0, STATUS_WRITE_ERROR = 11 };

typedef int (*write_to)(void *closure, const unsigned char *data, unsigned length);

struct extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
};

#define CAIRO_FUNCTIONS(X)                                                                                             \
    X(void *, image_surface_create, (int format, int width, int height))                                               \
    X(int, surface_status, (void *surface))                                                                            \
    X(int, surface_write_to_png_stream, (void *surface, write_to to, void *closure))                                   \
    X(void, surface_destroy, (void *surface))                                                                          \
    X(void *, create, (void *surface))                                                                                 \
    X(int, status, (void *cr))                                                                                         \
    X(const char *, status_to_string, (int status))                                                                    \
    X(void, destroy, (void *cr))                                                                                       \
    X(void, save, (void *cr))                                                                                          \
    X(void, restore, (void *cr))                                                                                       \
    X(void, clip, (void *cr))                                                                                          \
    X(void, new_path, (void *cr))                                                                                      \
    X(void, rectangle, (void *cr, double x, double y, double w, double h))                                             \
    X(void, move_to, (void *cr, double x, double y))                                                                   \
    X(void, line_to, (void *cr, double x, double y))                                                                   \
    X(void, fill, (void *cr))                                                                                          \
    X(void, stroke, (void *cr))                                                                                        \
    X(void, set_line_width, (void *cr, double width))                                                                  \
    X(void, set_dash, (void *cr, const double *dashes, int n, double offset))                                          \
    X(void, set_source_rgba, (void *cr, double r, double g, double b, double a))                                       \
    X(void, set_source, (void *cr, void *pattern))                                                                     \
    X(void *, pattern_create_linear, (double x0, double y0, double x1, double y1))                                     \
    X(void, pattern_add_color_stop_rgba, (void *pattern, double at, double r, double g, double b, double a))           \
    X(void, pattern_destroy, (void *pattern))                                                                          \
    X(void, select_font_face, (void *cr, const char *family, int slant, int weight))                                   \
    X(void, set_font_size, (void *cr, double size))                                                                    \
    X(void, text_extents, (void *cr, const char *text, struct extents *extents))                                       \
    X(void, show_text, (void *cr, const char *text))                                                                   \
    X(void, debug_reset_static_data, (void))

struct png {
    struct rs_canvas canvas; /* first: the public part */
    void *library, *surface, *cr;
#define DECLARE(type, name, arguments) type(*name) arguments;
    CAIRO_FUNCTIONS(DECLARE)
#undef DECLARE
    FILE *out;
    const char *name;
    int write_errno;
};

static struct png *png_of(struct rs_canvas *c)
{
    return (struct png *)(void *)c;
}

static double part(uint32_t colour, unsigned shift)
{
    return (double)(colour >> shift & 255) / 255;
}

static void colour_of(struct png *p, uint32_t colour, double alpha)
{
    p->set_source_rgba(p->cr, part(colour, 16), part(colour, 8), part(colour, 0), alpha);
}

static void png_open(struct rs_canvas *c, const char *title)
{
    (void)c, (void)title; /* PNGs have no tooltips */
}

static void png_close(struct rs_canvas *c)
{
    (void)c;
}

static void png_boxes(struct rs_canvas *c, const struct rs_box *boxes, uint32_t n, uint32_t colour)
{
    struct png *p = png_of(c);
    colour_of(p, colour, 1);
    for (uint32_t i = 0; i < n; i++) {
        p->rectangle(p->cr, boxes[i].x, boxes[i].y, boxes[i].w, boxes[i].h);
        p->fill(p->cr); /* separately: a path of thousands is slow */
    }
}

static void png_box(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    png_boxes(c, box, 1, colour);
}

static void path(struct png *p, const struct rs_point *points, uint32_t n)
{
    p->new_path(p->cr);
    for (uint32_t i = 0; i < n; i++) (i ? p->line_to : p->move_to)(p->cr, points[i].x, points[i].y);
}

static void png_line(struct rs_canvas *c, const struct rs_point *points, uint32_t n, const struct rs_stroke *stroke)
{
    static const double dots[] = {2, 3};
    struct png *p = png_of(c);
    path(p, points, n);
    colour_of(p, stroke->colour, stroke->alpha);
    p->set_line_width(p->cr, stroke->width);
    p->set_dash(p->cr, dots, stroke->dash == RS_DASH_DOTTED ? 2 : 0, 0);
    p->stroke(p->cr);
}

static void png_shape(struct rs_canvas *c, const struct rs_point *points, uint32_t n, uint32_t colour)
{
    struct png *p = png_of(c);
    path(p, points, n);
    colour_of(p, colour, 1);
    p->fill(p->cr);
}

static void png_hatch(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    enum { APART = 7 };
    struct png *p = png_of(c);
    p->save(p->cr);
    p->rectangle(p->cr, box->x, box->y, box->w, box->h);
    p->clip(p->cr);
    colour_of(p, colour, 0.15);
    p->rectangle(p->cr, box->x, box->y, box->w, box->h);
    p->fill(p->cr);
    colour_of(p, colour, 1);
    p->set_line_width(p->cr, 2);
    p->set_dash(p->cr, NULL, 0, 0);
    for (double x = box->x - fmod(box->x, APART) - box->h; x < box->x + box->w; x += APART) {
        p->move_to(p->cr, x, box->y + box->h);
        p->line_to(p->cr, x + box->h, box->y);
    }
    p->stroke(p->cr);
    p->restore(p->cr);
}

static void png_fade(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    struct png *p = png_of(c);
    void *pattern = p->pattern_create_linear(box->x, 0, box->x + box->w, 0);
    p->pattern_add_color_stop_rgba(pattern, 0, part(colour, 16), part(colour, 8), part(colour, 0), 0.8);
    p->pattern_add_color_stop_rgba(pattern, 1, part(colour, 16), part(colour, 8), part(colour, 0), 0);
    p->set_source(p->cr, pattern);
    p->rectangle(p->cr, box->x, box->y, box->w, box->h);
    p->fill(p->cr);
    p->pattern_destroy(pattern);
}

static void png_text(struct rs_canvas *c, double x, double y, const char *text, const struct rs_font *font)
{
    struct png *p = png_of(c);
    p->select_font_face(p->cr, "DejaVu Sans", SLANT_NORMAL, font->bold ? WEIGHT_BOLD : WEIGHT_NORMAL);
    p->set_font_size(p->cr, font->size);
    if (font->anchor != RS_ANCHOR_START) {
        struct extents extents;
        p->text_extents(p->cr, text, &extents);
        x -= font->anchor == RS_ANCHOR_END ? extents.x_advance : extents.x_advance / 2;
    }
    colour_of(p, font->colour, 1);
    p->move_to(p->cr, x, y);
    p->show_text(p->cr, text);
    p->new_path(p->cr);
}

static int write_bytes(void *closure, const unsigned char *data, unsigned length)
{
    struct png *p = closure;
    if (fwrite(data, 1, length, p->out) == length) return STATUS_OK;
    p->write_errno = errno;
    return STATUS_WRITE_ERROR;
}

static void png_free(struct png *p)
{
    if (p->cr) p->destroy(p->cr);
    if (p->surface) p->surface_destroy(p->surface);
    if (p->debug_reset_static_data) p->debug_reset_static_data(); /* fonts that it caches */
    if (p->library) {
        void (*fonts_end)(void);
        *(void **)(void *)&fonts_end = dlsym(p->library, "FcFini"); /* of fontconfig, which cairo finds fonts with */
        if (fonts_end) fonts_end();
    }
    free(p);
}

static enum rs_status png_end(struct rs_canvas *c, struct rs_err *err)
{
    struct png *p = png_of(c);
    enum rs_status status = RS_OK;
    int code = p->status(p->cr);
    if (code == STATUS_OK) code = p->surface_write_to_png_stream(p->surface, write_bytes, p);
    if (code != STATUS_OK && p->write_errno == 0)
        status = rs_fail(err, RS_FAILED, "%s: cairo cannot draw the picture: %s", p->name, p->status_to_string(code));
    else if (code != STATUS_OK || fflush(p->out)) {
        if (p->write_errno) errno = p->write_errno;
        status = rs_fail_errno(err, "%s: cannot write the picture", p->name);
    }
    png_free(p);
    return status;
}

static enum rs_status load(struct png *p, struct rs_err *err)
{
    /* Never unloaded: its dependencies may have handlers that run at exit. */
    p->library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!p->library)
        return rs_fail(err, RS_NOT_FOUND,
                       "%s: a PNG needs cairo, which is not installed: install it (Debian: libcairo2), or use an SVG "
                       "(.svg), which needs nothing",
                       p->name);
        /* A function pointer through an object pointer, as POSIX specifies for dlsym(). */
#define TAKE(type, function, arguments)                                                                                \
    *(void **)(void *)&p->function = dlsym(p->library, "cairo_" #function);                                            \
    if (!p->function)                                                                                                  \
        return rs_fail(err, RS_NOT_FOUND, "%s: libcairo.so.2 has no cairo_" #function ": use an SVG", p->name);
    CAIRO_FUNCTIONS(TAKE)
#undef TAKE
    return RS_OK;
}

enum rs_status rs_png_make(struct rs_canvas **canvas, double width, double height, FILE *out, const char *name,
                           struct rs_err *err)
{
    struct png *p = rs_zalloc(1, sizeof(*p));
    p->canvas = (struct rs_canvas){png_open,  png_close, png_box,  png_boxes, png_line,
                                   png_shape, png_hatch, png_fade, png_text,  png_end};
    p->out = out;
    p->name = name;
    enum rs_status status = load(p, err);
    if (status == RS_OK) {
        p->surface = p->image_surface_create(FORMAT_RGB24, (int)width, (int)height);
        p->cr = p->create(p->surface);
        int code = p->surface_status(p->surface);
        if (code != STATUS_OK)
            status = rs_fail(err, RS_FAILED, "%s: no picture of %.0f x %.0f pixels: %s", name, width, height,
                             p->status_to_string(code));
    }
    if (status != RS_OK)
        png_free(p);
    else
        *canvas = &p->canvas;
    return status;
}
