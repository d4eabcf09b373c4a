/* Ticks of one process -> ns on its host's clock, with the error.
 *
 * The axis is CLOCK_MONOTONIC_RAW (which is never set or slewed), shifted once so that it is wall time at the process's
 * first clock sample. Linear between samples; extrapolated outside. */
#ifndef RS_TRACE_CLOCK_H
#define RS_TRACE_CLOCK_H

#include "trace/process.h"

struct rs_clock {
    const struct rs_fact_clock *samples; /* the process's: must stay valid */
    size_t n;
    double rate; /* ns per tick, over the whole recording: for samples that are too close */
    int64_t wall; /* ns: RAW + wall = wall time at the first sample */
    uint64_t tick0; /* without any sample: the header's time */
    int64_t ns0;
    struct rs_clock_line {
        uint64_t from, to; /* ticks, to excluded */
        uint64_t tick; /* at this tick... */
        int64_t ns; /* ...it is this, wall not added */
        double rate;
    } line; /* the last one used: ticks are nearly in order */
    int64_t error_ns; /* of any time between samples: half the widest bracket */
};

void rs_clock_prepare(struct rs_clock *clock, const struct rs_recording *recording, const struct rs_process *process);

/* Times of a damaged recording may be any number: no trap. */
static inline int64_t rs_clock_whole(double ns)
{
    if (ns > -9.2e18 && ns < 9.2e18) return (int64_t)ns;
    return ns >= 9.2e18 ? INT64_MAX : ns <= -9.2e18 ? INT64_MIN : 0;
}

/* Selects the line around a tick. */
void rs_clock_seek(struct rs_clock *clock, uint64_t tick);

/* Wall ns of a tick. One thread at a time: caches the line. Inline, since it is called for every callback. */
static inline int64_t rs_clock_ns(struct rs_clock *c, uint64_t tick)
{
    if (tick < c->line.from || tick >= c->line.to) rs_clock_seek(c, tick);
    const struct rs_clock_line *l = &c->line;
    uint64_t ns = (uint64_t)l->ns + (uint64_t)(c->n ? c->wall : 0);
    return (int64_t)(ns + (uint64_t)rs_clock_whole((double)(int64_t)(tick - l->tick) * l->rate));
}

#endif
