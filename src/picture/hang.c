#include "picture/hang.h"

#include <math.h>

#include "picture/words.h"

enum { LEAST_ROOM = 190 }; /* pixels that a mark has at least: it may begin before its time */

const struct rs_row_mark *rs_hang_mark_of(const struct rs_picture_rows *rows, uint32_t i)
{
    const struct rs_picture_row *row = &rows->rows[i];
    if (row->row != RS_ROW_OPERATIONS) return NULL;
    for (uint32_t k = i; k-- > 0 && rows->rows[k].unit == row->unit;)
        if (rows->rows[k].row == RS_ROW_OPERATIONS) return NULL;
    return rs_opening_mark(&rows->timeline->opening, row->unit);
}

static void paint_mark(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_row *row,
                       const struct rs_row_mark *mark, const struct rs_theme *theme)
{
    const struct rs_stroke stroke = {theme->same_op, 1.2, 1, RS_DASH_NONE};
    double right = l->plot.x + l->plot.w, size = row->height >= 16 ? 11 : 9;
    double x = rs_layout_x(l, mark->from), left = fmax(l->plot.x, fmin(x + 5, right - LEAST_ROOM));
    double top = row->y + 1.5, bottom = row->y + row->height - 1.5;
    const struct rs_point frame[] = {{x, top}, {right, top}, {right, bottom}, {x, bottom}, {x, top}};
    c->line(c, frame, sizeof frame / sizeof *frame, &stroke);
    if (row->height < 9) return; /* the frame alone */
    char text[200];
    unsigned columns = rs_words_fit(mark->text, (unsigned)((right - left) / (size * RS_FONT_WIDTH)), text, sizeof text);
    struct rs_box plate = {left - 2, row->y + row->height / 2 - size * 0.65, columns * size * RS_FONT_WIDTH + 6,
                           size * 1.3};
    c->box(c, &plate, theme->background);
    const struct rs_font font = {theme->same_op, size, RS_ANCHOR_START, true};
    c->text(c, left, row->y + row->height / 2 + size * 0.36, text, &font);
}

void rs_hang_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_picture_rows *rows,
                   const struct rs_theme *theme)
{
    const struct rs_font font = {theme->same_op, 12, RS_ANCHOR_START, true};
    if (*l->verdict) c->text(c, RS_LAYOUT_MARGIN, 39, l->verdict, &font);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct rs_row_mark *mark = rs_hang_mark_of(rows, i);
        if (mark && mark->from <= rows->take.to) paint_mark(c, l, &rows->rows[i], mark, theme);
    }
}
