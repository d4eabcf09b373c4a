#include "timeline/span.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define MOST_NS (INT64_C(1) << 52) /* 52 days: doubles hold it to the ns */

/* What is believed, and what was found of it. */
struct hull {
    int64_t low, high;
    int64_t first, last; /* RS_TIME_NONE: nothing yet */
};

static void take(struct hull *h, int64_t at)
{
    if (at == RS_TIME_NONE || at < h->low || at > h->high) return;
    if (h->first == RS_TIME_NONE || at < h->first) h->first = at;
    if (h->last == RS_TIME_NONE || at > h->last) h->last = at;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN + 1 : INT64_MAX;
    return sum;
}

static void take_all(struct hull *h, const struct rs_model *m)
{
    const struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        const int64_t times[] = {p->start[i], p->end[i],      p->launched[i],
                                 p->after[i], p->enqueued[i], p->end[i] == RS_TIME_NONE ? p->before[i] : RS_TIME_NONE};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) take(h, times[k]);
    }
    for (uint32_t i = 0; i < m->activities.n; i++) {
        take(h, m->activities.start[i]);
        take(h, m->activities.end[i]);
    }
    for (uint32_t i = 0; i < m->nprocs; i++) {
        take(h, m->procs[i].first);
        take(h, m->procs[i].last);
        if (m->procs[i].end > m->procs[i].last) take(h, m->procs[i].end);
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        take(h, m->members[i].created);
        take(h, m->members[i].destroyed);
    }
}

void rs_span_find(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    int64_t begin = rs_model_begin(m), end = rs_model_end(m);
    struct hull h = {INT64_MIN + 1, INT64_MAX, RS_TIME_NONE, RS_TIME_NONE};
    if (begin != RS_TIME_NONE) {
        int64_t most = plus(begin, MOST_NS);
        for (uint32_t i = 0; i < m->nprocs; i++)
            if (m->procs[i].end > end && m->procs[i].end < most) end = m->procs[i].end;
        /* Clocks err, and a GPU may work on behind the last callback; by how much, only this much is believed. */
        h.low = plus(begin, -SECOND);
        h.high = plus(end < most ? end : most, 60 * SECOND);
    }
    take_all(&h, m);
    t->begin = begin != RS_TIME_NONE && (h.first == RS_TIME_NONE || begin < h.first) ? begin : h.first;
    if (t->begin == RS_TIME_NONE) t->begin = 0;
    int64_t latest = plus(t->begin, MOST_NS);
    if (h.last == RS_TIME_NONE || h.last < t->begin) h.last = t->begin;
    t->span = rs_time_minus(h.last < latest ? h.last : latest, t->begin);
    if (t->span < 1) t->span = 1;
}

bool rs_span_place(const struct rs_timeline *t, int64_t from, int64_t to, int64_t *start, int64_t *dur)
{
    int64_t end = t->begin + t->span;
    if (from == RS_TIME_NONE || to < from || from > end || to < t->begin) return false;
    if (from < t->begin) from = t->begin;
    if (to > end) to = end;
    *start = from - t->begin;
    *dur = to - from;
    return true;
}

bool rs_span_asked(const struct rs_timeline *t, int64_t from, int64_t to)
{
    const struct rs_filter *f = t->options.filter;
    return !f || ((!f->has_from || to >= f->from) && (!f->has_to || from < f->to));
}

int64_t rs_proc_heard(const struct rs_timeline *t, uint32_t proc)
{
    const struct rs_proc *p = &t->model->procs[proc];
    int64_t heard = p->end > p->last ? p->end : p->last, end = t->begin + t->span;
    return heard == RS_TIME_NONE || heard > end || heard < t->begin ? end : heard;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Its end; where one of its ranks only has bounds, the latest of these. */
static int64_t latest_end(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *ops = &m->ops;
    int64_t end = ops->end[op] != RS_TIME_NONE ? ops->end[op] : ops->last[op];
    for (uint32_t i = 0; i < ops->nparts[op]; i++) {
        uint32_t part = m->order[ops->part[op] + i];
        if (rs_part_has_ended(m, part)) continue;
        const int64_t bounds[] = {m->parts.after[part], m->parts.before[part]};
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
            if (bounds[k] != RS_TIME_NONE && bounds[k] > end) end = bounds[k];
    }
    return end;
}

enum rs_status rs_span_focus(struct rs_timeline *t, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    int64_t *begins = malloc(2 * ((size_t)t->nops + 1) * sizeof *begins), *ends = begins + t->nops + 1, start, dur;
    if (!begins) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nops; i++) {
        uint32_t op = t->ops[i];
        int64_t begin = rs_op_begin(m, op), end = latest_end(m, op);
        if (!rs_span_place(t, begin, end < begin ? begin : end, &start, &dur)) continue;
        begins[n] = start;
        ends[n++] = start + dur;
    }
    t->focus_from = 0;
    t->focus_to = t->span;
    if (n) {
        qsort(begins, n, sizeof *begins, by_time);
        qsort(ends, n, sizeof *ends, by_time);
        /* The middle nine tenths, and what lies no further from it than it is long: warm-up far ahead is left out. */
        uint32_t few = n / 20;
        int64_t from = begins[few], to = ends[n - 1 - few], room = to > from ? to - from : 0;
        for (uint32_t i = 0; i < few && begins[i] < from; i++)
            if (begins[i] >= from - room) {
                from = begins[i];
                break;
            }
        for (uint32_t i = n; i-- > n - few;)
            if (ends[i] <= to + room) {
                if (ends[i] > to) to = ends[i];
                break;
            }
        int64_t margin = (to - from) / 50;
        t->focus_from = from > margin ? from - margin : 0;
        t->focus_to = to < t->span - margin ? to + margin : t->span;
        if (t->focus_to <= t->focus_from) t->focus_to = t->focus_from + 1 <= t->span ? t->focus_from + 1 : t->span;
    }
    free(begins);
    return RS_OK;
}
