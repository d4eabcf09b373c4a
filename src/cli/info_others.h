/* What `ringscope info` says of traces that other tools made: files, processes, and what each holds.
 *
 * Made from a model that has these files alone, imported and not joined. Nothing is owned here. */
#ifndef RS_CLI_INFO_OTHERS_H
#define RS_CLI_INFO_OTHERS_H

#include "base/json.h"
#include "cli/opt.h"
#include "model/model.h"
#include "trace/inputs.h"

/* Imports the others of the inputs into an empty model. Returns 0, or the exit status after the reason was printed;
 * then the model is free already. */
int rs_info_others_read(const struct rs_command *cmd, struct rs_inputs *in, struct rs_model *model);

/* The tables of the text. `alone`: there are no recordings, so these are all that there is. */
void rs_info_others_print(const struct rs_inputs *in, const struct rs_model *m, bool alone);

/* Elements of "inputs", and of "process_list". */
void rs_info_others_inputs_json(struct rs_json *j, const struct rs_inputs *in);
void rs_info_others_processes_json(struct rs_json *j, const struct rs_model *m);
/* The whole object, where there are no recordings. What only a recording can tell is null. */
void rs_info_others_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_model *m);

#endif
