#include "join/plausible.h"

#include <inttypes.h>

#define DAY_NS INT64_C(86400000000000)

enum { CLOCKS_APART_NS = 1000000 }; /* start and end of a part may come from two clocks, each with its error */

/* Whether an end cannot be the end of that start. Unsigned: wild times wrap. */
static bool impossible(int64_t start, int64_t *end)
{
    if (*end >= start) return (uint64_t)*end - (uint64_t)start > (uint64_t)DAY_NS;
    if ((uint64_t)start - (uint64_t)*end > CLOCKS_APART_NS) return true;
    *end = start;
    return false;
}

/* When the process can have been: a day around its recording, if that itself makes sense. */
struct span {
    int64_t from, to;
};

static struct span span_of(const struct rs_proc *p)
{
    enum { YEARS = 100 }; /* of a recording, and since 1970 */
    const int64_t most = INT64_C(365) * YEARS * DAY_NS;
    bool sane = p->begin > -most && p->begin < most && p->end >= p->begin && p->end < most;
    return sane ? (struct span){p->begin - DAY_NS, p->end + DAY_NS} : (struct span){INT64_MIN, INT64_MAX};
}

static bool drop(int64_t *time, bool wrong)
{
    if (!wrong || *time == RS_TIME_NONE) return false;
    *time = RS_TIME_NONE;
    return true;
}

static bool outside(struct span s, int64_t t)
{
    return t < s.from || t > s.to;
}

enum rs_status rs_plausible_check(struct rs_model *m, struct rs_err *err)
{
    struct rs_parts *p = &m->parts;
    uint64_t dropped = 0;
    uint32_t proc = RS_NONE;
    struct span span = {INT64_MIN, INT64_MAX};
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t of = m->members[p->member[i]].proc;
        if (of != proc && m->aligned) span = span_of(&m->procs[of]);
        proc = of;
        dropped += drop(&p->enqueued[i], outside(span, p->enqueued[i]));
        dropped += drop(&p->launched[i], outside(span, p->launched[i]));
        dropped += drop(&p->after[i], outside(span, p->after[i]));
        if (drop(&p->start[i], outside(span, p->start[i]))) {
            p->start_source[i] = RS_FROM_NOTHING;
            dropped++;
        }
        bool comparable = p->start[i] != RS_TIME_NONE && p->end[i] != RS_TIME_NONE &&
                          (m->aligned || p->start_source[i] == p->end_source[i]);
        if (drop(&p->end[i], outside(span, p->end[i]) || (comparable && impossible(p->start[i], &p->end[i])))) {
            p->end_source[i] = RS_FROM_NOTHING;
            dropped++;
        }
    }
    return dropped
               ? rs_model_note(m, err,
                               "%" PRIu64 " times lie nowhere near their recording, or end before they begin: not used",
                               dropped)
               : RS_OK;
}
