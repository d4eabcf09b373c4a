/* A synthetic run of any size, with its truth: recordings of all processes, written directly.
 *
 * rs_gen_run() computes the timeline of a job in true time, derives the readings of all clocks and the records of all
 * recorders, and writes them as chunks, without a plugin, processes or waiting. Operations are computed in order and
 * dropped, so memory does not grow with the length of the job. The same config gives the same bytes. The caller owns
 * the config and its strings. One run at a time; nothing is printed. */
#ifndef RS_GEN_GEN_H
#define RS_GEN_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "format/settings.h"

enum {
    RS_GEN_MAX_RANKS = 16384,
    RS_GEN_MAX_CHANNELS = 64,
    RS_GEN_MAX_NET_STEPS = 4096,
    RS_GEN_MAX_EACH = 32, /* of each disturbance */
};

enum rs_gen_workload {
    RS_GEN_DDP,
    RS_GEN_TPDP,
    RS_GEN_PIPELINE,
    RS_GEN_ALLTOALL,
    RS_GEN_GRAPH,
    RS_GEN_MIX, /* the ones above in turn */
    RS_GEN_TPPPDP,
    RS_GEN_WORKLOADS, /* their number */
};
extern const char *const rs_gen_workload_names[RS_GEN_WORKLOADS];

enum rs_gen_schedule {
    RS_GEN_GPIPE,
    RS_GEN_1F1B,
    RS_GEN_INTERLEAVED,
    RS_GEN_SCHEDULES, /* their number */
};
extern const char *const rs_gen_schedule_names[RS_GEN_SCHEDULES];

enum rs_gen_hang {
    RS_GEN_NO_HANG,
    RS_GEN_DEAD, /* the process dies in the middle of the operation */
    RS_GEN_NOT_JOINED, /* the rank never calls it */
    RS_GEN_OUTSIDE, /* every operation is complete, and no more are called */
    RS_GEN_MISMATCH_COUNT,
    RS_GEN_MISMATCH_FUNC,
    RS_GEN_STREAM_BLOCKED, /* launched, never started */
    RS_GEN_STALLED_NET,
    RS_GEN_STALLED_CREDIT,
    RS_GEN_STALLED_GPU,
    RS_GEN_DEADLOCK, /* two communicators in inverse order; both calls are made */
    RS_GEN_DEADLOCK_SYNC, /* the same, with programs that wait for the first before they call the second */
    RS_GEN_HANGS, /* their number */
};
extern const char *const rs_gen_hang_names[RS_GEN_HANGS]; /* [0] is NULL */

/* Noise of compute: what each stretch of compute before an operation takes longer or shorter. */
enum rs_gen_shape {
    RS_GEN_GAUSS,
    RS_GEN_FOLDED, /* Gaussian, without its sign */
    RS_GEN_TAILS, /* a part of the stretches, Pareto-distributed */
    RS_GEN_SLICES, /* a part of the stretches, always by the same: time slices of a shared GPU */
    RS_GEN_BURSTS, /* once a step, in runs of steps */
    RS_GEN_HOST, /* Gaussian, the same for all ranks of a host */
    RS_GEN_SHAPES, /* their number */
};
extern const char *const rs_gen_shape_names[RS_GEN_SHAPES];

struct rs_gen_variation {
    enum rs_gen_shape shape;
    double us;
    double part; /* tails and slices: of the stretches; bursts: of the steps */
    int steps; /* of a burst */
};

struct rs_gen_amount {
    int who; /* rank or host */
    double value; /* us, a factor, or bytes of a ring */
};
struct rs_gen_sporadic {
    int rank;
    double part, us; /* in this part of its steps it computes longer */
};

/* The program stands still before a step, and so does its GPU. */
enum rs_gen_pause_kind {
    RS_GEN_PAUSE,
    RS_GEN_PROFILER,
    RS_GEN_CHECKPOINT,
    RS_GEN_WARM_UP,
    RS_GEN_PAUSE_KINDS, /* their number */
};
extern const char *const rs_gen_pause_names[RS_GEN_PAUSE_KINDS];

