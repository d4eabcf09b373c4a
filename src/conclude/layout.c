#include "conclude/layout.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "conclude/roles.h"
#include "join/classes.h"
#include "join/overlay_facts.h"

static const char *const names[RS_DIMENSIONS] = {"tp", "pp", "dp", "ep", "cp"};

const char *rs_dimension_name(enum rs_dimension d)
{
    return d < RS_DIMENSIONS ? names[d] : NULL;
}

/* ---- names of communicators ---- */

/* Words of names, without digits at their end. */
static const struct {
    const char *word;
    uint8_t dimension;
} words[] = {
    {"tp", RS_DIM_TP}, {"tensor", RS_DIM_TP}, {"pp", RS_DIM_PP},   {"pipe", RS_DIM_PP},    {"pipeline", RS_DIM_PP},
    {"dp", RS_DIM_DP}, {"ddp", RS_DIM_DP},    {"fsdp", RS_DIM_DP}, {"hsdp", RS_DIM_DP},    {"data", RS_DIM_DP},
    {"ep", RS_DIM_EP}, {"expert", RS_DIM_EP}, {"cp", RS_DIM_CP},   {"context", RS_DIM_CP},
};

/* Dimensions in a name, as bits. A name with several ("DATA_PARALLEL_GROUP_WITH_CP") is of their product. */
static unsigned dimensions_in(const char *name, size_t n)
{
    unsigned found = 0;
    for (size_t i = 0, k; i < n; i = k + 1) {
        for (k = i; k < n && isalnum((unsigned char)name[k]);) k++;
        size_t end = k;
        while (end > i && isdigit((unsigned char)name[end - 1])) end--;
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strlen(words[w].word) == end - i && !strncasecmp(words[w].word, name + i, end - i))
                found |= 1u << words[w].dimension;
    }
    return found;
}

static unsigned dimensions_of(const struct rs_model *m, uint32_t comm)
{
    const char *name = rs_comm_name(m, comm), *group;
    size_t n = name ? strlen(name) : 0;
    if (name) rs_group_name(name, &n, &group);
    return dimensions_in(name, n);
}

/* ---- shapes: what is done on communicators of one size and stride ---- */

enum {
    LEAST_STEPS = 3,
    LEAST_OPS = 3, /* of a communicator: fewer are of the start or the end */
    MOST_RANKS = 1 << 20, /* a number beyond that is damaged */
    TWICE = 2, /* times per step that gradients of one size occur, at most */
};

enum what { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, ALL_TO_ALL, OTHER, WHATS };

struct shape {
    int32_t nranks, stride;
    uint32_t comms;
    uint64_t ops[WHATS], pairs, collectives;
    double bytes[WHATS], all_bytes; /* of collectives, except broadcasts */
    double rare_bytes; /* of those whose size and function occur at most TWICE per step and communicator */
    uint64_t token_sizes; /* different sizes of all-to-alls */
    double start_broadcasts; /* bytes before the first step */
    unsigned named; /* dimensions in the names, as bits; of all classes of this shape */
};

struct finder {
    const struct rs_model *m;
    const struct rs_steps *steps; /* NULL: unknown */
    struct rs_job_layout *l;
    struct shape *shapes; /* by size and stride */
    uint32_t nshapes;
    uint32_t *of_class; /* its shape */
    uint64_t alone; /* sends with their receives, of all */
    bool *wide; /* by operation: a fan-out with more than two peers of a rank: no chain */
};

