/* What the JSON of several commands has in common: a time that may not be known, a GPU's uuid, who a member is. */
#ifndef RS_CLI_MODEL_JSON_H
#define RS_CLI_MODEL_JSON_H

#include "base/json.h"
#include "model/model.h"

/* A time, or null. */
void rs_time_json(struct rs_json *j, const char *key, int64_t ns);
/* "uuid": with dashes; null when all bytes are 0, or `uuid` is NULL. */
void rs_uuid_json(struct rs_json *j, const uint8_t *uuid);
/* "global_rank", "host", "pid", "device": what every object that bears a rank carries. */
void rs_member_json(struct rs_json *j, const struct rs_model *m, uint32_t member);

#endif
