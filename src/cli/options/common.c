#include "cli/options/common.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *set;
    enum rs_opt_kind kind;
    const char *name;
    size_t at; /* of its member */
    const char *(*take)(void *to, const char *value);
    const char *arg, *help, *man;
};

static const struct row rows[] = {
#define ROW(set, kind, name, member, take, arg, help, man)                                                             \
    {set, kind, name, offsetof(struct rs_common, member), take, arg, help, man},
    RS_COMMON_OPTIONS(ROW)
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows, MOST_OWN = 64 };

/* The next word of a list with blanks between; false: there is none. */
static bool next_word(const char **list, const char **word, size_t *n)
{
    *list += strspn(*list, " ");
    *word = *list;
    *n = strcspn(*list, " ");
    *list += *n;
    return *n > 0;
}

static bool is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncmp(word, name, n) == 0;
}

static bool takes(const struct rs_command *cmd, const struct row *row)
{
    const char *list = cmd->takes ? cmd->takes : "", *word;
    bool yes = false;
    for (size_t n; next_word(&list, &word, &n);)
        if (*word == '-' ? is(word + 1, n - 1, row->name) : is(word, n, row->name) || is(word, n, row->set))
            yes = *word != '-';
    return yes;
}

const char *rs_common_unknown(const struct rs_command *cmd)
{
    const char *list = cmd->takes ? cmd->takes : "", *word;
    for (size_t n; next_word(&list, &word, &n);) {
        size_t minus = *word == '-', i = 0;
        while (i < ROWS && !is(word + minus, n - minus, rows[i].name) && !is(word, n, rows[i].set)) i++;
        if (i == ROWS) return word;
    }
    return NULL;
}

static const struct rs_opt *find(const struct rs_opt *own, const char *name)
{
    for (; own->kind != RS_OPT_END; own++)
        if (!strcmp(own->name, name)) return own;
    return NULL;
}

static bool is_common(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) return true;
    return false;
}

int rs_common_parse(const struct rs_command *cmd, struct rs_common *common, const struct rs_opt *own, int argc,
                    char **argv, int *noperands)
{
    struct rs_opt all[1 + MOST_OWN + ROWS + 1];
    struct rs_opt_each each[ROWS];
    size_t n = 0;
    *common = (struct rs_common){.align = true};
    rs_filters_make(&common->filters);
    if (cmd->json) all[n++] = (struct rs_opt){RS_OPT_FLAG, 'j', "json", &common->json, NULL, cmd->json};
    for (const struct rs_opt *o = own; o->kind != RS_OPT_END && n <= MOST_OWN; o++)
        if (!is_common(o->name)) all[n++] = *o;
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        const struct rs_opt *instead = find(own, r->name);
        void *var = (char *)common + r->at;
        each[i] = (struct rs_opt_each){r->take, var};
        if (instead)
            all[n++] = *instead;
        else if (takes(cmd, r))
            all[n++] = (struct rs_opt){r->kind, 0, r->name, r->take ? &each[i] : var, r->arg, r->help};
    }
    all[n] = (struct rs_opt){.kind = RS_OPT_END};
    if (argc > 1 && !strcmp(argv[1], "--man-opts")) {
        rs_common_man(cmd);
        return RS_EXIT_FINE;
    }
    return rs_opt_parse(cmd, all, argc, argv, noperands);
}

/* "_LIST_", "*ops*|*net*|*all*": capitals are for the user to fill in. */
static void man_argument(const char *arg)
{
    for (size_t n; *arg; arg += n + (arg[n] == '|')) {
        n = strcspn(arg, "|");
        const char *mark = *arg >= 'A' && *arg <= 'Z' ? "_" : "*";
        printf("%s%.*s%s%s", mark, (int)n, arg, mark, arg[n] ? "|" : "");
    }
}

void rs_common_man(const struct rs_command *cmd)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!takes(cmd, &rows[i])) continue;
        printf("*--%s*", rows[i].name);
        if (rows[i].arg) printf(" ");
        if (rows[i].arg) man_argument(rows[i].arg);
        printf("\n\t%s\n\n", rows[i].man);
    }
}