static enum what what_of(const struct rs_model *m, uint32_t op)
{
    static const char *const functions[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AlltoAll"};
    const char *text = rs_model_text(m, m->ops.func[op]);
    for (int i = 0; i < OTHER; i++)
        if (!strcmp(text, functions[i])) return (enum what)i;
    return OTHER;
}

static void find_shapes(struct finder *f)
{
    const struct rs_model *m = f->m;
    struct rs_map index = {0};
    f->shapes = rs_zalloc((size_t)m->nclasses + 1, sizeof *f->shapes);
    f->of_class = rs_alloc(((size_t)m->nclasses + 1) * sizeof *f->of_class);
    for (uint32_t i = 0; i < m->nclasses; i++) {
        const struct rs_class *k = &m->classes[i];
        uint64_t *at;
        rs_map_at(&index, rs_mix(rs_mix(1, (uint32_t)k->nranks), (uint32_t)k->stride), f->nshapes, &at);
        struct shape *s = &f->shapes[*at];
        if (*at == f->nshapes) {
            f->nshapes++;
            *s = (struct shape){.nranks = k->nranks, .stride = k->stride};
        }
        f->of_class[i] = (uint32_t)*at;
        s->comms += k->comms;
    }
    rs_map_free(&index);
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].over == RS_NONE && m->comms[c].class < m->nclasses)
            f->shapes[f->of_class[m->comms[c].class]].named |= dimensions_of(m, c);
}

/* How often each size of each function occurs. */
struct size_row {
    uint32_t shape;
    uint64_t n;
    double bytes;
};

static void count_ops(struct finder *f, const struct rs_view *view)
{
    const struct rs_model *m = f->m;
    struct rs_map index = {0};
    struct size_row *sizes = NULL;
    uint32_t nsizes = 0, cap = 0;
    f->wide = rs_zalloc((size_t)m->ops.n + 1, sizeof *f->wide);
    for (uint32_t i = 0; i < view->nops; i++) {
        uint32_t op = view->ops[i], class = m->comms[m->ops.comm[op]].class;
        if (class >= m->nclasses) continue;
        struct shape *s = &f->shapes[f->of_class[class]];
        enum what what = what_of(m, op);
        if (m->ops.kind[op] == RS_OP_FANOUT) f->wide[op] = what == ALL_TO_ALL || rs_fanout_is_wide(m, op);
        if (m->ops.kind[op] == RS_OP_PAIR || (m->ops.kind[op] == RS_OP_FANOUT && !f->wide[op])) {
            s->pairs++;
            f->alone += m->ops.kind[op] == RS_OP_PAIR;
            continue;
        }
        uint64_t bytes = m->ops.bytes[op], *at;
        if (f->wide[op]) what = ALL_TO_ALL; /* uneven ones have no pairs where nothing is sent */
        bool in_step = f->steps && rs_steps_of_op(f->steps, m, op) != RS_NONE;
        if (what == BROADCAST && f->steps && f->steps->n && rs_op_moment(m, op) < f->steps->rows[0].from)
            s->start_broadcasts += (double)bytes;
        if (f->steps && !in_step) continue;
        s->ops[what]++;
        s->collectives++;
        s->bytes[what] += (double)bytes;
        if (what == BROADCAST) continue;
        if (what != ALL_TO_ALL) s->all_bytes += (double)bytes;
        uint64_t func = what == ALL_TO_ALL ? UINT64_MAX : m->ops.func[op]; /* uneven ones are called SendRecv */
        uint64_t key = rs_mix(rs_mix(rs_mix(2, f->of_class[class]), func), bytes);
        rs_map_at(&index, key, nsizes, &at);
        if (*at == nsizes) {
            RS_ROOM(sizes, nsizes, cap);
            sizes[nsizes++] = (struct size_row){.shape = f->of_class[class]};
            s->token_sizes += what == ALL_TO_ALL;
        }
        sizes[*at].n++;
        if (what != ALL_TO_ALL) sizes[*at].bytes += (double)bytes;
    }
    for (uint32_t i = 0; i < nsizes && f->steps; i++) {
        struct shape *s = &f->shapes[sizes[i].shape];
        if (sizes[i].n <= (uint64_t)TWICE * s->comms * f->steps->n) s->rare_bytes += sizes[i].bytes;
    }
    free(sizes);
    rs_map_free(&index);
}

/* ---- named dimensions ---- */

static bool is_one(unsigned bits)
{
    return bits && !(bits & (bits - 1));
}

static enum rs_dimension the_one(unsigned bits)
{
    return (enum rs_dimension)__builtin_ctz(bits);
}

/* One more shape of a dimension: the sizes of dp_shard and dp_replicate are multiplied; of groups within each other (the
 * pairs of a pipeline) the larger counts. */
