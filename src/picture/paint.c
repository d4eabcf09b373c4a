#include "picture/paint.h"

#include <stdlib.h>

#include "picture/brush.h"

static int by_width(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The widest have tooltips. */
static enum rs_status choose_titled(struct rs_brush *b, struct rs_err *err)
{
    size_t n = 0, k = 0;
    for (uint32_t i = 0; i < b->rows->n; i++) n += b->rows->rows[i].nbars;
    if (n <= RS_PAINT_TITLES) return RS_OK;
    double *widths = malloc(n * sizeof(*widths));
    if (!widths) return rs_fail(err, RS_NO_MEMORY, "no memory for the bars of the picture");
    for (uint32_t i = 0; i < b->rows->n; i++)
        for (uint32_t j = 0; j < b->rows->rows[i].nbars; j++)
            widths[k++] = rs_layout_bar(b->layout, &b->rows->rows[i], &b->rows->rows[i].bars[j]).w;
    qsort(widths, n, sizeof(*widths), by_width);
    b->least_titled = widths[RS_PAINT_TITLES] + 1e-9;
    free(widths);
    return RS_OK;
}

static void choose_cell(struct rs_brush *b)
{
    for (b->cell = 1; b->cell < b->layout->plot.w; b->cell *= 2) {
        size_t runs = 0;
        for (uint32_t i = 0; i < b->rows->n; i++) runs += rs_brush_runs(&b->rows->rows[i], b->cell);
        if (runs <= RS_PAINT_RUNS) return;
    }
}

static enum rs_status paint(struct rs_brush *b, const struct rs_relations *relations, struct rs_err *err)
{
    RS_TRY(choose_titled(b, err));
    choose_cell(b);
    rs_brush_ground(b);
    for (uint32_t i = 0; i < b->rows->n; i++)
        RS_TRY(rs_brush_row(b, &b->rows->rows[i], i & 1 ? b->theme->row : b->theme->background, err));
    rs_brush_relations(b, relations);
    rs_brush_frame(b);
    return RS_OK;
}

enum rs_status rs_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_rows *rows,
                        const struct rs_relations *relations, const struct rs_theme *theme, struct rs_err *err)
{
    struct rs_brush b = {.canvas = c, .layout = l, .rows = rows, .theme = theme};
    const struct rs_kinds *kinds = &rows->timeline->kinds;
    for (unsigned i = 0; i < 256; i++)
        b.colours[i] = rs_colour_of(i < kinds->n ? kinds->rows[i].colour : NULL, i, theme);
    enum rs_status status = paint(&b, relations, err);
    free(b.boxes);
    return status;
}
