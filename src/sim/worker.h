/* An application thread in one phase of the plan.
 *
 * It creates the phase's communicators, runs its steps, and destroys the communicators. It drives one rank, or, in the
 * workload multidev, all ranks of its process. Requested slowness, hang, kill and abort happen here. The GPUs belong to
 * the process and outlive it. */
#ifndef RS_SIM_WORKER_H
#define RS_SIM_WORKER_H

#include "sim/group.h"

struct rs_sim_worker {
    struct rs_sim_app app;
    const struct rs_sim_phase *phase;
    struct rs_sim_gpu *gpus; /* the ranks it drives: ngpus of them */
    int ngpus;
    struct rs_sim_comm **world; /* one per GPU */
    struct rs_sim_comm *tp, *dp, *second, *mesh; /* of the workload split */
    struct rs_sim_graph *graph;
};

/* ---- steps of the workloads ----
 * Each step ends with all kernels of its rank done. Called by the worker's thread; false = the job was aborted. */

extern bool (*const rs_sim_steps[RS_SIM_WORKLOADS])(struct rs_sim_worker *w, int step);

/* ---- workers ---- */

struct rs_sim_worker *rs_sim_worker_new(const struct rs_sim_job *job, const struct rs_sim_phase *phase,
                                        struct rs_sim_gpu *gpus, int ngpus);
/* Runs the phase, on the calling thread. Returns also if the job was aborted, with everything destroyed. */
void rs_sim_worker_run(struct rs_sim_worker *w);
void rs_sim_worker_free(struct rs_sim_worker *w);

#endif
