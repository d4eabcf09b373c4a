#include "analyse/hang_state.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/hang_flight.h"
#include "base/memory.h"
#include "nccl/abi.h"

const char *rs_stage_text(enum rs_stage stage)
{
    static const char *const texts[] = {
        "not called", "called, not launched", "launched, not started", "entered", "running",
        "ended",      "not recorded",         "no recording"};
    return texts[stage];
}

bool rs_hang_closed(const struct rs_proc *p)
{
    return p->ended == RS_END_WELL || p->ended == RS_END_IDLE;
}

int64_t rs_hang_member_end(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    int64_t end = m->procs[x->proc].end;
    return x->destroyed != RS_TIME_NONE && x->destroyed < end ? x->destroyed : end;
}

int64_t rs_hang_part_since(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    if (t->start[part] != RS_TIME_NONE) return t->start[part];
    return t->launched[part] != RS_TIME_NONE ? t->launched[part] : t->enqueued[part];
}

/* ---- what is pending ---- */

/* Whether a kernel of the part was seen to start. A network operation alone may have been posted ahead of its turn. */
static bool kernel_seen(const struct rs_parts *t, uint32_t i)
{
    return t->start_source[i] == RS_FROM_KERNEL || t->start_source[i] == RS_FROM_CALLBACK ||
           (t->flags[i] & (RS_PART_STALE | RS_PART_KERNEL_OPEN | RS_PART_STARTED)) || t->channels_seen[i];
}

bool rs_hang_has_states(const struct rs_model *m, uint32_t comm)
{
    return rs_tool_has(m->comms[comm].tool, RS_CAP_DUMP);
}

static bool has_states(const struct rs_model *m, uint32_t part)
{
    return rs_hang_has_states(m, m->members[m->parts.member[part]].comm);
}

static bool has_ended(const struct rs_parts *t, uint32_t i)
{
    if (t->flags[i] & RS_PART_DONE) return true;
    if (t->flags[i] & RS_PART_KERNEL_OPEN) return false; /* its network may be done before it */
    if (t->end[i] != RS_TIME_NONE) return true;
    /* Its kernels have ended, at times that cannot be used. */
    return kernel_seen(t, i) && !(t->flags[i] & (RS_PART_OPEN | RS_PART_UNFINISHED));
}

static bool asked_for(const struct rs_proc *p, int64_t at, uint64_t type)
{
    for (uint32_t i = 0; i < p->ncovers; i++)
        if (at != RS_TIME_NONE && at >= p->covers[i].from && at <= p->covers[i].to) return p->covers[i].mask & type;
    return p->ncovers && (p->covers[p->ncovers - 1].mask & type);
}

/* What is known of a member. */
struct walk {
    int64_t newest; /* the latest start of a kernel; RS_TIME_NONE: none was timed */
    uint64_t newest_launch; /* of that one */
    /* While walking from its last part to its first; eager calls and replays of graphs are reported by different
     * threads, each in their own order. */
    struct order {
        uint64_t launch; /* of the current parts */
        bool any, called; /* there is a launch; there is a later one */
        bool started; /* one of this launch has started */
        bool later; /* something of a later launch has started: whatever is before has ended */
        bool queued; /* something of a later launch has surely not started */
    } of[2];
};

enum { GIVEN_UP = RS_STAGE_UNSEEN + 1 }; /* its end was not recorded, and later calls came: probably over */

/* Whether something that ran after a part shows that it is over. */
static bool is_passed(const struct rs_parts *t, uint32_t i, const struct walk *w, bool later)
{
    bool timed = t->start_source[i] == RS_FROM_KERNEL || t->start_source[i] == RS_FROM_CALLBACK;
    if (!timed) return later;
    return w->newest > t->start[i] && (!t->launch[i] || w->newest_launch != t->launch[i]);
}

/* From when on a loss could hide how far a part came, on its host's clock: what was lost before its kernel was seen to
 * start says nothing of its end. */
static int64_t doubt_from(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    int64_t from = t->enqueued[part];
    uint32_t clock = rs_part_start_domain(m, part), host = rs_member_host_domain(m, t->member[part]);
    if (!m->aligned || clock == RS_NONE || t->start_source[part] == RS_FROM_PROXY) return from;
    int64_t a = m->domains[clock].error_ns, b = m->domains[host].error_ns;
    if (m->domains[clock].island != m->domains[host].island || a < 0 || b < 0) return from; /* RS_TIME_NONE, too */
    int64_t start = rs_time_minus(rs_time_minus(t->start[part], a), b);
    return start > from ? start : from;
}

