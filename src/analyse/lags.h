/* How many operations that are all alike make a step: told by the times between them, where their order says nothing.
 * Pure functions. */
#ifndef RS_ANALYSE_LAGS_H
#define RS_ANALYSE_LAGS_H

#include "analyse/repeats.h"

/* `list` are the numbers of n items that are alike. *lag: so many make a step; 1: they come at regular intervals, one by
 * one; 0: noise hides it. */
enum rs_status rs_lag_find(const struct rs_item *items, const uint32_t *list, uint32_t n, uint32_t *lag,
                           struct rs_err *err);

#endif
