#include "analyse/ranges.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/launches.h"
#include "analyse/quantile.h"
#include "base/bisect.h"
#include "base/memory.h"

/* Work by launch time, with the cumulated length: the share of any window is one difference. */
struct worked {
    int64_t at;
    int64_t ns;
};

struct call {
    uint32_t name;
    bool in_step;
    int64_t wall, gpu;
};

static int by_time(const void *a, const void *b)
{
    const struct worked *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_name(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int by_wall(const void *a, const void *b)
{
    const struct rs_range_row *x = a, *y = b;
    if (x->wall_ns != y->wall_ns) return x->wall_ns > y->wall_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static uint32_t take_work(struct worked *w, const struct rs_model *m, const struct rs_rank_track *track)
{
    const struct rs_activities *a = &m->activities;
    uint32_t n = 0;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (rs_activity_is_work(a->kind[x]))
            w[n++] = (struct worked){rs_launch_time(m, x), rs_time_minus(a->end[x], a->start[x])};
    }
    if (n) qsort(w, n, sizeof *w, by_time);
    for (uint32_t i = 1; i < n; i++) w[i].ns = rs_time_plus(w[i].ns, w[i - 1].ns);
    return n;
}

/* All work launched before `at`. */
static int64_t work_before(const struct worked *w, uint32_t n, int64_t at)
{
    uint32_t low = 0, high = n;
    RS_BISECT(low, high, mid, w[mid].at < at);
    return low ? w[low - 1].ns : 0;
}

/* One row: calls of one name; `room` is for n numbers. */
static struct rs_range_row sum_up(const struct call *calls, uint32_t n, bool has_work, int64_t steps_ns, int64_t *room)
{
    struct rs_range_row row = {
        .name = calls[0].name, .calls = n, .gpu_ns = RS_TIME_NONE, .gpu = rs_quantiles_of(NULL, 0), .share = NAN};
    int64_t inside = 0;
    for (uint32_t i = 0; i < n; i++) {
        room[i] = calls[i].wall;
        row.wall_ns = rs_time_plus(row.wall_ns, calls[i].wall);
        if (calls[i].in_step) inside = rs_time_plus(inside, calls[i].wall);
    }
    row.wall = rs_quantiles_of(room, n);
    if (steps_ns > 0 && inside > 0) row.share = (double)inside / (double)steps_ns;
    if (!has_work) return row;
    row.gpu_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        room[i] = calls[i].gpu;
        row.gpu_ns = rs_time_plus(row.gpu_ns, calls[i].gpu);
    }
    row.gpu = rs_quantiles_of(room, n);
    return row;
}

static void make_rows(struct rs_ranges *r, struct call *calls, uint32_t n, bool has_work, int64_t steps_ns)
{
    uint32_t names = 0;
    if (!n) return;
    qsort(calls, n, sizeof *calls, by_name);
    for (uint32_t i = 0; i < n; i++) names += !i || calls[i].name != calls[i - 1].name;
    int64_t *room = rs_alloc(n * sizeof *room);
    r->rows = rs_alloc(names * sizeof *r->rows);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && calls[end].name == calls[i].name;) end++;
        r->rows[r->n++] = sum_up(calls + i, end - i, has_work, steps_ns, room);
    }
    free(room);
    qsort(r->rows, r->n, sizeof *r->rows, by_wall);
}

static void find(struct rs_ranges *r, const struct rs_model *m, const struct rs_rank_track *track,
                 const struct rs_markers *steps, const struct rs_filter *filter, struct worked *work,
                 struct call *calls)
{
    const struct rs_activities *a = &m->activities;
    uint32_t nwork = take_work(work, m, track), n = 0;
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        if (a->kind[x] != RS_ACT_RANGE || !rs_filter_time(filter, a->start[x])) continue;
        int64_t gpu = rs_time_minus(work_before(work, nwork, a->end[x]), work_before(work, nwork, a->start[x]));
        calls[n++] = (struct call){.name = a->name[x],
                                   .in_step = rs_markers_of(steps, a->start[x]) != RS_NONE,
                                   .wall = rs_time_minus(a->end[x], a->start[x]),
                                   .gpu = gpu};
    }
    make_rows(r, calls, n, track->has_work, rs_markers_ns(steps));
}

void rs_ranges_find(struct rs_ranges *r, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                    const struct rs_markers *steps, const struct rs_filter *filter)
{
    *r = (struct rs_ranges){0};
    struct worked *work = rs_alloc(((size_t)track->nwork + 1) * sizeof *work);
    struct call *calls = rs_alloc(((size_t)track->nhost + 1) * sizeof *calls);
    find(r, t->view->model, track, steps, filter, work, calls);
    free(work);
    free(calls);
}

void rs_ranges_free(struct rs_ranges *r)
{
    free(r->rows);
    *r = (struct rs_ranges){0};
}
