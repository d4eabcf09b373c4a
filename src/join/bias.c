#include "join/bias.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    LEAST_OF_A_GROUP = 24, /* ends, for a difference between groups to count */
    LEAST_OF_A_CLASS = 12, /* equal operations, for their spread to count */
    LEAST_OF_A_THIRD = 6, /* ends */
    ENOUGH_RANKS = 8, /* number of ranks that were last, for them to represent the others */
    MOST_PAIRS = 100000, /* more do not improve the result */
    MOST_LOOKED_AT = 1000000,
    BETWEEN_HOSTS = 0x8000,
    RANKS = 0x7fff,
};
#define LEAST_OF_GPU 2e3 /* ns: always allowed */
#define LEAST_OF_HOST 8e3 /* ns: a host sees ends when it polls */
#define MOST_MISSED 0.35 /* of the lead of the last start: beyond that, the operation did not wait for it */
#define SMALL_SCATTER 0.2 /* of the range of starts: below it, ends must follow the last start */
#define SIGMAS 3 /* of biases that are allowed for */
#define TENTH 1.2816 /* sigmas beyond which a tenth of the values is */
#define MEDIAN_LOSS 1.2533 /* sigma of a median relative to that of a mean */
#define MOST_CONSTANT 40e3 /* ns of bias of ends where biases do not grow with transfers */
#define LEAST_SPREAD 100.0 /* ns */
#define SHARE_OF_ROOM 0.7 /* of the median slack of the others: the least slack of a clock */

/* ---- operations on the fitted clocks ---- */

struct seen {
    uint64_t class_hi, class_lo; /* component, function, BETWEEN_HOSTS and ranks; bytes: equal operations */
    double transfer; /* ns: from its last start to its end */
    double range; /* ns: from its first start to the last */
    double lead; /* ns: of the last start over that of the next clock */
    uint32_t last; /* the clock of the last start */
};

static int by_class(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->class_hi != y->class_hi) return x->class_hi < y->class_hi ? -1 : 1;
    if (x->class_lo != y->class_lo) return x->class_lo < y->class_lo ? -1 : 1;
    return x->last < y->last ? -1 : x->last > y->last;
}

/* How far a clock could be shifted before an end of an operation preceded a start, considering this clock alone. */
struct room {
    double low, high; /* ns; INFINITY: no bound */
};

static double half_of(const struct room *room)
{
    return (room->low + room->high) / 2;
}

/* Fills *to and narrows the slack. False: not all starts are known. */
static bool see(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s, uint32_t moment,
                double end, struct room *rooms, struct seen *to)
{
    uint32_t op = s->moments[moment].op, n = m->ops.nparts[op];
    double first = INFINITY, last = -INFINITY, second = -INFINITY, earliest = INFINITY, next = INFINITY;
    uint32_t who = RS_NONE, ends_first = RS_NONE;
    bool all = !isnan(end);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], d = rs_part_start_domain(m, part);
        if (d == RS_NONE || m->parts.start[part] == RS_TIME_NONE || !tracks[d].n) {
            all = false;
            continue;
        }
        double z = rs_track_z(&tracks[d], (double)rs_time_minus(m->parts.start[part], tracks[d].base));
        first = fmin(first, z);
        if (z > last) {
            if (who != d) second = last;
            last = z;
            who = d;
        } else if (d != who) {
            second = fmax(second, z);
        }
    }
    for (uint32_t i = 0; i < s->moments[moment].n; i++) {
        const struct rs_sample *a = &s->all[s->moments[moment].first + i];
        double z = rs_track_z(&tracks[a->domain], a->x), latest = a->domain == who ? second : last;
        if (z >= latest) rooms[a->domain].low = fmin(rooms[a->domain].low, z - latest);
        if (z < earliest) {
            if (ends_first != a->domain) next = earliest;
            earliest = z;
            ends_first = a->domain;
        } else if (a->domain != ends_first) {
            next = fmin(next, z);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], d = rs_part_start_domain(m, part);
        if (d == RS_NONE || m->parts.start[part] == RS_TIME_NONE || !tracks[d].n) continue;
        double z = rs_track_z(&tracks[d], (double)rs_time_minus(m->parts.start[part], tracks[d].base));
        double soonest = d == ends_first ? next : earliest;
        if (soonest >= z) rooms[d].high = fmin(rooms[d].high, soonest - z);
    }
    if (!all || isinf(second)) return false;
    *to =
        (struct seen){.class_hi = (uint64_t)tracks[who].component << 32 | (uint64_t)m->ops.func[op] << 16 | (n & RANKS),
                      .class_lo = m->ops.bytes[op],
                      .transfer = end - last,
                      .range = last - first,
                      .lead = last - second,
                      .last = who};
    return true;
}

