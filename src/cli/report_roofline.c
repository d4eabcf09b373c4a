#include "cli/report_roofline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "picture/roofline.h"

/* ---- text ---- */

enum { MOST_ROWS = 20 }; /* --json has them all */

static void cell_share(struct rs_table *t, double share)
{
    if (isnan(share))
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.1f %%", 100 * share);
}

void rs_link_print(const struct rs_report *r)
{
    static const enum rs_heading numbers[] = {RS_H_BYTES,   RS_H_RANKS,     RS_H_CALLS,  RS_H_ACHIEVED,
                                              RS_H_OF_LINK, RS_H_INCL_WAIT, RS_H_OF_LINK};
    struct rs_table t = {0};
    uint32_t shown = 0;
    rs_table_column(&t, RS_LEFT, RS_H_FUNCTION);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) rs_table_column(&t, RS_RIGHT, numbers[i]);
    for (; shown < r->bandwidth.nrows && shown < MOST_ROWS; shown++) {
        const struct rs_func_row *x = &r->bandwidth.rows[shown];
        rs_table_cell(&t, "%s", rs_model_text(r->view.model, x->func));
        rs_table_cell(&t, "%s", x->unsized ? "?" : rs_text_size(x->bytes).s);
        if (x->nranks > 0)
            rs_table_cell(&t, "%" PRId32, x->nranks);
        else
            rs_table_cell(&t, "?");
        rs_table_cell(&t, "%s", rs_text_count(x->calls).s);
        rs_table_cell(&t, "%s", rs_text_rate(x->busbw).s);
        cell_share(&t, x->busbw / r->link_gbs);
        rs_table_cell(&t, "%s", rs_text_rate(x->busbw_seen).s);
        cell_share(&t, x->busbw_seen / r->link_gbs);
    }
    rs_screen_print(
        "\nbus bandwidth in GB/s against the nominal rate of a link, %g GB/s; small operations cannot reach it\n",
        r->link_gbs);
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (r->bandwidth.nrows > shown)
        rs_screen_print("and %s more (--json has all)\n", rs_text_count(r->bandwidth.nrows - shown).s);
}

/* ---- the picture ---- */

enum { MOST_SERIES = 32 };

struct series {
    uint16_t func;
    int32_t nranks;
    char name[64];
    struct rs_roof_mark *marks;
    uint32_t nmarks;
    struct rs_roof_point *points;
    uint32_t npoints;
};

static int by_bytes(const void *a, const void *b)
{
    const struct rs_roof_point *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->gbs > y->gbs ? -1 : x->gbs < y->gbs; /* the best first */
}

static void take_reference(struct series *s, const struct rs_model *m, const struct rs_reference *reference)
{
    const char *func = rs_model_text(m, s->func);
    s->points = rs_alloc(((size_t)reference->n + 1) * sizeof *s->points);
    for (uint32_t i = 0; i < reference->n; i++) {
        const struct rs_reference_point *x = &reference->points[i];
        if (strcmp(x->func, func) || (x->nranks >= 0 && x->nranks != s->nranks)) continue;
        s->points[s->npoints++] = (struct rs_roof_point){(double)x->bytes, x->busbw};
    }
    if (s->npoints) qsort(s->points, s->npoints, sizeof *s->points, by_bytes);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->npoints; i++)
        if (!kept || s->points[i].bytes > s->points[kept - 1].bytes) s->points[kept++] = s->points[i];
    s->npoints = kept;
}

static char *describe(const struct rs_func_row *x, const struct series *s)
{
    char text[300];
    snprintf(text, sizeof text, "%s of %s: %s GB/s after the last start, %s GB/s including wait, %s calls", s->name,
             rs_text_size(x->bytes).s, rs_text_rate(x->busbw).s, rs_text_rate(x->busbw_seen).s,
             rs_text_count(x->calls).s);
    return rs_strdup(text);
}

static struct series *series_of(struct series *all, uint32_t *n, const struct rs_report *r, const struct rs_func_row *x)
{
    for (uint32_t i = 0; i < *n; i++)
        if (all[i].func == x->func && all[i].nranks == x->nranks) return &all[i];
    if (*n == MOST_SERIES) return NULL;
    struct series *s = &all[(*n)++];
    *s = (struct series){.func = x->func, .nranks = x->nranks};
    const char *func = rs_model_text(r->view.model, x->func);
    if (x->nranks > 0)
        snprintf(s->name, sizeof s->name, "%.40s, %" PRId32 " ranks", func, x->nranks);
    else
        snprintf(s->name, sizeof s->name, "%.40s", func);
    s->marks = rs_alloc(((size_t)r->bandwidth.nrows + 1) * sizeof *s->marks);
    return s;
}

static enum rs_status draw(const struct rs_roofline *roof, const char *path, bool force, struct rs_err *err)
{
    struct rs_out out;
    RS_TRY(rs_out_open(&out, path, force, err));
    enum rs_status status = rs_roofline_svg(roof, out.file, path, err);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

enum rs_status rs_roofline_write(const struct rs_report *r, const struct rs_reference_files *reference,
                                 const char *path, bool force, struct rs_err *err)
{
    struct series *all = rs_alloc(MOST_SERIES * sizeof *all);
    struct rs_roof_series rows[MOST_SERIES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->bandwidth.nrows; i++) {
        const struct rs_func_row *x = &r->bandwidth.rows[i];
        struct series *s = x->unsized ? NULL : series_of(all, &n, r, x);
        if (s) s->marks[s->nmarks++] = (struct rs_roof_mark){(double)x->bytes, x->busbw, x->busbw_seen, describe(x, s)};
    }
    for (uint32_t i = 0; i < n; i++) {
        if (reference) take_reference(&all[i], r->view.model, &reference->reference);
        rows[i] = (struct rs_roof_series){all[i].name, all[i].marks, all[i].nmarks, all[i].points, all[i].npoints};
    }
    struct rs_roofline roof = {"Achieved and possible bus bandwidth by size", rows, n, r->link_gbs};
    enum rs_status status = draw(&roof, path, force, err);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < all[i].nmarks; k++) free((char *)all[i].marks[k].text);
        free(all[i].marks);
        free(all[i].points);
    }
    free(all);
    return status;
}
