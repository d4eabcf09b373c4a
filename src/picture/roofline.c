#include "picture/roofline.h"

#include <math.h>
#include <stdbool.h>

#include "base/units.h"
#include "picture/palette.h"
#include "picture/svg.h"

enum { WIDTH = 960, HEIGHT = 560, LEFT = 76, TOP = 56, BOTTOM = 60, RIGHT = 250, MARK = 7, MOST_POINTS = 512 };

/* Logarithms of what the axes span. */
struct axes {
    double x0, x1, y0, y1;
};

struct drawing {
    const struct rs_theme *theme;
    struct rs_canvas *canvas;
    struct axes a;
};

static bool is_drawable(double bytes, double gbs)
{
    return bytes >= 1 && gbs > 0 && isfinite(bytes) && isfinite(gbs);
}

static void span(struct axes *a, double bytes, double gbs)
{
    if (!is_drawable(bytes, gbs)) return;
    double x = log2(bytes), y = log10(gbs);
    if (!(x >= a->x0)) a->x0 = x; /* also from NAN */
    if (!(x <= a->x1)) a->x1 = x;
    if (!(y >= a->y0)) a->y0 = y;
    if (!(y <= a->y1)) a->y1 = y;
}

static void find_axes(struct axes *a, const struct rs_roofline *r)
{
    *a = (struct axes){NAN, NAN, NAN, NAN};
    for (uint32_t i = 0; i < r->n; i++) {
        const struct rs_roof_series *s = &r->series[i];
        for (uint32_t k = 0; k < s->nmarks; k++) {
            span(a, s->marks[k].bytes, s->marks[k].gbs);
            span(a, s->marks[k].bytes, s->marks[k].seen_gbs);
        }
    }
    if (isnan(a->x0)) return; /* nothing was reached */
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->series[i].nreference; k++)
            span(a, r->series[i].reference[k].bytes, r->series[i].reference[k].gbs);
    if (r->link_gbs > 0) span(a, exp2(a->x0), r->link_gbs);
    a->x0 = floor(a->x0 / 2) * 2 - 1;
    a->x1 = ceil(a->x1 / 2) * 2 + 1;
    a->y0 = floor(a->y0);
    a->y1 = ceil(a->y1 + 1e-9);
    if (a->y1 <= a->y0) a->y1 = a->y0 + 1;
}

static struct rs_point at(const struct drawing *d, double bytes, double gbs)
{
    const struct axes *a = &d->a;
    return (struct rs_point){LEFT + (log2(bytes) - a->x0) / (a->x1 - a->x0) * (WIDTH - LEFT - RIGHT),
                             HEIGHT - BOTTOM - (log10(gbs) - a->y0) / (a->y1 - a->y0) * (HEIGHT - TOP - BOTTOM)};
}

static void draw_line(const struct drawing *d, struct rs_point from, struct rs_point to, uint32_t colour,
                      enum rs_dash dash)
{
    d->canvas->line(d->canvas, (const struct rs_point[]){from, to}, 2,
                    &(struct rs_stroke){.colour = colour, .width = 1, .alpha = 1, .dash = dash});
}

static void draw_text(const struct drawing *d, double x, double y, const char *text, enum rs_anchor anchor, bool bold)
{
    d->canvas->text(d->canvas, x, y, text,
                    &(struct rs_font){.colour = d->theme->text, .size = 12, .anchor = anchor, .bold = bold});
}

static void draw_grid(const struct drawing *d, const char *title)
{
    const struct axes *a = &d->a;
    double low = pow(10, a->y0), high = pow(10, a->y1);
    draw_text(d, LEFT, 24, title, RS_ANCHOR_START, true);
    draw_text(d, LEFT, 44, "bus bandwidth in GB/s", RS_ANCHOR_START, false);
    double step = a->x1 - a->x0 > 16 ? 4 : 2;
    for (double x = ceil(a->x0 / step) * step; x <= a->x1; x += step) {
        struct rs_point foot = at(d, exp2(x), low), head = at(d, exp2(x), high);
        draw_line(d, foot, head, d->theme->grid, RS_DASH_NONE);
        draw_text(d, foot.x, foot.y + 18, rs_text_size((uint64_t)exp2(x)).s, RS_ANCHOR_MIDDLE, false);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        char text[32];
        struct rs_point left = at(d, exp2(a->x0), pow(10, y)), right = at(d, exp2(a->x1), pow(10, y));
        snprintf(text, sizeof text, "%g", pow(10, y));
        draw_line(d, left, right, d->theme->grid, RS_DASH_NONE);
        draw_text(d, LEFT - 8, left.y + 4, text, RS_ANCHOR_END, false);
    }
    draw_text(d, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 18, "size of an operation in bytes", RS_ANCHOR_MIDDLE,
              false);
}

