/* The plan of a simulated job: where ranks run, communicators, errors of clocks.
 *
 * Built once, before the processes are forked, from the configuration and its seed; then read-only, for any thread. */
#ifndef RS_SIM_PLAN_H
#define RS_SIM_PLAN_H

#include <stddef.h>

#include "sim/sim.h"

enum { RS_SIM_MAX_COMMS = 64, RS_SIM_MAX_PHASES = 12 };

struct rs_sim_rank_def {
    int process;
    int host;
    int device; /* index of its GPU on the host */
    int64_t gpu_offset_ns; /* GPU clock minus wall time at the start */
    double gpu_ppm; /* rate error */
    unsigned gpu_grain_ns; /* its readings are multiples of this */
};

struct rs_sim_comm_def {
    uint64_t hash;
    char name[32]; /* "" = the application gave none */
    int nranks;
    int nnodes;
    int ranks[RS_SIM_MAX_RANKS]; /* rank in the job, by rank in the communicator */
    int parent; /* index of the communicator that was split, or -1 */
    int child_count, color; /* from which its hash was derived, if it has a parent */
    bool share; /* uses the parent's proxy */
};

/* A part of the job with its own communicators. */
struct rs_sim_phase {
    enum rs_sim_workload workload;
    int first_step, steps;
    int first_comm, ncomms;
};

struct rs_sim_plan {
    struct rs_sim_config cfg;
    uint64_t launch; /* a number of this run: its time */
    int nprocs;
    int64_t host_offset_ns[RS_SIM_MAX_RANKS];
    int host_ppm[RS_SIM_MAX_RANKS];
    struct rs_sim_rank_def ranks[RS_SIM_MAX_RANKS];
    struct rs_sim_comm_def comms[RS_SIM_MAX_COMMS];
    int ncomms;
    struct rs_sim_phase phases[RS_SIM_MAX_PHASES];
    int nphases;
};

enum rs_status rs_sim_plan_build(struct rs_sim_plan *plan, const struct rs_sim_config *cfg, struct rs_err *err);

/* A number that depends only on the seed and the three keys. */
uint64_t rs_sim_random(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

/* The rank in the communicator of a rank of the job, or -1. */
int rs_sim_comm_rank(const struct rs_sim_comm_def *comm, int rank);

/* Whether two ranks of a communicator communicate over the network. */
bool rs_sim_remote(const struct rs_sim_plan *plan, const struct rs_sim_comm_def *comm, int a, int b);

/* The rank of the communicator whose process sends for rank `r` under PXN, or -1 if r sends itself. */
int rs_sim_pxn_helper(const struct rs_sim_plan *plan, const struct rs_sim_comm_def *comm, int r);

/* Modelled time of moving `bytes`; `net` = between hosts. Scaled by the speed, as rs_sim_scaled() does. */
uint64_t rs_sim_transfer_ns(const struct rs_sim_plan *plan, size_t bytes, bool net);
uint64_t rs_sim_scaled(const struct rs_sim_plan *plan, uint64_t ns);

#endif