static void add_size(struct rs_job_layout *l, enum rs_dimension d, int32_t nranks, int32_t stride)
{
    uint32_t n = (uint32_t)nranks, s = (uint32_t)stride;
    bool first = !l->size[d];
    if (!first && s && l->stride[d] && (s == l->stride[d] * l->size[d] || l->stride[d] == s * n)) {
        l->size[d] *= n;
        if (s < l->stride[d]) l->stride[d] = s;
    } else if (first || n > l->size[d]) {
        l->size[d] = n;
        l->stride[d] = s;
    }
}

/* Classes in which a rank has several groups, with other ranks each: pairs of neighbours in a pipeline, not a division. The
 * same group again is a communicator that was made again. */
static bool *find_overlaps(const struct rs_model *m)
{
    struct rs_map index = {0}; /* class and rank -> the first rank of the group */
    bool *overlaps = rs_zalloc((size_t)m->nclasses + 1, sizeof *overlaps);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_comm_row *c = &m->comms[m->members[i].comm];
        uint32_t rank = m->members[i].rank_id, first = c->first_member;
        uint64_t *at;
        if (c->over != RS_NONE || c->class >= m->nclasses || rank == RS_NONE || first == RS_NONE) continue;
        rs_map_at(&index, (uint64_t)c->class << 32 | rank, m->members[first].rank_id, &at);
        if (*at != m->members[first].rank_id) overlaps[c->class] = true;
    }
    rs_map_free(&index);
    return overlaps;
}

static void find_named(struct finder *f)
{
    const struct rs_model *m = f->m;
    struct rs_job_layout *l = f->l;
    bool *overlaps = find_overlaps(m), pairs = false;
    unsigned *bits = rs_zalloc((size_t)m->nclasses + 1, sizeof *bits);
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].over == RS_NONE && m->comms[c].class < m->nclasses)
            bits[m->comms[c].class] |= dimensions_of(m, c);
    for (int product = 0; product < 2; product++) /* a name with one dimension first */
        for (uint32_t i = 0; i < m->nclasses; i++) {
            unsigned b = bits[i];
            /* Of groups "with cp" those of dp, if that has none of its own and nothing is divided into contexts. */
            if (product && b == (1u << RS_DIM_DP | 1u << RS_DIM_CP) && !l->size[RS_DIM_CP] && !l->size[RS_DIM_DP])
                b = 1u << RS_DIM_DP;
            else if (product)
                continue;
            if (!is_one(b) || m->classes[i].nranks < 2) continue;
            enum rs_dimension d = the_one(b);
            l->of_class[i] = (uint8_t)d;
            pairs = pairs || (overlaps[i] && d == RS_DIM_PP);
            if (overlaps[i]) continue;
            add_size(l, d, m->classes[i].nranks, m->classes[i].stride);
            l->named[d] = true;
        }
    if (pairs) { /* the sends and receives show how long the pipeline is */
        l->size[RS_DIM_PP] = 0;
        l->named[RS_DIM_PP] = false;
    }
    free(overlaps);
    free(bits);
}

static uint64_t product(const struct rs_job_layout *l)
{
    uint64_t n = 1;
    for (int d = 0; d < RS_DIMENSIONS; d++)
        if (d != RS_DIM_EP && l->size[d]) n *= l->size[d];
    return n;
}

/* ---- the pipeline: chains of sends and receives ---- */

struct edge {
    uint32_t low, high; /* ranks of the job */
    uint64_t up, down;
    uint64_t alone; /* not in a fan-out: ranks that only exchange with their neighbours are no pipeline */
};

struct chains {
    struct edge *edges;
    uint32_t n, cap;
    uint32_t (*next)[2]; /* by rank of the job: its neighbours; RS_NONE */
    uint32_t *at; /* by rank of the job: its position; RS_NONE */
};

