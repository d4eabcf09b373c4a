#include "picture/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "picture/limits.h"
#include "picture/slots.h"

enum {
    FEW_BARS = 300, /* of a lane: each is taken, however narrow */
    MOST_EDGES = 50000,
};
#define WIDE 2.0 /* pixels: of more bars than few, those as wide as this are taken one by one */

void rs_picture_rows_init(struct rs_picture_rows *r, const struct rs_timeline *t, const struct rs_picture_take *take,
                          const struct rs_timeline_sum *sums)
{
    *r = (struct rs_picture_rows){.timeline = t, .take = *take, .sums = sums};
}

void rs_picture_row_free(struct rs_picture_row *row)
{
    free(row->bars);
    rs_pixels_free(&row->upper);
    rs_pixels_free(&row->lower);
}

void rs_picture_rows_free(struct rs_picture_rows *r)
{
    for (uint32_t i = 0; i < r->n; i++) rs_picture_row_free(&r->rows[i]);
    free(r->rows);
    free(r->edges);
    *r = (struct rs_picture_rows){0};
}

uint32_t rs_picture_group_at(const struct rs_timeline *t, uint32_t group, enum rs_group_level level)
{
    /* A parent comes before its children: no circle. */
    while (group < t->ngroups && t->groups[group].level != level) {
        uint32_t parent = t->groups[group].parent;
        group = parent < group ? parent : RS_NONE;
    }
    return group < t->ngroups ? group : RS_NONE;
}

static uint32_t unit_of(const struct rs_timeline *t, uint32_t group)
{
    uint32_t unit = rs_picture_group_at(t, group, RS_GROUP_RANK);
    if (unit == RS_NONE) unit = rs_picture_group_at(t, group, RS_GROUP_PROCESS);
    return unit == RS_NONE ? group : unit;
}

static int64_t end_of(const struct rs_bars *b, uint32_t i)
{
    return rs_time_plus(b->start[i], b->dur[i]);
}

/* The bars of a lane that are seen: [*low, *high). */
static void seen(const struct rs_picture_rows *r, const struct rs_bars *b, const struct rs_bar_lane *lane,
                 uint32_t *low, uint32_t *high)
{
    uint32_t first = lane->from, end = lane->from + lane->n, last = lane->from, stop = end;
    RS_BISECT(first, end, mid, end_of(b, mid) < r->take.from);
    RS_BISECT(last, stop, mid, b->start[mid] < r->take.to);
    /* The one before may reach in with its fading end. */
    if (first > lane->from && rs_time_plus(end_of(b, first - 1), b->fade[first - 1]) > r->take.from) first--;
    *low = first;
    *high = last < first ? first : last;
}

static enum rs_status take_bar(struct rs_picture_row *row, const struct rs_bars *b, uint32_t i, uint8_t of,
                               struct rs_err *err)
{
    RS_ROOM(row->bars, row->nbars, row->cap_bars, err);
    row->bars[row->nbars++] = (struct rs_picture_bar){
        .start = b->start[i],
        .dur = b->dur[i],
        .wait = b->wait[i],
        .fade = b->flags[i] & RS_BAR_END_BOUNDED ? b->fade[i] : 0,
        .args = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]},
        .number = b->first + i,
        .name = b->name[i],
        .op = b->op[i],
        .parent = b->parent[i],
        .marks = {b->m1[i], b->m2[i], b->m3[i]},
        .kind = b->kind[i],
        .flags = b->flags[i],
        .row = of,
        .slot = (uint8_t)(row->lanes - 1),
        .slots = 1,
    };
    return RS_OK;
}

enum rs_status rs_picture_fold(const struct rs_picture_take *take, const struct rs_bars *b,
                               const struct rs_bar_lane *lane, struct rs_pixels *pixels, struct rs_err *err)
{
    if (pixels->width == 0) RS_TRY(rs_pixels_init(pixels, take->width, err));
    rs_pixels_add(b, lane, (double)take->from, rs_picture_scale(take), pixels);
    return RS_OK;
}

static enum rs_status take_lane(struct rs_picture_rows *r, struct rs_picture_row *row, const struct rs_bars *b,
                                const struct rs_bar_lane *lane, uint32_t low, uint32_t high, struct rs_err *err)
{
    bool compute = r->take.fold && lane->row != RS_ROW_OPERATIONS;
    bool few = high - low <= FEW_BARS && !r->take.cells;
    double scale = rs_picture_scale(&r->take);
    row->has_lower |= compute;
    for (uint32_t i = low; i < high; i++) {
        row->open |= lane->row == RS_ROW_OPERATIONS && b->flags[i] & RS_BAR_OPEN;
        double wide = ((double)b->dur[i] + (double)b->fade[i]) * scale;
        if (few || (wide >= WIDE && !r->take.cells)) RS_TRY(take_bar(row, b, i, lane->row, err));
    }
    return few ? RS_OK : rs_picture_fold(&r->take, b, lane, compute ? &row->lower : &row->upper, err);
}

/* Open: whether the lane goes on the row before it. */
static bool shares(const struct rs_picture_row *row, const struct rs_bar_lane *lane)
{
    return row->group == lane->group && row->row == lane->row &&
           (row->label == lane->label || rs_row_kinds[lane->row].many);
}

