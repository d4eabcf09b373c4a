#include "analyse/critical_trail.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/room.h"

enum rs_status rs_trail_add(struct rs_trail *t, const struct rs_span *span, struct rs_err *err)
{
    RS_ROOM(t->spans, t->n, t->cap, err);
    t->spans[t->n] = *span;
    t->spans[t->n++].under = RS_NONE;
    return RS_OK;
}

/* What encloses comes first; the rest of the order only makes it the same each time. */
static int by_start(const void *a, const void *b)
{
    const struct rs_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->latest != y->latest) return x->latest > y->latest ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

struct ended {
    int64_t at;
    uint32_t span;
};

static int by_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->span < y->span ? -1 : x->span > y->span;
}

/* Drops what has ended from a full pile, wherever it lies. */
static uint32_t drop_ended(const struct rs_span *spans, uint32_t *pile, uint32_t n, int64_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (spans[pile[i]].latest > now) pile[kept++] = pile[i];
    return kept;
}

static void find_under(struct rs_trail *t)
{
    uint32_t pile[RS_TRAIL_DEEP], n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t now = t->spans[i].start;
        while (n && t->spans[pile[n - 1]].latest <= now) n--;
        if (n == RS_TRAIL_DEEP) n = drop_ended(t->spans, pile, n, now);
        t->spans[i].under = n ? pile[n - 1] : RS_NONE;
        if (n < RS_TRAIL_DEEP) pile[n++] = i;
    }
}

enum rs_status rs_trail_sort(struct rs_trail *t, struct rs_err *err)
{
    if (!t->n) return RS_OK;
    qsort(t->spans, t->n, sizeof *t->spans, by_start);
    find_under(t);
    struct ended *ends = malloc(t->n * sizeof *ends);
    t->by_end = malloc(t->n * sizeof *t->by_end);
    if (!ends || !t->by_end) {
        free(ends);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < t->n; i++) ends[i] = (struct ended){t->spans[i].latest, i};
    qsort(ends, t->n, sizeof *ends, by_end);
    for (uint32_t i = 0; i < t->n; i++) t->by_end[i] = ends[i].span;
    free(ends);
    return RS_OK;
}

void rs_trail_free(struct rs_trail *t)
{
    free(t->spans);
    free(t->by_end);
    *t = (struct rs_trail){0};
}

uint32_t rs_trail_begun(const struct rs_trail *t, int64_t at)
{
    uint32_t low = 0, high = t->n;
    RS_BISECT(low, high, mid, t->spans[mid].start < at);
    return low ? low - 1 : RS_NONE;
}

uint32_t rs_trail_ended(const struct rs_trail *t, int64_t at)
{
    uint32_t low = 0, high = t->n;
    RS_BISECT(low, high, mid, t->spans[t->by_end[mid]].latest <= at);
    return low;
}
