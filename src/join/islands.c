#include "join/islands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- links between components ---- */

struct shift {
    struct rs_curve curve;
    double error; /* ns, including that of the clocks it was derived from; INFINITY: no such shift */
    uint32_t n; /* pairs that were fitted */
};

/* ---- bounds ---- */

#define UNBOUNDED 1e12 /* ns: for a side without a bound */
#define MOST_OUTSIDE 0.05 /* share of the places where a straight shift may leave the corridor */

/* Corridor of the shift from one GPU and its host: low and high over z of the component. */
struct corridor {
    struct rs_point low[RS_ATTACH_POINTS], high[RS_ATTACH_POINTS];
    uint32_t n;
    double slope, wander; /* of the shift, from the GPU's rate relative to its host; its uncertainty */
    double error; /* of the placed clock */
};

static void corridor_make(const struct rs_clockwork *w, struct corridor *c, uint32_t gpu, bool gpu_is_placed)
{
    const struct rs_attach *a = &w->attach[gpu];
    struct rs_track *g = &w->tracks[gpu], *h = &w->tracks[w->m->domains[gpu].host_domain];
    /* of the host's x, where the GPU's is 0 and d is d0 */
    double ahead = (double)(int64_t)((uint64_t)g->base - (uint64_t)h->base + (uint64_t)a->d0);
    struct rs_point first = {0, 0}, last = {0, 0};
    c->n = 0;
    c->error = w->errors[gpu_is_placed ? gpu : w->m->domains[gpu].host_domain];
    for (uint32_t i = 0; i < a->n; i++) {
        const struct rs_attach_point *p = &a->points[i];
        double x = p->x + (double)rs_time_minus(a->base, g->base), zg = rs_track_z(g, x);
        double z_low = rs_track_z(h, x + ahead + fmax(p->low, -UNBOUNDED)), z_high = rs_track_z(h, x + ahead + p->high);
        double z_rate = rs_track_z(h, x + ahead + a->rate * p->x), at = gpu_is_placed ? z_rate : zg;
        if (c->n && at <= c->low[c->n - 1].x) continue;
        last = (struct rs_point){at, gpu_is_placed ? zg - z_rate : z_rate - zg};
        if (!c->n) first = last;
        c->low[c->n] = (struct rs_point){at, gpu_is_placed ? zg - z_high : z_low - zg};
        c->high[c->n++] = (struct rs_point){at, gpu_is_placed ? zg - z_low : z_high - zg};
    }
    c->wander = a->wander;
    c->slope = last.x > first.x ? (last.y - first.y) / (last.x - first.x) : 0;
}

/* One side of a corridor; beyond its points it continues with its slope, and widens. */
static double side_at(const struct corridor *c, const struct rs_point *side, double z, int sign)
{
    const struct rs_point *end = z < side[0].x ? &side[0] : z > side[c->n - 1].x ? &side[c->n - 1] : NULL;
    if (end) return end->y + c->slope * (z - end->x) + sign * 2 * c->wander * fabs(z - end->x);
    uint32_t i = 0, j = c->n - 1;
    while (j - i > 1) {
        uint32_t mid = (i + j) / 2;
        *(side[mid].x <= z ? &i : &j) = mid;
    }
    return i == j ? side[i].y : side[i].y + (side[j].y - side[i].y) * (z - side[i].x) / (side[j].x - side[i].x);
}

struct corridors {
    struct corridor *all;
    uint32_t n, cap;
};

static void corridors_add(const struct rs_clockwork *w, struct corridors *c, uint32_t gpu, bool gpu_is_placed)
{
    RS_ROOM(c->all, c->n, c->cap);
    corridor_make(w, &c->all[c->n], gpu, gpu_is_placed);
    if (c->all[c->n].n) c->n++;
}

static void collect(const struct rs_clockwork *w, struct corridors *c, const uint32_t *domains, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = domains[i];
        if (w->m->domains[d].kind == RS_DOMAIN_GPU) {
            if (w->placed[w->m->domains[d].host_domain]) corridors_add(w, c, d, false);
            continue;
        }
        for (uint32_t k = w->gpus_first[d]; k < w->gpus_first[d + 1]; k++)
            if (w->placed[w->gpus[k]]) corridors_add(w, c, w->gpus[k], true);
    }
}

