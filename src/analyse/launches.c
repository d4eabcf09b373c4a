#include "analyse/launches.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/room.h"

/* ---- profiles with a synchronisation after each block ---- */

enum { SYNC_LEAST = 8 };

/* Launches by time, with the work they had put on the GPU until then. */
struct launch {
    int64_t at; /* start of the call */
    int64_t over; /* end of the work */
};

static int by_time(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

struct looking {
    const struct rs_activities *a;
    struct launch *launches;
    uint32_t nlaunches;
    uint32_t *syncs; /* by start */
    uint32_t nsyncs;
};

/* The first launch not before `at`. */
static uint32_t launch_from(const struct looking *k, int64_t at)
{
    uint32_t low = 0, high = k->nlaunches;
    RS_BISECT(low, high, mid, k->launches[mid].at < at);
    return low;
}

/* Whether the host waited for launch `i` to finish before it launched anything else. */
static bool is_waited_for(const struct looking *k, uint32_t i)
{
    const struct launch *l = &k->launches[i];
    uint32_t low = 0, high = k->nsyncs;
    RS_BISECT(low, high, mid, k->a->start[k->syncs[mid]] < l->at);
    int64_t next = i + 1 < k->nlaunches ? k->launches[i + 1].at : INT64_MAX;
    for (uint32_t tries = 0; low < k->nsyncs && tries < 4;
         low++, tries++) { /* some tools record a call twice, nested */
        if (k->a->start[k->syncs[low]] >= next) return false;
        if (k->a->end[k->syncs[low]] >= l->over) return true;
    }
    return false;
}

static bool are_nearly_all(uint64_t some, uint64_t all)
{
    return all >= SYNC_LEAST && some * 10 >= all * 9;
}

static enum rs_synchronised judge(const struct looking *k, const struct rs_rank_track *track,
                                  const struct rs_filter *filter)
{
    uint64_t waited = 0, ranges = 0, ranges_waited = 0;
    for (uint32_t i = 0; i < k->nlaunches; i++) waited += is_waited_for(k, i);
    if (are_nearly_all(waited, k->nlaunches)) return RS_SYNC_KERNELS;
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        if (k->a->kind[x] != RS_ACT_RANGE || !rs_filter_time(filter, k->a->start[x])) continue;
        uint32_t from = launch_from(k, k->a->start[x]), to = launch_from(k, k->a->end[x]);
        if (from == to) continue; /* nothing was launched in it */
        ranges++;
        ranges_waited += is_waited_for(k, to - 1);
    }
    if (are_nearly_all(ranges_waited, ranges)) return RS_SYNC_RANGES;
    return ranges >= SYNC_LEAST || k->nlaunches >= SYNC_LEAST ? RS_SYNC_FREE : RS_SYNC_UNKNOWN;
}

static void synchronised_find(enum rs_synchronised *found, const struct rs_model *m, const struct rs_rank_track *track,
                              const struct rs_filter *filter)
{
    const struct rs_activities *a = &m->activities;
    struct looking k = {.a = a};
    *found = RS_SYNC_UNKNOWN;
    k.launches = rs_alloc(((size_t)track->nwork + 1) * sizeof *k.launches);
    k.syncs = rs_alloc(((size_t)track->nhost + 1) * sizeof *k.syncs);
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i], launch = a->launch[x];
        if (rs_activity_is_work(a->kind[x]) && launch < a->n && rs_filter_time(filter, a->start[launch]))
            k.launches[k.nlaunches++] = (struct launch){a->start[launch], a->end[x]};
    }
    if (k.nlaunches) qsort(k.launches, k.nlaunches, sizeof *k.launches, by_time);
    for (uint32_t i = 0; i < track->nhost; i++)
        if (a->kind[track->host[i]] == RS_ACT_SYNC) k.syncs[k.nsyncs++] = track->host[i];
    *found = judge(&k, track, filter);
    bool full = !k.launches || !k.syncs;
    free(k.launches);
    free(k.syncs);
    if (full) rs_memory_out();
}

/* ---- launches ---- */

int64_t rs_launch_time(const struct rs_model *m, uint32_t activity)
{
    const struct rs_activities *a = &m->activities;
    uint32_t launch = a->launch[activity];
    return launch < a->n ? a->start[launch] : a->start[activity];
}

/* ---- kernels and gaps ---- */

enum rs_gap_kind rs_gap_before(const struct rs_activities *a, uint32_t work, int64_t from)
{
    int64_t ns = rs_time_minus(a->start[work], from);
    uint32_t launch = a->launch[work];
    if (ns < RS_GAP_NS) return RS_GAP_NONE;
    if (launch >= a->n || a->end[launch] <= from) return RS_GAP_OTHER;
    return ns <= RS_LAUNCH_GAP_NS ? RS_GAP_LAUNCH : RS_GAP_HOST;
}

