#include "explain/terms.h"

#include <ctype.h>
#include <string.h>

/* The next character that matters; 0 at the end. */
static int next(const char **s)
{
    while (**s && strchr(" _-\"'`:#", **s)) ++*s;
    return **s ? tolower((unsigned char)*(*s)++) : 0;
}

static bool same(const char *a, const char *b)
{
    int x, y;
    do {
        x = next(&a);
        y = next(&b);
    } while (x && x == y);
    return x == y;
}

bool rs_term_is(const struct rs_term *term, const char *typed)
{
    static const char *const beginnings[] = {"ProxyStep", "ProxyOp", "ProxyCtrl"};
    if (same(term->name, typed)) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings && !strcmp(term->kind, "state"); i++) {
        size_t n = strlen(beginnings[i]);
        if (!strncmp(term->name, beginnings[i], n) && same(term->name + n, typed)) return true;
    }
    return false;
}
