/* The generated job: where ranks run, its communicators, and the progress of each rank.
 *
 * Created from the config; the timeline (op.c) then advances it, operation by operation. Owns hosts, GPUs, recordings
 * and communicators until rs_gen_job_free(). One thread. Times are true ns since the start. */
#ifndef RS_GEN_JOB_H
#define RS_GEN_JOB_H

#include "gen/gen.h"
#include "gen/proxy.h"
#include "gen/slot.h"

/* Functions of operations; those of point to point last. */
enum rs_gen_func {
    RS_GEN_ALLREDUCE,
    RS_GEN_ALLGATHER,
    RS_GEN_REDUCESCATTER,
    RS_GEN_BROADCAST,
    RS_GEN_COLLS,
    RS_GEN_SEND = RS_GEN_COLLS,
    RS_GEN_RECV,
    RS_GEN_FUNCS,
};
extern const char *const rs_gen_func_names[RS_GEN_FUNCS];

enum { RS_GEN_AHEAD = 12 }; /* operations that a program may be ahead of its GPU */

/* What random numbers of a rank are for. */
enum rs_gen_purpose {
    RS_GEN_FOR_COMPUTE,
    RS_GEN_FOR_PAUSE,
    RS_GEN_FOR_CALL,
    RS_GEN_FOR_LAUNCH,
    RS_GEN_FOR_END,
    RS_GEN_FOR_PROXY,
    RS_GEN_PURPOSES,
};

struct rs_gen_comm {
    uint64_t hash;
    char name[32];
    int n, nnodes;
    int *ranks; /* of the job, by rank in the communicator */
    uint32_t *ctx; /* context index in the rank's process, by rank in the communicator */
    int parent, child_count, color; /* parent -1: none */
    uint64_t seq[RS_GEN_COLLS];
    uint32_t *pairs; /* sends so far, n * n; NULL before the first */
    double slow; /* factor of its ring: that of its slowest link */
    double credit; /* ns by which the credit of its latest receiver is late */
};

struct rs_gen_process {
    int first_rank; /* devices_per_process of them */
    struct rs_gen_host *host;
    int host_index;
    uint32_t pid, tid;
    struct rs_gen_file file;
    bool recorded;
    struct rs_gen_slot *a, *h; /* the program's thread; CUDA's host-function thread (graphs) */
    uint32_t contexts; /* used so far */
    int64_t cpu; /* the program may call from here on */
    int64_t h_free; /* CUDA's thread is done with everything so far */
    int64_t ends[RS_GEN_AHEAD]; /* of its latest operations on the GPU */
    uint64_t nends;
    bool detail, call_detail; /* kernels and proxy events are requested; were, at the latest call */
    int64_t late_step; /* events are requested from this step on; 0 = always */
    /* in a hang */
    bool gone; /* makes no more calls */
    bool stuck; /* one of its GPUs waits forever */
    int ahead; /* calls that it still makes */
    int64_t died; /* >= 0: heartbeat ends here */
};

struct rs_gen_rank {
    int process, host, local; /* local: its index on the host */
    struct rs_gen_gpu gpu;
    struct rs_gen_proxy proxy;
    int64_t gpu_free; /* its GPU's main stream is done with everything so far */
    int64_t side_free[RS_GEN_STREAMS]; /* the same of other streams; [RS_GEN_MAIN] is not used */
    int64_t compute; /* ns to compute before the next operation */
    double pace; /* factor of its compute */
    double slow_ns, slow_cpu_ns; /* added in every step */
    double credit_ns; /* by which it posts receives late */
    int64_t late_call; /* slow_cpu_ns of this step, until the first call */
    double bias; /* of its ends, ns */
    bool stuck; /* its GPU waits forever */
    uint64_t noise; /* of this step: see rs_gen_noise() */
    uint32_t drawn[RS_GEN_PURPOSES]; /* in this step */
    double cost; /* ns caused by being last */
};

struct rs_gen_job {
    const struct rs_gen_config *cfg;
    struct rs_gen_disk disk;
    struct rs_gen_host *hosts;
    double *host_cost;
    struct rs_gen_process *procs;
    int nprocs;
    struct rs_gen_rank *ranks;
    struct rs_gen_comm *comms;
    int ncomms;
    int world, tp, dp, pp, second; /* first of their kind, or -1 */
    int forward, backward; /* the same, of two ranks each: in the order of their senders */
    int stages, tensor; /* of a pipeline; ranks that share its layers */
    double net_pace; /* factor of all transfers */
    int64_t step;
    uint64_t ops; /* numbered so far */
    uint64_t fanouts;
    /* scratch of op.c, by member */
    int64_t *start, *end, *kl, *post;
    uint64_t *handle;
    uint8_t *fate;
    bool hung; /* the hang has happened, */
    int64_t hung_step; /* in this step, */
    int hung_member; /* by this rank of the communicator */
    struct rs_gen_truth *truth; /* NULL: none */
};

/* Fails with RS_BAD_INPUT if the config is invalid. */
enum rs_status rs_gen_job_init(struct rs_gen_job *job, const struct rs_gen_config *cfg, struct rs_err *err);
void rs_gen_job_free(struct rs_gen_job *job);

/* Events are requested from a process from `t` on. */
void rs_gen_job_ask(struct rs_gen_job *job, struct rs_gen_process *process, int64_t t);

/* At the end of a group call: a window of detail begins or ends. */
void rs_gen_job_detail(struct rs_gen_job *job, struct rs_gen_process *process, int64_t t);

/* Ends all recordings: closed after `end`, or as after a hang. */
void rs_gen_job_close(struct rs_gen_job *job, int64_t end);

/* Callbacks kept and lost so far. */
uint64_t rs_gen_job_callbacks(const struct rs_gen_job *job, uint64_t *lost);

static inline struct rs_gen_process *rs_gen_process_of(struct rs_gen_job *job, int rank)
{
    return &job->procs[job->ranks[rank].process];
}
/* The random numbers for the n-th operation (or stretch of compute) of a rank in its step. They depend on the seed, the
 * rank, the step, n and the purpose only: a fault changes when things happen, but not the noise, so the same seed
 * without the fault is the same run without the fault. */
static inline struct rs_gen_rng rs_gen_noise(struct rs_gen_job *job, int rank, enum rs_gen_purpose purpose)
{
    struct rs_gen_rank *r = &job->ranks[rank];
    uint64_t n = (uint64_t)r->drawn[purpose]++ * RS_GEN_PURPOSES + purpose;
    return (struct rs_gen_rng){r->noise + n * 0x9e3779b97f4a7c15u};
}
/* Begins the noise of step job->step. */
void rs_gen_job_noise(struct rs_gen_job *job);
/* Whether two ranks of the job communicate over the network. */
static inline bool rs_gen_remote(const struct rs_gen_job *job, int a, int b)
{
    return job->ranks[a].host != job->ranks[b].host;
}
/* How much slower the link between two ranks of the job is: 1 = not. */
double rs_gen_link_factor(const struct rs_gen_job *job, int a, int b);

#endif
