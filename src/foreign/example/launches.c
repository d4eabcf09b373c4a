#include "foreign/example/launches.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "model/model.h"

uint32_t rs_example_outermost(const struct rs_example *d, uint32_t event)
{
    while (d->events[event].parent != RS_NONE) event = d->events[event].parent;
    return event;
}

static int by_time(const void *a, const void *b)
{
    const struct rs_example_launch *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int compare_owner(const struct rs_example_launch *x, const struct rs_example_launch *y)
{
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_owner(const void *a, const void *b)
{
    int order = compare_owner(a, b);
    return order ? order : by_time(a, b);
}

enum rs_status rs_example_launches_find(struct rs_example_launches *x, const struct rs_example *d, struct rs_err *err)
{
    *x = (struct rs_example_launches){.rows = malloc(((size_t)d->counts[RS_EX_LAUNCH] + 1) * sizeof *x->rows)};
    if (!x->rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->kind != RS_EX_LAUNCH || (e->begin == RS_TIME_NONE && e->end == RS_TIME_NONE)) continue;
        x->rows[x->n++] = (struct rs_example_launch){.comm = e->comm,
                                                     .rank = e->who == RS_EX_WHO_NONE ? -1 : e->rank,
                                                     .group = rs_example_outermost(d, i),
                                                     .event = i,
                                                     .begin = e->begin,
                                                     .end = e->end != RS_TIME_NONE ? e->end : e->begin};
    }
    if (!x->n) return RS_OK;
    /* One thread makes the launches of a group, one after the other, after the group's call began. */
    qsort(x->rows, x->n, sizeof *x->rows, by_time);
    for (uint32_t i = 0; i < x->n; i++) {
        struct rs_example_launch *l = &x->rows[i];
        bool again = i && x->rows[i - 1].group == l->group;
        int64_t before = again ? x->rows[i - 1].end : l->group != l->event ? d->events[l->group].begin : RS_TIME_NONE;
        l->low = l->begin != RS_TIME_NONE ? l->begin : before;
    }
    qsort(x->rows, x->n, sizeof *x->rows, by_owner);
    return RS_OK;
}

void rs_example_launches_free(struct rs_example_launches *x)
{
    free(x->rows);
    *x = (struct rs_example_launches){0};
}

const struct rs_example_launch *rs_example_launch_of(const struct rs_example_launches *x, const struct rs_example *d,
                                                     uint32_t event)
{
    const struct rs_example_event *e = &d->events[event];
    struct rs_example_launch key = {.comm = e->comm,
                                    .rank = e->rank,
                                    .group = rs_example_outermost(d, event),
                                    .end = e->begin == RS_TIME_NONE ? INT64_MAX : e->begin,
                                    .event = RS_NONE};
    if (e->rank < 0 || e->who == RS_EX_WHO_NONE) return NULL;
    uint32_t low = 0, high = x->n;
    RS_BISECT(low, high, mid, by_owner(&x->rows[mid], &key) <= 0); /* the first behind the operation's begin */
    if (low && !compare_owner(&x->rows[low - 1], &key)) return &x->rows[low - 1];
    return low < x->n && !compare_owner(&x->rows[low], &key) ? &x->rows[low] : NULL;
}
