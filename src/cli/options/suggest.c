#include "cli/options/suggest.h"

#include <stdint.h>
#include <string.h>

enum { MAX_NAME = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t rs_edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_NAME || m > MAX_NAME) return SIZE_MAX;
    /* Rows of the classic table: for the prefix of `a` two before, one before, and now. */
    size_t rows[3][MAX_NAME + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t k = 0; k <= m; k++) last[k] = k;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t cost = a[i - 1] == b[k - 1] ? 0 : 1;
            now[k] = least(least(last[k] + 1, now[k - 1] + 1), last[k - 1] + cost);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = least(now[k], before[k - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

void rs_suggest_offer(struct rs_suggest *s, const char *name)
{
    size_t distance = rs_edit_distance(s->typed, name);
    size_t typed = strlen(s->typed);
    /* The start of a longer name is near, however much is left to type. */
    if (typed >= 2 && strncmp(s->typed, name, typed) == 0) distance = 1;
    /* A third of the word may be wrong; with more, the answer would be a guess. */
    if (distance > (typed < 6 ? 2 : typed / 3) || distance >= typed) return;
    if (s->best != NULL && distance >= s->distance) return;
    s->best = name;
    s->distance = distance;
}
