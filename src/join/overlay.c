#include "join/overlay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/map.h"
#include "base/memory.h"
#include "join/classes.h"
#include "join/collectives.h"
#include "join/overlay_calls.h"
#include "join/shifts.h"

/* ---- rank by rank ----
 * Merging rank by rank: a rank's operations on a communicator, in their order, with those of the same rank in the
 * primary source.
 *
 * A tool that numbers nothing (Kineto) joins ranks by order and time, and may join wrong ones if windows differ. Which
 * primary operation a rank's own operation is does not depend on that. So its parts are regrouped as in the primary
 * source, and each group is merged into its operation. The calls determine which one it is (overlay_calls.h);
 * otherwise, for collectives, order and the pattern of times (shifts.h). What cannot be assigned with certainty stays
 * as it is. */

/* Parts of operations by member, in time order; zeroed, it is empty. */
struct by_member {
    uint32_t *parts, *first; /* those of member i: parts[first[i] .. first[i + 1]) */
};

/* ---- parts by member ---- */

static bool is_counted(const struct rs_model *m, uint32_t part)
{
    uint32_t op = m->parts.op[part];
    if (m->parts.member[part] == RS_NONE || op == RS_NONE || m->ops.captured[op]) return false;
    return m->ops.kind[op] != RS_OP_FANOUT;
}

static void by_member_init(struct by_member *x, const struct rs_model *m)
{
    *x = (struct by_member){.parts = rs_alloc(((size_t)m->parts.n + 1) * sizeof *x->parts),
                            .first = rs_zalloc((size_t)m->nmembers + 2, sizeof *x->first)};
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_counted(m, i)) x->first[m->parts.member[i] + 2]++;
    for (uint32_t i = 0; i < m->nmembers; i++) x->first[i + 2] += x->first[i + 1];
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_counted(m, i)) x->parts[x->first[m->parts.member[i] + 1]++] = i;
}

static void by_member_free(struct by_member *x)
{
    free(x->parts);
    free(x->first);
    *x = (struct by_member){0};
}

/* ---- matching ---- */

/* A part of b. */
struct row {
    uint32_t part, was, op; /* its operation, before and after */
    uint32_t over; /* a's operation that it belongs to; RS_NONE: not certain */
    int32_t rank;
    uint8_t kind; /* enum rs_part_kind: a send to itself has two */
};

struct by_rank {
    struct rs_model *m;
    const struct by_member *index;
    const uint32_t *match; /* NULL: calls are not used */
    struct row *rows; /* of all members of b */
    uint32_t n, cap;
    uint32_t *ops_b, *ops_a, *at; /* room for those of one member; rows of ops_b */
    bool *fits;
    double spread; /* of the times of the longest sequence that was matched */
    uint32_t longest;
    struct rs_map holder; /* operation of a -> operation of b with its parts */
    struct rs_map claim; /* operation of b -> operation of a whose parts it has */
};

static void match_func(struct by_rank *w, uint32_t first, uint32_t x, uint32_t y, uint16_t func)
{
    const struct rs_model *m = w->m;
    struct rs_shift_ranks ranks = {.b = {m->members[x].rank}, .a = {m->members[y].rank}, .n = 1};
    struct rs_shifted shifted;
    uint32_t nb = 0, na = 0;
    bool found;
    for (uint32_t i = first; i < w->n; i++) {
        if (m->ops.func[w->rows[i].was] != func || m->ops.kind[w->rows[i].was] == RS_OP_PAIR) continue;
        w->at[nb] = i;
        w->ops_b[nb++] = w->rows[i].was;
    }
    for (uint32_t i = w->index->first[y]; i < w->index->first[y + 1]; i++) {
        uint32_t op = m->parts.op[w->index->parts[i]];
        if (m->ops.func[op] == func && m->ops.kind[op] != RS_OP_PAIR) w->ops_a[na++] = op;
    }
    rs_shift_find(m, w->ops_b, nb, w->ops_a, na, &ranks, &shifted, &found);
    if (!found) return;
    if (shifted.overlap > w->longest) {
        w->longest = shifted.overlap;
        w->spread = shifted.spread;
    }
    rs_shift_fits(m, w->ops_b, nb, w->ops_a, &ranks, &shifted, w->fits);
    for (uint32_t i = 0; i < nb; i++)
        if (w->fits[i]) w->rows[w->at[i]].over = w->ops_a[i + shifted.shift];
}

