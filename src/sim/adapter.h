/* Calls into the plugin, with events in the form of its interface version, including what NCCL's shims do to them.
 *
 * Every call that returns is counted. `plugin` may be NULL (no profiler): then nothing happens. Like NCCL, the caller
 * does not clear its variables for handles. Any thread. */
#ifndef RS_SIM_ADAPTER_H
#define RS_SIM_ADAPTER_H

#include "sim/event.h"
#include "sim/loader.h"

struct rs_sim_init {
    const char *name; /* NULL = none */
    uint64_t hash;
    int nnodes, nranks, rank;
};

void rs_sim_call_init(struct rs_sim_plugin *plugin, const struct rs_sim_init *init, void **ctx);
void rs_sim_call_finalize(struct rs_sim_plugin *plugin, void *ctx);
void rs_sim_call_start(struct rs_sim_plugin *plugin, void *ctx, void **handle, const struct rs_sim_event *ev);
/* Not for handle NULL, except from network plugins, which do not check. */
void rs_sim_call_stop(struct rs_sim_plugin *plugin, void *handle);
/* `args` NULL = NCCL passes none in this state. */
void rs_sim_call_record(struct rs_sim_plugin *plugin, void *handle, int st, const struct rs_sim_args *args);

/* stop and record as in NCCL's core: only if there is a handle. */
void rs_sim_stop_if(struct rs_sim_plugin *plugin, void *handle);
void rs_sim_record_if(struct rs_sim_plugin *plugin, void *handle, int st, const struct rs_sim_args *args);

#endif
