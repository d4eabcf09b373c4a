/* All tables of output fields. */
#ifndef RS_FIELDS_TABLES_H
#define RS_FIELDS_TABLES_H

#include "fields/field.h"

extern const struct rs_out_table rs_out_operation, rs_out_op_rank, rs_out_event, rs_out_process, rs_out_communicator,
    rs_out_member, rs_out_clock, rs_out_straggler, rs_out_lateness, rs_out_network, rs_out_slow_link, rs_out_function;

/* The tables one by one; NULL after the last. */
const struct rs_out_table *rs_out_table(size_t index);

#endif
