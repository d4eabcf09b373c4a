/* What `run`, `sim` and `doctor` share: where the recorder's plugin is, its settings, and the option --events. */
#ifndef RS_CLI_RECORDER_H
#define RS_CLI_RECORDER_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/options/opt.h"

/* The plugin that was built with this ringscope: beside the executable (a build folder), or in lib next to its bin (an
 * installation). */
enum rs_status rs_plugin_path(char path[PATH_MAX], struct rs_err *err);

/* What NCCL and the recorder read from the environment. NULL: what is set there already stays. */
struct rs_recorder_settings {
    const char *dir; /* NULL and not set: ringscope-$SLURM_JOB_ID, else ringscope-run */
    const char *plugin; /* NULL: the one that was built with this ringscope */
    const char *events;
    const char *detail; /* windows, as the recorder reads them */
    const char *memory, *limit; /* sizes, as the recorder reads them */
    const char *keep;
    const char *buffers;
    bool elsewhere; /* for another file system: the plugin need not exist here */
};

/* Sets the environment. `command` is for the warning that another plugin is replaced. */
enum rs_status rs_recorder_set(const char *command, const struct rs_recorder_settings *set, struct rs_err *err);

/* The row of --events; `var` is a const char *. */
#define RS_EVENTS_OPTION(letter, var)                                                                                  \
    {                                                                                                                  \
        RS_OPT_STRING, letter, "events", var, "SET|MASK", "what to record: a set or a mask of event types, see below"  \
    }

/* The row of --detail; `var` is a const char *. */
#define RS_DETAIL_OPTION(var)                                                                                          \
    {                                                                                                                  \
        RS_OPT_STRING, 0, "detail", var, "WINDOW:PERIOD",                                                              \
            "GPU times and network events in windows only, e.g. 200ms:10s (always)"                                    \
    }
/* -1: `detail` is NULL or valid; else the exit status after the usage error was printed. */
int rs_detail_check(const struct rs_command *cmd, const char *detail);

/* For struct rs_command: the sets and the types that --help lists. */
void rs_event_sets_list(void);

/* -1: `events` is NULL, a set or a mask; else the exit status after the usage error was printed. */
int rs_event_sets_check(const struct rs_command *cmd, const char *events);

#endif