/* False: there are too many for chains. */
static bool find_edges(const struct finder *f, struct chains *c)
{
    const struct rs_model *m = f->m;
    struct rs_map index = {0};
    for (uint32_t op = 0; op < m->ops.n && c->n <= 2 * f->l->world; op++) {
        uint32_t fanout = m->ops.fanout[op];
        if (m->ops.kind[op] != RS_OP_PAIR || m->ops.over[op] != RS_NONE) continue;
        if (fanout != RS_NONE && f->wide[fanout]) continue;
        int32_t a = rs_comm_job_rank(m, m->ops.comm[op], m->ops.root[op]);
        int32_t b = rs_comm_job_rank(m, m->ops.comm[op], m->ops.dst[op]);
        if (a < 0 || b < 0 || a == b || a >= m->world || b >= m->world) continue;
        uint32_t low = (uint32_t)(a < b ? a : b), high = (uint32_t)(a < b ? b : a);
        uint64_t *at;
        rs_map_at(&index, (uint64_t)low << 32 | high, c->n, &at);
        if (*at == c->n) {
            RS_ROOM(c->edges, c->n, c->cap);
            c->edges[c->n++] = (struct edge){.low = low, .high = high};
        }
        c->edges[*at].alone += fanout == RS_NONE;
        c->edges[*at].up += a < b;
        c->edges[*at].down += a > b;
    }
    rs_map_free(&index);
    return c->n && c->n <= 2 * f->l->world;
}

/* Both ways about as often. */
static bool is_two_way(const struct edge *e)
{
    return 4 * e->up >= 3 * e->down && 4 * e->down >= 3 * e->up;
}

/* False: it is no pipeline: a rank has more than two neighbours, or only exchanges with one. Edges that are used rarely
 * (less than in every second step, or than a tenth of the others) are of something else. */
static bool connect(const struct finder *f, struct chains *c, bool *two_way)
{
    uint64_t most = 0;
    *two_way = true;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->edges[i].up + c->edges[i].down > most) most = c->edges[i].up + c->edges[i].down;
    for (uint32_t r = 0; r < f->l->world; r++) c->next[r][0] = c->next[r][1] = c->at[r] = RS_NONE;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct edge *e = &c->edges[i];
        uint64_t times = e->up + e->down, least = f->steps ? f->steps->n / 2 + 1 : 1;
        if (10 * times < most || times < least) continue;
        if (e->alone < least) return false;
        for (int side = 0; side < 2; side++) {
            uint32_t *next = c->next[side ? e->high : e->low], other = side ? e->low : e->high;
            if (next[1] != RS_NONE) return false;
            next[next[0] != RS_NONE] = other;
        }
        *two_way = *two_way && is_two_way(e);
    }
    return true;
}

/* Numbers the ranks of one chain from its lowest rank upwards; its length, or 0: it is no chain of ascending ranks. A ring
 * is one if its lowest rank follows its highest. */
static uint32_t number_chain(struct chains *c, uint32_t lowest, uint32_t *stride, bool *ring)
{
    uint32_t rank = lowest, n = 0, before = RS_NONE;
    const uint32_t *ends = c->next[lowest];
    *ring = ends[0] != RS_NONE && ends[1] != RS_NONE;
    while (rank != RS_NONE && c->at[rank] == RS_NONE) {
        c->at[rank] = n++;
        const uint32_t *next = c->next[rank];
        uint32_t to = next[0] == before ? next[1] : next[0];
        if (before == RS_NONE && *ring) to = next[0] < next[1] ? next[0] : next[1];
        bool closes = to == lowest || to == RS_NONE;
        if (!closes && to < rank) return 0;
        if (!closes && *stride && to - rank != *stride) *stride = UINT32_MAX; /* irregular */
        if (!closes && !*stride) *stride = to - rank;
        before = rank;
        rank = to;
    }
    return *ring && rank != lowest ? 0 : n;
}

