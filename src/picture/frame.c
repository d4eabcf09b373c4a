#include <math.h>
#include <string.h>

#include "picture/brush.h"
#include "picture/legend.h"
#include "picture/words.h"

enum { MARGIN = RS_LAYOUT_MARGIN };

static void text(struct rs_brush *b, double x, double y, const char *words, double size, uint32_t colour,
                 enum rs_anchor anchor, bool bold)
{
    const struct rs_font font = {colour, size, anchor, bold};
    if (*words) b->canvas->text(b->canvas, x, y, words, &font);
}

static void ruler(struct rs_brush *b)
{
    const struct rs_layout *l = b->layout;
    const struct rs_ruler *r = &l->ruler;
    const struct rs_stroke stroke = {b->theme->grid, 1, 1, RS_DASH_NONE};
    char label[64];
    int64_t at = r->first;
    for (unsigned i = 0; i < 200 && at <= r->to; i++) {
        double x = rs_layout_x(l, at);
        const struct rs_point line[] = {{x, l->plot.y - 4}, {x, l->plot.y + l->plot.h}};
        b->canvas->line(b->canvas, line, 2, &stroke);
        rs_ruler_label(r, at, label, sizeof(label));
        bool last = x > l->plot.x + l->plot.w - 30;
        if (x < l->width - MARGIN || !last)
            text(b, last ? x + 4 : x, l->plot.y - 7, label, 10, b->theme->dim, last ? RS_ANCHOR_END : RS_ANCHOR_MIDDLE,
                 false);
        if (at > INT64_MAX - r->step) break;
        at += r->step;
    }
    rs_ruler_base(r, label, sizeof(label));
    text(b, MARGIN, l->plot.y - 7, label, 10, b->theme->dim, RS_ANCHOR_START, false);
}

void rs_brush_ground(struct rs_brush *b)
{
    const struct rs_layout *l = b->layout;
    struct rs_canvas *c = b->canvas;
    const struct rs_box all = {0, 0, l->width, l->height};
    c->box(c, &all, b->theme->background);
    for (uint32_t i = 1; i < b->rows->n; i += 2) {
        const struct rs_box stripe = {MARGIN, b->rows->rows[i].y, l->width - 2 * MARGIN, b->rows->rows[i].height};
        c->box(c, &stripe, b->theme->row);
    }
    ruler(b);
    for (uint32_t i = 0; i < l->nheadings; i++) {
        const struct rs_layout_heading *h = &l->headings[i];
        const struct rs_box box = {MARGIN, h->y, l->width - 2 * MARGIN, h->height};
        c->box(c, &box, b->theme->heading);
        text(b, MARGIN + 5 + 10.0 * h->depth, h->y + 12.5, h->text, 11, b->theme->text, RS_ANCHOR_START, true);
    }
}

static void labels(struct rs_brush *b)
{
    const struct rs_layout *l = b->layout;
    double room = l->plot.x - MARGIN - 8, clear = 0;
    for (uint32_t i = 0; i < b->rows->n; i++) {
        const struct rs_picture_row *row = &b->rows->rows[i];
        double size = row->height >= 13 ? 11 : 9;
        double middle = row->y + row->height / 2;
        if (middle < clear) continue; /* rows are lower than letters: every few of them are named */
        clear = middle + (row->height >= 11 ? 0 : 11);
        char label[120], name[200];
        double indent = b->rows->take.fold ? 4 : 14;
        rs_picture_row_label(b->rows, row, name, sizeof(name));
        rs_words_fit(name, (unsigned)((room - indent) / (size * RS_FONT_WIDTH)), label, sizeof(label));
        text(b, MARGIN + indent, middle + size * 0.36, label, size, b->theme->text, RS_ANCHOR_START, false);
    }
}

static void flag(struct rs_brush *b, double x, double y, double height, bool destroyed)
{
    uint32_t colour = rs_colour_of("flag", 0, b->theme);
    const struct rs_point pole[] = {{x, y}, {x, y + height}};
    const struct rs_stroke stroke = {colour, 1.2, 1, RS_DASH_NONE};
    const struct rs_point cloth[] = {{x, y}, {x + 8, y + 3}, {x, y + 6}, {x, y}};
    b->canvas->line(b->canvas, pole, 2, &stroke);
    if (destroyed)
        b->canvas->line(b->canvas, cloth, 4, &stroke);
    else
        b->canvas->shape(b->canvas, cloth, 3, colour);
}

/* Of communicators: a full flag where one is created, an empty one where it is destroyed. */
static void flags(struct rs_brush *b)
{
    enum { MOST = 500 };
    const struct rs_timeline *t = b->rows->timeline;
    unsigned drawn = 0;
    for (uint32_t i = 0; i < t->nflags && drawn < MOST; i++) {
        uint32_t place;
        if (!rs_legend_flag_row(b->rows, &t->flags[i], &place)) continue;
        const struct rs_picture_row *row = &b->rows->rows[place];
        char label[160];
        rs_words_clean(rs_texts_at(&t->texts, t->flags[i].label), label, sizeof(label));
        b->canvas->open(b->canvas, label);
        flag(b, rs_layout_x(b->layout, t->flags[i].at), row->y + 1, row->height - 2, t->flags[i].destroyed);
        b->canvas->close(b->canvas);
        drawn++;
    }
}

