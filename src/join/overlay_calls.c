#include "join/overlay_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "join/overlay.h"
#include "join/p2p_streams.h"
#include "join/pairs.h"
#include "join/ranks.h"
#include "join/shifts.h"

#define SLACK_NS INT64_C(20000) /* by which two tools may read one clock at different times */
#define LAST_NS                                                                                                        \
    INT64_C(10000000000) /* how long after the last call of a kind NCCL's call may come: it may create a communicator */
#define LOSSES_NS INT64_C(1000000) /* the same, where calls may be lost */
#define MOST 0.5 /* of the calls that could match must match: else it is another job */
enum { LOOK = 256 }; /* calls of other kinds in between */

struct call {
    int64_t at;
    uint32_t part;
    bool used;
};

struct work {
    const struct rs_model *m;
    uint32_t *match;
    uint32_t *parts, *first; /* parts with a call, by process */
    uint32_t *lead, *next; /* by process: its primary process; the next primary one of the same rank; RS_NONE */
    struct rs_map possible; /* (communicator, primary one) -> 1: may be the same, 2: not */
    struct call *a, *b; /* working memory for the calls of a process */
    int64_t *until; /* by call of b: time of the next one of its kind */
};

static int by_time(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
}

static bool is_p2p(const struct rs_parts *p, uint32_t part)
{
    return p->kind[part] == RS_PART_SEND || p->kind[part] == RS_PART_RECV;
}

/* ---- processes ---- */

static bool is_called(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    return p->member[part] != RS_NONE && p->enqueued[part] >= RS_TIME_WALL && !p->captured[part];
}

static void index_parts(struct work *w)
{
    const struct rs_model *m = w->m;
    w->parts = rs_alloc(((size_t)m->parts.n + 1) * sizeof *w->parts);
    w->first = rs_zalloc((size_t)m->nprocs + 2, sizeof *w->first);
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_called(m, i)) w->first[m->members[m->parts.member[i]].proc + 2]++;
    for (uint32_t i = 0; i < m->nprocs; i++) w->first[i + 2] += w->first[i + 1];
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_called(m, i)) w->parts[w->first[m->members[m->parts.member[i]].proc + 1]++] = i;
}

/* Whether they existed at the same time, if both have wall time. */
static bool overlap(const struct rs_proc *p, const struct rs_proc *q)
{
    return p->first < RS_TIME_WALL || q->first < RS_TIME_WALL || (p->first <= q->last && q->first <= p->last);
}

/* The primary process of each: the one that it is known to be, else one of the same rank at the same time. */
static void find_leaders(struct work *w)
{
    const struct rs_model *m = w->m;
    struct rs_map of_rank = {0};
    int32_t *ranks = rs_alloc(((size_t)m->nprocs + 1) * sizeof *ranks);
    w->lead = rs_alloc(((size_t)m->nprocs + 1) * sizeof *w->lead);
    w->next = rs_alloc(((size_t)m->nprocs + 1) * sizeof *w->next);
    for (uint32_t i = 0; i < m->nprocs; i++) {
        ranks[i] = m->procs[i].launcher_rank;
        w->lead[i] = m->procs[i].same;
        w->next[i] = RS_NONE;
    }
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].global_rank >= 0) ranks[m->members[i].proc] = m->members[i].global_rank;
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++) {
        for (uint32_t i = 0; i < m->nprocs; i++) { /* primary processes of smaller tools are complete */
            if (m->procs[i].tool != tool || ranks[i] < 0 || w->lead[i] != RS_NONE) continue;
            uint32_t q = (uint32_t)rs_map_get(&of_rank, (uint32_t)ranks[i], RS_NONE);
            while (q != RS_NONE && !(rs_overlay_same_process(m, i, q) && overlap(&m->procs[i], &m->procs[q])))
                q = w->next[q];
            w->lead[i] = q;
        }
        for (uint32_t i = 0; i < m->nprocs; i++) {
            if (m->procs[i].tool != tool || ranks[i] < 0 || w->lead[i] != RS_NONE) continue;
            uint64_t *at;
            rs_map_at(&of_rank, (uint32_t)ranks[i], RS_NONE, &at);
            w->next[i] = (uint32_t)*at;
            *at = i;
        }
    }
    rs_map_free(&of_rank);
    free(ranks);
}

/* ---- two calls ---- */

static void is_possible(struct work *w, uint32_t b, uint32_t a, bool *yes)
{
    uint64_t *at;
    rs_map_at(&w->possible, (uint64_t)b << 32 | a, 0, &at);
    if (!*at) *at = rs_overlay_possible(w->m, b, a) ? 1 : 2;
    *yes = *at == 1;
}

static void is_same_call(struct work *w, uint32_t b, uint32_t a, bool *same)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    uint32_t comm_b = m->members[p->member[b]].comm, comm_a = m->members[p->member[a]].comm;
    *same = false;
    if (is_p2p(p, b)) {
        *same = p->kind[a] == p->kind[b] && rs_part_bytes(m, a) == rs_part_bytes(m, b) &&
                rs_job_rank(m, comm_a, p->peer[a]) == rs_job_rank(m, comm_b, p->peer[b]);
        return;
    }
    bool fits = is_p2p(p, a) ? rs_overlay_is_fan(rs_model_text(m, p->func[b]))
                             : p->func[a] == p->func[b] && p->op[a] != RS_NONE && p->op[b] != RS_NONE &&
                                   rs_shift_agree(m, p->op[b], p->op[a]);
    if (fits) is_possible(w, comm_b, comm_a, same);
}

/* ---- two processes ---- */

