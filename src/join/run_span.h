/* From when to when a run lasted on the common axis: its first event, which is time zero of everything that is counted
 * from the beginning, and its last.
 *
 * Damaged input may claim any time: what lies far outside of all that was heard of the run's processes is not believed,
 * and moves neither. Called once, at the end of the join. */
#ifndef RS_JOIN_RUN_SPAN_H
#define RS_JOIN_RUN_SPAN_H

#include "model/model.h"

/* Sets `begin` and `end` of the model. */
void rs_run_span_find(struct rs_model *m);

#endif