/* The operation of the same call. All-to-alls, which NCCL turns into sends and receives, are matched later. */
static uint32_t target_of(const struct by_rank *w, uint32_t part)
{
    const struct rs_model *m = w->m;
    uint32_t op = !w->match || w->match[part] == RS_NONE ? RS_NONE : m->parts.op[w->match[part]];
    if (op == RS_NONE) return RS_NONE;
    return (m->ops.kind[op] == RS_OP_PAIR) == (m->ops.kind[m->parts.op[part]] == RS_OP_PAIR) ? op : RS_NONE;
}

/* Member x of b is y of a; RS_NONE: unknown. */
static void match_member(struct by_rank *w, uint32_t x, uint32_t y)
{
    const struct rs_model *m = w->m;
    struct rs_map done = {0}; /* functions */
    uint32_t first = w->n;
    bool called = false;
    for (uint32_t i = w->index->first[x]; i < w->index->first[x + 1]; i++) {
        uint32_t part = w->index->parts[i], op = m->parts.op[part];
        RS_ROOM(w->rows, w->n, w->cap);
        w->rows[w->n++] = (struct row){.part = part,
                                       .was = op,
                                       .op = op,
                                       .over = target_of(w, part),
                                       .rank = m->members[x].rank,
                                       .kind = m->parts.kind[part]};
        called |= w->match && w->match[part] != RS_NONE;
    }
    for (uint32_t i = first; !called && y != RS_NONE && i < w->n; i++) {
        if (m->ops.kind[w->rows[i].was] == RS_OP_PAIR) continue;
        uint16_t func = m->ops.func[w->rows[i].was];
        uint64_t *seen;
        rs_map_at(&done, func, 0, &seen);
        if (!(*seen)++) match_func(w, first, x, y, func);
    }
    rs_map_free(&done);
}

/* ---- regrouping ---- */

/* An operation like another, without parts yet. */
static void add_like(struct rs_model *m, uint32_t like, uint32_t part, uint32_t *op)
{
    rs_model_op(m, op);
    struct rs_ops *o = &m->ops;
    o->id[*op] = rs_op_id(m, o->comm[like], "apart", o->id[like], part);
    o->comm[*op] = o->comm[like];
    o->kind[*op] = o->kind[like];
    o->func[*op] = o->func[like];
    o->seq[*op] = o->seq[like];
    o->count[*op] = o->count[like];
    o->bytes[*op] = o->bytes[like];
    o->dtype[*op] = o->dtype[like];
    o->root[*op] = o->root[like];
    o->dst[*op] = o->dst[like];
    o->index[*op] = o->index[like];
}

/* Which operation of b gets the parts of each operation of a: the first that has one there, else a new one. */
static void choose_holders(struct by_rank *w, bool *changed)
{
    uint64_t *at, *claim;
    for (uint32_t i = 0; i < w->n; i++) {
        struct row *r = &w->rows[i];
        if (r->over == RS_NONE) continue;
        rs_map_at(&w->holder, r->over, RS_NONE, &at);
        if (*at == RS_NONE) {
            rs_map_at(&w->claim, r->was, RS_NONE, &claim);
            if (*claim != RS_NONE) {
                add_like(w->m, r->was, r->part, &r->op);
                rs_map_at(&w->claim, r->op, RS_NONE, &claim);
            }
            *claim = r->over;
            *at = r->op;
        }
        r->op = (uint32_t)*at;
        *changed |= r->op != r->was;
    }
}

