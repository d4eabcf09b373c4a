#include "cli/options/values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "explain/terms.h"
#include "export/exporter.h"
#include "format/settings.h"
#include "timeline/kinds.h"

/* Functions of NCCL are those that `ringscope explain` knows. */
static const char *func_at(size_t index)
{
    for (size_t i = 0; i < rs_terms_nccl.n; i++) {
        const struct rs_term *t = &rs_terms_nccl.terms[i];
        if (!strcmp(t->kind, "value") && isupper((unsigned char)t->name[0]) && !index--) return t->name;
    }
    return NULL;
}

static const char *row_at(size_t index)
{
    return index < RS_ROWS ? rs_row_kinds[index].id : NULL;
}

static const char *format_at(size_t index)
{
    return rs_exporter_at(index) ? rs_exporter_at(index)->name : NULL;
}

static const char *event_set_at(size_t index)
{
    return rs_event_set_at(index) ? rs_event_set_at(index)->name : NULL;
}

static const char *table_at(size_t index)
{
    const struct rs_exporter *csv = rs_exporter_find("csv");
    return csv && csv->tables ? csv->tables[index] : NULL; /* asked for one after the other */
}

/* Lists of other modules, by the option and how its argument is called. All other values are in the argument: "ops|net". */
static const struct {
    const char *name, *arg;
    const char *(*at)(size_t index);
} lists[] = {{"func", "NAME", func_at},
             {"rows", "LIST", row_at},
             {"format", "FORMAT", format_at},
             {"events", "SET|MASK", event_set_at},
             {"table", "NAME", table_at}};

static bool print_list(const struct rs_opt *o)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(o->name, lists[i].name) != 0 || !o->arg || strcmp(o->arg, lists[i].arg) != 0) continue;
        for (size_t k = 0; lists[i].at(k); k++) printf("%s%s", k ? " " : "", lists[i].at(k));
        return true;
    }
    return false;
}

/* The words of "ops|net|all", and of "N|all" the last: capitals are for the user to fill in. */
static void print_words(const struct rs_opt *o)
{
    size_t any = 0;
    for (const char *word = o->arg; word && *word;) {
        size_t n = strcspn(word, "|");
        bool plain = islower((unsigned char)*word) && strcspn(word, "=@:.") >= n;
        if (plain) printf("%s%.*s", any++ ? " " : "", (int)n, word);
        word += n + (word[n] == '|');
    }
    if (!any) printf("-");
}

void rs_values_print(const struct rs_opt *opts)
{
    for (const struct rs_opt *o = opts; o->kind != RS_OPT_END; o++) {
        bool flag = o->kind == RS_OPT_FLAG;
        printf("--%s\t%s%c\t%s\t", o->name, o->letter ? "-" : "", o->letter ? o->letter : '-',
               flag     ? "-"
               : o->arg ? o->arg
                        : "VALUE");
        if (flag)
            printf("-");
        else if (!print_list(o))
            print_words(o);
        printf("\t%s\n", o->help);
    }
    printf("--help\t-h\t-\t-\tthis text\n");
}