/* The intersection of all corridors, at evenly spaced places. */
struct overlap {
    double z[RS_ATTACH_POINTS], low[RS_ATTACH_POINTS], high[RS_ATTACH_POINTS];
    uint32_t n;
    double slope; /* median of the corridors' */
    double error; /* of the clocks they were derived from */
};

/* A clock with a much larger error than the best is ignored. */
static uint32_t drop_doubtful(struct corridors *c)
{
    double best = INFINITY;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) best = fmin(best, c->all[i].error);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->all[i].error <= 2 * best + 1) c->all[n++] = c->all[i];
    return n;
}

static void intersect(struct corridors *c, struct overlap *o)
{
    double from = INFINITY, to = -INFINITY, *slopes = rs_zalloc(c->n, sizeof *slopes);
    c->n = drop_doubtful(c);
    for (uint32_t i = 0; i < c->n; i++) {
        from = fmin(from, c->all[i].low[0].x);
        to = fmax(to, c->all[i].low[c->all[i].n - 1].x);
        o->error = fmax(o->error, c->all[i].error);
        slopes[i] = c->all[i].slope;
    }
    o->slope = rs_fit_quantile(slopes, c->n, 0.5);
    o->error *= fmax(1 / sqrt(c->n), 0.7); /* biases of clocks are mostly independent */
    free(slopes);
    for (uint32_t k = 0; k < RS_ATTACH_POINTS; k++) {
        double z = from + (to - from) * k / (RS_ATTACH_POINTS - 1), low = -INFINITY, high = INFINITY;
        if (o->n && z <= o->z[o->n - 1]) continue;
        for (uint32_t i = 0; i < c->n; i++) {
            low = fmax(low, side_at(&c->all[i], c->all[i].low, z, -1));
            high = fmin(high, side_at(&c->all[i], c->all[i].high, z, 1));
        }
        o->z[o->n] = z;
        o->low[o->n] = low;
        o->high[o->n++] = high;
    }
}

/* A straight shift through the narrowest places, if one fits; else the middle of the intersection. Its error is the
 * distance of the sides from it, at nine places of ten. */
static void choose(const struct overlap *o, struct shift *shift)
{
    double low = -INFINITY, high = INFINITY, far[RS_ATTACH_POINTS];
    for (uint32_t i = 0; i < o->n; i++) {
        low = fmax(low, o->low[i] - o->slope * o->z[i]);
        high = fmin(high, o->high[i] - o->slope * o->z[i]);
    }
    uint32_t outside = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        double y = (low + high) / 2 + o->slope * o->z[i];
        outside += y < fmin(o->low[i], o->high[i]) || y > fmax(o->low[i], o->high[i]);
    }
    bool straight = outside <= MOST_OUTSIDE * o->n;
    for (uint32_t i = 0; i < o->n; i++) {
        double y = straight ? (low + high) / 2 + o->slope * o->z[i] : (o->low[i] + o->high[i]) / 2;
        far[i] = fmax(fabs(y - o->low[i]), fabs(o->high[i] - y));
        shift->curve.points[i] = (struct rs_point){o->z[i], y};
    }
    shift->curve.n = o->n;
    if (straight && o->n > 2) { /* two points define it */
        shift->curve.points[1] = shift->curve.points[o->n - 1];
        shift->curve.n = 2;
    }
    shift->error = rs_fit_quantile(far, o->n, 0.9);
}

static void link_bounds(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, double widest,
                        struct shift *shift)
{
    *shift = (struct shift){.error = INFINITY};
    struct corridors c = {0};
    struct overlap o = {0};
    collect(w, &c, domains, n);
    if (c.n) {
        intersect(&c, &o);
        shift->curve.points = rs_zalloc(RS_ATTACH_POINTS, sizeof *shift->curve.points);
        choose(&o, shift);
        shift->error = shift->error <= widest ? shift->error + o.error : INFINITY;
    }
    free(c.all);
}

/* ---- pairs ---- */

#define PAIR_LEAST 4e3 /* ns: the smallest allowance for bias */
#define PAIR_MOST 20e3

struct meeting {
    double z, shift; /* of the component; the shift at which both ends coincide */
    double duration; /* ns: the shorter of send and receive, each on its own clock; NAN: unknown */
    double error; /* of the placed clock */
    bool to_placed; /* the component's side sent */
};

static int by_z(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;
    return x->z < y->z ? -1 : x->z > y->z;
}

