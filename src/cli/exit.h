/* The exit statuses of ringscope, as ringscope(1) lists them. */
#ifndef RS_CLI_EXIT_H
#define RS_CLI_EXIT_H

enum {
    RS_EXIT_FINE = 0,
    RS_EXIT_FAILURE = 1,
    RS_EXIT_USAGE = 2,
    RS_EXIT_FOUND = 3, /* what the command looks for: a hang, a score below --fail-under */
};

#endif