static void find_pipeline(struct finder *f)
{
    struct rs_job_layout *l = f->l;
    struct chains c = {.next = rs_alloc(((size_t)l->world + 1) * sizeof *c.next),
                       .at = rs_alloc(((size_t)l->world + 1) * sizeof *c.at)};
    bool two_way, good = find_edges(f, &c) && connect(f, &c, &two_way);
    uint32_t length = 0, stride = 0;
    for (uint32_t r = 0; r < l->world && good; r++) {
        bool ring;
        if (c.at[r] != RS_NONE) continue;
        uint32_t n = number_chain(&c, r, &stride, &ring);
        good = n >= 2 && (!length || n == length) && (!ring || (n > 2 && two_way));
        length = n;
    }
    good = good && l->world % (product(l) * length) == 0;
    if (good) {
        l->size[RS_DIM_PP] = length;
        l->stride[RS_DIM_PP] = stride == UINT32_MAX ? 0 : stride;
        l->stage = rs_alloc(((size_t)l->nranks + 1) * sizeof *l->stage);
        for (uint32_t i = 0; i < l->nranks; i++) {
            int32_t number = f->m->ranks[i].number;
            l->stage[i] = number >= 0 && (uint32_t)number < l->world ? c.at[number] : RS_NONE;
        }
        for (uint32_t i = 0; i < l->nclasses; i++) {
            const struct shape *s = &f->shapes[f->of_class[i]];
            if (l->of_class[i] == RS_DIMENSIONS && s->pairs > 10 * s->collectives && s->nranks <= (int32_t)length)
                l->of_class[i] = RS_DIM_PP;
        }
    }
    free(c.edges);
    free(c.next);
    free(c.at);
}

/* The stages of a named pipeline are the ranks of its communicators. */
static void number_stages(struct finder *f)
{
    const struct rs_model *m = f->m;
    struct rs_job_layout *l = f->l;
    l->stage = rs_alloc(((size_t)l->nranks + 1) * sizeof *l->stage);
    for (uint32_t i = 0; i < l->nranks; i++) l->stage[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        const struct rs_comm_row *c = &m->comms[x->comm];
        if (x->rank_id == RS_NONE || x->rank < 0 || c->class >= l->nclasses) continue;
        if (l->of_class[c->class] == RS_DIM_PP && c->nranks == (int32_t)l->size[RS_DIM_PP])
            l->stage[x->rank_id] = (uint32_t)x->rank;
    }
}

/* ---- the others, by what is done ---- */

static void set(struct finder *f, enum rs_dimension d, const struct shape *s)
{
    add_size(f->l, d, s->nranks, s->stride);
    for (uint32_t i = 0; i < f->l->nclasses; i++)
        if (&f->shapes[f->of_class[i]] == s && f->l->of_class[i] == RS_DIMENSIONS) f->l->of_class[i] = (uint8_t)d;
}

/* Sizes of tokens for experts change from call to call, and two layers or more send them there and back, forward and
 * backward. Sizes of other all-to-alls are the program's and come again in each step; sparse features change, too, but
 * there are few of these exchanges. */
static void find_experts(struct finder *f)
{
    enum { CALLS = 8 }; /* per step */
    for (uint32_t i = 0; i < f->nshapes && f->steps; i++) {
        const struct shape *s = &f->shapes[i];
        bool many = s->ops[ALL_TO_ALL] >= (uint64_t)CALLS * s->comms * f->steps->n;
        if (many && 2 * s->token_sizes > s->ops[ALL_TO_ALL] && s->nranks > 1 && !s->named) set(f, RS_DIM_EP, s);
    }
}

static double per_rank(const struct shape *s)
{
    return s->comms ? s->all_bytes / s->comms : 0;
}

static bool is_near(double a, double b, double share)
{
    return a >= b * (1 - share) && a <= b * (1 + share);
}

/* Whether what is done is what gradients and parameters do: see the header. */
static bool is_data(const struct finder *f, const struct shape *s)
{
    if (!f->steps) return false;
    double gathers = (double)s->ops[ALL_GATHER], scatters = (double)s->ops[REDUCE_SCATTER];
    bool sharded = scatters > 0 && is_near(gathers, 2 * scatters, 0.1) &&
                   s->bytes[ALL_GATHER] + s->bytes[REDUCE_SCATTER] > 0.9 * s->all_bytes;
    double gradients = s->bytes[ALL_REDUCE] / f->steps->n;
    return s->rare_bytes > 0.8 * s->all_bytes || sharded ||
           (gradients > 0 && is_near(s->start_broadcasts, gradients, 0.02));
}

