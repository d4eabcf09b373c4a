/* ringscope: finds the command, runs it, and makes sure that its output arrived. */
#include "base/compression.h"
#include "bundle/page.h"
#include "cli/commands.h"
#include "cli/explain_terms.h"
#include "cli/options/suggest.h"
#include "cli/print/output.h"

#include <ctype.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* Parts that depend on libraries found at build time, besides compressions of other tools' files. */
static const struct part {
    const char *name;
    bool on;
    const char *meaning;
} parts[] = {
#ifdef RS_NO_ZSTD
    {"zstd", false, "recordings are written uncompressed, compressed ones cannot be read"},
#else
    {"zstd", true, "compressed recordings"},
#endif
#ifdef RS_NO_SQLITE
    {"sqlite", false, "no `ringscope sql` and export --format sqlite; exports of Nsight Systems cannot be read"},
#else
    {"sqlite", true, "ringscope sql, export --format sqlite, exports of Nsight Systems"},
#endif
#ifdef RS_NO_LIBEVENT
    {"libevent", false, "there is no `ringscope serve`"},
#else
    {"libevent", true, "ringscope serve"},
#endif
#ifdef RS_NO_OTF2
    {"otf2", false, "nothing can be exported to OTF2"},
#else
    {"otf2", true, "ringscope export --format otf2"},
#endif
};

static void print_usage(FILE *to)
{
    fprintf(to, "usage: ringscope COMMAND [options] ...\n\n"
                "What every GPU of a distributed job did in every NCCL operation, on all ranks: from ringscope's own\n"
                "recordings, and from traces that you already have.\n"
                "\ncommands:\n");
    for (size_t i = 0; i < RS_NCOMMANDS; i++)
        fprintf(to, "  %-8s  %s\n", rs_commands[i]->name, rs_commands[i]->summary);
    fprintf(to, "\nIN is any number of files and folders, of any of these formats, mixed:\n");
    for (size_t i = 0; rs_explain_table(i); i++)
        if (rs_explain_table(i)->holds) fprintf(to, "  %s\n", rs_explain_table(i)->what);
    fprintf(to, "\n`ringscope explain formats` lists what each of them contains.\n"
                "`ringscope COMMAND --help` describes a command; `ringscope --version` lists optional parts.\n"
                "exit status: 0 success, 1 failure, 2 wrong usage, 3 condition detected (a hang, --fail-under)\n");
}

/* For tools/man.sh: the sections of ringscope(1) that are lists. */
static void print_man(void)
{
    printf("# COMMANDS\n\n");
    for (size_t i = 0; i < RS_NCOMMANDS; i++)
        printf("*%s*\n\t%c%s. See *ringscope-%s*(1).\n\n", rs_commands[i]->name,
               toupper((unsigned char)rs_commands[i]->summary[0]), rs_commands[i]->summary + 1, rs_commands[i]->name);
    printf("# INPUTS\n\n");
    for (size_t i = 0; rs_explain_table(i); i++)
        if (rs_explain_table(i)->holds) printf("- %s\n", rs_explain_table(i)->what);
    printf("\n# SEE ALSO\n\n");
    for (size_t i = 0; i < RS_NCOMMANDS; i++) printf("*ringscope-%s*(1),\n", rs_commands[i]->name);
    printf("*ringscope-plugin*(7)\n");
}

static void print_version(void)
{
    printf("ringscope " RS_VERSION "\noptional parts:\n");
    const struct rs_compression *c;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        printf("  %-8s  %-3s  %s\n", parts[i].name, parts[i].on ? "on" : "off", parts[i].meaning);
        for (int k = 1; i == 0 && (c = rs_compression_at(k)); k++)
            if (strcmp(c->library, parts[0].name) != 0) /* which recordings need */
                printf("  %-8s  %-3s  %s files %s\n", c->library, c->open ? "on" : "off", c->suffix,
                       c->open ? "of other tools" : "cannot be read");
    }
    size_t bytes;
    bool page = rs_page(&bytes) != NULL;
    printf("  %-8s  %-3s  %s\n", "page", page ? "on" : "off",
           page ? "the timeline in a browser" : "no timeline in a browser: built without Node");
}

static const struct rs_command *find(const char *name)
{
    for (size_t i = 0; i < RS_NCOMMANDS; i++)
        if (strcmp(rs_commands[i]->name, name) == 0) return rs_commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    struct rs_suggest s = {.typed = name};
    for (size_t i = 0; i < RS_NCOMMANDS; i++) rs_suggest_offer(&s, rs_commands[i]->name);
    fprintf(stderr, "ringscope: unknown command '%s'", name);
    if (s.best != NULL) fprintf(stderr, "; did you mean '%s'?", s.best);
    fprintf(stderr, "\nsee: ringscope --help\n");
    return RS_EXIT_USAGE;
}

static int help_on(const char *name)
{
    const struct rs_command *cmd = find(name);
    if (cmd == NULL) return unknown(name);
    char command[64], option[] = "--help";
    snprintf(command, sizeof(command), "%s", name);
    char *argv[] = {command, option, NULL};
    return cmd->run(cmd, 2, argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return RS_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0 || strcmp(word, "-v") == 0 ||
        strcmp(word, "-V") == 0) {
        print_version();
        return RS_EXIT_FINE;
    }
    if (strcmp(word, "--list-cmds") == 0) {
        for (size_t i = 0; i < RS_NCOMMANDS; i++) printf("%s\n", rs_commands[i]->name);
        return RS_EXIT_FINE;
    }
    if (strcmp(word, "--complete") == 0) {
        for (size_t i = 0; i < RS_NCOMMANDS; i++) printf("%s\t%s\n", rs_commands[i]->name, rs_commands[i]->summary);
        printf("help\tdescribe a command\nversion\tversion and optional parts\n");
        return RS_EXIT_FINE;
    }
    if (strcmp(word, "--man-cmds") == 0) {
        print_man();
        return RS_EXIT_FINE;
    }
    if (strcmp(word, "help") == 0 && argc > 2) return help_on(argv[2]);
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_usage(stdout);
        return RS_EXIT_FINE;
    }
    const struct rs_command *cmd = find(word);
    return cmd == NULL ? unknown(word) : cmd->run(cmd, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
#ifdef M_MMAP_THRESHOLD
    /* The library raises this limit with every large block that is freed, and columns that grow then leave holes in the
     * heap as large as themselves: 30 MB in 200. */
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
    rs_output_begin();
    return rs_output_end(dispatch(argc, argv));
}
