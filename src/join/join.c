#include "join/join.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "join/clocks.h"
#include "join/collectives.h"
#include "join/early_ends.h"
#include "join/ends.h"
#include "join/family.h"
#include "join/fanouts.h"
#include "join/overlay.h"
#include "join/overlay_facts.h"
#include "join/pairs.h"
#include "join/ranks.h"
#include "join/resync.h"
#include "join/run_span.h"
#include "join/waits.h"

/* ---- traces of one host ----
 * Gives traces of one host one clock.
 *
 * A tool that reports GPU times on the host's clock (rigid domains) has one GPU clock per trace. Those of one host are
 * merged, so that their times are compared without an alignment error. Traces are of one host if they name it, or if
 * the user says so (`same_host`: all wall-time traces that do not name theirs). Called before clocks are used. */

/* Merges hosts without a name whose processes have wall time into the first of them. */
static void take_as_one(struct rs_model *m, uint32_t *host_of)
{
    uint32_t first = RS_NONE;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        uint32_t host = m->procs[i].host;
        if (host == first || *m->hosts[host].name || m->procs[i].begin < RS_TIME_WALL) continue;
        if (first == RS_NONE) m->hosts[first = host].name = "host"; /* the file of one of them cannot name all */
        host_of[host] = first;
    }
    for (uint32_t i = 0; i < m->nprocs; i++) m->procs[i].host = host_of[m->procs[i].host];
}

/* The clock to use for each: a host's own, and for rigid ones the first of the host. */
static void find_clocks(struct rs_model *m, const uint32_t *host_of, uint32_t *rigid, uint32_t *clock_of)
{
    for (uint32_t i = 0; i < m->nhosts; i++) rigid[i] = RS_NONE;
    for (uint32_t i = 0; i < m->ndomains; i++) {
        struct rs_domain *d = &m->domains[i];
        d->host = host_of[d->host];
        clock_of[i] = i;
        if (d->kind == RS_DOMAIN_HOST) {
            clock_of[i] = m->hosts[d->host].domain;
            continue;
        }
        d->host_domain = m->hosts[d->host].domain;
        if (!d->rigid || memcmp(d->uuid, (const uint8_t[16]){0}, sizeof d->uuid)) continue; /* a clock of its own */
        if (rigid[d->host] == RS_NONE) rigid[d->host] = i;
        clock_of[i] = rigid[d->host];
    }
}

static void one_host(struct rs_model *m, bool same_host)
{
    uint32_t *host_of = rs_zalloc((size_t)m->nhosts + 1, sizeof *host_of);
    uint32_t *rigid = rs_zalloc((size_t)m->nhosts + 1, sizeof *rigid);
    uint32_t *clock_of = rs_zalloc((size_t)m->ndomains + 1, sizeof *clock_of);
    for (uint32_t i = 0; i < m->nhosts; i++) host_of[i] = i;
    if (same_host) take_as_one(m, host_of);
    find_clocks(m, host_of, rigid, clock_of);
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].gpu != RS_NONE) m->members[i].gpu = clock_of[m->members[i].gpu];
    for (uint32_t i = 0; i < m->nlanes; i++)
        if (m->lanes[i].domain < m->ndomains) m->lanes[i].domain = clock_of[m->lanes[i].domain];
    free(host_of);
    free(rigid);
    free(clock_of);
}

/* ---- impossible times ----
 * Drops impossible times (damaged recordings, invalid GPU timers), so that later steps can rely on this: every time of
 * a part is within a day of its process's recording, and a part takes less than a day. */

#define DAY_NS INT64_C(86400000000000)

enum { CLOCKS_APART_NS = 1000000 }; /* start and end of a part may come from two clocks, each with its error */

/* Whether an end cannot belong to its start. Unsigned: wild times wrap. */
static bool impossible(int64_t start, int64_t *end)
{
    if (*end >= start) return (uint64_t)*end - (uint64_t)start > (uint64_t)DAY_NS;
    if ((uint64_t)start - (uint64_t)*end > CLOCKS_APART_NS) return true;
    *end = start;
    return false;
}

/* When the process can have existed: a day around its recording, if that is plausible. */
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

/* Called when times are on the common axis; without alignment only durations are checked. Dropped times are noted. */
static enum rs_status plausible_check(struct rs_model *m, struct rs_err *err)
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
                               "%" PRIu64 " times are ignored: far outside their recording, or an end before its start",
                               dropped)
               : RS_OK;
}

/* ---- the join ---- */

enum rs_status rs_join(struct rs_model *m, bool align, struct rs_err *err)
{
    one_host(m, m->same_host);
    rs_ranks_find(m);
    RS_TRY(rs_family_find(m, err));
    rs_collectives_join(m);
    rs_pairs_join(m);
    RS_TRY(rs_overlay_find(m, err)); /* two tools that saw one operation are not two samples for clocks */
    rs_ranks_find(m); /* nor two ranks */
    RS_TRY(rs_clocks_align(m, align, err));
    RS_TRY(plausible_check(m, err));
    rs_pairs_resync(m); /* what order alone could not pair needs times */
    rs_fanouts_join(m);
    rs_early_ends_find(m);
    RS_TRY(rs_overlay_by_time(m, err));
    rs_ranks_settle(m);
    RS_TRY(rs_facts_check(m, err));
    rs_ends_bound(m);
    rs_waits_find(m);
    rs_run_span_find(m);
    return RS_OK;
}
