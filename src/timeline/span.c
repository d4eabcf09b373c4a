#include "timeline/span.h"

#include <stdlib.h>

#include "base/memory.h"

void rs_span_find(struct rs_timeline *t)
{
    int64_t begin = rs_model_begin(t->model), end = rs_model_end(t->model);
    t->begin = begin == RS_TIME_NONE ? 0 : begin;
    t->span = end == RS_TIME_NONE || end <= t->begin ? 1 : rs_time_minus(end, t->begin);
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
    /* A dump does not record when it was made: what it calls pending in a job that hangs was so until the end. */
    if (t->opening.verdict && rs_tool_has(p->tool, RS_CAP_DUMP)) return end;
    return heard == RS_TIME_NONE || heard > end || heard < t->begin ? end : heard;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Its end; if a rank only has bounds, the latest of these. */
static int64_t latest_end(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *ops = &m->ops;
    int64_t end = ops->end[op] != RS_TIME_NONE ? ops->end[op] : ops->last[op];
    for (uint32_t i = 0; i < ops->nparts[op]; i++) {
        uint32_t part = m->order[ops->part[op] + i];
        if (m->parts.end[part] != RS_TIME_NONE) continue;
        const int64_t bounds[] = {m->parts.after[part], m->parts.before[part]};
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
            if (bounds[k] != RS_TIME_NONE && bounds[k] > end) end = bounds[k];
    }
    return end;
}

void rs_span_focus(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    int64_t *begins = rs_alloc(2 * ((size_t)t->nops + 1) * sizeof *begins), *ends = begins + t->nops + 1, start, dur;
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
        /* The middle nine tenths, and what is no further from it than it is long: excludes warm-up long before. */
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
}