/* Whether other operations ran in the same kernel: its end is that of the last of them. Parts of one launch are
 * adjacent. */
static bool shares_kernel(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    if (!p->launch[part]) return false;
    for (uint32_t other = part ? part - 1 : 0; other <= part + 1 && other < p->n; other++)
        if (other != part && p->launch[other] == p->launch[part] && rs_part_proc(m, other) == rs_part_proc(m, part))
            return true;
    return false;
}

/* A receive that waited for its send: from the send's start to the receive's end. Both directions between two ranks
 * take the same time only if their clocks agree. */
static bool see_pair(struct rs_track *tracks, const struct rs_model *m, uint32_t op, struct seen *to)
{
    if (m->ops.kind[op] != RS_OP_PAIR || m->ops.nparts[op] != 2 || m->ops.over[op] != RS_NONE) return false;
    if (m->ops.confidence[op] < 100) return false;
    uint32_t send = m->order[m->ops.part[op]], recv = m->order[m->ops.part[op] + 1];
    if (m->parts.kind[send] == RS_PART_RECV) {
        uint32_t t = send;
        send = recv;
        recv = t;
    }
    uint32_t a = rs_part_start_domain(m, send), b = rs_part_start_domain(m, recv);
    if (m->parts.kind[send] != RS_PART_SEND || a == RS_NONE || b == RS_NONE || !rs_part_has_ended(m, recv))
        return false;
    if (m->parts.start[send] == RS_TIME_NONE || m->parts.start[recv] == RS_TIME_NONE || a == b) return false;
    if (shares_kernel(m, send) || shares_kernel(m, recv)) return false;
    if (rs_part_end_domain(m, recv) != b || !tracks[a].n || !tracks[b].n) return false;
    if (tracks[a].component != tracks[b].component) return false;
    double sent = rs_track_z(&tracks[a], (double)rs_time_minus(m->parts.start[send], tracks[a].base));
    double asked = rs_track_z(&tracks[b], (double)rs_time_minus(m->parts.start[recv], tracks[b].base));
    double got = rs_track_z(&tracks[b], (double)rs_time_minus(m->parts.end[recv], tracks[b].base));
    if (sent <= asked) return false;
    unsigned between = m->domains[a].host == m->domains[b].host ? 0 : BETWEEN_HOSTS;
    *to = (struct seen){.class_hi = (uint64_t)tracks[a].component << 32 | (uint64_t)m->ops.func[op] << 16 | between | 2,
                        .class_lo = m->ops.bytes[op],
                        .transfer = got - sent,
                        .range = sent - asked,
                        .lead = sent - asked,
                        .last = a};
    return true;
}

/* ---- evidence for biases ---- */

/* Sigma from the outer tenths: transfers are skewed, and the far side matters. */
static double sigma_of(double *values, uint32_t n)
{
    return (rs_fit_quantile(values, n, 0.9) - rs_fit_quantile(values, n, 0.1)) / (2 * TENTH);
}

/* A class: equal operations. */
struct class {
    uint32_t component;
    double transfer; /* ns: median */
    double by_last; /* ns: how much of it may depend on who was last; one sigma, at most */
    bool mixed; /* enough operations, and not always the same last rank */
    bool follows; /* the later the last start, the later the end: the operation waited for the last rank */
};

/* How much shorter transfers are where the last start has a large lead, as a share of that lead, plus twice its
 * standard error. 0 for a rank that was waited for, 1 for a rank that only appears last because its clock is ahead. */
static double missed_lead(const struct seen *row, uint32_t n, double sigma, double *values)
{
    double medians[2], leads[2];
    for (uint32_t i = 0; i < n; i++) values[i] = row[i].lead;
    double middle = rs_fit_quantile(values, n, 0.5);
    for (int large = 0; large < 2; large++) {
        uint32_t k = 0;
        for (uint32_t i = 0; i < n; i++)
            if ((row[i].lead > middle) == large) values[k++] = row[i].lead;
        leads[large] = rs_fit_quantile(values, k, 0.5);
        k = 0;
        for (uint32_t i = 0; i < n; i++)
            if ((row[i].lead > middle) == large) values[k++] = row[i].transfer;
        medians[large] = rs_fit_quantile(values, k, 0.5);
    }
    double apart = leads[1] - leads[0];
    return apart > 0 ? (medians[0] - medians[1] + 2 * MEDIAN_LOSS * sigma * 2 / sqrt(n)) / apart : INFINITY;
}

