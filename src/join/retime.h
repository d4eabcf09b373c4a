/* Rewrites all times of a model, in place, by the axes of its clocks. Each time is rewritten by the clock that it came
 * from; RS_TIME_NONE stays. Called once. */
#ifndef RS_JOIN_RETIME_H
#define RS_JOIN_RETIME_H

#include "model/model.h"

void rs_retime(struct rs_model *m);

#endif
