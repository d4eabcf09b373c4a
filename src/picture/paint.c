#include "picture/paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "picture/conclusion.h"
#include "picture/legend.h"
#include "picture/words.h"

/* ---- bars, relations and frame ----
 * The state of drawing: canvas, colours, and boxes that are collected by colour. */

struct brush_box {
    uint32_t colour;
    struct rs_box box;
};

struct brush {
    struct rs_canvas *canvas;
    const struct rs_layout *layout;
    const struct rs_picture_rows *rows;
    const struct rs_theme *theme;
    uint32_t colours[256]; /* by kind */
    struct brush_box *boxes;
    uint32_t n, cap;
    double least_titled; /* pixels: minimum width of bars with a tooltip */
    double cell; /* pixels: width to which folded ones are merged */
    uint32_t words, marks; /* drawn so far */
    size_t title_bytes;
};

/* ---- relations ---- */

static struct rs_box box_of(const struct brush *b, struct rs_relation_end at)
{
    const struct rs_picture_row *row = &b->rows->rows[at.row];
    return rs_layout_bar(b->layout, row, &row->bars[at.bar]);
}

static bool is_seen(const struct brush *b, int64_t at)
{
    return at >= b->layout->ruler.from && at <= b->layout->ruler.to;
}

/* Through all starts, or all ends, from row to row; with a gap where one is not visible or unknown. */
static void through(struct brush *b, const struct rs_relation_end *ends, uint32_t n, bool at_ends,
                    struct rs_point *points)
{
    const struct rs_stroke stroke = {b->theme->same_op, at_ends ? 0.8 : 1.2, at_ends ? 0.5 : 0.9, RS_DASH_NONE};
    uint32_t k = 0;
    for (uint32_t i = 0; i <= n; i++) {
        bool known = false;
        if (i < n) {
            const struct rs_picture_bar *bar = &b->rows->rows[ends[i].row].bars[ends[i].bar];
            int64_t at = at_ends ? rs_time_plus(bar->start, bar->dur) : bar->start;
            uint8_t unknown = at_ends ? RS_BAR_END_BOUNDED | RS_BAR_OPEN : RS_BAR_START_UNKNOWN;
            known = is_seen(b, at) && !(bar->flags & unknown);
            struct rs_box box = box_of(b, ends[i]);
            if (known) {
                double x = rs_layout_x(b->layout, at);
                points[k++] = (struct rs_point){x, box.y};
                points[k++] = (struct rs_point){x, box.y + box.h};
            }
        }
        if (!known) {
            if (k > 2) b->canvas->line(b->canvas, points, k, &stroke);
            k = 0;
        }
    }
}

static void arrow(struct brush *b, struct rs_relation_end from, struct rs_relation_end to)
{
    struct rs_box a = box_of(b, from), z = box_of(b, to);
    bool down = a.y < z.y;
    /* From the middle of the send to the end of the receive: the direction of the data. */
    struct rs_point ends[] = {{a.x + fmin(a.w / 2, 12), down ? a.y + a.h : a.y},
                              {z.x + z.w - fmin(z.w / 2, 6), down ? z.y : z.y + z.h}};
    double angle = atan2(ends[1].y - ends[0].y, ends[1].x - ends[0].x);
    const struct rs_stroke stroke = {b->theme->arrow, 1.5, 0.9, RS_DASH_NONE};
    b->canvas->line(b->canvas, ends, 2, &stroke);
    const struct rs_point head[] = {
        ends[1],
        {ends[1].x + 8 * cos(angle + 2.75), ends[1].y + 8 * sin(angle + 2.75)},
        {ends[1].x + 8 * cos(angle - 2.75), ends[1].y + 8 * sin(angle - 2.75)},
    };
    b->canvas->shape(b->canvas, head, 3, b->theme->arrow);
}

/* From a child to its parent, with a dot there. */
static void dotted(struct brush *b, struct rs_relation_end from, struct rs_relation_end to)
{
    struct rs_box a = box_of(b, from), z = box_of(b, to);
    bool down = a.y < z.y;
    struct rs_point ends[] = {{a.x + fmin(1, a.w / 2), down ? a.y + a.h : a.y},
                              {z.x + fmin(3, z.w / 2), down ? z.y + 2 : z.y + z.h - 2}};
    const struct rs_stroke stroke = {b->theme->relation, 1.2, 0.9, RS_DASH_DOTTED};
    b->canvas->line(b->canvas, ends, 2, &stroke);
    const struct rs_box dot = {ends[1].x - 1.5, ends[1].y - 1.5, 3, 3};
    b->canvas->box(b->canvas, &dot, b->theme->relation);
}

