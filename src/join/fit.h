/* Robust fits of a clock's offset over time: pure numbers, no model.
 *
 * Points (x, y) are scattered about a curve that is nearly a straight line; some of them are far off, and those are
 * mostly late. A line comes first (medians of slopes and of residuals); where medians of small windows show that the line
 * bends (crystals wander), as few pieces as explain them. A rate below three times its own standard error is taken as 0;
 * with too few points, or in too short a time for a rate, the fit is a constant. Everything is medians, so that up to a quarter of the points may be anything.
 *
 * A zeroed rs_fit is empty; rs_fit_free() frees what rs_fit_init() made. Units are the caller's, rates are y by x; only
 * the limits below, and those of fit.c, speak of ns. Any thread. */
#ifndef RS_JOIN_FIT_H
#define RS_JOIN_FIT_H

#include <stdint.h>

#include "base/err.h"

struct rs_point {
    double x, y;
};

/* Straight between its points, and on beyond them; one point: constant; none: 0 everywhere. */
struct rs_curve {
    struct rs_point *points; /* by x, rising */
    uint32_t n;
};

/* `*near` is the piece asked for last (0 at first): x mostly come in order. */
double rs_curve_at(const struct rs_curve *c, double x, uint32_t *near);

struct rs_fit {
    struct rs_curve curve; /* the fit's */
    uint32_t n; /* points that were fitted */
    double spread; /* MAD of the points about the curve */
    double doubt; /* how far the curve may be off where points are (three sigma), if the points have no common bias */
    double rate_doubt; /* what is added to that for each unit of x beyond the points */
};

#define RS_FIT_RATE_MOST 100e-6 /* what the rates of two clocks may differ by, when nothing is known */
#define RS_FIT_RATE_CLAMP 200e-6 /* and at most: crystals of computers are within 100 ppm of their rate */
#define RS_FIT_FEW_SPREAD 10e3 /* ns: the least scatter that is believed of fewer than 8 points */

/* `x` must not fall. With no points the fit stays empty. */
void rs_fit_init(struct rs_fit *fit, const double *x, const double *y, uint32_t n);
void rs_fit_free(struct rs_fit *fit);

/* The value below which a share q of the values lies (0.5: the median, between the middle two); moves the values about.
 * 0 for none. */
double rs_fit_quantile(double *values, uint32_t n, double q);

#endif
