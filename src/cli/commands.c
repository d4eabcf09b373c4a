#include "cli/commands.h"

#define RS_COMMAND(name) &rs_cmd_##name,
const struct rs_command *const rs_commands[RS_NCOMMANDS] = {RS_COMMANDS(RS_COMMAND)};
#undef RS_COMMAND
