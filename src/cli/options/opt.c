#include "cli/options/opt.h"

#include "cli/commands.h"
#include "cli/options/suggest.h"
#include "cli/options/values.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rs_opt_usage(const struct rs_command *cmd, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "ringscope %s: ", cmd->name);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nsee: ringscope %s --help\n", cmd->name);
    return RS_EXIT_USAGE;
}

bool rs_opt_int(const char *text, int64_t *value)
{
    static const struct {
        const char *suffix;
        int64_t factor;
    } units[] = {
        {"", 1},           {"k", 1000},          {"K", 1000},       {"M", 1000000},
        {"G", 1000000000}, {"T", 1000000000000}, {"Ki", 1ll << 10}, {"Mi", 1ll << 20},
        {"Gi", 1ll << 30}, {"Ti", 1ll << 40},
    };
    const char *digits = text + (*text == '-' || *text == '+');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    /* strtoll() itself would also take blanks and, with base 0, octal. */
    if (*digits < '0' || *digits > '9') return false;
    errno = 0;
    char *end;
    long long number = strtoll(text, &end, hex ? 16 : 10);
    if (errno != 0 || (hex && end == digits + 1)) return false;
    size_t rest = strlen(end);
    /* A hexadecimal number has taken a B for a digit. */
    if (rest > 0 && end[rest - 1] == 'B') rest--;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].suffix) != rest || strncmp(units[i].suffix, end, rest) != 0) continue;
        return !__builtin_mul_overflow(number, units[i].factor, value);
    }
    return false;
}

static bool parse_double(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

const char *rs_opt_words(char *text, size_t room, const char *const *words, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%s", i ? "|" : "", words[i]);
    return text;
}

static bool find_word(const char *words, const char *value, int *index)
{
    size_t n = strlen(value);
    for (int i = 0;; i++) {
        size_t m = strcspn(words, "|");
        if (m == n && strncmp(words, value, n) == 0) {
            *index = i;
            return true;
        }
        if (words[m] == '\0') return false;
        words += m + 1;
    }
}

static void print_wrapped(const char *text)
{
    for (const char *p = text; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        printf("%s%.*s\n", n > 0 ? "  " : "", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static void print_option(char letter, const char *name, const char *arg, bool flag, const char *help)
{
    char left[160];
    char dash[] = {'-', letter, ',', ' ', '\0'};
    snprintf(left, sizeof(left), "%s--%s%s%s", letter ? dash : "    ", name, flag ? "" : " ", flag ? "" : arg);
    /* After a long left side the text goes to the next line, in the same column. */
    if (strlen(left) > 28) {
        printf("  %s\n  %-28s  %s\n", left, "", help);
    } else {
        printf("  %-28s  %s\n", left, help);
    }
}

static void print_help(const struct rs_command *cmd, const struct rs_opt *opts)
{
    printf("usage: ringscope %s %s\n\n", cmd->name, cmd->usage);
    print_wrapped(cmd->text != NULL ? cmd->text : cmd->summary);
    if (strstr(cmd->usage, "IN...") != NULL)
        printf(
            "\n  IN: recordings or other tools' traces (see `ringscope explain formats`), files or folders, mixed.\n");
    printf("\noptions:\n");
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END; o++)
        print_option(o->letter, o->name, o->arg != NULL ? o->arg : "VALUE", o->kind == RS_OPT_FLAG, o->help);
    print_option('h', "help", NULL, true, "this text");
    if (cmd->lists != NULL) cmd->lists();
    if (cmd->examples == NULL) return;
    printf("\nexamples:\n");
    print_wrapped(cmd->examples);
}

static void list_options(const struct rs_opt *opts)
{
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END; o++) printf("--%s\n", o->name);
    printf("--help\n");
}

/* Stores a value; returns -1 or the exit status of a usage error. `shown` is the option as the user wrote it. */
static int take_value(const struct rs_command *cmd, const struct rs_opt *o, const char *shown, const char *value)
{
    switch (o->kind) {
    case RS_OPT_STRING: *(const char **)o->var = value; return -1;
    case RS_OPT_INT:
        if (rs_opt_int(value, o->var)) return -1;
        return rs_opt_usage(cmd, "%s %s: not a whole number (64, 0x40, 64k, 64Mi)", shown, value);
    case RS_OPT_COUNT: {
        int64_t number;
        if (!rs_opt_int(value, &number) || number < 0 || number > INT_MAX)
            return rs_opt_usage(cmd, "%s %s: not a whole number from 0 to %d", shown, value, INT_MAX);
        *(int *)o->var = (int)number;
        return -1;
    }
    case RS_OPT_WORD:
        if (find_word(o->arg, value, o->var)) return -1;
        return rs_opt_usage(cmd, "%s %s: not one of %s", shown, value, o->arg);
    case RS_OPT_DOUBLE:
        if (parse_double(value, o->var)) return -1;
        return rs_opt_usage(cmd, "%s %s: not a number", shown, value);
    case RS_OPT_EACH: {
        const struct rs_opt_each *each = o->var;
        const char *wrong = each->take(each->to, value);
        return wrong == NULL ? -1 : rs_opt_usage(cmd, "%s %s: %s", shown, value, wrong);
    }
    case RS_OPT_FLAG:
    case RS_OPT_END: break;
    }
    return -1;
}

/* Whether `name` is this option, or its negation. */
static bool is_called(const struct rs_opt *o, const char *name, bool *negated)
{
    *negated = o->kind == RS_OPT_FLAG && strncmp(name, "no-", 3) == 0 && strcmp(name + 3, o->name) == 0;
    return *negated || strcmp(name, o->name) == 0;
}

/* What rs_opt_parse() is to answer in place of parsing: whether the command has an option, by name or by letter. */
static struct question {
    const char *name;
    char letter;
    bool yes;
} * asked;

static bool has_option(const struct rs_command *cmd, const char *name, char letter)
{
    struct question q = {name, letter, false};
    char *argv[] = {(char *)cmd->name, NULL};
    asked = &q;
    cmd->run(cmd, 1, argv);
    asked = NULL;
    return q.yes;
}

static int answer(const struct rs_opt *opts)
{
    bool negated;
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END; o++)
        asked->yes |= asked->letter ? o->letter == asked->letter : is_called(o, asked->name, &negated);
    return RS_EXIT_FINE;
}

/* Names the commands that have it, and the option that is nearest to it. By its name or, that being "", its letter. */
static int unknown_option(const struct rs_command *cmd, const struct rs_opt *opts, const char *shown, const char *name,
                          char letter)
{
    const char *others[RS_NCOMMANDS];
    char text[256] = "", near[64] = "";
    size_t n = 0, at = 0;
    for (size_t i = 0; i < RS_NCOMMANDS; i++)
        if (has_option(rs_commands[i], name, letter)) others[n++] = rs_commands[i]->name;
    for (size_t i = 0; i < n && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s %s", i == 0 ? "" : i + 1 < n ? "," : " and", others[i]);
    struct rs_suggest s = {.typed = name};
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END && !letter; o++) rs_suggest_offer(&s, o->name);
    if (s.best != NULL) snprintf(near, sizeof near, "; did you mean --%s?", s.best);
    if (n > 0) return rs_opt_usage(cmd, "%s is not an option of %s, but of%s%s", shown, cmd->name, text, near);
    return rs_opt_usage(cmd, "unknown option %s%s", shown, near);
}

/* The words still to be read. */
struct words {
    int argc;
    char **argv;
    int at;
};

/* `--name`, `--name=value`, `--no-name`. */
static int parse_long(const struct rs_command *cmd, const struct rs_opt *opts, struct words *w)
{
    char shown[128], name[128];
    const char *word = w->argv[w->at++];
    const char *equals = strchr(word, '=');
    int len = (int)(equals != NULL ? equals - word : (long)strlen(word));
    snprintf(shown, sizeof(shown), "%.*s", len, word);
    snprintf(name, sizeof(name), "%s", shown + 2);
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END; o++) {
        bool negated;
        if (!is_called(o, name, &negated)) continue;
        if (o->kind == RS_OPT_FLAG) {
            if (equals != NULL) return rs_opt_usage(cmd, "%s takes no value", shown);
            *(bool *)o->var = !negated;
            return -1;
        }
        if (equals != NULL) return take_value(cmd, o, shown, equals + 1);
        if (w->at == w->argc) return rs_opt_usage(cmd, "%s needs a value (%s)", shown, o->arg ? o->arg : "VALUE");
        return take_value(cmd, o, shown, w->argv[w->at++]);
    }
    return unknown_option(cmd, opts, shown, name, 0);
}

