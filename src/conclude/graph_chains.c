#include "conclude/graph.h"

#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "conclude/roles.h"

enum {
    LEAST_ALIKE = 8, /* nodes that show what the others of their kind follow upon */
    LEAST_EVEN = 24, /* the same, if only the evenness of their times tells */
    LEAST_VISIBLE = 3,
    BLOCKED_NS = 10000, /* from the end of an operation to the start of the next, which waited in its stream */
    RESOLUTION_NS = 2 * RS_ONE_CLOCK_NS, /* of the difference of an end and a start on one clock */
};

struct chaining {
    struct rs_graph *g;
    const struct rs_model *model;
    struct rs_map signature_ids;
};

/* ---- predecessors ---- */

static int by_start(const void *a, const void *b, void *of)
{
    const struct rs_node *nodes = of, *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x < y ? -1 : x > y;
}

uint32_t *rs_rows_by_number(const uint32_t *of, const uint32_t *order, uint32_t n, uint32_t count, uint32_t **first)
{
    uint32_t *rows = rs_alloc(((size_t)n + 1) * sizeof *rows), *at = rs_zalloc((size_t)count + 2, sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        if (of[i] != RS_NONE) at[of[i] + 2]++;
    for (uint32_t k = 0; k < count; k++) at[k + 2] += at[k + 1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = order ? order[i] : i;
        if (of[row] != RS_NONE) rows[at[of[row] + 1]++] = row;
    }
    *first = at;
    return rows;
}

static void sort_by_rank(struct rs_graph *g)
{
    g->by_rank = rs_alloc(((size_t)g->nnodes + 1) * sizeof *g->by_rank);
    g->first = rs_zalloc((size_t)g->nranks + 2, sizeof *g->first);
    for (uint32_t i = 0; i < g->nnodes; i++) g->first[g->nodes[i].rank_id + 2]++;
    for (uint32_t r = 0; r < g->nranks; r++) g->first[r + 2] += g->first[r + 1];
    for (uint32_t i = 0; i < g->nnodes; i++) g->by_rank[g->first[g->nodes[i].rank_id + 1]++] = i;
    for (uint32_t r = 0; r < g->nranks; r++)
        qsort_r(g->by_rank + g->first[r], g->first[r + 1] - g->first[r], sizeof *g->by_rank, by_start, g->nodes);
}

/* A heap of running nodes, the first to end on top. */
struct running {
    uint32_t *rows;
    uint32_t n, cap;
};

static void push(struct running *h, const struct rs_node *nodes, uint32_t node)
{
    RS_ROOM(h->rows, h->n, h->cap);
    uint32_t at = h->n++;
    for (; at && nodes[node].end < nodes[h->rows[(at - 1) / 2]].end; at = (at - 1) / 2)
        h->rows[at] = h->rows[(at - 1) / 2];
    h->rows[at] = node;
}

static uint32_t pop(struct running *h, const struct rs_node *nodes)
{
    uint32_t top = h->rows[0], last = h->rows[--h->n], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && nodes[h->rows[child + 1]].end < nodes[h->rows[child]].end) child++;
        if (nodes[h->rows[child]].end >= nodes[last].end) break;
        h->rows[at] = h->rows[child];
    }
    h->rows[at] = last;
    return top;
}

/* Of the operations of a rank that had ended when a node started: the last, and the last of the same communicator. */
struct choice {
    uint32_t any, own;
};

static uint32_t comm_of(const struct chaining *w, uint32_t node)
{
    return w->model->members[w->g->nodes[node].member].comm;
}

static void find_choices(struct chaining *w, struct choice *choices)
{
    struct rs_graph *g = w->g;
    const struct rs_node *nodes = g->nodes;
    struct running h = {0};
    uint32_t *own = rs_alloc(((size_t)w->model->ncomms + 1) * sizeof *own); /* by communicator */
    for (uint32_t i = 0; i < w->model->ncomms; i++) own[i] = RS_NONE;
    for (uint32_t r = 0; r < g->nranks; r++) {
        uint32_t any = RS_NONE;
        h.n = 0;
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            uint32_t i = g->by_rank[k];
            while (h.n && nodes[h.rows[0]].end <= rs_time_plus(nodes[i].start, RESOLUTION_NS)) {
                uint32_t ended = pop(&h, nodes), *last = &own[comm_of(w, ended)];
                if (any == RS_NONE || nodes[ended].end >= nodes[any].end) any = ended;
                if (*last == RS_NONE || nodes[ended].end >= nodes[*last].end) *last = ended;
            }
            choices[i] = (struct choice){any, own[comm_of(w, i)]};
            push(&h, nodes, i);
        }
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) own[comm_of(w, g->by_rank[k])] = RS_NONE;
    }
    free(own);
    free(h.rows);
}

