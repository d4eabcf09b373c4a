#include "trace/clock.h"

enum { SHORT_NS = 50000000 }; /* a rate over less than this is less accurate than the overall one */

static uint64_t middle(const struct rs_clock_bracket *b)
{
    return b->before + (b->after - b->before) / 2;
}

/* ns per tick from two points, or 0 if they are too close. */
static double rate_of(uint64_t tick_a, uint64_t ns_a, uint64_t tick_b, uint64_t ns_b)
{
    return tick_b > tick_a && ns_b > ns_a + SHORT_NS ? (double)(ns_b - ns_a) / (double)(tick_b - tick_a) : 0;
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

void rs_clock_prepare(struct rs_clock *c, const struct rs_recording *r, const struct rs_process *p)
{
    const struct rs_file_header *h = &r->header;
    *c = (struct rs_clock){
        .samples = p->clocks, .n = p->nclocks, .tick0 = h->created_tick, .ns0 = (int64_t)h->created_ns};
    if (c->n) {
        const struct rs_fact_clock *first = &c->samples[0], *last = &c->samples[c->n - 1];
        c->rate = rate_of(middle(&first->raw), first->raw.ns, middle(&last->raw), last->raw.ns);
    }
    /* A process that was killed early has one sample, but also heartbeats. */
    if (!(c->rate > 0))
        c->rate = rate_of(h->created_tick, h->created_ns, h->status.heartbeat_tick, h->status.heartbeat_ns);
    if (!(c->rate > 0) && c->n > 1) {
        const struct rs_clock_bracket *a = &c->samples[0].raw, *b = &c->samples[c->n - 1].raw;
        if (middle(b) > middle(a)) c->rate = (double)(b->ns - a->ns) / (double)(middle(b) - middle(a));
    }
    if (!(c->rate > 0)) c->rate = h->tick_source == RS_TICK_CLOCK_RAW ? 1 : 0.5; /* unknown: assume 2 GHz */
    if (!c->n) return;
    const struct rs_fact_clock *first = &c->samples[0];
    /* RAW at the time when REALTIME was read, a little later. */
    int64_t later = rs_clock_whole(c->rate * ((double)middle(&first->real) - (double)middle(&first->raw)));
    c->wall = (int64_t)(first->real.ns - first->raw.ns - (uint64_t)later);
    for (size_t i = 0; i < c->n; i++) {
        const struct rs_clock_bracket *b = &c->samples[i].raw;
        int64_t half =
            sum(rs_clock_whole((double)(b->after - b->before + 1) * c->rate / 2), 1); /* the resolution is a tick */
        if (half > c->error_ns) c->error_ns = half;
    }
}

/* The line around a tick: between the samples before and after it, or extrapolated. */
static struct rs_clock_line line_at(const struct rs_clock *c, uint64_t tick)
{
    if (!c->n) return (struct rs_clock_line){0, UINT64_MAX, c->tick0, c->ns0, c->rate};
    size_t low = 0, high = c->n; /* the last sample at or before the tick; else the first */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (middle(&c->samples[mid].raw) <= tick)
            low = mid;
        else
            high = mid;
    }
    const struct rs_clock_bracket *a = &c->samples[low].raw;
    struct rs_clock_line line = {low ? middle(a) : 0, high < c->n ? middle(&c->samples[high].raw) : UINT64_MAX,
                                 middle(a), (int64_t)a->ns, c->rate};
    if (c->n > 1) {
        size_t i = low + 1 < c->n ? low : low - 1; /* after the last sample: extrapolate the last span */
        const struct rs_clock_bracket *x = &c->samples[i].raw, *y = &c->samples[i + 1].raw;
        double own = rate_of(middle(x), x->ns, middle(y), y->ns);
        if (own > 0) line.rate = own;
    }
    return line;
}

void rs_clock_seek(struct rs_clock *c, uint64_t tick)
{
    c->line = line_at(c, tick);
}
