#include "conclude/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "join/op_facts.h"
#include "nccl/abi.h"

enum {
    RESAMPLES = 200,
    LEAST_OF_SERIES = 3, /* steps that a location needs */
};
static const double BEYOND_NOISE = 3; /* standard errors */
/* What the replay assumes is not exact: how long a transfer takes depends on who is last. Of the run, and of a saving. */
static const double ALLOWANCE_RUN = 0.001, ALLOWANCE_SAVING = 0.05;

/* ---- locations ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of the middle quarter: more exact than the median, and what is late in a third of the steps does not count.
 * Sorts. */
static double location(double *v, uint32_t n)
{
    if (!n) return 0;
    qsort(v, n, sizeof *v, ascending);
    double sum = 0;
    uint32_t cut = n * 3 / 8;
    for (uint32_t i = cut; i < n - cut; i++) sum += v[i];
    return sum / (n - 2 * cut);
}

/* The standard error of the location of n sorted values, from the distance of their quartiles. */
static double standard_error(const double *sorted, uint32_t n)
{
    double width = sorted[n - 1 - n / 4] - sorted[n / 4];
    return width / 1.349 * 1.2 / sqrt(n);
}

struct interval {
    double low, high; /* relative to the location */
};

static double mean(double *v, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += v[i];
    return n ? sum / n : 0;
}

/* Of the location (or mean) of n values: 95 % of those of samples drawn from them. */
static struct interval resample(const double *v, uint32_t n, double *scratch, double (*of)(double *v, uint32_t n))
{
    double found[RESAMPLES], all = of(memcpy(scratch, v, n * sizeof *v), n);
    uint64_t state = 1;
    for (int b = 0; b < RESAMPLES; b++) {
        for (uint32_t i = 0; i < n; i++) {
            state = rs_mix(state, i);
            scratch[i] = v[state % n];
        }
        found[b] = of(scratch, n);
    }
    qsort(found, RESAMPLES, sizeof *found, ascending);
    return (struct interval){found[RESAMPLES / 40] - all, found[RESAMPLES - 1 - RESAMPLES / 40] - all};
}

/* ---- what is taken out ---- */

struct cure {
    struct rs_whatif *w;
    const bool *apart; /* ranks that are no equals of each other; NULL */
    int64_t *take; /* by node: out of the gap before it; of a link, out of its tail */
    bool tails;
    int64_t *low, *high; /* the same at the ends of the interval */
    double *per_step, *values, *scratch; /* by moment, see moment_of() */
    bool *seen;
    double *gaps, *not_compared; /* by moment: time between operations, and what of it has no equals */
    double partly; /* share of the moments in which a rank cannot be compared, the largest of all ranks */
    uint32_t moments;
    uint64_t compared; /* nodes with equals */
    bool only_equals; /* ranks that do other work are not compared */
    double from_equals, from_others; /* what was taken out, by what it was compared with */
};

static bool has_steps(const struct rs_whatif *w)
{
    return w->steps && w->steps->n;
}

/* Where a node is among the others of its series: its step, else its ordinal. */
static uint32_t moment_of(const struct rs_whatif *w, const struct rs_node *x)
{
    return has_steps(w) ? x->step : x->ordinal;
}

static bool is_counted(const struct rs_whatif *w, const struct rs_node *x)
{
    if (!has_steps(w)) return true;
    return x->step != RS_NONE && x->step >= w->steps->warmup && w->steps->rows[x->step].counted;
}

static void cure_init(struct cure *c, struct rs_whatif *w, const bool *apart)
{
    size_t n = (size_t)w->graph.nnodes + 1;
    *c = (struct cure){.w = w, .apart = apart};
    c->take = rs_zalloc(n, sizeof *c->take);
    c->low = rs_zalloc(n, sizeof *c->low);
    c->high = rs_zalloc(n, sizeof *c->high);
    c->moments = has_steps(w) ? w->steps->n : 0;
    for (uint32_t i = 0; i < w->graph.nnodes && !has_steps(w); i++)
        if (w->graph.nodes[i].ordinal >= c->moments) c->moments = w->graph.nodes[i].ordinal + 1;
    size_t m = (size_t)c->moments + 1;
    c->per_step = rs_alloc(m * sizeof *c->per_step);
    c->values = rs_alloc(m * sizeof *c->values);
    c->scratch = rs_alloc(m * sizeof *c->scratch);
    c->seen = rs_alloc(m * sizeof *c->seen);
    c->gaps = rs_alloc(m * sizeof *c->gaps);
    c->not_compared = rs_alloc(m * sizeof *c->not_compared);
}