static void count_gap(uint64_t *n, int64_t *sum, int64_t ns)
{
    ++*n;
    *sum = rs_time_plus(*sum, ns);
}

static void take_gap(struct rs_launches *l, const struct rs_activities *a, uint32_t work, int64_t from)
{
    int64_t ns = rs_time_minus(a->start[work], from);
    switch (rs_gap_before(a, work, from)) {
    case RS_GAP_LAUNCH: count_gap(&l->launch_gaps, &l->launch_gap_ns, ns); break;
    case RS_GAP_HOST:
        count_gap(&l->host_gaps, &l->host_gap_ns, ns);
        if (ns > l->longest_host_gap_ns) l->longest_host_gap_ns = ns;
        break;
    case RS_GAP_OTHER: count_gap(&l->other_gaps, &l->other_gap_ns, ns); break;
    case RS_GAP_NONE: break;
    }
}

static void take_kernels(struct rs_launches *l, const struct rs_model *m, const struct rs_rank_track *track,
                         const struct rs_markers *steps, const struct rs_filter *filter)
{
    const struct rs_activities *a = &m->activities;
    int64_t *lengths = rs_alloc(((size_t)track->nwork + 1) * sizeof *lengths), busy_until = RS_TIME_NONE;
    uint32_t n = 0, in_steps = 0;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (!rs_activity_is_work(a->kind[x]) || !rs_filter_time(filter, a->start[x])) continue;
        if (busy_until != RS_TIME_NONE) take_gap(l, a, x, busy_until);
        if (a->end[x] > busy_until) busy_until = a->end[x];
        if (a->kind[x] != RS_ACT_COMPUTE && a->kind[x] != RS_ACT_COMM) continue;
        l->kernels++;
        if (a->launch[x] < a->n) l->launched++;
        int64_t at = steps->marked ? rs_launch_time(m, x) : a->start[x];
        if (rs_markers_of(steps, at) != RS_NONE) in_steps++;
        if (a->kind[x] == RS_ACT_COMPUTE) lengths[n++] = rs_time_minus(a->end[x], a->start[x]);
    }
    uint32_t profiled = rs_markers_profiled(steps);
    if (profiled) l->kernels_a_step = (double)in_steps / profiled;
    if (n) l->median_kernel_ns = rs_median(lengths, n);
    free(lengths);
}

/* ---- host calls ---- */

static int by_cost(const void *a, const void *b)
{
    const struct rs_host_call *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void take_call(struct rs_launches *l, const struct rs_activities *a, uint32_t x, struct rs_map *rows)
{
    uint64_t *row;
    rs_map_at(rows, (uint64_t)a->name[x] << 8 | a->kind[x], RS_NONE, &row);
    if (*row == RS_NONE) {
        RS_ROOM(l->calls, l->ncalls, l->cap_calls);
        l->calls[l->ncalls] = (struct rs_host_call){.name = a->name[x], .kind = a->kind[x]};
        *row = l->ncalls++;
    }
    struct rs_host_call *call = &l->calls[*row];
    int64_t ns = rs_time_minus(a->end[x], a->start[x]);
    call->calls++;
    call->total_ns = rs_time_plus(call->total_ns, ns);
    l->calls_ns = rs_time_plus(l->calls_ns, ns);
    if (ns > call->longest_ns) call->longest_ns = ns;
}

static void take_calls(struct rs_launches *l, const struct rs_model *m, const struct rs_rank_track *track,
                       const struct rs_filter *filter)
{
    const struct rs_activities *a = &m->activities;
    struct rs_map rows = {0};
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        if ((a->kind[x] == RS_ACT_SYNC || a->kind[x] == RS_ACT_MEMORY) && rs_filter_time(filter, a->start[x]))
            take_call(l, a, x, &rows);
    }
    rs_map_free(&rows);
    if (l->ncalls) qsort(l->calls, l->ncalls, sizeof *l->calls, by_cost);
}

void rs_launches_find(struct rs_launches *l, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                      const struct rs_markers *steps, const struct rs_filter *filter)
{
    const struct rs_model *m = t->view->model;
    *l = (struct rs_launches){.kernels_a_step = NAN, .median_kernel_ns = RS_TIME_NONE};
    take_kernels(l, m, track, steps, filter);
    take_calls(l, m, track, filter);
    synchronised_find(&l->synchronised, m, track, filter);
}

void rs_launches_free(struct rs_launches *l)
{
    free(l->calls);
    *l = (struct rs_launches){0};
}
