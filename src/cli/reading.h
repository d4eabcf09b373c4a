/* What all reading commands share: opening inputs, choosing the run, progress, and saying what could not be read. */
#ifndef RS_CLI_READING_H
#define RS_CLI_READING_H

#include "cli/opt.h"
#include "model/model.h"
#include "trace/inputs.h"

/* Which run is read, and how its clocks are. */
struct rs_reading {
    const char *run; /* "all", or a number; NULL: the newest */
    bool align; /* bring all clocks onto one axis */
    bool same_host; /* all wall-time traces that do not name their host are of one */
};
#define RS_READING_DEFAULT                                                                                             \
    {                                                                                                                  \
        .align = true                                                                                                  \
    }

/* The options for that; `reading` is a struct rs_reading. */
#define RS_RUN_OPT(reading)                                                                                            \
    {                                                                                                                  \
        RS_OPT_STRING, 0, "run", &(reading).run, "N|all", "which run, where there are several (default: the newest)"   \
    }
#define RS_SAME_HOST_OPT(reading)                                                                                      \
    {                                                                                                                  \
        RS_OPT_FLAG, 0, "same-host", &(reading).same_host, NULL, "traces that do not name their host are all of one"   \
    }
#define RS_ALIGN_OPT(reading)                                                                                          \
    {                                                                                                                  \
        RS_OPT_FLAG, 0, "align", &(reading).align, NULL, "all clocks on one axis (--no-align: times as they came)"     \
    }
#define RS_READING_OPTS(reading) RS_RUN_OPT(reading), RS_SAME_HOST_OPT(reading), RS_ALIGN_OPT(reading)

/* Opens what the user named and keeps one run (`run`: NULL = the newest, "all", or a number). Returns 0, or the exit
 * status after the reason was printed, as where nothing was named. Inputs that cannot be read are said, one line each;
 * the others are used. */
int rs_reading_open(const struct rs_command *cmd, struct rs_inputs *inputs, char *const *paths, size_t npaths,
                    const char *run);

/* Keeps one run of inputs that were opened with "all". Returns 0, or the exit status after the reason was printed. */
int rs_reading_choose(const struct rs_command *cmd, struct rs_inputs *inputs, const char *run);

/* The model of inputs that are open: imported, joined and, as a rule, on one axis. Notes are said on stderr. Returns 0, or the
 * exit status after the reason was printed; then the model is free already. */
int rs_reading_join(const struct rs_command *cmd, struct rs_inputs *inputs, struct rs_model *model,
                    const struct rs_reading *how);

/* All of it, for commands that need the model alone: opens, joins, complains, closes. */
int rs_reading_model(const struct rs_command *cmd, struct rs_model *model, char *const *paths, size_t npaths,
                     const struct rs_reading *how);

/* Says on stderr what was found missing or damaged while reading. */
void rs_reading_complaints(const struct rs_command *cmd, const struct rs_inputs *inputs);

/* For tests: the events that a piece of a process has at least (RINGSCOPE_TEST_PIECE); 0: as many as is usual. */
uint32_t rs_reading_piece(void);

/* A progress line on stderr, where that is a terminal and the work takes a while; silent elsewhere. Ends itself. */
void rs_reading_progress(size_t done, size_t all);

#endif
