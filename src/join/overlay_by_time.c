/* The second part of overlay.h: what order did not match is matched by time, when all clocks are on one axis. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "join/overlay.h"
#include "join/overlay_calls.h"
#include "join/p2p_streams.h"
#include "join/sequences.h"
#include "model/model.h"

/* ---- filling in times ----
 * Times of merged secondary operations for the primary ones: an unknown start or end, or one where a timer gave the
 * time of another operation. Times known by the primary source are kept.
 *
 * The lender must certainly be the same operation: on that rank its call is after the previous one on the communicator,
 * and not after the primary's own; its times are after the launch, and between the preceding and the following kernel.
 * A part with a lent time is marked RS_PART_LENT_START, RS_PART_LENT_END; the clock of that time is the lender's. */

#define SLACK_NS INT64_C(50000) /* by which two tools may see a kernel start at different times, besides clock errors */
#define ERROR_MOST INT64_C(1000000000) /* ns: clocks with larger errors prove nothing */

struct lending {
    struct rs_model *m;
    uint32_t *before, *after; /* by part: the part of its member launched before, and after; RS_NONE */
};

/* ---- neighbours ---- */

/* Parts of a member are in the order of its calls; those of one group call have the same neighbours. */
static void find_neighbours(struct lending *w)
{
    struct turn {
        uint32_t last, other; /* the latest part, and the latest of another group */
    } *turns = rs_alloc(((size_t)w->m->nmembers + 1) * sizeof *turns);
    const struct rs_parts *p = &w->m->parts;
    for (int back = 0; back < 2; back++) {
        uint32_t *side = back ? w->after : w->before;
        for (uint32_t i = 0; i < w->m->nmembers; i++) turns[i] = (struct turn){RS_NONE, RS_NONE};
        for (uint32_t k = 0; k < p->n; k++) {
            uint32_t i = back ? p->n - 1 - k : k;
            side[i] = RS_NONE;
            if (p->member[i] == RS_NONE) continue;
            struct turn *t = &turns[p->member[i]];
            if (t->last != RS_NONE && !rs_launched_together(p, t->last, i)) t->other = t->last;
            t->last = i;
            side[i] = t->other;
        }
    }
    free(turns);
}

/* ---- whether it is the same operation ---- */

/* The error between times of two clocks; false: they cannot be compared. */
static bool error_between(const struct rs_model *m, uint32_t a, uint32_t b, int64_t *error)
{
    if (a == RS_NONE || b == RS_NONE || m->domains[a].island != m->domains[b].island) return false;
    int64_t x = m->domains[a].error_ns, y = m->domains[b].error_ns;
    *error = x + y;
    return x >= 0 && y >= 0 && x <= ERROR_MOST && y <= ERROR_MOST;
}

static bool is_after(int64_t t, int64_t earlier, int64_t slack)
{
    return t == RS_TIME_NONE || earlier == RS_TIME_NONE || rs_time_minus(t, earlier) >= -slack;
}

/* Calls of both: the framework's is before NCCL's, and after NCCL's previous one. Unknown calls do not decide. */
static bool calls_agree(const struct lending *w, uint32_t part, uint32_t other, bool *known)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    int64_t error, call = p->enqueued[other], own = p->enqueued[part];
    *known =
        call != RS_TIME_NONE && own != RS_TIME_NONE && !p->captured[part] && !p->captured[other] &&
        error_between(m, rs_member_host_domain(m, p->member[part]), rs_member_host_domain(m, p->member[other]), &error);
    if (!*known) return true;
    error += SLACK_NS;
    uint32_t before = w->before[part];
    return is_after(own, call, error) && (before == RS_NONE || is_after(call, p->enqueued[before], error));
}

/* The times of the lender's kernel must be between those of the part and its neighbours in the primary source. */
static bool times_fit(const struct lending *w, uint32_t part, uint32_t other)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    uint32_t clock = rs_part_start_domain(m, other), before = w->before[part], after = w->after[part];
    int64_t error, start = p->start[other], end = p->end[other];
    if (start > end) return false;
    int64_t launched = p->flags[part] & RS_PART_LAUNCH_END ? RS_TIME_NONE : p->launched[part];
    if (launched == RS_TIME_NONE) launched = p->enqueued[part];
    if (p->captured[part]) launched = RS_TIME_NONE;
    bool hosts = error_between(m, clock, rs_member_host_domain(m, p->member[part]), &error);
    if (launched != RS_TIME_NONE && !(hosts && is_after(start, launched, error + SLACK_NS))) return false;
    uint32_t own = m->members[p->member[part]].gpu;
    if (own == RS_NONE || !error_between(m, clock, own, &error)) return true; /* it has no GPU times */
    error += SLACK_NS;
    bool from =
        before == RS_NONE || p->start_source[before] != RS_FROM_KERNEL || is_after(start, p->start[before], error);
    bool to = after == RS_NONE || p->start_source[after] != RS_FROM_KERNEL || is_after(p->start[after], end, error);
    return from && to;
}