static void brush_relations(struct brush *b, const struct rs_relations *relations)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < relations->n; i++) most = relations->list[i].n > most ? relations->list[i].n : most;
    struct rs_point *points = most ? rs_alloc(2 * (size_t)most * sizeof(*points)) : NULL;
    for (uint32_t i = relations->n; i-- > 0;) { /* the heaviest on top */
        const struct rs_relation *relation = &relations->list[i];
        const struct rs_relation_end *ends = &relations->ends[relation->end];
        if (relation->what == RS_LEGEND_PARENT)
            dotted(b, ends[0], ends[1]);
        else if (relation->what == RS_LEGEND_ARROW)
            arrow(b, ends[0], ends[1]);
        else if (points) { /* without memory lines are omitted: bars show the same */
            through(b, ends, relation->n, true, points);
            through(b, ends, relation->n, false, points);
        }
    }
    free(points);
}

/* ---- frame ---- */

enum { MARGIN = RS_LAYOUT_MARGIN };

static void text(struct brush *b, double x, double y, const char *words, double size, uint32_t colour,
                 enum rs_anchor anchor, bool bold)
{
    const struct rs_font font = {colour, size, anchor, bold};
    if (*words) b->canvas->text(b->canvas, x, y, words, &font);
}

static void ruler(struct brush *b)
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

/* Below the rows: stripes, headings, ruler */
static void brush_ground(struct brush *b)
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

static void labels(struct brush *b)
{
    const struct rs_layout *l = b->layout;
    double room = l->plot.x - MARGIN - 8, clear = 0;
    for (uint32_t i = 0; i < b->rows->n; i++) {
        const struct rs_picture_row *row = &b->rows->rows[i];
        double size = row->height >= 13 ? 11 : 9;
        double middle = row->y + row->height / 2;
        if (middle < clear) continue; /* rows are lower than letters: only every few of them have a label */
        clear = middle + (row->height >= 11 ? 0 : 11);
        char label[120], name[200];
        double indent = b->rows->take.fold ? 4 : 14;
        rs_picture_row_label(b->rows, row, name, sizeof(name));
        rs_words_fit(name, (unsigned)((room - indent) / (size * RS_FONT_WIDTH)), label, sizeof(label));
        text(b, MARGIN + indent, middle + size * 0.36, label, size, b->theme->text, RS_ANCHOR_START, false);
    }
}

static void flag(struct brush *b, double x, double y, double height, bool destroyed)
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

/* Of communicators: a filled flag at creation, an empty one at destruction. */
static void flags(struct brush *b)
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

/* Of bars: the meaning of edges and shades. */
static void bar_sample(struct brush *b, const struct rs_layout_legend *entry)
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
static void line_sample(struct brush *b, const struct rs_layout_legend *entry)
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

/* Above the rows: labels, flags, title, legend, footer */
static void brush_frame(struct brush *b)
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

/* ---- bars ---- */

enum { LEAST_LETTERS = 6, MOST_LETTERS = 60 }; /* of a shortened name; of any */
#define LEAST_WORDS 30.0 /* pixels: minimum width of a bar with text */
#define LEAST_LAST 5.0 /* ...with the mark of the last rank */
#define LEAST_MARKS 14.0 /* ...with marks */

static int by_colour(const void *a, const void *b)
{
    const struct brush_box *x = a, *y = b;
    if (x->colour != y->colour) return x->colour < y->colour ? -1 : 1;
    return (x->box.x > y->box.x) - (x->box.x < y->box.x);
}

/* Adds a box of the colour, drawn by flush(). */
static void add_box(struct brush *b, const struct rs_box *box, uint32_t colour)
{
    RS_ROOM(b->boxes, b->n, b->cap);
    b->boxes[b->n++] = (struct brush_box){colour, *box};
}

/* Draws the collected boxes, by colour. */
static void flush(struct brush *b)
{
    if (b->n == 0) return;
    struct rs_box *boxes = rs_alloc(b->n * sizeof(*boxes));
    qsort(b->boxes, b->n, sizeof(*b->boxes), by_colour);
    for (uint32_t i = 0; i < b->n; i++) boxes[i] = b->boxes[i].box;
    for (uint32_t i = 0, next; i < b->n; i = next) {
        for (next = i + 1; next < b->n && b->boxes[next].colour == b->boxes[i].colour;) next++;
        b->canvas->boxes(b->canvas, boxes + i, next - i, b->boxes[i].colour);
    }
    b->n = 0;
    free(boxes);
}

