/* --events of `run` and `sim`: the sets of event types, and the types that a mask is made of, from their tables. */
#ifndef RS_CLI_EVENT_SETS_H
#define RS_CLI_EVENT_SETS_H

#include "cli/opt.h"

/* The row of --events; `var` is a const char *. */
#define RS_EVENTS_OPTION(letter, var)                                                                                  \
    {                                                                                                                  \
        RS_OPT_STRING, letter, "events", var, "SET|MASK", "what to record: a set or a mask of event types, see below"  \
    }

/* For struct rs_command: what --help lists. */
void rs_event_sets_list(void);

/* -1: `events` is NULL, a set or a mask; else the exit status after the usage error was printed. */
int rs_event_sets_check(const struct rs_command *cmd, const char *events);

#endif
