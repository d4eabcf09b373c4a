/* What the applications of a simulated job do in a step, by workload.
 *
 * Each step ends with all kernels of its rank done. Called by the worker's thread; false = the job was aborted. */
#ifndef RS_SIM_WORKLOAD_H
#define RS_SIM_WORKLOAD_H

#include "sim/worker.h"

extern bool (*const rs_sim_steps[RS_SIM_WORKLOADS])(struct rs_sim_worker *w, int step);

/* The size of a bucket in elements: of 4 bytes, and of 2 bytes for each of n ranks. */
size_t rs_sim_floats(const struct rs_sim_worker *w);
size_t rs_sim_halves_each(const struct rs_sim_worker *w, int n);

#endif
