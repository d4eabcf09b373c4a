#include "analyse/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/room.h"
#include "model/model.h"

struct rs_sweep_point {
    int64_t at;
    int32_t step; /* +1: a span begins, -1: it ends */
    uint32_t class;
};

void rs_sweep_add(struct rs_sweep *s, int64_t start, int64_t end, unsigned class)
{
    if (end == start || !rs_time_is_span(start, end)) return;
    for (int k = 0; k < 2; k++) {
        RS_ROOM(s->points, s->n, s->cap);
        s->points[s->n] = (struct rs_sweep_point){.at = k ? end : start, .step = k ? -1 : 1, .class = class};
        s->n++;
    }
    if (s->n == 2 || start < s->from) s->from = start;
    if (s->n == 2 || end > s->to) s->to = end;
}

static int by_time(const void *a, const void *b)
{
    const struct rs_sweep_point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at; /* the order at one time does not matter: no time passes in between */
}

void rs_sweep_run(struct rs_sweep *s, int64_t ns[RS_SWEEP_SETS])
{
    int64_t open[RS_SWEEP_CLASSES] = {0};
    unsigned set = 0;
    memset(ns, 0, RS_SWEEP_SETS * sizeof *ns);
    if (s->n) qsort(s->points, s->n, sizeof *s->points, by_time);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rs_sweep_point *p = &s->points[i];
        if (i) ns[set] = rs_time_plus(ns[set], rs_time_minus(p->at, s->points[i - 1].at));
        open[p->class] += p->step;
        set = open[p->class] > 0 ? set | 1u << p->class : set & ~(1u << p->class);
    }
}

int64_t rs_sweep_sum(const int64_t ns[RS_SWEEP_SETS], unsigned any, unsigned without)
{
    uint64_t sum = 0;
    for (unsigned set = 0; set < RS_SWEEP_SETS; set++)
        if ((set & any) && !(set & without)) sum += (uint64_t)ns[set];
    return (int64_t)sum;
}

void rs_sweep_clear(struct rs_sweep *s)
{
    s->n = 0;
}

void rs_sweep_free(struct rs_sweep *s)
{
    free(s->points);
    *s = (struct rs_sweep){0};
}

/* ---- unions ---- */

struct rs_union_span {
    int64_t from, to;
    int64_t before; /* total length of all earlier ones */
};

void rs_union_add(struct rs_union *u, int64_t start, int64_t end)
{
    if (end == start || !rs_time_is_span(start, end)) return;
    struct rs_union_span *last = u->n ? &u->spans[u->n - 1] : NULL;
    if (last && start <= last->to) {
        if (end > last->to) last->to = end;
        return;
    }
    int64_t before = last ? rs_time_plus(last->before, rs_time_minus(last->to, last->from)) : 0;
    RS_ROOM(u->spans, u->n, u->cap);
    u->spans[u->n++] = (struct rs_union_span){start, end, before};
}

/* The covered length up to `at`. */
static int64_t covered(const struct rs_union *u, int64_t at)
{
    uint32_t low = 0, high = u->n;
    RS_BISECT(low, high, mid, u->spans[mid].from < at);
    if (!low) return 0;
    const struct rs_union_span *s = &u->spans[low - 1];
    return rs_time_plus(s->before, rs_time_minus(at < s->to ? at : s->to, s->from));
}

int64_t rs_union_within(const struct rs_union *u, int64_t from, int64_t to)
{
    return to > from ? rs_time_minus(covered(u, to), covered(u, from)) : 0;
}

void rs_union_free(struct rs_union *u)
{
    free(u->spans);
    *u = (struct rs_union){0};
}

/* ---- rounding ---- */

int64_t rs_grain_down(int64_t ns, int64_t grain)
{
    int64_t rest = ns % grain;
    if (rest < 0) rest += grain;
    return rs_time_minus(ns, rest);
}

int64_t rs_grain_up(int64_t ns, int64_t grain)
{
    int64_t rest = ns % grain;
    if (rest > 0) rest -= grain;
    return rs_time_minus(ns, rest);
}
