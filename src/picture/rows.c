#include "picture/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"

/* ---- bars side by side ----
 * Bars of one row that overlap share its height. */

enum { SLOTS = 6 }; /* side by side in one row: further ones are drawn on top */

static int by_start(const void *a, const void *b)
{
    const struct rs_picture_bar *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the row's bars by start. */
static void slots_sort(struct rs_picture_row *row)
{
    bool sorted = true;
    for (uint32_t i = 1; i < row->nbars && sorted; i++) sorted = row->bars[i - 1].start <= row->bars[i].start;
    if (!sorted) qsort(row->bars, row->nbars, sizeof(*row->bars), by_start);
}

static bool is_lower(const struct rs_picture_bar *bar)
{
    return bar->row != RS_ROW_OPERATIONS;
}

/* A cluster is a chain of overlapping bars, which share the height evenly: [from, to) spans it. */
static void close_cluster(struct rs_picture_row *row, uint32_t from, uint32_t to, bool lower, uint8_t slots)
{
    for (uint32_t i = from; i < to; i++)
        if (is_lower(&row->bars[i]) == lower) row->bars[i].slots = rs_picture_is_blank(&row->bars[i]) ? 1 : slots;
}

static void share(struct rs_picture_row *row, bool lower)
{
    int64_t ends[SLOTS];
    uint8_t used = 0;
    uint32_t from = 0;
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < row->nbars; i++) {
        struct rs_picture_bar *bar = &row->bars[i];
        if (is_lower(bar) != lower) continue;
        bar->slot = 0;
        if (rs_picture_is_blank(bar)) continue;
        if (bar->start >= latest) {
            close_cluster(row, from, i, lower, used ? used : 1);
            from = i;
            used = 0;
        }
        uint8_t slot = 0, soonest = 0;
        while (slot < used && ends[slot] > bar->start) {
            if (ends[slot] < ends[soonest]) soonest = slot;
            slot++;
        }
        if (slot == used) {
            if (used < SLOTS)
                used++;
            else
                slot = soonest;
        }
        int64_t end = rs_time_plus(bar->start, bar->dur);
        ends[slot] = end;
        bar->slot = slot;
        if (end > latest) latest = end;
    }
    close_cluster(row, from, row->nbars, lower, used ? used : 1);
}

/* Sets slot and slots of each bar, which are sorted. Operations share the height among themselves, as do all others. */
static void slots_share(struct rs_picture_row *row)
{
    share(row, false);
    share(row, true);
}

/* ---- limits ----
 * Limits rows and bars to what a picture can show. */

/* ---- rows ---- */

struct unit {
    uint32_t first, n; /* rows */
    int64_t wait;
    uint32_t last;
    bool kept;
};

