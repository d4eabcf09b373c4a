#include "analyse/hang_equals.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/hang_flight.h"
#include "base/memory.h"
#include "join/classes.h"

/* The length of what PyTorch calls the kind of a communicator's group; 0: not known. */
static size_t kind_of_group(const struct rs_comm_row *c)
{
    static const char unnamed[] = "undefined";
    size_t n;
    const char *group;
    if (!c->name || !rs_group_name(c->name, &n, &group)) return 0;
    return n == strlen(unnamed) && !memcmp(c->name, unnamed, n) ? 0 : n;
}

/* Where ranks left no file, a group's shape or its name may not be known: then the other decides. */
static bool equal_comms(const struct rs_model *m, uint32_t a, uint32_t b)
{
    const struct rs_comm_row *x = &m->comms[a], *y = &m->comms[b];
    if (a == b) return true;
    if (x->tool != y->tool || x->nranks != y->nranks) return false;
    size_t n = kind_of_group(x), k = kind_of_group(y);
    if (n && k) return n == k && !memcmp(x->name, y->name, n);
    if (x->class == y->class) return true;
    bool known = x->class < m->nclasses && y->class < m->nclasses;
    return known && m->classes[x->class].stride && m->classes[x->class].stride == m->classes[y->class].stride;
}

/* An operation, as equal ranks have it in their groups. */
struct wanted {
    uint32_t op, comm;
    uint8_t kind; /* of the parts: in a pair, the role */
    bool groups; /* in other groups as well */
};

static struct wanted wanted_of(const struct rs_model *m, uint32_t op, uint32_t stray, bool groups)
{
    struct wanted w = {op, m->ops.comm[op], RS_PART_COLL, groups};
    if (m->ops.kind[op] == RS_OP_PAIR)
        w.kind = m->members[m->parts.member[stray]].rank == m->ops.root[op] ? RS_PART_SEND : RS_PART_RECV;
    return w;
}

static bool is_group(const struct rs_model *m, uint32_t comm, const struct wanted *w)
{
    return comm == w->comm || (w->groups && equal_comms(m, comm, w->comm));
}

static bool is_equal(const struct rs_model *m, uint32_t part, const struct wanted *w)
{
    const struct rs_parts *t = &m->parts;
    const struct rs_ops *o = &m->ops;
    uint32_t op = t->op[part];
    if (t->member[part] == RS_NONE || t->kind[part] != w->kind || rs_part_is_secondary(m, part)) return false;
    if (!is_group(m, m->members[t->member[part]].comm, w)) return false;
    if (w->kind == RS_PART_COLL) return t->seq[part] == o->seq[w->op] && t->func[part] == o->func[w->op];
    return op != RS_NONE && o->kind[op] == RS_OP_PAIR && o->root[op] == o->root[w->op] && o->dst[op] == o->dst[w->op] &&
           o->index[op] == o->index[w->op];
}

/* Whether a rank without a part of an operation or its equal has surely not called it, or (*ended) completed it. */
static bool not_called(const struct rs_hang_state *s, uint32_t rank, const struct wanted *w, bool *ended)
{
    const struct rs_model *m = s->m;
    uint64_t seq = m->ops.seq[w->op];
    for (uint32_t x = s->of_rank[rank]; x != RS_NONE; x = s->of_rank_next[x]) {
        if (!is_group(m, m->members[x].comm, w)) continue;
        /* The other side of such pairs, and stages of a pipeline without them, never make this call. */
        int32_t side = w->kind == RS_PART_SEND ? m->ops.root[w->op] : m->ops.dst[w->op];
        if (w->kind != RS_PART_COLL && m->members[x].rank != side) continue;
        if (!rs_hang_has_states(m, m->members[x].comm) || w->kind != RS_PART_COLL)
            return m->procs[m->members[x].proc].complete;
        *ended = s->done[x] > seq;
        return !*ended && s->asked[x] && s->asked[x] <= seq;
    }
    return false;
}

void rs_hang_orders(const struct rs_hang_state *s, uint32_t first, uint32_t second, uint32_t stray,
                    struct rs_hang_votes *v)
{
    const struct rs_model *m = s->m;
    *v = (struct rs_hang_votes){0, 0, RS_NONE, RS_NONE};
    if (stray == RS_NONE || m->ops.kind[first] == RS_OP_FANOUT || m->ops.kind[second] == RS_OP_FANOUT) return;
    /* Of groups of one class collectives are known by the group alone. */
    bool pairs = m->ops.kind[first] == RS_OP_PAIR && m->ops.kind[second] == RS_OP_PAIR;
    bool groups = pairs || !equal_comms(m, m->ops.comm[first], m->ops.comm[second]);
    struct wanted wa = wanted_of(m, first, stray, groups), wb = wanted_of(m, second, stray, groups);
    size_t n = (size_t)m->nranks + 1;
    uint32_t *a = rs_alloc(2 * n * sizeof *a), *b = a + n;
    for (size_t i = 0; i < 2 * n; i++) a[i] = RS_NONE;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (is_equal(m, i, &wa)) a[rs_hang_rank_of(m, m->parts.member[i])] = i;
        if (is_equal(m, i, &wb)) b[rs_hang_rank_of(m, m->parts.member[i])] = i;
    }
    for (uint32_t r = 0; r < m->nranks; r++) {
        bool ended = false, before = false, after = false;
        if (a[r] != RS_NONE && b[r] != RS_NONE) {
            before = a[r] < b[r];
            after = !before;
        } else if (b[r] != RS_NONE) {
            after = not_called(s, r, &wa, &ended);
            before = ended;
        } else if (a[r] != RS_NONE) {
            before = not_called(s, r, &wb, &ended);
            after = ended;
        }
        v->before += before;
        v->after += after;
        if (before) v->one_before = r;
        if (after) v->one_after = r;
    }
    free(a);
}

