/* The few CUDA driver calls that a plugin uses to identify its device, for simulated GPUs.
 *
 * The symbols are exported from the executable, so that dlsym(RTLD_DEFAULT, ...) finds them. They succeed only on a
 * thread inside the init callback, where NCCL allows them; elsewhere they return "invalid context", and calls from
 * other callbacks are counted as misuse. The current device is per thread. */
#ifndef RS_SIM_FAKECUDA_H
#define RS_SIM_FAKECUDA_H

#include "sim/shared.h"

/* The calling thread works for this rank from now on; NULL = for none. */
void rs_sim_cuda_use(const struct rs_sim_job *job, int rank);
/* Brackets the init callback. */
void rs_sim_cuda_allow(bool allowed);

/* The identity of a rank's GPU, as the calls report it. */
void rs_sim_gpu_uuid(const struct rs_sim_plan *plan, int rank, unsigned char uuid[16]);
void rs_sim_gpu_bus_id(const struct rs_sim_plan *plan, int rank, char *out, int len);

#endif