static int by_last(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;
    if (x->last != y->last) return x->last < y->last ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_wait(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;
    if (x->wait != y->wait) return x->wait < y->wait ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_first(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void picture_row_free(struct rs_picture_row *row);

/* Drops GPUs beyond take.most: keeps those that waited most, and some of those that are to blame for a hang or were last
 * most often. */
static void limit_rows(struct rs_picture_rows *r)
{
    if (r->take.most == 0 || r->n <= r->take.most) return;
    struct unit *units = rs_zalloc(r->n, sizeof(*units));
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (i == 0 || r->rows[i].unit != r->rows[i - 1].unit) units[n++].first = i;
        units[n - 1].n++;
        units[n - 1].wait = rs_time_plus(units[n - 1].wait, r->rows[i].wait);
        units[n - 1].last += r->rows[i].last;
        if (rs_opening_mark(&r->timeline->opening, r->rows[i].unit)) units[n - 1].last = UINT32_MAX >> 1;
    }
    uint32_t room = r->take.most, kept = 0;
    /* The rank that others wait for waits least itself: a few places are reserved for those. */
    qsort(units, n, sizeof(*units), by_last);
    for (uint32_t i = 0; i < n && units[i].last > 0 && units[i].n <= r->take.most / 8 - kept; i++) {
        units[i].kept = true;
        kept += units[i].n;
    }
    room -= kept;
    qsort(units, n, sizeof(*units), by_wait);
    for (uint32_t i = 0; i < n && room > 0; i++) {
        if (units[i].kept) continue;
        if (kept > 0 && units[i].n > room) break; /* else the first is cut: something must be visible */
        units[i].kept = true;
        kept += units[i].n;
        room -= units[i].n < room ? units[i].n : room;
    }
    qsort(units, n, sizeof(*units), by_first);
    uint32_t out = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = r->rows[units[i].first].unit;
        r->left_out += !units[i].kept && r->timeline->groups[group].level == RS_GROUP_RANK;
        for (uint32_t k = 0; k < units[i].n; k++) {
            struct rs_picture_row *row = &r->rows[units[i].first + k];
            bool drawn = units[i].kept && out < r->take.most;
            r->cut += units[i].kept && !drawn;
            if (drawn)
                r->rows[out++] = *row;
            else
                picture_row_free(row);
        }
    }
    r->n = out;
    free(units);
}

/* ---- bars ---- */

static double width_of(const struct rs_picture_bar *bar)
{
    return (double)bar->dur + (double)bar->fade;
}

static int by_width(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void picture_fold(const struct rs_picture_take *take, const struct rs_bars *b, const struct rs_bar_lane *lane,
                         struct rs_pixels *pixels);

/* Folds the bars of a row that are not wider than `least` into its pixels. */
static void fold_narrow(const struct rs_picture_rows *r, struct rs_picture_row *row, double least)
{
    struct rs_bars parts[2] = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < row->nbars; i++) {
        const struct rs_picture_bar *bar = &row->bars[i];
        if (width_of(bar) > least) {
            row->bars[kept++] = *bar;
            continue;
        }
        struct rs_bars *to = &parts[r->take.fold && bar->row != RS_ROW_OPERATIONS];
        uint32_t k;
        rs_bars_add(to, &k);
        to->start[k] = bar->start, to->dur[k] = bar->dur, to->wait[k] = bar->wait, to->fade[k] = bar->fade;
        to->kind[k] = bar->kind, to->flags[k] = bar->flags;
    }
    row->nbars = kept;
    for (int i = 0; i < 2; i++) {
        const struct rs_bar_lane lane = {.n = parts[i].n};
        if (parts[i].n) picture_fold(&r->take, &parts[i], &lane, i ? &row->lower : &row->upper);
        rs_bars_free(&parts[i]);
    }
}

/* Folds the narrowest bars into pixels until at most `most` remain. Bars are sorted by start. */
static void limit_bars(struct rs_picture_rows *r, uint32_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += r->rows[i].nbars;
    if (n <= most) return;
    double *widths = rs_alloc(n * sizeof(*widths));
    size_t k = 0;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t j = 0; j < r->rows[i].nbars; j++) widths[k++] = width_of(&r->rows[i].bars[j]);
    qsort(widths, n, sizeof(*widths), by_width);
    double least = widths[most]; /* bars of equal width together, so that rows stay comparable */
    free(widths);
    for (uint32_t i = 0; i < r->n; i++) fold_narrow(r, &r->rows[i], least);
}

/* ---- rows ---- */

enum {
    FEW_BARS = 300, /* of a lane: each is kept, however narrow */
    MOST_EDGES = 50000,
};
#define WIDE 2.0 /* pixels: in a lane with more bars, those at least this wide are kept */

void rs_picture_rows_init(struct rs_picture_rows *r, const struct rs_timeline *t, const struct rs_picture_take *take,
                          const struct rs_timeline_sum *sums)
{
    *r = (struct rs_picture_rows){.timeline = t, .take = *take, .sums = sums};
}

/* Frees what a row owns. */
static void picture_row_free(struct rs_picture_row *row)
{
    free(row->bars);
    rs_pixels_free(&row->upper);
    rs_pixels_free(&row->lower);
}

void rs_picture_rows_free(struct rs_picture_rows *r)
{
    for (uint32_t i = 0; i < r->n; i++) picture_row_free(&r->rows[i]);
    free(r->rows);
    free(r->edges);
    *r = (struct rs_picture_rows){0};
}

