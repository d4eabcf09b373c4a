/* One operation as a line of `ringscope ops --json`: docs/json.md in C. */
#ifndef RS_CLI_OPS_JSON_H
#define RS_CLI_OPS_JSON_H

#include "analyse/steps.h"
#include "base/json.h"
#include "join/presence.h"
#include "model/model.h"

void rs_ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence,
                 const struct rs_steps *steps);

#endif
