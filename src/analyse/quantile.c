#include "analyse/quantile.h"

#include "model/model.h"

static void swap(int64_t *a, int64_t *b)
{
    int64_t t = *a;
    *a = *b;
    *b = t;
}

/* The k-th smallest. Three parts per iteration (below, equal, above), so that many equal values cost no more. The pivot
 * is random with a fixed seed, so that no input order is bad and the work is deterministic. */
static int64_t nth(int64_t *v, size_t n, size_t k)
{
    uint64_t draw = 0x9e3779b97f4a7c15;
    size_t low = 0, high = n; /* the result is in [low, high) */
    while (high - low > 1) {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        int64_t pivot = v[low + draw % (high - low)];
        size_t below = low, i = low, above = high;
        while (i < above) {
            if (v[i] < pivot)
                swap(&v[below++], &v[i++]);
            else if (v[i] > pivot)
                swap(&v[i], &v[--above]);
            else
                i++;
        }
        if (k < below)
            high = below;
        else if (k >= above)
            low = above;
        else
            return pivot;
    }
    return v[low];
}

int64_t rs_quantile(int64_t *values, size_t n, double q)
{
    if (!n) return 0;
    double at = q * (double)n;
    size_t k = (size_t)at;
    if ((double)k >= at && k) k--; /* at least q of them: the ceiling, counted from 0 */
    return nth(values, n, k < n ? k : n - 1);
}

struct rs_quantiles rs_quantiles_of(int64_t *values, size_t n)
{
    if (!n) return (struct rs_quantiles){RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE};
    return (struct rs_quantiles){
        .p50 = rs_median(values, n), .p90 = rs_quantile(values, n, 0.9), .p99 = rs_quantile(values, n, 0.99)};
}

int64_t rs_mad(int64_t *values, size_t n, int64_t median)
{
    for (size_t i = 0; i < n; i++) values[i] = values[i] < median ? median - values[i] : values[i] - median;
    return rs_median(values, n);
}
