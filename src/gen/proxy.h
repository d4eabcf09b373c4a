/* The proxy thread of a generated rank: its callbacks for kernels and the network.
 *
 * The timeline posts launches (one kernel each, with its operations and their network operations), in order on each
 * stream. The callbacks of all streams are made in the order of their times, when the program is past them, so that
 * later posts are interleaved, as in NCCL. It is late: mostly by some us, sometimes by far more. Owns its queues; one
 * thread. */
#ifndef RS_GEN_PROXY_H
#define RS_GEN_PROXY_H

#include "gen/slot.h"

#define RS_GEN_NEVER INT64_MAX

enum { RS_GEN_WINDOW = 8, RS_GEN_QUEUE = 64 }; /* network steps in flight; launches that wait */

/* Streams of a GPU on which operations run: that of compute, and others for what overlaps it. */
enum rs_gen_stream { RS_GEN_MAIN, RS_GEN_SIDE, RS_GEN_BACK, RS_GEN_STREAMS };

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
    bool late_credit; /* its receiver posts late: the sender has the data and waits for credit */
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
    double fed_part; /* share of a step's time due to slow feeding or late credit */
    bool p2p, appended, progress; /* progress: its network operations are begun, whatever the kernel does */
    bool pending; /* a send whose receiver has not come yet: its times are not known, except for the post */
    /* its callbacks so far */
    bool begun, early, fed;
    uint8_t phase; /* the next ones */
    int step, most; /* network steps: the next one, their number */
    int64_t each; /* ns of one; 0: not known yet */
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
    struct rs_gen_rng rng; /* of the launch whose callbacks are made */
    uint64_t bits; /* random bits not used yet */
    int64_t cursor; /* its latest callback */
    struct rs_gen_lane {
        int64_t net_free; /* its connections are done with everything so far */
        struct rs_gen_launch *queue; /* NULL: not used yet */
        uint32_t head, count, cap; /* cap: a power of 2 */
    } lanes[RS_GEN_STREAMS];
    int nlanes; /* that may be in use */
};

void rs_gen_proxy_init(struct rs_gen_proxy *proxy, struct rs_gen_gpu *gpu, int rank, int net_steps);
void rs_gen_proxy_free(struct rs_gen_proxy *proxy);

/* An empty launch at the end of the stream's queue, to be filled in. */
struct rs_gen_launch *rs_gen_proxy_push(struct rs_gen_proxy *proxy, enum rs_gen_stream stream, int nevents, int nnets);
/* The first pending launch of a stream, to be completed; NULL: none. */
struct rs_gen_launch *rs_gen_proxy_pending(struct rs_gen_proxy *proxy, enum rs_gen_stream stream);
/* Makes the callbacks of what happened before `t`. */
void rs_gen_proxy_until(struct rs_gen_proxy *proxy, int64_t t);

#endif
