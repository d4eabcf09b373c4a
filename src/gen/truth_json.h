/* The parts of truth.json that are read off the job: what was asked for, who was where, what the clocks said, what
 * lateness cost. Each function writes one key and its value into an open object. Nothing is kept. */
#ifndef RS_GEN_TRUTH_JSON_H
#define RS_GEN_TRUTH_JSON_H

#include "base/json.h"
#include "gen/job.h"

/* A true time, on the true wall clock; null for RS_GEN_NEVER. */
void rs_gen_truth_time(struct rs_json *json, int64_t t);

void rs_gen_truth_options(struct rs_json *json, const struct rs_gen_config *config);
void rs_gen_truth_comms(struct rs_json *json, const struct rs_gen_job *job);
/* With samples of their clocks, equally spaced from 0 to `end`. */
void rs_gen_truth_hosts(struct rs_json *json, struct rs_gen_job *job, int64_t end);
void rs_gen_truth_gpus(struct rs_json *json, struct rs_gen_job *job, int64_t end);
/* The rank and the host of the largest cost. */
void rs_gen_truth_straggler(struct rs_json *json, const struct rs_gen_job *job);

#endif
