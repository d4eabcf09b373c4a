#include "fields/tables.h"

static const struct rs_out_table *const tables[] = {
    &rs_out_process, &rs_out_operation, &rs_out_op_rank,   &rs_out_event,    &rs_out_communicator, &rs_out_member,
    &rs_out_clock,   &rs_out_function,  &rs_out_straggler, &rs_out_lateness, &rs_out_network,      &rs_out_slow_link};

const struct rs_out_table *rs_out_table(size_t index)
{
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}
