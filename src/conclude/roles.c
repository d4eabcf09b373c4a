#include "conclude/roles.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "conclude/layout.h"
#include "join/flow.h"

/* ---- what is counted ----
 * Collectives are counted by communicator, and what differs between its members by rank: each has a profile of what it
 * does per step. */

enum {
    LEAST_STEPS = 3, /* fewer say nothing about a step: the run is taken as one */
    EXTRA_OPS = 2, /* that may differ in the whole run */
    SPARSE = 4, /* a communicator used in fewer than one of so many steps is of checkpoints and the like */
    TOLERANCE_PCT = 10,
    ROOT_TOLERANCE_PCT = 50, /* roots that take turns have not exactly equal turns */
};

/* What a profile has of a class of operations. */
struct tally {
    uint64_t class;
    uint32_t owner; /* its profile */
    uint32_t step, now; /* the last step in which it was counted, and how often there */
    uint64_t sum; /* of all steps */
    uint32_t first_count; /* list of its counts by step, in `counts` */
    uint32_t usual; /* median of its owner's steps */
    bool root;
};

struct count {
    uint32_t n, next; /* next: RS_NONE: the last */
};

struct profile {
    uint32_t first_step, step; /* the first and last in which it does anything */
    uint32_t steps; /* how many there are; of a rank: the most of its own and of its communicators */
    uint32_t first, n; /* its tallies, when sorted */
    uint64_t ops;
    uint32_t kind; /* profiles of one kind are alike */
};

struct work {
    const struct rs_model *m;
    struct rs_map index; /* (profile, class) -> tally */
    struct tally *tallies;
    uint32_t ntallies, cap_tallies;
    struct count *counts;
    uint32_t ncounts, cap_counts;
    struct profile *profiles; /* of communicators, then of ranks */
    uint32_t nprofiles;
    bool by_step; /* else the run is one: its start-up, whose root is rank 0, is in it */
};

static void end_step(struct work *w, struct tally *t)
{
    if (!t->now) return;
    RS_ROOM(w->counts, w->ncounts, w->cap_counts);
    w->counts[w->ncounts] = (struct count){t->now, t->first_count};
    t->first_count = w->ncounts++;
    t->now = 0;
}

static void count(struct work *w, uint32_t owner, uint64_t class, bool root, uint32_t step)
{
    struct profile *p = &w->profiles[owner];
    uint64_t *at;
    rs_map_at(&w->index, rs_mix(rs_mix(1, owner), class), w->ntallies, &at);
    if (*at == w->ntallies) {
        RS_ROOM(w->tallies, w->ntallies, w->cap_tallies);
        w->tallies[w->ntallies++] =
            (struct tally){.class = class, .owner = owner, .step = step, .first_count = RS_NONE, .root = root};
        p->n++;
    }
    struct tally *t = &w->tallies[*at];
    if (t->step != step) end_step(w, t);
    t->step = step;
    t->now++;
    t->sum++;
    p->ops++;
    if (p->step == step) return;
    if (!p->steps++) p->first_step = step;
    p->step = step;
}

/* ---- operations ---- */

static uint64_t class_of(const struct rs_model *m, uint32_t op, uint64_t role)
{
    uint32_t nranks = (uint32_t)m->comms[m->ops.comm[op]].nranks;
    /* Sizes of fan-outs depend on the data (experts), and so do their names: pairs without data are left out. */
    bool fanout = m->ops.kind[op] == RS_OP_FANOUT;
    uint64_t bytes = fanout || role ? 0 : m->ops.bytes[op], func = fanout ? UINT64_MAX : m->ops.func[op];
    return rs_mix(rs_mix(rs_mix(rs_mix(2, func), nranks), bytes), role);
}

static void count_collective(struct work *w, uint32_t op, uint32_t step)
{
    const struct rs_model *m = w->m;
    uint32_t comm = m->ops.comm[op];
    if (m->comms[comm].nranks == 1) return;
    count(w, comm, class_of(m, op, 0), false, step);
    bool rooted = m->ops.root[op] >= 0 && rs_func_has_root(m, m->ops.func[op]); /* others are reported with root 0 */
    uint32_t root = rooted ? rs_comm_member(m, comm, m->ops.root[op]) : RS_NONE;
    if (w->by_step && root != RS_NONE && m->members[root].rank_id != RS_NONE)
        count(w, m->ncomms + m->members[root].rank_id, class_of(m, op, 1), true, step);
}