static double duration_of(const struct rs_model *m, uint32_t op)
{
    double shortest = NAN;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->parts.start[part] == RS_TIME_NONE || rs_part_start_domain(m, part) != rs_part_end_domain(m, part))
            continue;
        shortest = fmin(shortest, (double)rs_time_minus(m->parts.end[part], m->parts.start[part]));
    }
    return shortest;
}

static uint32_t meet(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, struct meeting *to)
{
    const struct rs_samples *s = w->pairs;
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = s->first[domains[i]]; j < s->first[domains[i] + 1]; j++) {
            const struct rs_sample *own = &s->all[s->of[j]];
            const struct rs_moment *moment = &s->moments[own->moment];
            bool sent = own == &s->all[moment->first];
            const struct rs_sample *other = &s->all[moment->first + (sent ? 1 : 0)];
            if (!w->placed[other->domain]) continue;
            if (to) {
                double z = rs_track_z(&w->tracks[own->domain], own->x);
                to[k] = (struct meeting){.z = z,
                                         .shift = rs_track_z(&w->tracks[other->domain], other->x) - z,
                                         .duration = duration_of(w->m, moment->op),
                                         .error = w->errors[other->domain],
                                         .to_placed = sent};
            }
            k++;
        }
    return k;
}

/* Uses the mean of both directions if there are both, and determines the remaining bias. */
static double balance(struct rs_fit *fit, const struct meeting *all, uint32_t n, double *values)
{
    double medians[2];
    uint32_t counts[2], near = 0;
    for (int way = 0; way < 2; way++) {
        uint32_t k = 0;
        for (uint32_t i = 0; i < n; i++)
            if (all[i].to_placed == way) values[k++] = all[i].shift - rs_curve_at(&fit->curve, all[i].z, &near);
        counts[way] = k;
        medians[way] = rs_fit_quantile(values, k, 0.5);
    }
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(all[i].duration)) values[k++] = all[i].duration;
    double bias = fmin(fmax(k ? rs_fit_quantile(values, k, 0.5) / 2 : PAIR_MOST, PAIR_LEAST), PAIR_MOST);
    if (!counts[0] || !counts[1]) return bias;
    for (uint32_t i = 0; i < fit->curve.n; i++) fit->curve.points[i].y += (medians[0] + medians[1]) / 2;
    return fmin(bias, fmax(PAIR_LEAST, fabs(medians[0] - medians[1]) / 4));
}

static void fit_meetings(const struct meeting *all, uint32_t n, double *room, struct shift *shift)
{
    double *x = room, *y = room + n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = all[i].z;
        y[i] = all[i].shift;
    }
    struct rs_fit fit;
    rs_fit_init(&fit, x, y, n);
    double bias = balance(&fit, all, n, room);
    for (uint32_t i = 0; i < n; i++) room[i] = all[i].error;
    *shift = (struct shift){.curve = fit.curve, .n = n, .error = rs_fit_quantile(room, n, 0.5) + bias + fit.doubt};
}

static void link_pairs(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, struct shift *shift)
{
    *shift = (struct shift){.error = INFINITY};
    uint32_t k = meet(w, domains, n, NULL);
    if (!k) return;
    struct meeting *all = rs_zalloc(k, sizeof *all);
    double *room = rs_zalloc(k, 2 * sizeof *room);
    meet(w, domains, n, all);
    qsort(all, k, sizeof *all, by_z);
    fit_meetings(all, k, room, shift);
    free(all);
    free(room);
}

/* ---- shifting tracks ---- */

void rs_track_copy(struct rs_track *to, const struct rs_track *from)
{
    uint32_t n = from->curve.n ? from->curve.n : 1; /* an empty curve is one point here */
    struct rs_point *points = rs_zalloc(n, sizeof *points);
    double ahead = (double)rs_time_minus(from->base, to->base);
    points[0] = (struct rs_point){ahead, -ahead};
    for (uint32_t i = 0; i < from->curve.n; i++)
        points[i] = (struct rs_point){from->curve.points[i].x + ahead, from->curve.points[i].y - ahead};
    free(to->curve.points);
    to->curve = (struct rs_curve){points, n};
    to->near = 0;
    to->n = from->n;
    to->spread = from->spread;
}

static int by_x(const void *a, const void *b)
{
    const struct rs_point *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x;
}

