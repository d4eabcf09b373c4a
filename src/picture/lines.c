#include "picture/brush.h"

#include <math.h>
#include <stdlib.h>

static struct rs_box box_of(const struct rs_brush *b, struct rs_relation_end at)
{
    const struct rs_picture_row *row = &b->rows->rows[at.row];
    return rs_layout_bar(b->layout, row, &row->bars[at.bar]);
}

static bool is_seen(const struct rs_brush *b, int64_t at)
{
    return at >= b->layout->ruler.from && at <= b->layout->ruler.to;
}

/* Through all starts, or all ends, from row to row; what is not seen or not known makes a gap. */
static void through(struct rs_brush *b, const struct rs_relation_end *ends, uint32_t n, bool at_ends,
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

static void arrow(struct rs_brush *b, struct rs_relation_end from, struct rs_relation_end to)
{
    struct rs_box a = box_of(b, from), z = box_of(b, to);
    bool down = a.y < z.y;
    /* From the middle of the send towards the end of the receive: the way that data went. */
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
static void dotted(struct rs_brush *b, struct rs_relation_end from, struct rs_relation_end to)
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

void rs_brush_relations(struct rs_brush *b, const struct rs_relations *relations)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < relations->n; i++) most = relations->list[i].n > most ? relations->list[i].n : most;
    struct rs_point *points = most ? malloc(2 * (size_t)most * sizeof(*points)) : NULL;
    for (uint32_t i = relations->n; i-- > 0;) { /* the heaviest over the others */
        const struct rs_relation *relation = &relations->list[i];
        const struct rs_relation_end *ends = &relations->ends[relation->end];
        if (relation->what == RS_LEGEND_PARENT)
            dotted(b, ends[0], ends[1]);
        else if (relation->what == RS_LEGEND_ARROW)
            arrow(b, ends[0], ends[1]);
        else if (points) { /* without memory for them lines are left out: bars say the same */
            through(b, ends, relation->n, true, points);
            through(b, ends, relation->n, false, points);
        }
    }
    free(points);
}
