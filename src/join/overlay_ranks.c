#include "join/overlay_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/room.h"
#include "join/collectives.h"
#include "join/overlay.h"
#include "join/shifts.h"

/* ---- parts by member ---- */

static bool is_counted(const struct rs_model *m, uint32_t part)
{
    uint32_t op = m->parts.op[part];
    if (m->parts.member[part] == RS_NONE || op == RS_NONE || m->ops.captured[op]) return false;
    return m->ops.kind[op] != RS_OP_FANOUT;
}

enum rs_status rs_by_member_init(struct rs_by_member *x, const struct rs_model *m, struct rs_err *err)
{
    *x = (struct rs_by_member){.parts = malloc(((size_t)m->parts.n + 1) * sizeof *x->parts),
                               .first = calloc((size_t)m->nmembers + 2, sizeof *x->first)};
    if (!x->parts || !x->first) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_counted(m, i)) x->first[m->parts.member[i] + 2]++;
    for (uint32_t i = 0; i < m->nmembers; i++) x->first[i + 2] += x->first[i + 1];
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_counted(m, i)) x->parts[x->first[m->parts.member[i] + 1]++] = i;
    return RS_OK;
}

void rs_by_member_free(struct rs_by_member *x)
{
    free(x->parts);
    free(x->first);
    *x = (struct rs_by_member){0};
}

/* ---- which is which ---- */

/* A part of b. */
struct row {
    uint32_t part, was, op; /* its operation, before and after */
    uint32_t over; /* a's operation that it is of; RS_NONE: not certain */
    int32_t rank;
    uint8_t kind; /* enum rs_part_kind: what a rank sends to itself has two */
};

struct work {
    struct rs_model *m;
    const struct rs_by_member *index;
    const uint32_t *match; /* NULL: calls are not looked at */
    struct row *rows; /* of all members of b */
    uint32_t n, cap;
    uint32_t *ops_b, *ops_a, *at; /* room for those of one member; rows of ops_b */
    bool *fits;
    double spread; /* of the times of the longest sequence that was placed */
    uint32_t longest;
    struct rs_map holder; /* operation of a -> that of b which holds its parts */
    struct rs_map claim; /* operation of b -> that of a whose parts it holds */
};

static enum rs_status match_func(struct work *w, uint32_t first, uint32_t x, uint32_t y, uint16_t func,
                                 struct rs_err *err)
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
    RS_TRY(rs_shift_find(m, w->ops_b, nb, w->ops_a, na, &ranks, &shifted, &found, err));
    if (!found) return RS_OK;
    if (shifted.overlap > w->longest) {
        w->longest = shifted.overlap;
        w->spread = shifted.spread;
    }
    rs_shift_fits(m, w->ops_b, nb, w->ops_a, &ranks, &shifted, w->fits);
    for (uint32_t i = 0; i < nb; i++)
        if (w->fits[i]) w->rows[w->at[i]].over = w->ops_a[i + shifted.shift];
    return RS_OK;
}

/* The operation of the same call. All-to-alls, of which NCCL makes sends and receives, are found later. */
static uint32_t target_of(const struct work *w, uint32_t part)
{
    const struct rs_model *m = w->m;
    uint32_t op = !w->match || w->match[part] == RS_NONE ? RS_NONE : m->parts.op[w->match[part]];
    if (op == RS_NONE) return RS_NONE;
    return (m->ops.kind[op] == RS_OP_PAIR) == (m->ops.kind[m->parts.op[part]] == RS_OP_PAIR) ? op : RS_NONE;
}

/* Member x of b is y of a; RS_NONE: nobody there. */
static enum rs_status match_member(struct work *w, uint32_t x, uint32_t y, struct rs_err *err)
{
    const struct rs_model *m = w->m;
    struct rs_map done = {0}; /* functions */
    enum rs_status status = RS_OK;
    uint32_t first = w->n;
    bool called = false;
    for (uint32_t i = w->index->first[x]; i < w->index->first[x + 1]; i++) {
        uint32_t part = w->index->parts[i], op = m->parts.op[part];
        RS_ROOM(w->rows, w->n, w->cap, err);
        w->rows[w->n++] = (struct row){.part = part,
                                       .was = op,
                                       .op = op,
                                       .over = target_of(w, part),
                                       .rank = m->members[x].rank,
                                       .kind = m->parts.kind[part]};
        called |= w->match && w->match[part] != RS_NONE;
    }
    for (uint32_t i = first; !called && y != RS_NONE && i < w->n && status == RS_OK; i++) {
        if (m->ops.kind[w->rows[i].was] == RS_OP_PAIR) continue;
        uint16_t func = m->ops.func[w->rows[i].was];
        uint64_t *seen;
        status = rs_map_at(&done, func, 0, &seen, err);
        if (status == RS_OK && !(*seen)++) status = match_func(w, first, x, y, func, err);
    }
    rs_map_free(&done);
    return status;
}

/* ---- regrouping ---- */

/* An operation like another, without parts yet. */
static enum rs_status add_like(struct rs_model *m, uint32_t like, uint32_t part, uint32_t *op, struct rs_err *err)
{
    RS_TRY(rs_model_op(m, op, err));
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
    return RS_OK;
}

