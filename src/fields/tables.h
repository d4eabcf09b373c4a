/* All tables of output fields. */
#ifndef RS_FIELDS_TABLES_H
#define RS_FIELDS_TABLES_H

#include "fields/field.h"

extern const struct rs_out_table rs_out_operation, rs_out_op_rank, rs_out_event;

/* The tables one by one; NULL behind the last. */
const struct rs_out_table *rs_out_table(size_t index);

#endif
