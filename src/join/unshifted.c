#include "join/unshifted.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"
#include "join/attach.h"
#include "join/bias.h"
#include "join/flow.h"

#define MOST_BROKEN 0.005 /* of the operations may contradict: some are joined wrongly */
#define SLACK (2 * RS_ATTACH_RIGID) /* ns by which times of two processes may differ on one clock */
enum {
    SWEEPS = 32, /* in a sweep, bounds propagate over one communicator; few are needed */
    MOST_REFERENCES = 32, /* clocks that others are compared with */
    MOST_VISITS = 40000000, /* of parts, for that */
    LEAST_OF_A_CLASS = 8, /* equal operations */
    MOST_ENDS = 1000000,
};

struct bounds {
    const struct rs_model *m;
    const bool *asked; /* by domain */
    int64_t base; /* all times below are relative to it */
    double *up, *down; /* by domain: how far it may be above and below the reference; INFINITY: no bound */
    double *errors; /* by domain, ns */
    double *by_ends; /* by domain: how far its ends allow it to be off; INFINITY: too few */
    uint32_t *ops; /* by domain: operations that bound it */
};

/* ---- operations ---- */

/* Whether no end of its parts precedes a start that it depends on (join/flow.h). */
static bool bounds_clocks(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (o->over[op] != RS_NONE || (o->flags[op] & RS_OP_DOUBLE) || o->nparts[op] < 2) return false;
    return o->kind[op] == RS_OP_PAIR ? o->nparts[op] == 2 : o->kind[op] == RS_OP_COLL;
}

/* A start that an end must not precede; RS_NONE: none, or not of a clock in question. */
static uint32_t start_of(const struct bounds *b, uint32_t op, uint32_t part, double *at)
{
    const struct rs_parts *p = &b->m->parts;
    if (!rs_part_is_needed(b->m, op, part)) return RS_NONE;
    uint32_t d =
        p->start[part] == RS_TIME_NONE || (p->flags[part] & RS_PART_STALE) ? RS_NONE : rs_part_start_domain(b->m, part);
    if (d == RS_NONE || !b->asked[d]) return RS_NONE;
    *at = (double)rs_time_minus(p->start[part], b->base);
    return d;
}

static uint32_t end_of(const struct bounds *b, uint32_t op, uint32_t part, double *at)
{
    const struct rs_parts *p = &b->m->parts;
    if (!rs_part_needs(b->m, op, part)) return RS_NONE;
    uint32_t d =
        !rs_part_has_ended(b->m, part) || (p->flags[part] & RS_PART_STALE) ? RS_NONE : rs_part_end_domain(b->m, part);
    if (d == RS_NONE || !b->asked[d]) return RS_NONE;
    *at = (double)rs_time_minus(p->end[part], b->base);
    return d;
}

/* ---- whether no shift agrees ---- */

struct agreement {
    uint32_t ops, broken;
};

/* The last start and the first end; false: one of them is unknown, or both are of one clock. */
static bool agrees(const struct bounds *b, uint32_t op, bool *fits)
{
    double at, last = -INFINITY, first = INFINITY;
    uint32_t starts = RS_NONE, ends = RS_NONE, d;
    bool several = false;
    for (uint32_t i = 0; i < b->m->ops.nparts[op]; i++) {
        uint32_t part = b->m->order[b->m->ops.part[op] + i];
        if ((d = start_of(b, op, part, &at)) != RS_NONE) {
            several |= ends != RS_NONE && ends != d;
            if (at > last) last = at;
            starts = d;
        }
        if ((d = end_of(b, op, part, &at)) != RS_NONE) {
            several |= starts != RS_NONE && starts != d;
            if (at < first) first = at;
            ends = d;
        }
    }
    *fits = first + SLACK >= last;
    return several;
}

/* ---- the hull ---- */

/* One operation: the latest possible last start is the earliest possible end, and vice versa. */
static bool narrow(const struct bounds *b, uint32_t op)
{
    double at, latest = INFINITY, earliest = -INFINITY;
    uint32_t d;
    bool any = false;
    const uint32_t *parts = &b->m->order[b->m->ops.part[op]];
    for (uint32_t i = 0; i < b->m->ops.nparts[op]; i++) {
        if ((d = end_of(b, op, parts[i], &at)) != RS_NONE) latest = fmin(latest, at + b->up[d]);
        if ((d = start_of(b, op, parts[i], &at)) != RS_NONE) earliest = fmax(earliest, at - b->down[d]);
    }
    for (uint32_t i = 0; i < b->m->ops.nparts[op]; i++) {
        if ((d = start_of(b, op, parts[i], &at)) != RS_NONE && latest - at < b->up[d]) {
            b->up[d] = fmax(latest - at, 0);
            any = true;
        }
        if ((d = end_of(b, op, parts[i], &at)) != RS_NONE && at - earliest < b->down[d]) {
            b->down[d] = fmax(at - earliest, 0);
            any = true;
        }
    }
    return any;
}

