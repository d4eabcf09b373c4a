#include "analyse/view.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/totals.h"

/* ---- operations ---- */

int64_t rs_op_moment(const struct rs_model *m, uint32_t op)
{
    int64_t t = m->ops.last[op] != RS_TIME_NONE ? m->ops.last[op] : m->ops.first[op];
    for (uint32_t i = 0; t == RS_TIME_NONE && i < m->ops.nparts[op]; i++)
        t = m->parts.enqueued[m->order[m->ops.part[op] + i]];
    return t;
}

int64_t rs_op_over(const struct rs_model *m, uint32_t op)
{
    int64_t t = rs_op_moment(m, op);
    return m->ops.end[op] != RS_TIME_NONE && m->ops.end[op] > t ? m->ops.end[op] : t;
}

struct timed {
    int64_t at;
    uint32_t op;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void sort_ops(struct rs_view *v, const struct rs_filter *filter)
{
    const struct rs_model *m = v->model;
    const struct rs_ops *ops = &m->ops;
    struct timed *list = rs_alloc((ops->n + 1) * sizeof *list);
    v->ops = rs_alloc((ops->n + 1) * sizeof *v->ops);
    v->passes = rs_zalloc(ops->n + 1, sizeof *v->passes);
    bool sorted = true;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < ops->n; i++) {
        if (!rs_op_counts(m, i)) continue;
        list[v->nops] = (struct timed){rs_op_moment(m, i), i};
        if (v->nops && list[v->nops].at < list[v->nops - 1].at) sorted = false;
        v->nops++;
        v->passes[i] = rs_filter_op(filter, m, i);
        if (ops->nparts[i] > largest) largest = ops->nparts[i];
    }
    if (!sorted) qsort(list, v->nops, sizeof *list, by_time);
    for (uint32_t i = 0; i < v->nops; i++) v->ops[i] = list[i].op;
    v->arrivals = rs_alloc((largest + 1) * sizeof *v->arrivals);
    free(list);
}

void rs_view_init(struct rs_view *v, const struct rs_model *m, const struct rs_filter *filter)
{
    *v = (struct rs_view){.model = m};
    sort_ops(v, filter);
}

void rs_view_free(struct rs_view *v)
{
    free(v->ops);
    free(v->passes);
    free(v->arrivals);
    *v = (struct rs_view){0};
}

/* ---- arrivals ---- */

void rs_view_arrivals(struct rs_view *v, uint32_t op)
{
    const struct rs_model *m = v->model;
    const struct rs_parts *p = &m->parts;
    v->narrivals = 0;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], member = p->member[part];
        struct rs_arrival *a = v->narrivals ? &v->arrivals[v->narrivals - 1] : NULL;
        if (m->ops.kind[op] == RS_OP_FANOUT && (p->flags[part] & RS_PART_SELF))
            continue; /* NCCL does not time sends to itself */
        if (m->members[member].rank_id == RS_NONE) continue;
        if (!a || a->member != member || m->ops.kind[op] != RS_OP_FANOUT) {
            v->arrivals[v->narrivals++] = (struct rs_arrival){.rank_id = m->members[member].rank_id,
                                                              .member = member,
                                                              .part = part,
                                                              .start = p->start[part],
                                                              .end = p->end[part]};
            continue;
        }
        if (p->start[part] != RS_TIME_NONE && (a->start == RS_TIME_NONE || rs_start_is_better(m, part, a->part))) {
            a->start = p->start[part];
            a->part = part;
        }
        if (p->end[part] == RS_TIME_NONE || (a->end != RS_TIME_NONE && p->end[part] > a->end)) a->end = p->end[part];
    }
}

bool rs_view_compare(struct rs_view *v, uint32_t op)
{
    const struct rs_model *m = v->model;
    v->narrivals = 0;
    if (!rs_op_is_compared(m, op)) return false;
    rs_view_arrivals(v, op);
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        if (!rs_time_is_span(a->start, a->end)) v->arrivals[i].end = RS_TIME_NONE;
    }
    return v->narrivals >= 2;
}