static uint32_t take(const struct work *w, uint32_t proc, struct call *calls)
{
    uint32_t n = 0;
    bool sorted = true;
    for (uint32_t i = w->first[proc]; i < w->first[proc + 1]; i++) {
        calls[n] = (struct call){.at = w->m->parts.enqueued[w->parts[i]], .part = w->parts[i]};
        sorted &= !n || calls[n - 1].at <= calls[n].at;
        n++;
    }
    if (!sorted) qsort(calls, n, sizeof *calls, by_time);
    return n;
}

/* For each call, the time of the next one of the same kind. */
static void find_next(struct work *w, uint32_t n, int64_t last)
{
    const struct rs_parts *p = &w->m->parts;
    const uint64_t seed = 0x63616c6c;
    struct rs_map seen = {0}; /* kind -> its earliest call so far, going back */
    for (uint32_t i = n; i-- > 0;) {
        uint32_t part = w->b[i].part;
        uint64_t kind = rs_mix(rs_mix(seed, p->member[part]), (uint64_t)p->kind[part] << 16 | p->func[part]), *at;
        if (is_p2p(p, part)) kind = rs_mix(kind, (uint32_t)p->peer[part]);
        w->until[i] = rs_time_plus(w->b[i].at, last);
        rs_map_at(&seen, kind, i, &at);
        if (*at != i) w->until[i] = w->b[*at].at > w->b[i].at ? w->b[*at].at : w->until[*at];
        *at = i;
    }
    rs_map_free(&seen);
}

/* NCCL turns an all-to-all into sends and receives: all of that group call belong to it. */
static void use(const struct rs_model *m, struct call *a, uint32_t i, uint32_t n, bool fan)
{
    a[i].used = true;
    for (uint32_t k = i + 1; fan && k < n && k - i < LOOK; k++)
        if (m->parts.member[a[k].part] == m->parts.member[a[i].part] &&
            rs_launched_together(&m->parts, a[i].part, a[k].part))
            a[k].used = true;
}

static void match_processes(struct work *w, uint32_t p, uint32_t q)
{
    uint32_t nb = take(w, p, w->b), na = take(w, q, w->a), from = 0, found = 0, could = 0;
    if (!nb || !na) return;
    find_next(w, nb, w->m->procs[q].complete ? LAST_NS : LOSSES_NS);
    for (uint32_t i = 0; i < nb; i++) {
        const struct call *b = &w->b[i];
        while (from < na && rs_time_minus(w->a[from].at, b->at) < -SLACK_NS) from++;
        could += from < na;
        for (uint32_t k = from; k < na && k - from < LOOK && w->a[k].at < w->until[i]; k++) {
            bool same = false;
            if (!w->a[k].used) is_same_call(w, b->part, w->a[k].part, &same);
            if (!same) continue;
            w->match[b->part] = w->a[k].part;
            use(w->m, w->a, k, na, is_p2p(&w->m->parts, w->a[k].part) && !is_p2p(&w->m->parts, b->part));
            found++;
            break;
        }
    }
    for (uint32_t i = 0; i < nb && (double)found < MOST * could; i++) w->match[w->b[i].part] = RS_NONE;
}

static void match_all(struct work *w)
{
    const struct rs_model *m = w->m;
    uint32_t most = 0;
    index_parts(w);
    find_leaders(w);
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (w->first[i + 1] - w->first[i] > most) most = w->first[i + 1] - w->first[i];
    w->a = rs_alloc(((size_t)most + 1) * sizeof *w->a);
    w->b = rs_alloc(((size_t)most + 1) * sizeof *w->b);
    w->until = rs_alloc(((size_t)most + 1) * sizeof *w->until);
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (w->lead[i] != RS_NONE) match_processes(w, i, w->lead[i]);
}

void rs_calls_match(const struct rs_model *m, uint32_t *match)
{
    struct work w = {.m = m, .match = match};
    for (uint32_t i = 0; i < m->parts.n; i++) match[i] = RS_NONE;
    match_all(&w);
    free(w.parts);
    free(w.first);
    free(w.lead);
    free(w.next);
    free(w.a);
    free(w.b);
    free(w.until);
    rs_map_free(&w.possible);
}

/* ---- operations ---- */

/* The operation of most parts of b; RS_NONE: none. */
static uint32_t find_target(const struct rs_model *m, const uint32_t *match, uint32_t b)
{
    const struct rs_ops *o = &m->ops;
    uint32_t candidate = RS_NONE, lead = 0;
    for (uint32_t i = 0; i < o->nparts[b]; i++) { /* Boyer and Moore: a majority, if there is one, remains */
        uint32_t part = match[m->order[o->part[b] + i]], op = part == RS_NONE ? RS_NONE : m->parts.op[part];
        /* NCCL sees a gather or scatter of two ranks as one pair. */
        bool in_fan = op != RS_NONE && o->kind[op] == RS_OP_PAIR && o->kind[b] != RS_OP_PAIR;
        if (in_fan && o->fanout[op] != RS_NONE) op = o->fanout[op];
        if (op == RS_NONE) continue;
        if (!lead) candidate = op;
        lead = op == candidate ? lead + 1 : lead - 1;
    }
    return lead ? candidate : RS_NONE;
}

void rs_calls_merge(struct rs_model *m, const uint32_t *match)
{
    for (uint32_t b = 0; b < m->ops.n; b++) {
        if (m->ops.kind[b] == RS_OP_FANOUT || m->ops.over[b] != RS_NONE || m->ops.view[b] != RS_NONE) continue;
        uint32_t a = find_target(m, match, b);
        if (a != RS_NONE) rs_overlay_merge(m, b, a);
    }
}
