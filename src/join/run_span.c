#include "join/run_span.h"

#define LONGEST_INIT (INT64_C(600) * SECOND) /* before the first operation; earlier is damage */
#define SECOND INT64_C(1000000000)
#define MOST_NS (INT64_C(1) << 52) /* 52 days: doubles hold it to the ns */

/* The plausible range, and the result. */
struct hull {
    int64_t low, high;
    int64_t first, last; /* RS_TIME_NONE: none yet */
};

static void take(struct hull *h, int64_t at)
{
    if (at == RS_TIME_NONE || at < h->low || at > h->high) return;
    if (h->first == RS_TIME_NONE || at < h->first) h->first = at;
    if (h->last == RS_TIME_NONE || at > h->last) h->last = at;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN + 1 : INT64_MAX;
    return sum;
}

static void take_all(struct hull *h, const struct rs_model *m)
{
    const struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        const int64_t times[] = {p->start[i], p->end[i],      p->launched[i],
                                 p->after[i], p->enqueued[i], p->end[i] == RS_TIME_NONE ? p->before[i] : RS_TIME_NONE};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) take(h, times[k]);
    }
    for (uint32_t i = 0; i < m->activities.n; i++) {
        take(h, m->activities.start[i]);
        take(h, m->activities.end[i]);
    }
    for (uint32_t i = 0; i < m->nprocs; i++) {
        take(h, m->procs[i].first);
        take(h, m->procs[i].last);
        if (m->procs[i].end > m->procs[i].last) take(h, m->procs[i].end);
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        take(h, m->members[i].created);
        take(h, m->members[i].destroyed);
    }
}

void rs_run_span_find(struct rs_model *m)
{
    int64_t begin = rs_model_begin(m), end = rs_model_end(m);
    for (uint32_t i = 0; i < m->nmembers && begin != RS_TIME_NONE;
         i++) { /* communicators are created before operations */
        int64_t made = m->members[i].created;
        if (made != RS_TIME_NONE && made < begin && rs_time_minus(begin, made) < LONGEST_INIT) begin = made;
    }
    struct hull h = {INT64_MIN + 1, INT64_MAX, RS_TIME_NONE, RS_TIME_NONE};
    if (begin != RS_TIME_NONE) {
        int64_t most = plus(begin, MOST_NS);
        for (uint32_t i = 0; i < m->nprocs; i++)
            if (m->procs[i].end > end && m->procs[i].end < most) end = m->procs[i].end;
        /* Clocks have errors, and a GPU may work after the last callback; this much is accepted. */
        h.low = plus(begin, -SECOND);
        h.high = plus(end < most ? end : most, 60 * SECOND);
    }
    take_all(&h, m);
    m->begin = begin != RS_TIME_NONE && (h.first == RS_TIME_NONE || begin < h.first) ? begin : h.first;
    int64_t latest = m->begin == RS_TIME_NONE ? RS_TIME_NONE : plus(m->begin, MOST_NS);
    m->end = h.last == RS_TIME_NONE || h.last < m->begin ? m->begin : h.last < latest ? h.last : latest;
    m->joined = true;
}
