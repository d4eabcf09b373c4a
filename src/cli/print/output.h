/* Messages on stderr, and whether stdout could be written.
 *
 * SIGPIPE is ignored, so that a closed pipe shows as a failed write, which ends a command early and is no failure: the
 * reader (head, less) went away on purpose, and scripts with pipefail go on. A full disk is reported. Main thread only. */
#ifndef RS_CLI_OUTPUT_H
#define RS_CLI_OUTPUT_H

#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>

/* Called first of all by main(). */
void rs_output_begin(void);

/* Flushes stdout. Returns `status`, or RS_EXIT_FAILURE where stdout could not be written, unless its reader went away. */
int rs_output_end(int status);

/* A writer of JSON to standard output, ended by rs_json_finish(). There is one. */
struct rs_json *rs_output_json(void);

/* Gives SIGPIPE and SIGXFSZ back their meaning from before rs_output_begin(): for a child about to run another program. */
void rs_output_restore_signals(void);

/* Prints "ringscope CMD: message" on stderr and returns RS_EXIT_FAILURE. Where the message is about stdout having been
 * closed by its reader: silent, and 0. */
int rs_print_err(const char *command, const struct rs_err *err);

/* Prints "ringscope CMD: text" on stderr. */
void rs_warn(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
