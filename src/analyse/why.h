/* Why a rank was late: launched late, or launched in time and queued behind compute.
 *
 * Sums are kept in a straggler's why_ns until rs_why_finish(). Launch lags are added with their sign, and only what is left
 * in the end was launched late: a program that runs ahead of its GPU is sometimes earlier, sometimes later with its
 * launches, and that means nothing. */
#ifndef RS_ANALYSE_WHY_H
#define RS_ANALYSE_WHY_H

#include "analyse/stragglers.h"

/* Adds `own` ns by which `last` came behind `other`, the latest of those that were in time. The arrivals of the view are
 * those of the operation. */
void rs_why_add(const struct rs_view *v, const struct rs_arrival *last, const struct rs_arrival *other, int64_t own,
                int64_t why[RS_WHYS]);
/* Turns the sums into what they mean, and names the largest. */
void rs_why_finish(struct rs_straggler *s);

#endif
