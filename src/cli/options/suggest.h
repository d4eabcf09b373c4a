/* "Did you mean": the known name nearest to a mistyped one. Pure functions, any thread. */
#ifndef RS_CLI_SUGGEST_H
#define RS_CLI_SUGGEST_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap neighbours) between two names; names over 63 bytes count as far apart. */
size_t rs_edit_distance(const char *a, const char *b);

/* Remembers the nearest of the names offered to it, one by one. Start with zeroes and the typed word. */
struct rs_suggest {
    const char *typed;
    const char *best; /* NULL: nothing near enough to be worth saying */
    size_t distance;
};

void rs_suggest_offer(struct rs_suggest *s, const char *name);

#endif
