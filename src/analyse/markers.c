#include "analyse/markers.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/room.h"

static enum rs_status add(struct rs_markers *s, int64_t from, int64_t to, const struct rs_filter *filter,
                          struct rs_err *err)
{
    if (to <= from || rs_time_minus(to, from) <= 0) return RS_OK;
    if ((filter->has_from && from < filter->from) || (filter->has_to && to > filter->to)) return RS_OK; /* whole ones */
    if (s->n && from < s->windows[s->n - 1].to) return RS_OK; /* another thread's mark of the same step */
    RS_ROOM(s->windows, s->n, s->cap, err);
    s->windows[s->n++] = (struct rs_window){from, to};
    return RS_OK;
}

enum rs_status rs_markers_find(struct rs_markers *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                               const struct rs_steps *pattern, const struct rs_filter *filter, struct rs_err *err)
{
    const struct rs_activities *a = &t->view->model->activities;
    *s = (struct rs_markers){0};
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        if (a->kind[x] == RS_ACT_STEP) RS_TRY(add(s, a->start[x], a->end[x], filter, err));
    }
    if (s->n) s->source = RS_MARKERS_ANNOTATED;
    for (uint32_t i = 0; !s->source && i < pattern->n; i++)
        RS_TRY(add(s, pattern->at[i], pattern->at[i + 1], filter, err));
    if (s->n && !s->source) s->source = RS_MARKERS_PATTERN;
    return RS_OK;
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
    return low < s->n && s->windows[low].from <= ns ? low : RS_NONE;
}

int64_t rs_markers_ns(const struct rs_markers *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += (uint64_t)rs_time_minus(s->windows[i].to, s->windows[i].from);
    return (int64_t)sum;
}