/* Whether callbacks of its process were lost after that: it may have come further than it seems. */
static bool is_doubtful(const struct rs_model *m, uint32_t part)
{
    const struct rs_proc *p = rs_part_proc(m, part);
    if (p->complete || !p->ngaps) return false;
    return rs_recorded_until(p, doubt_from(m, part), RS_KERNEL_CH) != INT64_MAX;
}

/* `queued`: something after it waits for its turn, so that it cannot have ended. */
static enum rs_stage stage_of(const struct rs_model *m, uint32_t part, bool kernels_recorded, bool queued)
{
    const struct rs_parts *t = &m->parts;
    const struct rs_proc *p = rs_part_proc(m, part);
    if (t->kind[part] == RS_PART_CE || t->kind[part] == RS_PART_API) return RS_STAGE_ENDED; /* never reported */
    if (t->flags[part] & RS_PART_SELF) return RS_STAGE_ENDED; /* nor is that of a send to itself */
    bool doubtful = is_doubtful(m, part);
    if (kernel_seen(t, part)) return doubtful && !queued ? RS_STAGE_ENTERED : RS_STAGE_RUNNING;
    if (doubtful) return RS_STAGE_ENTERED;
    bool launched = t->launched[part] != RS_TIME_NONE || (t->flags[part] & (RS_PART_STOPPED | RS_PART_LAUNCHED));
    if (!launched && (t->flags[part] & RS_PART_OPEN)) return RS_STAGE_CALLED;
    if (kernels_recorded && asked_for(p, t->enqueued[part], RS_KERNEL_CH)) return RS_STAGE_LAUNCHED;
    if (t->start_source[part] == RS_FROM_PROXY) return RS_STAGE_RUNNING;
    return RS_STAGE_ENTERED;
}

static void find_newest(const struct rs_parts *t, struct walk *walks)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->member[i] == RS_NONE) continue;
        if (t->start_source[i] != RS_FROM_KERNEL && t->start_source[i] != RS_FROM_CALLBACK) continue;
        struct walk *w = &walks[t->member[i]];
        if (t->start[i] < w->newest) continue;
        w->newest = t->start[i];
        w->newest_launch = t->launch[i];
    }
}

static void find_pending(struct rs_hang_state *s, struct walk *walks, bool kernels_recorded)
{
    const struct rs_parts *t = &s->m->parts;
    for (uint32_t i = t->n; i-- > 0;) {
        s->stage[i] = RS_STAGE_ENDED;
        if (t->member[i] == RS_NONE || rs_part_is_secondary(s->m, i)) continue;
        if (has_states(s->m, i)) {
            s->stage[i] = (uint8_t)rs_hang_flight_part(s, i);
            if (s->stage[i] != RS_STAGE_ENDED) s->first[t->member[i]] = i;
            continue;
        }
        struct walk *all = &walks[t->member[i]];
        struct order *w = &all->of[t->captured[i] != 0];
        if (!t->launch[i] || t->launch[i] != w->launch) {
            w->called |= w->any;
            w->later |= w->started;
            w->started = false;
            w->launch = t->launch[i];
        }
        w->any = true;
        bool ended = has_ended(t, i);
        if (!ended && !is_passed(t, i, all, w->later))
            s->stage[i] = (uint8_t)stage_of(s->m, i, kernels_recorded, w->queued);
        /* Where ends are not recorded, only the last call of all can be what it hangs in. */
        if (s->stage[i] == RS_STAGE_ENTERED && w->called && !w->queued) s->stage[i] = GIVEN_UP;
        if (s->stage[i] != RS_STAGE_ENDED && s->stage[i] != GIVEN_UP) {
            s->first[t->member[i]] = i;
            s->queued[t->member[i]] = w->queued;
        }
        if (s->stage[i] == RS_STAGE_LAUNCHED) w->queued = true;
        if (ended || kernel_seen(t, i)) w->started = true;
    }
}

/* A collective that others are still in holds a rank as well, if records of its end may be lost: where one waits for
 * all, none ends long before. */