/* Launches below the calls of their thread need not name it again. */
static bool is_of_same_thread(const struct rs_picture_row *calls, const struct rs_picture_row *launches)
{
    return calls->row == RS_ROW_CALLS && calls->group == launches->group && calls->label == launches->label;
}

void rs_picture_row_label(const struct rs_picture_rows *r, const struct rs_picture_row *row, char *out, size_t size)
{
    const char *label = rs_texts_at(&r->timeline->texts, row->label);
    if (!r->take.fold && row->lanes > 1 && rs_row_kinds[row->row].many)
        snprintf(out, size, "%u %s", row->lanes, rs_row_kinds[row->row].label);
    else if (!r->take.fold && row->row == RS_ROW_LAUNCHES && row > r->rows && is_of_same_thread(row - 1, row))
        snprintf(out, size, "%s", rs_row_kinds[row->row].label);
    else if (!r->take.fold && (row->row == RS_ROW_CALLS || row->row == RS_ROW_LAUNCHES))
        snprintf(out, size, "%s, %s", rs_row_kinds[row->row].id, label); /* both have the name of their thread */
    else
        snprintf(out, size, "%s", label);
}

/* The row that a lane is drawn on: the last one, or a new one behind it. */
static enum rs_status row_for(struct rs_picture_rows *r, const struct rs_bar_lane *lane, struct rs_picture_row **row,
                              struct rs_err *err)
{
    const struct rs_timeline *t = r->timeline;
    uint32_t unit = unit_of(t, lane->group);
    *row = r->n ? &r->rows[r->n - 1] : NULL;
    if (*row && (r->take.fold ? (*row)->unit == unit : shares(*row, lane))) {
        if ((*row)->lanes < RS_PICTURE_LANES) (*row)->lanes++;
        return RS_OK;
    }
    bool first = !*row || (*row)->unit != unit;
    r->units += first && t->groups[unit].level == RS_GROUP_RANK;
    RS_ROOM(r->rows, r->n, r->cap, err);
    *row = &r->rows[r->n++];
    **row = (struct rs_picture_row){
        .group = r->take.fold ? unit : lane->group,
        .unit = unit,
        .label = r->take.fold ? t->groups[unit].label : lane->label,
        .lanes = 1,
        .wait = first && r->sums ? r->sums[unit].wait : 0,
        .last = first && r->sums ? r->sums[unit].last : 0,
        .row = r->take.fold ? (uint8_t)RS_ROW_OPERATIONS : lane->row,
    };
    return RS_OK;
}

/* What a folded row shows of its process: rows that sum a GPU up, or all where there are none of those. */
static bool is_drawn(const struct rs_picture_rows *r, const struct rs_bar_lane *lane, bool sums)
{
    if (lane->group >= r->timeline->ngroups || lane->row >= RS_ROWS) return false;
    return !r->take.fold || !sums || rs_row_kinds[lane->row].summary;
}

enum rs_status rs_picture_rows_add(struct rs_picture_rows *r, const struct rs_bars *b, struct rs_err *err)
{
    bool sums = false;
    for (uint32_t i = 0; i < b->nlanes && !sums; i++)
        sums = b->lanes[i].row < RS_ROWS && b->lanes[i].n > 0 && rs_row_kinds[b->lanes[i].row].summary;
    for (uint32_t i = 0; i < b->nlanes; i++) {
        const struct rs_bar_lane *lane = &b->lanes[i];
        uint32_t low, high;
        if (!is_drawn(r, lane, sums)) continue;
        seen(r, b, lane, &low, &high);
        /* A GPU without anything to see has its row all the same; a lane has not. */
        if (low == high && !r->take.fold) continue;
        struct rs_picture_row *row;
        RS_TRY(row_for(r, lane, &row, err));
        if (low < high) RS_TRY(take_lane(r, row, b, lane, low, high, err));
    }
    for (uint32_t i = 0; i < b->nedges && !r->take.fold && !r->take.cells && r->nedges < MOST_EDGES; i++) {
        uint32_t to = b->edges[i].to;
        if (to < b->first || to - b->first >= b->n) continue;
        if (b->start[to - b->first] >= r->take.to || end_of(b, to - b->first) < r->take.from) continue;
        RS_ROOM(r->edges, r->nedges, r->cap_edges, err);
        r->edges[r->nedges++] = (struct rs_picture_edge){b->edges[i].from, to};
    }
    /* Not at each: sorting what is kept costs more than keeping a few for a while. */
    if (r->take.most && r->n > 2 * r->take.most) RS_TRY(rs_limit_rows(r, err));
    return RS_OK;
}

enum rs_status rs_picture_rows_end(struct rs_picture_rows *r, uint32_t bars, struct rs_err *err)
{
    RS_TRY(rs_limit_rows(r, err));
    for (uint32_t i = 0; i < r->n; i++) rs_slots_sort(&r->rows[i]);
    RS_TRY(rs_limit_bars(r, bars, err));
    for (uint32_t i = 0; i < r->n; i++) {
        struct rs_picture_row *row = &r->rows[i];
        if (r->take.fold || row->row == RS_ROW_OPERATIONS)
            rs_slots_share(row);
        else
            for (uint32_t k = 0; k < row->nbars; k++) row->bars[k].slots = (uint8_t)row->lanes;
    }
    return RS_OK;
}
