#include "join/ends.h"

#include <stdlib.h>

#include "base/memory.h"

/* The next launches of a member, going back in time: the two nearest whose start is known. Two, because parts of one
 * launch do not follow each other. */
struct next {
    int64_t start[2];
    uint64_t launch[2];
};

static int64_t earliest_sure(const struct rs_parts *t, uint32_t i)
{
    if (t->after[i] != RS_TIME_NONE) return t->after[i];
    if (t->start[i] != RS_TIME_NONE) return t->start[i];
    return t->launched[i] != RS_TIME_NONE ? t->launched[i] : t->enqueued[i];
}

static int64_t latest_possible(const struct rs_model *m, uint32_t i, const struct next *next)
{
    const struct rs_parts *t = &m->parts;
    const struct rs_member *x = &m->members[t->member[i]];
    const struct rs_proc *p = &m->procs[x->proc];
    int64_t from = t->start[i] != RS_TIME_NONE ? t->start[i] : earliest_sure(t, i);
    for (int k = 0; k < 2; k++) {
        if (next->start[k] == RS_TIME_NONE || (t->launch[i] && next->launch[k] == t->launch[i])) continue;
        if (next->start[k] > from) return next->start[k];
    }
    if (x->destroyed != RS_TIME_NONE) return x->destroyed;
    return p->ended == RS_END_WELL ? p->end : RS_TIME_NONE;
}

void rs_ends_bound(struct rs_model *m)
{
    struct rs_parts *t = &m->parts;
    struct next *next = rs_alloc(((size_t)m->nmembers + 1) * sizeof *next);
    for (uint32_t i = 0; i < m->nmembers; i++) next[i] = (struct next){{RS_TIME_NONE, RS_TIME_NONE}, {0, 0}};
    for (uint32_t i = t->n; i-- > 0;) {
        if (t->member[i] == RS_NONE) continue;
        struct next *x = &next[t->member[i]];
        if (t->end[i] != RS_TIME_NONE && !rs_part_has_ended(m, i)) { /* reported too early: a lower bound */
            int64_t before = latest_possible(m, i, x);
            t->before[i] = before < t->end[i] ? RS_TIME_NONE : before;
        }
        if (t->end[i] == RS_TIME_NONE) {
            int64_t before = latest_possible(m, i, x), known = t->before[i];
            t->after[i] = earliest_sure(t, i);
            /* The importer's bound may be tighter. A bound before the earliest end is invalid. */
            bool holds = known != RS_TIME_NONE && known >= t->after[i];
            if (holds && (before == RS_TIME_NONE || before < t->after[i] || known < before)) before = known;
            t->before[i] = before < t->after[i] ? RS_TIME_NONE : before;
        }
        if (t->start[i] == RS_TIME_NONE) continue;
        if (!t->launch[i] || t->launch[i] != x->launch[0]) {
            x->start[1] = x->start[0];
            x->launch[1] = x->launch[0];
            x->start[0] = t->start[i];
            x->launch[0] = t->launch[i];
        } else if (t->start[i] < x->start[0]) {
            x->start[0] = t->start[i];
        }
    }
    free(next);
}
