/* JSON that more than one command writes: times and ranks; and what `clocks`, `comms` and `report` print, which the page of
 * `view` and `serve` contains too. */
#ifndef RS_CLI_JSON_H
#define RS_CLI_JSON_H

#include "base/json.h"
#include "cli/report_reference.h"
#include "conclude/report.h"
#include "fields/clock.h"
#include "join/lifetimes.h"
#include "model/model.h"
#include "trace/differences.h"

/* A time, or null. */
void rs_time_json(struct rs_json *j, const char *key, int64_t ns);
/* "pid"; 0 is null: unknown. */
void rs_pid_json(struct rs_json *j, uint32_t pid);
/* "global_rank", "host", "pid", "device": what every object with a rank has. */
void rs_member_json(struct rs_json *j, const struct rs_model *m, uint32_t member);
/* The same of a row of model.ranks. */
void rs_rank_json(struct rs_json *j, const struct rs_model *m, uint32_t rank_id);

/* One line per row of `clocks`. */
void rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *rows);
/* A communicator as a line of `comms`. */
void rs_comms_json(struct rs_json *j, const struct rs_model *m, const struct rs_job_layout *layout, uint32_t comm,
                   const struct rs_life *life);
/* The object of `report`. `reference`: what the report was compared with; NULL: nothing. */
void rs_report_json(struct rs_json *j, const struct rs_report *report, const struct rs_differences *settings,
                    const struct rs_reference_files *reference);

#endif