/* Which operation of b holds the parts of each of a's: the first that has one there, else a new one. */
static enum rs_status choose_holders(struct work *w, bool *changed, struct rs_err *err)
{
    uint64_t *at, *claim;
    for (uint32_t i = 0; i < w->n; i++) {
        struct row *r = &w->rows[i];
        if (r->over == RS_NONE) continue;
        RS_TRY(rs_map_at(&w->holder, r->over, RS_NONE, &at, err));
        if (*at == RS_NONE) {
            RS_TRY(rs_map_at(&w->claim, r->was, RS_NONE, &claim, err));
            if (*claim != RS_NONE) {
                RS_TRY(add_like(w->m, r->was, r->part, &r->op, err));
                RS_TRY(rs_map_at(&w->claim, r->op, RS_NONE, &claim, err));
            }
            *claim = r->over;
            *at = r->op;
        }
        r->op = (uint32_t)*at;
        *changed |= r->op != r->was;
    }
    return RS_OK;
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

/* Writes the parts of all operations of b anew. */
static enum rs_status rewrite(struct work *w, struct rs_err *err)
{
    struct rs_model *m = w->m;
    /* A rank that is there already, and not for certain, goes into an operation of its own. */
    qsort(w->rows, w->n, sizeof *w->rows, by_op);
    for (uint32_t i = 1; i < w->n; i++)
        if (w->rows[i].op == w->rows[i - 1].op && w->rows[i].rank == w->rows[i - 1].rank &&
            w->rows[i].kind == w->rows[i - 1].kind)
            RS_TRY(add_like(m, w->rows[i].op, w->rows[i].part, &w->rows[i].op, err));
    qsort(w->rows, w->n, sizeof *w->rows, by_op);
    for (uint32_t i = 0; i < w->n; i++) m->ops.nparts[w->rows[i].was] = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct row *r = &w->rows[i];
        if (!m->ops.nparts[r->op]++) m->ops.part[r->op] = m->norder;
        RS_TRY(rs_model_order(m, r->part, err));
        m->parts.op[r->part] = r->op;
    }
    for (uint32_t i = 0; i < w->n; i++) /* what all parts have left says nothing any more */
        if (!m->ops.nparts[w->rows[i].was] && w->rows[i].over != RS_NONE) m->ops.over[w->rows[i].was] = w->rows[i].over;
    return RS_OK;
}

static enum rs_status lay(struct work *w, uint32_t b, uint32_t a, struct rs_err *err)
{
    struct rs_model *m = w->m;
    bool changed = false;
    for (uint32_t x = m->comms[b].first_member; x != RS_NONE; x = m->members[x].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[x].rank, a);
        RS_TRY(match_member(w, x, rank < 0 ? RS_NONE : rs_comm_member(m, a, rank), err));
    }
    RS_TRY(choose_holders(w, &changed, err));
    if (changed) RS_TRY(rewrite(w, err));
    for (uint32_t i = 0; i < w->n; i++)
        if (w->rows[i].over != RS_NONE && m->ops.over[w->rows[i].op] == RS_NONE)
            rs_overlay_lay(m, w->rows[i].op, w->rows[i].over);
    return RS_OK;
}

/* The most parts that a member of a communicator has. */
static uint32_t most_parts(const struct rs_model *m, const struct rs_by_member *index, uint32_t comm)
{
    uint32_t most = 0;
    for (uint32_t x = m->comms[comm].first_member; x != RS_NONE; x = m->members[x].next)
        if (index->first[x + 1] - index->first[x] > most) most = index->first[x + 1] - index->first[x];
    return most;
}

static enum rs_status work_init(struct work *w, uint32_t b, uint32_t a, struct rs_err *err)
{
    size_t nb = (size_t)most_parts(w->m, w->index, b) + 1, na = (size_t)most_parts(w->m, w->index, a) + 1;
    w->ops_b = malloc(nb * sizeof *w->ops_b);
    w->ops_a = malloc(na * sizeof *w->ops_a);
    w->at = malloc(nb * sizeof *w->at);
    w->fits = malloc(nb * sizeof *w->fits);
    bool room = w->ops_b && w->ops_a && w->at && w->fits;
    return room ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

static void work_free(struct work *w)
{
    free(w->rows);
    free(w->ops_b);
    free(w->ops_a);
    free(w->at);
    free(w->fits);
    rs_map_free(&w->holder);
    rs_map_free(&w->claim);
}

enum rs_status rs_overlay_rank_fits(struct rs_model *m, const struct rs_by_member *index, uint32_t b, uint32_t a,
                                    uint32_t *placed, uint32_t *all, double *spread, struct rs_err *err)
{
    struct work w = {.m = m, .index = index, .spread = INFINITY};
    enum rs_status status = work_init(&w, b, a, err);
    for (uint32_t x = m->comms[b].first_member; x != RS_NONE && !w.n && status == RS_OK; x = m->members[x].next) {
        int32_t rank = rs_overlay_rank(m, b, m->members[x].rank, a);
        uint32_t y = rank < 0 ? RS_NONE : rs_comm_member(m, a, rank);
        if (y != RS_NONE) status = match_member(&w, x, y, err);
    }
    *placed = *all = 0;
    *spread = w.spread;
    for (uint32_t i = 0; i < w.n; i++) {
        if (m->ops.kind[w.rows[i].was] == RS_OP_PAIR) continue;
        ++*all;
        *placed += w.rows[i].over != RS_NONE;
    }
    work_free(&w);
    return status;
}

enum rs_status rs_overlay_ranks(struct rs_model *m, const struct rs_by_member *index, const uint32_t *match, uint32_t b,
                                uint32_t a, struct rs_err *err)
{
    struct work w = {.m = m, .index = index, .match = match};
    enum rs_status status = work_init(&w, b, a, err);
    if (status == RS_OK) status = lay(&w, b, a, err);
    work_free(&w);
    return status;
}
