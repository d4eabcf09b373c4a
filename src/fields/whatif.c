#include "fields/whatif.h"

#include "fields/rank.h"

struct case_row {
    const struct rs_model *model;
    const struct rs_whatif_case *row;
};

#define RS_ROWS_FILE "fields/whatif_case.inc"
#define RS_ROW struct case_row
#define RS_GET(id) case_##id
#define RS_FIELDS static const struct rs_out_field whatif_case[]
#include "fields/table.inc"

const struct rs_out_table rs_out_whatif_case = {
    "whatif case", "whatif --json: cases[]", whatif_case, sizeof whatif_case / sizeof *whatif_case, NULL, NULL};

static void write_cases(struct rs_json *j, const void *row)
{
    const struct rs_whatif *w = ((const struct rs_whatif_fields *)row)->whatif;
    rs_json_array(j);
    for (uint32_t i = 0; i < w->ncases; i++)
        rs_out_json(j, &rs_out_whatif_case, &(struct case_row){w->view->model, &w->cases[i]});
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/whatif.inc"
#define RS_ROW struct rs_whatif_fields
#define RS_GET(id) whatif_##id
#define RS_FIELDS static const struct rs_out_field whatif[]
#include "fields/table.inc"

const struct rs_out_table rs_out_whatif = {"whatif", "whatif --json", whatif, sizeof whatif / sizeof *whatif, NULL,
                                           NULL};
