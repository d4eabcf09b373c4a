/* What `run` and `sim` share: where the recorder's plugin is, and the option --events. */
#ifndef RS_CLI_RECORDER_H
#define RS_CLI_RECORDER_H

#include <limits.h>

#include "base/err.h"
#include "cli/options/opt.h"

/* The plugin that was built with this ringscope: beside the executable (a build folder), or in lib next to its bin (an
 * installation). */
enum rs_status rs_plugin_path(char path[PATH_MAX], struct rs_err *err);

/* The row of --events; `var` is a const char *. */
#define RS_EVENTS_OPTION(letter, var)                                                                                  \
    {                                                                                                                  \
        RS_OPT_STRING, letter, "events", var, "SET|MASK", "what to record: a set or a mask of event types, see below"  \
    }

/* For struct rs_command: the sets and the types that --help lists. */
void rs_event_sets_list(void);

/* -1: `events` is NULL, a set or a mask; else the exit status after the usage error was printed. */
int rs_event_sets_check(const struct rs_command *cmd, const char *events);

#endif
