/* `ringscope info --json`: the JSON contract of info. Fields may be added, not renamed. */
#ifndef RS_CLI_INFO_JSON_H
#define RS_CLI_INFO_JSON_H

#include "base/json.h"
#include "cli/info_ranks.h"
#include "trace/overview.h"

/* A run of the inputs, noted before the others were closed. */
struct rs_run_line {
    size_t run, processes;
    int64_t from_ns, to_ns;
    int64_t longest_ns; /* of a process: the clocks of hosts differ */
};

/* "running" (of a cut: when it was made), "idle", "closed", "killed": not closed, and gone or not heard of for a while; "replaced": it called execve. */
const char *rs_process_end(struct rs_source *source);

/* Files of other tools are listed, and not counted in the sums. */
void rs_info_json(struct rs_json *json, struct rs_inputs *inputs, const struct rs_overview *overview,
                  const struct rs_run_line *runs, size_t nruns, const struct rs_info_who *who);

#endif
