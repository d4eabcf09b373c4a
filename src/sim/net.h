/* Network operations of a proxy: their steps, and the ProxyOp, ProxyStep and NetPlugin events they make.
 *
 * A run is one operation in progress on one proxy thread, which owns it; it touches only shared memory and the plugin, so
 * that an operation of another process (PXN) is no different. Steps depend on each other across ranks: a send needs its
 * GPU to have started, the ring's data to have come round, and the receiver's credit; a receive needs the data. */
#ifndef RS_SIM_NET_H
#define RS_SIM_NET_H

#include "sim/adapter.h"

struct rs_sim_netrun;

/* Starts the ProxyOp events; as many as the operation has channels. */
struct rs_sim_netrun *rs_sim_net_begin(const struct rs_sim_job *job, struct rs_sim_plugin *plugin,
                                       const struct rs_sim_netop *op);
void rs_sim_net_free(struct rs_sim_netrun *run);

/* Whether the two use a common channel of the same connection: then the later one has to wait. */
bool rs_sim_net_collide(const struct rs_sim_netrun *a, const struct rs_sim_netrun *b);

/* Does what can be done now. *moved is set when something was; *deadline is lowered to the next time at which something
 * will be without anybody ringing. Returns true when the operation is over and its events are stopped. */
bool rs_sim_net_progress(struct rs_sim_netrun *run, bool *moved, uint64_t *deadline);

#endif
