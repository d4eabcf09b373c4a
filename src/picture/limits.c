#include "picture/limits.h"

#include <stdlib.h>

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

enum rs_status rs_limit_rows(struct rs_picture_rows *r, struct rs_err *err)
{
    if (r->take.most == 0 || r->n <= r->take.most) return RS_OK;
    struct unit *units = calloc(r->n, sizeof(*units));
    if (!units) return rs_fail(err, RS_NO_MEMORY, "no memory for the rows of the picture");
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (i == 0 || r->rows[i].unit != r->rows[i - 1].unit) units[n++].first = i;
        units[n - 1].n++;
        units[n - 1].wait = rs_time_plus(units[n - 1].wait, r->rows[i].wait);
        units[n - 1].last += r->rows[i].last;
    }
    uint32_t room = r->take.most, kept = 0;
    /* Whom the others waited for waits least itself: a few places are for those. */
    qsort(units, n, sizeof(*units), by_last);
    for (uint32_t i = 0; i < n && units[i].last > 0 && units[i].n <= r->take.most / 8 - kept; i++) {
        units[i].kept = true;
        kept += units[i].n;
    }
    room -= kept;
    qsort(units, n, sizeof(*units), by_wait);
    for (uint32_t i = 0; i < n && room > 0; i++) {
        if (units[i].kept) continue;
        if (kept > 0 && units[i].n > room) break; /* else the first is cut: something must be seen */
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
                rs_picture_row_free(row);
        }
    }
    r->n = out;
    free(units);
    return RS_OK;
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

/* Puts the bars of a row that are not wider than `least` into its pixels. */
static enum rs_status fold_narrow(const struct rs_picture_rows *r, struct rs_picture_row *row, double least,
                                  struct rs_err *err)
{
    struct rs_bars parts[2] = {0};
    uint32_t kept = 0;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < row->nbars && status == RS_OK; i++) {
        const struct rs_picture_bar *bar = &row->bars[i];
        if (width_of(bar) > least) {
            row->bars[kept++] = *bar;
            continue;
        }
        struct rs_bars *to = &parts[r->take.fold && bar->row != RS_ROW_OPERATIONS];
        uint32_t k;
        status = rs_bars_add(to, &k, err);
        if (status != RS_OK) break;
        to->start[k] = bar->start, to->dur[k] = bar->dur, to->wait[k] = bar->wait, to->fade[k] = bar->fade;
        to->kind[k] = bar->kind, to->flags[k] = bar->flags;
    }
    row->nbars = kept;
    for (int i = 0; i < 2; i++) {
        const struct rs_bar_lane lane = {.n = parts[i].n};
        if (status == RS_OK && parts[i].n)
            status = rs_picture_fold(&r->take, &parts[i], &lane, i ? &row->lower : &row->upper, err);
        rs_bars_free(&parts[i]);
    }
    return status;
}

enum rs_status rs_limit_bars(struct rs_picture_rows *r, uint32_t most, struct rs_err *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += r->rows[i].nbars;
    if (n <= most) return RS_OK;
    double *widths = malloc(n * sizeof(*widths));
    if (!widths) return rs_fail(err, RS_NO_MEMORY, "no memory for the bars of the picture");
    size_t k = 0;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t j = 0; j < r->rows[i].nbars; j++) widths[k++] = width_of(&r->rows[i].bars[j]);
    qsort(widths, n, sizeof(*widths), by_width);
    double least = widths[most]; /* as many as are alike go together, so that rows stay comparable */
    free(widths);
    for (uint32_t i = 0; i < r->n; i++) RS_TRY(fold_narrow(r, &r->rows[i], least, err));
    return RS_OK;
}
