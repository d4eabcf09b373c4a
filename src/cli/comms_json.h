/* One communicator as a line of `ringscope comms --json`: docs/json.md in C. */
#ifndef RS_CLI_COMMS_JSON_H
#define RS_CLI_COMMS_JSON_H

#include "base/json.h"
#include "model/model.h"

/* When a communicator was made and destroyed, and how that is known. */
struct rs_life {
    int64_t created, destroyed; /* RS_TIME_NONE: not known */
    uint8_t created_from, destroyed_from; /* enum rs_life_source */
};

/* Of all its members: earliest creation; latest destruction, once all recorded ranks have destroyed it. */
struct rs_life rs_comms_life(const struct rs_model *m, uint32_t comm);

void rs_comms_json(struct rs_json *j, const struct rs_model *m, uint32_t comm, const struct rs_life *life);

#endif