static void close_hull(struct bounds *b, uint32_t reference)
{
    for (uint32_t d = 0; d < b->m->ndomains; d++) b->up[d] = b->down[d] = INFINITY;
    b->up[reference] = b->down[reference] = 0;
    bool any = true, fits;
    for (int sweep = 0; sweep < SWEEPS && any; sweep++) {
        any = false;
        for (uint32_t op = 0; op < b->m->ops.n; op++)
            if (bounds_clocks(b->m, op) && agrees(b, op, &fits) && fits) any |= narrow(b, op);
    }
}

/* ---- ends ---- */

/* One end: its distance from the median end of its operation. */
struct row {
    uint64_t func_and_ranks, bytes; /* equal operations */
    uint32_t domain;
    double late, transfer; /* ns */
};

struct rows {
    struct row *all;
    uint32_t n, cap;
};

static int by_class_and_clock(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->func_and_ranks != y->func_and_ranks) return x->func_and_ranks < y->func_and_ranks ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->domain < y->domain ? -1 : x->domain > y->domain;
}

/* Adds the ends of one collective to the rows. `values` has room for them. */
static void add_ends(const struct bounds *b, uint32_t op, double *values, struct rows *rows)
{
    uint32_t n = 0, from = rows->n, d;
    double at, last = -INFINITY;
    bool fits;
    if (rs_func_flow(b->m, b->m->ops.func[op]) != RS_FLOW_ALL || !bounds_clocks(b->m, op) || !agrees(b, op, &fits) ||
        !fits)
        return;
    for (uint32_t i = 0; i < b->m->ops.nparts[op]; i++) {
        uint32_t part = b->m->order[b->m->ops.part[op] + i];
        if (start_of(b, op, part, &at) != RS_NONE) last = fmax(last, at);
        if ((d = end_of(b, op, part, &at)) == RS_NONE) continue;
        RS_ROOM(rows->all, rows->n, rows->cap);
        values[n++] = at;
        rows->all[rows->n++] = (struct row){.func_and_ranks = (uint64_t)b->m->ops.func[op] << 32 | b->m->ops.nparts[op],
                                            .bytes = b->m->ops.bytes[op],
                                            .domain = d,
                                            .late = at};
    }
    double middle = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = from; i < rows->n; i++) {
        rows->all[i].late -= middle;
        rows->all[i].transfer = middle - last;
    }
}

/* Ends of a clock in equal operations: all ranks end within a part of the transfer of each other, so this is how far
 * the clock may be off. `values` has room for n. */
static double bound_by_ends(const struct row *row, uint32_t n, double *values)
{
    if (n < LEAST_OF_A_CLASS) return INFINITY;
    for (uint32_t i = 0; i < n; i++) values[i] = row[i].transfer;
    double transfer = fmax(rs_fit_quantile(values, n, 0.5), 0);
    for (uint32_t i = 0; i < n; i++) values[i] = row[i].late;
    double off = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) values[i] = fabs(row[i].late - off);
    return fabs(off) + RS_BIAS_SHARE * transfer + 3 * 1.86 * rs_fit_quantile(values, n, 0.5) / sqrt(n);
}

/* The minimum over its classes, for every clock. */
static void find_by_ends(const struct bounds *b, double *by_ends)
{
    struct rows rows = {0};
    uint32_t most = 1, every = b->m->parts.n / MOST_ENDS + 1;
    uint32_t room = b->m->norder < (uint32_t)MOST_ENDS ? b->m->norder : MOST_ENDS;
    for (uint32_t op = 0; op < b->m->ops.n; op++)
        if (b->m->ops.nparts[op] > most) most = b->m->ops.nparts[op];
    double *values = rs_zalloc(most > room ? most : room, sizeof *values);
    for (uint32_t d = 0; d < b->m->ndomains; d++) by_ends[d] = INFINITY;
    for (uint32_t op = 0; op < b->m->ops.n && rows.n + most <= MOST_ENDS; op += every) add_ends(b, op, values, &rows);
    if (rows.n) qsort(rows.all, rows.n, sizeof *rows.all, by_class_and_clock);
    for (uint32_t i = 0, n; i < rows.n; i += n) {
        for (n = 1; i + n < rows.n && !by_class_and_clock(&rows.all[i], &rows.all[i + n]);) n++;
        double *to = &by_ends[rows.all[i].domain];
        *to = fmin(*to, bound_by_ends(&rows.all[i], n, values));
    }
    free(values);
    free(rows.all);
}

/* ---- all steps ---- */

static bool is_asked(const struct rs_model *m, const struct rs_track *tracks, uint32_t domain)
{
    const struct rs_domain *d = &m->domains[domain];
    return !*m->hosts[d->host].name && tracks[domain].base >= RS_TIME_WALL && (d->kind == RS_DOMAIN_HOST || d->rigid);
}

