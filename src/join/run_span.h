/* The span of a run on the common axis: its first event, which is time zero of all relative times, and its last.
 *
 * Damaged input may claim any time: times far outside what is known of the run's processes are ignored. Called once, at
 * the end of the join. */
#ifndef RS_JOIN_RUN_SPAN_H
#define RS_JOIN_RUN_SPAN_H

#include "model/model.h"

/* Sets `begin` and `end` of the model. */
void rs_run_span_find(struct rs_model *m);

#endif
