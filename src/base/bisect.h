/* Binary search in what is sorted.
 *
 *     uint32_t low = 0, high = n;
 *     RS_BISECT(low, high, mid, rows[mid].at < at);        // low: the first row that is not before `at`, or n
 *
 * `before` is an expression of `mid` that holds for the first rows and for none behind them. `low` and `high` are
 * variables; both end at the first place where it does not hold. */
#ifndef RS_BASE_BISECT_H
#define RS_BASE_BISECT_H

#define RS_BISECT(low, high, mid, before)                                                                              \
    while ((low) < (high)) {                                                                                           \
        __typeof__(low) mid = (low) + ((high) - (low)) / 2;                                                            \
        if (before)                                                                                                    \
            (low) = mid + 1;                                                                                           \
        else                                                                                                           \
            (high) = mid;                                                                                              \
    }

#endif
