#include "join/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

/* ---- bounds ---- */

#define UNBOUNDED 1e12 /* ns: stands for a side that has no bound */
#define MOST_OUTSIDE 0.05 /* of the places where a straight shift may leave the corridor */

/* What one GPU and its host say of the shift: low and high over z of the component. */
struct corridor {
    struct rs_point low[RS_ATTACH_POINTS], high[RS_ATTACH_POINTS];
    uint32_t n;
    double slope, wander; /* of the shift, by the GPU's rate against its host; what that may be wrong by */
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

/* One side of a corridor; beyond its points it goes on with its slope, and widens. */
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

static enum rs_status corridors_add(const struct rs_clockwork *w, struct corridors *c, uint32_t gpu, bool gpu_is_placed,
                                    struct rs_err *err)
{
    RS_ROOM(c->all, c->n, c->cap, err);
    corridor_make(w, &c->all[c->n], gpu, gpu_is_placed);
    if (c->all[c->n].n) c->n++;
    return RS_OK;
}

static enum rs_status collect(const struct rs_clockwork *w, struct corridors *c, const uint32_t *domains, uint32_t n,
                              struct rs_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = domains[i];
        if (w->m->domains[d].kind == RS_DOMAIN_GPU) {
            if (w->placed[w->m->domains[d].host_domain]) RS_TRY(corridors_add(w, c, d, false, err));
            continue;
        }
        for (uint32_t k = w->gpus_first[d]; k < w->gpus_first[d + 1]; k++)
            if (w->placed[w->gpus[k]]) RS_TRY(corridors_add(w, c, w->gpus[k], true, err));
    }
    return RS_OK;
}

/* Where all corridors overlap, at places spread evenly. */
struct overlap {
    double z[RS_ATTACH_POINTS], low[RS_ATTACH_POINTS], high[RS_ATTACH_POINTS];
    uint32_t n;
    double slope; /* median of the corridors' */
    double error; /* of the clocks they were found by */
};

/* A clock with a much larger error than the best has no say. */
static uint32_t drop_doubtful(struct corridors *c)
{
    double best = INFINITY;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) best = fmin(best, c->all[i].error);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->all[i].error <= 2 * best + 1) c->all[n++] = c->all[i];
    return n;
}

static enum rs_status intersect(struct corridors *c, struct overlap *o, struct rs_err *err)
{
    double from = INFINITY, to = -INFINITY, *slopes = calloc(c->n, sizeof *slopes);
    if (!slopes) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    c->n = drop_doubtful(c);
    for (uint32_t i = 0; i < c->n; i++) {
        from = fmin(from, c->all[i].low[0].x);
        to = fmax(to, c->all[i].low[c->all[i].n - 1].x);
        o->error = fmax(o->error, c->all[i].error);
        slopes[i] = c->all[i].slope;
    }
    o->slope = rs_fit_quantile(slopes, c->n, 0.5);
    o->error *= fmax(1 / sqrt(c->n), 0.7); /* biases of clocks are independent, mostly */
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
    return RS_OK;
}

/* A straight shift through the narrowest places, where one fits; else the middle of the overlap everywhere. Its error is
 * how far the sides are from it, at nine places of ten. */
static void choose(const struct overlap *o, struct rs_shift *shift)
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
    if (straight && o->n > 2) { /* two points say it all */
        shift->curve.points[1] = shift->curve.points[o->n - 1];
        shift->curve.n = 2;
    }
    shift->error = rs_fit_quantile(far, o->n, 0.9);
}

enum rs_status rs_link_bounds(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, double widest,
                              struct rs_shift *shift, struct rs_err *err)
{
    *shift = (struct rs_shift){.error = INFINITY};
    struct corridors c = {0};
    struct overlap o = {0};
    enum rs_status status = collect(w, &c, domains, n, err);
    if (status == RS_OK && c.n) {
        status = intersect(&c, &o, err);
        shift->curve.points = calloc(RS_ATTACH_POINTS, sizeof *shift->curve.points);
        if (!shift->curve.points) status = rs_fail(err, RS_NO_MEMORY, "out of memory");
        if (status == RS_OK) {
            choose(&o, shift);
            shift->error = shift->error <= widest ? shift->error + o.error : INFINITY;
        }
    }
    free(c.all);
    return status;
}