/* `n` equal operations, by who was last, in a component of `clocks`. `values` holds n numbers. */
static struct class weigh(const struct seen *row, uint32_t n, uint32_t clocks, double *values)
{
    struct class c = {.component = (uint32_t)(row->class_hi >> 32)};
    uint32_t most = 0, run = 0, again = 0, distinct = 0, ranks = row->class_hi & RANKS;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i && row[i].last == row[i - 1].last;
        run = same ? run + 1 : 1;
        distinct += !same;
        if (run > most) most = run;
        if (same) values[again++] = fabs(row[i].transfer - row[i - 1].transfer);
    }
    /* Operations with the same last rank differ by what does not depend on it. */
    double within = again ? rs_fit_quantile(values, again, 0.8) / (TENTH * sqrt(2)) : 0;
    for (uint32_t i = 0; i < n; i++) values[i] = row[i].transfer;
    c.transfer = rs_fit_quantile(values, n, 0.5);
    double scatter = sigma_of(values, n);
    double doubt = scatter * scatter * sqrt(2.0 / n + 2.0 / (again ? again : 1));
    c.by_last = sqrt(fmax(scatter * scatter - within * within, 0) + doubt);
    uint32_t wanted = clocks / 4 < ENOUGH_RANKS ? clocks / 4 : ENOUGH_RANKS;
    if (wanted < 3) wanted = clocks < 3 ? clocks : 3;
    c.mixed = n >= LEAST_OF_A_CLASS && distinct >= wanted && most <= fmax(0.5, 1.5 / ranks) * n;
    for (uint32_t i = 0; i < n; i++) values[i] = row[i].range;
    bool small = scatter < SMALL_SCATTER * rs_fit_quantile(values, n, 0.5);
    c.follows = c.mixed && (small || missed_lead(row, n, scatter, values) < MOST_MISSED);
    return c;
}

/* Evidence of the operations of a component. */
struct evidence {
    uint32_t clocks;
    double quickest; /* ns: median transfer of the fastest class; INFINITY: none */
    double by_last; /* ns: the largest of the fast classes that are mixed */
    bool clear; /* one of these follows */
    double room; /* ns: median of half the slack of its clocks */
};

/* Groups the rows into classes, and derives the evidence. */
static void weigh_all(struct evidence *evidence, struct seen *rows, uint32_t n, struct class *classes, double *values)
{
    uint32_t nclasses = 0;
    if (n) qsort(rows, n, sizeof *rows, by_class);
    for (uint32_t i = 0, k; i < n; i += k) {
        for (k = 1; i + k < n && rows[i + k].class_hi == rows[i].class_hi && rows[i + k].class_lo == rows[i].class_lo;)
            k++;
        struct evidence *e = &evidence[rows[i].class_hi >> 32];
        classes[nclasses] = weigh(&rows[i], k, e->clocks, values);
        e->quickest = fmin(e->quickest, classes[nclasses++].transfer);
    }
    for (uint32_t i = 0; i < nclasses; i++) {
        const struct class *c = &classes[i];
        struct evidence *e = &evidence[c->component];
        if (!c->mixed || c->transfer > RS_QUICK * fmax(e->quickest, RS_LEAST_TRANSFER)) continue;
        e->by_last = fmax(e->by_last, c->by_last);
        e->clear |= c->follows;
    }
}

/* ---- ends that differ between groups ---- */

/* A group: communicator, function, size. */
static uint64_t key_of(const struct rs_model *m, uint32_t op)
{
    unsigned size = 0;
    for (uint64_t bytes = m->ops.bytes[op]; bytes > 1; bytes /= 2) size++;
    return (uint64_t)m->ops.comm[op] << 32 | (uint64_t)m->ops.func[op] << 8 | size;
}

/* Distances of a clock's ends from those of the operations, in lists by group. */
struct groups {
    uint32_t *of; /* by sampled operation: its group, from 0 */
    uint32_t *first; /* by group: its latest distance; RS_NONE: none. All are RS_NONE between two clocks */
    double *distances; /* ns */
    uint32_t *next; /* by distance: the previous one of its group; RS_NONE: none */
    uint32_t *used; /* groups that have distances */
    uint32_t n, nused;
};

static void number_groups(struct groups *g, const struct rs_model *m, const struct rs_samples *s)
{
    struct rs_map numbers = {0};
    for (uint32_t k = 0; k < s->nmoments; k++) {
        uint64_t *number;
        rs_map_at(&numbers, key_of(m, s->moments[k].op), rs_map_count(&numbers), &number);
        g->of[k] = (uint32_t)*number;
        g->first[k] = RS_NONE; /* there are at most as many groups as moments */
    }
    rs_map_free(&numbers);
}

