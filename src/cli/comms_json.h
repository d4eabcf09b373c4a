/* One communicator as a line of `ringscope comms --json`: docs/json.md in C. */
#ifndef RS_CLI_COMMS_JSON_H
#define RS_CLI_COMMS_JSON_H

#include "base/json.h"
#include "join/lifetimes.h"

void rs_comms_json(struct rs_json *j, const struct rs_model *m, uint32_t comm, const struct rs_life *life);

#endif
