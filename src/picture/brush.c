#include "picture/brush.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture/words.h"

enum { LEAST_LETTERS = 6, MOST_LETTERS = 60 }; /* of a name that is cut; of any */
#define LEAST_WORDS 30.0 /* pixels of a bar that words may stand on */
#define LEAST_LAST 5.0 /* ...that the mark of the last to arrive may stand on */
#define LEAST_MARKS 14.0 /* ...and marks */

static int by_colour(const void *a, const void *b)
{
    const struct rs_brush_box *x = a, *y = b;
    if (x->colour != y->colour) return x->colour < y->colour ? -1 : 1;
    return (x->box.x > y->box.x) - (x->box.x < y->box.x);
}

/* A box of the colour, drawn by flush(). */
static enum rs_status add_box(struct rs_brush *b, const struct rs_box *box, uint32_t colour, struct rs_err *err)
{
    RS_ROOM(b->boxes, b->n, b->cap, err);
    b->boxes[b->n++] = (struct rs_brush_box){colour, *box};
    return RS_OK;
}

/* Draws what waits, colour by colour. */
static enum rs_status flush(struct rs_brush *b, struct rs_err *err)
{
    if (b->n == 0) return RS_OK;
    struct rs_box *boxes = malloc(b->n * sizeof(*boxes));
    if (!boxes) return rs_fail(err, RS_NO_MEMORY, "no memory for the bars of the picture");
    qsort(b->boxes, b->n, sizeof(*b->boxes), by_colour);
    for (uint32_t i = 0; i < b->n; i++) boxes[i] = b->boxes[i].box;
    for (uint32_t i = 0, next; i < b->n; i = next) {
        for (next = i + 1; next < b->n && b->boxes[next].colour == b->boxes[i].colour;) next++;
        b->canvas->boxes(b->canvas, boxes + i, next - i, b->boxes[i].colour);
    }
    b->n = 0;
    free(boxes);
    return RS_OK;
}

/* ---- pixels ---- */

static uint32_t blank_colour(const struct rs_brush *b, bool lost)
{
    return rs_colour_of(lost ? "lost" : "not-recorded", 0, b->theme);
}

/* What a run of cells looks like; kind 0: nothing. */
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
    cell.shade |= lost; /* a loss is never hidden by what is larger */
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

uint32_t rs_brush_runs(const struct rs_picture_row *row, double cell)
{
    return count_runs(&row->upper, (unsigned)cell) + count_runs(&row->lower, (unsigned)cell);
}

static enum rs_status draw_run(struct rs_brush *b, struct rs_box box, struct cell cell, uint32_t ground,
                               struct rs_err *err)
{
    if (cell.shade & (RS_SHADE_LOST | RS_SHADE_NOT_RECORDED)) {
        b->canvas->hatch(b->canvas, &box, blank_colour(b, cell.shade & RS_SHADE_LOST));
        return RS_OK;
    }
    /* Even the faintest is to be seen: a quarter at least. */
    double share = 0.25 + 0.75 * (cell.level - 1) / 6;
    if (cell.shade & RS_SHADE_WAIT) share *= RS_WAIT_STRENGTH;
    return add_box(b, &box, rs_colour_mix(ground, b->colours[cell.kind - 1], share), err);
}

static enum rs_status draw_pixels(struct rs_brush *b, const struct rs_pixels *p, struct rs_box strip, uint32_t ground,
                                  struct rs_err *err)
{
    unsigned step = (unsigned)b->cell;
    struct cell run = {0};
    unsigned from = 0;
    for (unsigned x = 0; p->width > 0; x += step) {
        struct cell cell = x < p->width ? cell_at(p, x, x + step) : (struct cell){0};
        if (!same(cell, run)) {
            struct rs_box box = {strip.x + from, strip.y, x - from, strip.h};
            if (box.x + box.w > strip.x + strip.w) box.w = strip.x + strip.w - box.x;
            if (run.kind) RS_TRY(draw_run(b, box, run, ground, err));
            run = cell;
            from = x;
        }
        if (x >= p->width) break;
    }
    return RS_OK;
}

/* ---- bars ---- */

/* Where a bar's begin or end is not told: a torn edge of the ground's colour, teeth to the left or right. */
static void torn_edge(struct rs_brush *b, double x, double y, double height, double way, uint32_t colour)
{
    enum { TEETH = 3 };
    struct rs_point points[2 * TEETH + 1];
    for (int i = 0; i <= 2 * TEETH; i++)
        points[i] = (struct rs_point){x + (i & 1 ? way : 0), y + height * i / (2 * TEETH)};
    b->canvas->shape(b->canvas, points, 2 * TEETH + 1, colour);
}

static enum rs_status draw_marks(struct rs_brush *b, const struct rs_picture_bar *bar, struct rs_box box,
                                 struct rs_err *err)
{
    double right = b->layout->plot.x + b->layout->plot.w;
    for (unsigned i = 0; i < RS_BAR_MARKS && box.w >= LEAST_MARKS && b->marks < RS_PAINT_MARKS; i++) {
        int64_t at = rs_time_plus(bar->start, bar->marks[i]);
        if (bar->marks[i] == 0 || at <= b->layout->ruler.from || at >= b->layout->ruler.to) continue;
        struct rs_box mark = {rs_layout_x(b->layout, at), box.y + 2, 1, box.h - 4};
        RS_TRY(add_box(b, &mark, b->theme->on_bar, err));
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
        RS_TRY(add_box(b, &under, b->theme->same_op, err));
        b->marks++;
    }
    return RS_OK;
}