static void find_held(struct rs_hang_state *s, uint8_t *running)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    for (uint32_t i = 0; i < t->n; i++)
        if (s->stage[i] == RS_STAGE_RUNNING && t->op[i] != RS_NONE) running[t->op[i]] = 1;
    for (uint32_t i = t->n; i-- > 0;) {
        bool given_up = s->stage[i] == GIVEN_UP;
        if (given_up) s->stage[i] = RS_STAGE_ENDED;
        if (!given_up && s->stage[i] != RS_STAGE_ENTERED) continue;
        if (has_states(m, i)) continue;
        uint32_t op = t->op[i], *first = &s->first[t->member[i]];
        if (op == RS_NONE || !running[op] || m->ops.kind[op] != RS_OP_COLL || rs_part_proc(m, i)->complete) continue;
        s->stage[i] = RS_STAGE_ENTERED;
        if (*first == RS_NONE || i <= *first) *first = i, s->queued[t->member[i]] = true;
    }
}

/* How strongly a part holds its rank: one that runs, or has others queued after it, more than one that was only
 * launched. A last call without an end may be over. */
static int hold_of(const struct rs_hang_state *s, uint32_t part)
{
    switch (s->stage[part]) {
    case RS_STAGE_RUNNING: return 3;
    case RS_STAGE_ENTERED: return has_states(s->m, part) || s->queued[s->m->parts.member[part]] ? 3 : 0;
    case RS_STAGE_LAUNCHED: return 2;
    case RS_STAGE_CALLED: return 1;
    default: return 0;
    }
}

static bool earlier(const struct rs_model *m, uint32_t a, uint32_t b)
{
    int64_t x = rs_hang_part_since(m, a), y = rs_hang_part_since(m, b);
    return x != RS_TIME_NONE && (y == RS_TIME_NONE || x < y);
}

static void find_busy(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (m->parts.member[i] == RS_NONE || rs_part_is_secondary(m, i)) continue;
        uint32_t *last = &s->last[rs_hang_rank_of(m, m->parts.member[i])];
        if (*last == RS_NONE || m->parts.enqueued[i] >= m->parts.enqueued[*last]) *last = i;
    }
    for (uint32_t x = 0; x < m->nmembers; x++) {
        uint32_t part = s->first[x], *busy = &s->busy[rs_hang_rank_of(m, x)];
        if (part == RS_NONE) continue;
        int hold = hold_of(s, part), other = *busy == RS_NONE ? 0 : hold_of(s, *busy);
        if (hold > other || (hold && hold == other && earlier(m, part, *busy))) *busy = part;
    }
}

/* ---- what was usual ---- */

static void find_usual(struct rs_hang_state *s, int64_t *calls)
{
    const struct rs_model *m = s->m;
    for (uint32_t i = 0; i < m->nprocs; i++) calls[i] = RS_TIME_NONE;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (m->parts.member[i] == RS_NONE || m->parts.enqueued[i] == RS_TIME_NONE || rs_part_is_secondary(m, i))
            continue;
        uint32_t proc = m->members[m->parts.member[i]].proc;
        int64_t gap = calls[proc] == RS_TIME_NONE ? 0 : rs_time_minus(m->parts.enqueued[i], calls[proc]);
        if (gap > s->quiet[proc]) s->quiet[proc] = gap;
        calls[proc] = m->parts.enqueued[i];
    }
    for (uint32_t i = 0; i < m->ops.n; i++) {
        if (m->ops.comm[i] == RS_NONE || m->ops.first[i] == RS_TIME_NONE || m->ops.end[i] == RS_TIME_NONE) continue;
        int64_t *longest = &s->longest[m->ops.comm[i]], took = rs_time_minus(m->ops.end[i], m->ops.first[i]);
        if (*longest < 0)
            *longest = 0; /* the first: connections are made in it */
        else if (took > *longest)
            *longest = took;
    }
    for (uint32_t i = 0; i < m->ncomms; i++)
        if (s->longest[i] < 0) s->longest[i] = 0;
}

/* ---- making ---- */

static void *table(size_t n, size_t size, int byte)
{
    void *p = rs_alloc((n ? n : 1) * size);
    memset(p, byte, (n ? n : 1) * size);
    return p;
}

