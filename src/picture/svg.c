#include "picture/svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/strbuf.h"

enum { MOST_HUES = 64 }; /* of hatches and fades */

struct svg {
    struct rs_canvas canvas; /* first: the public part */
    struct rs_strbuf text; /* everything: pictures are small (picture/paint.h) */
    uint32_t hatches[MOST_HUES], fades[MOST_HUES]; /* colours already defined */
    unsigned nhatches, nfades;
    FILE *out;
    const char *name;
};

static struct svg *svg_of(struct rs_canvas *c)
{
    return (struct svg *)(void *)c;
}

/* At most one decimal, and the same in every locale. */
static void number(struct rs_strbuf *s, double value)
{
    if (!(value > -1e7)) value = -1e7; /* also NaN */
    if (value > 1e7) value = 1e7;
    long tenths = lround(value * 10);
    long size = labs(tenths);
    rs_strbuf_printf(s, "%s%ld", tenths < 0 ? "-" : "", size / 10);
    if (size % 10) rs_strbuf_printf(s, ".%ld", size % 10);
}

static void attribute(struct rs_strbuf *s, const char *name, double value)
{
    rs_strbuf_printf(s, " %s=\"", name);
    number(s, value);
    rs_strbuf_putc(s, '"');
}

/* Between tags; attributes hold no names. */
static void escaped(struct rs_strbuf *s, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': rs_strbuf_puts(s, "&amp;"); break;
        case '<': rs_strbuf_puts(s, "&lt;"); break;
        case '>': rs_strbuf_puts(s, "&gt;"); break;
        default: rs_strbuf_putc(s, *text);
        }
}

static void svg_open(struct rs_canvas *c, const char *title)
{
    struct rs_strbuf *s = &svg_of(c)->text;
    rs_strbuf_puts(s, "<g>");
    if (!title || !*title) return;
    rs_strbuf_puts(s, "<title>");
    escaped(s, title);
    rs_strbuf_puts(s, "</title>");
}

static void svg_close(struct rs_canvas *c)
{
    rs_strbuf_puts(&svg_of(c)->text, "</g>\n");
}

static void place(struct rs_strbuf *s, const struct rs_box *box)
{
    rs_strbuf_puts(s, "<rect");
    attribute(s, "x", box->x);
    attribute(s, "y", box->y);
    attribute(s, "width", box->w);
    attribute(s, "height", box->h);
}

static void svg_box(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    struct rs_strbuf *s = &svg_of(c)->text;
    place(s, box);
    rs_strbuf_printf(s, " fill=\"#%06x\"/>\n", colour);
}

static void svg_boxes(struct rs_canvas *c, const struct rs_box *boxes, uint32_t n, uint32_t colour)
{
    struct rs_strbuf *s = &svg_of(c)->text;
    rs_strbuf_printf(s, "<path fill=\"#%06x\" d=\"", colour);
    for (uint32_t i = 0; i < n; i++) {
        rs_strbuf_putc(s, 'M');
        number(s, boxes[i].x);
        rs_strbuf_putc(s, ' ');
        number(s, boxes[i].y);
        rs_strbuf_putc(s, 'h');
        number(s, boxes[i].w);
        rs_strbuf_putc(s, 'v');
        number(s, boxes[i].h);
        rs_strbuf_putc(s, 'h');
        number(s, -boxes[i].w);
        rs_strbuf_putc(s, 'z');
    }
    rs_strbuf_puts(s, "\"/>\n");
}

static void points_of(struct rs_strbuf *s, const struct rs_point *points, uint32_t n)
{
    rs_strbuf_puts(s, " points=\"");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) rs_strbuf_putc(s, ' ');
        number(s, points[i].x);
        rs_strbuf_putc(s, ',');
        number(s, points[i].y);
    }
    rs_strbuf_putc(s, '"');
}

static void svg_line(struct rs_canvas *c, const struct rs_point *points, uint32_t n, const struct rs_stroke *stroke)
{
    struct rs_strbuf *s = &svg_of(c)->text;
    rs_strbuf_puts(s, "<polyline");
    points_of(s, points, n);
    rs_strbuf_printf(s, " fill=\"none\" stroke=\"#%06x\"", stroke->colour);
    attribute(s, "stroke-width", stroke->width);
    if (stroke->alpha < 1) attribute(s, "stroke-opacity", stroke->alpha);
    if (stroke->dash == RS_DASH_DOTTED) rs_strbuf_puts(s, " stroke-dasharray=\"2 3\"");
    rs_strbuf_puts(s, "/>\n");
}

