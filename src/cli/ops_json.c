#include "cli/ops_json.h"

#include "fields/operation.h"

void rs_ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence,
                 const struct rs_steps *steps)
{
    struct rs_op_row row = {.m = m, .presence = presence, .steps = steps};
    rs_op_row_make(&row, op);
    rs_out_json(j, &rs_out_operation, &row);
    rs_json_newline(j);
}
