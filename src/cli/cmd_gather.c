/* ringscope gather: collects what killed processes left on this host's local storage. */
#include <stdio.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "trace/gather.h"

static int run(const struct rs_command *self, int argc, char **argv)
{
    const struct rs_opt opts[] = {{RS_OPT_END, 0, NULL, NULL, NULL, NULL}};
    int n, done = rs_opt_parse(self, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (!n) return rs_opt_usage(self, "name the folder of the recordings");
    for (int i = 1; i <= n; i++) {
        struct rs_gather_result r;
        struct rs_err err;
        if (rs_gather_dir(argv[i], &r, &err) != RS_OK) return rs_print_err(self->name, &err);
        printf("%s: %zu recordings; copied %zu live file%s", argv[i], r.recordings, r.brought,
               r.brought == 1 ? "" : "s");
        if (r.shrunk)
            printf("; made %zu live file%s smaller, from %s to %s", r.shrunk, r.shrunk == 1 ? "" : "s",
                   rs_text_bytes(r.bytes_before).s, rs_text_bytes(r.bytes_after).s);
        if (r.running) printf("; %zu still running", r.running);
        if (r.unproven)
            printf("; left %zu that may still be in use (nothing proves that their process ended, or they are another "
                   "user's)",
                   r.unproven);
        if (r.missing) printf("; %zu without their live file (is it on another host?)", r.missing);
        printf("\n");
    }
    return RS_EXIT_FINE;
}

const struct rs_command rs_cmd_gather = {
    .name = "gather",
    .summary = "collect what killed processes left on this host's local storage",
    .usage = "DIR...",
    .text =
        "Where a recording's folder is on a network file system, a process keeps its newest records in /dev/shm of "
        "its\n"
        "host. After a kill they are still there: run this on that host to bring them to the folder. Live files of\n"
        "ended processes that are in the folder already are made as small as what they contain.",
    .examples = "ringscope gather rec                        # before it is copied elsewhere\n"
                "srun -N 16 --ntasks-per-node=1 ringscope gather /shared/ringscope-4711",
    .run = run,
};