static int by_op(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if ((x->over == RS_NONE) != (y->over == RS_NONE)) return x->over == RS_NONE ? 1 : -1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Rewrites the parts of all operations of b. */
static void rewrite(struct by_rank *w)
{
    struct rs_model *m = w->m;
    /* A rank that occurs twice without certainty goes into a further operation. */
    qsort(w->rows, w->n, sizeof *w->rows, by_op);
    for (uint32_t i = 1; i < w->n; i++)
        if (w->rows[i].op == w->rows[i - 1].op && w->rows[i].rank == w->rows[i - 1].rank &&
            w->rows[i].kind == w->rows[i - 1].kind)
            add_like(m, w->rows[i].op, w->rows[i].part, &w->rows[i].op);
    qsort(w->rows, w->n, sizeof *w->rows, by_op);
    for (uint32_t i = 0; i < w->n; i++) m->ops.nparts[w->rows[i].was] = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct row *r = &w->rows[i];
        if (!m->ops.nparts[r->op]++) m->ops.part[r->op] = m->norder;
        rs_model_order(m, r->part);
        m->parts.op[r->part] = r->op;
    }
    for (uint32_t i = 0; i < w->n; i++) /* an operation without parts loses its values */
        if (!m->ops.nparts[w->rows[i].was] && w->rows[i].over != RS_NONE) m->ops.over[w->rows[i].was] = w->rows[i].over;
}

static enum rs_status merge_ranks(struct by_rank *w, uint32_t b, uint32_t a, struct rs_err *err)
{
    (void)err;
    struct rs_model *m = w->m;
    bool changed = false;
    for (uint32_t x = m->comms[b].first_member; x != RS_NONE; x = m->members[x].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[x].rank, a);
        match_member(w, x, rank < 0 ? RS_NONE : rs_comm_member(m, a, rank));
    }
    choose_holders(w, &changed);
    if (changed) rewrite(w);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->rows[i].over != RS_NONE && m->ops.over[w->rows[i].op] == RS_NONE)
            rs_overlay_merge(m, w->rows[i].op, w->rows[i].over);
    return RS_OK;
}

/* The largest number of parts of a member of a communicator. */
static uint32_t most_parts(const struct rs_model *m, const struct by_member *index, uint32_t comm)
{
    uint32_t most = 0;
    for (uint32_t x = m->comms[comm].first_member; x != RS_NONE; x = m->members[x].next)
        if (index->first[x + 1] - index->first[x] > most) most = index->first[x + 1] - index->first[x];
    return most;
}

static void work_init(struct by_rank *w, uint32_t b, uint32_t a)
{
    size_t nb = (size_t)most_parts(w->m, w->index, b) + 1, na = (size_t)most_parts(w->m, w->index, a) + 1;
    w->ops_b = rs_alloc(nb * sizeof *w->ops_b);
    w->ops_a = rs_alloc(na * sizeof *w->ops_a);
    w->at = rs_alloc(nb * sizeof *w->at);
    w->fits = rs_alloc(nb * sizeof *w->fits);
}

static void work_free(struct by_rank *w)
{
    free(w->rows);
    free(w->ops_b);
    free(w->ops_a);
    free(w->at);
    free(w->fits);
    rs_map_free(&w->holder);
    rs_map_free(&w->claim);
}

/* How well the first rank of b that has a counterpart matches it: how many of its collectives are matched, of how many,
 * and the spread of their times. For communicators whose joined operations do not match. */
static void overlay_rank_fits(struct rs_model *m, const struct by_member *index, uint32_t b, uint32_t a,
                              uint32_t *placed, uint32_t *all, double *spread)
{
    struct by_rank w = {.m = m, .index = index, .spread = INFINITY};
    work_init(&w, b, a);
    for (uint32_t x = m->comms[b].first_member; x != RS_NONE && !w.n; x = m->members[x].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[x].rank, a);
        uint32_t y = rank < 0 ? RS_NONE : rs_comm_member(m, a, rank);
        if (y != RS_NONE) match_member(&w, x, y);
    }
    *placed = *all = 0;
    *spread = w.spread;
    for (uint32_t i = 0; i < w.n; i++) {
        if (m->ops.kind[w.rows[i].was] == RS_OP_PAIR) continue;
        ++*all;
        *placed += w.rows[i].over != RS_NONE;
    }
    work_free(&w);
}