struct rs_gen_pause {
    enum rs_gen_pause_kind kind;
    int rank; /* -1: all */
    int step; /* in which; checkpoint: every so many; warm-up: number of steps, each shorter than the one before */
    double us; /* warm-up: of the first step */
};
struct rs_gen_moment {
    int rank, step;
};
struct rs_gen_link {
    int a, b; /* ranks of the job */
    double factor;
};

struct rs_gen_config {
    const char *dir;
    enum rs_gen_workload workload;
    int ranks, hosts, devices_per_process;
    int64_t steps;
    int64_t callbacks; /* instead of steps: about so many; 0 = use steps */
    int channels, net_steps, api;
    bool dumps; /* of NCCL's example profiler, instead of recordings */
    bool net; /* proxy events too */
    struct rs_detail detail; /* kernels and proxy events in these windows only */
    int buckets, layers, microbatches; /* operations of a step */
    int stages; /* of a pipeline; 0: a suitable number */
    int tensor; /* ranks that share a layer: tpppdp */
    enum rs_gen_schedule schedule;
    int chunks; /* of layers on each stage: interleaved */
    int64_t eager; /* sends of up to so many bytes do not wait for their receiver */
    int64_t bytes; /* of the largest bucket */
    double compute_us; /* of a step */
    bool overlap; /* reductions run beside the compute that follows */
    double host_part; /* how long a program takes to launch its compute, as part of it; from about 1 on its GPU waits */
    bool no_world, replays_unreported;
    uint64_t seed;
    /* compute */
    double spread; /* of each stretch of compute, as part of it */
    double run_noise, rank_noise; /* by which runs, and ranks in all of their steps, differ: one sigma */
    struct rs_gen_variation noise[RS_GEN_MAX_EACH];
    int nnoise;
    /* clocks and spreads */
    double clock_offset_ms, drift_ppm, wander_ppm;
    double jitter_us, bias_us, tails; /* of the ends of operations */
    /* disturbances */
    struct rs_gen_amount slow[RS_GEN_MAX_EACH], slow_host[RS_GEN_MAX_EACH], slow_cpu[RS_GEN_MAX_EACH],
        slow_factor[RS_GEN_MAX_EACH], late_credit[RS_GEN_MAX_EACH], ring[RS_GEN_MAX_EACH];
    int nslow, nslow_host, nslow_cpu, nslow_factor, nlate_credit, nring;
    struct rs_gen_sporadic sporadic[RS_GEN_MAX_EACH];
    int nsporadic;
    struct rs_gen_pause pauses[RS_GEN_MAX_EACH];
    int npauses;
    struct rs_gen_link slow_link[RS_GEN_MAX_EACH];
    int nslow_link;
    struct rs_gen_moment mismatch[RS_GEN_MAX_EACH], late[RS_GEN_MAX_EACH];
    int nmismatch, nlate;
    int no_recording[RS_GEN_MAX_EACH];
    int nno_recording;
    double drop; /* part of the callbacks of half of the processes */
    enum rs_gen_hang hang;
    struct rs_gen_moment hang_at; /* rank -1: a suitable one */
    /* truth */
    bool no_truth, truth_times;
};

struct rs_gen_result {
    int processes; /* with a recording */
    int64_t steps;
    uint64_t operations;
    uint64_t callbacks; /* kept, over all recordings */
    uint64_t lost;
    int64_t length_ns; /* of the job, true time */
};

/* Fills in the defaults. */
void rs_gen_config_default(struct rs_gen_config *config);

/* RS_BAD_INPUT: the config is invalid. The folder must exist. */
enum rs_status rs_gen_run(const struct rs_gen_config *config, struct rs_gen_result *result, struct rs_err *err);

#endif
