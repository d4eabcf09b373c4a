/* The commands of ringscope, in the order of --help: one struct rs_cmd_NAME each, in cmd_NAME.c. */
#ifndef RS_CLI_COMMANDS_H
#define RS_CLI_COMMANDS_H

#include "cli/options/opt.h"

/* The list: declarations, the table and its length come from it. */
/* clang-format off */
#define RS_COMMANDS(X) \
    X(run) \
    X(doctor) \
    X(gather) \
    X(info) \
    X(explain) \
    X(report) \
    X(overlap) \
    X(critical) \
    X(whatif) \
    X(diff) \
    X(hang) \
    X(view) \
    X(serve) \
    X(ops) \
    X(comms) \
    X(clocks) \
    X(export) \
    X(sql) \
    X(sim) \
    X(gen)
/* clang-format on */

#define RS_COMMAND(name) extern const struct rs_command rs_cmd_##name;
RS_COMMANDS(RS_COMMAND)
#undef RS_COMMAND

#define RS_COMMAND(name) +1
enum { RS_NCOMMANDS = RS_COMMANDS(RS_COMMAND) };
#undef RS_COMMAND

extern const struct rs_command *const rs_commands[RS_NCOMMANDS];

#endif
