#include "join/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    WINDOW = 32, /* points of the smallest window: their median is good to a fifth of the scatter */
    MOST_WINDOWS = 128,
    BLOCKS = 4,
    FEW = 8, /* points; fewer give neither a spread nor a rate */
};
#define SIGMA_OF_MAD 1.4826
#define MEDIAN_LOSS 1.2533 /* sigma of a median relative to that of a mean */
#define WILD 60e9 /* ns from all other points within which a point is never damage */
#define LEAST_SIGMA 20.0 /* ns: timers tick, and a zero spread is not a perfect clock */

double rs_curve_at(const struct rs_curve *c, double x, uint32_t *near)
{
    if (c->n < 2) return c->n ? c->points[0].y : 0;
    uint32_t i = *near + 2 > c->n ? 0 : *near;
    while (i + 2 < c->n && x >= c->points[i + 1].x) i++;
    while (i && x < c->points[i].x) i--;
    *near = i;
    const struct rs_point *p = &c->points[i], *q = p + 1;
    return q->x > p->x ? p->y + (q->y - p->y) * ((x - p->x) / (q->x - p->x)) : p->y;
}

/* ---- medians ---- */

/* Moves the values of v[from, to) below `pivot` to its front; returns where the others begin. Without branches that
 * depend on a value, half of which would be mispredicted. */
static uint32_t divide(double *v, uint32_t from, uint32_t to, double pivot)
{
    for (uint32_t i = from; i < to; i++) {
        double x = v[i];
        v[i] = v[from];
        v[from] = x;
        from += x < pivot;
    }
    return from;
}

static double middle_of(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Selection: v[k] gets its sorted value, with no larger value before it and no smaller one after it. */
static double nth(double *v, uint32_t n, uint32_t k)
{
    uint32_t lo = 0, hi = n;
    while (hi - lo > 1) {
        double pivot = middle_of(v[lo], v[lo + (hi - lo) / 2], v[hi - 1]);
        uint32_t at = divide(v, lo, hi, pivot);
        if (k < at) {
            hi = at;
        } else if (at > lo) {
            lo = at;
        } else { /* the smallest: all equal values together */
            at = divide(v, lo, hi, nextafter(pivot, INFINITY));
            if (k < at || at == lo) break; /* none: damaged times gave NaN or infinity */
            lo = at;
        }
    }
    return v[k];
}

double rs_fit_quantile(double *v, uint32_t n, double q)
{
    if (!n) return 0;
    double at = q * (n - 1);
    uint32_t k = (uint32_t)at;
    double low = nth(v, n, k);
    if (at <= k || k + 1 >= n) return low;
    double high = v[k + 1];
    for (uint32_t i = k + 2; i < n; i++)
        if (v[i] < high) high = v[i];
    return low + (high - low) * (at - k);
}

static double median(double *v, uint32_t n)
{
    return rs_fit_quantile(v, n, 0.5);
}

/* ---- a line ---- */

/* The slope of a robust line through points by x; 0 if they are too close together. `work` holds n numbers. */
static double slope(const double *x, const double *y, uint32_t n, double *work)
{
    /* Each point with the one half the points later: a quarter of the points may be wrong. Pairs too close in time add
     * only noise. */
    uint32_t half = n / 2, k = 0;
    double least = n ? (x[n - 1] - x[0]) / 8 : 0;
    for (int again = 0; again < 2 && k < (half + 3) / 4; again++, least = 0) {
        k = 0;
        for (uint32_t i = 0; i + half < n; i++)
            if (x[i + half] - x[i] > least) work[k++] = (y[i + half] - y[i]) / (x[i + half] - x[i]);
    }
    return median(work, k);
}

/* The line y = at + rate * (x - middle), and the sigma of a point about it. */
struct line {
    double middle, at, rate, sigma;
};

static double mad(double *residuals, uint32_t n, double *center)
{
    *center = median(residuals, n);
    for (uint32_t i = 0; i < n; i++) residuals[i] = fabs(residuals[i] - *center);
    return median(residuals, n);
}

static void level(struct line *l, const double *x, const double *y, uint32_t n, double *work)
{
    for (uint32_t i = 0; i < n; i++) work[i] = y[i] - l->rate * (x[i] - l->middle);
    l->sigma = fmax(SIGMA_OF_MAD * mad(work, n, &l->at), LEAST_SIGMA);
}

static double line_at(const struct line *l, double x)
{
    return l->at + l->rate * (x - l->middle);
}

/* The standard error of the rate from the medians of a few blocks: noise that lasts for a while (start of a job) looks
 * like a rate to single points. */
static double rate_error_of_blocks(const struct line *l, const double *x, const double *y, uint32_t n, double *work)
{
    double bx[BLOCKS], by[BLOCKS], mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (uint32_t j = 0; j < BLOCKS; j++) {
        uint32_t from = (uint32_t)((uint64_t)n * j / BLOCKS), to = (uint32_t)((uint64_t)n * (j + 1) / BLOCKS);
        for (uint32_t i = from; i < to; i++) work[i - from] = y[i] - line_at(l, x[i]);
        by[j] = median(work, to - from);
        bx[j] = (x[from] + x[to - 1]) / 2;
        mean_x += bx[j] / BLOCKS;
        mean_y += by[j] / BLOCKS;
    }
    for (uint32_t j = 0; j < BLOCKS; j++) {
        xx += (bx[j] - mean_x) * (bx[j] - mean_x);
        xy += (bx[j] - mean_x) * (by[j] - mean_y);
    }
    for (uint32_t j = 0; j < BLOCKS && xx > 0; j++) {
        double d = by[j] - mean_y - xy / xx * (bx[j] - mean_x);
        rest += d * d;
    }
    return xx > 0 ? sqrt(rest / (BLOCKS - 2) / xx) : 0;
}

/* ---- windows ---- */

struct window {
    double x, y; /* mean of x; median of y's distance from the line */
};

/* Windows of equal counts. *sigma becomes the spread inside windows, which excludes bends. */
static uint32_t make_windows(struct window *w, const struct line *l, const double *x, const double *y, uint32_t n,
                             double *work, double *sigma)
{
    uint32_t count = n / WINDOW < MOST_WINDOWS ? n / WINDOW : MOST_WINDOWS;
    double scatter[MOST_WINDOWS];
    for (uint32_t j = 0; j < count; j++) {
        uint32_t from = (uint32_t)((uint64_t)n * j / count), to = (uint32_t)((uint64_t)n * (j + 1) / count);
        double sum = 0;
        for (uint32_t i = from; i < to; i++) {
            sum += x[i] - x[from];
            work[i - from] = y[i] - line_at(l, x[i]);
        }
        w[j].x = x[from] + sum / (to - from);
        scatter[j] = mad(work, to - from, &w[j].y);
    }
    if (count) *sigma = fmax(SIGMA_OF_MAD * median(scatter, count), LEAST_SIGMA);
    return count;
}

/* Knots: the means of `pieces` runs of windows. Windows at the same time are one knot. */
static uint32_t make_knots(struct rs_point *knots, const struct window *w, uint32_t count, uint32_t pieces)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < pieces; p++) {
        uint32_t from = count * p / pieces, to = count * (p + 1) / pieces;
        struct rs_point k = {0, 0};
        for (uint32_t j = from; j < to; j++) {
            k.x += w[j].x / (to - from);
            k.y += w[j].y / (to - from);
        }
        if (!n || k.x > knots[n - 1].x) knots[n++] = k;
    }
    return n;
}

