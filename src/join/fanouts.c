#include "join/fanouts.h"

#include <stdlib.h>

#include "join/collectives.h"

/* Sets that hang together: a node is a group call, or a launch, of a member. */
struct sets {
    uint32_t *parent, *size; /* size: pairs, of the root of a set */
    uint32_t n, cap;
    struct rs_map index; /* key of a node -> node */
};

static uint32_t root_of(struct sets *s, uint32_t i)
{
    while (s->parent[i] != i) {
        s->parent[i] = s->parent[s->parent[i]];
        i = s->parent[i];
    }
    return i;
}

static uint32_t unite(struct sets *s, uint32_t a, uint32_t b)
{
    a = root_of(s, a);
    b = root_of(s, b);
    if (a == b) return a;
    if (s->size[a] < s->size[b]) {
        uint32_t c = a;
        a = b;
        b = c;
    }
    s->parent[b] = a;
    s->size[a] += s->size[b];
    return a;
}

static enum rs_status add_node(struct sets *s, uint32_t *node, struct rs_err *err)
{
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 1024;
        uint32_t *parent = realloc(s->parent, cap * sizeof *parent);
        if (parent) s->parent = parent;
        uint32_t *size = realloc(s->size, cap * sizeof *size);
        if (size) s->size = size;
        if (!parent || !size) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        s->cap = cap;
    }
    s->parent[s->n] = s->n;
    s->size[s->n] = 0;
    *node = s->n++;
    return RS_OK;
}

/* The node of a handle of a member: handles are unique in a process, and a member belongs to one. A handle hashed on the
 * place of another would join what does not belong together: one chance in 2^64 a pair of them. */
static enum rs_status find_node(struct sets *s, uint32_t member, uint64_t handle, uint32_t *node, struct rs_err *err)
{
    uint64_t *at, h = (handle ^ (uint64_t)member * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 31 ^ member) * 0x9e3779b97f4a7c15u;
    RS_TRY(rs_map_at(&s->index, h, RS_NONE, &at, err));
    if (*at == RS_NONE) {
        RS_TRY(add_node(s, node, err));
        *at = *node;
    }
    *node = (uint32_t)*at;
    return RS_OK;
}

/* Where a part hangs: at its group call and at its launch, which is a part of it. Neither known: nowhere else. */
static enum rs_status place(struct sets *s, const struct rs_model *m, uint32_t part, uint32_t *node, struct rs_err *err)
{
    const struct rs_parts *t = &m->parts;
    uint32_t other;
    if (!t->group[part] && !t->launch[part]) return add_node(s, node, err);
    RS_TRY(find_node(s, t->member[part], t->group[part] ? t->group[part] : t->launch[part], node, err));
    if (t->group[part] && t->launch[part]) {
        RS_TRY(find_node(s, t->member[part], t->launch[part], &other, err));
        *node = unite(s, *node, other);
    }
    return RS_OK;
}

/* ---- what a set is called ---- */

struct set {
    uint32_t *pairs; /* operations */
    uint32_t n;
};

/* For sorting the parts of a set, and its pairs. */
struct row {
    int32_t a, b;
    uint32_t index;
};

static int by_row(const void *x, const void *y)
{
    const struct row *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

struct shape {
    uint32_t ranks, senders, receivers;
    uint64_t routes; /* ordered pairs of different ranks */
    uint32_t selves; /* ranks that send to themselves */
    uint64_t sum, most; /* bytes: all, and the most that one rank sends */
    int32_t sender, receiver; /* one of them */
};

/* `rows`: room for twice as many as there are pairs. */
static struct shape measure(const struct rs_model *m, const struct set *set, struct row *rows)
{
    const struct rs_ops *o = &m->ops;
    struct shape s = {0};
    uint64_t sent = 0;
    for (uint32_t i = 0; i < set->n; i++)
        rows[i] = (struct row){o->root[set->pairs[i]], o->dst[set->pairs[i]], set->pairs[i]};
    qsort(rows, set->n, sizeof *rows, by_row);
    for (uint32_t i = 0; i < set->n; i++) {
        bool same_src = i && rows[i].a == rows[i - 1].a;
        sent = (same_src ? sent : 0) + o->bytes[rows[i].index];
        s.sum += o->bytes[rows[i].index];
        if (sent > s.most) s.most = sent;
        if (!same_src) s.senders++;
        if (same_src && rows[i].b == rows[i - 1].b) continue;
        if (rows[i].a == rows[i].b)
            s.selves++;
        else
            s.routes++;
    }
    s.sender = rows[0].a;
    s.receiver = rows[0].b;
    for (uint32_t i = 0; i < set->n; i++) { /* ranks, each once as sender and once as receiver */
        rows[2 * i] = (struct row){o->root[set->pairs[i]], 0, 0};
        rows[2 * i + 1] = (struct row){o->dst[set->pairs[i]], 1, 0};
    }
    qsort(rows, 2 * (size_t)set->n, sizeof *rows, by_row);
    for (uint32_t i = 0; i < 2 * set->n; i++) {
        if (!i || rows[i].a != rows[i - 1].a) s.ranks++;
        if (rows[i].b && !(i && rows[i - 1].b && rows[i].a == rows[i - 1].a)) s.receivers++;
    }
    return s;
}

static const char *name_of(const struct shape *s, int32_t nranks)
{
    uint64_t all = (uint64_t)s->ranks * (s->ranks - 1);
    if (s->routes == all && (s->ranks > 2 || (s->ranks == 2 && s->selves == 2))) return "AlltoAll";
    /* Unequal splits leave pairs out. What a rank sends to itself tells them from rings and pipelines. */
    if (s->ranks > 2 && s->selves && (int64_t)s->ranks == nranks && s->senders > 1 && s->receivers > 1 &&
        2 * s->routes >= all)
        return "AlltoAll";
    if (s->receivers == 1 && s->senders > 1) return "Gather";
    if (s->senders == 1 && s->receivers > 1) return "Scatter";
    return "SendRecv";
}

/* ---- operations ---- */

static enum rs_status add_parts(struct rs_model *m, uint32_t op, const struct set *set, struct row *rows,
                                struct rs_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->n; i++) {
        uint32_t pair = set->pairs[i];
        for (uint32_t k = 0; k < m->ops.nparts[pair]; k++) {
            uint32_t part = m->order[m->ops.part[pair] + k];
            rows[n++] = (struct row){m->members[m->parts.member[part]].rank, 0, part};
        }
    }
    qsort(rows, n, sizeof *rows, by_row);
    m->ops.part[op] = m->norder;
    m->ops.nparts[op] = n;
    for (uint32_t i = 0; i < n; i++) RS_TRY(rs_model_order(m, rows[i].index, err));
    return RS_OK;
}

