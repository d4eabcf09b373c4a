/* Change points of a series of numbers.
 *
 * A change is where the medians of the stretches on its two sides are apart by more than 5 % and more than 5 median
 * deviations; a stretch has three values or more. Where to split is found by ranks, so that single outliers do not count. */
#ifndef RS_ANALYSE_CHANGES_H
#define RS_ANALYSE_CHANGES_H

#include "base/err.h"

/* Where a series changes for good: at most `most` indexes, each the first of a new stretch, rising. `values` stays. */
void rs_change_points(const int64_t *values, uint32_t n, uint32_t *points, uint32_t most, uint32_t *found);

#endif
