/* One kernel of NCCL work: from a list of tasks to the kernel on the GPU, the Group, Coll and P2p events, and the work
 * posted to the proxy.
 *
 * A launch is a value on the heap with a copy of its tasks. rs_sim_launch_kernel() is called by the thread that
 * launches, rs_sim_launch_report() afterwards by the same thread or by a host-function thread. */
#ifndef RS_SIM_LAUNCH_H
#define RS_SIM_LAUNCH_H

#include "sim/comm.h"

struct rs_sim_task {
    struct rs_sim_comm *comm;
    bool p2p;
    enum rs_sim_func func;
    enum rs_sim_dtype dtype;
    size_t count;
    size_t bytes; /* moved, as nccl-tests would count them */
    int root, peer;
    uint64_t tag;
    int mask; /* latched at the API call; 0 = nothing below the API is reported */
    void *api; /* CollApi or P2pApi handle */
    void *event; /* Coll or P2p handle */
    uint64_t op_index;
    int first_channel, nchannels;
};

struct rs_sim_launch {
    struct rs_sim_launch *next;
    struct rs_sim_comm *comm;
    bool p2p;
    bool captured; /* in a graph */
    bool ce; /* by copy engine: a kernel only for its time */
    struct rs_sim_kernel *kernel; /* a reference, once launched */
    int ntasks;
    struct rs_sim_task tasks[];
};

/* How the job ends at the next launch, if this thread's rank was chosen. */
enum rs_sim_fate { RS_SIM_GO_ON, RS_SIM_KILLED, RS_SIM_GIVES_UP };

/* Copies the tasks and assigns their channels. */
struct rs_sim_launch *rs_sim_launch_new(struct rs_sim_comm *comm, struct rs_sim_task *const *tasks, int ntasks);
struct rs_sim_launch *rs_sim_launch_copy(const struct rs_sim_launch *from);
void rs_sim_launch_free(struct rs_sim_launch *l);

/* Queues the kernel on the GPU; `gated` = it waits for rs_sim_kernel_open_gate(); `never` = it will not start. False =
 * aborted. */
bool rs_sim_launch_kernel(struct rs_sim_launch *l, bool gated, bool never);

/* Whether the proxy gets work: then a captured launch reports from a host node at each replay. */
bool rs_sim_launch_posts(const struct rs_sim_launch *l);

/* Group, Coll and P2p events, and the posts. With RS_SIM_KILLED the process kills itself in the middle. Without a
 * kernel (a captured launch that posts nothing) only the events. */
void rs_sim_launch_report(struct rs_sim_launch *l, enum rs_sim_fate fate);

#endif