/* ---- pixels ---- */

static uint32_t blank_colour(const struct brush *b, bool lost)
{
    return rs_colour_of(lost ? "lost" : "not-recorded", 0, b->theme);
}

/* How a run of cells looks; kind 0: nothing. */
struct cell {
    uint8_t kind, shade, level;
};

static struct cell cell_at(const struct rs_pixels *p, unsigned from, unsigned to)
{
    struct cell cell = {0};
    float most = 0, cover = 0;
    uint8_t lost = 0;
    for (unsigned x = from; x < to && x < p->width; x++) {
        if (p->kind[x] == 0) continue;
        cover += p->cover[x];
        lost |= p->shade[x] & RS_SHADE_LOST;
        if (p->most[x] < most) continue;
        most = p->most[x];
        cell.kind = p->kind[x];
        cell.shade = p->shade[x] & (RS_SHADE_WAIT | RS_SHADE_NOT_RECORDED);
    }
    cell.shade |= lost; /* a loss is never hidden by a larger bar */
    cover /= (float)(to - from);
    cell.level = (uint8_t)(1 + fminf(cover, 1) * 6.99f);
    return cell;
}

static bool same(struct cell a, struct cell b)
{
    return a.kind == b.kind && a.shade == b.shade && a.level == b.level;
}

static uint32_t count_runs(const struct rs_pixels *p, unsigned step)
{
    uint32_t n = 0;
    struct cell before = {0};
    for (unsigned x = 0; x < p->width; x += step) {
        struct cell cell = cell_at(p, x, x + step);
        n += cell.kind != 0 && !same(cell, before);
        before = cell;
    }
    return n;
}

/* How many runs the pixels of a row make in cells of this width. */
static uint32_t brush_runs(const struct rs_picture_row *row, double cell)
{
    return count_runs(&row->upper, (unsigned)cell) + count_runs(&row->lower, (unsigned)cell);
}

static void draw_run(struct brush *b, struct rs_box box, struct cell cell, uint32_t ground)
{
    if (cell.shade & (RS_SHADE_LOST | RS_SHADE_NOT_RECORDED)) {
        b->canvas->hatch(b->canvas, &box, blank_colour(b, cell.shade & RS_SHADE_LOST));
        return;
    }
    /* At least a quarter, so that everything is visible. */
    double share = 0.25 + 0.75 * (cell.level - 1) / 6;
    if (cell.shade & RS_SHADE_WAIT) share *= RS_WAIT_STRENGTH;
    add_box(b, &box, rs_colour_mix(ground, b->colours[cell.kind - 1], share));
}

static void draw_pixels(struct brush *b, const struct rs_pixels *p, struct rs_box strip, uint32_t ground)
{
    unsigned step = (unsigned)b->cell;
    struct cell run = {0};
    unsigned from = 0;
    for (unsigned x = 0; p->width > 0; x += step) {
        struct cell cell = x < p->width ? cell_at(p, x, x + step) : (struct cell){0};
        if (!same(cell, run)) {
            struct rs_box box = {strip.x + from, strip.y, x - from, strip.h};
            if (box.x + box.w > strip.x + strip.w) box.w = strip.x + strip.w - box.x;
            if (run.kind) draw_run(b, box, run, ground);
            run = cell;
            from = x;
        }
        if (x >= p->width) break;
    }
}

/* ---- bars ---- */

/* A bar with an unknown begin or end: a torn edge in the background's colour, teeth to the left or right. */
static void torn_edge(struct brush *b, double x, double y, double height, double way, uint32_t colour)
{
    enum { TEETH = 3 };
    struct rs_point points[2 * TEETH + 1];
    for (int i = 0; i <= 2 * TEETH; i++)
        points[i] = (struct rs_point){x + (i & 1 ? way : 0), y + height * i / (2 * TEETH)};
    b->canvas->shape(b->canvas, points, 2 * TEETH + 1, colour);
}