/* Mean square of the windows' distance from the knots' curve; one bad window counts as six sigma at most. With every
 * window a knot itself: of a window from the line between its neighbours. */
static double misfit(const struct rs_point *knots, uint32_t n, const struct window *w, uint32_t count, double se)
{
    struct rs_curve c = {(struct rs_point *)(uintptr_t)knots, n}; /* only read */
    double sum = 0;
    uint32_t near = 0, terms = 0;
    for (uint32_t j = 0; j < count; j++) {
        double d;
        if (n < count) {
            d = w[j].y - rs_curve_at(&c, w[j].x, &near);
        } else {
            if (!j || j + 1 == count || w[j + 1].x <= w[j - 1].x) continue;
            d = w[j].y - w[j - 1].y - (w[j + 1].y - w[j - 1].y) * (w[j].x - w[j - 1].x) / (w[j + 1].x - w[j - 1].x);
        }
        sum += fmin(d * d, 36 * se * se);
        terms++;
    }
    return terms ? sum / terms : 0;
}

/* As few pieces as explain the windows within their noise (twice its square). Fills knots (of the distance from the
 * line) and returns how many; 0: the line is sufficient. */
static uint32_t find_pieces(struct rs_point *knots, const struct window *w, uint32_t count, double se, double *left)
{
    double sum = 0;
    for (uint32_t j = 0; j < count; j++) sum += fmin(w[j].y * w[j].y, 36 * se * se);
    double ms = count ? sum / count : 0;
    *left = sqrt(fmax(0, ms - se * se));
    if (count < 4 || ms <= 2 * se * se) return 0;
    for (uint32_t pieces = 3;; pieces += (pieces + 1) / 2) {
        if (pieces > count) pieces = count;
        uint32_t n = make_knots(knots, w, count, pieces);
        ms = misfit(knots, n, w, count, se);
        if (pieces == count) {
            *left = sqrt(fmax(0, ms - 1.5 * se * se)) / 3; /* half-way between knots a bend shows by about a quarter */
            return n;
        }
        *left = sqrt(fmax(0, ms - se * se));
        if (ms <= 2 * se * se) return n;
    }
}