static int64_t since(const struct rs_graph *g, uint32_t node, uint32_t pred)
{
    return rs_time_minus(g->nodes[node].start, pred == RS_NONE ? g->begin : g->nodes[pred].end);
}

int64_t rs_graph_spread(const int64_t *v, const uint32_t *ranks, uint32_t n, int64_t *scratch)
{
    uint32_t from = 0;
    for (uint32_t k; from < n; from = k) {
        for (k = from; k < n && ranks[k] == ranks[from]; k++) scratch[k] = v[k];
        int64_t usual = rs_median(scratch + from, k - from);
        for (uint32_t i = from; i < k; i++) scratch[i] = rs_time_minus(v[i], usual);
    }
    return rs_mad(scratch, n, 0);
}

/* Operations on two streams: of another communicator, one may just happen to have ended last. What a node follows upon is
 * what it comes after in the same distance, whatever the other does: the gaps of like nodes are compared. */
static void choose_predecessors(struct chaining *w, struct choice *choices)
{
    struct rs_graph *g = w->g;
    uint32_t *of = rs_alloc(((size_t)g->nnodes + 1) * sizeof *of), *first, ngroups = 0;
    struct rs_map ids = {0};
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct choice *c = &choices[i];
        bool two = c->own != RS_NONE && c->own != c->any && g->nodes[i].recorded;
        of[i] =
            !two ? RS_NONE : rs_map_number(&ids, (uint64_t)g->nodes[c->any].class << 32 | g->nodes[i].class, &ngroups);
    }
    rs_map_free(&ids);
    uint32_t *rows = rs_rows_by_number(of, g->by_rank, g->nnodes, ngroups, &first);
    size_t room = (size_t)g->nnodes + 1;
    int64_t *any = rs_alloc(room * sizeof *any), *own = rs_alloc(room * sizeof *own),
            *scratch = rs_alloc(room * sizeof *own);
    uint32_t *ranks = rs_alloc(room * sizeof *ranks);
    for (uint32_t k = 0; k < ngroups; k++) {
        uint32_t n = first[k + 1] - first[k];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t node = rows[first[k] + i];
            any[i] = since(g, node, choices[node].any);
            own[i] = since(g, node, choices[node].own);
            ranks[i] = g->nodes[node].rank_id;
        }
        if (n < LEAST_ALIKE || rs_graph_spread(own, ranks, n, scratch) >= rs_graph_spread(any, ranks, n, scratch))
            continue;
        for (uint32_t i = first[k]; i < first[k + 1]; i++) choices[rows[i]].any = choices[rows[i]].own;
    }
    free(of);
    free(rows);
    free(first);
    free(any);
    free(own);
    free(scratch);
    free(ranks);
}

static void find_predecessors(struct chaining *w)
{
    struct rs_graph *g = w->g;
    struct choice *choices = rs_alloc(((size_t)g->nnodes + 1) * sizeof *choices);
    find_choices(w, choices);
    choose_predecessors(w, choices);
    for (uint32_t r = 0; r < g->nranks; r++)
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            struct rs_node *x = &g->nodes[g->by_rank[k]];
            x->pred = choices[g->by_rank[k]].any;
            int64_t from = x->pred == RS_NONE ? g->begin : g->nodes[x->pred].end;
            if (!x->recorded && !g->ops[x->op].waited && from < x->start) x->start = from; /* at any time since then */
            x->gap = rs_time_minus(x->start, from);
            uint32_t before = x->pred == RS_NONE ? 0 : g->nodes[x->pred].class + 1;
            uint64_t key = (uint64_t)before << 32 | g->nodes[g->by_rank[k]].class;
            x->signature = rs_map_number(&w->signature_ids, key, &g->nsignatures);
        }
    free(choices);
}

/* ---- compute behind communication ----
 * Where a rank computes while its operations run (the buckets of data-parallel training), a node starts some time after
 * the *start* of an earlier one, its head, and not before the end of the one before. Ranks that waited long start right at
 * that end: their compute is hidden. Compared with these, the rank that they waited for has a gap, although it computes as
 * long. Nodes at the same position of a step are of one type: */

enum type {
    OPEN, /* what they do begins at the end of the predecessor */
    BLOCKED, /* all start right at that end: nothing is seen of what they do before */
    HIDDEN,
};

struct hidden_work {
    const struct rs_graph *g;
    uint32_t *of; /* by node: its group; RS_NONE: not looked at */
    uint8_t *types; /* by group: enum type */
    uint32_t *head; /* by node */
    /* Of nodes that do not start right at the end; works: since the start of the head. */
    int64_t *gaps, *works, *scratch;
    uint32_t *ranks;
};

