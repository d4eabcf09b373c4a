#include "conclude/excess.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "join/waits.h"

/* ---- equals ---- */

/* What nodes are sorted by: equals are adjacent. */
struct place {
    uint32_t role, step, signature, position, rank_id, node;
};

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_equals(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = compare(x->role, y->role);
    if (!c) c = compare(x->step, y->step);
    if (!c) c = compare(x->signature, y->signature);
    if (!c) c = compare(x->position, y->position);
    return c ? c : compare(x->rank_id, y->rank_id);
}

static bool are_equals(const struct place *x, const struct place *y)
{
    return x->role == y->role && x->step == y->step && x->signature == y->signature && x->position == y->position;
}

struct work {
    struct rs_excess *out;
    const struct rs_graph *g;
    struct place *places;
    uint32_t n;
    const bool *without;
    uint32_t *nodes; /* [rank_id * steps + step]: compared nodes */
    int64_t *gaps;
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The mean of the two middle numbers of n sorted ones without the one at `skip` (n: none). */
static int64_t middle(const int64_t *v, uint32_t n, uint32_t skip)
{
    uint32_t left = n - (skip < n), low = (left - 1) / 2, high = left / 2;
    int64_t a = v[low + (low >= skip)], b = v[high + (high >= skip)];
    return a + (b - a) / 2;
}

static uint32_t find(const int64_t *v, uint32_t n, int64_t x)
{
    const int64_t *at = bsearch(&x, v, n, sizeof *v, ascending);
    return at ? (uint32_t)(at - v) : n;
}

/* n equals: their excess, and what they add to their steps. */
static void compare_equals(struct work *w, const struct place *p, uint32_t n)
{
    struct rs_excess *x = w->out;
    uint32_t others = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!w->without || !w->without[p[i].rank_id]) w->gaps[others++] = w->g->nodes[p[i].node].gap;
    if (n < 2 || !others) return;
    qsort(w->gaps, others, sizeof *w->gaps, ascending);
    int64_t all = middle(w->gaps, others, others);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_node *node = &w->g->nodes[p[i].node];
        bool outside = w->without && w->without[p[i].rank_id];
        if (!outside && others < 2) continue;
        x->of[p[i].node] = node->gap - middle(w->gaps, others, outside ? others : find(w->gaps, others, node->gap));
        size_t cell = (size_t)node->rank_id * x->nsteps + node->step;
        x->late[cell] = (float)((w->nodes[cell]++ ? x->late[cell] : 0) + (float)(node->gap - all));
    }
}

static void compare_all(struct work *w)
{
    for (uint32_t i = 0, k; i < w->n; i = k) {
        for (k = i + 1; k < w->n && are_equals(&w->places[i], &w->places[k]);) k++;
        compare_equals(w, &w->places[i], k - i);
    }
}

/* ---- steps of which much is missing ---- */

/* The sum of half of the gaps is not that of all: it is unknown if a rank has clearly fewer nodes than its equals. */
static void drop_incomplete(struct work *w, const struct rs_roles *roles, uint32_t step)
{
    struct rs_excess *x = w->out;
    uint32_t *most = rs_zalloc((size_t)roles->n + 1, sizeof *most);
    for (uint32_t r = 0; r < x->nranks; r++) {
        uint32_t n = w->nodes[(size_t)r * x->nsteps + step];
        if (roles->of[r] != RS_NONE && n > most[roles->of[r]]) most[roles->of[r]] = n;
    }
    for (uint32_t r = 0; r < x->nranks; r++) {
        size_t cell = (size_t)r * x->nsteps + step;
        if (roles->of[r] != RS_NONE && w->nodes[cell] < most[roles->of[r]] - most[roles->of[r]] / 10)
            x->late[cell] = NAN;
    }
    free(most);
}

/* ---- the persistent part ---- */

static int by_position(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = compare(x->rank_id, y->rank_id);
    if (!c) c = compare(x->signature, y->signature);
    if (!c) c = compare(x->position, y->position);
    return c ? c : compare(x->step, y->step);
}

static void find_persistent(struct work *w)
{
    enum { LEAST = 5 };
    struct place *p = w->places;
    qsort(p, w->n, sizeof *p, by_position);
    for (uint32_t i = 0, k; i < w->n; i = k) {
        uint32_t n = 0;
        for (k = i; k < w->n && p[k].rank_id == p[i].rank_id && p[k].signature == p[i].signature &&
                    p[k].position == p[i].position;
             k++)
            if (w->out->of[p[k].node] != RS_TIME_NONE) w->gaps[n++] = w->out->of[p[k].node];
        if (n < LEAST) continue;
        qsort(w->gaps, n, sizeof *w->gaps, ascending);
        int64_t median = middle(w->gaps, n, n);
        for (uint32_t j = i; j < k; j++) w->out->persistent[p[j].node] = median;
    }
}

void rs_excess_init(struct rs_excess *x, const struct rs_graph *g, const struct rs_roles *roles, uint32_t nsteps,
                    uint32_t from, const bool *without)
{
    size_t cells = (size_t)g->nranks * nsteps;
    *x = (struct rs_excess){.nranks = g->nranks, .nsteps = nsteps, .error_ns = RS_ONE_CLOCK_NS};
    x->of = rs_alloc(((size_t)g->nnodes + 1) * sizeof *x->of);
    x->persistent = rs_zalloc((size_t)g->nnodes + 1, sizeof *x->persistent);
    x->late = rs_alloc((cells + 1) * sizeof *x->late);
    for (uint32_t i = 0; i < g->nnodes; i++) x->of[i] = RS_TIME_NONE;
    for (size_t i = 0; i < cells; i++) x->late[i] = NAN;
    struct work w = {.out = x, .g = g, .without = without};
    w.places = rs_alloc(((size_t)g->nnodes + 1) * sizeof *w.places);
    w.nodes = rs_zalloc(cells + 1, sizeof *w.nodes);
    w.gaps = rs_alloc(((size_t)g->nnodes + 1) * sizeof *w.gaps);
    for (uint32_t i = 0; i < g->nnodes; i++) {
        const struct rs_node *n = &g->nodes[i];
        uint32_t role = roles->of[n->rank_id];
        if (role == RS_NONE || n->step == RS_NONE || n->step < from || n->step >= nsteps || n->pred == RS_NONE)
            continue;
        w.places[w.n++] = (struct place){role, n->step, n->signature, n->position, n->rank_id, i};
    }
    qsort(w.places, w.n, sizeof *w.places, by_equals);
    compare_all(&w);
    for (uint32_t s = from; s < nsteps; s++) drop_incomplete(&w, roles, s);
    find_persistent(&w);
    for (uint32_t r = 0; r < x->nranks; r++) {
        bool has = false;
        for (uint32_t s = from; s < nsteps && !has; s++) has = !isnan(x->late[(size_t)r * nsteps + s]);
        x->equals += has;
    }
    free(w.places);
    free(w.nodes);
    free(w.gaps);
}

void rs_excess_free(struct rs_excess *x)
{
    free(x->of);
    free(x->persistent);
    free(x->late);
    *x = (struct rs_excess){0};
}