/* Adds a shift to a track: what was z becomes z + shift(z). */
static void track_move(struct rs_track *t, const struct rs_curve *shift)
{
    struct rs_curve old = t->curve;
    uint32_t n = 0, near = 0, near_shift = 0, kept = 0;
    struct rs_point *p = rs_zalloc((size_t)old.n + shift->n + 1, sizeof *p);
    for (uint32_t i = 0; i < old.n; i++) p[n++].x = old.points[i].x;
    bool straight = shift->n <= 2 && old.n >= 2; /* a straight shift adds no knots */
    for (uint32_t i = 0; i < shift->n && !straight; i++) { /* where the track reaches the shift's knots */
        double z = shift->points[i].x, x = z - rs_curve_at(&old, z, &near);
        for (int again = 0; again < 3; again++) x = z - rs_curve_at(&old, x, &near);
        p[n++].x = x;
    }
    qsort(p, n, sizeof *p, by_x);
    for (uint32_t i = 0; i < n; i++) {
        double x = p[i].x, y = rs_curve_at(&old, x, &near);
        if (kept && x - p[kept - 1].x < 1000) continue; /* ns: rounding would make wild slopes between closer knots */
        p[kept++] = (struct rs_point){x, y + rs_curve_at(shift, x + y, &near_shift)};
    }
    t->z_from += rs_curve_at(shift, t->z_from, &near_shift);
    t->z_to += rs_curve_at(shift, t->z_to, &near_shift);
    free(old.points);
    t->curve = (struct rs_curve){p, kept};
    t->near = 0;
}

/* ---- islands ---- */

#define NARROW 50e3 /* ns: half a corridor; wider ones are worse than pairs */
#define WIDE 1e10 /* ns: wider is no information */

#define MOST_TURN 1e-3 /* ns per ns: no clock is that wrong */

struct sea {
    struct rs_clockwork *w;
    struct rs_islands *out;
    uint32_t *members, *first; /* domains of component c: members[first[c] .. first[c + 1]) */
    uint32_t *queue; /* components of this island */
    uint32_t nqueue, head;
    uint32_t *waiting; /* by component: pairs with placed clocks */
    uint32_t ncomponents;
    uint32_t island; /* being built: one of its clocks */
};

static uint32_t size_of(const struct sea *s, uint32_t c)
{
    return s->first[c + 1] - s->first[c];
}

static void index_components(struct sea *s)
{
    const struct rs_track *t = s->w->tracks;
    uint32_t n = s->w->m->ndomains;
    for (uint32_t d = 0; d < n; d++) s->first[t[d].component + 2]++;
    for (uint32_t c = 0; c < s->ncomponents; c++) s->first[c + 2] += s->first[c + 1];
    for (uint32_t d = 0; d < n; d++) s->members[s->first[t[d].component + 1]++] = d;
}

/* ---- errors inside a component ---- */

/* `values` has room for every clock. */
static void set_errors(struct sea *s, uint32_t c, double *values)
{
    const struct rs_clockwork *w = s->w;
    const uint32_t *domains = &s->members[s->first[c]];
    uint32_t n = size_of(s, c);
    for (uint32_t i = 0; i < n; i++) values[i] = w->tracks[domains[i]].z_from;
    double from = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) values[i] = w->tracks[domains[i]].z_to;
    double to = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_track *t = &w->tracks[domains[i]];
        /* Beyond its own ends a clock is extrapolated. */
        double beyond = fmax(fmax(t->z_from - from, to - t->z_to), 0);
        w->errors[domains[i]] = t->n ? t->bias + t->doubt + t->rate_doubt * beyond : 0;
    }
}

/* ---- placing ---- */

static void count_pairs(struct sea *s, uint32_t domain)
{
    const struct rs_samples *p = s->w->pairs;
    for (uint32_t j = p->first[domain]; j < p->first[domain + 1]; j++) {
        const struct rs_moment *k = &p->moments[p->all[p->of[j]].moment];
        for (uint32_t i = 0; i < k->n; i++) s->waiting[s->w->tracks[p->all[k->first + i].domain].component]++;
    }
}