static void cure_free(struct cure *c)
{
    free(c->take);
    free(c->low);
    free(c->high);
    free(c->per_step);
    free(c->values);
    free(c->scratch);
    free(c->seen);
    free(c->gaps);
    free(c->not_compared);
}

/* A rank whose work nobody else does (a stage of a pipeline without replicas) is compared with all that do the same at
 * this place. */
static int64_t excess_of(const struct cure *c, uint32_t node)
{
    int64_t x = rs_excess_of(&c->w->excess, node, c->apart);
    if (x == RS_TIME_NONE && !c->only_equals) x = rs_excess_of(&c->w->any, node, c->apart);
    return x;
}

/* The excess of the nodes of a series, into c->values; returns how many have one. */
static uint32_t values_of(struct cure *c, uint32_t series)
{
    const struct rs_excess *e = &c->w->any;
    uint32_t n = 0;
    for (uint32_t k = e->begin[series]; k < e->begin[series + 1]; k++) {
        if (!is_counted(c->w, &e->graph->nodes[e->series[k]])) continue;
        int64_t x = excess_of(c, e->series[k]);
        if (x != RS_TIME_NONE) c->values[n++] = (double)x;
    }
    return n;
}

/* What a rank takes longer in every step: locations by series, sums over the series by step. */
struct shift {
    double *by_series; /* of the rank; 0: nothing is taken */
    double sum, weights; /* of the locations; of their amounts */
    struct interval interval; /* of the sum */
    uint32_t steps;
};

static void add_to_steps(struct cure *c, uint32_t series)
{
    const struct rs_excess *e = &c->w->any;
    for (uint32_t k = e->begin[series]; k < e->begin[series + 1]; k++) {
        const struct rs_node *x = &e->graph->nodes[e->series[k]];
        int64_t excess = is_counted(c->w, x) ? excess_of(c, e->series[k]) : RS_TIME_NONE;
        if (excess == RS_TIME_NONE) continue;
        uint32_t at = moment_of(c->w, x);
        if (!c->seen[at]) c->per_step[at] = 0;
        c->seen[at] = true;
        c->per_step[at] += (double)excess;
    }
}

/* `certain`: only what is longer beyond the noise of the steps. */
static void find_shift(struct cure *c, uint32_t rank_id, bool certain, struct shift *s)
{
    const struct rs_excess *e = &c->w->any;
    uint32_t first = e->series_of[rank_id], n = e->series_of[rank_id + 1] - first, found = 0;
    *s = (struct shift){.by_series = rs_zalloc((size_t)n + 1, sizeof *s->by_series)};
    memset(c->seen, 0, c->moments * sizeof *c->seen);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = values_of(c, first + k);
        c->compared += count;
        if (count < LEAST_OF_SERIES) continue;
        double at = location(c->values, count);
        if (certain && at < BEYOND_NOISE * standard_error(c->values, count) + RS_ONE_CLOCK_NS) continue;
        s->by_series[k] = at;
        s->sum += at;
        s->weights += fabs(at);
        add_to_steps(c, first + k);
    }
    for (uint32_t i = 0; i < c->moments; i++)
        if (c->seen[i]) c->values[found++] = c->per_step[i];
    s->steps = found;
    if (found >= LEAST_OF_SERIES) s->interval = resample(c->values, found, c->scratch, location);
}

/* Places that occur in a few steps only (the first operation of the run has no predecessor): no more than in others. */
static double few(const struct cure *c, uint32_t node, const struct shift *s)
{
    int64_t x = excess_of(c, node);
    if (x == RS_TIME_NONE || x <= 0 || s->sum <= 0) return 0;
    return (double)x < s->sum ? (double)x : s->sum;
}