/* Communicator b is a (rs_overlay_join()): regroups and merges. `match`: rs_calls_match(). */
static enum rs_status overlay_ranks(struct rs_model *m, const struct by_member *index, const uint32_t *match,
                                    uint32_t b, uint32_t a, struct rs_err *err)
{
    struct by_rank w = {.m = m, .index = index, .match = match};
    work_init(&w, b, a);
    enum rs_status status = RS_OK;
    status = merge_ranks(&w, b, a, err);
    work_free(&w);
    return status;
}

/* ---- sources ---- */

#define MOST 0.5 /* of b's operations must be matched */
enum { MOST_TRIED = 64 }; /* communicators tried for each */

/* ---- operations ---- */

static uint8_t tool_of(const struct rs_model *m, uint32_t op)
{
    return m->comms[m->ops.comm[op]].tool;
}

bool rs_overlay_may_be_one(const struct rs_model *m, uint32_t x, uint32_t y)
{
    const struct rs_ops *o = &m->ops;
    if (o->kind[x] == RS_OP_FANOUT || o->kind[x] != o->kind[y] || o->comm[x] != o->comm[y]) return false;
    if (o->kind[x] == RS_OP_PAIR)
        return o->nparts[x] == 1 && o->nparts[y] == 1 &&
               m->parts.kind[m->order[o->part[x]]] != m->parts.kind[m->order[o->part[y]]];
    for (uint32_t i = 0; i < o->nparts[y]; i++)
        if (rs_op_part_of(m, x, m->members[m->parts.member[m->order[o->part[y] + i]]].rank) != RS_NONE) return false;
    return true;
}

bool rs_overlay_takes(const struct rs_model *m, uint32_t a, uint32_t b)
{
    for (uint32_t v = m->ops.view[a]; v != RS_NONE; v = m->ops.view[v])
        if (tool_of(m, v) == tool_of(m, b) && !rs_overlay_may_be_one(m, v, b)) return false;
    return true;
}

bool rs_overlay_merge(struct rs_model *m, uint32_t b, uint32_t a)
{
    struct rs_ops *o = &m->ops;
    if (o->over[a] != RS_NONE) a = o->over[a];
    if (o->over[b] != RS_NONE || o->view[b] != RS_NONE || tool_of(m, b) <= tool_of(m, a)) return false;
    if (!rs_overlay_takes(m, a, b)) return false;
    o->over[b] = a;
    o->view[b] = o->view[a];
    o->view[a] = b;
    return true;
}

uint32_t rs_op_part_of(const struct rs_model *m, uint32_t op, int32_t rank)
{
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t low = 0, high = m->ops.nparts[op];
    RS_BISECT(low, high, middle, m->members[m->parts.member[order[middle]]].rank < rank);
    return low < m->ops.nparts[op] && m->members[m->parts.member[order[low]]].rank == rank ? order[low] : RS_NONE;
}

/* ---- communicators ---- */

int32_t rs_overlay_rank(const struct rs_model *m, uint32_t b, int32_t rank, uint32_t a)
{
    uint32_t x = rs_comm_member(m, b, rank), y = rs_comm_member(m, a, rank);
    int32_t job = x != RS_NONE ? m->members[x].global_rank : -1;
    if (job < 0 && m->comms[b].ranks && rank >= 0 && rank < m->comms[b].nranks) job = m->comms[b].ranks[rank];
    if (job < 0) return rank;
    if (y != RS_NONE && (m->members[y].global_rank < 0 || m->members[y].global_rank == job)) return rank;
    for (y = m->comms[a].first_member; y != RS_NONE; y = m->members[y].next)
        if (m->members[y].global_rank == job) return m->members[y].rank;
    return -1;
}

bool rs_overlay_same_process(const struct rs_model *m, uint32_t p, uint32_t q)
{
    const struct rs_proc *x = &m->procs[p], *y = &m->procs[q];
    bool known = x->pid && y->pid && rs_tool_has(x->tool, RS_CAP_PID) && rs_tool_has(y->tool, RS_CAP_PID);
    return !known || x->pid == y->pid;
}