/* Whether outer groups all-reduce what inner ones have reduced and scattered: both are data parallel (HSDP). */
static bool is_hybrid(const struct shape *inner, const struct shape *outer)
{
    double scatters = (double)inner->ops[REDUCE_SCATTER] / inner->comms;
    return scatters > 0 && is_near((double)outer->ops[ALL_REDUCE] / outer->comms, scatters, 0.05) &&
           is_near(outer->bytes[ALL_REDUCE] / outer->comms * inner->nranks, inner->bytes[REDUCE_SCATTER] / inner->comms,
                   0.02);
}

/* Regular groups without a name that divide the ranks, and exchange more than 1 % of the bytes; by stride. */
static uint32_t find_candidates(const struct finder *f, const struct shape **out, uint32_t most)
{
    double all = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nshapes; i++) all += per_rank(&f->shapes[i]);
    for (uint32_t i = 0; i < f->nshapes; i++) {
        const struct shape *s = &f->shapes[i];
        if (s->named || s->nranks < 2 || !s->stride || s->nranks == (int32_t)f->l->world) continue;
        if (per_rank(s) <= all / 100 || s->collectives < LEAST_OPS * (uint64_t)s->comms) continue;
        if ((uint64_t)s->comms * (uint32_t)s->nranks != f->l->world) continue;
        if (n == most) return most + 1;
        uint32_t k = n++;
        for (; k > 0 && out[k - 1]->stride > s->stride; k--) out[k] = out[k - 1];
        out[k] = s;
    }
    return n;
}

static bool completes(const struct finder *f, const struct shape *s, const struct shape *t)
{
    uint64_t n = product(f->l) * (uint32_t)s->nranks;
    return (t ? n * (uint32_t)t->nranks : n) == f->l->world;
}

static void find_by_work(struct finder *f)
{
    enum { MOST = 2 };
    const struct shape *list[MOST];
    struct rs_job_layout *l = f->l;
    uint32_t n = find_candidates(f, list, MOST);
    bool tp = l->size[RS_DIM_TP], dp = l->size[RS_DIM_DP];
    if (n == 0 && product(l) == 1 && f->steps && 2 * f->alone < f->steps->n) { /* no groups, no pipeline */
        for (uint32_t i = 0; i < f->nshapes; i++) {
            const struct shape *s = &f->shapes[i];
            if (s->nranks == (int32_t)l->world && !s->named && s->all_bytes > 0 && is_data(f, s)) set(f, RS_DIM_DP, s);
        }
    } else if (n == 1 && !dp && completes(f, list[0], NULL) && (tp || is_data(f, list[0]))) {
        set(f, RS_DIM_DP, list[0]);
    } else if (n == 2 && !tp && !dp && completes(f, list[0], list[1])) {
        const struct shape *inner = list[0], *outer = list[1];
        bool reduces = 2 * inner->bytes[ALL_REDUCE] > inner->all_bytes;
        if (is_hybrid(inner, outer)) {
            set(f, RS_DIM_DP, inner);
            set(f, RS_DIM_DP, outer);
        } else if (inner->stride == 1 && reduces) {
            set(f, RS_DIM_TP, inner);
            set(f, RS_DIM_DP, outer);
        }
    }
}

/* ---- words ---- */

const char *rs_job_layout_how(const struct rs_job_layout *l)
{
    bool by_name = false, by_work = false;
    for (int d = 0; d < RS_DIMENSIONS; d++) {
        by_name = by_name || (l->size[d] && l->named[d]);
        by_work = by_work || (l->size[d] && !l->named[d]);
    }
    return by_name && by_work ? "names and operations" : by_name ? "names" : by_work ? "operations" : NULL;
}

static void say_strides(struct rs_strbuf *s, const struct rs_job_layout *l)
{
    bool any = false;
    for (int d = 0; d < RS_DIMENSIONS; d++) {
        if (!l->size[d] || l->size[d] == l->world) continue;
        rs_strbuf_printf(s, "%s%s: ", any ? "; " : " (", names[d]);
        any = true;
        if (l->stride[d] == 1)
            rs_strbuf_puts(s, "consecutive ranks");
        else if (l->stride[d])
            rs_strbuf_printf(s, "stride %" PRIu32, l->stride[d]);
        else
            rs_strbuf_puts(s, "irregular");
    }
    if (any) rs_strbuf_putc(s, ')');
}