/* The words on a bar, where they fit: its name, and its size where that fits too. */
static void draw_words(struct rs_brush *b, const struct rs_picture_bar *bar, struct rs_box box)
{
    double wait = bar->wait > 0 ? rs_layout_x(b->layout, rs_time_plus(bar->start, bar->wait)) - box.x : 0;
    wait = fmin(fmax(wait, 0), box.w);
    bool waits = wait > box.w / 2; /* the wider part has the words: each has its own colour */
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
    if (columns > room && room < LEAST_LETTERS) return; /* "Al.." is no name */
    columns = rs_words_fit(name, room, text, sizeof(text));
    rs_words_size(b->rows->timeline, bar, bytes, sizeof(bytes));
    bool more = *bytes && columns + 1 + strlen(bytes) <= room;
    snprintf(both, sizeof(both), "%s%s%s", text, more ? " " : "", more ? bytes : "");
    const struct rs_font font = {pale ? b->theme->text : rs_colour_on(b->colours[bar->kind], b->theme), size,
                                 RS_ANCHOR_START, false};
    b->canvas->text(b->canvas, box.x + left, box.y + box.h / 2 + size * 0.36, both, &font);
    b->words++;
}

static enum rs_status draw_body(struct rs_brush *b, const struct rs_picture_bar *bar, struct rs_box box,
                                uint32_t ground, bool titled, struct rs_err *err)
{
    uint32_t colour = b->colours[bar->kind], pale = rs_colour_mix(ground, colour, RS_WAIT_STRENGTH);
    double wait = bar->wait > 0 ? rs_layout_x(b->layout, rs_time_plus(bar->start, bar->wait)) - box.x : 0;
    wait = fmin(fmax(wait, 0), box.w);
    /* A line of the ground keeps two alike apart. */
    double gap = box.w > 3 ? 0.5 : 0;
    struct rs_box first = {box.x, box.y, wait, box.h}, rest = {box.x + wait, box.y, box.w - wait - gap, box.h};
    if (first.w > 0.05) {
        if (titled)
            b->canvas->box(b->canvas, &first, pale);
        else
            RS_TRY(add_box(b, &first, pale, err));
    }
    if (rest.w > 0.05) {
        if (titled)
            b->canvas->box(b->canvas, &rest, colour);
        else
            RS_TRY(add_box(b, &rest, colour, err));
    }
    if (bar->fade > 0) {
        int64_t end = rs_time_plus(bar->start, bar->dur);
        struct rs_box fade = {rs_layout_x(b->layout, end), box.y, 0, box.h};
        fade.w = rs_layout_x(b->layout, rs_time_plus(end, bar->fade)) - fade.x;
        if (fade.w >= 1) b->canvas->fade(b->canvas, &fade, colour);
    }
    if (bar->flags & RS_BAR_START_UNKNOWN && box.w >= 8) torn_edge(b, box.x, box.y, box.h, 4, ground);
    if (bar->flags & RS_BAR_OPEN && box.w >= 8) torn_edge(b, box.x + box.w, box.y, box.h, -4, ground);
    return RS_OK;
}

static enum rs_status draw_bar(struct rs_brush *b, const struct rs_picture_row *row, const struct rs_picture_bar *bar,
                               uint32_t ground, struct rs_err *err)
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
        if (box.w < 3) box.w = 3; /* a loss is to be seen */
        b->canvas->hatch(b->canvas, &box, blank_colour(b, bar->flags & RS_BAR_LOST));
    } else
        RS_TRY(draw_body(b, bar, box, ground, titled, err));
    if (titled) b->canvas->close(b->canvas);
    return RS_OK;
}

enum rs_status rs_brush_row(struct rs_brush *b, const struct rs_picture_row *row, uint32_t ground, struct rs_err *err)
{
    RS_TRY(draw_pixels(b, &row->upper, rs_layout_strip(b->layout, row, false), ground, err));
    RS_TRY(draw_pixels(b, &row->lower, rs_layout_strip(b->layout, row, true), ground, err));
    RS_TRY(flush(b, err));
    for (int pass = 0; pass < 2; pass++) /* what is blank lies under the others */
        for (uint32_t i = 0; i < row->nbars; i++)
            if (rs_picture_is_blank(&row->bars[i]) == (pass == 0)) RS_TRY(draw_bar(b, row, &row->bars[i], ground, err));
    RS_TRY(flush(b, err));
    for (uint32_t i = 0; i < row->nbars; i++) {
        struct rs_box box = rs_layout_bar(b->layout, row, &row->bars[i]);
        RS_TRY(draw_marks(b, &row->bars[i], box, err));
        draw_words(b, &row->bars[i], box);
    }
    return flush(b, err);
}