bool rs_overlay_is_fan(const char *func)
{
    return !strcmp(func, "AlltoAll") || !strcmp(func, "Gather") || !strcmp(func, "Scatter");
}

static bool is_hash_equal(const struct rs_model *m, uint32_t b, uint32_t a)
{
    const struct rs_comm_row *x = &m->comms[b], *y = &m->comms[a];
    return x->hash && x->hash == y->hash && !x->made_up && !y->made_up && x->incarnation == y->incarnation;
}

bool rs_overlay_possible(const struct rs_model *m, uint32_t b, uint32_t a)
{
    const struct rs_comm_row *x = &m->comms[b], *y = &m->comms[a];
    if (y->tool >= x->tool || y->over != RS_NONE) return false;
    if (x->nranks >= 0 && y->nranks >= 0 && x->nranks != y->nranks) return false;
    if (x->name && y->name && strcmp(x->name, y->name)) return false;
    if (!x->made_up && !y->made_up && x->hash && y->hash && x->hash != y->hash) return false;
    uint32_t common = 0;
    for (uint32_t i = x->first_member; i != RS_NONE; i = m->members[i].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[i].rank, a);
        uint32_t k = rank < 0 ? RS_NONE : rs_comm_member(m, a, rank);
        if (k == RS_NONE) continue;
        const struct rs_member *p = &m->members[i], *q = &m->members[k];
        if (p->global_rank >= 0 && q->global_rank >= 0 && p->global_rank != q->global_rank) return false;
        if (!rs_overlay_same_process(m, p->proc, q->proc)) return false;
        common++;
    }
    return common > 0;
}

void rs_overlay_join(struct rs_model *m, uint32_t b, uint32_t a)
{
    m->comms[b].over = a;
    m->comms[b].view = m->comms[a].view;
    m->comms[a].view = b;
    for (uint32_t i = m->comms[b].first_member; i != RS_NONE; i = m->members[i].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[i].rank, a);
        uint32_t k = rank < 0 ? RS_NONE : rs_comm_member(m, a, rank);
        if (k == RS_NONE) continue;
        uint32_t p = m->members[i].proc, q = m->members[k].proc;
        if (m->procs[p].same == RS_NONE && p != q)
            m->procs[p].same = m->procs[q].same == RS_NONE ? q : m->procs[q].same;
        if (m->members[i].global_rank < 0) m->members[i].global_rank = m->members[k].global_rank;
        if (m->members[k].global_rank < 0) m->members[k].global_rank = m->members[i].global_rank;
    }
}

/* ---- comparing two ---- */

struct work {
    struct rs_model *m;
    struct rs_sequences sequences;
    struct by_member by_member;
    uint32_t *match; /* by part: rs_calls_match() */
    uint32_t *voted; /* by communicator: the one with most of its calls; RS_NONE */
    struct rs_map by_rank; /* by rank of the job: its first member in a primary communicator */
    uint32_t *next; /* by member: the next one of the same rank; RS_NONE */
    bool *taken; /* by communicator: one of the current tool is merged into it */
    bool *fits; /* working memory for the operations of a sequence */
};

/* The result of an attempt. */
struct attempt {
    uint32_t comm; /* RS_NONE: none */
    uint64_t placed, all; /* operations of b */
    double spread;
    bool proof;
};

static void choose_ranks(const struct rs_model *m, const struct rs_sequence *s, uint32_t a, struct rs_shift_ranks *r)
{
    *r = (struct rs_shift_ranks){0};
    int32_t ends[2] = {(int32_t)s->a, (int32_t)s->b};
    uint32_t i = m->comms[s->comm].first_member;
    for (int k = 0; r->n < RS_SHIFT_RANKS; k++) {
        if (s->kind == RS_OP_PAIR ? k == 2 : i == RS_NONE) break;
        int32_t rank = s->kind == RS_OP_PAIR ? ends[k] : m->members[i].rank;
        if (s->kind != RS_OP_PAIR) i = m->members[i].next;
        int32_t other = rank < 0 ? -1 : rs_overlay_rank(m, s->comm, rank, a);
        if (other < 0 || rs_comm_member(m, a, other) == RS_NONE) continue;
        r->b[r->n] = rank;
        r->a[r->n++] = other;
    }
}