static void take_persistent(struct cure *c, uint32_t rank_id, bool certain)
{
    const struct rs_excess *e = &c->w->any; /* has all series; the strict one has those of ranks with a role */
    struct shift s;
    find_shift(c, rank_id, certain, &s);
    uint32_t first = e->series_of[rank_id], n = e->series_of[rank_id + 1] - first;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = e->begin[first + k + 1] - e->begin[first + k];
        double share = s.weights > 0 ? fabs(s.by_series[k]) / s.weights : 0;
        for (uint32_t i = e->begin[first + k]; i < e->begin[first + k + 1]; i++) {
            uint32_t node = e->series[i];
            if (!is_counted(c->w, &e->graph->nodes[node])) continue;
            double at = count < LEAST_OF_SERIES ? few(c, node, &s) : s.by_series[k];
            if (at == 0) continue;
            c->take[node] = (int64_t)at;
            c->low[node] = (int64_t)(at + share * s.interval.low);
            c->high[node] = (int64_t)(at + share * s.interval.high);
            bool equals = rs_excess_of(&c->w->excess, node, c->apart) != RS_TIME_NONE;
            *(equals ? &c->from_equals : &c->from_others) += fabs(at);
        }
    }
    free(s.by_series);
}

/* How much of a rank's time cannot be judged: its steps in which more than a tenth of the time between operations is at
 * places that no other rank has. */
static void find_not_compared(struct cure *c, uint32_t rank_id)
{
    const struct rs_graph *g = &c->w->graph;
    memset(c->gaps, 0, c->moments * sizeof *c->gaps);
    memset(c->not_compared, 0, c->moments * sizeof *c->not_compared);
    for (uint32_t k = g->first[rank_id]; k < g->first[rank_id + 1]; k++) {
        const struct rs_node *x = &g->nodes[g->by_rank[k]];
        if (!is_counted(c->w, x) || x->gap <= 0) continue;
        uint32_t at = moment_of(c->w, x);
        c->gaps[at] += (double)x->gap;
        if (excess_of(c, g->by_rank[k]) == RS_TIME_NONE) c->not_compared[at] += (double)x->gap;
    }
    uint32_t all = 0, partly = 0;
    for (uint32_t i = 0; i < c->moments; i++) {
        all += c->gaps[i] > 0;
        partly += c->not_compared[i] > c->gaps[i] / 10;
    }
    if (all && (double)partly / all > c->partly) c->partly = (double)partly / all;
}

/* What is above the equals in single steps, of one rank or all (RS_NONE). c->take has the persistent part, which stays. */
static void take_sporadic(struct cure *c, uint32_t only)
{
    const struct rs_graph *g = &c->w->graph;
    for (uint32_t i = 0; i < g->nnodes; i++) {
        int64_t kept = c->take[i], x = is_counted(c->w, &g->nodes[i]) ? rs_excess_of(&c->w->excess, i, NULL) : 0;
        if (only != RS_NONE && g->nodes[i].rank_id != only) x = 0;
        c->compared += x != RS_TIME_NONE;
        c->take[i] = x != RS_TIME_NONE && x > kept ? rs_time_minus(x, kept) : 0;
    }
}

static void take_waits(struct cure *c)
{
    const struct rs_excess *e = &c->w->excess;
    for (uint32_t p = 0; p < e->nplaces; p++) {
        double sum = 0;
        uint32_t n = e->first[p + 1] - e->first[p];
        if (n < 2) continue;
        for (uint32_t i = e->first[p]; i < e->first[p + 1]; i++) sum += (double)e->graph->nodes[e->nodes[i]].gap;
        c->compared += n;
        for (uint32_t i = e->first[p]; i < e->first[p + 1]; i++) {
            const struct rs_node *x = &e->graph->nodes[e->nodes[i]];
            if (is_counted(c->w, x)) c->take[e->nodes[i]] = rs_time_minus(x->gap, (int64_t)(sum / n));
        }
    }
}

/* ---- links ---- */

/* Tails of like operations (class, and whether hosts differ), over the link and elsewhere. */
struct tails {
    const struct rs_whatif *w;
    uint32_t a, b; /* ranks of the link */
    uint32_t *of; /* by node: its kind; RS_NONE: not looked at */
    bool *over; /* by node: over the link */
    uint32_t kinds;
};

static bool spans_hosts(const struct rs_whatif *w, const struct rs_graph_op *op)
{
    const struct rs_model *m = w->view->model;
    const struct rs_node *nodes = w->graph.nodes;
    for (uint32_t i = op->first + 1; i < op->first + op->n; i++)
        if (m->ranks[nodes[i].rank_id].host != m->ranks[nodes[op->first].rank_id].host) return true;
    return false;
}