/* Whether a part has the start timer of another operation: what the driver recorded of the kernel (on the host's clock)
 * differs by more than the clock errors. Not needed for recordings, whose reader knows the order of launches and
 * channels. */
static bool is_stale(const struct lending *w, uint32_t part, uint32_t other, bool called)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    uint32_t a = rs_part_start_domain(m, part), b = rs_part_start_domain(m, other);
    int64_t error;
    if (!called || rs_tool_has(rs_part_proc(m, part)->tool, RS_CAP_STALE_TIMERS) || a == RS_NONE ||
        m->domains[a].rigid || !m->domains[b].rigid || !error_between(m, a, b, &error))
        return false;
    int64_t most = 2 * error + SLACK_NS;
    return !is_after(p->start[part], p->start[other], most) || !is_after(p->start[other], p->start[part], most);
}

/* ---- lending ---- */

/* Returns whether all unknown times of the part were filled in. */
static bool lend_from(struct lending *w, uint32_t part, uint32_t other)
{
    struct rs_model *m = w->m;
    struct rs_parts *p = &m->parts;
    bool called, starts = p->start[part] == RS_TIME_NONE, ends = !rs_part_has_ended(m, part), stale = false;
    if (!calls_agree(w, part, other, &called)) return false;
    if (!starts && p->start_source[part] == RS_FROM_KERNEL) stale = is_stale(w, part, other, called);
    if (!starts && !ends && !stale) return true;
    int64_t error;
    bool own = !starts && !stale;
    if (own) { /* only the end is unknown: it must belong to that start */
        if (!error_between(m, rs_part_start_domain(m, part), rs_part_start_domain(m, other), &error)) return false;
        error += SLACK_NS;
        if (!is_after(p->start[other], p->start[part], error) || !is_after(p->start[part], p->start[other], error))
            return false;
        if (p->end[other] < p->start[part]) return false;
    }
    if (!stale && !times_fit(w, part, other)) return false;
    if (starts && !ends && !is_after(p->end[part], p->start[other], 0)) return false;
    if (stale) {
        m->domains[m->members[p->member[part]].gpu].stale++;
        p->flags[part] |= RS_PART_STALE;
        ends = ends || p->end_source[part] == RS_FROM_KERNEL;
    }
    if (starts || stale) {
        p->start[part] = p->start[other];
        p->start_source[part] = RS_FROM_KERNEL;
        p->flags[part] |= RS_PART_LENT_START;
    }
    if (ends) {
        p->end[part] = p->end[other];
        p->end_source[part] = RS_FROM_KERNEL;
        p->flags[part] |= RS_PART_LENT_END;
        p->flags[part] &= ~(uint32_t)RS_PART_END_EARLY;
    }
    return true;
}

static void lend(struct lending *w, uint32_t op, uint32_t part)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    const struct rs_member *x = &m->members[p->member[part]];
    for (uint32_t v = m->ops.view[op]; v != RS_NONE; v = m->ops.view[v]) {
        int32_t rank = rs_overlay_rank(m, m->ops.comm[op], x->rank, m->ops.comm[v]);
        uint32_t other = rank < 0 ? RS_NONE : rs_op_part_of(m, v, rank);
        if (other == RS_NONE || p->start_source[other] != RS_FROM_KERNEL || p->end_source[other] != RS_FROM_KERNEL)
            continue;
        if (m->procs[m->members[p->member[other]].proc].same != x->proc) continue;
        if (lend_from(w, part, other)) return;
    }
}