/* `-n value`, `-nvalue`, and flags run together. */
static int parse_letters(const struct rs_command *cmd, const struct rs_opt *opts, struct words *w)
{
    for (const char *p = w->argv[w->at++] + 1; *p != '\0'; p++) {
        const struct rs_opt *o = opts;
        while (o->kind != RS_OPT_END && o->letter != *p) o++;
        char shown[] = {'-', *p, '\0'};
        if (o->kind == RS_OPT_END && *p == 'h') {
            print_help(cmd, opts);
            return RS_EXIT_FINE;
        }
        if (o->kind == RS_OPT_END) return unknown_option(cmd, opts, shown, "", *p);
        if (o->kind == RS_OPT_FLAG) {
            *(bool *)o->var = true;
            continue;
        }
        if (p[1] != '\0') return take_value(cmd, o, shown, p + 1);
        if (w->at == w->argc) return rs_opt_usage(cmd, "%s needs a value (%s)", shown, o->arg ? o->arg : "VALUE");
        return take_value(cmd, o, shown, w->argv[w->at++]);
    }
    return -1;
}

int rs_opt_parse(const struct rs_command *cmd, const struct rs_opt *opts, int argc, char **argv, int *noperands)
{
    if (asked != NULL) return answer(opts);
    struct words w = {.argc = argc, .argv = argv, .at = 1};
    int n = 0;
    bool options = true;
    while (w.at < argc) {
        char *word = argv[w.at];
        int status = -1;
        if (!options || word[0] != '-' || word[1] == '\0') {
            /* Operands never overtake the reading: n < w.at. */
            argv[1 + n++] = argv[w.at++];
            if (cmd->operands_last) options = false;
        } else if (strcmp(word, "--") == 0) {
            options = false;
            w.at++;
        } else if (strcmp(word, "--help") == 0) {
            print_help(cmd, opts);
            return RS_EXIT_FINE;
        } else if (strcmp(word, "--list-opts") == 0) {
            list_options(opts);
            return RS_EXIT_FINE;
        } else if (strcmp(word, "--complete") == 0) {
            rs_values_print(opts);
            return RS_EXIT_FINE;
        } else {
            status = word[1] == '-' ? parse_long(cmd, opts, &w) : parse_letters(cmd, opts, &w);
        }
        if (status != -1) return status;
    }
    *noperands = n;
    return -1;
}
