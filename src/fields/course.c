#include "fields/course.h"

#include "fields/rank.h"

#define MODEL r->report->view.model

/* ---- steps ---- */

static void write_step_times(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct rs_steps_fields *)row)->report->steps.time_ns);
}

#define STEPS (&r->report->steps)
#define RS_ROWS_FILE "fields/steps.inc"
#define RS_ROW struct rs_steps_fields
#define RS_GET(id) steps_##id
#define RS_FIELDS static const struct rs_out_field steps[]
#include "fields/table.inc"

const struct rs_out_table rs_out_steps = {"steps", "report --json: steps", steps, sizeof steps / sizeof *steps, NULL,
                                          NULL};

#define RS_ROWS_FILE "fields/outlier_step.inc"
#define RS_ROW struct rs_one_off_fields
#define RS_GET(id) outlier_get_##id
#define RS_FIELDS static const struct rs_out_field outlier_step[]
#include "fields/table.inc"

const struct rs_out_table rs_out_outlier_step = {"outlier step", "report --json: outlier_steps[]",
                                                 outlier_step,   sizeof outlier_step / sizeof *outlier_step,
                                                 NULL,           NULL};

/* ---- the course ---- */

/* The function that takes the most time; NULL: none has times. */
static const struct rs_func_row *leading(const struct rs_course_fields *r)
{
    uint32_t at = r->report->course.leading;
    return at != RS_NONE ? &r->report->bandwidth.rows[at] : NULL;
}

#define RS_ROWS_FILE "fields/course.inc"
#define RS_ROW struct rs_course_fields
#define RS_GET(id) course_##id
#define RS_FIELDS static const struct rs_out_field course[]
#include "fields/table.inc"

const struct rs_out_table rs_out_course = {
    "window of the course", "report --json: course[]", course, sizeof course / sizeof *course, NULL, NULL};

#define RS_ROWS_FILE "fields/change.inc"
#define RS_ROW struct rs_change_fields
#define RS_GET(id) change_##id
#define RS_FIELDS static const struct rs_out_field change[]
#include "fields/table.inc"

const struct rs_out_table rs_out_change = {
    "change", "report --json: changes[]", change, sizeof change / sizeof *change, NULL, NULL};