static void fill(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    struct walk *walks = rs_zalloc(m->nmembers ? m->nmembers : 1, sizeof *walks);
    int64_t *calls = rs_zalloc(m->nprocs ? m->nprocs : 1, sizeof *calls);
    uint8_t *running = rs_zalloc(m->ops.n ? m->ops.n : 1, sizeof *running); /* by operation */
    bool kernels_recorded = false;
    for (uint32_t i = 0; i < m->parts.n && !kernels_recorded; i++) kernels_recorded = kernel_seen(&m->parts, i);
    for (uint32_t i = 0; i < m->nmembers; i++) walks[i].newest = RS_TIME_NONE;
    find_newest(&m->parts, walks);
    find_pending(s, walks, kernels_recorded);
    find_held(s, running);
    find_busy(s);
    find_usual(s, calls);
    for (uint32_t i = 0; i < m->nmembers; i++)
        rs_map_put(&s->here, (uint64_t)rs_hang_rank_of(m, i) << 32 | m->members[i].comm, i);
    for (uint32_t i = 0; i < m->nopens; i++) {
        const struct rs_open *o = &m->opens[i];
        if (o->part >= m->parts.n || o->since == RS_TIME_NONE) continue;
        uint64_t *at;
        rs_map_at(&s->moved, o->part, (uint64_t)o->since, &at);
        if ((int64_t)*at < o->since) *at = (uint64_t)o->since;
    }
    free(walks);
    free(calls);
    free(running);
}

int64_t rs_hang_part_moved(const struct rs_hang_state *s, uint32_t part)
{
    int64_t since = rs_hang_part_since(s->m, part);
    const uint64_t *moved = rs_map_find(&s->moved, part);
    return moved && (int64_t)*moved > since ? (int64_t)*moved : since;
}

void rs_hang_state_init(struct rs_hang_state *s, const struct rs_model *m)
{
    *s = (struct rs_hang_state){.m = m};
    rs_presence_init(&s->presence, m);
    s->stage = table(m->parts.n, sizeof *s->stage, 0);
    s->first = table(m->nmembers, sizeof *s->first, 0xff);
    s->queued = table(m->nmembers, sizeof *s->queued, 0);
    s->busy = table(m->nranks + 1, sizeof *s->busy, 0xff);
    s->last = table(m->nranks + 1, sizeof *s->last, 0xff);
    s->longest = table(m->ncomms, sizeof *s->longest, 0xff);
    s->quiet = table(m->nprocs, sizeof *s->quiet, 0);
    s->stack = table((size_t)m->nranks + 1, sizeof *s->stack, 0xff);
    for (uint32_t i = 0; i < m->ntags; i++) {
        uint32_t part = m->tags[i].part;
        if (m->tags[i].frames && part < m->parts.n && m->parts.member[part] != RS_NONE)
            s->stack[rs_hang_rank_of(m, m->parts.member[part])] = part;
    }
    s->latest = table(m->nmembers, sizeof *s->latest, 0xff);
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (m->parts.member[i] != RS_NONE && m->parts.kind[i] == RS_PART_COLL && !rs_part_is_secondary(m, i))
            s->latest[m->parts.member[i]] = i;
    s->of_rank = table((size_t)m->nranks + 1, sizeof *s->of_rank, 0xff);
    s->of_rank_next = table(m->nmembers, sizeof *s->of_rank_next, 0xff);
    s->asked = table(m->nmembers, sizeof *s->asked, 0);
    s->done = table(m->nmembers, sizeof *s->done, 0);
    s->least = table(m->ncomms, sizeof *s->least, 0xff);
    s->most = table(m->ncomms, sizeof *s->most, 0);
    s->proven = table(m->ncomms, sizeof *s->proven, 0);
    s->has_pairs = table(m->ncomms, sizeof *s->has_pairs, 0);
    s->stale_from = table(m->nprocs, sizeof *s->stale_from, 0xff);
    s->stale_to = table(m->nprocs, sizeof *s->stale_to, 0xff);
    for (uint32_t i = m->nmembers; i-- > 0;) {
        uint32_t rank = rs_hang_rank_of(m, i);
        s->of_rank_next[i] = s->of_rank[rank];
        s->of_rank[rank] = i;
    }
    rs_hang_flight_make(s);
    fill(s);
}

void rs_hang_state_free(struct rs_hang_state *s)
{
    rs_presence_free(&s->presence);
    free(s->stage);
    rs_map_free(&s->moved);
    rs_map_free(&s->numbers);
    rs_map_free(&s->here);
    free(s->first);
    free(s->queued);
    free(s->busy);
    free(s->last);
    free(s->longest);
    free(s->quiet);
    free(s->stack);
    free(s->latest);
    free(s->of_rank);
    free(s->of_rank_next);
    free(s->asked);
    free(s->done);
    free(s->least);
    free(s->most);
    free(s->proven);
    free(s->has_pairs);
    free(s->stale_from);
    free(s->stale_to);
    free(s->rows);
    *s = (struct rs_hang_state){0};
}