/* ---- pairs ---- */

#define PAIR_LEAST 4e3 /* ns of bias that is allowed for at least */
#define PAIR_MOST 20e3

struct meeting {
    double z, shift; /* of the component; what would make both ends one */
    double duration; /* ns: the shorter of send and receive, each by its own clock; NAN: not known */
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

/* Takes the mean of both directions, where there are both, and says what bias is left. */
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

static enum rs_status fit_meetings(const struct meeting *all, uint32_t n, double *room, struct rs_shift *shift,
                                   struct rs_err *err)
{
    double *x = room, *y = room + n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = all[i].z;
        y[i] = all[i].shift;
    }
    struct rs_fit fit;
    RS_TRY(rs_fit_init(&fit, x, y, n, err));
    double bias = balance(&fit, all, n, room);
    for (uint32_t i = 0; i < n; i++) room[i] = all[i].error;
    *shift = (struct rs_shift){.curve = fit.curve, .n = n, .error = rs_fit_quantile(room, n, 0.5) + bias + fit.doubt};
    return RS_OK;
}

enum rs_status rs_link_pairs(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, struct rs_shift *shift,
                             struct rs_err *err)
{
    *shift = (struct rs_shift){.error = INFINITY};
    uint32_t k = meet(w, domains, n, NULL);
    if (!k) return RS_OK;
    struct meeting *all = calloc(k, sizeof *all);
    double *room = calloc(k, 2 * sizeof *room);
    enum rs_status status = RS_OK;
    if (all && room) {
        meet(w, domains, n, all);
        qsort(all, k, sizeof *all, by_z);
        status = fit_meetings(all, k, room, shift, err);
    } else {
        status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    free(all);
    free(room);
    return status;
}

/* ---- moving ---- */

enum rs_status rs_track_copy(struct rs_track *to, const struct rs_track *from, struct rs_err *err)
{
    uint32_t n = from->curve.n ? from->curve.n : 1; /* nothing to add there is something here */
    struct rs_point *points = calloc(n, sizeof *points);
    if (!points) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    double ahead = (double)rs_time_minus(from->base, to->base);
    points[0] = (struct rs_point){ahead, -ahead};
    for (uint32_t i = 0; i < from->curve.n; i++)
        points[i] = (struct rs_point){from->curve.points[i].x + ahead, from->curve.points[i].y - ahead};
    free(to->curve.points);
    to->curve = (struct rs_curve){points, n};
    to->near = 0;
    to->n = from->n;
    to->spread = from->spread;
    return RS_OK;
}

static int by_x(const void *a, const void *b)
{
    const struct rs_point *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x;
}

enum rs_status rs_track_move(struct rs_track *t, const struct rs_curve *shift, struct rs_err *err)
{
    struct rs_curve old = t->curve;
    uint32_t n = 0, near = 0, near_shift = 0, kept = 0;
    struct rs_point *p = calloc((size_t)old.n + shift->n + 1, sizeof *p);
    if (!p) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < old.n; i++) p[n++].x = old.points[i].x;
    bool straight = shift->n <= 2 && old.n >= 2; /* a straight shift brings no knots of its own */
    for (uint32_t i = 0; i < shift->n && !straight; i++) { /* where the track comes to the shift's knots */
        double z = shift->points[i].x, x = z - rs_curve_at(&old, z, &near);
        for (int again = 0; again < 3; again++) x = z - rs_curve_at(&old, x, &near);
        p[n++].x = x;
    }
    qsort(p, n, sizeof *p, by_x);
    for (uint32_t i = 0; i < n; i++) {
        double x = p[i].x, y = rs_curve_at(&old, x, &near);
        if (kept && x - p[kept - 1].x < 1000) continue; /* ns: closer knots would make wild slopes of rounding */
        p[kept++] = (struct rs_point){x, y + rs_curve_at(shift, x + y, &near_shift)};
    }
    t->z_from += rs_curve_at(shift, t->z_from, &near_shift);
    t->z_to += rs_curve_at(shift, t->z_to, &near_shift);
    free(old.points);
    t->curve = (struct rs_curve){p, kept};
    t->near = 0;
    return RS_OK;
}