static void draw_marks(struct brush *b, const struct rs_picture_bar *bar, struct rs_box box)
{
    double right = b->layout->plot.x + b->layout->plot.w;
    for (unsigned i = 0; i < RS_BAR_MARKS && box.w >= LEAST_MARKS && b->marks < RS_PAINT_MARKS; i++) {
        int64_t at = rs_time_plus(bar->start, bar->marks[i]);
        if (bar->marks[i] == 0 || at <= b->layout->ruler.from || at >= b->layout->ruler.to) continue;
        struct rs_box mark = {rs_layout_x(b->layout, at), box.y + 2, 1, box.h - 4};
        add_box(b, &mark, b->theme->on_bar);
        b->marks++;
    }
    if (bar->flags & RS_BAR_LAST && bar->start >= b->layout->ruler.from && box.h >= 5 && box.w >= LEAST_LAST &&
        box.x < right - 4 && b->marks < RS_PAINT_MARKS) {
        double size = fmin(box.h, 9);
        struct rs_point points[] = {{box.x, box.y}, {box.x + size * 0.8, box.y}, {box.x, box.y + size}};
        b->canvas->shape(b->canvas, points, 3, b->theme->same_op);
        b->marks++;
    }
    if (bar->flags & RS_BAR_MISMATCH && b->marks < RS_PAINT_MARKS) {
        struct rs_box under = {box.x, box.y + box.h - 2, box.w, 2};
        add_box(b, &under, b->theme->same_op);
        b->marks++;
    }
}

/* The text on a bar, if it fits: its name, and its size if that fits too. */
static void draw_words(struct brush *b, const struct rs_picture_bar *bar, struct rs_box box)
{
    double wait = bar->wait > 0 ? rs_layout_x(b->layout, rs_time_plus(bar->start, bar->wait)) - box.x : 0;
    wait = fmin(fmax(wait, 0), box.w);
    bool waits = wait > box.w / 2; /* the wider part has the text: each has its own colour */
    bool pale = rs_picture_is_blank(bar) || waits;
    double left = bar->flags & RS_BAR_LAST && wait == 0 ? 9 : 4;
    if (!waits) box.x += wait;
    box.w = waits ? wait : box.w - wait;
    double size = box.h >= 13 ? 11 : box.h >= 9.5 ? 9 : 0;
    if (size == 0 || box.w < LEAST_WORDS || b->words >= RS_PAINT_WORDS) return;
    unsigned room = (unsigned)fmin(fmax(0, (box.w - left - 2) / (size * RS_FONT_WIDTH)), MOST_LETTERS);
    char text[128], bytes[32], both[164];
    const char *name = rs_words_name(b->rows->timeline, bar);
    unsigned columns = rs_words_clean(name, text, sizeof(text));
    if (columns > room && room < LEAST_LETTERS) return; /* "Al.." is not a name */
    columns = rs_words_fit(name, room, text, sizeof(text));
    rs_words_size(b->rows->timeline, bar, bytes, sizeof(bytes));
    bool more = *bytes && columns + 1 + strlen(bytes) <= room;
    snprintf(both, sizeof(both), "%s%s%s", text, more ? " " : "", more ? bytes : "");
    const struct rs_font font = {pale ? b->theme->text : rs_colour_on(b->colours[bar->kind], b->theme), size,
                                 RS_ANCHOR_START, false};
    b->canvas->text(b->canvas, box.x + left, box.y + box.h / 2 + size * 0.36, both, &font);
    b->words++;
}

static void draw_body(struct brush *b, const struct rs_picture_bar *bar, struct rs_box box, uint32_t ground,
                      bool titled)
{
    uint32_t colour = b->colours[bar->kind], pale = rs_colour_mix(ground, colour, RS_WAIT_STRENGTH);
    double wait = bar->wait > 0 ? rs_layout_x(b->layout, rs_time_plus(bar->start, bar->wait)) - box.x : 0;
    wait = fmin(fmax(wait, 0), box.w);
    /* A line in the background's colour separates two similar ones. */
    double gap = box.w > 3 ? 0.5 : 0;
    struct rs_box first = {box.x, box.y, wait, box.h}, rest = {box.x + wait, box.y, box.w - wait - gap, box.h};
    if (first.w > 0.05) {
        if (titled)
            b->canvas->box(b->canvas, &first, pale);
        else
            add_box(b, &first, pale);
    }
    if (rest.w > 0.05) {
        if (titled)
            b->canvas->box(b->canvas, &rest, colour);
        else
            add_box(b, &rest, colour);
    }
    if (bar->fade > 0) {
        int64_t end = rs_time_plus(bar->start, bar->dur);
        struct rs_box fade = {rs_layout_x(b->layout, end), box.y, 0, box.h};
        fade.w = rs_layout_x(b->layout, rs_time_plus(end, bar->fade)) - fade.x;
        if (fade.w >= 1) b->canvas->fade(b->canvas, &fade, colour);
    }
    if (bar->flags & RS_BAR_START_UNKNOWN && box.w >= 8) torn_edge(b, box.x, box.y, box.h, 4, ground);
    if (bar->flags & RS_BAR_OPEN && box.w >= 8) torn_edge(b, box.x + box.w, box.y, box.h, -4, ground);
}