/* The sequence of a that corresponds to b's. */
static const struct rs_sequence *counterpart(const struct work *w, const struct rs_sequence *b, uint32_t a,
                                             uint8_t kind)
{
    if (b->kind != RS_OP_PAIR) return rs_sequences_find(&w->sequences, a, kind, b->a, 0);
    int32_t src = rs_overlay_rank(w->m, b->comm, (int32_t)b->a, a),
            dst = rs_overlay_rank(w->m, b->comm, (int32_t)b->b, a);
    if (src < 0 || dst < 0) return NULL;
    return rs_sequences_find(&w->sequences, a, RS_OP_PAIR, (uint32_t)src, (uint32_t)dst);
}

/* Merges the operations of one sequence into those of another. */
static void merge_sequence(struct work *w, const struct rs_sequence *b, const struct rs_sequence *a,
                           const struct rs_shift_ranks *r, const struct rs_shifted *x)
{
    struct rs_model *m = w->m;
    const uint32_t *ops_b = w->sequences.ops + b->first, *ops_a = w->sequences.ops + a->first;
    rs_shift_fits(m, ops_b, b->n, ops_a, r, x, w->fits);
    for (uint32_t i = 0; i < b->n; i++)
        if (w->fits[i]) rs_overlay_merge(m, ops_b[i], ops_a[i + x->shift]);
}

/* How well b's operations match a's; with `merge` they are merged. */
static void try_one(struct work *w, uint32_t b, uint32_t a, bool merge, struct attempt *out)
{
    static const uint8_t kinds[] = {RS_OP_COLL, RS_OP_API, RS_OP_CE};
    const struct rs_sequences *s = &w->sequences;
    *out = (struct attempt){.comm = a, .spread = INFINITY, .proof = is_hash_equal(w->m, b, a)};
    uint32_t longest = 0;
    for (uint32_t i = s->of[b]; i < s->of[b + 1]; i++) {
        const struct rs_sequence *x = &s->all[i];
        bool any = false, found = false;
        struct rs_shift_ranks ranks;
        struct rs_shifted shifted;
        choose_ranks(w->m, x, a, &ranks);
        for (uint32_t k = 0; k < (x->kind == RS_OP_PAIR ? 1 : 3) && !found; k++) {
            const struct rs_sequence *y = counterpart(w, x, a, kinds[k]);
            if (!y) continue;
            any = true;
            rs_shift_find(w->m, s->ops + x->first, x->n, s->ops + y->first, y->n, &ranks, &shifted, &found);
            if (found && merge) merge_sequence(w, x, y, &ranks, &shifted);
        }
        if (found) out->placed += shifted.agree;
        if (found && shifted.overlap > longest) {
            longest = shifted.overlap;
            out->spread = shifted.spread;
        }
        /* What NCCL turns into sends and receives is not a sequence there. */
        const char *func = x->kind == RS_OP_PAIR ? "" : rs_model_text(w->m, (uint16_t)x->a);
        if (any || !rs_overlay_is_fan(func)) out->all += x->n;
    }
}

static bool is_better(const struct attempt *x, const struct attempt *y)
{
    if (y->comm == RS_NONE) return true;
    if (x->proof != y->proof) return x->proof;
    double p = (double)x->placed / (double)x->all, q = (double)y->placed / (double)y->all;
    if (fabs(p - q) > 0.1) return p > q;
    return x->spread < y->spread;
}

/* Tries a communicator of a. */
static void consider(struct work *w, uint32_t b, uint32_t a, uint32_t *tried, struct attempt *best)
{
    if (*tried >= MOST_TRIED || w->taken[a] || !rs_overlay_possible(w->m, b, a)) return;
    ++*tried;
    struct attempt x;
    try_one(w, b, a, false, &x);
    bool enough = x.placed && (double)x.placed >= MOST * (double)x.all;
    if (!enough && !x.proof) { /* its tool may have joined wrong ranks */
        uint32_t placed, all;
        overlay_rank_fits(w->m, &w->by_member, b, a, &placed, &all, &x.spread);
        enough = placed && (double)placed >= MOST * all;
        x.placed = placed;
        x.all = all;
    }
    if ((enough || x.proof) && is_better(&x, best)) *best = x;
}

