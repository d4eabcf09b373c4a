/* Declarative options: one table per command drives parsing, --help, and shell completion (--complete; --list-opts for scripts).
 *
 * What a command shares with others (--json, filters, which run) is not in its table: it names those in `takes`, and
 * cli/options/common.h adds their rows.
 *
 * Options may come before, between and after operands, as `--name value`, `--name=value`, `-n value`, `-nvalue`;
 * letters of flags may be run together; `--` ends the options, and "-" is an operand. `--help` and `-h` are understood
 * by every command. A usage error prints one line and a hint to stderr and makes the command exit with 2; an option that
 * only other commands have is refused with their names. Only src/cli may print or exit. */
#ifndef RS_CLI_OPT_H
#define RS_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/exit.h"

enum rs_opt_kind {
    RS_OPT_END = 0,
    RS_OPT_FLAG, /* bool *          --name sets true, --no-name sets false */
    RS_OPT_STRING, /* const char **   points into argv */
    RS_OPT_INT, /* int64_t *       decimal, 0x hex; suffixes k M G (powers of 1000), Ki Mi Gi */
    RS_OPT_COUNT, /* int *           the same, from 0 on */
    RS_OPT_DOUBLE, /* double * */
    RS_OPT_WORD, /* int *           which of the words in `arg`, "none|few|all": 0, 1, 2 */
    RS_OPT_EACH, /* RS_EACH(take, to): called for every occurrence */
};

/* For options that may repeat or have their own syntax. Returns NULL when fine, else what is wrong with `value`
 * (a static string, printed behind the option and its value). */
struct rs_opt_each {
    const char *(*take)(void *to, const char *value);
    void *to;
};
#define RS_EACH(take, to) (&(struct rs_opt_each){take, to})

struct rs_opt {
    enum rs_opt_kind kind;
    char letter; /* 0 = none */
    const char *name; /* without the dashes */
    void *var; /* by kind; contains the default before parsing */
    const char *arg; /* how the argument is called in --help; NULL for flags */
    const char *help; /* one line; ends without a full stop */
};

struct rs_command {
    const char *name;
    const char *summary; /* one line of the command list */
    const char *usage; /* e.g. "[options] IN..." */
    const char *text; /* a paragraph for --help, or NULL */
    void (*lists)(void); /* prints what --help lists from tables of other modules, behind the options; NULL: nothing */
    const char *examples; /* lines, each a command with a comment, or NULL */
    int (*run)(const struct rs_command *self, int argc,
               char **argv); /* argv[0] is the command's name; returns the exit status */
    const char *json; /* what --json prints: "one JSON object"; NULL: there is no --json */
    const char *takes; /* the options of cli/options/common.h, by name or by set: "filter -func run"; NULL: none */
    bool operands_last; /* the first operand ends the options: what follows belongs to another program */
};

/* Parses argv[1..argc) by `opts` (ended by RS_OPT_END). Operands are moved to the front of argv + 1 and counted in
 * *noperands; everything after "--" is an operand. Returns -1 to go on, else the exit status to return at once
 * (help was printed, or the usage was wrong). */
int rs_opt_parse(const struct rs_command *cmd, const struct rs_opt *opts, int argc, char **argv, int *noperands);

/* Reads a whole number as RS_OPT_INT does; a final B (for bytes) is allowed. False when `text` is not one. */
bool rs_opt_int(const char *text, int64_t *value);

/* "a|b|c", for the `arg` of RS_OPT_WORD. */
const char *rs_opt_words(char *text, size_t room, const char *const *words, size_t n);

/* Prints "ringscope CMD: message" and the hint to --help on stderr; returns RS_EXIT_USAGE. */
int rs_opt_usage(const struct rs_command *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