static void set_placed(struct sea *s, uint32_t c, double error, enum rs_clock_method method)
{
    for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++) {
        uint32_t d = s->members[i];
        s->w->placed[d] = true;
        s->w->errors[d] += error;
        /* The clocks of a component were fitted to each other. How it was connected to the rest is the method of single
         * clocks, and of all if it is the weaker method. */
        bool fitted = size_of(s, c) > 1 && method != RS_CLOCK_PAIRS;
        s->out->methods[d] = (uint8_t)(fitted ? RS_CLOCK_ENDS : method);
        s->out->islands[d] = s->island;
        count_pairs(s, d);
    }
    s->queue[s->nqueue++] = c;
}

static bool is_placed(const struct sea *s, uint32_t c)
{
    return s->w->placed[s->members[s->first[c]]];
}

/* Tries to place a component through bounds, or through pairs (`widest` 0). */
static void place(struct sea *s, uint32_t c, double widest, bool *done)
{
    struct shift shift;
    const uint32_t *domains = &s->members[s->first[c]];
    if (widest > 0)
        link_bounds(s->w, domains, size_of(s, c), widest, &shift);
    else
        link_pairs(s->w, domains, size_of(s, c), &shift);
    *done = !isinf(shift.error);
    for (uint32_t i = 0; *done && i < size_of(s, c); i++) {
        struct rs_track *t = &s->w->tracks[domains[i]];
        track_move(t, &shift.curve);
        if (size_of(s, c) == 1 && shift.n) t->n = shift.n;
    }
    if (*done) set_placed(s, c, shift.error, widest > 0 ? RS_CLOCK_BOUNDS : RS_CLOCK_PAIRS);
    free(shift.curve.points);
}

/* The components connected to a clock by bounds. */
static void place_beside(struct sea *s, uint32_t domain, double widest, bool *any)
{
    const struct rs_clockwork *w = s->w;
    bool done = false;
    if (w->m->domains[domain].kind == RS_DOMAIN_GPU) {
        uint32_t c = w->tracks[w->m->domains[domain].host_domain].component;
        if (!is_placed(s, c)) place(s, c, widest, &done);
        *any |= done;
        return;
    }
    for (uint32_t k = w->gpus_first[domain]; k < w->gpus_first[domain + 1]; k++) {
        uint32_t c = w->tracks[w->gpus[k]].component;
        if (is_placed(s, c)) continue;
        place(s, c, widest, &done);
        *any |= done;
    }
}

static void place_near(struct sea *s)
{
    bool any = false;
    for (; s->head < s->nqueue; s->head++) {
        uint32_t c = s->queue[s->head];
        for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++) place_beside(s, s->members[i], NARROW, &any);
    }
}

static void place_by_pairs(struct sea *s, bool *any)
{
    uint32_t best = RS_NONE;
    for (uint32_t c = 0; c < s->ncomponents; c++)
        if (s->waiting[c] && !is_placed(s, c) && (best == RS_NONE || s->waiting[c] > s->waiting[best])) best = c;
    if (best == RS_NONE) return;
    s->waiting[best] = 0;
    place(s, best, 0, any);
}

static void place_far(struct sea *s, bool *any)
{
    for (uint32_t k = 0; k < s->nqueue && !*any; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++)
            place_beside(s, s->members[i], WIDE, any);
}

/* A host whose own view of ends was fitted is mostly known better through its GPUs: polling delays its ends. */
static void better_hosts(struct sea *s)
{
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++) {
            uint32_t d = s->members[i];
            if (s->w->m->domains[d].kind != RS_DOMAIN_HOST || s->out->methods[d] != RS_CLOCK_ENDS) continue;
            struct shift shift;
            link_bounds(s->w, &d, 1, NARROW, &shift);
            if (shift.error < s->w->errors[d]) {
                track_move(&s->w->tracks[d], &shift.curve);
                s->w->errors[d] = shift.error;
                s->out->methods[d] = RS_CLOCK_BOUNDS;
            }
            free(shift.curve.points);
        }
}

/* A host whose tool gives GPU times on the host's clock: it follows them, including bends. */
static void rigid_hosts(struct sea *s)
{
    const struct rs_model *m = s->w->m;
    for (uint32_t d = 0; d < m->ndomains; d++) {
        uint32_t host = m->domains[d].host_domain;
        if (!m->domains[d].rigid || s->out->islands[d] != s->island || s->out->islands[host] != s->island) continue;
        if (s->w->errors[d] + RS_ATTACH_RIGID > s->w->errors[host]) continue; /* known better from another GPU */
        rs_track_copy(&s->w->tracks[host], &s->w->tracks[d]);
        s->w->errors[host] = s->w->errors[d] + RS_ATTACH_RIGID;
    }
}