/* The direction of a send or receive: to the ranks above or below, in the shorter way round, so that in a ring all are
 * equal and in a chain the ends differ. Where both ways are the same, numbers decide, unless the two exchange. */
enum direction { NOWHERE, UP, DOWN, OPPOSITE_UP, OPPOSITE_DOWN, OPPOSITE_EXCHANGE };

static enum direction direction_of(int32_t rank, int32_t peer, int32_t nranks)
{
    if (rank < 0 || peer < 0 || rank == peer || rank >= nranks || peer >= nranks) return NOWHERE;
    int64_t way = (int64_t)(peer > rank ? peer - rank : nranks - (rank - peer));
    if (2 * way == nranks) return peer > rank ? OPPOSITE_UP : OPPOSITE_DOWN;
    return 2 * way < nranks ? UP : DOWN;
}

/* `exchange`: it sends to its opposite and receives from it. */
static void count_pair(struct work *w, uint32_t member, int32_t peer, bool send, bool exchange, uint32_t step)
{
    const struct rs_model *m = w->m;
    if (member == RS_NONE || m->members[member].rank_id == RS_NONE) return;
    uint32_t nranks = (uint32_t)m->comms[m->members[member].comm].nranks;
    enum direction d = direction_of(m->members[member].rank, peer, (int32_t)nranks);
    if (exchange && (d == OPPOSITE_UP || d == OPPOSITE_DOWN)) d = OPPOSITE_EXCHANGE;
    uint64_t class = rs_mix(rs_mix(rs_mix(3, nranks), d), send);
    count(w, m->ncomms + m->members[member].rank_id, class, false, step);
}

/* The sends and receives of one rank in an operation: its parts [from, to). The other side counts, too, if it was not
 * recorded. */
static void count_pairs_of(struct work *w, uint32_t op, uint32_t from, uint32_t to, uint32_t step)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *t = &m->parts;
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t member = t->member[order[from]], comm = m->members[member].comm;
    bool sends = false, receives = false; /* to and from its opposite */
    for (uint32_t i = from; i < to; i++) {
        enum direction d = direction_of(m->members[member].rank, t->peer[order[i]], m->comms[comm].nranks);
        bool send = t->kind[order[i]] == RS_PART_SEND;
        if (d != OPPOSITE_UP && d != OPPOSITE_DOWN) continue;
        sends = sends || send;
        receives = receives || !send;
    }
    for (uint32_t i = from; i < to; i++) {
        uint32_t part = order[i], pair = t->op[part];
        bool send = t->kind[part] == RS_PART_SEND, exchange = sends && receives;
        if (t->flags[part] & RS_PART_SELF) continue;
        count_pair(w, member, t->peer[part], send, exchange, step);
        if (pair != RS_NONE && m->ops.nparts[pair] == 1)
            count_pair(w, rs_comm_member(m, comm, t->peer[part]), m->members[member].rank, !send, exchange, step);
    }
}

static void count_pairs(struct work *w, uint32_t op, uint32_t step)
{
    const struct rs_model *m = w->m;
    const uint32_t *order = m->order + m->ops.part[op];
    for (uint32_t i = 0, k; i < m->ops.nparts[op]; i = k) { /* parts are by rank */
        for (k = i + 1; k < m->ops.nparts[op] && m->parts.member[order[k]] == m->parts.member[order[i]];) k++;
        count_pairs_of(w, op, i, k, step);
    }
}

bool rs_fanout_is_wide(const struct rs_model *m, uint32_t op)
{
    /* parts are by rank */
    int32_t peers[2] = {-1, -1};
    uint32_t member = RS_NONE;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        int32_t peer = m->parts.peer[part];
        if (m->parts.member[part] != member) peers[0] = peers[1] = -1;
        member = m->parts.member[part];
        if ((m->parts.flags[part] & RS_PART_SELF) || peer == peers[0] || peer == peers[1]) continue;
        if (peers[1] >= 0) return true;
        peers[peers[0] >= 0] = peer;
    }
    return false;
}

static void count_op(struct work *w, uint32_t op, uint32_t step)
{
    const struct rs_ops *o = &w->m->ops;
    bool fanout = o->kind[op] == RS_OP_FANOUT;
    if (o->kind[op] == RS_OP_PAIR || (fanout && !rs_fanout_is_wide(w->m, op)))
        count_pairs(w, op, step);
    else
        count_collective(w, op, step);
}