static void draw_mark(const struct drawing *d, const struct rs_roof_mark *m, uint32_t colour)
{
    bool after = is_drawable(m->bytes, m->gbs), seen = is_drawable(m->bytes, m->seen_gbs);
    if (!after && !seen) return;
    d->canvas->open(d->canvas, m->text);
    if (after && seen) draw_line(d, at(d, m->bytes, m->gbs), at(d, m->bytes, m->seen_gbs), colour, RS_DASH_NONE);
    if (seen) {
        struct rs_point p = at(d, m->bytes, m->seen_gbs);
        d->canvas->box(d->canvas, &(struct rs_box){p.x - MARK / 2.0, p.y - MARK / 2.0, MARK, MARK}, colour);
        d->canvas->box(d->canvas, &(struct rs_box){p.x - MARK / 2.0 + 1.5, p.y - MARK / 2.0 + 1.5, MARK - 3, MARK - 3},
                       d->theme->background);
    }
    if (after) {
        struct rs_point p = at(d, m->bytes, m->gbs);
        d->canvas->box(d->canvas, &(struct rs_box){p.x - MARK / 2.0, p.y - MARK / 2.0, MARK, MARK}, colour);
    }
    d->canvas->close(d->canvas);
}

static void draw_series(const struct drawing *d, const struct rs_roof_series *s, uint32_t place)
{
    uint32_t colour = rs_colour_of("", place, d->theme), n = 0;
    struct rs_point points[MOST_POINTS];
    for (uint32_t i = 0; i < s->nreference && n < MOST_POINTS; i++)
        if (is_drawable(s->reference[i].bytes, s->reference[i].gbs))
            points[n++] = at(d, s->reference[i].bytes, s->reference[i].gbs);
    if (n > 1) d->canvas->line(d->canvas, points, n, &(struct rs_stroke){.colour = colour, .width = 1.5, .alpha = 0.7});
    for (uint32_t i = 0; i < s->nmarks; i++) draw_mark(d, &s->marks[i], colour);
}

static void draw_legend(const struct drawing *d, const struct rs_roofline *r)
{
    enum { LINE = 20, MOST = 16 };
    double x = WIDTH - RIGHT + 20, y = TOP + 8;
    bool reference = false;
    for (uint32_t i = 0; i < r->n && i < MOST; i++, y += LINE) {
        d->canvas->box(d->canvas, &(struct rs_box){x, y - MARK, MARK, MARK}, rs_colour_of("", i, d->theme));
        draw_text(d, x + 14, y, r->series[i].name, RS_ANCHOR_START, false);
        reference |= r->series[i].nreference > 1;
    }
    y += LINE / 2.0;
    draw_text(d, x, y, "filled: after the last start", RS_ANCHOR_START, false);
    draw_text(d, x, y += LINE, "hollow: including wait", RS_ANCHOR_START, false);
    if (reference) draw_text(d, x, y += LINE, "line: reference (nccl-tests)", RS_ANCHOR_START, false);
    if (r->link_gbs > 0) draw_text(d, x, y += LINE, "dotted: nominal rate of a link", RS_ANCHOR_START, false);
}

enum rs_status rs_roofline_svg(const struct rs_roofline *r, FILE *out, const char *name, struct rs_err *err)
{
    struct drawing d = {.theme = &rs_theme_light};
    find_axes(&d.a, r);
    if (isnan(d.a.x0))
        return rs_fail(err, RS_BAD_INPUT, "%s: no operation with a known size and time: there is nothing to draw",
                       name);
    rs_svg_make(&d.canvas, WIDTH, HEIGHT, r->title, out, name);
    d.canvas->box(d.canvas, &(struct rs_box){0, 0, WIDTH, HEIGHT}, d.theme->background);
    draw_grid(&d, r->title);
    if (r->link_gbs > 0)
        draw_line(&d, at(&d, exp2(d.a.x0), r->link_gbs), at(&d, exp2(d.a.x1), r->link_gbs), d.theme->text,
                  RS_DASH_DOTTED);
    for (uint32_t i = 0; i < r->n; i++) draw_series(&d, &r->series[i], i);
    draw_legend(&d, r);
    return d.canvas->end(d.canvas, err);
}
