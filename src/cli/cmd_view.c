/* ringscope view */
#include <stddef.h>

#include "cli/commands.h"
#include "cli/output.h"

static int run(const struct rs_command *self, int argc, char **argv)
{
    const struct rs_opt opts[] = {
        {RS_OPT_END, 0, NULL, NULL, NULL, NULL},
    };
    int n, done = rs_opt_parse(self, opts, argc, argv, &n);
    return done >= 0 ? done : RS_EXIT_FAILURE;
}

const struct rs_command rs_cmd_view = {
    .name = "view",
    .summary = "the timeline",
    .usage = "[options] IN...",
    .text = "",
    .examples = "ringscope view rec",
    .run = run,
};
