/* Capture and replay of CUDA graphs.
 *
 * A graph holds the launches that were captured. Replaying puts their kernels on the GPU from the application thread; if
 * the launches post to the proxy, a host-function thread reports them, at every replay. That thread belongs to the graph.
 * One application thread owns a graph. */
#ifndef RS_SIM_GRAPH_H
#define RS_SIM_GRAPH_H

#include "sim/group.h"

struct rs_sim_graph *rs_sim_graph_capture(struct rs_sim_app *app);
void rs_sim_graph_end_capture(struct rs_sim_app *app);
/* Used by the group calls while a capture is on: takes over the launch. */
void rs_sim_graph_add(struct rs_sim_graph *graph, struct rs_sim_launch *launch);
bool rs_sim_graph_replay(struct rs_sim_app *app, struct rs_sim_graph *graph);
/* Waits for its host functions first. */
void rs_sim_graph_free(struct rs_sim_graph *graph);

#endif
