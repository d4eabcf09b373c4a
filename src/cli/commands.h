/* The commands of ringscope: one file src/cli/cmd_NAME.c each, listed in main.c's table. */
#ifndef RS_CLI_COMMANDS_H
#define RS_CLI_COMMANDS_H

#include "cli/opt.h"

extern const struct rs_command rs_cmd_run;
extern const struct rs_command rs_cmd_sim;
extern const struct rs_command rs_cmd_gen;
extern const struct rs_command rs_cmd_info;
extern const struct rs_command rs_cmd_ops;
extern const struct rs_command rs_cmd_report;
extern const struct rs_command rs_cmd_clocks;
extern const struct rs_command rs_cmd_comms;
extern const struct rs_command rs_cmd_hang;
extern const struct rs_command rs_cmd_overlap;
extern const struct rs_command rs_cmd_critical;
extern const struct rs_command rs_cmd_explain;
extern const struct rs_command rs_cmd_export;
extern const struct rs_command rs_cmd_sql;
extern const struct rs_command rs_cmd_gather;
extern const struct rs_command rs_cmd_view;
extern const struct rs_command rs_cmd_serve;

#endif
