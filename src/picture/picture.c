#include "picture/picture.h"

#include <stdlib.h>

#include "picture/paint.h"
#include "picture/png.h"
#include "picture/svg.h"
#include "picture/text.h"

enum {
    SVG_WIDTH = 1200,
    PNG_WIDTH = 1600,
    TEXT_WIDTH = 100,
    MOST_GPUS = 256, /* rows of a picture: more are too low to see */
    MOST_LANES = 300,
    MOST_LINES = 48,
};

static unsigned width_of(const struct rs_picture_options *o)
{
    static const unsigned usual[] = {SVG_WIDTH, PNG_WIDTH, TEXT_WIDTH};
    if (o->width == 0) return usual[o->format];
    return o->width < RS_PICTURE_WIDEST ? o->width : RS_PICTURE_WIDEST;
}

static struct rs_picture_take take_of(const struct rs_timeline *t, const struct rs_picture_options *o)
{
    bool text = o->format == RS_PICTURE_TEXT;
    struct rs_picture_take take = {
        .fold = o->fold,
        .cells = text,
        .width = text ? rs_text_cells(t, o) : rs_layout_plot_width(t, o),
        .most = !text    ? (o->fold ? MOST_GPUS : MOST_LANES)
                : o->all ? 0
                         : MOST_LINES,
        .from = o->has_span ? o->from : t->focus_from,
        .to = o->has_span ? o->to : t->focus_to,
    };
    if (!o->has_span && t->opening.verdict) { /* a hang: the end of the run */
        take.from = t->opening.from;
        take.to = t->opening.to;
    }
    if (take.from == INT64_MAX) take.from--;
    if (take.to <= take.from) take.to = take.from + 1;
    return take;
}

static enum rs_status collect(struct rs_picture_rows *rows, struct rs_timeline *t, uint64_t *all, struct rs_err *err)
{
    struct rs_bars bars = {0};
    enum rs_status status = RS_OK;
    uint32_t first = 0;
    for (uint32_t i = 0; i < t->nprocs && status == RS_OK; i++) {
        status = rs_timeline_process(t, i, first, &bars, err);
        if (status == RS_OK) rs_picture_rows_add(rows, &bars);
        first += bars.n;
    }
    rs_bars_free(&bars);
    *all = first;
    if (status == RS_OK) {
        rs_picture_rows_end(rows, RS_PAINT_BARS);
        return RS_OK;
    }
    return status;
}

static enum rs_status draw(const struct rs_layout *layout, const struct rs_picture_rows *rows,
                           const struct rs_relations *relations, const struct rs_picture_options *o, FILE *out,
                           const char *name, struct rs_err *err)
{
    struct rs_canvas *canvas;
    if (o->format == RS_PICTURE_SVG)
        rs_svg_make(&canvas, layout->width, layout->height, layout->title, out, name);
    else
        RS_TRY(rs_png_make(&canvas, layout->width, layout->height, out, name, err));
    rs_paint(canvas, layout, rows, relations, o->dark ? &rs_theme_dark : &rs_theme_light);
    enum rs_status ended = canvas->end(canvas, err);
    return ended;
}

static enum rs_status draw_rows(struct rs_picture_rows *rows, const struct rs_picture_options *o, FILE *out,
                                const char *name, struct rs_err *err)
{
    if (o->format == RS_PICTURE_TEXT) return rs_text_draw(rows, o, out, name, err);
    struct rs_relations relations;
    struct rs_layout layout = {0};
    rs_relations_init(&relations, rows, o->relations);
    enum rs_status status = RS_OK;
    rs_layout_init(&layout, rows, o, rs_relations_whats(&relations));
    status = draw(&layout, rows, &relations, o, out, name, err);
    rs_layout_free(&layout);
    rs_relations_free(&relations);
    return status;
}

enum rs_status rs_picture_draw(struct rs_timeline *t, const struct rs_picture_options *options, FILE *out,
                               const char *name, uint64_t *bars, struct rs_err *err)
{
    struct rs_picture_options o = *options;
    o.width = width_of(&o);
    const struct rs_picture_take take = take_of(t, &o);
    struct rs_picture_rows rows;
    struct rs_timeline_sum *sums;
    rs_timeline_sums(t, take.from, take.to, &sums);
    rs_picture_rows_init(&rows, t, &take, sums);
    enum rs_status status = collect(&rows, t, bars, err);
    if (status == RS_OK && *bars) status = draw_rows(&rows, &o, out, name, err);
    rs_picture_rows_free(&rows);
    free(sums);
    return status;
}