static void say(struct rs_job_layout *l)
{
    struct rs_strbuf s = {0};
    bool any = false;
    uint64_t n = product(l);
    for (int d = 0; d < RS_DIMENSIONS; d++) {
        if (!l->size[d]) continue;
        if (d != RS_DIM_EP || n == 1) {
            if (!any) rs_strbuf_printf(&s, "%" PRIu32 " ranks %s ", l->world, n == l->world ? "=" : "with");
            rs_strbuf_printf(&s, "%s%s %" PRIu32, any ? " × " : "", names[d], l->size[d]);
            any = true;
        }
    }
    if (!any) return;
    if (l->size[RS_DIM_EP] && n > 1)
        rs_strbuf_printf(&s, ", ep %" PRIu32 "%s", l->size[RS_DIM_EP],
                         l->size[RS_DIM_EP] <= l->size[RS_DIM_DP] ? " inside dp" : "");
    say_strides(&s, l);
    rs_strbuf_printf(&s, ", from %s", rs_job_layout_how(l));
    if (n < l->world && n > 1) rs_strbuf_printf(&s, "; a factor of %" PRIu64 " is unknown", l->world / n);
    rs_strbuf_take(&s, &l->text);
    rs_strbuf_free(&s);
}

/* ---- all ---- */

static void forget_all(struct rs_job_layout *l)
{
    memset(l->size, 0, sizeof l->size);
    memset(l->of_class, RS_DIMENSIONS, l->nclasses);
    free(l->stage);
    l->stage = NULL;
}

void rs_job_layout_find(struct rs_job_layout *l, const struct rs_view *view, const struct rs_steps *steps)
{
    const struct rs_model *m = view->model;
    *l = (struct rs_job_layout){.nclasses = m->nclasses, .nranks = m->nranks};
    l->of_class = rs_alloc((size_t)m->nclasses + 1);
    memset(l->of_class, RS_DIMENSIONS, m->nclasses);
    if (m->world < 2 || m->world > MOST_RANKS) return;
    l->world = (uint32_t)m->world;
    struct finder f = {.m = m, .l = l, .steps = steps && steps->n >= LEAST_STEPS ? steps : NULL};
    find_shapes(&f);
    count_ops(&f, view);
    find_named(&f);
    if (l->size[RS_DIM_PP])
        number_stages(&f);
    else if (product(l) < l->world)
        find_pipeline(&f);
    if (!l->size[RS_DIM_EP]) find_experts(&f);
    if (product(l) < l->world) find_by_work(&f);
    if (l->world % product(l) || (l->size[RS_DIM_EP] && l->world % l->size[RS_DIM_EP])) forget_all(l);
    say(l);
    free(f.shapes);
    free(f.of_class);
    free(f.wide);
}

enum rs_status rs_job_layout_of(struct rs_job_layout *l, const struct rs_model *m, struct rs_err *err)
{
    const struct rs_filter everything = {0};
    struct rs_view view;
    struct rs_steps steps = {0};
    *l = (struct rs_job_layout){0};
    rs_view_init(&view, m, &everything);
    enum rs_status status = rs_steps_find(&steps, &view, err);
    if (status == RS_OK) rs_job_layout_find(l, &view, &steps);
    rs_steps_free(&steps);
    rs_view_free(&view);
    return status;
}

void rs_job_layout_free(struct rs_job_layout *l)
{
    free(l->of_class);
    free(l->stage);
    free(l->text);
    *l = (struct rs_job_layout){0};
}

enum rs_dimension rs_job_layout_dimension(const struct rs_job_layout *l, const struct rs_model *m, uint32_t comm)
{
    uint32_t class = m->comms[comm].class;
    return class < l->nclasses ? (enum rs_dimension)l->of_class[class] : RS_DIMENSIONS;
}
