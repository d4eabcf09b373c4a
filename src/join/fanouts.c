#include "join/fanouts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/collectives.h"

/* Connected sets. A node is a group call, or a launch, of a member. */
struct sets {
    uint32_t *parent, *size; /* size: pairs, at the root of a set */
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

static void add_node(struct sets *s, uint32_t *node)
{
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 1024;
        uint32_t *parent = rs_realloc(s->parent, cap * sizeof *parent);
        s->parent = parent;
        uint32_t *size = rs_realloc(s->size, cap * sizeof *size);
        s->size = size;
        s->cap = cap;
    }
    s->parent[s->n] = s->n;
    s->size[s->n] = 0;
    *node = s->n++;
}

/* The node of a handle of a member: handles are unique in a process, and a member belongs to one process. A hash
 * collision would connect unrelated pairs: a chance of one in 2^64 per pair. */
static void find_node(struct sets *s, uint32_t member, uint64_t handle, uint32_t *node)
{
    uint64_t *at, h = (handle ^ (uint64_t)member * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 31 ^ member) * 0x9e3779b97f4a7c15u;
    rs_map_at(&s->index, h, RS_NONE, &at);
    if (*at == RS_NONE) {
        add_node(s, node);
        *at = *node;
    }
    *node = (uint32_t)*at;
}

/* The nodes of a part: its group call and its launch, which is part of it. If both are unknown, a node of its own. */
static void place(struct sets *s, const struct rs_model *m, uint32_t part, uint32_t *node)
{
    const struct rs_parts *t = &m->parts;
    uint32_t other;
    if (!t->group[part] && !t->launch[part]) {
        add_node(s, node);
        return;
    }
    find_node(s, t->member[part], t->group[part] ? t->group[part] : t->launch[part], node);
    if (t->group[part] && t->launch[part]) {
        find_node(s, t->member[part], t->launch[part], &other);
        *node = unite(s, *node, other);
    }
}

/* ---- the name of a set ---- */

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
    int32_t sender, receiver; /* any of them */
};

/* `rows`: room for twice the number of pairs. */
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
    for (uint32_t i = 0; i < set->n; i++) { /* each rank once as sender and once as receiver */
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
    /* Unequal splits omit pairs. Sends to itself distinguish an all-to-all from rings and pipelines. */
    if (s->ranks > 2 && s->selves && (int64_t)s->ranks == nranks && s->senders > 1 && s->receivers > 1 &&
        2 * s->routes >= all)
        return "AlltoAll";
    if (s->receivers == 1 && s->senders > 1) return "Gather";
    if (s->senders == 1 && s->receivers > 1) return "Scatter";
    return "SendRecv";
}

/* ---- operations ---- */

static void add_parts(struct rs_model *m, uint32_t op, const struct set *set, struct row *rows)
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
    for (uint32_t i = 0; i < n; i++) rs_model_order(m, rows[i].index);
}

static void add_fanout(struct rs_model *m, const struct set *set, struct row *rows)
{
    uint32_t op;
    rs_model_op(m, &op);
    struct rs_ops *o = &m->ops;
    uint32_t one = set->pairs[0];
    o->kind[op] = RS_OP_FANOUT;
    o->comm[op] = o->comm[one];
    o->dtype[op] = o->dtype[one];
    o->captured[op] = o->captured[one];
    o->replay[op] = o->replay[one];
    struct shape s = measure(m, set, rows);
    const char *name = name_of(&s, m->comms[o->comm[op]].nranks);
    rs_model_string(m, name, &o->func[op]);
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
    add_parts(m, op, set, rows);
}

/* Pairs by set: `node` of each pair (by operation from `first` on), without sets of one pair. */
static void add_all(struct rs_model *m, struct sets *s, const uint32_t *node, uint32_t first, uint32_t n)
{
    uint32_t *at = rs_alloc(((size_t)s->n + 1) * sizeof *at), *pairs = NULL, total = 0, most = 0;
    struct row *rows = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        at[i] = total;
        if (root_of(s, i) != i || s->size[i] < 2) continue;
        total += s->size[i];
        if (s->size[i] > most) most = s->size[i];
    }
    if (total) {
        pairs = rs_alloc(total * sizeof *pairs);
        rows = rs_alloc(2 * (size_t)most * sizeof *rows);
    }
    for (uint32_t i = 0; total && i < n; i++) {
        if (node[i] == RS_NONE) continue;
        uint32_t set = root_of(s, node[i]);
        if (s->size[set] >= 2) pairs[at[set]++] = first + i;
    }
    for (uint32_t i = 0; i < s->n; i++) { /* at[] is now the end of each */
        if (s->parent[i] != i || s->size[i] < 2) continue;
        struct set set = {pairs + at[i] - s->size[i], s->size[i]};
        add_fanout(m, &set, rows);
    }
    free(at);
    free(pairs);
    free(rows);
}

static void place_pair(struct sets *s, const struct rs_model *m, uint32_t op, uint32_t *node)
{
    place(s, m, m->order[m->ops.part[op]], node);
    if (m->ops.nparts[op] == 2) {
        uint32_t other;
        place(s, m, m->order[m->ops.part[op] + 1], &other);
        *node = unite(s, *node, other);
    }
    s->size[root_of(s, *node)]++;
}

void rs_fanouts_join(struct rs_model *m)
{
    uint32_t first = 0, n = m->ops.n;
    while (first < n && m->ops.kind[first] != RS_OP_PAIR) first++;
    n -= first;
    if (!n) return;
    struct sets s = {0};
    uint32_t *node = rs_alloc(n * sizeof *node);
    for (uint32_t i = 0; i < n; i++) {
        node[i] = RS_NONE;
        if (m->ops.kind[first + i] == RS_OP_PAIR && m->ops.nparts[first + i]) place_pair(&s, m, first + i, &node[i]);
    }
    rs_map_free(&s.index);
    add_all(m, &s, node, first, n);
    free(node);
    free(s.parent);
    free(s.size);
}
