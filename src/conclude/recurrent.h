/* A rank that is late in some steps only, but again and again: every eighth step, or now and then.
 *
 * In each step one rank of a role is the latest. Steps in which it is later than the others by far are counted, neighbouring
 * ones of the same rank once (lateness comes in bursts). Without a cause each of them hits any of the equals alike, so the
 * count of a rank is binomial: its tail, times the ranks that are compared, is the chance that it is somebody's. */
#ifndef RS_CONCLUDE_RECURRENT_H
#define RS_CONCLUDE_RECURRENT_H

#include "conclude/roles.h"

struct rs_recurrent {
    uint32_t rank_id; /* the one that is hit most beyond chance; RS_NONE: no step was late by far */
    uint32_t hits, all; /* runs of late steps: its own, and those of its role */
    uint32_t late, steps; /* steps in which it was the latest by far; in which it was compared */
    uint32_t every; /* its late steps are this many apart; 0: not evenly */
    int64_t late_ns; /* the median of these steps: how much later than its equals */
    double p;
};

/* late[rank_id * steps + step], as rs_excess_by_step() has it; `least_ns`: what is worth a look. */
void rs_recurrent_find(struct rs_recurrent *found, const float *late, const struct rs_roles *roles, uint32_t nranks,
                       uint32_t steps, int64_t least_ns);

#endif
