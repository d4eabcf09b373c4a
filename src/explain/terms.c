#include "explain/terms.h"

#include <ctype.h>
#include <string.h>

static const struct rs_term_table *const tables[] = {
    &rs_terms_words,  &rs_terms_nccl,      &rs_terms_example, &rs_terms_kineto,  &rs_terms_nsys,
    &rs_terms_flight, &rs_terms_inspector, &rs_terms_comma,   &rs_terms_ncclsee, &rs_terms_nvprof,
    &rs_terms_tests,  &rs_terms_json,      &rs_terms_export,
};

const struct rs_term_table *rs_term_table(size_t index)
{
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}

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