static void lend_all(struct lending *w)
{
    const struct rs_model *m = w->m;
    for (uint32_t op = 0; op < m->ops.n; op++) {
        if (m->ops.view[op] == RS_NONE || m->ops.over[op] != RS_NONE) continue;
        for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
            uint32_t part = m->order[m->ops.part[op] + i];
            /* Pairs merged as such have their times already. */
            bool own = m->ops.kind[op] == RS_OP_FANOUT && m->ops.view[m->parts.op[part]] != RS_NONE;
            if (!own && !(m->parts.flags[part] & RS_PART_SELF)) lend(w, op, part);
        }
    }
}

/* Needs all times on one axis. */
static void overlay_lend(struct rs_model *m)
{
    size_t n = (size_t)m->parts.n + 1;
    struct lending w = {.m = m, .before = rs_alloc(n * sizeof *w.before), .after = rs_alloc(n * sizeof *w.after)};
    find_neighbours(&w);
    lend_all(&w);
    free(w.before);
    free(w.after);
}

/* ---- by time ---- */

/* Besides clock errors: calls may be delayed between the framework and NCCL. */
#define NEAR_NS INT64_C(1000000)
#define MOST 0.75 /* of the operations of a communicator that only times support */
enum { NEIGHBOURS = 8, PASSES = 4 };

struct timed {
    int64_t at;
    uint32_t op;
};

struct found {
    uint32_t b, a;
};

