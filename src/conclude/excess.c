#include "conclude/excess.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "join/waits.h"

static int by_gap(const void *a, const void *b, void *of)
{
    const struct rs_node *nodes = of, *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool has_steps(const struct rs_graph *g)
{
    for (uint32_t i = 0; i < g->nnodes; i++)
        if (g->nodes[i].step != RS_NONE) return true;
    return false;
}

static void find_places(struct rs_excess *e, const struct rs_roles *roles, bool steps)
{
    const struct rs_graph *g = e->graph;
    struct rs_map ids = {0};
    e->place = rs_alloc(((size_t)g->nnodes + 1) * sizeof *e->place);
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct rs_node *x = &g->nodes[i];
        uint32_t role = roles ? roles->of[x->rank_id] : 0;
        e->place[i] = RS_NONE;
        if (!x->recorded || role == RS_NONE || (steps && x->step == RS_NONE)) continue;
        uint64_t when = steps ? (uint64_t)x->step << 32 | x->position : x->ordinal;
        uint64_t what = (uint64_t)role << 32 | x->signature;
        e->place[i] = rs_map_number(&ids, rs_mix(rs_mix(1, what), when), &e->nplaces);
    }
    rs_map_free(&ids);
    e->nodes = rs_rows_by_number(e->place, NULL, g->nnodes, e->nplaces, &e->first);
    e->index = rs_alloc(((size_t)g->nnodes + 1) * sizeof *e->index);
    for (uint32_t k = 0; k < e->nplaces; k++) {
        qsort_r(e->nodes + e->first[k], e->first[k + 1] - e->first[k], sizeof *e->nodes, by_gap, g->nodes);
        for (uint32_t i = e->first[k]; i < e->first[k + 1]; i++) e->index[e->nodes[i]] = i;
    }
}

static void find_series(struct rs_excess *e, bool steps)
{
    const struct rs_graph *g = e->graph;
    uint32_t *of = rs_alloc(((size_t)g->nnodes + 1) * sizeof *of);
    struct rs_map ids = {0};
    e->series_of = rs_alloc(((size_t)g->nranks + 1) * sizeof *e->series_of);
    for (uint32_t r = 0; r < g->nranks; r++) {
        e->series_of[r] = e->nseries;
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            uint32_t i = g->by_rank[k];
            const struct rs_node *x = &g->nodes[i];
            uint64_t place = (uint64_t)(steps ? x->position : 0) << 32 | x->signature;
            of[i] = e->place[i] == RS_NONE ? RS_NONE : rs_map_number(&ids, rs_mix(rs_mix(1, r), place), &e->nseries);
        }
    }
    e->series_of[g->nranks] = e->nseries;
    rs_map_free(&ids);
    e->series = rs_rows_by_number(of, g->by_rank, g->nnodes, e->nseries, &e->begin);
    free(of);
}

void rs_excess_init(struct rs_excess *e, const struct rs_graph *g, const struct rs_roles *roles)
{
    *e = (struct rs_excess){.graph = g};
    bool steps = has_steps(g);
    find_places(e, roles, steps);
    find_series(e, steps);
}

void rs_excess_free(struct rs_excess *e)
{
    free(e->place);
    free(e->nodes);
    free(e->first);
    free(e->index);
    free(e->series);
    free(e->begin);
    free(e->series_of);
    *e = (struct rs_excess){0};
}

/* ---- the median of equals ---- */

/* The k-th (from 0) of the rows from..to, without those of a rank and of `apart`. */
static int64_t kth(const struct rs_excess *e, uint32_t from, uint32_t to, uint32_t own, const bool *apart, uint32_t k)
{
    const struct rs_node *nodes = e->graph->nodes;
    for (uint32_t i = from; i < to; i++) {
        uint32_t rank = nodes[e->nodes[i]].rank_id;
        if (rank == own || (apart && apart[rank])) continue;
        if (!k--) return nodes[e->nodes[i]].gap;
    }
    return RS_TIME_NONE;
}

static int64_t middle(int64_t a, int64_t b)
{
    return rs_time_plus(a, rs_time_minus(b, a) / 2);
}

