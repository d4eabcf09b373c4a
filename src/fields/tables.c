#include "fields/tables.h"

static const struct rs_out_table *const tables[] = {&rs_out_operation, &rs_out_op_rank, &rs_out_event};

const struct rs_out_table *rs_out_table(size_t index)
{
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}