static void svg_shape(struct rs_canvas *c, const struct rs_point *points, uint32_t n, uint32_t colour)
{
    struct rs_strbuf *s = &svg_of(c)->text;
    rs_strbuf_puts(s, "<polygon");
    points_of(s, points, n);
    rs_strbuf_printf(s, " fill=\"#%06x\"/>\n", colour);
}

/* Whether the colour is new; if there are too many, the first is used. */
static bool is_new(uint32_t *colours, unsigned *n, uint32_t *colour)
{
    for (unsigned i = 0; i < *n; i++)
        if (colours[i] == *colour) return false;
    if (*n == MOST_HUES) return *colour = colours[0], false;
    return colours[(*n)++] = *colour, true;
}

static void svg_hatch(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    struct svg *svg = svg_of(c);
    struct rs_strbuf *s = &svg->text;
    if (is_new(svg->hatches, &svg->nhatches, &colour))
        rs_strbuf_printf(s,
                         "<pattern id=\"h%06x\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                         "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#%06x\" "
                         "fill-opacity=\".15\"/><rect width=\"2\" height=\"5\" fill=\"#%06x\"/></pattern>\n",
                         colour, colour, colour);
    place(s, box);
    rs_strbuf_printf(s, " fill=\"url(#h%06x)\"/>\n", colour);
}

static void svg_fade(struct rs_canvas *c, const struct rs_box *box, uint32_t colour)
{
    struct svg *svg = svg_of(c);
    struct rs_strbuf *s = &svg->text;
    if (is_new(svg->fades, &svg->nfades, &colour))
        rs_strbuf_printf(s,
                         "<linearGradient id=\"f%06x\"><stop offset=\"0\" stop-color=\"#%06x\" stop-opacity=\".8\"/>"
                         "<stop offset=\"1\" stop-color=\"#%06x\" stop-opacity=\"0\"/></linearGradient>\n",
                         colour, colour, colour);
    place(s, box);
    rs_strbuf_printf(s, " fill=\"url(#f%06x)\"/>\n", colour);
}

static void svg_text(struct rs_canvas *c, double x, double y, const char *text, const struct rs_font *font)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    struct rs_strbuf *s = &svg_of(c)->text;
    rs_strbuf_puts(s, "<text");
    attribute(s, "x", x);
    attribute(s, "y", y);
    if (font->size != 11) attribute(s, "font-size", font->size);
    rs_strbuf_printf(s, "%s%s fill=\"#%06x\">", anchors[font->anchor], font->bold ? " font-weight=\"bold\"" : "",
                     font->colour);
    escaped(s, text);
    rs_strbuf_puts(s, "</text>\n");
}

static enum rs_status svg_end(struct rs_canvas *c, struct rs_err *err)
{
    struct svg *svg = svg_of(c);
    rs_strbuf_puts(&svg->text, "</svg>\n");
    enum rs_status status = RS_OK;
    if ((fwrite(svg->text.data, 1, svg->text.len, svg->out) != svg->text.len || fflush(svg->out)))
        status = rs_fail_errno(err, "%s: cannot write the picture", svg->name);
    rs_strbuf_free(&svg->text);
    free(svg);
    return status;
}

void rs_svg_make(struct rs_canvas **canvas, double width, double height, const char *title, FILE *out, const char *name)
{
    struct svg *svg = rs_zalloc(1, sizeof(*svg));
    svg->canvas = (struct rs_canvas){svg_open,  svg_close, svg_box,  svg_boxes, svg_line,
                                     svg_shape, svg_hatch, svg_fade, svg_text,  svg_end};
    svg->out = out;
    svg->name = name;
    struct rs_strbuf *s = &svg->text;
    rs_strbuf_puts(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
    attribute(s, "width", width);
    attribute(s, "height", height);
    rs_strbuf_puts(s, " viewBox=\"0 0 ");
    number(s, width);
    rs_strbuf_putc(s, ' ');
    number(s, height);
    rs_strbuf_puts(s, "\" font-family=\"DejaVu Sans,Verdana,Arial,sans-serif\" font-size=\"11\">\n"
                      "<style>text{pointer-events:none}</style>\n<title>");
    escaped(s, title);
    rs_strbuf_puts(s, "</title>\n");
    *canvas = &svg->canvas;
}
