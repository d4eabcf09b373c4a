/* What the JSON of several commands has in common: a time that may not be known, a GPU's uuid, who a member is. */
#ifndef RS_CLI_MODEL_JSON_H
#define RS_CLI_MODEL_JSON_H

#include "analyse/quantile.h"
#include "base/json.h"
#include "join/overlay_facts.h"
#include "model/model.h"

/* A time, or null. */
void rs_time_json(struct rs_json *j, const char *key, int64_t ns);
/* {"p50","p90","p99"}: times, or null. */
void rs_quantiles_json(struct rs_json *j, const char *key, const struct rs_quantiles *q);
/* "uuid": with dashes; null when all bytes are 0, or `uuid` is NULL. */
void rs_uuid_json(struct rs_json *j, const uint8_t *uuid);
/* "global_rank", "host", "pid", "device": what every object that bears a rank carries. */
void rs_member_json(struct rs_json *j, const struct rs_model *m, uint32_t member);
/* The same of a row of model.ranks. */
void rs_rank_json(struct rs_json *j, const struct rs_model *m, uint32_t rank_id);

/* "pid"; 0 is null: the tool does not tell it. */
void rs_pid_json(struct rs_json *j, uint32_t pid);
/* "pg_name", "pg_desc": what PyTorch calls the group. */
void rs_group_json(struct rs_json *j, const struct rs_facts *f);
/* "seen_by": the tools, by name. */
void rs_tools_json(struct rs_json *j, uint32_t tools);
#endif
