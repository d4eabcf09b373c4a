/* startEvent in each version of the interface: builds that version's descriptor and calls the plugin.
 *
 * A descriptor is zeroed when the version is the simulated NCCL's own; when it is an older one, what NCCL's shim leaves
 * uninitialised is filled with a pattern, and what it forgets is forgotten. Any thread. */
#ifndef RS_SIM_DESCR_H
#define RS_SIM_DESCR_H

#include "sim/event.h"
#include "sim/loader.h"

void rs_sim_start_v1(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v2(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v3(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v4(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v5(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v6(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);
void rs_sim_start_v7(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev);

#endif
