/* The memory shared by the processes of a simulated job: synchronization of ranks, and counts.
 *
 * One anonymous shared mapping, created before the fork and never moved; everything in it is atomic, since any process
 * may die at any instant. Threads wait on bells: a thread reads the bell, checks its condition, and sleeps until the
 * bell was rung since or a deadline has passed. Times are CLOCK_MONOTONIC ns, the same in all processes. Any thread of
 * any process of the job may call anything here. */
#ifndef RS_SIM_SHARED_H
#define RS_SIM_SHARED_H

#include <stdatomic.h>
#include <sys/types.h>

#include "nccl/abi.h"
#include "sim/plan.h"

enum {
    RS_SIM_WORKS = 64, /* kernels of one GPU between launch and end, at most */
    RS_SIM_MEETS = 4, /* kernels of one communicator whose marks are kept: ranks are never further apart */
    RS_SIM_WINDOW = 8, /* network steps of one channel in flight */
    RS_SIM_INBOX = 64, /* PXN operations in transit to a helper */
};

struct rs_sim_bell {
    _Atomic uint32_t word;
    _Atomic uint32_t waiters;
};

/* Callbacks that were made and have returned. */
struct rs_sim_counts {
    _Atomic uint64_t init, finalize, stop, record;
    _Atomic uint64_t start[RS_NCCL_TYPE_BITS];
    _Atomic uint64_t cuda_misuse; /* CUDA calls made by the plugin where NCCL forbids them */
};

struct rs_sim_proc {
    _Atomic int plugin_version;
    struct rs_sim_bell bell;
    struct rs_sim_counts counts;
};

/* The network work of one kernel of one GPU. */
struct rs_sim_work {
    _Atomic uint64_t started; /* ordinal + 1 of the kernel that runs here */
    _Atomic uint64_t pending; /* network operations not finished */
    _Atomic uint64_t net_done_ns; /* when the last of them finished */
};

struct rs_sim_rank {
    struct rs_sim_bell gpu, proxy, app; /* for its GPU, its proxy threads, its application thread */
    struct rs_sim_work work[RS_SIM_WORKS];
};

/* How far one rank is with one kernel; the tags are the kernel's ordinal + 1. */
struct rs_sim_mark {
    _Atomic uint64_t started, start_ns;
    _Atomic uint64_t done, done_ns; /* done: started, and its network part is over */
};

/* A send and the receive that belongs to it. */
struct rs_sim_pair {
    struct rs_sim_mark send[RS_SIM_MEETS], recv[RS_SIM_MEETS];
};

/* One direction of one channel between two ranks on different hosts. Steps count over all operations. */
struct rs_sim_link {
    _Atomic uint64_t posted; /* receives posted: the sender's credit */
    _Atomic uint64_t sent;
    _Atomic uint64_t arrive_ns[2 * RS_SIM_WINDOW]; /* when step i arrives, at [i % n] */
    _Atomic uint64_t send_base, recv_base; /* steps of finished operations, by side */
};

/* A network operation: plain data, since under PXN it goes to another process. */
struct rs_sim_netop {
    pid_t pid;
    void *ctx; /* the poster's context and Coll or P2p handle */
    void *parent;
    int mask; /* latched at the API call */
    int comm;
    int owner, peer; /* ranks in the communicator */
    bool is_send;
    bool is_coll;
    int first; /* rank at which a broadcast or a reduction enters the ring; -1: data goes around */
    uint64_t op_index; /* ordinal of the collective in the communicator */
    uint64_t meet; /* ordinal of its kernel there */
    uint64_t work; /* ordinal of its kernel on the owner's GPU */
    int nsteps;
    size_t bytes; /* per channel */
    uint64_t step_ns; /* on the wire */
    int first_channel, nchannels;
};

