/* What the JSON of several commands has in common: a time that may be unknown, who a member or a rank is. */
#ifndef RS_CLI_MODEL_JSON_H
#define RS_CLI_MODEL_JSON_H

#include "base/json.h"
#include "model/model.h"

/* A time, or null. */
void rs_time_json(struct rs_json *j, const char *key, int64_t ns);
/* "pid"; 0 is null: unknown. */
void rs_pid_json(struct rs_json *j, uint32_t pid);
/* "global_rank", "host", "pid", "device": what every object with a rank has. */
void rs_member_json(struct rs_json *j, const struct rs_model *m, uint32_t member);
/* The same of a row of model.ranks. */
void rs_rank_json(struct rs_json *j, const struct rs_model *m, uint32_t rank_id);

#endif