/* The clock with the most operations that bound it. */
static uint32_t choose_reference(const struct bounds *b, struct agreement *all)
{
    uint32_t best = RS_NONE;
    for (uint32_t op = 0; op < b->m->ops.n; op++) {
        bool fits;
        if (!bounds_clocks(b->m, op) || !agrees(b, op, &fits)) continue;
        all->ops++;
        all->broken += !fits;
        for (uint32_t i = 0; i < b->m->ops.nparts[op]; i++) {
            double at;
            uint32_t d = end_of(b, op, b->m->order[b->m->ops.part[op] + i], &at);
            if (d != RS_NONE) b->ops[d]++;
        }
    }
    for (uint32_t d = 0; d < b->m->ndomains; d++)
        if (b->ops[d] && (best == RS_NONE || b->ops[d] > b->ops[best])) best = d;
    return best;
}

/* The error of every clock: together with that of any other clock it covers the possible offset between them, which is
 * what operations leave open or, if less, what their ends allow. Sets taken[] for those bounded on both sides. */
static void state_errors(struct bounds *b, const uint32_t *references, uint32_t n, bool *taken)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = references[k];
        close_hull(b, r);
        for (uint32_t d = 0; d < b->m->ndomains; d++) {
            double apart = fmin(fmax(b->up[d], b->down[d]), b->by_ends[d] + b->by_ends[r]);
            if (!b->ops[d] || d == r || isinf(b->up[d] + b->down[d])) continue;
            taken[d] = taken[r] = true;
            b->errors[d] = fmax(b->errors[d], apart / 2);
            b->errors[r] = fmax(b->errors[r], apart / 2);
        }
    }
}

/* The clocks with the most operations, as far as time allows. */
static uint32_t choose_references(const struct bounds *b, uint32_t first, uint32_t *references)
{
    uint32_t n = 0, clocks = 0, most = MOST_VISITS / (b->m->parts.n + 1);
    most = most < 1 ? 1 : most < MOST_REFERENCES ? most : MOST_REFERENCES;
    for (uint32_t d = 0; d < b->m->ndomains; d++) clocks += b->ops[d] > 0;
    references[n++] = first;
    for (uint32_t d = 0, seen = 0; d < b->m->ndomains && n < most; d++)
        if (b->ops[d] && d != first && (seen++ * most) / clocks >= n - 1) references[n++] = d;
    return n;
}

static void take(const struct bounds *b, struct rs_track *tracks, const bool *taken, uint32_t *ncomponents)
{
    for (uint32_t d = 0; d < b->m->ndomains; d++) {
        if (!taken[d]) continue;
        struct rs_track *t = &tracks[d];
        struct rs_point *point = rs_alloc(sizeof *point);
        *point = (struct rs_point){0, (double)rs_time_minus(t->base, b->base)};
        free(t->curve.points);
        *t = (struct rs_track){.base = t->base,
                               .curve = {point, 1},
                               .component = *ncomponents,
                               .n = b->ops[d],
                               .doubt = b->errors[d] + RS_ATTACH_RIGID};
    }
    ++*ncomponents;
}

static void number_components(struct rs_track *tracks, uint32_t n, uint32_t *numbers, uint32_t *ncomponents)
{
    for (uint32_t c = 0; c < *ncomponents; c++) numbers[c] = RS_NONE;
    *ncomponents = 0;
    for (uint32_t d = 0; d < n; d++) {
        uint32_t *number = &numbers[tracks[d].component];
        if (*number == RS_NONE) *number = (*ncomponents)++;
        tracks[d].component = *number;
    }
}

static void find(struct bounds *b, struct rs_track *tracks, bool *asked, bool *taken, uint32_t *ncomponents)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < b->m->ndomains; d++) n += asked[d] = is_asked(b->m, tracks, d);
    if (n < 2) return;
    struct agreement all = {0};
    for (uint32_t d = 0; d < b->m->ndomains && !b->base; d++) b->base = asked[d] ? tracks[d].base : 0;
    uint32_t reference = choose_reference(b, &all);
    if (reference == RS_NONE || (double)all.broken > MOST_BROKEN * all.ops + 0.5) return;
    uint32_t references[MOST_REFERENCES];
    find_by_ends(b, b->by_ends);
    state_errors(b, references, choose_references(b, reference, references), taken);
    take(b, tracks, taken, ncomponents);
    number_components(tracks, b->m->ndomains, b->ops, ncomponents); /* b->ops is not needed any more */
}

void rs_unshifted_find(struct rs_track *tracks, const struct rs_model *m, bool *taken, uint32_t *ncomponents)
{
    size_t n = (size_t)m->ndomains + 1;
    bool *asked = rs_zalloc(n, sizeof *asked);
    struct bounds b = {.m = m,
                       .asked = asked,
                       .up = rs_zalloc(n, sizeof *b.up),
                       .down = rs_zalloc(n, sizeof *b.down),
                       .errors = rs_zalloc(n, sizeof *b.errors),
                       .by_ends = rs_zalloc(n, sizeof *b.by_ends),
                       .ops = rs_zalloc(n, sizeof *b.ops)};
    find(&b, tracks, asked, taken, ncomponents);
    free(b.ops);
    free(b.by_ends);
    free(b.errors);
    free(b.down);
    free(b.up);
    free(asked);
}
