/* Robust fits of a clock's offset over time: numbers only, no model.
 *
 * Points (x, y) are scattered about a nearly straight curve; some are far off, mostly late. First a line is fitted
 * (medians of slopes and of residuals); if medians of small windows show that it bends (crystals drift), as few pieces
 * as explain them. A rate below three times its own standard error is taken as 0; with too few points, or over too
 * short a time, the fit is a constant. All estimates are medians, so up to a quarter of the points may be arbitrary.
 *
 * A zeroed rs_fit is empty; rs_fit_free() frees what rs_fit_init() made. Units are the caller's, rates are y per x;
 * only the limits below, and those of fit.c, are in ns. Any thread. */
#ifndef RS_JOIN_FIT_H
#define RS_JOIN_FIT_H

#include <stdint.h>

#include "base/err.h"

struct rs_point {
    double x, y;
};

/* Linear between its points and beyond them; one point: constant; none: 0 everywhere. */
struct rs_curve {
    struct rs_point *points; /* by x, rising */
    uint32_t n;
};

/* `*near` is the piece used last (0 at first): x mostly come in order. */
double rs_curve_at(const struct rs_curve *c, double x, uint32_t *near);

struct rs_fit {
    struct rs_curve curve; /* owned by the fit */
    uint32_t n; /* points that were fitted */
    double spread; /* MAD of the points about the curve */
    double doubt; /* how far the curve may be off at the points (three sigma), if they have no common bias */
    double rate_doubt; /* added per unit of x beyond the points */
};

#define RS_FIT_RATE_MOST 100e-6 /* by how much the rates of two clocks may differ, if nothing is known */
#define RS_FIT_RATE_CLAMP 200e-6 /* the limit: crystals of computers are within 100 ppm */
#define RS_FIT_FEW_SPREAD 10e3 /* ns: the smallest spread that is assumed for fewer than 8 points */

/* `x` must not decrease. Without points the fit stays empty. */
void rs_fit_init(struct rs_fit *fit, const double *x, const double *y, uint32_t n);
void rs_fit_free(struct rs_fit *fit);

/* The q-quantile of the values (0.5: the median, between the middle two); reorders the values. 0 for none. */
double rs_fit_quantile(double *values, uint32_t n, double q);

#endif