struct work {
    struct rs_model *m;
    struct rs_sequences sequences;
    struct timed *times; /* room for every operation, as all of the following */
    uint32_t *left_b, *left_a;
    struct found *found;
    uint32_t *used; /* by operation: its counterpart in this attempt; RS_NONE */
    uint32_t nfound;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static uint8_t tool_of(const struct rs_model *m, uint32_t op)
{
    return m->comms[m->ops.comm[op]].tool;
}

static bool is_free(const struct work *w, uint32_t a, uint32_t b)
{
    if (w->m->ops.over[a] != RS_NONE || !rs_overlay_takes(w->m, a, b)) return false;
    return w->used[a] == RS_NONE || rs_overlay_may_be_one(w->m, w->used[a], b);
}

static bool is_left(const struct work *w, uint32_t b)
{
    return w->m->ops.over[b] == RS_NONE && w->m->ops.view[b] == RS_NONE && w->used[b] == RS_NONE;
}

static void note(struct work *w, uint32_t b, uint32_t a)
{
    w->found[w->nfound++] = (struct found){b, a};
    w->used[a] = b;
    w->used[b] = a;
}

/* ---- one sequence ---- */

/* The earliest time of a rank in an operation, and its clock; a fan-out has several parts per rank. */
static int64_t rank_time(const struct rs_model *m, uint32_t op, int32_t rank, bool starts, uint32_t *clock)
{
    const struct rs_parts *p = &m->parts;
    int64_t earliest = RS_TIME_NONE;
    uint32_t n = m->ops.kind[op] == RS_OP_FANOUT ? m->ops.nparts[op] : 1, one = rs_op_part_of(m, op, rank);
    for (uint32_t i = 0; i < n && one != RS_NONE; i++) {
        uint32_t part = n == 1 ? one : m->order[m->ops.part[op] + i];
        if (m->members[p->member[part]].rank != rank) continue;
        if (starts && p->start_source[part] != RS_FROM_KERNEL) continue;
        int64_t t = starts ? p->start[part] : p->enqueued[part];
        if (t == RS_TIME_NONE || (earliest != RS_TIME_NONE && t >= earliest)) continue;
        earliest = t;
        *clock = starts ? rs_part_start_domain(m, part) : rs_member_host_domain(m, p->member[part]);
    }
    return earliest;
}

/* How far two times may be apart; RS_TIME_NONE: they cannot be compared. */
static int64_t tolerance(const struct rs_model *m, uint32_t x, uint32_t y)
{
    if (x == RS_NONE || y == RS_NONE || m->domains[x].island != m->domains[y].island) return RS_TIME_NONE;
    int64_t a = m->domains[x].error_ns, b = m->domains[y].error_ns;
    if (a < 0 || b < 0 || a > NEAR_NS * 1000 || b > NEAR_NS * 1000) return RS_TIME_NONE;
    return a + b + NEAR_NS;
}

/* Finds for operation b the nearest of times[0 .. n) that is not used. */
static bool match_one(struct work *w, uint32_t b, int64_t at, uint32_t clock, uint32_t n, int32_t rank, bool starts)
{
    const struct rs_model *m = w->m;
    uint32_t low = 0, high = n, best = RS_NONE;
    RS_BISECT(low, high, middle, w->times[middle].at < at);
    uint32_t from = low > NEIGHBOURS ? low - NEIGHBOURS : 0, to = n - low > NEIGHBOURS ? low + NEIGHBOURS : n;
    int64_t nearest = INT64_MAX;
    for (uint32_t i = from; i < to; i++) {
        uint32_t a = w->times[i].op, other = RS_NONE;
        int64_t d = rs_time_minus(w->times[i].at, at);
        if (d < 0) d = d == INT64_MIN ? INT64_MAX : -d;
        if (d >= nearest || !is_free(w, a, b)) continue;
        rank_time(m, a, rank, starts, &other);
        int64_t most = tolerance(m, clock, other);
        if (most == RS_TIME_NONE || d > most) continue;
        nearest = d;
        best = a;
    }
    if (best == RS_NONE) return false;
    note(w, b, best);
    return true;
}

/* Operations of b, in left_b, against those of a, in left_a, on the clock of one rank of b. */
static void match_rank(struct work *w, uint32_t nb, uint32_t na, uint32_t comm_b, int32_t rank, uint32_t comm_a)
{
    const struct rs_model *m = w->m;
    int32_t other = rs_overlay_rank(m, comm_b, rank, comm_a);
    for (int starts = 1; starts >= 0 && other >= 0; starts--) {
        uint32_t n = 0, clock;
        for (uint32_t i = 0; i < na; i++) {
            int64_t at = rank_time(m, w->left_a[i], other, starts, &clock);
            if (at != RS_TIME_NONE) w->times[n++] = (struct timed){at, w->left_a[i]};
        }
        if (!n) continue;
        qsort(w->times, n, sizeof *w->times, by_time);
        for (uint32_t i = 0; i < nb; i++) {
            if (!is_left(w, w->left_b[i])) continue;
            int64_t at = rank_time(m, w->left_b[i], rank, starts, &clock);
            if (at != RS_TIME_NONE) match_one(w, w->left_b[i], at, clock, n, other, starts);
        }
    }
}

/* `b`: one of the operations to match; RS_NONE: they differ, and each is tested. */
static uint32_t take_free(struct work *w, const struct rs_sequence *a, uint32_t b, uint32_t n)
{
    for (uint32_t i = 0; a && i < a->n; i++) {
        uint32_t op = w->sequences.ops[a->first + i];
        if (w->m->ops.over[op] == RS_NONE && (b == RS_NONE || is_free(w, op, b))) w->left_a[n++] = op;
    }
    return n;
}

/* Operations of a that may belong to sequence b: into left_a. */
static uint32_t take_counterparts(struct work *w, const struct rs_sequence *b, uint32_t a)
{
    static const uint8_t kinds[] = {RS_OP_COLL, RS_OP_API, RS_OP_CE, RS_OP_FANOUT};
    if (b->kind == RS_OP_PAIR) {
        int32_t src = rs_overlay_rank(w->m, b->comm, (int32_t)b->a, a);
        int32_t dst = rs_overlay_rank(w->m, b->comm, (int32_t)b->b, a);
        if (src < 0 || dst < 0) return 0;
        return take_free(w, rs_sequences_find(&w->sequences, a, RS_OP_PAIR, (uint32_t)src, (uint32_t)dst), RS_NONE, 0);
    }
    uint32_t n = 0;
    for (size_t k = b->kind == RS_OP_FANOUT ? 3 : 0; k < sizeof kinds; k++)
        n = take_free(w, rs_sequences_find(&w->sequences, a, kinds[k], b->a, 0), w->left_b[0], n);
    return n;
}

/* Returns how many remained before. */
static uint32_t match_sequence(struct work *w, const struct rs_sequence *b, uint32_t a)
{
    const struct rs_model *m = w->m;
    uint32_t nb = 0, before = w->nfound;
    for (uint32_t i = 0; i < b->n; i++)
        if (is_left(w, w->sequences.ops[b->first + i])) w->left_b[nb++] = w->sequences.ops[b->first + i];
    uint32_t na = nb ? take_counterparts(w, b, a) : 0;
    if (!na) return nb;
    /* Not every operation has every rank: those of the first remaining operation, as long as there are any. */
    uint32_t at = 0;
    for (int pass = 0; pass < PASSES && m->aligned; pass++, at++) {
        while (at < nb && !is_left(w, w->left_b[at])) at++;
        if (at == nb) break;
        uint32_t part = m->order[m->ops.part[w->left_b[at]]];
        match_rank(w, nb, na, b->comm, m->members[m->parts.member[part]].rank, a);
    }
    /* Without comparable times: equal numbers on both sides, one after the other. */
    if (w->nfound == before && !m->aligned && na == nb)
        for (uint32_t i = 0; i < nb; i++)
            if (is_free(w, w->left_a[i], w->left_b[i])) note(w, w->left_b[i], w->left_a[i]);
    return nb;
}

/* ---- communicators ---- */

static void forget(struct work *w)
{
    for (uint32_t i = 0; i < w->nfound; i++) w->used[w->found[i].a] = w->used[w->found[i].b] = RS_NONE;
    w->nfound = 0;
}

static void commit(struct work *w)
{
    for (uint32_t i = 0; i < w->nfound; i++) rs_overlay_merge(w->m, w->found[i].b, w->found[i].a);
    forget(w);
}

static uint32_t match_comm(struct work *w, uint32_t b, uint32_t a)
{
    uint32_t left = 0;
    for (uint32_t i = w->sequences.of[b]; i < w->sequences.of[b + 1]; i++)
        left += match_sequence(w, &w->sequences.all[i], a);
    return left;
}

/* Whether a rank of b runs in a process that is known to be one of a's. */
static bool shares_process(const struct rs_model *m, uint32_t b, uint32_t a)
{
    for (uint32_t i = m->comms[b].first_member; i != RS_NONE; i = m->members[i].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[i].rank, a);
        uint32_t k = rank < 0 ? RS_NONE : rs_comm_member(m, a, rank);
        if (k != RS_NONE && m->procs[m->members[i].proc].same == m->members[k].proc) return true;
    }
    return false;
}

