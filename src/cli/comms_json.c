#include "cli/comms_json.h"

#include "fields/communicator.h"

void rs_comms_json(struct rs_json *j, const struct rs_model *m, uint32_t comm, const struct rs_life *life)
{
    struct rs_comm_fields row;
    rs_comm_fields_make(&row, m, comm, life);
    rs_out_json(j, &rs_out_communicator, &row);
    rs_json_newline(j);
}