static void find_over(struct tails *t)
{
    const struct rs_graph *g = &t->w->graph;
    for (uint32_t k = 0; k < g->nops; k++) {
        const struct rs_graph_op *op = &g->ops[k];
        uint32_t spans = spans_hosts(t->w, op), found = 0;
        uint8_t kind = t->w->view->model->ops.kind[op->op];
        for (uint32_t i = op->first; i < op->first + op->n; i++)
            found += g->nodes[i].rank_id == t->a || g->nodes[i].rank_id == t->b;
        for (uint32_t i = op->first; i < op->first + op->n; i++) {
            const struct rs_node *x = &g->nodes[i];
            bool end = x->rank_id == t->a || x->rank_id == t->b;
            bool looked_at = x->recorded && x->end_known && x->synchronous && is_counted(t->w, x);
            t->of[i] = looked_at ? 2 * x->class + spans : RS_NONE;
            t->over[i] = found == 2 && (kind == RS_OP_COLL || end);
        }
    }
    t->kinds = 2 * g->nclasses;
}

/* What transfers over the link take longer than those of their kind elsewhere, in the median. */
static void take_link(struct cure *c, uint32_t a, uint32_t b)
{
    const struct rs_graph *g = &c->w->graph;
    size_t n = (size_t)g->nnodes + 1;
    struct tails t = {
        .w = c->w, .a = a, .b = b, .of = rs_alloc(n * sizeof *t.of), .over = rs_alloc(n * sizeof *t.over)};
    find_over(&t);
    uint32_t *first, *rows = rs_rows_by_number(t.of, NULL, g->nnodes, t.kinds, &first);
    double *over = rs_alloc(n * sizeof *over), *scratch = rs_alloc(n * sizeof *scratch);
    int64_t *elsewhere = rs_alloc(n * sizeof *elsewhere);
    double all = 0, alone = 0; /* time over the link; what of it has nothing to compare with */
    c->tails = true;
    for (uint32_t k = 0; k < t.kinds; k++) {
        uint32_t here = 0, others = 0;
        double sum = 0;
        for (uint32_t i = first[k]; i < first[k + 1]; i++) {
            if (t.over[rows[i]])
                sum += over[here++] = (double)g->nodes[rows[i]].tail;
            else
                elsewhere[others++] = g->nodes[rows[i]].tail;
        }
        all += sum;
        if (others < LEAST_OF_SERIES) alone += sum;
        if (here < LEAST_OF_SERIES || others < LEAST_OF_SERIES) continue;
        struct interval interval = resample(over, here, scratch, location);
        double longer = location(over, here) - (double)rs_median(elsewhere, others);
        c->compared += here;
        for (uint32_t i = first[k]; i < first[k + 1] && longer > 0; i++) {
            if (!t.over[rows[i]]) continue;
            c->take[rows[i]] = (int64_t)longer;
            c->low[rows[i]] = (int64_t)(longer + interval.low);
            c->high[rows[i]] = (int64_t)(longer + interval.high);
        }
    }
    c->partly = all > 0 ? alone / all : 0;
    free(t.of);
    free(t.over);
    free(rows);
    free(first);
    free(over);
    free(scratch);
    free(elsewhere);
}

/* ---- cases ---- */

/* How long step i took, from the end of the one before; RS_TIME_NONE: unknown, or it does not count. */
static int64_t length_of(const struct rs_whatif *w, const int64_t *ends, uint32_t i)
{
    bool known = i && ends[i] != RS_TIME_NONE && ends[i - 1] != RS_TIME_NONE;
    if (!known || i < w->steps->warmup || !w->steps->rows[i].counted) return RS_TIME_NONE;
    return rs_time_minus(ends[i], ends[i - 1]);
}

/* The median length of steps; NULL: no steps. */
static int64_t step_time(const struct rs_whatif *w, const int64_t *ends)
{
    if (!ends) return RS_TIME_NONE;
    int64_t *lengths = rs_alloc(w->steps->n * sizeof *lengths);
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->steps->n; i++) {
        lengths[n] = length_of(w, ends, i);
        n += lengths[n] != RS_TIME_NONE;
    }
    int64_t median = n ? rs_median(lengths, n) : RS_TIME_NONE;
    free(lengths);
    return median;
}

/* How far the sum of what steps save depends on which steps there were: 95 %. */
static struct interval savings_by_step(struct cure *c, const int64_t *ends)
{
    uint32_t n = 0;
    for (uint32_t i = 0; ends && i < c->moments; i++) {
        int64_t recorded = length_of(c->w, c->w->step_ends, i), replayed = length_of(c->w, ends, i);
        if (recorded != RS_TIME_NONE && replayed != RS_TIME_NONE)
            c->values[n++] = (double)rs_time_minus(recorded, replayed);
    }
    if (n < LEAST_OF_SERIES) return (struct interval){0, 0};
    struct interval x = resample(c->values, n, c->scratch, mean);
    return (struct interval){x.low * n, x.high * n};
}