static enum rs_status add_fanout(struct rs_model *m, const struct set *set, struct row *rows, struct rs_err *err)
{
    uint32_t op;
    RS_TRY(rs_model_op(m, &op, err));
    struct rs_ops *o = &m->ops;
    uint32_t one = set->pairs[0];
    o->kind[op] = RS_OP_FANOUT;
    o->comm[op] = o->comm[one];
    o->dtype[op] = o->dtype[one];
    o->captured[op] = o->captured[one];
    o->replay[op] = o->replay[one];
    struct shape s = measure(m, set, rows);
    const char *name = name_of(&s, m->comms[o->comm[op]].nranks);
    RS_TRY(rs_model_string(m, name, &o->func[op], err));
    if (name[0] == 'G') o->root[op] = s.receiver;
    if (name[1] == 'c') o->root[op] = s.sender;
    o->bytes[op] = name[0] == 'A' ? s.most : s.sum;
    o->count[op] = o->bytes[op] / rs_dtype_bytes(rs_model_text(m, o->dtype[op]));
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < set->n; i++) {
        uint32_t pair = set->pairs[i];
        o->fanout[pair] = op;
        if (o->id[pair] < least) least = o->id[pair];
        if (o->confidence[pair] < o->confidence[op]) o->confidence[op] = o->confidence[pair];
        o->flags[op] |= o->flags[pair] & RS_OP_MISMATCH;
    }
    o->id[op] = rs_op_id(m, o->comm[op], "fan-out", least, 0);
    return add_parts(m, op, set, rows, err);
}

/* Pairs set by set: `node` of each pair (by operation from `first` on), sets of one pair left out. */
static enum rs_status add_all(struct rs_model *m, struct sets *s, const uint32_t *node, uint32_t first, uint32_t n,
                              struct rs_err *err)
{
    uint32_t *at = malloc(((size_t)s->n + 1) * sizeof *at), *pairs = NULL, total = 0, most = 0;
    struct row *rows = NULL;
    enum rs_status status = at ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; status == RS_OK && i < s->n; i++) {
        at[i] = total;
        if (root_of(s, i) != i || s->size[i] < 2) continue;
        total += s->size[i];
        if (s->size[i] > most) most = s->size[i];
    }
    if (status == RS_OK && total) {
        pairs = malloc(total * sizeof *pairs);
        rows = malloc(2 * (size_t)most * sizeof *rows);
        if (!pairs || !rows) status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; status == RS_OK && total && i < n; i++) {
        if (node[i] == RS_NONE) continue;
        uint32_t set = root_of(s, node[i]);
        if (s->size[set] >= 2) pairs[at[set]++] = first + i;
    }
    for (uint32_t i = 0; status == RS_OK && i < s->n; i++) { /* at[] has moved to the end of each */
        if (s->parent[i] != i || s->size[i] < 2) continue;
        struct set set = {pairs + at[i] - s->size[i], s->size[i]};
        status = add_fanout(m, &set, rows, err);
    }
    free(at);
    free(pairs);
    free(rows);
    return status;
}

static enum rs_status place_pair(struct sets *s, const struct rs_model *m, uint32_t op, uint32_t *node,
                                 struct rs_err *err)
{
    RS_TRY(place(s, m, m->order[m->ops.part[op]], node, err));
    if (m->ops.nparts[op] == 2) {
        uint32_t other;
        RS_TRY(place(s, m, m->order[m->ops.part[op] + 1], &other, err));
        *node = unite(s, *node, other);
    }
    s->size[root_of(s, *node)]++;
    return RS_OK;
}

enum rs_status rs_fanouts_join(struct rs_model *m, struct rs_err *err)
{
    uint32_t first = 0, n = m->ops.n;
    while (first < n && m->ops.kind[first] != RS_OP_PAIR) first++;
    n -= first;
    if (!n) return RS_OK;
    struct sets s = {0};
    uint32_t *node = malloc(n * sizeof *node);
    enum rs_status status = node ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n && status == RS_OK; i++) {
        node[i] = RS_NONE;
        if (m->ops.kind[first + i] == RS_OP_PAIR && m->ops.nparts[first + i])
            status = place_pair(&s, m, first + i, &node[i], err);
    }
    rs_map_free(&s.index);
    if (status == RS_OK) status = add_all(m, &s, node, first, n, err);
    free(node);
    free(s.parent);
    free(s.size);
    return status;
}
