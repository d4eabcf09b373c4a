#include "timeline/flags.h"

#include <stdlib.h>

#include "timeline/index.h"
#include "timeline/span.h"

static int by_time(const void *a, const void *b)
{
    const struct rs_timeline_flag *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->destroyed - y->destroyed;
}

static enum rs_status add(struct rs_timeline *t, uint32_t member, bool destroyed, struct rs_err *err)
{
    const struct rs_member *x = &t->model->members[member];
    int64_t when = destroyed ? x->destroyed : x->created, at, dur;
    const struct rs_filter *f = t->options.filter;
    if (!rs_span_place(t, when, when, &at, &dur) || (f && !rs_filter_time(f, when))) return RS_OK;
    struct rs_timeline_flag *flag = &t->flags[t->nflags];
    *flag = (struct rs_timeline_flag){.at = at, .group = t->group_of_member[member], .destroyed = destroyed};
    uint8_t source = destroyed ? x->destroyed_from : x->created_from;
    RS_TRY(rs_timeline_text(t, &flag->label, err, "%s %s%s", rs_texts_at(&t->texts, t->index->member_text[member]),
                            destroyed ? "destroyed" : "created",
                            source == RS_LIFE_EVENT ? "" : ", or thereabouts: it is not told"));
    t->nflags++;
    return RS_OK;
}

enum rs_status rs_flags_make(struct rs_timeline *t, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    t->flags = malloc((2 * (size_t)m->nmembers + 1) * sizeof *t->flags);
    if (!t->flags) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (t->group_of_member[i] == RS_NONE || t->groups[t->group_of_member[i]].member != i) continue;
        RS_TRY(add(t, i, false, err));
        RS_TRY(add(t, i, true, err));
    }
    qsort(t->flags, t->nflags, sizeof *t->flags, by_time);
    return RS_OK;
}