/* ---- legend ---- */

/* Of bars: what edges and shades mean. */
static void bar_sample(struct rs_brush *b, const struct rs_layout_legend *entry)
{
    struct rs_canvas *c = b->canvas;
    const double x = entry->x, y = entry->y, w = RS_SAMPLE_WIDTH, h = RS_SAMPLE_HEIGHT;
    const struct rs_box box = {x, y, w, h}, rest = {x + w / 2, y, w / 2, h}, under = {x, y + h - 3, w, 3};
    const struct rs_point corner[] = {{x + 6, y}, {x + 14, y}, {x + 6, y + h}};
    const struct rs_point torn_left[] = {
        {x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}, {x + 5, y + h * 0.75}, {x, y + h / 2}, {x + 5, y + h / 4}};
    const struct rs_point torn_right[] = {
        {x, y},         {x + w, y}, {x + w - 5, y + h / 4}, {x + w, y + h / 2}, {x + w - 5, y + h * 0.75},
        {x + w, y + h}, {x, y + h}};
    const uint32_t plain = b->theme->dim, pale = rs_colour_mix(b->theme->background, plain, RS_WAIT_STRENGTH);
    switch (entry->what) {
    case RS_LEGEND_KIND: c->box(c, &box, b->colours[entry->kind]); break;
    case RS_LEGEND_WAIT:
        c->box(c, &box, pale);
        c->box(c, &rest, plain);
        break;
    case RS_LEGEND_MISMATCH:
        c->box(c, &box, pale);
        c->box(c, &under, b->theme->same_op);
        break;
    case RS_LEGEND_LAST: c->shape(c, corner, 3, b->theme->same_op); break;
    case RS_LEGEND_START_UNKNOWN: c->shape(c, torn_left, 7, plain); break;
    case RS_LEGEND_OPEN: c->shape(c, torn_right, 7, plain); break;
    case RS_LEGEND_FADE: c->fade(c, &box, plain); break;
    case RS_LEGEND_LOST: c->hatch(c, &box, rs_colour_of("lost", 0, b->theme)); break;
    case RS_LEGEND_NOT_RECORDED: c->hatch(c, &box, rs_colour_of("not-recorded", 0, b->theme)); break;
    default: break;
    }
}

/* Of lines between bars, and of flags. */
static void line_sample(struct rs_brush *b, const struct rs_layout_legend *entry)
{
    struct rs_canvas *c = b->canvas;
    const double left = entry->x, right = left + RS_SAMPLE_WIDTH, y = entry->y + RS_SAMPLE_HEIGHT / 2.0;
    const struct rs_point across[] = {{left, y}, {right, y}},
                          head[] = {{right, y}, {right - 8, y - 3}, {right - 8, y + 3}};
    const struct rs_stroke same = {b->theme->same_op, 1.4, 1, RS_DASH_NONE};
    const struct rs_stroke arrow = {b->theme->arrow, 1.5, 1, RS_DASH_NONE};
    const struct rs_stroke parent = {b->theme->relation, 1.4, 1, RS_DASH_DOTTED};
    const struct rs_box dot = {right - 3, y - 1.5, 3, 3};
    switch (entry->what) {
    case RS_LEGEND_CREATED:
    case RS_LEGEND_DESTROYED: flag(b, left + 5, entry->y, RS_SAMPLE_HEIGHT, entry->what == RS_LEGEND_DESTROYED); break;
    case RS_LEGEND_SAME_OP: c->line(c, across, 2, &same); break;
    case RS_LEGEND_ARROW:
        c->line(c, across, 2, &arrow);
        c->shape(c, head, 3, b->theme->arrow);
        break;
    case RS_LEGEND_PARENT:
        c->line(c, across, 2, &parent);
        c->box(c, &dot, b->theme->relation);
        break;
    default: break;
    }
}

void rs_brush_frame(struct rs_brush *b)
{
    const struct rs_layout *l = b->layout;
    labels(b);
    flags(b);
    text(b, MARGIN, 21, l->title, 14, b->theme->text, RS_ANCHOR_START, true);
    for (uint32_t i = 0; i < l->nlegend; i++) {
        bar_sample(b, &l->legend[i]);
        line_sample(b, &l->legend[i]);
        text(b, l->legend[i].x + RS_SAMPLE_WIDTH + 5, l->legend[i].y + 9.5, l->legend[i].text, 11, b->theme->text,
             RS_ANCHOR_START, false);
    }
    text(b, MARGIN, l->footer_y + 8, l->footer, 10, b->theme->dim, RS_ANCHOR_START, false);
    text(b, l->width - MARGIN, l->footer_y + 8, "ringscope " RS_VERSION, 9, b->theme->dim, RS_ANCHOR_END, false);
}
