#include "fields/info.h"

/* ---- runs ---- */

#define RS_ROWS_FILE "fields/run.inc"
#define RS_ROW struct rs_run_row
#define RS_GET(id) run_##id
#define RS_FIELDS static const struct rs_out_field run[]
#include "fields/table.inc"

const struct rs_out_table rs_out_run = {"run", "info --json: runs[]", run, sizeof run / sizeof *run, NULL, NULL};

/* ---- coverage ---- */

#define RS_ROWS_FILE "fields/gap.inc"
#define RS_ROW struct rs_gap_row
#define RS_GET(id) gap_##id
#define RS_FIELDS static const struct rs_out_field gap[]
#include "fields/table.inc"

const struct rs_out_table rs_out_gap = {"gap", "info --json: coverage[].gaps[]", gap, sizeof gap / sizeof *gap, NULL,
                                        NULL};

static void write_gaps(struct rs_json *j, const void *row)
{
    const struct rs_coverage_row *r = row;
    rs_json_array(j);
    for (size_t i = 0; i < r->ngaps; i++) rs_out_json(j, &rs_out_gap, &r->gaps[i]);
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/coverage.inc"
#define RS_ROW struct rs_coverage_row
#define RS_GET(id) coverage_##id
#define RS_FIELDS static const struct rs_out_field coverage[]
#include "fields/table.inc"

const struct rs_out_table rs_out_coverage = {
    "coverage", "info --json: coverage[]", coverage, sizeof coverage / sizeof *coverage, NULL, NULL};

/* ---- settings ---- */

#define RS_ROWS_FILE "fields/setting_value.inc"
#define RS_ROW struct rs_setting_value_row
#define RS_GET(id) value_##id
#define RS_FIELDS static const struct rs_out_field setting_value[]
#include "fields/table.inc"

const struct rs_out_table rs_out_setting_value = {"value of a setting",
                                                  "info --json: settings_that_differ[].values[]",
                                                  setting_value,
                                                  sizeof setting_value / sizeof *setting_value,
                                                  NULL,
                                                  NULL};

static void write_values(struct rs_json *j, const void *row)
{
    const struct rs_setting_row *r = row;
    rs_json_array(j);
    for (size_t i = 0; i < r->nvalues; i++) rs_out_json(j, &rs_out_setting_value, &r->values[i]);
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/setting.inc"
#define RS_ROW struct rs_setting_row
#define RS_GET(id) setting_##id
#define RS_FIELDS static const struct rs_out_field setting[]
#include "fields/table.inc"

const struct rs_out_table rs_out_setting = {
    "setting", "info --json: settings_that_differ[]", setting, sizeof setting / sizeof *setting, NULL, NULL};

/* ---- files ---- */

static bool is_recording(const void *row)
{
    return ((const struct rs_input_row *)row)->recording;
}

static bool is_other(const void *row)
{
    return !is_recording(row);
}

#define RS_ROWS_FILE "fields/input.inc"
#define RS_ROW struct rs_input_row
#define RS_GET(id) input_##id
#define RS_FIELDS static const struct rs_out_field input[]
#include "fields/table.inc"

const struct rs_out_table rs_out_input = {"input", "info --json: inputs[]", input, sizeof input / sizeof *input, NULL,
                                          NULL};

#define RS_ROWS_FILE "fields/damage.inc"
#define RS_ROW struct rs_damage_row
#define RS_GET(id) damage_##id
#define RS_FIELDS static const struct rs_out_field damage[]
#include "fields/table.inc"

const struct rs_out_table rs_out_damage = {
    "damage", "info --json: damages[]", damage, sizeof damage / sizeof *damage, NULL, NULL};

static bool has_process(const void *row)
{
    return ((const struct rs_note_row *)row)->host != NULL;
}

#define RS_ROWS_FILE "fields/note.inc"
#define RS_ROW struct rs_note_row
#define RS_GET(id) note_##id
#define RS_FIELDS static const struct rs_out_field note[]
#include "fields/table.inc"

const struct rs_out_table rs_out_note = {"note", "info --json: notes[]", note, sizeof note / sizeof *note, NULL, NULL};

/* ---- communicators of a process ---- */

#define RS_ROWS_FILE "fields/init.inc"
#define RS_ROW struct rs_init_row
#define RS_GET(id) init_##id
#define RS_FIELDS static const struct rs_out_field init[]
#include "fields/table.inc"

const struct rs_out_table rs_out_init = {"communicator of a process",
                                         "info --json: process_list[].communicators[]",
                                         init,
                                         sizeof init / sizeof *init,
                                         NULL,
                                         NULL};