uint32_t rs_picture_group_at(const struct rs_timeline *t, uint32_t group, enum rs_group_level level)
{
    /* A parent precedes its children: no cycle. */
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

/* The visible bars of a lane: [*low, *high). */
static void seen(const struct rs_picture_rows *r, const struct rs_bars *b, const struct rs_bar_lane *lane,
                 uint32_t *low, uint32_t *high)
{
    uint32_t first = lane->from, end = lane->from + lane->n, last = lane->from, stop = end;
    RS_BISECT(first, end, mid, end_of(b, mid) < r->take.from);
    RS_BISECT(last, stop, mid, b->start[mid] < r->take.to);
    /* The previous bar may reach in with its fading end. */
    if (first > lane->from && rs_time_plus(end_of(b, first - 1), b->fade[first - 1]) > r->take.from) first--;
    *low = first;
    *high = last < first ? first : last;
}

static void take_bar(struct rs_picture_row *row, const struct rs_bars *b, uint32_t i, uint8_t of)
{
    RS_ROOM(row->bars, row->nbars, row->cap_bars);
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
}

/* Adds a lane to pixels, which are created if needed. */
static void picture_fold(const struct rs_picture_take *take, const struct rs_bars *b, const struct rs_bar_lane *lane,
                         struct rs_pixels *pixels)
{
    if (pixels->width == 0) rs_pixels_init(pixels, take->width);
    rs_pixels_add(b, lane, (double)take->from, rs_picture_scale(take), pixels);
}

static void take_lane(struct rs_picture_rows *r, struct rs_picture_row *row, const struct rs_bars *b,
                      const struct rs_bar_lane *lane, uint32_t low, uint32_t high)
{
    bool compute = r->take.fold && lane->row != RS_ROW_OPERATIONS;
    bool few = high - low <= FEW_BARS && !r->take.cells;
    double scale = rs_picture_scale(&r->take);
    row->has_lower |= compute;
    for (uint32_t i = low; i < high; i++) {
        row->open |= lane->row == RS_ROW_OPERATIONS && b->flags[i] & RS_BAR_OPEN;
        double wide = ((double)b->dur[i] + (double)b->fade[i]) * scale;
        if (few || (wide >= WIDE && !r->take.cells)) take_bar(row, b, i, lane->row);
    }
    if (!few) picture_fold(&r->take, b, lane, compute ? &row->lower : &row->upper);
}

/* Open: whether the lane shares the previous row. */
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

/* The row of a lane: the last one, or a new one after it. */
static void row_for(struct rs_picture_rows *r, const struct rs_bar_lane *lane, struct rs_picture_row **row)
{
    const struct rs_timeline *t = r->timeline;
    uint32_t unit = unit_of(t, lane->group);
    *row = r->n ? &r->rows[r->n - 1] : NULL;
    if (*row && (r->take.fold ? (*row)->unit == unit : shares(*row, lane))) {
        if ((*row)->lanes < RS_PICTURE_LANES) (*row)->lanes++;
        return;
    }
    bool first = !*row || (*row)->unit != unit;
    r->units += first && t->groups[unit].level == RS_GROUP_RANK;
    RS_ROOM(r->rows, r->n, r->cap);
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
}

/* What a folded row shows of its process: the summary rows of a GPU, or all if there are none. */
static bool is_drawn(const struct rs_picture_rows *r, const struct rs_bar_lane *lane, bool sums)
{
    if (lane->group >= r->timeline->ngroups || lane->row >= RS_ROWS) return false;
    return !r->take.fold || !sums || rs_row_kinds[lane->row].summary;
}

void rs_picture_rows_add(struct rs_picture_rows *r, const struct rs_bars *b)
{
    bool sums = false;
    for (uint32_t i = 0; i < b->nlanes && !sums; i++)
        sums = b->lanes[i].row < RS_ROWS && b->lanes[i].n > 0 && rs_row_kinds[b->lanes[i].row].summary;
    for (uint32_t i = 0; i < b->nlanes; i++) {
        const struct rs_bar_lane *lane = &b->lanes[i];
        uint32_t low, high;
        if (!is_drawn(r, lane, sums)) continue;
        seen(r, b, lane, &low, &high);
        /* A GPU without visible bars still has its row; a lane does not. */
        if (low == high && !r->take.fold) continue;
        struct rs_picture_row *row;
        row_for(r, lane, &row);
        if (low < high) take_lane(r, row, b, lane, low, high);
    }
    for (uint32_t i = 0; i < b->nedges && !r->take.fold && !r->take.cells && r->nedges < MOST_EDGES; i++) {
        uint32_t to = b->edges[i].to;
        if (to < b->first || to - b->first >= b->n) continue;
        if (b->start[to - b->first] >= r->take.to || end_of(b, to - b->first) < r->take.from) continue;
        RS_ROOM(r->edges, r->nedges, r->cap_edges);
        r->edges[r->nedges++] = (struct rs_picture_edge){b->edges[i].from, to};
    }
    /* Not each time: sorting costs more than keeping a few for a while. */
    if (r->take.most && r->n > 2 * r->take.most) limit_rows(r);
}

void rs_picture_rows_end(struct rs_picture_rows *r, uint32_t bars)
{
    limit_rows(r);
    for (uint32_t i = 0; i < r->n; i++) slots_sort(&r->rows[i]);
    limit_bars(r, bars);
    for (uint32_t i = 0; i < r->n; i++) {
        struct rs_picture_row *row = &r->rows[i];
        if (r->take.fold || row->row == RS_ROW_OPERATIONS)
            slots_share(row);
        else
            for (uint32_t k = 0; k < row->nbars; k++) row->bars[k].slots = (uint8_t)row->lanes;
    }
}