/* A communicator that order did not match, in known processes. */
static void find_comm(struct work *w, uint32_t b)
{
    struct rs_model *m = w->m;
    uint32_t best = RS_NONE, most = 0;
    for (uint32_t a = 0; a < m->ncomms; a++) {
        if (m->comms[a].tool >= m->comms[b].tool || m->comms[a].nranks != m->comms[b].nranks) continue;
        if (!shares_process(m, b, a) || !rs_overlay_possible(m, b, a)) continue;
        bool taken = false;
        for (uint32_t v = m->comms[a].view; v != RS_NONE; v = m->comms[v].view)
            taken |= m->comms[v].tool == m->comms[b].tool;
        if (taken) continue;
        uint32_t left = match_comm(w, b, a);
        if (w->nfound > most && (double)w->nfound >= MOST * left) {
            most = w->nfound;
            best = a;
        }
        forget(w);
    }
    if (best == RS_NONE) return;
    rs_overlay_join(m, b, best);
    match_comm(w, b, best);
    commit(w);
}

static void merge_rest(struct work *w, uint8_t tool)
{
    struct rs_model *m = w->m;
    for (uint32_t b = 0; b < m->ncomms; b++) {
        if (m->comms[b].tool != tool) continue;
        uint32_t a = m->comms[b].over;
        if (a == RS_NONE) {
            find_comm(w, b);
            continue;
        }
        match_comm(w, b, a);
        commit(w);
        /* What the primary source does not contain, another may. */
        for (uint32_t v = m->comms[a].view; v != RS_NONE; v = m->comms[v].view) {
            if (m->comms[v].tool >= tool) continue;
            match_comm(w, b, v);
            commit(w);
        }
    }
}

/* PyTorch may use a communicator of two ranks for sends and receives between them, with the group's name. */
static void merge_pairs(struct work *w, uint8_t tool)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = 0; i < w->sequences.n; i++) {
        const struct rs_sequence *b = &w->sequences.all[i];
        bool left = false;
        if (b->kind != RS_OP_PAIR || m->comms[b->comm].tool != tool) continue;
        for (uint32_t k = 0; k < b->n && !left; k++) left = is_left(w, w->sequences.ops[b->first + k]);
        for (uint32_t a = 0; a < m->ncomms && left; a++) {
            if (m->comms[a].tool >= tool || m->comms[a].nranks != 2 || m->comms[a].over != RS_NONE) continue;
            if (a == m->comms[b->comm].over || !shares_process(m, b->comm, a)) continue;
            match_sequence(w, b, a);
            commit(w);
        }
    }
}

