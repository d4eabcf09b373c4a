#include "join/attach.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/fit.h"
#include "model/model.h"

#define LEAST_WANDER 0.05e-6 /* ns per ns, of crystals at constant temperature */
#define MOST_FALSE 0.05 /* share of the lower bounds that may be false before a larger wander is tried */
enum { LEAST_FOR_FLOOR = 64 }; /* timers */

struct side {
    double x[RS_BOUNDS_MAX], d[RS_BOUNDS_MAX];
    uint32_t n;
};

/* Working memory. */
struct corridor {
    struct side lower, upper, low, high; /* minus the trend of d: as given, and after tightening */
};

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct rs_bound *)a)->at, y = ((const struct rs_bound *)b)->at;
    return x < y ? -1 : x > y;
}

/* The known ones, by time. */
static uint32_t collect(struct rs_bound *to, const struct rs_bound *from, uint32_t n, uint32_t most)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n && i < most; i++)
        if (from[i].d != RS_TIME_NONE) to[k++] = from[i];
    qsort(to, k, sizeof *to, by_time);
    return k;
}

/* `sign` 1: upper bounds, the least counts; -1: lower bounds. Each becomes as tight as its neighbours allow. */
static void tighten(struct side *to, const struct side *from, double wander, int sign)
{
    *to = *from;
    for (uint32_t i = 1; i < to->n; i++) {
        double d = to->d[i - 1] + sign * wander * (to->x[i] - to->x[i - 1]);
        if (sign * d < sign * to->d[i]) to->d[i] = d;
    }
    for (uint32_t i = to->n; i-- > 1;) {
        double d = to->d[i] + sign * wander * (to->x[i] - to->x[i - 1]);
        if (sign * d < sign * to->d[i - 1]) to->d[i - 1] = d;
    }
}

/* A tightened side at any time. *near: the index used last. */
static double side_at(const struct side *s, double x, double wander, int sign, uint32_t *near)
{
    uint32_t i = *near;
    while (i + 1 < s->n && s->x[i + 1] <= x) i++;
    while (i && s->x[i] > x) i--;
    *near = i;
    double best = s->d[i] + sign * wander * fabs(x - s->x[i]);
    if (i + 1 < s->n) {
        double next = s->d[i + 1] + sign * wander * fabs(x - s->x[i + 1]);
        if (sign * next < sign * best) best = next;
    }
    return best;
}

/* Removes lower bounds above the upper ones; returns how many. */
static uint32_t drop_false(struct side *good, const struct corridor *c, double wander)
{
    uint32_t near = 0;
    good->n = 0;
    for (uint32_t i = 0; i < c->lower.n; i++) {
        if (c->lower.d[i] > side_at(&c->high, c->lower.x[i], wander, 1, &near)) continue;
        good->x[good->n] = c->lower.x[i];
        good->d[good->n++] = c->lower.d[i];
    }
    return c->lower.n - good->n;
}

/* ---- trend of d ---- */

/* Lower bounds are often tight only where the GPU was idle, so they say little about rates. The median and the minimum
 * of how late timers are read are constant: a curve through either follows d up to a constant. */
struct trend {
    struct rs_fit fit;
    double wander; /* ns per ns that it may be wrong by */
};

/* Fits a curve to bounds by time; `room` holds two numbers per bound. */
static void try_course(const struct rs_attach *a, struct trend *best, const struct rs_bound *b, uint32_t n,
                       double *room)
{
    double *x = room, *d = room + n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = (double)rs_time_minus(b[i].at, a->base);
        d[i] = (double)rs_time_minus(b[i].d, a->d0);
    }
    struct trend c = {.wander = LEAST_WANDER};
    rs_fit_init(&c.fit, x, d, n);
    const struct rs_point *p = c.fit.curve.points;
    c.wander = fmax(c.wander, c.fit.rate_doubt);
    for (uint32_t i = 2; i < c.fit.curve.n; i++) { /* half-way along a piece the rate is off by half of the bend */
        double before = (p[i - 1].y - p[i - 2].y) / (p[i - 1].x - p[i - 2].x);
        c.wander = fmax(c.wander, fabs((p[i].y - p[i - 1].y) / (p[i].x - p[i - 1].x) - before) / 2);
    }
    if (best->fit.n && c.wander >= best->wander) {
        rs_fit_free(&c.fit);
        return;
    }
    rs_fit_free(&best->fit);
    *best = c;
}

static double course_at(const struct trend *c, double x)
{
    uint32_t near = c->fit.curve.n / 2;
    return rs_curve_at(&c->fit.curve, x, &near);
}

/* By how much the fastest timers may have been read late: see attach.h. */
static double find_floor(const struct rs_attach *a, const struct trend *c, const struct rs_bound *b, uint32_t n,
                         double *room)
{
    if (n < LEAST_FOR_FLOOR) return INFINITY;
    for (uint32_t i = 0; i < n; i++)
        room[i] = (double)rs_time_minus(b[i].d, a->d0) - course_at(c, (double)rs_time_minus(b[i].at, a->base));
    double quick = rs_fit_quantile(room, n, 0.02);
    return fmax(RS_ATTACH_FLOOR, 2 * (rs_fit_quantile(room, n, 0.5) - quick));
}

static void find_course(struct rs_attach *a, struct trend *c, const struct rs_bounds *b)
{
    struct rs_bound *sorted = rs_zalloc(RS_BOUNDS_SAMPLES, sizeof *sorted);
    double *room = rs_zalloc(RS_BOUNDS_SAMPLES, 2 * sizeof *room);
    try_course(a, c, sorted, collect(sorted, b->upper, b->n, RS_BOUNDS_MAX), room);
    uint32_t n = collect(sorted, b->samples, b->nsamples, RS_BOUNDS_SAMPLES);
    if (n) try_course(a, c, sorted, n, room);
    a->floor = find_floor(a, c, sorted, n, room);
    a->wander = c->wander;
    free(sorted);
    free(room);
}

