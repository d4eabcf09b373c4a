/* The cost of a rank's lateness, assuming one delay per step.
 *
 * If a program computes while it communicates, one delay appears in every operation of the step, and the sum of the
 * leads far exceeds what fixing it would save. Then only the largest lead of each step counts. NCCL's events do not
 * show which case applies, so a report gives both. */
#ifndef RS_ANALYSE_PER_STEP_COST_H
#define RS_ANALYSE_PER_STEP_COST_H

#include "analyse/steps.h"
#include "analyse/stragglers.h"

/* Sets once_ns of all rows that are ranks; without steps it stays RS_TIME_NONE. */
void rs_per_step_cost_find(struct rs_stragglers *s, const struct rs_view *view, const struct rs_steps *steps);

#endif