uint32_t rs_hang_equal_calls(const struct rs_hang_state *s, uint32_t op)
{
    const struct rs_model *m = s->m;
    struct wanted w = {op, m->ops.comm[op], RS_PART_COLL, true};
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->parts.n; i++) n += is_equal(m, i, &w) && m->members[m->parts.member[i]].comm != w.comm;
    return n;
}

bool rs_hang_same_call(const struct rs_model *m, uint32_t a, uint32_t b)
{
    const struct rs_parts *t = &m->parts;
    if (t->count[a] != t->count[b] || t->dtype[a] != t->dtype[b]) return false;
    if (t->kind[a] != RS_PART_COLL) return true; /* a send and its receive */
    return t->func[a] == t->func[b] && t->peer[a] == t->peer[b];
}

/* Whether two members of a dump made the same calls before a number. Stages of a pipeline have groups of one shape, and
 * do different things under the same number. */
static bool same_role(const struct rs_hang_state *s, uint32_t x, uint32_t y, uint64_t seq)
{
    enum { CALLS = 4 };
    bool any = seq <= 1;
    for (uint64_t k = 1; k <= CALLS && k < seq; k++) {
        uint32_t a = rs_hang_at_number(s, x, seq - k), b = rs_hang_at_number(s, y, seq - k);
        if (a == RS_NONE && b == RS_NONE) break; /* before both rings begin */
        if (a == RS_NONE || b == RS_NONE || !rs_hang_same_call(s->m, a, b)) return false;
        any = true;
    }
    return any;
}

/* Whether a part is what an equal rank did at the place of this operation. */
static bool is_witness(const struct rs_hang_state *s, uint32_t part, uint32_t op)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    const struct rs_ops *o = &m->ops;
    if (t->member[part] == RS_NONE || t->op[part] == op || rs_part_is_secondary(m, part)) return false;
    const struct rs_member *x = &m->members[t->member[part]];
    if (!equal_comms(m, x->comm, o->comm[op])) return false;
    if (o->kind[op] == RS_OP_PAIR)
        return t->kind[part] == RS_PART_SEND && x->rank == o->root[op] && t->peer[part] == o->dst[op];
    if (x->comm == o->comm[op] || t->kind[part] != RS_PART_COLL || t->seq[part] != o->seq[op]) return false;
    if (!rs_hang_has_states(m, x->comm)) return t->func[part] == o->func[op];
    return same_role(s, m->parts.member[m->order[o->part[op]]], t->member[part], o->seq[op]);
}

uint32_t rs_hang_usual_call(const struct rs_hang_state *s, uint32_t op)
{
    const struct rs_model *m = s->m;
    uint32_t usual = RS_NONE, lead = 0, all = 0, same = 0;
    for (uint32_t i = 0; i < m->parts.n; i++) { /* a majority, if there is one, is what is left (Boyer and Moore) */
        if (!is_witness(s, i, op)) continue;
        all++;
        if (!lead) usual = i;
        lead = rs_hang_same_call(m, i, usual) ? lead + 1 : lead - 1;
    }
    for (uint32_t i = 0; i < m->parts.n && usual != RS_NONE; i++)
        same += is_witness(s, i, op) && rs_hang_same_call(m, i, usual);
    return 2 * same > all ? usual : RS_NONE;
}

static int64_t number_of(const struct rs_model *m, uint32_t part)
{
    const struct rs_tag *tag = m->parts.kind[part] == RS_PART_COLL ? NULL : rs_part_tag(m, part);
    return tag ? tag->pg_seq : (int64_t)m->parts.seq[part];
}

/* Whether another rank has completed the operation of a part: then it may be over here as well. */
static bool ended_elsewhere(const struct rs_hang_state *s, uint32_t part)
{
    const struct rs_model *m = s->m;
    uint32_t op = m->parts.op[part];
    for (uint32_t i = 0; op != RS_NONE && m->ops.kind[op] == RS_OP_PAIR && i < m->ops.nparts[op]; i++)
        if (s->stage[m->order[m->ops.part[op] + i]] == RS_STAGE_ENDED) return true;
    return false;
}

/* Whether a rank in the operation had called the equal of `part` before that, and still waits in it. */
static bool has_equal(const struct rs_hang_state *s, const struct rs_hang_rank *w, uint32_t part)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    uint32_t comm = m->members[t->member[part]].comm;
    for (uint32_t x = s->of_rank[rs_hang_rank_of(m, w->member)]; x != RS_NONE; x = s->of_rank_next[x]) {
        uint32_t other = s->first[x];
        if (other == RS_NONE || other >= w->part || m->members[x].proc != m->members[w->member].proc) continue;
        if (equal_comms(m, m->members[x].comm, comm) && t->kind[other] == t->kind[part] &&
            t->func[other] == t->func[part] && number_of(m, other) == number_of(m, part) && !ended_elsewhere(s, other))
            return true;
    }
    return false;
}

bool rs_hang_is_passed(const struct rs_hang_state *s, uint32_t rank)
{
    enum { WITNESSES = 8 }; /* that are asked: one is enough */
    const struct rs_model *m = s->m;
    for (uint32_t i = 0, asked = 0; i < s->nrows && asked < WITNESSES; i++) {
        const struct rs_hang_rank *w = &s->rows[i];
        if (w->part == RS_NONE || w->stage == RS_STAGE_ENDED || rs_hang_rank_of(m, w->member) == rank) continue;
        asked++;
        bool all = true;
        for (uint32_t x = s->of_rank[rank]; x != RS_NONE && all; x = s->of_rank_next[x])
            all = s->first[x] == RS_NONE || has_equal(s, w, s->first[x]);
        if (all) return true;
    }
    return false;
}
