/* One process of a simulated job: what the child does after the fork.
 *
 * Sets the environment that a launcher and the test of the plugin would set, opens the GPUs of its ranks, and plays the
 * phases of the plan. Never returns. */
#ifndef RS_SIM_PROCESS_H
#define RS_SIM_PROCESS_H

#include "sim/shared.h"

/* The name by which a simulated host is known. */
void rs_sim_host_name(int host, char out[16]);

_Noreturn void rs_sim_process_main(const struct rs_sim_job *job);

#endif