struct rs_sim_inbox {
    _Atomic uint64_t tail; /* next place to fill */
    _Atomic uint64_t head; /* next place to take: the one reader's */
    struct {
        _Atomic uint64_t turn; /* place + 1 once it is filled */
        struct rs_sim_netop op;
    } slot[RS_SIM_INBOX];
};

struct rs_sim_shared {
    uint64_t t0; /* monotonic, and */
    uint64_t wall0; /* real time, at the start of the job */
    size_t size; /* of the mapping */
    _Atomic uint64_t abort_at; /* when ranks abort; 0 = never */
    _Atomic int abort_first; /* a rank that aborts RS_SIM_ABORT_LEAD_NS before the others, or -1 */
    _Atomic uint64_t die_at; /* when all processes exit; 0 = never */
    _Atomic int failed; /* 1 once `failure` is being written, 2 when it is there */
    char failure[512];
    _Atomic uint32_t phase_arrivals; /* processes that finished a phase, over all phases */
    size_t comm_at[RS_SIM_MAX_COMMS]; /* offsets of the areas below, from the start of the mapping */
    struct rs_sim_proc procs[RS_SIM_MAX_RANKS];
    struct rs_sim_rank ranks[RS_SIM_MAX_RANKS];
};
#define RS_SIM_ABORT_LEAD_NS UINT64_C(300000000)

/* The shared part of one communicator; the functions below access the arrays after it. */
struct rs_sim_area {
    _Atomic uint32_t arrivals; /* at barriers, over all barriers */
    _Atomic uint32_t finished[RS_SIM_MEETS]; /* ranks done with a kernel, over all uses of the place */
};

/* The context of every thread of a simulated process. */
struct rs_sim_job {
    const struct rs_sim_plan *plan;
    struct rs_sim_shared *shared;
    int process;
};

enum rs_status rs_sim_shared_init(const struct rs_sim_plan *plan, struct rs_sim_shared **out, struct rs_err *err);
void rs_sim_shared_free(struct rs_sim_shared *sh);

struct rs_sim_area *rs_sim_area(const struct rs_sim_job *job, int comm);
struct rs_sim_mark *rs_sim_meet(const struct rs_sim_job *job, int comm, uint64_t ordinal, int rank);
struct rs_sim_pair *rs_sim_pair(const struct rs_sim_job *job, int comm, int src, int dst);
struct rs_sim_link *rs_sim_link(const struct rs_sim_job *job, int comm, int src, int dst, int channel);
/* Progress of the ring at a rank: (op_index + 1) << 20 | steps received. */
_Atomic uint64_t *rs_sim_received(const struct rs_sim_job *job, int comm, int rank, int channel);
struct rs_sim_inbox *rs_sim_inbox(const struct rs_sim_job *job, int comm, int rank);

bool rs_sim_inbox_put(struct rs_sim_inbox *in, const struct rs_sim_netop *op); /* false = full */
bool rs_sim_inbox_take(struct rs_sim_inbox *in, struct rs_sim_netop *op);

uint64_t rs_sim_now(void);
void rs_sim_sleep_until(uint64_t ns);
/* The reading of a rank's GPU clock at a monotonic time. */
uint64_t rs_sim_gpu_clock(const struct rs_sim_job *job, int rank, uint64_t ns);

uint32_t rs_sim_bell_read(struct rs_sim_bell *b);
/* Returns after at most 50 ms, so that callers notice an abort. */
void rs_sim_bell_wait(struct rs_sim_bell *b, uint32_t seen, uint64_t deadline_ns);
void rs_sim_bell_ring(struct rs_sim_bell *b);
/* Rings the proxies of all ranks of a communicator on the host of one of them. */
void rs_sim_ring_host(const struct rs_sim_job *job, const struct rs_sim_comm_def *comm, int rank);

/* Whether this rank must stop waiting. */
bool rs_sim_aborted(const struct rs_sim_job *job, int rank);

/* Notes why the job failed; the first reason is kept. */
void rs_sim_failure(const struct rs_sim_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