static void add_distance(struct groups *g, uint32_t moment, double distance)
{
    uint32_t *first = &g->first[g->of[moment]];
    if (*first == RS_NONE) g->used[g->nused++] = g->of[moment];
    g->distances[g->n] = distance;
    g->next[g->n] = *first;
    *first = g->n++;
}

/* The largest median distance among the groups, minus the noise. Empties them. */
static double differs(struct groups *g, double spread, double *values)
{
    double most = 0;
    for (uint32_t k = 0; k < g->nused; k++) {
        uint32_t n = 0;
        for (uint32_t i = g->first[g->used[k]]; i != RS_NONE; i = g->next[i]) values[n++] = g->distances[i];
        g->first[g->used[k]] = RS_NONE;
        if (n < LEAST_OF_A_GROUP || n * 20 < g->n) continue;
        double noise = 3 * 1.86 * spread / sqrt(n);
        most = fmax(most, fabs(rs_fit_quantile(values, n, 0.5)) - noise);
    }
    g->n = g->nused = 0;
    return most;
}

/* ---- biases that grow with the transfer ---- */

/* Bias of a clock's ends at its median transfer, ns, if biases grow with transfers: how far its ends shift, relative to
 * the operations', between the third of its operations with the shortest transfers and the third with the longest.
 * INFINITY: transfers do not differ enough. `distances` and `transfers` are of n ends, NAN where unknown; `values`
 * holds n numbers. */
static double grows_with_transfer(const double *distances, const double *transfers, uint32_t n, double spread,
                                  double *values)
{
    double at[2], distance[2];
    uint32_t known = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(transfers[i])) values[known++] = transfers[i];
    double median = rs_fit_quantile(values, known, 0.5);
    double low = rs_fit_quantile(values, known, 1.0 / 3), high = rs_fit_quantile(values, known, 2.0 / 3);
    for (int top = 0; top < 2; top++) {
        uint32_t k = 0;
        for (uint32_t i = 0; i < n; i++)
            if (top ? transfers[i] >= high : transfers[i] <= low) values[k++] = transfers[i];
        at[top] = rs_fit_quantile(values, k, 0.5);
        k = 0;
        for (uint32_t i = 0; i < n; i++)
            if (top ? transfers[i] >= high : transfers[i] <= low) values[k++] = distances[i];
        distance[top] = rs_fit_quantile(values, k, 0.5);
        if (k < least) least = k;
    }
    if (least < LEAST_OF_A_THIRD || at[1] <= at[0]) return INFINITY;
    double noise = 3 * 1.86 * fmax(spread, LEAST_SPREAD) * sqrt(2.0 / least);
    return (fabs(distance[1] - distance[0]) + noise) / (at[1] - at[0]) * fmax(median, 0);
}

/* ---- allowance ---- */

/* `grows`: grows_with_transfer(); used where operations show no more. */
static double allowance(const struct evidence *e, const struct room *room, const struct rs_track *t,
                        enum rs_domain_kind kind, double grows, double groups)
{
    double least = kind == RS_DOMAIN_GPU ? LEAST_OF_GPU : LEAST_OF_HOST;
    double unseen = RS_BIAS_SHARE * e->quickest;
    if (e->clear)
        unseen = 0;
    else if (!isinf(unseen))
        unseen = fmin(unseen, grows + fmin(unseen, MOST_CONSTANT));
    double bias = least + fmax(SIGMAS * e->by_last, unseen);
    /* Biases of the clocks in between are independent of each other. */
    bias = fmax(bias, groups) * sqrt(t->hops > 1 ? t->hops : 1);
    /* A clock's own slack is only as good as the other clocks. */
    return fmin(bias, fmax(fmax(half_of(room), SHARE_OF_ROOM * e->room), least));
}

/* Half the slack of a clock. */
struct half {
    uint32_t component;
    double ns;
};

