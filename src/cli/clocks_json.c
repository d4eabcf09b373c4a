#include "cli/clocks_json.h"

void rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *r)
{
    for (uint32_t i = 0; i < r->n && !rs_json_failed(j); i++) {
        struct rs_clock_fields row;
        rs_clock_fields_make(&row, m, r, &r->all[i]);
        rs_out_json(j, &rs_out_clock, &row);
        rs_json_newline(j);
    }
}