/* ---- fan-outs ---- */

/* A fan-out whose pairs are all merged is the fan-out of those pairs. */
static void merge_fanouts(struct rs_model *m)
{
    struct rs_ops *o = &m->ops;
    for (uint32_t f = 0; f < o->n; f++) {
        if (o->kind[f] != RS_OP_FANOUT || o->over[f] != RS_NONE || o->view[f] != RS_NONE) continue;
        uint32_t over = RS_NONE;
        bool all = o->nparts[f] > 0;
        for (uint32_t i = 0; i < o->nparts[f] && all; i++) {
            uint32_t pair = m->parts.op[m->order[o->part[f] + i]];
            all = pair != RS_NONE && o->over[pair] != RS_NONE;
            if (all && over == RS_NONE)
                over = o->fanout[o->over[pair]] != RS_NONE ? o->fanout[o->over[pair]] : o->over[pair];
        }
        if (all && over != RS_NONE && !rs_overlay_merge(m, f, over))
            o->over[f] = over; /* a second view of the same: hidden too */
    }
}

/* The pairs of a fan-out that is merged into another. */
static void hide_pairs(struct rs_model *m)
{
    struct rs_ops *o = &m->ops;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t f = o->kind[i] == RS_OP_PAIR ? o->fanout[i] : RS_NONE;
        if (f != RS_NONE && o->over[f] != RS_NONE && o->over[i] == RS_NONE && o->view[i] == RS_NONE)
            o->over[i] = o->over[f];
    }
}

/* ---- what does not match ---- */

static enum rs_status say(struct rs_model *m, uint8_t tool, struct rs_err *err)
{
    const struct rs_ops *o = &m->ops;
    uint64_t merged = 0, own = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        if (tool_of(m, i) != tool || (o->kind[i] == RS_OP_PAIR && o->fanout[i] != RS_NONE)) continue;
        merged += o->over[i] != RS_NONE;
        own += o->over[i] == RS_NONE;
    }
    if (!merged && own)
        return rs_model_note(m, err,
                             "%s: none of its %" PRIu64 " operations matches one of the other inputs: ranks, order "
                             "or times differ, as in another job or another run of it; all "
                             "are shown separately",
                             rs_tool_name(tool), own);
    if (own)
        return rs_model_note(m, err,
                             "%s: %" PRIu64 " of its %" PRIu64 " operations match none of the other inputs and are "
                             "shown separately; the others are merged",
                             rs_tool_name(tool), own, merged + own);
    return RS_OK;
}

enum rs_status rs_overlay_by_time(struct rs_model *m, struct rs_err *err)
{
    uint32_t tools = 0;
    for (uint32_t i = 0; i < m->ops.n; i++) tools |= 1u << tool_of(m, i);
    if (!(tools & (tools - 1))) return RS_OK;
    size_t n = (size_t)m->ops.n + 1;
    struct work w = {.m = m,
                     .times = rs_alloc(n * sizeof *w.times),
                     .left_b = rs_alloc(n * sizeof *w.left_b),
                     .left_a = rs_alloc(n * sizeof *w.left_a),
                     .found = rs_alloc(n * sizeof *w.found),
                     .used = rs_alloc(n * sizeof *w.used)};
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < n; i++) w.used[i] = RS_NONE;
    uint32_t *match = rs_alloc(((size_t)m->parts.n + 1) * sizeof *match);
    rs_calls_match(m, match);
    rs_calls_merge(m, match); /* again, for pairs and fan-outs that needed times */
    merge_fanouts(m);
    free(match);
    rs_sequences_init(&w.sequences, m);
    for (uint8_t tool = 1; tool < RS_TOOLS; tool++)
        if (tools >> tool & 1) {
            merge_rest(&w, tool);
            merge_pairs(&w, tool);
        }
    merge_fanouts(m);
    hide_pairs(m);
    if (m->aligned) overlay_lend(m);
    for (uint8_t tool = 1; tool < RS_TOOLS && status == RS_OK; tool++)
        if (tools >> tool & 1 && tools & ((1u << tool) - 1)) status = say(m, tool, err);
    rs_sequences_free(&w.sequences);
    free(w.times);
    free(w.left_b);
    free(w.left_a);
    free(w.found);
    free(w.used);
    return status;
}
