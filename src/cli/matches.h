/* Filters that match nothing: what there is instead. Main thread only. */
#ifndef RS_CLI_MATCHES_H
#define RS_CLI_MATCHES_H

#include "cli/commands.h"
#include "model/filter.h"

/* Resolves the filter (rs_filter_resolve()), and compares its values with the model. One that no function, communicator or
 * rank has is reported, with those that exist; likewise a time window outside of the run. Returns 0, or the exit status
 * where nothing can pass: the question cannot be answered. */
int rs_matches_check(const struct rs_command *cmd, struct rs_filter *filter, struct rs_model *model);

#endif
