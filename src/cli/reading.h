/* What all reading commands share: opening inputs, choosing the run, progress, and reporting what could not be read. */
#ifndef RS_CLI_READING_H
#define RS_CLI_READING_H

#include "cli/options/common.h"
#include "model/model.h"
#include "trace/inputs.h"

/* Opens what the user named and keeps one run (`run`: NULL = the newest, "all", or a number). Returns 0, or the exit
 * status after the reason was printed, as where nothing was named. Inputs that cannot be read are reported, one line each;
 * the others are used. */
int rs_reading_open(const struct rs_command *cmd, struct rs_inputs *inputs, char *const *paths, size_t npaths,
                    const char *run);

/* Keeps one run of inputs that were opened with "all". Returns 0, or the exit status after the reason was printed. */
int rs_reading_choose(const struct rs_command *cmd, struct rs_inputs *inputs, const char *run);

/* The model of inputs that are open: imported, joined and, as a rule, on one axis. Notes are printed on stderr. Returns 0, or the
 * exit status after the reason was printed; then the model is free already. */
int rs_reading_join(const struct rs_command *cmd, struct rs_inputs *inputs, struct rs_model *model,
                    const struct rs_common *how);

/* The frame of a command: opens inputs, lets `work` read them, reports what could not be read, and closes them. Returns the
 * exit status: of `work`, or of what went wrong before it. */
typedef int rs_work_fn(const struct rs_command *cmd, struct rs_inputs *in, void *options);
int rs_reading_inputs(const struct rs_command *cmd, char *const *paths, int n, const char *run, rs_work_fn *work,
                      void *options);

/* The same for commands that show the model: joins it, resolves the filters, and frees it after `show`, which may
 * change *status from 0. `in` is NULL in rs_reading_model(), whose inputs are closed before. */
typedef enum rs_status rs_show_fn(const struct rs_command *cmd, struct rs_model *m, struct rs_inputs *in, void *options,
                                  int *status, struct rs_err *err);
int rs_reading_model(const struct rs_command *cmd, char *const *paths, int n, struct rs_common *how, rs_show_fn *show,
                     void *options);
/* All that a command does that has common options only: `options` is a struct rs_common. */
int rs_reading_command(const struct rs_command *cmd, int argc, char **argv, rs_show_fn *show);
int rs_reading_model_and_inputs(const struct rs_command *cmd, char *const *paths, int n, struct rs_common *how,
                                rs_show_fn *show, void *options);

/* Says on stderr what was found missing or damaged while reading. */
void rs_reading_complaints(const struct rs_command *cmd, const struct rs_inputs *inputs);

/* For tests: the events that a piece of a process has at least (RINGSCOPE_TEST_PIECE); 0: as many as is usual. */
uint32_t rs_reading_piece(void);

/* A progress line on stderr, where that is a terminal and the work takes a while; silent elsewhere. Ends itself. */
void rs_reading_progress(size_t done, size_t all);

#endif
