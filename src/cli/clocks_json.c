#include "cli/clocks_json.h"

enum rs_status rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *r, struct rs_err *err)
{
    for (uint32_t i = 0; i < r->n && !rs_json_failed(j); i++) {
        struct rs_clock_fields row;
        RS_TRY(rs_clock_fields_make(&row, m, r, &r->all[i], err));
        rs_out_json(j, &rs_out_clock, &row);
        rs_json_newline(j);
    }
    return RS_OK;
}