static int by_component(const void *a, const void *b)
{
    const struct half *x = a, *y = b;
    if (x->component != y->component) return x->component < y->component ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Working memory of rs_bias_allow(). */
struct work {
    struct seen *seen; /* sampled operations and pairs that can be used */
    struct room *rooms; /* by clock */
    struct half *halves; /* as many */
    struct class *classes; /* at most as many */
    struct evidence *evidence; /* by component */
    double *transfers; /* by sampled operation; NAN: unknown */
    double *own; /* likewise, for one clock's ends */
    double *values;
    struct groups groups;
};

/* The median slack of every component. */
static void find_rooms(const struct rs_track *tracks, uint32_t n, struct work *w)
{
    uint32_t rows = 0;
    for (uint32_t d = 0; d < n; d++)
        if (tracks[d].n) w->halves[rows++] = (struct half){tracks[d].component, half_of(&w->rooms[d])};
    qsort(w->halves, rows, sizeof *w->halves, by_component);
    for (uint32_t i = 0, k; i < rows; i += k) {
        for (k = 1; i + k < rows && w->halves[i + k].component == w->halves[i].component;) k++;
        w->evidence[w->halves[i].component].room = w->halves[i + k / 2].ns;
    }
}

static void allow_all(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s, const double *ends,
                      struct work *w)
{
    uint32_t nseen = 0;
    number_groups(&w->groups, m, s);
    for (uint32_t d = 0; d < m->ndomains; d++) {
        w->rooms[d] = (struct room){INFINITY, INFINITY};
        w->evidence[d] = (struct evidence){.quickest = INFINITY};
    }
    for (uint32_t d = 0; d < m->ndomains; d++) w->evidence[tracks[d].component].clocks += tracks[d].n > 0;
    for (uint32_t k = 0; k < s->nmoments; k++) {
        bool all = see(tracks, m, s, k, ends[k], w->rooms, &w->seen[nseen]);
        w->transfers[k] = all ? w->seen[nseen].transfer : NAN;
        nseen += all;
    }
    for (uint32_t k = 0; k < m->ops.n && nseen < s->nmoments + MOST_PAIRS; k += 1 + m->ops.n / MOST_LOOKED_AT)
        nseen += see_pair(tracks, m, k, &w->seen[nseen]);
    weigh_all(w->evidence, w->seen, nseen, w->classes, w->values);
    find_rooms(tracks, m->ndomains, w);
    for (uint32_t d = 0; d < m->ndomains; d++) {
        struct rs_track *t = &tracks[d];
        if (!t->n) continue;
        uint32_t n = 0;
        for (uint32_t i = s->first[d]; i < s->first[d + 1]; i++) {
            const struct rs_sample *a = &s->all[s->of[i]];
            if (isnan(ends[a->moment])) continue;
            w->own[n++] = w->transfers[a->moment];
            add_distance(&w->groups, a->moment, rs_track_z(t, a->x) - ends[a->moment]);
        }
        double grows = grows_with_transfer(w->groups.distances, w->own, n, t->spread, w->values);
        t->bias = allowance(&w->evidence[t->component], &w->rooms[d], t, m->domains[d].kind, grows,
                            differs(&w->groups, t->spread, w->values));
    }
}

void rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s, const double *ends)
{
    size_t most = 1, moments = (size_t)s->nmoments + 1, clocks = (size_t)m->ndomains + 1;
    size_t rows = moments + (m->ops.n < (uint32_t)MOST_PAIRS ? m->ops.n : MOST_PAIRS);
    for (uint32_t d = 0; d < m->ndomains; d++)
        if (s->first[d + 1] - s->first[d] > most) most = s->first[d + 1] - s->first[d];
    struct work w = {.seen = rs_zalloc(rows, sizeof *w.seen),
                     .rooms = rs_zalloc(clocks, sizeof *w.rooms),
                     .halves = rs_zalloc(clocks, sizeof *w.halves),
                     .classes = rs_zalloc(rows, sizeof *w.classes),
                     .evidence = rs_zalloc(clocks, sizeof *w.evidence),
                     .transfers = rs_zalloc(moments, sizeof *w.transfers),
                     .own = rs_zalloc(most, sizeof *w.own),
                     .values = rs_zalloc(most > rows ? most : rows, sizeof *w.values),
                     .groups = {.of = rs_zalloc(moments, sizeof *w.groups.of),
                                .first = rs_zalloc(moments, sizeof *w.groups.first),
                                .distances = rs_zalloc(most, sizeof *w.groups.distances),
                                .next = rs_zalloc(most, sizeof *w.groups.next),
                                .used = rs_zalloc(most, sizeof *w.groups.used)}};
    struct groups *g = &w.groups;
    allow_all(tracks, m, s, ends, &w);
    free(g->used);
    free(g->next);
    free(g->distances);
    free(g->first);
    free(g->of);
    free(w.values);
    free(w.own);
    free(w.transfers);
    free(w.evidence);
    free(w.classes);
    free(w.halves);
    free(w.rooms);
    free(w.seen);
}
