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
        struct rs_window w = {.from = x->begin,
                              .to = x->end,
                              .length = rs_time_minus(x->end, x->begin),
                              .marked = x->mark != RS_NONE,
                              .left_out = i < steps->warmup};
        if (w.marked && own) {
            const struct rs_step_mark *mark = rs_step_mark_of(&steps->marks, x->again, x->mark, proc);
            if (!mark && !led) continue;
            w.marked = mark != NULL;
            if (mark) {
                w.from = mark->from;
                w.to = mark->to;
                w.length = rs_time_minus(mark->to, mark->from);
            }
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

/* Without marks: what is inside of the rank's work, as a trace may be of some steps only; but not the first of these,
 * which begins with its first operation, and so without the compute before it. */
static void find_profiled(struct rs_markers *s, const struct rs_model *m, const struct rs_rank_track *track)
{
    const struct rs_activities *a = &m->activities;
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < track->nwork && !s->marked; i++) {
        uint32_t x = track->work[i];
        if (a->start[x] < from) from = a->start[x];
        if (a->end[x] > to) to = a->end[x];
    }
    bool first = !s->warmup;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_window *x = &s->windows[i];
        bool inside = x->from >= from && x->to <= to;
        x->profiled = s->marked ? x->marked : inside && !first;
        first &= !inside;
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
        s->warmup += x.left_out;
        s->warmup_marked += x.left_out && x.marked;
        if (x.left_out) continue;
        s->windows[s->n++] = x;
        s->marked += x.marked;
    }
    find_profiled(s, m, track);
}

void rs_markers_free(struct rs_markers *s)
{
    free(s->windows);
    *s = (struct rs_markers){0};
}

uint32_t rs_markers_profiled(const struct rs_markers *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) n += s->windows[i].profiled;
    return n;
}

uint32_t rs_markers_of(const struct rs_markers *s, int64_t ns)
{
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, s->windows[mid].to <= ns);
    return low < s->n && s->windows[low].from <= ns && s->windows[low].profiled ? low : RS_NONE;
}

int64_t rs_markers_ns(const struct rs_markers *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->windows[i].profiled) sum += (uint64_t)rs_time_minus(s->windows[i].to, s->windows[i].from);
    return (int64_t)sum;
}
