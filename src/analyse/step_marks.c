#include "analyse/step_marks.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/room.h"

static int by_time(const void *a, const void *b)
{
    const struct rs_step_mark *x = a, *y = b;
    if (x->proc != y->proc) return x->proc < y->proc ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int by_step(const void *a, const void *b)
{
    const struct rs_step_mark *x = a, *y = b;
    if (x->again != y->again) return x->again < y->again ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->proc < y->proc ? -1 : x->proc > y->proc;
}

enum rs_status rs_step_marks_find(struct rs_step_marks *s, const struct rs_model *m, struct rs_err *err)
{
    const struct rs_activities *a = &m->activities;
    *s = (struct rs_step_marks){0};
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->kind[i] != RS_ACT_STEP || a->lane[i] >= m->nlanes || a->end[i] <= a->start[i]) continue;
        struct rs_step_mark x = {.from = a->start[i], .to = a->end[i], .proc = m->lanes[a->lane[i]].proc};
        x.number = rs_step_number(rs_model_name_text(m, a->name[i]));
        if (x.number == RS_NONE) continue;
        RS_ROOM(s->rows, s->n, s->cap, err);
        s->rows[s->n++] = x;
    }
    if (!s->n) return RS_OK;
    qsort(s->rows, s->n, sizeof *s->rows, by_time);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_step_mark x = s->rows[i], *last = kept ? &s->rows[kept - 1] : NULL;
        bool same = last && last->proc == x.proc && last->number == x.number;
        if (same && x.from < last->to) continue; /* another thread's */
        if (same) x.again = last->again + 1;
        s->rows[kept++] = x;
    }
    s->n = kept;
    qsort(s->rows, s->n, sizeof *s->rows, by_step);
    return RS_OK;
}

const struct rs_step_mark *rs_step_mark_of(const struct rs_step_marks *s, uint32_t again, uint32_t number,
                                           uint32_t proc)
{
    const struct rs_step_mark wanted = {.again = again, .number = number, .proc = proc};
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, by_step(&s->rows[mid], &wanted) < 0);
    return low < s->n && !by_step(&s->rows[low], &wanted) ? &s->rows[low] : NULL;
}

void rs_step_marks_free(struct rs_step_marks *s)
{
    free(s->rows);
    *s = (struct rs_step_marks){0};
}