/* ---- windows of detail ---- */

/* When the windows of a process begin: of the first that has any. To be freed; *n is 0 without windows. */
static int64_t *find_windows(const struct rs_model *m, uint32_t *n)
{
    const struct rs_proc *p = m->procs;
    while (p < m->procs + m->nprocs && !p->windows) p++;
    bool found = p < m->procs + m->nprocs, before = false;
    int64_t *from = rs_alloc(((found ? (size_t)p->ncovers : 0) + 1) * sizeof *from);
    *n = 0;
    for (uint32_t i = 0; found && i < p->ncovers; i++) {
        bool on = p->covers[i].mask & RS_KERNEL_CH;
        if (on && !before) from[(*n)++] = p->covers[i].from;
        before = on;
    }
    return from;
}

/* What a window saves: by how much more its last end is earlier than that of the window before. */
struct window {
    int64_t recorded, replayed; /* its last ends; RS_TIME_NONE: none */
    double saving, ops;
};

/* The standard error of the saving of the whole run, as far as it depends on where the windows were: of the ratio of
 * savings to operations. Multiplied with the quantile of their number. */
static double sampling_error(const struct rs_whatif *w)
{
    static const double quantiles[] = {12.7, 4.3, 3.2, 2.8, 2.6, 2.45, 2.37, 2.31, 2.26}; /* of t, from 1 on */
    const struct rs_graph *g = &w->graph;
    uint32_t n, used = 0;
    int64_t *from = find_windows(w->view->model, &n), shift = 0;
    struct window *rows = rs_alloc(((size_t)n + 1) * sizeof *rows);
    double saving = 0, ops = 0, squares = 0;
    for (uint32_t i = 0; i <= n; i++) rows[i] = (struct window){RS_TIME_NONE, RS_TIME_NONE, 0, 0};
    for (uint32_t k = 0; k < g->nops; k++) {
        uint32_t low = 0, high = n;
        RS_BISECT(low, high, mid, from[mid] <= g->ops[k].last);
        struct window *x = &rows[low];
        x->ops += is_counted(w, &g->nodes[g->ops[k].first]);
        for (uint32_t i = g->ops[k].first; i < g->ops[k].first + g->ops[k].n; i++) {
            if (g->nodes[i].end > x->recorded) x->recorded = g->nodes[i].end;
            if (w->replay.ends[i] > x->replayed) x->replayed = w->replay.ends[i];
        }
    }
    for (uint32_t i = 0; i <= n; i++) {
        if (rows[i].ops <= 0) continue;
        int64_t now = rs_time_minus(rows[i].recorded, rows[i].replayed);
        rows[i].saving = (double)rs_time_minus(now, shift);
        shift = now;
        saving += rows[i].saving;
        ops += rows[i].ops;
        used++;
    }
    for (uint32_t i = 0; i <= n; i++) {
        double e = rows[i].ops > 0 ? rows[i].saving - saving / ops * rows[i].ops : 0;
        squares += e * e;
    }
    free(from);
    free(rows);
    if (used < 2) return w->scale * fabs(saving);
    double t = used - 2 < sizeof quantiles / sizeof *quantiles ? quantiles[used - 2] : 2;
    return t * w->scale * sqrt(squares * used / (used - 1) * (1 - 1 / w->scale));
}

/* Returns the makespan; times are in w->replay. */
static int64_t run(struct cure *c, const int64_t *ns)
{
    return rs_replay_run(&c->w->replay, &c->w->graph, c->tails ? NULL : ns, c->tails ? ns : NULL);
}

/* The ends of steps of the last replay, to be freed; NULL: no steps. */
static int64_t *ends_of_steps(const struct rs_whatif *w)
{
    if (!has_steps(w)) return NULL;
    int64_t *ends = rs_alloc(w->steps->n * sizeof *ends);
    rs_replay_step_ends(&w->replay, &w->graph, ends, w->steps->n);
    return ends;
}

