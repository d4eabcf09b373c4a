/* One operation as a line of `ringscope ops --json`: docs/json.md in C. */
#ifndef RS_CLI_OPS_JSON_H
#define RS_CLI_OPS_JSON_H

#include "base/json.h"
#include "join/presence.h"
#include "model/model.h"

/* A rank's part in an operation; of a fan-out, all its sends and receives together. */
struct rs_op_rank {
    uint32_t part; /* the first of them */
    uint32_t parts;
    int64_t start, end; /* RS_TIME_NONE: not known */
};

/* Takes the next rank out of an operation's parts: *at goes from 0 to its nparts. False: that was all. */
bool rs_op_next_rank(const struct rs_model *m, uint32_t op, uint32_t *at, struct rs_op_rank *rank);

void rs_ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence);

#endif