static void count_all(struct work *w, const struct rs_view *view, const struct rs_steps *steps)
{
    struct rs_step_ops by_step = {0};
    w->by_step = steps && steps->n >= LEAST_STEPS;
    if (!w->by_step) {
        for (uint32_t i = 0; i < view->nops; i++) count_op(w, view->ops[i], 0);
    } else {
        rs_step_ops_init(&by_step, steps, view);
        for (uint32_t s = 0; s < steps->n; s++)
            for (uint32_t i = by_step.first[s]; i < by_step.first[s + 1]; i++) count_op(w, by_step.ops[i], s);
        rs_step_ops_free(&by_step);
    }
    for (uint32_t i = 0; i < w->ntallies; i++) end_step(w, &w->tallies[i]);
}

/* ---- profiles ---- */

static void find_steps_of_ranks(struct work *w)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (m->members[i].rank_id == RS_NONE) continue;
        struct profile *p = &w->profiles[m->ncomms + m->members[i].rank_id];
        uint32_t steps = w->profiles[m->members[i].comm].steps;
        if (steps > p->steps) p->steps = steps;
    }
}

static void find_usual(struct work *w)
{
    int64_t *values = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < w->ntallies; i++) {
        struct tally *t = &w->tallies[i];
        uint32_t n = 0, steps = w->profiles[t->owner].steps;
        for (uint32_t c = t->first_count; c != RS_NONE; c = w->counts[c].next) {
            RS_ROOM(values, n, cap);
            values[n++] = w->counts[c].n;
        }
        uint32_t none = steps - n; /* steps without it: the lowest values of the median */
        uint32_t place = (steps + 1) / 2;
        t->usual = place <= none ? 0 : (uint32_t)rs_quantile(values, n, ((double)(place - none) - 0.5) / n);
    }
    free(values);
}

