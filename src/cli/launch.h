/* Runs another program as if it had been called directly: same terminal, same signals, same end. Main thread only. */
#ifndef RS_CLI_LAUNCH_H
#define RS_CLI_LAUNCH_H

#include "base/err.h"
#include "cli/watch.h"

/* How the program ended. */
struct rs_launch_end {
    int status; /* exit status; 128 + signal if a signal ended it */
    int signal; /* 0 = none */
};

/* Runs argv (ended by NULL; argv[0] is looked up in PATH) and waits for it. INT, TERM, HUP, QUIT, USR1 and USR2 are
 * passed on. Its processes are watched unless `watch` is NULL. Fails if it could not be started; end->status is then 126 or
 * 127, as in a shell. */
enum rs_status rs_launch(char *const *argv, struct rs_watch *watch, struct rs_launch_end *end, struct rs_err *err);

/* Ends this process in the way the program ended: by its signal if there was one. Returns the status to exit with
 * otherwise. */
int rs_launch_mimic(const struct rs_launch_end *end);

#endif
