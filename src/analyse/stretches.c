#include "analyse/stretches.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/launches.h"
#include "base/memory.h"

/* Keeps the longest. */
static void add(struct rs_stretches *s, const struct rs_stretch *x)
{
    uint32_t at = s->n;
    s->all++;
    while (at && s->rows[at - 1].idle_ns < x->idle_ns) at--;
    if (at == RS_STRETCHES) return;
    uint32_t moved = s->n < RS_STRETCHES ? s->n++ : RS_STRETCHES - 1;
    memmove(s->rows + at + 1, s->rows + at, (moved - at) * sizeof *s->rows);
    s->rows[at] = *x;
}

static void close_run(struct rs_stretches *s, struct rs_stretch *run)
{
    int64_t length = rs_time_minus(run->to, run->from);
    if (run->kernels >= RS_STRETCH_KERNELS && run->idle_ns >= length / 3) add(s, run);
    *run = (struct rs_stretch){.launch_bound = true};
}

static void find(struct rs_stretches *s, const struct rs_activities *a, const struct rs_rank_track *track,
                 const struct rs_filter *filter)
{
    struct rs_stretch run = {.launch_bound = true};
    int64_t busy_until = RS_TIME_NONE;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (!rs_activity_is_work(a->kind[x]) || !rs_filter_time(filter, a->start[x])) continue;
        int64_t from = busy_until;
        enum rs_gap_kind gap = from == RS_TIME_NONE ? RS_GAP_NONE : rs_gap_before(a, x, from);
        if (gap == RS_GAP_HOST || gap == RS_GAP_OTHER) close_run(s, &run);
        if (gap == RS_GAP_HOST)
            add(s, &(struct rs_stretch){.from = from, .to = a->start[x], .idle_ns = rs_time_minus(a->start[x], from)});
        if (gap == RS_GAP_LAUNCH) run.idle_ns = rs_time_plus(run.idle_ns, rs_time_minus(a->start[x], from));
        if (!run.kernels++) run.from = a->start[x];
        if (a->end[x] > busy_until) busy_until = a->end[x];
        run.to = busy_until;
        if (rs_time_minus(a->end[x], a->start[x]) > RS_LAUNCH_GAP_NS) close_run(s, &run); /* the host gets ahead */
    }
    close_run(s, &run);
}

/* What the host did in each stretch: one pass over its activities. */
static void find_names(struct rs_stretches *s, const struct rs_activities *a, const struct rs_rank_track *track)
{
    int64_t length[RS_STRETCHES];
    for (uint32_t k = 0; k < s->n; k++) length[k] = INT64_MAX;
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        if (a->kind[x] == RS_ACT_STEP) continue;
        for (uint32_t k = 0; k < s->n; k++) {
            const struct rs_stretch *y = &s->rows[k];
            int64_t from = a->start[x] > y->from ? a->start[x] : y->from, to = a->end[x] < y->to ? a->end[x] : y->to;
            int64_t ns = rs_time_minus(a->end[x], a->start[x]);
            if (to <= from || rs_time_minus(to, from) < rs_time_minus(y->to, y->from) / 2 || ns >= length[k]) continue;
            length[k] = ns;
            s->rows[k].name = a->name[x];
        }
    }
}

void rs_stretches_find(struct rs_stretches *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                       const struct rs_filter *filter)
{
    const struct rs_activities *a = &t->view->model->activities;
    *s = (struct rs_stretches){.rows = rs_alloc((RS_STRETCHES + 1) * sizeof *s->rows)};
    find(s, a, track, filter);
    find_names(s, a, track);
}

void rs_stretches_free(struct rs_stretches *s)
{
    free(s->rows);
    *s = (struct rs_stretches){0};
}
