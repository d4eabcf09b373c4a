/* The program of each rank: when it launched its operations, and what it waited for before. A part of rs_graph_init(). */
#include "conclude/graph.h"

#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"

enum {
    LEAST_FREE = 8, /* launches that show how long a program takes from one operation to the next */
    LEAST_EVEN = 24, /* the same, if only the evenness of their times tells */
    LATENCY_NS = 10000, /* from a launch to the start on an idle GPU, at most */
    NOISE_NS = 10000, /* of a launch; and the host's clock against the GPU's */
};

struct hosts {
    struct rs_graph *g;
    uint32_t *by_launch, *by_end; /* nodes of a rank: from g->first[r] on; launches: `launched` of them */
    uint32_t launched;
    uint32_t *before; /* by node: the operation of its rank that ended last before it was launched; RS_NONE */
    uint32_t *kinds; /* by node: which operation it is launched after, and what it is; RS_NONE: not launched */
    uint32_t nkinds;
};

static int by_launch(const void *a, const void *b, void *of)
{
    const struct rs_node *nodes = of, *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_end(const void *a, const void *b, void *of)
{
    const struct rs_node *nodes = of, *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* ---- order and latency ---- */

/* A start before the launch, beyond what clocks explain: it is not known when it was launched. A GPU that is idle starts what
 * is launched at once; one that is not starts it later, which says nothing about how fast it could. */
static void find_latency(struct rs_graph *g)
{
    for (uint32_t i = 0; i < g->nnodes; i++) {
        struct rs_node *x = &g->nodes[i];
        if (x->launch == RS_TIME_NONE) continue;
        int64_t ns = rs_time_minus(x->start, x->launch);
        x->latency = ns < LATENCY_NS ? ns : LATENCY_NS;
        if (ns < -NOISE_NS) x->launch = RS_TIME_NONE;
    }
}

static void wait_for(const struct hosts *h, struct rs_node *x, uint32_t awaited)
{
    x->awaited = awaited;
    x->resumed = rs_time_minus(x->launch, h->g->nodes[awaited].end);
}

static void order_launches(struct hosts *h, const uint32_t *rows, uint32_t n)
{
    struct rs_node *nodes = h->g->nodes;
    uint32_t ended = 0;
    h->launched = 0;
    for (uint32_t k = 0; k < n; k++) {
        h->by_end[k] = rows[k];
        if (nodes[rows[k]].launch != RS_TIME_NONE) h->by_launch[h->launched++] = rows[k];
    }
    qsort_r(h->by_launch, h->launched, sizeof *h->by_launch, by_launch, nodes);
    qsort_r(h->by_end, n, sizeof *h->by_end, by_end, nodes);
    for (uint32_t k = 0; k < h->launched; k++) {
        struct rs_node *x = &nodes[h->by_launch[k]];
        while (ended < n && nodes[h->by_end[ended]].end <= rs_time_plus(x->launch, NOISE_NS) &&
               nodes[h->by_end[ended]].start < x->start)
            ended++;
        h->before[h->by_launch[k]] = ended ? h->by_end[ended - 1] : RS_NONE;
        if (k) {
            x->called_after = h->by_launch[k - 1];
            x->host = rs_time_minus(x->launch, nodes[x->called_after].launch);
        } else if (ended) { /* the first one that is known */
            wait_for(h, x, h->by_end[ended - 1]);
        }
    }
}

/* ---- what a program waits for ---- */

/* Whether an operation ended between the launch before and this one: the program may have waited for it. */
static bool may_have_waited(const struct hosts *h, uint32_t i)
{
    const struct rs_node *nodes = h->g->nodes, *x = &nodes[i];
    uint32_t before = h->before[i];
    if (before == RS_NONE) return false;
    return nodes[before].end > nodes[x->called_after].launch;
}

/* Nodes of one kind, with scratch for all. */
struct kind {
    const uint32_t *rows;
    uint32_t n;
    int64_t *own, *since, *scratch;
    uint32_t *ranks;
};

/* How long the program takes between launches of this kind; 0: unknown. Where nothing ended between them, the time is the
 * program's own. If something always does: if it is more even than the time since then. (A program that waited takes an
 * even time since what it waited for, and to that the time before adds its own noise.) */
static int64_t usual_time(const struct hosts *h, const struct kind *k)
{
    const struct rs_node *nodes = h->g->nodes;
    uint32_t free_ones = 0, others = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (!may_have_waited(h, k->rows[i])) k->own[free_ones++] = nodes[k->rows[i]].host;
    if (free_ones >= LEAST_FREE) return rs_median(k->own, free_ones);
    for (uint32_t i = 0; i < k->n; i++) {
        const struct rs_node *x = &nodes[k->rows[i]];
        if (!may_have_waited(h, k->rows[i])) continue;
        k->own[others] = x->host;
        k->since[others] = rs_time_minus(x->launch, nodes[h->before[k->rows[i]]].end);
        k->ranks[others++] = x->rank_id;
    }
    if (others < LEAST_EVEN) return 0;
    int64_t own = rs_graph_spread(k->own, k->ranks, others, k->scratch);
    int64_t since = rs_graph_spread(k->since, k->ranks, others, k->scratch);
    return own + own / 2 < since ? rs_median(k->own, others) : 0;
}

/* A program that took longer than usual between two launches waited for what ended there, as far as is known; it would
 * still take its usual time. */
static void find_waits(struct hosts *h)
{
    struct rs_graph *g = h->g;
    size_t room = (size_t)g->nnodes + 1;
    uint32_t *first, *rows = rs_rows_by_number(h->kinds, g->by_rank, g->nnodes, h->nkinds, &first);
    struct kind kind = {.own = rs_alloc(room * sizeof *kind.own),
                        .since = rs_alloc(room * sizeof *kind.since),
                        .scratch = rs_alloc(room * sizeof *kind.scratch),
                        .ranks = rs_alloc(room * sizeof *kind.ranks)};
    for (uint32_t k = 0; k < h->nkinds; k++) {
        kind.rows = rows + first[k];
        kind.n = first[k + 1] - first[k];
        int64_t usual = usual_time(h, &kind);
        for (uint32_t i = 0; i < kind.n; i++) {
            struct rs_node *x = &g->nodes[kind.rows[i]];
            if (!may_have_waited(h, kind.rows[i]) || (usual && x->host <= rs_time_plus(usual, usual / 10 + NOISE_NS)))
                continue;
            wait_for(h, x, h->before[kind.rows[i]]);
            if (x->host > usual) x->host = usual;
        }
    }
    free(rows);
    free(first);
    free(kind.own);
    free(kind.since);
    free(kind.scratch);
    free(kind.ranks);
}

/* ---- programs that are later than others ---- */

/* How long after the end of its predecessor (the beginning of its gap) a node was launched; if it was before, the latency
 * counts only. */
static int64_t launched_after(const struct rs_graph *g, const struct rs_node *x)
{
    int64_t from = x->pred == RS_NONE ? g->begin : x->head != RS_NONE ? g->nodes[x->head].start : g->nodes[x->pred].end;
    int64_t ns = rs_time_minus(x->launch, from);
    return ns > -LATENCY_NS ? ns : -LATENCY_NS;
}

struct launched {
    uint64_t place;
    int64_t ns;
    uint32_t rank_id, node;
};

static int by_place(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->rank_id != y->rank_id) return x->rank_id < y->rank_id ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The median of n sorted values without one of them; n > 1. */
static int64_t median_without(const int64_t *sorted, uint32_t n, int64_t one)
{
    uint32_t at = 0, low = (n - 2) / 2, high = (n - 1) / 2;
    while (sorted[at] < one) at++;
    low += low >= at;
    high += high >= at;
    return rs_time_plus(sorted[low], rs_time_minus(sorted[high], sorted[low]) / 2);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How much later a rank launches at a place than the median of its equals: their medians, if a place is that of all steps.
 * Alone at its place, all of a gap may be its program's. */
static void compare_launches(struct rs_graph *g, struct launched *rows, uint32_t n)
{
    size_t room = (size_t)g->nranks + 1;
    int64_t *medians = rs_alloc(room * sizeof *medians), *sorted = rs_alloc(room * sizeof *sorted);
    qsort(rows, n, sizeof *rows, by_place);
    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t ranks = 0;
        for (end = i; end < n && rows[end].place == rows[i].place;) {
            uint32_t k = end;
            while (end < n && rows[end].place == rows[i].place && rows[end].rank_id == rows[k].rank_id) end++;
            medians[ranks] = sorted[ranks] = rows[k + (end - k) / 2].ns;
            ranks++;
        }
        qsort(sorted, ranks, sizeof *sorted, ascending);
        for (uint32_t k = i, r = 0; k < end; k++) {
            r += k > i && rows[k].rank_id != rows[k - 1].rank_id;
            int64_t late = INT64_MAX;
            if (ranks > 1) late = rs_time_minus(medians[r], median_without(sorted, ranks, medians[r]));
            int64_t *most = &g->nodes[rows[k].node].host_late;
            if (late > *most) *most = late;
        }
    }
    free(medians);
    free(sorted);
}

/* Late in every step, or in this one. */
static void find_late(struct rs_graph *g, const struct rs_roles *roles)
{
    struct launched *rows = rs_alloc(((size_t)g->nnodes + 1) * sizeof *rows);
    for (int each = 0; each < 2; each++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < g->nnodes; i++) {
            const struct rs_node *x = &g->nodes[i];
            uint64_t place = rs_graph_place(x, roles), when = x->step != RS_NONE ? x->step : x->ordinal;
            if (x->launch != RS_TIME_NONE)
                rows[n++] = (struct launched){each ? rs_mix(place, when) : place, launched_after(g, x), x->rank_id, i};
        }
        compare_launches(g, rows, n);
    }
    free(rows);
}

void rs_graph_launch(struct rs_graph *g, const struct rs_roles *roles)
{
    size_t n = (size_t)g->nnodes + 1;
    struct rs_map ids = {0};
    struct hosts h = {.g = g,
                      .by_launch = rs_alloc(n * sizeof *h.by_launch),
                      .by_end = rs_alloc(n * sizeof *h.by_end),
                      .before = rs_alloc(n * sizeof *h.before),
                      .kinds = rs_alloc(n * sizeof *h.kinds)};
    find_latency(g);
    for (uint32_t i = 0; i < g->nnodes; i++) h.before[i] = h.kinds[i] = RS_NONE;
    for (uint32_t r = 0; r < g->nranks; r++) {
        const uint32_t *rows = g->by_rank + g->first[r];
        order_launches(&h, rows, g->first[r + 1] - g->first[r]);
        for (uint32_t k = 1; k < h.launched; k++) {
            uint64_t kind = (uint64_t)g->nodes[h.by_launch[k - 1]].class << 32 | g->nodes[h.by_launch[k]].class;
            h.kinds[h.by_launch[k]] = rs_map_number(&ids, kind, &h.nkinds);
        }
    }
    rs_map_free(&ids);
    find_waits(&h);
    find_late(g, roles);
    free(h.by_launch);
    free(h.by_end);
    free(h.before);
    free(h.kinds);
}