static int by_owner(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static void sort_tallies(struct work *w)
{
    uint32_t first = 0;
    if (w->ntallies) qsort(w->tallies, w->ntallies, sizeof *w->tallies, by_owner);
    for (uint32_t i = 0; i < w->nprofiles; i++) {
        w->profiles[i].first = first;
        first += w->profiles[i].n;
    }
}

static double rate(const struct tally *t, const struct profile *p)
{
    return t ? (double)t->sum / p->steps : 0;
}

/* Whether two profiles have as much of a class; NULL: it has none. */
static bool alike_in(const struct tally *x, const struct profile *p, const struct tally *y, const struct profile *q)
{
    uint32_t a = x ? x->usual : 0, b = y ? y->usual : 0, least = p->steps < q->steps ? p->steps : q->steps;
    double share = ((x ? x : y)->root ? ROOT_TOLERANCE_PCT : TOLERANCE_PCT) / 100.0;
    if ((a || b) && (a > b ? a - b : b - a) <= share * (a > b ? a : b)) return true;
    if ((x ? x : y)->root && !a && !b) return true; /* not in most steps: it does not divide ranks */
    double f = rate(x, p), g = rate(y, q), apart = f > g ? f - g : g - f;
    return apart <= share * (f > g ? f : g) || apart * least <= EXTRA_OPS;
}

static bool alike(const struct work *w, const struct profile *p, const struct profile *q)
{
    const struct tally *x = w->tallies + p->first, *y = w->tallies + q->first;
    const struct tally *x_end = x + p->n, *y_end = y + q->n;
    while (x < x_end || y < y_end) {
        bool left = y == y_end || (x < x_end && x->class <= y->class);
        bool right = x == x_end || (y < y_end && y->class <= x->class);
        if (!alike_in(left ? x : NULL, p, right ? y : NULL, q)) return false;
        x += left;
        y += right;
    }
    return true;
}

/* Whether a profile says something about its ranks. */
static bool counts(const struct profile *p, bool of_comm)
{
    if (!of_comm) return p->steps > 0;
    return p->ops > EXTRA_OPS && (uint64_t)p->steps * SPARSE >= (uint64_t)p->step - p->first_step + 1;
}

/* Profiles of one kind are alike its first one. Equal ones are found by their hash; others are compared with the first
 * of each kind, up to MOST_KINDS: more are data-dependent, and all equals have been found by then. */
static void find_kinds(struct work *w, uint32_t from, uint32_t to)
{
    enum { MOST_KINDS = 64 };
    struct rs_map index = {0};
    uint32_t firsts[MOST_KINDS], n = 0;
    for (uint32_t i = from; i < to; i++) {
        struct profile *p = &w->profiles[i];
        if (!counts(p, i < w->m->ncomms)) continue;
        uint64_t hash = 4, *at;
        for (uint32_t k = p->first; k < p->first + p->n; k++)
            if (w->tallies[k].usual) hash = rs_mix(rs_mix(hash, w->tallies[k].class), w->tallies[k].usual);
        rs_map_at(&index, hash, i, &at);
        p->kind = (uint32_t)*at;
        if (p->kind != i && alike(w, p, &w->profiles[p->kind])) {
            p->kind = w->profiles[p->kind].kind;
            continue;
        }
        p->kind = i;
        uint32_t k = 0;
        while (k < n && !alike(w, p, &w->profiles[firsts[k]])) k++;
        if (k < n)
            p->kind = firsts[k];
        else if (n < MOST_KINDS)
            firsts[n++] = i;
    }
    rs_map_free(&index);
}

/* ---- roles ---- */

/* What a rank does: the kinds of its communicators, each once, and of its own profile. A communicator that was made
 * again halfway is no difference. */
struct kind_row {
    uint32_t rank_id, kind;
};

static int by_rank(const void *a, const void *b)
{
    const struct kind_row *x = a, *y = b;
    if (x->rank_id != y->rank_id) return x->rank_id < y->rank_id ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void number_roles(struct rs_roles *r, const struct work *w, const struct rs_job_layout *layout)
{
    const struct rs_model *m = w->m;
    struct kind_row *rows = rs_alloc(((size_t)m->nmembers + m->nranks + 1) * sizeof *rows);
    uint64_t *hash = rs_alloc(((size_t)m->nranks + 1) * sizeof *hash);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct profile *p = &w->profiles[m->members[i].comm];
        if (m->members[i].rank_id != RS_NONE && p->kind != RS_NONE)
            rows[n++] = (struct kind_row){m->members[i].rank_id, p->kind};
    }
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct profile *p = &w->profiles[m->ncomms + i];
        hash[i] = rs_mix(5, rs_job_layout_stage(layout, i));
        if (p->kind != RS_NONE) rows[n++] = (struct kind_row){i, p->kind};
    }
    qsort(rows, n, sizeof *rows, by_rank);
    for (uint32_t i = 0; i < n; i++)
        if (!i || by_rank(&rows[i], &rows[i - 1])) hash[rows[i].rank_id] = rs_mix(hash[rows[i].rank_id], rows[i].kind);
    struct rs_map index = {0};
    for (uint32_t i = 0; i < m->nranks; i++) {
        uint64_t *at;
        r->of[i] = RS_NONE;
        if (!w->profiles[m->ncomms + i].steps) continue;
        rs_map_at(&index, hash[i], r->n, &at);
        r->of[i] = (uint32_t)*at;
        r->n += *at == r->n;
        r->size[r->of[i]]++;
    }
    rs_map_free(&index);
    free(rows);
    free(hash);
}

void rs_roles_find(struct rs_roles *r, const struct rs_view *view, const struct rs_steps *steps,
                   const struct rs_job_layout *layout)
{
    const struct rs_model *m = view->model;
    struct work w = {.m = m, .nprofiles = m->ncomms + m->nranks};
    *r = (struct rs_roles){0};
    r->of = rs_alloc(((size_t)m->nranks + 1) * sizeof *r->of);
    r->size = rs_zalloc((size_t)m->nranks + 1, sizeof *r->size);
    w.profiles = rs_zalloc((size_t)w.nprofiles + 1, sizeof *w.profiles);
    for (uint32_t i = 0; i < w.nprofiles; i++) w.profiles[i].step = w.profiles[i].kind = RS_NONE;
    count_all(&w, view, steps);
    find_steps_of_ranks(&w);
    find_usual(&w);
    sort_tallies(&w);
    find_kinds(&w, 0, m->ncomms);
    find_kinds(&w, m->ncomms, w.nprofiles);
    number_roles(r, &w, layout);
    rs_map_free(&w.index);
    free(w.tallies);
    free(w.counts);
    free(w.profiles);
}

void rs_roles_free(struct rs_roles *r)
{
    free(r->of);
    free(r->size);
    *r = (struct rs_roles){0};
}
