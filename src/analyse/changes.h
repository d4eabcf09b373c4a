/* Change points of a series of numbers.
 *
 * A change separates two stretches of at least three values whose medians differ by more than 5 % and more than 5
 * median deviations. Splits are found by ranks, so that single outliers do not count. */
#ifndef RS_ANALYSE_CHANGES_H
#define RS_ANALYSE_CHANGES_H

#include "base/err.h"

/* Where a series changes permanently: at most `most` indexes, each the first of a new stretch, ascending. `values` is
 * unchanged. */
void rs_change_points(const int64_t *values, uint32_t n, uint32_t *points, uint32_t most, uint32_t *found);

#endif