static bool is_blocked(const struct rs_node *x)
{
    return x->gap <= BLOCKED_NS;
}

static int64_t work_of(const struct hidden_work *h, uint32_t node)
{
    return rs_time_minus(h->g->nodes[node].start, h->g->nodes[h->head[node]].start);
}

/* *work: how long they compute since the start of their heads. */
static enum type type_of(const struct hidden_work *h, const uint32_t *rows, uint32_t n, int64_t *work)
{
    const struct rs_node *nodes = h->g->nodes;
    uint32_t seen = 0, consistent = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (is_blocked(&nodes[rows[i]])) continue;
        h->gaps[seen] = nodes[rows[i]].gap;
        h->ranks[seen] = nodes[rows[i]].rank_id;
        h->works[seen++] = work_of(h, rows[i]);
    }
    uint32_t blocked = n - seen;
    if (10 * seen < n && seen < LEAST_VISIBLE) return BLOCKED;
    if (n < LEAST_ALIKE || seen < LEAST_VISIBLE) return OPEN;
    int64_t apart = rs_graph_spread(h->works, h->ranks, seen, h->scratch),
            gaps_apart = rs_graph_spread(h->gaps, h->ranks, seen, h->scratch);
    *work = rs_median(h->works, seen);
    if (10 * blocked < n) return n >= LEAST_EVEN && 2 * apart < gaps_apart ? HIDDEN : OPEN;
    enum type otherwise = 10 * seen < n ? BLOCKED : OPEN;
    if (apart > 4 * gaps_apart + RESOLUTION_NS) return otherwise; /* they follow the end more evenly than the head */
    for (uint32_t i = 0; i < n; i++)
        consistent += is_blocked(&nodes[rows[i]]) && work_of(h, rows[i]) >= *work - 3 * apart - RESOLUTION_NS;
    return 5 * consistent >= 4 * blocked ? HIDDEN : otherwise;
}

static void find_heads(const struct hidden_work *h, const uint32_t *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pred = h->g->nodes[rows[i]].pred, group = h->of[pred];
        h->head[rows[i]] = group != RS_NONE && h->types[group] != OPEN ? h->head[pred] : pred;
    }
}

uint64_t rs_graph_place(const struct rs_node *x, const struct rs_roles *roles)
{
    uint64_t place = (uint64_t)x->signature << 32 | x->position;
    return rs_mix(rs_mix(1, place), roles ? roles->of[x->rank_id] : 0);
}

/* A rank in a pipeline sends and receives what it computes: nothing is hidden there. */
static bool is_coll(const struct chaining *w, uint32_t node)
{
    return w->model->ops.kind[w->g->ops[w->g->nodes[node].op].op] == RS_OP_COLL;
}

static void find_hidden(struct chaining *w, const struct rs_roles *roles)
{
    struct rs_graph *g = w->g;
    size_t n = (size_t)g->nnodes + 1;
    uint32_t *first, ngroups = 0;
    struct rs_map ids = {0};
    struct hidden_work h = {.g = g,
                            .of = rs_alloc(n * sizeof *h.of),
                            .head = rs_alloc(n * sizeof *h.head),
                            .gaps = rs_alloc(n * sizeof *h.gaps),
                            .works = rs_alloc(n * sizeof *h.works),
                            .scratch = rs_alloc(n * sizeof *h.scratch),
                            .ranks = rs_alloc(n * sizeof *h.ranks)};
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct rs_node *x = &g->nodes[i];
        bool same = x->pred != RS_NONE && comm_of(w, i) == comm_of(w, x->pred) && is_coll(w, i) && is_coll(w, x->pred);
        h.of[i] = RS_NONE;
        if (same && x->recorded && g->nodes[x->pred].recorded)
            h.of[i] = rs_map_number(&ids, rs_graph_place(x, roles), &ngroups); /* by time of the first */
    }
    rs_map_free(&ids);
    h.types = rs_zalloc((size_t)ngroups + 1, sizeof *h.types);
    uint32_t *rows = rs_rows_by_number(h.of, g->by_rank, g->nnodes, ngroups, &first);
    for (uint32_t k = 0; k < ngroups; k++) {
        uint32_t *group = rows + first[k], count = first[k + 1] - first[k];
        int64_t work;
        find_heads(&h, group, count);
        h.types[k] = (uint8_t)type_of(&h, group, count, &work);
        for (uint32_t i = 0; i < count && h.types[k] == HIDDEN; i++) {
            struct rs_node *x = &g->nodes[group[i]];
            int64_t ns = work_of(&h, group[i]);
            bool blocked = is_blocked(x);
            x->head = h.head[group[i]];
            x->after = blocked ? x->gap : 0;
            x->gap = blocked && work < ns ? work : ns;
        }
    }
    free(h.of);
    free(h.types);
    free(h.head);
    free(h.gaps);
    free(h.works);
    free(h.scratch);
    free(h.ranks);
    free(rows);
    free(first);
}

