#ifndef RS_NO_OTF2

#include "export/otf2/spans.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_LOCATIONS = 256, MOST_NESTED = 64 }; /* damaged input may hold millions at once */

/* Spans of one location that are open, the innermost last. */
struct stack {
    uint32_t open[MOST_NESTED];
    uint32_t n;
};

static int by_start(const void *a, const void *b)
{
    const struct rs_otf2_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static int by_depth(const void *a, const void *b)
{
    const struct rs_otf2_span *x = a, *y = b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return by_start(a, b);
}

/* The first location where a span lies behind all, or inside of the innermost that is open. */
static void place(struct rs_otf2_span *spans, uint32_t n, struct stack *stacks, uint32_t *used, uint64_t *too_deep)
{
    for (uint32_t i = 0; i < n; i++) {
        struct rs_otf2_span *s = &spans[i];
        for (s->depth = 0; s->depth < MOST_LOCATIONS; s->depth++) {
            struct stack *k = &stacks[s->depth];
            if (s->depth == *used) k->n = 0, ++*used;
            while (k->n && spans[k->open[k->n - 1]].end <= s->start) k->n--;
            if (k->n && (k->n == MOST_NESTED || spans[k->open[k->n - 1]].end < s->end)) continue;
            k->open[k->n++] = i;
            break;
        }
        if (s->depth == MOST_LOCATIONS) ++*too_deep;
    }
}

static enum rs_status leave(struct rs_otf2 *o, OTF2_EvtWriter *w, const struct rs_otf2_span *s, rs_otf2_put put,
                            void *with, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    RS_TRY(put(o, with, s->token, true, err));
    return rs_otf2_check(a, OTF2_EvtWriter_Leave(w, a->list, rs_otf2_time(o, s->end), s->region), err);
}

static enum rs_status write_location(struct rs_otf2 *o, OTF2_EvtWriter *w, const struct rs_otf2_span *spans, uint32_t n,
                                     rs_otf2_put put, void *with, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    struct stack k = {.n = 0};
    for (uint32_t i = 0; i < n; i++) {
        while (k.n && spans[k.open[k.n - 1]].end <= spans[i].start)
            RS_TRY(leave(o, w, &spans[k.open[--k.n]], put, with, err));
        RS_TRY(put(o, with, spans[i].token, false, err));
        RS_OTF2_TRY(a, OTF2_EvtWriter_Enter(w, a->list, rs_otf2_time(o, spans[i].start), spans[i].region), err);
        k.open[k.n++] = i;
    }
    while (k.n) RS_TRY(leave(o, w, &spans[k.open[--k.n]], put, with, err));
    return RS_OK;
}

enum rs_status rs_otf2_write_spans(struct rs_otf2 *o, struct rs_otf2_span *spans, uint32_t n,
                                   const struct rs_otf2_location *where, rs_otf2_put put, void *with,
                                   struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    struct stack *stacks = malloc(MOST_LOCATIONS * sizeof *stacks);
    uint32_t used = 0;
    if (!stacks) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (n) qsort(spans, n, sizeof *spans, by_start);
    place(spans, n, stacks, &used, &o->plan.counts.too_deep);
    free(stacks);
    if (used > 1) qsort(spans, n, sizeof *spans, by_depth);
    for (uint32_t from = 0, to; from < n && spans[from].depth < MOST_LOCATIONS; from = to) {
        for (to = from + 1; to < n && spans[to].depth == spans[from].depth;) to++;
        struct rs_otf2_location row = *where;
        uint32_t location;
        OTF2_EvtWriter *w;
        if (spans[from].depth) {
            char name[1100];
            snprintf(name, sizeof name, "%.1000s, overlapping %u", rs_texts_at(&a->texts, where->name),
                     (unsigned)spans[from].depth);
            RS_TRY(rs_otf2_text(a, name, &row.name, err));
        }
        RS_TRY(rs_otf2_location(a, &row, &location, err));
        RS_TRY(rs_otf2_begin(a, location, &w, err));
        RS_TRY(write_location(o, w, spans + from, to - from, put, with, err));
        RS_TRY(rs_otf2_end(a, location, w, err));
    }
    return RS_OK;
}

#endif
