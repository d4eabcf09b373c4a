/* Loading the profiler plugin by NCCL's rules.
 *
 * NCCL_PROFILER_PLUGIN names it; the newest version of the interface up to the simulated NCCL's own wins; each
 * communicator holds one reference, and the library is closed with the last and opened again for the next. State is per
 * process and guarded by a mutex; call only in the forked processes. */
#ifndef RS_SIM_LOADER_H
#define RS_SIM_LOADER_H

#include "sim/shared.h"

struct rs_sim_plugin {
    int native; /* the simulated NCCL's version */
    int version; /* the one found in the plugin; 0 = the built-in one that accepts and counts */
    union {
        const struct rs_nccl_profiler_v1 *v1;
        const struct rs_nccl_profiler_v2 *v2;
        const struct rs_nccl_profiler_v3 *v3;
        const struct rs_nccl_profiler_v4 *v4;
        const struct rs_nccl_profiler_v5 *v5;
        const struct rs_nccl_profiler_v6 *v6;
        const struct rs_nccl_profiler_v7 *v7;
    };
    struct rs_sim_counts *counts;
};

/* Takes a reference, loading the plugin if need be. NULL = no profiler (switched off, or not found: the latter is noted
 * as a failure of the job). Valid until the matching release. */
struct rs_sim_plugin *rs_sim_plugin_acquire(const struct rs_sim_job *job);
void rs_sim_plugin_release(struct rs_sim_plugin *plugin);

/* The activation mask: one int per process, which the plugin may write at any time. */
int *rs_sim_mask_at(void);
int rs_sim_mask(void);

#endif
