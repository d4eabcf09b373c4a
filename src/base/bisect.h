/* Binary search in sorted rows.
 *
 *     uint32_t low = 0, high = n;
 *     RS_BISECT(low, high, mid, rows[mid].at < at);        // low: the first row that is not before `at`, or n
 *
 * `before` is an expression of `mid` that is true for the first rows and false for the rest. `low` and `high` are
 * variables; both end at the first row for which it is false. */
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
