/* The proxy thread of a generated rank: its callbacks for kernels and the network.
 *
 * The timeline posts launches (one kernel each, with its operations and their network operations). The callbacks are
 * made when the program is past them, so that later posts are interleaved, as in NCCL. It is late: mostly by some us,
 * sometimes by far more. Owns its queue; one thread. */
#ifndef RS_GEN_PROXY_H
#define RS_GEN_PROXY_H

#include "gen/slot.h"

#define RS_GEN_NEVER INT64_MAX

enum { RS_GEN_WINDOW = 8, RS_GEN_QUEUE = 64 }; /* network steps in flight; launches that wait */

struct rs_gen_truth;

/* One Coll or P2p of a launch. */
struct rs_gen_event {
    uint64_t handle;
    uint64_t op; /* number in the truth */
    uint64_t kernels; /* handle of its first KernelCh; the others follow */
    uint8_t first_channel, nchannels; /* 0: no KernelCh, as for sends to oneself */
};

/* One network operation: one direction of one channel of one of them. */
struct rs_gen_net {
    uint64_t parent, op;
    uint64_t handle; /* its ProxyOp */
    uint64_t steps[RS_GEN_WINDOW]; /* handles */
    uint64_t bytes; /* of a step */
    int peer;
    uint8_t channel;
    bool send;
    bool fed_late; /* its data come over a slower link upstream */
    /* of a launch that never ends */
    int done; /* steps that went through */
    uint8_t state; /* that the next one stays in */
};

struct rs_gen_launch {
    uint32_t ctx;
    int rank; /* in the communicator */
    uint32_t pid;
    int64_t post; /* the program gave it to the proxy */
    int64_t start, transfer, end; /* of the kernel; RS_GEN_NEVER */
    int64_t net_end; /* the last step is through */
    double fed_part; /* share of a step's time due to slow feeding */
    bool p2p, appended, progress; /* progress: its network operations are begun, whatever the kernel does */
    struct rs_gen_event *events;
    struct rs_gen_net *nets;
    int nevents, nnets, events_cap, nets_cap;
    struct rs_gen_rng rng; /* for how late its callbacks are */
};

struct rs_gen_proxy {
    struct rs_gen_slot *slot;
    struct rs_gen_gpu *gpu;
    struct rs_gen_view view; /* of the GPU's timer */
    struct rs_gen_truth *truth;
    int rank; /* of the job */
    int net_steps;
    struct rs_gen_rng rng; /* of the launch at the head of the queue */
    uint64_t bits; /* random bits not used yet */
    int64_t cursor; /* its latest callback */
    int64_t net_free; /* its connections are done with everything so far */
    struct rs_gen_launch *queue;
    uint32_t head, count;
};

void rs_gen_proxy_init(struct rs_gen_proxy *proxy, struct rs_gen_gpu *gpu, int rank, int net_steps);
void rs_gen_proxy_free(struct rs_gen_proxy *proxy);

/* An empty launch at the end of the queue, to be filled in. */
struct rs_gen_launch *rs_gen_proxy_push(struct rs_gen_proxy *proxy, int nevents, int nnets);
/* Makes the callbacks of all launches that ended before `t`. */
void rs_gen_proxy_until(struct rs_gen_proxy *proxy, int64_t t);

#endif