/* ---- steps and positions ---- */

/* The signature that most steps of a rank begin with; RS_NONE: no steps. `count` is by signature, all 0 before and after. */
static uint32_t usual_first(const struct rs_graph *g, const uint32_t *rows, uint32_t n, uint32_t *count)
{
    uint32_t best = RS_NONE;
    for (uint32_t k = 0; k < n; k++) {
        const struct rs_node *x = &g->nodes[rows[k]];
        if (x->step == RS_NONE || (k && g->nodes[rows[k - 1]].step == x->step)) continue;
        count[x->signature]++;
        if (best == RS_NONE || count[x->signature] > count[best]) best = x->signature;
    }
    for (uint32_t k = 0; k < n; k++) count[g->nodes[rows[k]].signature] = 0;
    return best;
}

/* Steps are spans of time that suit the rank with the most operations. Elsewhere the last operations of a step may begin
 * shortly before or after its end, so a step begins at the nearest operation that it usually begins with. */
static void align_steps(struct rs_graph *g, uint32_t *rows, uint32_t n, uint32_t *count)
{
    uint32_t usual = usual_first(g, rows, n, count);
    if (usual == RS_NONE) return;
    uint32_t floor = 0; /* rows before it have their step */
    for (uint32_t k = 1; k < n; k++) {
        uint32_t step = g->nodes[rows[k]].step, before = g->nodes[rows[k - 1]].step, at = RS_NONE;
        if (step == before || step == RS_NONE) continue;
        uint32_t length = 1;
        while (k + length < n && g->nodes[rows[k + length]].step == step) length++;
        for (uint32_t d = 0; d <= length / 4 + 1 && at == RS_NONE; d++) {
            if (k + d < n && g->nodes[rows[k + d]].signature == usual)
                at = k + d;
            else if (k >= floor + d && g->nodes[rows[k - d]].signature == usual)
                at = k - d;
        }
        if (at == RS_NONE) at = k;
        for (uint32_t i = at; i < k; i++) g->nodes[rows[i]].step = step;
        for (uint32_t i = k; i < at; i++) g->nodes[rows[i]].step = before;
        floor = (at > k ? at : k) + 1;
        k = at > k ? at : k;
    }
}

/* Steps are in order on a rank: what begins after another step began there belongs to that one, whenever the operation
 * began elsewhere. So a place (step, signature, position) occurs once on a rank. */
static void keep_order(struct rs_graph *g, const uint32_t *rows, uint32_t n)
{
    uint32_t latest = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t *step = &g->nodes[rows[k]].step;
        if (*step == RS_NONE) continue;
        if (*step < latest) *step = latest;
        latest = *step;
    }
}

static void number_nodes(struct chaining *w, const struct rs_steps *steps)
{
    struct rs_graph *g = w->g;
    for (uint32_t i = 0; i < g->nops; i++) {
        uint32_t step = steps && steps->n ? rs_steps_of_op(steps, w->model, g->ops[i].op) : RS_NONE;
        for (uint32_t k = g->ops[i].first; k < g->ops[i].first + g->ops[i].n; k++) g->nodes[k].step = step;
    }
    size_t n = (size_t)g->nsignatures + 1;
    uint32_t *count = rs_zalloc(n, sizeof *count), *within = rs_zalloc(n, sizeof *within),
             *step = rs_zalloc(n, sizeof *step);
    for (uint32_t r = 0; r < g->nranks; r++) {
        uint32_t *rows = g->by_rank + g->first[r], m = g->first[r + 1] - g->first[r];
        align_steps(g, rows, m, count);
        keep_order(g, rows, m);
        for (uint32_t k = 0; k < m; k++) {
            struct rs_node *x = &g->nodes[rows[k]];
            uint32_t s = x->signature;
            if (!count[s]) step[s] = RS_NONE;
            if (step[s] != x->step && x->step != RS_NONE) {
                step[s] = x->step;
                within[s] = 0;
            }
            x->ordinal = count[s]++;
            x->position = x->step != RS_NONE ? within[s]++ : 0;
        }
        for (uint32_t k = 0; k < m; k++) count[g->nodes[rows[k]].signature] = 0;
    }
    free(count);
    free(within);
    free(step);
}

void rs_graph_chain(struct rs_graph *g, const struct rs_model *m, const struct rs_steps *steps,
                    const struct rs_roles *roles)
{
    struct chaining w = {.g = g, .model = m};
    sort_by_rank(g);
    find_predecessors(&w);
    number_nodes(&w, steps);
    find_hidden(&w, roles);
    rs_map_free(&w.signature_ids);
}