/* ---- the axis ---- */

/* The host whose time the axis shows: that of the island's first clock, else any host of the island, else that clock
 * itself. */
static uint32_t find_anchor(const struct sea *s, uint32_t root)
{
    uint32_t host = s->w->m->domains[root].host_domain;
    if (s->out->islands[host] == s->island) return host;
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++)
            if (s->w->m->domains[s->members[i]].kind == RS_DOMAIN_HOST) return s->members[i];
    return root;
}

/* Adjusts the axis so that the anchor's clock has offset 0 in the middle of its run, and no rate over all of it. */
static void hang(struct sea *s, uint32_t root)
{
    uint32_t anchor = find_anchor(s, root), near = 0;
    const struct rs_curve *c = &s->w->tracks[anchor].curve;
    double first = c->n ? c->points[0].x : 0, last = c->n ? c->points[c->n - 1].x : 0;
    if (last - first < 1e6) last = first + 1e6;
    double a = rs_curve_at(c, first, &near), b = rs_curve_at(c, last, &near);
    if (fabs(b - a) > MOST_TURN * (last - first)) b = a; /* a doubtful clock must not stretch the others */
    double lift = rs_curve_at(c, (first + last) / 2, &near) - (a + b) / 2;
    struct rs_point points[] = {{first + a, -a - lift}, {last + b, -b - lift}};
    struct rs_curve turn = {points, 2};
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++) {
            track_move(&s->w->tracks[s->members[i]], &turn);
            s->out->anchors[s->members[i]] = anchor;
        }
}

static void make_island(struct sea *s, uint32_t c, bool main_one)
{
    uint32_t root = s->members[s->first[c]];
    for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++)
        if (s->w->tracks[s->members[i]].n && !s->w->tracks[s->members[i]].hops) root = s->members[i];
    s->island = root;
    s->nqueue = s->head = 0;
    set_placed(s, c, 0, RS_CLOCK_NONE);
    for (bool any = true; any;) {
        any = false;
        place_near(s);
        place_by_pairs(s, &any);
        if (!any) place_far(s, &any);
    }
    better_hosts(s);
    rigid_hosts(s);
    s->out->methods[root] = main_one ? RS_CLOCK_REFERENCE : RS_CLOCK_WALL;
    if (!main_one && s->nqueue == 1 && size_of(s, c) == 1) s->w->errors[root] = NAN;
    for (uint32_t k = 0; k < s->ncomponents; k++) s->waiting[k] = 0; /* islands share no pairs */
    hang(s, root);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

static void run(struct sea *s, uint64_t *order, double *values)
{
    index_components(s);
    for (uint32_t c = 0; c < s->ncomponents; c++) {
        set_errors(s, c, values);
        order[c] = (uint64_t)size_of(s, c) << 32 | (UINT32_MAX - s->members[s->first[c]]);
    }
    for (uint32_t d = 0; d < s->w->m->ndomains; d++) s->out->islands[d] = RS_NONE;
    qsort(order, s->ncomponents, sizeof *order, by_size);
    bool main_one = true;
    for (uint32_t i = 0; i < s->ncomponents; i++) {
        uint32_t c = s->w->tracks[UINT32_MAX - (uint32_t)order[i]].component;
        if (is_placed(s, c)) continue;
        make_island(s, c, main_one);
        main_one = false;
    }
}

void rs_islands_join(struct rs_clockwork *w, uint32_t ncomponents, struct rs_islands *out)
{
    struct sea s = {.w = w, .out = out, .ncomponents = ncomponents};
    s.members = rs_zalloc((size_t)w->m->ndomains + 1, sizeof *s.members);
    s.first = rs_zalloc((size_t)ncomponents + 2, sizeof *s.first);
    s.queue = rs_zalloc((size_t)ncomponents + 1, sizeof *s.queue);
    s.waiting = rs_zalloc((size_t)ncomponents + 1, sizeof *s.waiting);
    uint64_t *order = rs_zalloc((size_t)ncomponents + 1, sizeof *order);
    double *values = rs_zalloc((size_t)w->m->ndomains + 1, sizeof *values);
    run(&s, order, values);
    free(s.members);
    free(s.first);
    free(s.queue);
    free(s.waiting);
    free(order);
    free(values);
}