int64_t rs_excess_of(const struct rs_excess *e, uint32_t node, const bool *apart)
{
    const struct rs_node *nodes = e->graph->nodes;
    uint32_t place = e->place[node], own = nodes[node].rank_id;
    if (place == RS_NONE) return RS_TIME_NONE;
    uint32_t from = e->first[place], to = e->first[place + 1], n = to - from - 1, at = e->index[node];
    if (!n) return RS_TIME_NONE;
    int64_t median;
    if (apart) {
        n = 0;
        for (uint32_t i = from; i < to; i++) {
            uint32_t rank = nodes[e->nodes[i]].rank_id;
            n += rank != own && !apart[rank];
        }
        if (!n) return RS_TIME_NONE;
        median = middle(kth(e, from, to, own, apart, (n - 1) / 2), kth(e, from, to, own, apart, n / 2));
    } else { /* a rank is in a place once */
        uint32_t low = from + (n - 1) / 2, high = from + n / 2;
        low += low >= at;
        high += high >= at;
        median = middle(nodes[e->nodes[low]].gap, nodes[e->nodes[high]].gap);
    }
    return rs_time_minus(nodes[node].gap, median);
}

/* ---- steps ---- */

/* If a rank has clearly fewer nodes than its equals, its step is not known. `nodes` are counts, [rank_id * steps + step]. */
static void drop_incomplete(float *late, const uint32_t *nodes, const struct rs_roles *roles, uint32_t nranks,
                            uint32_t steps)
{
    uint32_t *most = rs_zalloc((size_t)roles->n + 1, sizeof *most);
    for (uint32_t s = 0; s < steps; s++) {
        for (uint32_t i = 0; i < roles->n; i++) most[i] = 0;
        for (uint32_t r = 0; r < nranks; r++) {
            uint32_t n = nodes[(size_t)r * steps + s], role = roles->of[r];
            if (role != RS_NONE && n > most[role]) most[role] = n;
        }
        for (uint32_t r = 0; r < nranks; r++) {
            uint32_t n = nodes[(size_t)r * steps + s], role = roles->of[r];
            if (role != RS_NONE && 3 * n < 2 * most[role]) late[(size_t)r * steps + s] = NAN;
        }
    }
    free(most);
}

/* By node: the time since the last of its rank's operations that ended before it started. */
static int64_t *find_since(const struct rs_graph *g)
{
    enum { BACK = 16 }; /* operations that may run at the same time */
    int64_t *since = rs_alloc(((size_t)g->nnodes + 1) * sizeof *since);
    for (uint32_t r = 0; r < g->nranks; r++)
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            const struct rs_node *x = &g->nodes[g->by_rank[k]];
            since[g->by_rank[k]] = x->gap;
            int64_t last = INT64_MIN;
            for (uint32_t i = k; i > g->first[r] && k - i < BACK; i--) {
                int64_t end = g->nodes[g->by_rank[i - 1]].end;
                if (end <= rs_time_plus(x->start, RS_ONE_CLOCK_NS) && end > last) last = end;
            }
            if (last != INT64_MIN) since[g->by_rank[k]] = rs_time_minus(x->start, last);
        }
    return since;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The smaller of two amounts; 0 if their signs differ. */
static int64_t smaller(int64_t a, int64_t b)
{
    if ((a < 0) != (b < 0)) return 0;
    return llabs(a) < llabs(b) ? a : b;
}

void rs_excess_by_step(const struct rs_excess *e, const struct rs_roles *roles, const struct rs_steps *steps,
                       float *late)
{
    const struct rs_graph *g = e->graph;
    size_t cells = (size_t)g->nranks * steps->n;
    uint32_t *nodes = rs_zalloc(cells + 1, sizeof *nodes);
    int64_t *since = find_since(g), *sorted = rs_alloc(((size_t)g->nnodes + 1) * sizeof *sorted);
    for (size_t i = 0; i < cells; i++) late[i] = NAN;
    for (uint32_t p = 0; p < e->nplaces; p++) {
        uint32_t from = e->first[p], n = e->first[p + 1] - from, step = g->nodes[e->nodes[from]].step;
        if (n < 2 || step == RS_NONE || step < steps->warmup || !steps->rows[step].counted) continue;
        for (uint32_t i = 0; i < n; i++) sorted[i] = since[e->nodes[from + i]];
        qsort(sorted, n, sizeof *sorted, ascending);
        int64_t median = middle(g->nodes[e->nodes[from + (n - 1) / 2]].gap, g->nodes[e->nodes[from + n / 2]].gap);
        int64_t usual = middle(sorted[(n - 1) / 2], sorted[n / 2]);
        for (uint32_t i = from; i < from + n; i++) {
            const struct rs_node *x = &g->nodes[e->nodes[i]];
            size_t cell = (size_t)x->rank_id * steps->n + step;
            int64_t own = smaller(rs_time_minus(x->gap, median), rs_time_minus(since[e->nodes[i]], usual));
            late[cell] = (nodes[cell]++ ? late[cell] : 0) + (float)own;
        }
    }
    drop_incomplete(late, nodes, roles, g->nranks, steps->n);
    free(nodes);
    free(since);
    free(sorted);
}
