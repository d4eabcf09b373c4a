#include "fields/diff.h"

#include <math.h>

struct run_row {
    const struct rs_run_figures *run;
};

struct compared_row {
    const struct rs_compared *row;
};

static double pct(double share)
{
    return 100 * share;
}

#define RS_ROWS_FILE "fields/diff_run.inc"
#define RS_ROW struct run_row
#define RS_GET(id) run_##id
#define RS_FIELDS static const struct rs_out_field diff_run[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff_run = {
    "diff run", "diff --json: a[], b[]", diff_run, sizeof diff_run / sizeof *diff_run, NULL, NULL};

#define RS_ROWS_FILE "fields/diff_row.inc"
#define RS_ROW struct compared_row
#define RS_GET(id) row_##id
#define RS_FIELDS static const struct rs_out_field diff_row[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff_row = {
    "diff row", "diff --json: rows[]", diff_row, sizeof diff_row / sizeof *diff_row, NULL, NULL};

#define RS_ROWS_FILE "fields/diff_setting.inc"
#define RS_ROW struct rs_compared_setting
#define RS_GET(id) setting_##id
#define RS_FIELDS static const struct rs_out_field diff_setting[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff_setting = {
    "diff setting", "diff --json: settings[]", diff_setting, sizeof diff_setting / sizeof *diff_setting, NULL, NULL};

#define RS_ROWS_FILE "fields/diff_finding.inc"
#define RS_ROW struct rs_compared_finding
#define RS_GET(id) finding_##id
#define RS_FIELDS static const struct rs_out_field diff_finding[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff_finding = {
    "diff finding", "diff --json: findings[]", diff_finding, sizeof diff_finding / sizeof *diff_finding, NULL, NULL};

static bool cause_next_rank(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_step_cause *r = row;
    if (*at >= r->nranks) return false;
    *item = rs_v_int(r->ranks[(*at)++]);
    return true;
}

#define RS_ROWS_FILE "fields/diff_cause.inc"
#define RS_ROW struct rs_step_cause
#define RS_GET(id) cause_##id
#define RS_FIELDS static const struct rs_out_field diff_cause[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff_cause = {
    "diff cause", "diff --json: causes[]", diff_cause, sizeof diff_cause / sizeof *diff_cause, NULL, NULL};

/* ---- the whole ---- */

static void write_side(struct rs_json *j, const struct rs_side *side)
{
    rs_json_array(j);
    for (uint32_t i = 0; i < side->n; i++) rs_out_json(j, &rs_out_diff_run, &(struct run_row){&side->runs[i]});
    rs_json_end(j);
}

static void write_a(struct rs_json *j, const void *row)
{
    write_side(j, &((const struct rs_diff_fields *)row)->c->a);
}

static void write_b(struct rs_json *j, const void *row)
{
    write_side(j, &((const struct rs_diff_fields *)row)->c->b);
}

static void write_rows(struct rs_json *j, const void *row)
{
    const struct rs_comparison *c = ((const struct rs_diff_fields *)row)->c;
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nrows; i++) rs_out_json(j, &rs_out_diff_row, &(struct compared_row){&c->rows[i]});
    rs_json_end(j);
}

static void write_settings(struct rs_json *j, const void *row)
{
    const struct rs_comparison *c = ((const struct rs_diff_fields *)row)->c;
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nsettings; i++) rs_out_json(j, &rs_out_diff_setting, &c->settings[i]);
    rs_json_end(j);
}

static void write_findings(struct rs_json *j, const void *row)
{
    const struct rs_comparison *c = ((const struct rs_diff_fields *)row)->c;
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nfindings; i++) rs_out_json(j, &rs_out_diff_finding, &c->findings[i]);
    rs_json_end(j);
}

static void write_causes(struct rs_json *j, const void *row)
{
    const struct rs_comparison *c = ((const struct rs_diff_fields *)row)->c;
    rs_json_array(j);
    for (uint32_t i = 0; i < c->ncauses; i++) rs_out_json(j, &rs_out_diff_cause, &c->causes[i]);
    rs_json_end(j);
}

static bool next_sentence(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_comparison *c = ((const struct rs_diff_fields *)row)->c;
    if (*at >= c->nconclusion) return false;
    *item = rs_v_text(c->conclusion[(*at)++]);
    return true;
}

static struct rs_value regression_of(const struct rs_diff_fields *r)
{
    if (isnan(r->bound)) return rs_v_null();
    struct rs_regression x = rs_comparison_regression(r->c, r->bound);
    return x.row       ? rs_v_literal(rs_measures[x.row->measure].name)
           : x.finding ? rs_v_text(x.finding->finding->name)
                       : rs_v_null();
}

#define RS_ROWS_FILE "fields/diff.inc"
#define RS_ROW struct rs_diff_fields
#define RS_GET(id) diff_##id
#define RS_FIELDS static const struct rs_out_field diff[]
#include "fields/table.inc"

const struct rs_out_table rs_out_diff = {"diff", "diff --json", diff, sizeof diff / sizeof *diff, NULL, NULL};
