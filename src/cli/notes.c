#include "cli/notes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/print/output.h"

enum { MOST_SAID = 6, MOST_GROUPS = 64 }; /* of groups: said, and kept apart */

struct group {
    const char *text; /* of the first */
    size_t path; /* length of the path that it begins with */
    size_t files;
};

struct grouping {
    const char **paths; /* of other tools' files, sorted */
    size_t npaths;
    struct group groups[MOST_GROUPS];
    size_t ngroups, beyond; /* beyond: notes that found no place */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void begin(struct grouping *g, const struct rs_inputs *in)
{
    *g = (struct grouping){.paths = rs_alloc((in->nothers + 1) * sizeof *g->paths)};
    for (size_t i = 0; i < in->nothers; i++) g->paths[g->npaths++] = in->others[i].path;
    if (g->npaths) qsort(g->paths, g->npaths, sizeof *g->paths, by_text);
}

static bool is_path(const struct grouping *g, const char *text, size_t n)
{
    size_t low = 0, high = g->npaths;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(g->paths[mid], text, n);
        if (!order && !g->paths[mid][n]) return true;
        if (order >= 0) /* one that goes on behind the n characters comes behind them */
            high = mid;
        else
            low = mid + 1;
    }
    return false;
}

/* The length of the path that the text begins with; 0: none of the inputs'. */
static size_t path_of(const struct grouping *g, const char *text)
{
    const char *end = text;
    for (int tries = 0; tries < 4 && (end = strstr(end, ": ")); tries++, end++) /* a path may contain one, too */
        if (is_path(g, text, (size_t)(end - text))) return (size_t)(end - text);
    return 0;
}

/* Whether two texts are the same but for their numbers. */
static bool alike(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

static void take(struct grouping *g, const char *text, size_t path)
{
    for (size_t i = 0; i < g->ngroups; i++)
        if (alike(g->groups[i].text + g->groups[i].path, text + path)) {
            g->groups[i].files++;
            return;
        }
    if (g->ngroups < MOST_GROUPS)
        g->groups[g->ngroups++] = (struct group){text, path, 1};
    else
        g->beyond++;
}

static void say_groups(const char *command, const struct grouping *g)
{
    size_t more = g->beyond;
    for (size_t i = 0; i < g->ngroups; i++) {
        const struct group *x = &g->groups[i];
        if (i >= MOST_SAID)
            more += x->files;
        else if (x->files == 1)
            rs_warn(command, "%s", x->text);
        else
            rs_warn(command, "%zu files, the first %s", x->files, x->text);
    }
    if (more) rs_warn(command, "and %zu more notes on files: `ringscope info` says them all", more);
}

void rs_notes_say(const char *command, const struct rs_inputs *in, const struct rs_model *m, bool all)
{
    struct grouping g;
    begin(&g, in);
    bool grouped = !all;
    for (uint32_t i = 0; i < m->nnotes; i++) {
        size_t path = grouped ? path_of(&g, m->notes[i].text) : 0;
        if (path)
            take(&g, m->notes[i].text, path);
        else
            rs_warn(command, "%s", m->notes[i].text);
    }
    if (grouped) say_groups(command, &g);
    free(g.paths);
}

void rs_notes_say_unreadable(const char *command, const struct rs_inputs *in, bool all)
{
    struct grouping g = {0};
    for (size_t i = 0; i < in->nunreadable; i++) {
        const char *why = in->unreadable[i].why;
        size_t path = strlen(in->unreadable[i].path);
        if (!all && !strncmp(why, in->unreadable[i].path, path) && why[path] == ':')
            take(&g, why, path);
        else
            rs_warn(command, "%s", why);
    }
    say_groups(command, &g);
}

void rs_notes_say_damage(const char *command, const struct rs_inputs *in, bool all)
{
    struct grouping g;
    begin(&g, in);
    bool grouped = !all;
    for (size_t i = 0; i < in->nothers; i++) {
        const char *why = in->others[i].why;
        size_t path = grouped && *why ? path_of(&g, why) : 0;
        if (path)
            take(&g, why, path);
        else if (*why)
            rs_warn(command, "%s", why);
    }
    if (grouped) say_groups(command, &g);
    free(g.paths);
}
