#include "import/timers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "format/handle.h"

enum { GRAIN_NS = 2048 }; /* timers of older GPUs have a resolution of 1,024 ns */

struct rs_timer_channel {
    int64_t start; /* the latest valid one */
    uint64_t launch; /* and its plan */
    uint32_t works; /* valid so far; works of one batch count once */
    int64_t read[RS_TIMER_SLOTS]; /* host ns at which each slot was read */
};

/* Whether launch `a` was before `b`, by their handles. */
static bool came_before(uint64_t a, uint64_t b)
{
    return (a ^ b) >> RS_COUNTER_BITS == 0 && a < b;
}

/* Before its launch began: on the host's clock it is at gpu + d, and d is at most its upper bound. */
static bool before_launch(const struct rs_domain *gpu, const struct rs_timer *r)
{
    if (!gpu->bounds || r->launched == RS_TIME_NONE) return false;
    int64_t d = rs_bounds_near(gpu->bounds, r->gpu_ns);
    return d != RS_TIME_NONE && rs_time_minus(rs_time_minus(r->launched, r->gpu_ns), d) > GRAIN_NS;
}

/* Before an earlier launch of the communicator had ended. */
static bool before_end(const struct rs_timers *t, const struct rs_timer *r)
{
    int64_t end = r->launch == t->launch ? t->end_before : t->end > t->end_before ? t->end : t->end_before;
    return !came_before(r->launch, t->launch) && rs_time_minus(end, r->gpu_ns) > GRAIN_NS;
}

static void count_work(struct rs_timer_channel *c, struct rs_domain *gpu, const struct rs_timer *r)
{
    int64_t *slot = &c->read[c->works % RS_TIMER_SLOTS];
    int64_t d = c->works >= RS_TIMER_SLOTS && gpu->bounds ? rs_bounds_near(gpu->bounds, r->gpu_ns) : RS_TIME_NONE;
    if (d != RS_TIME_NONE && rs_time_minus(*slot, d) > r->gpu_ns) gpu->overruns++;
    *slot = r->host_ns;
    c->works++;
    c->start = r->gpu_ns;
    c->launch = r->launch;
}

void rs_timers_start(struct rs_timers *t, struct rs_domain *gpu, const struct rs_timer *r, bool *good)
{
    *good = true;
    gpu->timers++;
    if (r->channel >= RS_TIMER_CHANNELS) return;
    struct rs_timer_channel *c = t->channels[r->channel];
    if (!c) c = t->channels[r->channel] = rs_zalloc(1, sizeof *c);
    /* Works of one launch may share their times, and be in any order; an older launch may be reported later. */
    bool again = c->works && r->gpu_ns <= c->start;
    bool allowed = again && ((r->launch && r->launch == c->launch) || came_before(r->launch, c->launch));
    if ((again && !allowed) || before_launch(gpu, r) || before_end(t, r)) {
        *good = false;
        gpu->stale++;
    } else if (!again) {
        count_work(c, gpu, r);
    }
}

void rs_timers_end(struct rs_timers *t, uint64_t launch, int64_t gpu_ns)
{
    if (launch != t->launch) {
        if (came_before(launch, t->launch)) return; /* reported late */
        if (t->end > t->end_before) t->end_before = t->end;
        t->launch = launch;
        t->end = gpu_ns;
    } else if (gpu_ns > t->end) {
        t->end = gpu_ns;
    }
}

void rs_timers_free(struct rs_timers *t)
{
    for (int i = 0; i < RS_TIMER_CHANNELS; i++) free(t->channels[i]);
    *t = (struct rs_timers){0};
}
