/* A multi-process job without a GPU that drives the real profiler plugin.
 *
 * rs_sim_run() forks one process per `ranks_per_process` ranks. Each loads the plugin as NCCL does and makes the calls
 * that NCCL makes, from application, proxy, host-function and init threads, in real time: kernels wait for their peers
 * in other processes, network steps wait for credit and data. The caller owns the config and its strings; they must
 * outlive the call. Call it from a process that has no other threads, since it forks. Nothing is printed (except by the
 * logger passed to the plugin, if NCCL_DEBUG is set); one run at a time. */
#ifndef RS_SIM_SIM_H
#define RS_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    RS_SIM_MAX_RANKS = 256,
    RS_SIM_MAX_CHANNELS = 64,
    RS_SIM_MAX_SLOW = 32,
    RS_SIM_MAX_NET_STEPS = 4096,
};

enum rs_sim_workload {
    RS_SIM_DDP,
    RS_SIM_PIPELINE,
    RS_SIM_ALLTOALL,
    RS_SIM_AGGREGATE,
    RS_SIM_MULTIDEV,
    RS_SIM_SPLIT,
    RS_SIM_GRAPH,
    RS_SIM_RING,
    RS_SIM_FIVE,
    RS_SIM_MIX,
    RS_SIM_WORKLOADS, /* their number */
};
extern const char *const rs_sim_workload_names[RS_SIM_WORKLOADS];

/* What a NCCL built with NET_PROFILER=1 reports below its network steps. */
enum rs_sim_net { RS_SIM_NET_QUIET, RS_SIM_NET_IB, RS_SIM_NET_SOCKET };

struct rs_sim_slow {
    int rank;
    int64_t usec; /* per step */
    bool cpu; /* the application thread is late with its calls; else the GPU computes longer */
};

struct rs_sim_at {
    int rank; /* -1 = never */
    int step;
};

struct rs_sim_config {
    int ranks;
    int hosts;
    int ranks_per_process;
    int steps;
    enum rs_sim_workload workload;
    int channels;
    int64_t bytes; /* of one bucket or message */
    int net_steps; /* network transfers per proxy operation and channel */
    struct rs_sim_slow slow[RS_SIM_MAX_SLOW];
    int nslow;
    struct rs_sim_at hang, kill, abort;
    struct rs_sim_slow kill_after; /* its process is killed from outside, this long after the start; rank -1 = not */
    double notice_seconds; /* from the death of a process to the abort of the others */
    double hang_seconds; /* from the rank's last step to the end of all processes */
    int api; /* the simulated NCCL's own version of the profiler interface */
    const char *events; /* for RINGSCOPE_EVENTS; NULL: unchanged */
    const char *detail; /* for RINGSCOPE_DETAIL; NULL: unchanged */
    uint64_t seed;
    double speed; /* divides compute and transfer times */
    const char *plugin; /* for NCCL_PROFILER_PLUGIN; NULL = unchanged, else the one next to the executable */
    const char *dir; /* for RINGSCOPE_DIR */
    const char *truth; /* file for what was really sent, or NULL */
    enum rs_sim_net net;
    bool ce; /* collectives by copy engine where possible (api 6 and newer, one host) */
    bool pxn; /* network sends go through another process of the host */
    bool no_destroy; /* processes exit without destroying their communicators */
    bool count_only; /* load no plugin: accept and count the calls */
};

struct rs_sim_result {
    int processes;
    int hosts;
    uint64_t callbacks; /* made and returned, over all processes */
    uint64_t wall_ns;
    int plugin_version; /* the interface that was used, 0 = none */
    bool hung, killed, aborted; /* the requested event happened */
};

/* Fills in the defaults. */
void rs_sim_config_default(struct rs_sim_config *cfg);

enum rs_status rs_sim_run(const struct rs_sim_config *cfg, struct rs_sim_result *res, struct rs_err *err);

#endif
