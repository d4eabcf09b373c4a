/* Exact quantiles of numbers in memory: selection in place, linear time, no allocation.
 *
 * Each reorders (rs_mad(): also changes) the numbers that it is given. Any thread. */
#ifndef RS_ANALYSE_QUANTILE_H
#define RS_ANALYSE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* The smallest value that at least a share q (0 to 1) of the numbers does not exceed; 0 if there are none. */
int64_t rs_quantile(int64_t *values, size_t n, double q);
static inline int64_t rs_median(int64_t *values, size_t n)
{
    return rs_quantile(values, n, 0.5);
}
struct rs_quantiles {
    int64_t p50, p90, p99; /* RS_TIME_NONE: unknown */
};
/* All RS_TIME_NONE if there are no numbers. */
struct rs_quantiles rs_quantiles_of(int64_t *values, size_t n);
/* The median distance from `median`. Values become distances. */
int64_t rs_mad(int64_t *values, size_t n, int64_t median);

#endif
