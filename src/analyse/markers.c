#include "analyse/markers.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"

static int by_time(const void *a, const void *b)
{
    const struct rs_window *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The steps of all, with the rank's own marks first. */
static uint32_t take_all(struct rs_window *windows, const struct rs_steps *steps, const struct rs_model *m,
                         uint32_t proc)
{
    bool led = m->procs[proc].same != RS_NONE; /* a recording has its other steps */
    uint32_t n = 0, own = 0;
    for (uint32_t i = 0; i < steps->n; i++)
        own += steps->rows[i].mark != RS_NONE &&
               rs_step_mark_of(&steps->marks, steps->rows[i].again, steps->rows[i].mark, proc);
    for (uint32_t i = 0; i < steps->n; i++) {
        const struct rs_step *x = &steps->rows[i];
        struct rs_window w = {x->begin, x->end, rs_time_minus(x->end, x->begin), x->mark != RS_NONE};
        if (w.marked && own) {
            const struct rs_step_mark *mark = rs_step_mark_of(&steps->marks, x->again, x->mark, proc);
            if (mark)
                w = (struct rs_window){mark->from, mark->to, rs_time_minus(mark->to, mark->from), true};
            else if (led)
                w.marked = false;
            else
                continue;
        }
        windows[n++] = w;
    }
    return n;
}

/* Marks are kept, other steps are shortened. */
static void separate(struct rs_window *windows, uint32_t n)
{
    if (n) qsort(windows, n, sizeof *windows, by_time);
    for (uint32_t i = 0; i + 1 < n; i++) {
        struct rs_window *x = &windows[i], *next = &windows[i + 1];
        if (x->to <= next->from) continue;
        if (x->marked && !next->marked)
            next->from = x->to < next->to ? x->to : (next->to = x->to);
        else
            x->to = next->from;
    }
}

void rs_markers_find(struct rs_markers *s, const struct rs_model *m, const struct rs_rank_track *track,
                     const struct rs_steps *steps, const struct rs_filter *filter)
{
    *s = (struct rs_markers){.windows = rs_alloc(((size_t)steps->n + 1) * sizeof *s->windows)};
    uint32_t n = take_all(s->windows, steps, m, track->proc);
    separate(s->windows, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_window x = s->windows[i];
        if ((filter->has_from && x.from < filter->from) || (filter->has_to && x.to > filter->to))
            continue; /* complete steps */
        s->windows[s->n++] = x;
        s->marked += x.marked;
    }
}

void rs_markers_free(struct rs_markers *s)
{
    free(s->windows);
    *s = (struct rs_markers){0};
}

uint32_t rs_markers_of(const struct rs_markers *s, int64_t ns)
{
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, s->windows[mid].to <= ns);
    if (low == s->n || s->windows[low].from > ns) return RS_NONE;
    return !s->marked || s->windows[low].marked ? low : RS_NONE;
}

int64_t rs_markers_ns(const struct rs_markers *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->marked || s->windows[i].marked) sum += (uint64_t)rs_time_minus(s->windows[i].to, s->windows[i].from);
    return (int64_t)sum;
}