/* ---- the fit ---- */

static void keep(struct rs_fit *fit, const struct line *l, const struct rs_point *knots, uint32_t n)
{
    fit->curve.points = rs_alloc(n * sizeof *knots);
    for (uint32_t i = 0; i < n; i++)
        fit->curve.points[i] = (struct rs_point){knots[i].x, knots[i].y + line_at(l, knots[i].x)};
    fit->curve.n = n;
}

static void measure_spread(struct rs_fit *fit, const double *x, const double *y, uint32_t n, double *work)
{
    uint32_t near = 0;
    double center;
    for (uint32_t i = 0; i < n; i++) work[i] = y[i] - rs_curve_at(&fit->curve, x[i], &near);
    fit->spread = mad(work, n, &center);
}

static void fit_constant(struct rs_fit *fit, struct line *l, const double *x, const double *y, uint32_t n, double *work)
{
    l->rate = 0;
    level(l, x, y, n, work);
    double span = x[n - 1] - x[0];
    fit->doubt = 3 * MEDIAN_LOSS * (n < FEW ? fmax(l->sigma, RS_FIT_FEW_SPREAD) : l->sigma) / sqrt(n) +
                 RS_FIT_RATE_MOST * span / 2;
    fit->rate_doubt = RS_FIT_RATE_MOST;
    struct rs_point knot = {l->middle, 0};
    keep(fit, l, &knot, 1);
}

static void fit_points(struct rs_fit *fit, const double *x, const double *y, uint32_t n, double *work)
{
    double span = x[n - 1] - x[0];
    struct line l = {.middle = x[0] + span / 2};
    if (n < FEW || span <= 0) {
        fit_constant(fit, &l, x, y, n, work);
        return;
    }
    l.rate = fmin(fmax(slope(x, y, n, work), -RS_FIT_RATE_CLAMP), RS_FIT_RATE_CLAMP);
    level(&l, x, y, n, work);
    double rate_se = MEDIAN_LOSS * l.sigma * sqrt(12.0 / n) / span;
    rate_se = fmax(rate_se, rate_error_of_blocks(&l, x, y, n, work));
    if (3 * rate_se > RS_FIT_RATE_MOST) {
        fit_constant(fit, &l, x, y, n, work);
        return;
    }
    if (fabs(l.rate) < 3 * rate_se) { /* within its own error: equal clocks stay equal */
        l.rate = 0;
        level(&l, x, y, n, work);
    }

    struct window w[MOST_WINDOWS];
    struct rs_point knots[MOST_WINDOWS];
    double sigma = l.sigma, left = 0;
    uint32_t count = make_windows(w, &l, x, y, n, work, &sigma);
    double se = count ? MEDIAN_LOSS * sigma / sqrt((double)n / count) : 0;
    uint32_t pieces = find_pieces(knots, w, count, se, &left);
    if (pieces >= 2) {
        double piece_se = se * sqrt((double)pieces / count);
        fit->doubt = 3 * piece_se + 2 * left;
        fit->rate_doubt = 3 * 1.42 * piece_se / ((knots[pieces - 1].x - knots[0].x) / (pieces - 1));
        keep(fit, &l, knots, pieces);
        return;
    }
    fit->doubt = 3 * (MEDIAN_LOSS * l.sigma / sqrt(n) + rate_se * span / 2) + 2 * left;
    fit->rate_doubt = 3 * rate_se;
    knots[0] = (struct rs_point){x[0], 0};
    knots[1] = (struct rs_point){x[n - 1], 0};
    keep(fit, &l, knots, 2);
}

/* Damaged times are years away: drops them at both ends, relative to most points. */
static uint32_t leave_out_wild(const double *x, uint32_t *n)
{
    uint32_t first = 0, last = *n - 1;
    double from = x[*n / 8], to = x[last - *n / 8], reach = 1e4 * (to - from) + WILD;
    while (x[first] < from - reach) first++;
    while (x[last] > to + reach) last--;
    *n = last - first + 1;
    return first;
}

void rs_fit_init(struct rs_fit *fit, const double *x, const double *y, uint32_t n)
{
    *fit = (struct rs_fit){0};
    if (!n) return;
    uint32_t first = leave_out_wild(x, &n);
    fit->n = n;
    x += first;
    y += first;
    double *work = rs_alloc(n * sizeof *work);
    fit_points(fit, x, y, n, work);
    measure_spread(fit, x, y, n, work);
    free(work);
}

void rs_fit_free(struct rs_fit *fit)
{
    free(fit->curve.points);
    *fit = (struct rs_fit){0};
}
