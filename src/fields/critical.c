#include "fields/critical.h"

#include "fields/rank.h"

#define MODEL r->view->model

/* ---- by rank, kind and name; segments ---- */

struct by_row {
    const struct rs_critical *path;
    const struct rs_view *view;
    const struct rs_critical_row *row;
    double window; /* ns; never 0 */
};

#define RS_ROWS_FILE "fields/critical_row.inc"
#define RS_ROW struct by_row
#define RS_GET(id) by_##id
#define RS_FIELDS static const struct rs_out_field critical_row[]
#include "fields/table.inc"

const struct rs_out_table rs_out_critical_row = {
    "critical row", "critical --json: by[]", critical_row, sizeof critical_row / sizeof *critical_row, NULL, NULL};

struct segment_row {
    const struct rs_critical *path;
    const struct rs_view *view;
    const struct rs_critical_segment *row;
};

#define RS_ROWS_FILE "fields/critical_segment.inc"
#define RS_ROW struct segment_row
#define RS_GET(id) segment_##id
#define RS_FIELDS static const struct rs_out_field critical_segment[]
#include "fields/table.inc"

const struct rs_out_table rs_out_critical_segment = {"critical segment",
                                                     "critical --json: segments[]",
                                                     critical_segment,
                                                     sizeof critical_segment / sizeof *critical_segment,
                                                     NULL,
                                                     NULL};

/* ---- the whole ---- */

static bool has_path(const struct rs_critical_fields *r)
{
    return r->path->from != RS_TIME_NONE;
}

static int64_t window_of(const struct rs_critical_fields *r)
{
    return has_path(r) ? rs_time_minus(r->path->to, r->path->from) : 0;
}

static void write_by(struct rs_json *j, const void *row)
{
    const struct rs_critical_fields *r = row;
    struct by_row by = {r->path, r->view, NULL, window_of(r) > 0 ? (double)window_of(r) : 1};
    rs_json_array(j);
    for (uint32_t i = 0; i < r->path->nrows; i++) {
        by.row = &r->path->rows[i];
        rs_out_json(j, &rs_out_critical_row, &by);
    }
    rs_json_end(j);
}

static void write_segments(struct rs_json *j, const void *row)
{
    const struct rs_critical_fields *r = row;
    rs_json_array(j);
    for (uint32_t i = 0; i < r->path->nsegments && !rs_json_failed(j); i++)
        rs_out_json(j, &rs_out_critical_segment, &(struct segment_row){r->path, r->view, &r->path->segments[i]});
    rs_json_end(j);
}

static bool next_sentence(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_critical_fields *r = row;
    if (*at >= r->path->nconclusion) return false;
    *item = rs_v_text(r->path->conclusion[(*at)++]);
    return true;
}

#define RS_ROWS_FILE "fields/critical.inc"
#define RS_ROW struct rs_critical_fields
#define RS_GET(id) critical_##id
#define RS_FIELDS static const struct rs_out_field critical[]
#include "fields/table.inc"

const struct rs_out_table rs_out_critical = {
    "critical path", "critical --json", critical, sizeof critical / sizeof *critical, NULL, NULL};
