#include "analyse/synchronised.h"

#include <stdlib.h>

#include "base/bisect.h"

/* Launches by time, with what they had put on the GPU until then. */
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

/* The first launch that is not before `at`. */
static uint32_t launch_from(const struct looking *k, int64_t at)
{
    uint32_t low = 0, high = k->nlaunches;
    RS_BISECT(low, high, mid, k->launches[mid].at < at);
    return low;
}

/* Whether the host waited for launch `i` to be over before it launched anything else. */
static bool is_waited_for(const struct looking *k, uint32_t i)
{
    const struct launch *l = &k->launches[i];
    uint32_t low = 0, high = k->nsyncs;
    RS_BISECT(low, high, mid, k->a->start[k->syncs[mid]] < l->at);
    int64_t next = i + 1 < k->nlaunches ? k->launches[i + 1].at : INT64_MAX;
    for (uint32_t tries = 0; low < k->nsyncs && tries < 4; low++, tries++) { /* some tools note a call twice, nested */
        if (k->a->start[k->syncs[low]] >= next) return false;
        if (k->a->end[k->syncs[low]] >= l->over) return true;
    }
    return false;
}

static bool are_nearly_all(uint64_t some, uint64_t all)
{
    return all >= RS_SYNC_LEAST && some * 10 >= all * 9;
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
    return ranges >= RS_SYNC_LEAST || k->nlaunches >= RS_SYNC_LEAST ? RS_SYNC_FREE : RS_SYNC_UNKNOWN;
}

enum rs_status rs_synchronised_find(enum rs_synchronised *found, const struct rs_model *m,
                                    const struct rs_rank_track *track, const struct rs_filter *filter,
                                    struct rs_err *err)
{
    const struct rs_activities *a = &m->activities;
    struct looking k = {.a = a};
    *found = RS_SYNC_UNKNOWN;
    k.launches = malloc(((size_t)track->nwork + 1) * sizeof *k.launches);
    k.syncs = malloc(((size_t)track->nhost + 1) * sizeof *k.syncs);
    if (k.launches && k.syncs) {
        for (uint32_t i = 0; i < track->nwork; i++) {
            uint32_t x = track->work[i], launch = a->launch[x];
            if (rs_activity_is_work(a->kind[x]) && launch < a->n && rs_filter_time(filter, a->start[launch]))
                k.launches[k.nlaunches++] = (struct launch){a->start[launch], a->end[x]};
        }
        if (k.nlaunches) qsort(k.launches, k.nlaunches, sizeof *k.launches, by_time);
        for (uint32_t i = 0; i < track->nhost; i++)
            if (a->kind[track->host[i]] == RS_ACT_SYNC) k.syncs[k.nsyncs++] = track->host[i];
        *found = judge(&k, track, filter);
    }
    bool full = !k.launches || !k.syncs;
    free(k.launches);
    free(k.syncs);
    return full ? rs_fail(err, RS_NO_MEMORY, "out of memory") : RS_OK;
}