/* Bounds of d, minus its trend. */
static void fill(struct side *s, const struct rs_bound *b, uint32_t n, const struct rs_attach *a, const struct trend *c)
{
    s->n = n;
    for (uint32_t i = 0; i < n; i++) {
        s->x[i] = (double)rs_time_minus(b[i].at, a->base);
        s->d[i] = (double)rs_time_minus(b[i].d, a->d0) - course_at(c, s->x[i]);
    }
}

static void find_wander(struct rs_attach *a, struct corridor *c)
{
    for (;; a->wander *= 2) {
        tighten(&c->high, &c->upper, a->wander, 1);
        if (a->wander >= RS_FIT_RATE_MOST || drop_false(&c->low, c, a->wander) <= MOST_FALSE * c->lower.n) break;
    }
    a->wander = fmin(2 * a->wander, RS_FIT_RATE_MOST);
    tighten(&c->high, &c->upper, a->wander, 1);
    struct side *good = &c->low;
    a->false_lower = drop_false(good, c, a->wander);
    tighten(&c->lower, good, a->wander, -1);
}

static void keep_points(struct rs_attach *a, const struct corridor *c, const struct trend *trend)
{
    uint32_t n = c->high.n < RS_ATTACH_POINTS ? c->high.n : RS_ATTACH_POINTS;
    a->points = rs_zalloc(n, sizeof *a->points);
    double from = c->high.x[0], span = c->high.x[c->high.n - 1] - from;
    uint32_t at_low = 0, at_high = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = n > 1 ? from + span * i / (n - 1) : from, y = course_at(trend, x);
        if (a->n && x <= a->points[a->n - 1].x) continue;
        double high = side_at(&c->high, x, a->wander, 1, &at_high);
        double low = c->lower.n ? side_at(&c->lower, x, a->wander, -1, &at_low) : -INFINITY;
        a->points[a->n++] = (struct rs_attach_point){.x = x, .low = y + fmax(low, high - a->floor), .high = y + high};
    }
    if (span > 0) a->rate = (course_at(trend, from + span) - course_at(trend, from)) / span;
    if (fabs(a->rate) > 10 * RS_FIT_RATE_MOST) a->rate = 0; /* no clock drifts that fast: damaged times */
}

static void make(struct rs_attach *a, struct corridor *c, struct trend *trend, struct rs_bound *scratch,
                 const struct rs_bounds *b)
{
    uint32_t n = collect(scratch, b->upper, b->n, RS_BOUNDS_MAX);
    if (!n) return;
    a->base = scratch[0].at;
    a->d0 = scratch[n / 2].d;
    find_course(a, trend, b);
    fill(&c->upper, scratch, n, a, trend);
    fill(&c->lower, scratch, collect(scratch, b->lower, b->n, RS_BOUNDS_MAX), a, trend);
    find_wander(a, c);
    keep_points(a, c, trend);
}

void rs_attach_init(struct rs_attach *a, const struct rs_bounds *bounds)
{
    *a = (struct rs_attach){0};
    if (!bounds || !bounds->n) return;
    struct trend trend = {0};
    struct corridor *c = rs_zalloc(1, sizeof *c);
    struct rs_bound *scratch = rs_zalloc(RS_BOUNDS_MAX, sizeof *scratch);
    make(a, c, &trend, scratch, bounds);
    rs_fit_free(&trend.fit);
    free(scratch);
    free(c);
}

void rs_attach_rigid(struct rs_attach *a, int64_t first, int64_t last)
{
    *a = (struct rs_attach){.base = first, .floor = INFINITY, .points = rs_zalloc(2, sizeof *a->points)};
    a->n = last > first ? 2 : 1;
    for (uint32_t i = 0; i < a->n; i++)
        a->points[i] = (struct rs_attach_point){
            .x = i ? (double)rs_time_minus(last, first) : 0, .low = -RS_ATTACH_RIGID, .high = RS_ATTACH_RIGID};
}

void rs_attach_free(struct rs_attach *a)
{
    free(a->points);
    *a = (struct rs_attach){0};
}

static double between(double a, double b, double share)
{
    return share <= 0 ? a : share >= 1 ? b : a + (b - a) * share; /* keeps infinities */
}

bool rs_attach_at(const struct rs_attach *a, int64_t gpu, double *low, double *high)
{
    if (!a->n) return false;
    double x = (double)rs_time_minus(gpu, a->base), beyond = 0, share = 0;
    uint32_t i = 0, j = a->n - 1;
    if (x < a->points[0].x) {
        beyond = a->points[0].x - x;
        j = 0;
    } else if (x > a->points[j].x) {
        beyond = x - a->points[j].x;
        i = j;
    } else {
        while (j - i > 1) {
            uint32_t mid = (i + j) / 2;
            *(a->points[mid].x <= x ? &i : &j) = mid;
        }
        if (i != j) share = (x - a->points[i].x) / (a->points[j].x - a->points[i].x);
    }
    double turn = a->rate * (x < a->points[0].x ? -beyond : beyond),
           widen = fmin(2 * a->wander, RS_FIT_RATE_MOST) * beyond;
    *low = between(a->points[i].low, a->points[j].low, share) + turn - widen;
    *high = between(a->points[i].high, a->points[j].high, share) + turn + widen;
    return true;
}