static enum rs_status merge_comm(struct work *w, uint32_t b, struct rs_err *err)
{
    const struct rs_model *m = w->m;
    struct attempt best = {.comm = w->voted[b]};
    if (best.comm != RS_NONE && w->taken[best.comm]) best.comm = RS_NONE;
    uint32_t tried = best.comm != RS_NONE, known = m->comms[b].first_member;
    while (known != RS_NONE && m->members[known].global_rank < 0) known = m->members[known].next;
    if (!tried && known != RS_NONE) {
        uint32_t i = (uint32_t)rs_map_get(&w->by_rank, (uint32_t)m->members[known].global_rank, RS_NONE);
        for (; i != RS_NONE; i = w->next[i]) consider(w, b, m->members[i].comm, &tried, &best);
    }
    /* If one side does not know the ranks of the job: any communicator with as many ranks. */
    for (uint32_t a = 0; a < m->ncomms && !tried && best.comm == RS_NONE; a++) consider(w, b, a, &tried, &best);
    if (best.comm == RS_NONE) return RS_OK;
    w->taken[best.comm] = true;
    rs_overlay_join(w->m, b, best.comm);
    RS_TRY(overlay_ranks(w->m, &w->by_member, w->match, b, best.comm, err));
    try_one(w, b, best.comm, true, &best);
    return RS_OK;
}

/* ---- all steps ---- */

/* The primary communicator with most of the calls of each other communicator, if it can be the same. */
static void vote(struct work *w)
{
    const struct rs_model *m = w->m;
    struct rs_map votes = {0};
    uint64_t *most = rs_zalloc((size_t)m->ncomms + 1, sizeof *most), *n;
    for (uint32_t i = 0; i < m->ncomms; i++) w->voted[i] = RS_NONE;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (w->match[i] == RS_NONE) continue;
        uint32_t b = m->members[m->parts.member[i]].comm, a = m->members[m->parts.member[w->match[i]]].comm;
        if (m->comms[a].nranks != m->comms[b].nranks) continue; /* PyTorch may send on a communicator of two ranks */
        rs_map_at(&votes, (uint64_t)b << 32 | a, 0, &n);
        if (++*n <= most[b]) continue;
        most[b] = *n;
        w->voted[b] = a;
    }
    for (uint32_t b = 0; b < m->ncomms; b++)
        if (w->voted[b] != RS_NONE && !rs_overlay_possible(m, b, w->voted[b])) w->voted[b] = RS_NONE;
    rs_map_free(&votes);
    free(most);
}

/* Members of communicators that are primary to a tool's, by rank of the job. Damaged ranks may be any number. */
static void index_ranks(struct work *w, uint8_t tool)
{
    const struct rs_model *m = w->m;
    rs_map_free(&w->by_rank);
    for (uint32_t i = m->nmembers; i-- > 0;) {
        const struct rs_member *x = &m->members[i];
        const struct rs_comm_row *c = &m->comms[x->comm];
        uint64_t *first;
        if (x->global_rank < 0 || c->tool >= tool || c->over != RS_NONE) continue;
        rs_map_at(&w->by_rank, (uint32_t)x->global_rank, RS_NONE, &first);
        w->next[i] = (uint32_t)*first;
        *first = i;
    }
}

/* Processes whose communicators did not help: in one job, equal ranks of the job are the same process. */
static void find_processes(struct rs_model *m, uint8_t tool)
{
    struct rs_map ranks = {0};
    bool same_job = false;
    for (uint32_t i = 0; i < m->nprocs; i++) same_job |= m->procs[i].tool == tool && m->procs[i].same != RS_NONE;
    for (uint32_t i = 0; same_job && i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        if (x->global_rank < 0 || m->procs[x->proc].tool >= tool || m->procs[x->proc].same != RS_NONE) continue;
        uint64_t *at;
        rs_map_at(&ranks, (uint32_t)x->global_rank, x->proc, &at);
    }
    for (uint32_t i = 0; same_job && i < m->nprocs; i++) {
        struct rs_proc *p = &m->procs[i];
        if (p->tool != tool || p->same != RS_NONE || p->launcher_rank < 0) continue;
        uint32_t q = (uint32_t)rs_map_get(&ranks, (uint32_t)p->launcher_rank, RS_NONE);
        if (q != RS_NONE && q != i && rs_overlay_same_process(m, i, q)) p->same = q;
    }
    rs_map_free(&ranks);
}