static void draw_bar(struct brush *b, const struct rs_picture_row *row, const struct rs_picture_bar *bar,
                     uint32_t ground)
{
    struct rs_box box = rs_layout_bar(b->layout, row, bar);
    bool titled = box.w >= b->least_titled && b->title_bytes < RS_PAINT_TITLE_BYTES;
    if (titled) {
        struct rs_strbuf title = {0};
        rs_words_tooltip(b->rows->timeline, bar, &title);
        for (const char *p = rs_strbuf_borrow(&title); *p; p++) b->title_bytes += strchr("&<>", *p) ? 5 : 1;
        b->canvas->open(b->canvas, rs_strbuf_borrow(&title));
        rs_strbuf_free(&title);
    }
    if (rs_picture_is_blank(bar)) {
        if (box.w < 3) box.w = 3; /* a loss must be visible */
        b->canvas->hatch(b->canvas, &box, blank_colour(b, bar->flags & RS_BAR_LOST));
    } else
        draw_body(b, bar, box, ground, titled);
    if (titled) b->canvas->close(b->canvas);
}

/* Bars and pixels of a row; then relations; then the frame. */
static void brush_row(struct brush *b, const struct rs_picture_row *row, uint32_t ground)
{
    draw_pixels(b, &row->upper, rs_layout_strip(b->layout, row, false), ground);
    draw_pixels(b, &row->lower, rs_layout_strip(b->layout, row, true), ground);
    flush(b);
    for (int pass = 0; pass < 2; pass++) /* what is not recorded is below the others */
        for (uint32_t i = 0; i < row->nbars; i++)
            if (rs_picture_is_blank(&row->bars[i]) == (pass == 0)) draw_bar(b, row, &row->bars[i], ground);
    flush(b);
    for (uint32_t i = 0; i < row->nbars; i++) {
        struct rs_box box = rs_layout_bar(b->layout, row, &row->bars[i]);
        draw_marks(b, &row->bars[i], box);
        draw_words(b, &row->bars[i], box);
    }
    flush(b);
}

/* ---- the picture ---- */

static int by_width(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The widest have tooltips. */
static void choose_titled(struct brush *b)
{
    size_t n = 0, k = 0;
    for (uint32_t i = 0; i < b->rows->n; i++) n += b->rows->rows[i].nbars;
    if (n <= RS_PAINT_TITLES) return;
    double *widths = rs_alloc(n * sizeof(*widths));
    for (uint32_t i = 0; i < b->rows->n; i++)
        for (uint32_t j = 0; j < b->rows->rows[i].nbars; j++)
            widths[k++] = rs_layout_bar(b->layout, &b->rows->rows[i], &b->rows->rows[i].bars[j]).w;
    qsort(widths, n, sizeof(*widths), by_width);
    b->least_titled = widths[RS_PAINT_TITLES] + 1e-9;
    free(widths);
}

static void choose_cell(struct brush *b)
{
    for (b->cell = 1; b->cell < b->layout->plot.w; b->cell *= 2) {
        size_t runs = 0;
        for (uint32_t i = 0; i < b->rows->n; i++) runs += brush_runs(&b->rows->rows[i], b->cell);
        if (runs <= RS_PAINT_RUNS) return;
    }
}

static void paint(struct brush *b, const struct rs_relations *relations)
{
    choose_titled(b);
    choose_cell(b);
    brush_ground(b);
    for (uint32_t i = 0; i < b->rows->n; i++)
        brush_row(b, &b->rows->rows[i], i & 1 ? b->theme->row : b->theme->background);
    brush_relations(b, relations);
    brush_frame(b);
    rs_conclusion_paint(b->canvas, b->layout, b->theme);
}

void rs_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_rows *rows,
              const struct rs_relations *relations, const struct rs_theme *theme)
{
    struct brush b = {.canvas = c, .layout = l, .rows = rows, .theme = theme};
    const struct rs_kinds *kinds = &rows->timeline->kinds;
    for (unsigned i = 0; i < 256; i++)
        b.colours[i] = rs_colour_of(i < kinds->n ? kinds->rows[i].colour : NULL, i, theme);
    paint(&b, relations);
    free(b.boxes);
}
