/* The proxy of a communicator: the thread that progresses network operations and reports kernels.
 *
 * A proxy belongs to the communicator that created it, and to the split children that share it; the last to leave ends
 * it. Its threads start with the first work. "Progress" handles the network and, up to version 6 of the interface,
 * KernelCh; from version 7 on KernelCh and KernelPhase come from a second thread. post may be called from any
 * thread. */
#ifndef RS_SIM_PROXY_H
#define RS_SIM_PROXY_H

#include "sim/adapter.h"
#include "sim/gpu.h"

/* One piece of work: a network operation, or watching the kernel of one Coll or P2p. */
struct rs_sim_post {
    struct rs_sim_post *next;
    struct rs_sim_kernel *kernel; /* holds a reference; NULL for a network operation */
    struct rs_sim_netop op; /* of a watch only ctx, parent, mask and channels are used */
};

struct rs_sim_proxy;

/* `comm` and `ctx` are of the communicator that creates it; `plugin` must stay loaded while it exists. */
struct rs_sim_proxy *rs_sim_proxy_new(const struct rs_sim_job *job, struct rs_sim_plugin *plugin, int rank, int comm,
                                      void *ctx);
/* A split child shares it. */
void rs_sim_proxy_share(struct rs_sim_proxy *px, int comm);
/* The last one waits for the work to be done (or, after an abort, drops it) and ends the threads. */
void rs_sim_proxy_leave(struct rs_sim_proxy *px);

/* Takes over a list of posts made by rs_sim_post_new(). */
void rs_sim_proxy_post(struct rs_sim_proxy *px, struct rs_sim_post *list);
struct rs_sim_post *rs_sim_post_new(void);

/* Under PXN a proxy must run before it has work of its own. */
void rs_sim_proxy_wake(struct rs_sim_proxy *px);

#endif
