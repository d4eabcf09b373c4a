/* The options that several commands share. Each is one row below; a command names those that it takes (struct
 * rs_command, `takes`), by name or by set, and gets them parsed, in --help, in completion and in its man page
 * (tools/man.sh). One that a command does not take is refused, with the names of commands that do: none is ignored.
 *
 *     struct rs_common common;
 *     int n, done = rs_common_parse(self, &common, opts, argc, argv, &n);
 *     if (done >= 0) return done;
 */
#ifndef RS_CLI_COMMON_H
#define RS_CLI_COMMON_H

#include "cli/options/filters.h"
#include "cli/options/opt.h"

/* What the rows set. Contains pointers into itself: not to be copied. */
struct rs_common {
    bool json;
    struct rs_filters filters;
    const char *rows; /* ids of rs_row_kinds with commas between; NULL: as the level says */
    const char *title;
    const char *run; /* "all", or a number; NULL: the newest */
    bool same_host; /* all wall-time traces that do not name their host are from one host */
    bool align; /* align all clocks to one axis */
};

/* clang-format off: a table */
/* set, kind, name, member of struct rs_common, function of RS_OPT_EACH, argument, line of --help, text of the man page
 * (scdoc). --json is a row of its own: what it prints is said by the command. */
#define RS_COMMON_OPTIONS(X)                                                                                           \
    X("draw", RS_OPT_STRING, "rows", rows, NULL, "LIST",                                                               \
      "only these kinds of rows: operations,calls,launches,channels...",                                               \
      "Only these kinds of rows, with commas between: operations, calls, launches, channels... (see\n"                 \
      "\t*ringscope-view*(1)). It replaces *--level*.")                                                                \
    X("draw", RS_OPT_STRING, "title", title, NULL, "TEXT", "the title (default: the inputs)",                          \
      "The title. Default: the inputs.")                                                                               \
    X("filter", RS_OPT_EACH, "rank", filters, rs_filters_take_rank, "LIST",                                            \
      "only these ranks of the job: 3, 0-7, 1,5,9", "Only these ranks of the job: 3, 0-7, 1,5,9. May be repeated.")    \
    X("filter", RS_OPT_EACH, "comm", filters, rs_filters_take_comm, "HASH|NAME",                                       \
      "only this communicator; may be repeated",                                                                       \
      "Only this communicator: its hash, the first digits of it, or its name. May be repeated.")                       \
    X("filter", RS_OPT_EACH, "func", filters, rs_filters_take_func, "NAME",                                            \
      "only this function (AllReduce, SendRecv, ...); may be repeated",                                                \
      "Only this function (AllReduce, SendRecv, ...), in upper or lower case. May be repeated.")                       \
    X("filter", RS_OPT_EACH, "from", filters, rs_filters_take_from, "TIME",                                            \
      "only from TIME on: 1.5s (after the run's first event), a UTC time, or ns",                                      \
      "Only from this time on: *1.5s*, *300ms*, *2min* (after the run's first event, as tables\n"                      \
      "\tprint times), a UTC time (*2026-11-15 01:07:04.5*), or ns of wall time, as in JSON.")                         \
    X("filter", RS_OPT_EACH, "to", filters, rs_filters_take_to, "TIME", "only up to TIME, written as for --from",      \
      "Only up to this time, written in the same ways.")                                                               \
    X("level", RS_OPT_EACH, "level", filters, rs_filters_take_level, "ops|net|all",                                    \
      "level of detail: operations, also the network (the default), all",                                              \
      "Level of detail: operations, calls and launches; also GPU channels and the network (the default);\n"            \
      "\teverything.")                                                                                                 \
    X("reading", RS_OPT_STRING, "run", run, NULL, "N|all", "which run, if there are several (default: the newest)",    \
      "Read run _N_ (from 0, by time; *ringscope-info*(1) lists them) or all of them, instead of the newest.")         \
    X("reading", RS_OPT_FLAG, "same-host", same_host, NULL, NULL,                                                      \
      "traces that do not name their host are from one host",                                                          \
      "Traces that do not name their host (Kineto) are from one host, and share its clock.")                           \
    X("reading", RS_OPT_FLAG, "align", align, NULL, NULL,                                                              \
      "align all clocks to one axis (--no-align: times as recorded)",                                                  \
      "Align all clocks to one axis (the default); *--no-align*: times as recorded, each on its own clock.")
/* clang-format on */

/* For a command that has no others. */
#define RS_NO_OPTIONS (&(const struct rs_opt){.kind = RS_OPT_END})

/* Parses as rs_opt_parse() does, by `own` and the rows that the command takes; sets `common` to its defaults before. An
 * option of `own` takes the place of a common one of its name. */
int rs_common_parse(const struct rs_command *cmd, struct rs_common *common, const struct rs_opt *own, int argc,
                    char **argv, int *noperands);

/* The common options of a command as text of a man page. */
void rs_common_man(const struct rs_command *cmd);

/* NULL, or the first word in `takes` that is neither an option nor a set. For the test. */
const char *rs_common_unknown(const struct rs_command *cmd);

#endif
