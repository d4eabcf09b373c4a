/* Runs another program as if it had been called directly: same terminal, same signals, same end.
 *
 * Main thread only, before any other thread exists: signals are taken with sigwaitinfo() while the program runs. */
#ifndef RS_CLI_LAUNCH_H
#define RS_CLI_LAUNCH_H

#include "base/err.h"

enum { RS_LAUNCH_NOT_EXECUTABLE = 126, RS_LAUNCH_NOT_FOUND = 127 };

/* How the program ended. */
struct rs_launch_end {
    int status; /* exit status; 128 + signal where a signal ended it */
    int signal; /* 0 = none */
};

/* Runs argv (ended by NULL; argv[0] is looked up in PATH) and waits for it. INT, TERM, HUP, QUIT, USR1 and USR2 are
 * passed on. Fails when it could not be started; end->status is then 126 or 127, as a shell would have it. */
enum rs_status rs_launch(char *const *argv, struct rs_launch_end *end, struct rs_err *err);

/* Ends this process in the way the program ended: by its signal where there was one. Returns the status to exit with
 * otherwise. */
int rs_launch_mimic(const struct rs_launch_end *end);

#endif