/* Communicators of one rank: NCCL reports no operations for them, but they identify the process. */
static void join_lonely(struct work *w, uint8_t tool)
{
    struct rs_model *m = w->m;
    const uint32_t several = RS_NONE - 1;
    uint32_t *of = rs_alloc(((size_t)m->nprocs + 1) * 2 * sizeof *of), *theirs = of + m->nprocs;
    for (uint32_t i = 0; i < 2 * m->nprocs; i++) of[i] = RS_NONE;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        const struct rs_comm_row *x = &m->comms[c];
        bool leads = x->tool < tool;
        if (x->nranks != 1 || x->first_member == RS_NONE || x->tool > tool || x->over != RS_NONE) continue;
        uint32_t proc = m->members[x->first_member].proc, *at = leads ? &of[proc] : &theirs[proc];
        *at = *at == RS_NONE && !(leads && w->taken[c]) ? c : several;
    }
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint32_t q = m->procs[p].same, b = theirs[p], a = q == RS_NONE ? RS_NONE : of[q];
        if (b >= several || a >= several || !rs_overlay_possible(m, b, a)) continue;
        w->taken[a] = true;
        rs_overlay_join(m, b, a);
    }
    free(of);
}

static enum rs_status merge_tool(struct work *w, uint8_t tool, struct rs_err *err)
{
    index_ranks(w, tool);
    memset(w->taken, 0, (size_t)w->m->ncomms * sizeof *w->taken);
    for (uint32_t c = 0; c < w->m->ncomms; c++)
        if (w->m->comms[c].tool == tool) RS_TRY(merge_comm(w, c, err));
    find_processes(w->m, tool);
    join_lonely(w, tool);
    return RS_OK;
}

static uint32_t tools_of(const struct rs_model *m)
{
    uint32_t tools = 0;
    for (uint32_t c = 0; c < m->ncomms; c++) tools |= 1u << m->comms[c].tool;
    return tools;
}

enum rs_status rs_overlay_find(struct rs_model *m, struct rs_err *err)
{
    uint32_t tools = tools_of(m);
    if (!(tools & (tools - 1))) return RS_OK;
    struct work w = {.m = m,
                     .next = rs_alloc(((size_t)m->nmembers + 1) * sizeof *w.next),
                     .taken = rs_zalloc((size_t)m->ncomms + 1, sizeof *w.taken),
                     .fits = rs_zalloc((size_t)m->ops.n + 1, sizeof *w.fits),
                     .match = rs_alloc(((size_t)m->parts.n + 1) * sizeof *w.match),
                     .voted = rs_alloc(((size_t)m->ncomms + 1) * sizeof *w.voted)};
    rs_sequences_init(&w.sequences, m);
    enum rs_status status = RS_OK;
    by_member_init(&w.by_member, m);
    if ((!w.next || !w.taken || !w.fits || !w.match || !w.voted)) rs_memory_out();
    rs_calls_match(m, w.match);
    vote(&w);
    for (uint8_t tool = 1; tool < RS_TOOLS && status == RS_OK; tool++)
        if (tools >> tool & 1) status = merge_tool(&w, tool, err);
    if (status == RS_OK) rs_calls_merge(m, w.match);
    if (status == RS_OK) rs_classes_find(m); /* merged communicators count once */
    rs_sequences_free(&w.sequences);
    by_member_free(&w.by_member);
    rs_map_free(&w.by_rank);
    free(w.next);
    free(w.taken);
    free(w.fits);
    free(w.match);
    free(w.voted);
    return status;
}