static int64_t not_negative(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static uint32_t counted_steps(const struct rs_whatif *w)
{
    uint32_t n = 0;
    for (uint32_t i = w->steps ? w->steps->warmup : 0; has_steps(w) && i < w->steps->n; i++)
        n += w->steps->rows[i].counted;
    return n;
}

static void set_unknown(struct rs_whatif_case *x, const char *why)
{
    x->unknown = rs_strdup(why);
}

static void replay_case(struct cure *c, struct rs_whatif_case *x)
{
    struct rs_whatif *w = c->w;
    bool resampled = x->cure <= RS_CURE_PERSISTENT;
    int64_t whole = rs_graph_makespan(&w->graph);
    int64_t low = resampled ? rs_time_minus(whole, run(c, c->low)) : 0;
    int64_t high = resampled ? rs_time_minus(whole, run(c, c->high)) : 0;
    int64_t saving = rs_time_minus(whole, run(c, c->take)); /* the last one: its times stay in w->replay */
    int64_t *ends = ends_of_steps(w);
    x->step_ns = step_time(w, ends);
    if (!resampled) {
        struct interval steps = savings_by_step(c, ends);
        low = saving + (int64_t)steps.low;
        high = saving + (int64_t)steps.high;
    }
    free(ends);
    if (w->scale > 1) {
        double wide = sampling_error(w);
        double down = hypot(w->scale * (double)not_negative(saving - low), wide);
        double up = hypot(w->scale * (double)not_negative(high - saving), wide);
        saving = (int64_t)(w->scale * (double)saving);
        low = saving - (int64_t)down;
        high = saving + (int64_t)up;
        uint32_t steps = counted_steps(w);
        x->step_ns = w->step_ns == RS_TIME_NONE || !steps ? RS_TIME_NONE : w->step_ns - saving / (int64_t)steps;
    }
    x->makespan_ns = rs_time_minus(w->makespan_ns, saving);
    int64_t own = (int64_t)(w->error_pct / 100 * (double)w->makespan_ns + ALLOWANCE_RUN * (double)w->steps_ns +
                            ALLOWANCE_SAVING * fabs((double)saving));
    x->equals = c->from_equals >= c->from_others;
    x->saving_ns = not_negative(saving);
    x->saving_low_ns = not_negative((low < saving ? low : saving) - own);
    x->saving_high_ns = not_negative((high > saving ? high : saving) + own);
    if (c->partly <= 0.5) {
        x->saving_high_ns += (int64_t)((double)x->saving_high_ns * c->partly / (1 - c->partly));
        return;
    }
    if (x->cure == RS_CURE_LINK)
        rs_asprintf(&x->unknown, "no other link of its kind has the operations of %.0f %% of its time",
                    100 * c->partly);
    else
        rs_asprintf(&x->unknown, "no other rank does the same operations in %.0f %% of its steps", 100 * c->partly);
    x->saving_high_ns = RS_TIME_NONE;
    if (x->saving_low_ns) return; /* at least that */
    x->saving_ns = x->saving_low_ns = x->makespan_ns = x->step_ns = RS_TIME_NONE;
}

static void name_case(const struct rs_whatif *w, struct rs_whatif_case *x)
{
    const struct rs_model *m = w->view->model;
    switch (x->cure) {
    case RS_CURE_RANK:
        if (m->ranks[x->rank_id].number >= 0)
            rs_asprintf(&x->take_out, "rank %" PRId32, m->ranks[x->rank_id].number);
        else
            rs_asprintf(&x->take_out, "process %" PRIu32, m->procs[m->ranks[x->rank_id].proc].pid);
        break;
    case RS_CURE_RANKS:
    case RS_CURE_LINK: break; /* named by the list */
    case RS_CURE_HOST: rs_asprintf(&x->take_out, "host %s", rs_host_label(m, x->host)); break;
    case RS_CURE_PERSISTENT: x->take_out = rs_strdup("persistent"); break;
    case RS_CURE_SPORADIC:
        if (x->rank_id == RS_NONE)
            x->take_out = rs_strdup("sporadic");
        else
            rs_asprintf(&x->take_out, "sporadic rank %" PRId32, m->ranks[x->rank_id].number);
        break;
    case RS_CURE_WAITS: x->take_out = rs_strdup("waits"); break;
    }
}

static struct rs_whatif_case *new_case(struct rs_whatif *w, enum rs_cure cure, uint32_t who)
{
    RS_ROOM(w->cases, w->ncases, w->cap_cases);
    struct rs_whatif_case *x = &w->cases[w->ncases++];
    *x = (struct rs_whatif_case){.cure = cure,
                                 .rank_id = cure == RS_CURE_RANK || cure == RS_CURE_SPORADIC ? who : RS_NONE,
                                 .peer_id = RS_NONE,
                                 .host = cure == RS_CURE_HOST ? who : RS_NONE,
                                 .makespan_ns = RS_TIME_NONE,
                                 .step_ns = RS_TIME_NONE,
                                 .saving_ns = RS_TIME_NONE,
                                 .saving_low_ns = RS_TIME_NONE,
                                 .saving_high_ns = RS_TIME_NONE};
    return x;
}

/* `who`: the ranks that are cured; those of a host are no equals of each other. */
static void solve(struct rs_whatif *w, struct rs_whatif_case *x, const bool *who)
{
    if (w->refused) {
        set_unknown(x, w->refused);
        return;
    }
    struct cure c;
    const struct rs_model *m = w->view->model;
    bool all = x->cure >= RS_CURE_PERSISTENT, several = x->cure == RS_CURE_HOST || x->cure == RS_CURE_RANKS;
    cure_init(&c, w, several ? who : NULL);
    c.only_equals = all;
    for (uint32_t r = 0; r < m->nranks && x->cure != RS_CURE_WAITS; r++)
        if (all || who[r]) take_persistent(&c, r, all);
    for (uint32_t r = 0; r < m->nranks && !all; r++)
        if (who[r]) find_not_compared(&c, r);
    if (x->cure == RS_CURE_SPORADIC) take_sporadic(&c, x->rank_id);
    if (x->cure == RS_CURE_WAITS) take_waits(&c);
    if (c.compared)
        replay_case(&c, x);
    else
        set_unknown(x, x->cure == RS_CURE_HOST ? "no other host has ranks that do the same operations"
                       : all                   ? "no two ranks do the same work"
                                               : "no other rank does the same operations");
    cure_free(&c);
}

const struct rs_whatif_case *rs_whatif_add(struct rs_whatif *w, enum rs_cure cure, uint32_t who)
{
    struct rs_whatif_case *x = new_case(w, cure, who);
    const struct rs_model *m = w->view->model;
    bool *cured = rs_zalloc((size_t)m->nranks + 1, sizeof *cured);
    for (uint32_t r = 0; r < m->nranks; r++)
        cured[r] = cure == RS_CURE_RANK ? r == who : cure == RS_CURE_HOST && m->ranks[r].host == who;
    name_case(w, x);
    solve(w, x, cured);
    free(cured);
    return x;
}

const struct rs_whatif_case *rs_whatif_add_ranks(struct rs_whatif *w, const uint32_t *ranks, uint32_t n)
{
    struct rs_whatif_case *x = new_case(w, RS_CURE_RANKS, RS_NONE);
    const struct rs_model *m = w->view->model;
    bool *cured = rs_zalloc((size_t)m->nranks + 1, sizeof *cured);
    struct rs_strbuf name = {0};
    for (uint32_t i = 0; i < n; i++) {
        cured[ranks[i]] = true;
        rs_strbuf_printf(&name, "%s%" PRId32, i ? "," : "ranks ", m->ranks[ranks[i]].number);
    }
    rs_strbuf_take(&name, &x->take_out);
    solve(w, x, cured);
    free(cured);
    return x;
}

const struct rs_whatif_case *rs_whatif_add_link(struct rs_whatif *w, uint32_t a, uint32_t b)
{
    const struct rs_model *m = w->view->model;
    struct rs_whatif_case *x = new_case(w, RS_CURE_LINK, RS_NONE);
    x->rank_id = a;
    x->peer_id = b;
    rs_asprintf(&x->take_out, "link %" PRId32 "-%" PRId32, m->ranks[a].number, m->ranks[b].number);
    if (w->refused) {
        set_unknown(x, w->refused);
        return x;
    }
    struct cure c;
    cure_init(&c, w, NULL);
    take_link(&c, a, b);
    if (c.compared)
        replay_case(&c, x);
    else
        set_unknown(x, "no operation of these two ranks can be compared with those over other links");
    cure_free(&c);
    return x;
}

struct late {
    double ns; /* in a step */
    uint32_t rank_id;
};

static int latest_first(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->rank_id < y->rank_id ? -1 : x->rank_id > y->rank_id;
}

void rs_whatif_add_late(struct rs_whatif *w, uint32_t most)
{
    uint32_t n = 0, ranks = w->refused ? 0 : w->view->model->nranks;
    struct late *rows = rs_alloc(((size_t)ranks + 1) * sizeof *rows);
    struct cure c;
    if (ranks) cure_init(&c, w, NULL);
    c.only_equals = true;
    for (uint32_t r = 0; r < ranks; r++) {
        struct shift s;
        find_shift(&c, r, true, &s);
        if (s.sum > 0) rows[n++] = (struct late){s.sum, r};
        free(s.by_series);
    }
    if (ranks) cure_free(&c);
    qsort(rows, n, sizeof *rows, latest_first);
    for (uint32_t i = 0; i < n && i < most; i++) {
        const struct rs_whatif_case *x = rs_whatif_add(w, RS_CURE_RANK, rows[i].rank_id);
        if (x->saving_ns != RS_TIME_NONE && x->saving_low_ns > 0) continue;
        w->ncases--; /* nothing to gain */
        free(w->cases[w->ncases].take_out);
        free(w->cases[w->ncases].unknown);
    }
    free(rows);
}

/* The time in which something can be taken out. */
static int64_t time_of_steps(const struct rs_whatif *w)
{
    int64_t sum = 0, last = 0;
    for (uint32_t i = 0; has_steps(w) && i < w->steps->n; i++) {
        int64_t ns = length_of(w, w->step_ends, i);
        if (ns > 0 && ns <= w->makespan_ns - sum) sum += last = ns;
    }
    bool first = has_steps(w) && !w->steps->warmup; /* its length is unknown */
    if (first) sum += last;
    return sum && sum < w->makespan_ns ? sum : w->makespan_ns;
}

/* How many operations there are in all, and when the run began and ended: by calls, where nothing else was recorded. */
static void find_whole(struct rs_whatif *w)
{
    const struct rs_view *v = w->view;
    const struct rs_graph *g = &w->graph;
    w->begin = g->begin;
    w->end = g->end;
    w->scale = 1;
    for (uint32_t i = 0; i < g->nops; i++) w->measured += is_counted(w, &g->nodes[g->ops[i].first]);
    w->all = w->measured;
    for (uint32_t i = 0; i < v->nops && g->not_measured; i++) {
        uint32_t op = v->ops[i];
        if (!v->passes[op] || !rs_op_not_measured(v->model, op)) continue;
        int64_t at = rs_op_moment(v->model, op);
        if (at == RS_TIME_NONE) continue;
        if (at < w->begin) w->begin = at;
        if (at > w->end) w->end = at;
        const struct rs_node x = {.step = has_steps(w) ? rs_steps_of(w->steps, at) : RS_NONE};
        w->all += is_counted(w, &x);
    }
    if (w->measured) w->scale = (double)w->all / (double)w->measured;
}

void rs_whatif_init(struct rs_whatif *w, const struct rs_view *view, const struct rs_steps *steps,
                    const struct rs_roles *roles)
{
    *w = (struct rs_whatif){.view = view, .steps = steps, .step_ns = RS_TIME_NONE};
    rs_graph_init(&w->graph, view, steps, roles);
    find_whole(w);
    w->refused = w->graph.refused;
    w->makespan_ns = w->graph.nnodes ? rs_time_minus(w->end, w->begin) : 0;
    if (w->refused) return;
    rs_excess_init(&w->excess, &w->graph, roles);
    rs_excess_init(&w->any, &w->graph, NULL);
    rs_replay_init(&w->replay, &w->graph);
    int64_t again = rs_replay_run(&w->replay, &w->graph, NULL, NULL);
    w->step_ends = ends_of_steps(w);
    w->step_ns = step_time(w, w->step_ends);
    w->steps_ns = time_of_steps(w);
    if (w->scale > 1 && has_steps(w)) { /* few steps are measured from end to end */
        uint32_t first = w->steps->warmup < w->steps->n ? w->steps->warmup : w->steps->n - 1;
        w->step_ns = w->steps->usual_ns;
        w->steps_ns = rs_time_minus(w->end, first ? w->steps->rows[first].from : w->begin);
    }
    if (w->makespan_ns > 0)
        w->error_pct = 100 * fabs((double)rs_time_minus(again, rs_graph_makespan(&w->graph))) / (double)w->makespan_ns;
}

void rs_whatif_free(struct rs_whatif *w)
{
    for (uint32_t i = 0; i < w->ncases; i++) {
        free(w->cases[i].take_out);
        free(w->cases[i].unknown);
    }
    free(w->cases);
    free(w->step_ends);
    rs_excess_free(&w->excess);
    rs_excess_free(&w->any);
    rs_replay_free(&w->replay);
    rs_graph_free(&w->graph);
    *w = (struct rs_whatif){0};
}
