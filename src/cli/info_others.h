/* What `ringscope info` says of traces that other tools made: files, processes, and what each holds.
 *
 * Nothing is owned here. */
#ifndef RS_CLI_INFO_OTHERS_H
#define RS_CLI_INFO_OTHERS_H

#include "base/json.h"
#include "cli/info_ranks.h"
#include "trace/inputs.h"

/* The tables of the text. `alone`: there are no recordings, so these are all that there is. */
void rs_info_others_print(const struct rs_inputs *in, const struct rs_info_who *who, bool alone);

/* Elements of "inputs", and of "process_list". */
void rs_info_others_inputs_json(struct rs_json *j, const struct rs_inputs *in);
void rs_info_others_processes_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who);
/* The whole object, where there are no recordings. What only a recording can tell is null. */
void rs_info_others_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who);

#endif
