/* The model of a run, on which all commands work, whatever the input was.
 *
 * Importers fill it (processes, communicators, members, parts), src/join adds what connects ranks (operations, clocks,
 * families), src/analyse only reads it. Operations are in memory, events are not: network steps and kernel channels are
 * folded into the part of the operation while reading, so memory grows with operations.
 *
 *   host 1-n process 1-n member n-1 comm        member: one rank of one communicator, in one process, on one device
 *                           |1-n          |1-n
 *                         part  n----1   op           part: what one rank did in one operation
 *
 * Times are int64_t ns. Importers store each in its own clock; rs_clocks_align() (join/clocks.h) converts all of them
 * in place to the common axis, once, and sets `model.aligned`. RS_TIME_NONE is "unknown". Everything is owned by the
 * model until rs_model_free(); indexes are stable, pointers into tables only until the next add. One thread at a
 * time. */
#ifndef RS_MODEL_MODEL_H
#define RS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/texts.h"
#include "model/activities.h"
#include "model/axis.h"
#include "model/bounds.h"
#include "model/extras.h"
#include "model/operations.h"
#include "model/tools.h"

#define RS_TIME_NONE INT64_MIN
#define RS_TIME_WALL INT64_C(1000000000000000000) /* ns since 1970, in 2001: earlier times are not wall time */
#define RS_NONE UINT32_MAX /* no such row */

/* Differences and sums of times that may come from damaged input: they wrap instead of trapping. */
static inline int64_t rs_time_minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t rs_time_plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
/* Whether it may be a duration. More than 20 hours is damage: sums do not overflow. */
static inline bool rs_time_is_span(int64_t from, int64_t to)
{
    return from <= to && (uint64_t)to - (uint64_t)from <= UINT64_C(1) << 46;
}

/* ---- clocks ---- */

enum rs_domain_kind { RS_DOMAIN_HOST, RS_DOMAIN_GPU };

/* A clock: a host's CPU clock, or a GPU's timer. */
struct rs_domain {
    enum rs_domain_kind kind;
    uint32_t host;
    uint32_t host_domain; /* of a GPU: its host's clock */
    uint8_t uuid[16]; /* of a GPU; zeros: unknown, and then the clock is of one process only */
    struct rs_bounds *bounds; /* of a GPU: against its host's clock; NULL: no timer was seen */
    bool rigid; /* of a GPU: its times are on its host's clock already (converted by a tool), so they share one axis */
    uint64_t stale; /* timers of other operations: marked, not used */
    uint64_t overruns; /* timers read after the GPU had reused their slot of the ring */
    uint64_t timers; /* read in all */
    /* From join/clocks.h: */
    struct rs_axis axis; /* to the common axis */
    int64_t error_ns; /* of the axis; RS_TIME_NONE: not aligned with the others */
    uint8_t method; /* enum rs_clock_method */
    uint32_t island; /* clocks of the same island can be compared */
    double drift_ppm; /* against the common axis, over the whole run */
    int64_t spread_ns; /* of the ends that were fitted (MAD); RS_TIME_NONE: none */
    int64_t hull_low_ns, hull_high_ns; /* how far the axis could be moved down (<= 0) and up (>= 0) before an effect
                                          preceded its cause; RS_TIME_NONE: no bound */
    uint32_t fitted; /* ends that were fitted */
};

enum rs_clock_method {
    RS_CLOCK_NONE, /* unchanged: --no-align, or no information */
    RS_CLOCK_REFERENCE, /* the clock that defines the axis */
    RS_CLOCK_ENDS, /* ends of symmetric collectives */
    RS_CLOCK_PAIRS, /* ends of sends and receives: less accurate */
    RS_CLOCK_BOUNDS, /* a host's, through the bounds of its GPUs; or a GPU's, through its host's */
    RS_CLOCK_WALL, /* shares no operation with the others: wall time */
    RS_CLOCK_OVERLAY, /* through the same operations in the primary source */
    RS_CLOCK_UNSHIFTED, /* wall time, unchanged: no operation contradicts it */
};

/* ---- hosts and processes ---- */

struct rs_host {
    const char *name; /* "": unknown; see rs_host_name() */
    const char *boot; /* its identity: the boot id (and the name, if only that distinguishes it) */
    uint32_t domain;
};

enum rs_proc_end {
    RS_END_WELL, /* closed */
    RS_END_IDLE, /* all communicators destroyed, not closed */
    RS_END_ALIVE, /* still running */
    RS_END_KILLED, /* not closed, not running */
    RS_END_REPLACED, /* not closed: it called execve, and runs as another program */
};

/* When events of these types were recorded. Outside is "not recorded", never "did not happen". */
struct rs_cover {
    int64_t from, to; /* host ns */
    uint64_t mask; /* NCCL's event type bits */
};

/* Lost callbacks of a thread, with the number of starts of operations among them. */
struct rs_gap {
    int64_t from, to; /* host ns */
    uint32_t colls, p2ps, others; /* starts of Coll; of P2p; other callbacks */
};

/* A thread that called, or launched, for a communicator. */
struct rs_caller {
    uint32_t tid, member;
};

struct rs_proc {
    uint32_t host;
    uint32_t pid;
    uint8_t tool; /* enum rs_tool */
    uint32_t nonce;
    uint64_t pid_namespace;
    const char *path; /* of its input */
    int32_t launcher_rank; /* set by SLURM, torchrun, mpirun; -1: unknown */
    const char *nccl_version; /* NULL: unknown */
    int64_t begin, end; /* host ns: recording began; last sign of life (heartbeat) */
    int64_t first, last; /* host ns of the first and last callback kept; RS_TIME_NONE: none */
    uint8_t ended; /* enum rs_proc_end */
    bool complete; /* nothing lost, overwritten or damaged */
    bool end_missing; /* its newest records were lost with it, or are in a live file that was not found */
    uint64_t callbacks, lost, overwritten, damaged;
    int64_t overwritten_until; /* host ns: earlier callbacks may be overwritten; RS_TIME_NONE: none are */
    int64_t cut_until; /* host ns: earlier callbacks may not be in the cut (export --format rsc); RS_TIME_NONE: none */
    struct rs_cover *covers;
    struct rs_gap *gaps; /* by time */
    bool windows; /* kernels (KernelCh) were requested a part of the time only */
    bool calls; /* a recording with API calls */
    struct rs_caller *callers; /* each pair once; of recordings with calls or launches */
    uint32_t ncovers, ngaps, ncallers;
    uint64_t *stale; /* bits: which of its GPU timers are of another operation; see below */
    size_t nstale; /* words */
    bool active_only; /* a dump that lists pending operations only: what it called and does not list has completed */
    bool drops; /* the tool drops events silently: what is absent was not recorded, whatever covers and gaps say */
    int64_t clock_error_ns; /* of its ticks on the host's clock */
    uint32_t same; /* the same process in its primary source (join/overlay.h); RS_NONE: this is it */
};

/* GPU timers of kernels (KernelCh) are numbered per recording, in the order of their callbacks. The importer decides
 * once whether a timer is of its own kernel. */
void rs_proc_set_stale(struct rs_proc *p, uint64_t timer);
static inline bool rs_proc_is_stale(const struct rs_proc *p, uint64_t timer)
{
    return timer / 64 < p->nstale && (p->stale[timer / 64] >> timer % 64 & 1);
}

/* ---- communicators ---- */

/* The source of the time of a communicator's creation or end. */
enum rs_life_source {
    RS_LIFE_EVENT, /* recorded */
    RS_LIFE_FIRST_INIT, /* zero of the process's clock is its first init */
    RS_LIFE_LAST_SLEEP, /* the proxy thread woke from its last sleep: destruction began */
};

struct rs_member {
    uint32_t comm;
    int32_t rank; /* in the communicator; -1: unknown (v1 to v3 before its first operation) */
    int32_t global_rank; /* in the job; -1: unknown */
    uint32_t rank_id; /* its row of `ranks`; RS_NONE: unknown */
    uint32_t place; /* row of `ranks`: the first on its device of its process; RS_NONE: its process is unknown */
    uint32_t proc;
    uint32_t gpu; /* domain; RS_NONE: unknown */
    int32_t device; /* CUDA device number; -1: unknown */
    uint8_t uuid[16];
    char bus_id[32];
    uint64_t context;
    uint64_t asked; /* 1 + the number of its last collective, if a tool reports it; 0: unknown */
    /* 1 + the numbers of its last enqueued and last completed call, as a dump's summary has them; 0: unknown. Of a
     * communicator with sends and receives they may count those instead. */
    uint64_t enqueued, completed;
    int64_t created, destroyed; /* host ns; RS_TIME_NONE: not seen */
    uint8_t created_from, destroyed_from; /* enum rs_life_source */
    uint32_t next; /* of the same communicator, by rank; RS_NONE: the last */
};

/* A rank of the job: what the communicators of one GPU of one process have in common. Waiting in one of them makes it
 * late in the others. Created, numbered and counted only by join/ranks.h. */
struct rs_rank {
    int32_t number; /* in the job; -1: unknown */
    uint32_t proc; /* of the primary source */
    uint32_t host;
    uint32_t member; /* its first, of the primary source; RS_NONE: it is in no communicator */
    uint32_t gpu; /* domain; RS_NONE: unknown */
    int32_t device; /* CUDA device number; -1: unknown */
    uint32_t tools; /* bits by enum rs_tool: the tools that saw it */
};

/* Where a communicator comes from. */
struct rs_parent {
    uint32_t comm; /* RS_NONE: none is known */
    int32_t count; /* of the parent's children at that time; -1: unknown */
    int32_t color;
    bool from_ranks; /* the color is PyTorch's hash of the rank list */
    uint64_t hash; /* of the parent, as reported by a tool; 0: unknown */
};

enum { RS_ASSUMED_CONFIDENCE = 90 }; /* of operations of an assumed communicator, in percent */

struct rs_comm_row {
    uint64_t hash; /* 0: unknown (an old plugin interface) */
    bool made_up; /* the tool does not report NCCL's hash: this one is made from the process group's name and ranks */
    bool assumed; /* the tool does not report its ranks: they are taken to be all ranks of the job */
    uint8_t tool; /* enum rs_tool */
    const int32_t *ranks; /* global rank of each rank, nranks of them; NULL: unknown */
    uint32_t incarnation; /* of the same hash: 0 the first */
    uint32_t over; /* the same communicator in the primary source; RS_NONE: this is it */
    uint32_t view; /* list of the same communicator in other sources: the first, then the next; RS_NONE: no more */
    const char *name; /* NULL: none */
    int32_t nranks, nnodes; /* -1: unknown */
    uint32_t first_member; /* the lowest rank recorded, then members[].next */
    uint32_t nmembers; /* recorded */
    struct rs_parent parent;
    uint32_t class; /* index into classes */
    bool vague; /* which rank some of its members are is unknown (join/ranks.h) */
};

/* Communicators of equal shape: "64 x 8 consecutive ranks". */
struct rs_class {
    int32_t nranks, stride; /* stride of global ranks; 0: irregular or unknown; 1: consecutive */
    uint32_t comms; /* number of them */
    const char *name; /* the common part of their names ("tp"), or NULL */
    const char *text; /* "8 consecutive ranks (tp), 64 times" */
};

/* An event of a part that had started and not stopped when its recording ended: shows where a job hangs. */
struct rs_open {
    uint32_t part; /* RS_NONE: its operation is unknown */
    uint32_t proc; /* whose recording contains it: the helper's under PXN */
    uint64_t type; /* RS_KERNEL_CH, RS_PROXY_OP or RS_PROXY_STEP of nccl/abi.h */
    int64_t since; /* host ns of its latest change */
    int32_t channel, peer, step, state; /* step and state of a ProxyStep; -1: none */
    int32_t steps, done; /* of the ProxyOp: announced, and finished */
    bool is_send;
};

/* What one rank exchanged with a peer in a time range. Times are sums over steps. */
struct rs_net {
    uint32_t member;
    int32_t peer; /* rank in the communicator */
    int64_t from, to; /* host ns */
    int64_t gpu_ns, credit_ns, send_ns; /* sends: own GPU, peer's credit, network */
    int64_t recv_ns, flush_ns, consume_ns; /* receives: sender or network, flush, own GPU */
    uint64_t sent_bytes, sent, received_bytes, received; /* bytes and messages (steps) */
};

/* Times of consecutive messages (network steps) of similar size from one rank to one peer: a sample of them. */
enum { RS_NET_SAMPLE = 16 };
struct rs_net_sample {
    uint32_t member;
    int32_t peer; /* rank in the communicator */
    int64_t from, to; /* host ns */
    uint32_t messages; /* in all */
    uint8_t size; /* the power of two below or at their bytes */
    bool sent; /* else received */
    uint8_t n;
    uint32_t
        ns[RS_NET_SAMPLE]; /* sent: on the network, where the peer's credit was there; received: waiting for data */
};

/* A note for the user. */
struct rs_model_note {
    const char *text;
};

#define RS_TABLE(type, name)                                                                                           \
    type *name;                                                                                                        \
    uint32_t n##name, cap_##name
struct rs_model {
    struct rs_arena arena; /* texts, knots, small lists */
    struct rs_texts strings; /* of NCCL's facts; see rs_model_string() */
    struct rs_texts names; /* of other tools; see rs_model_name() */
    RS_TABLE(struct rs_domain, domains);
    RS_TABLE(struct rs_host, hosts);
    RS_TABLE(struct rs_proc, procs);
    RS_TABLE(struct rs_comm_row, comms);
    RS_TABLE(struct rs_member, members);
    RS_TABLE(struct rs_rank, ranks); /* by number, then those without one */
    RS_TABLE(struct rs_class, classes);
    RS_TABLE(struct rs_open, opens);
    RS_TABLE(struct rs_net, nets);
    RS_TABLE(struct rs_net_sample, net_samples); /* those of one member, peer, size and direction: in order of time */
    RS_TABLE(struct rs_lane, lanes);
    RS_TABLE(struct rs_stat, stats);
    RS_TABLE(struct rs_metric, metrics);
    RS_TABLE(struct rs_tag, tags);
    RS_TABLE(struct rs_cut_number, cut_numbers);
    RS_TABLE(struct rs_spot, spots);
    RS_TABLE(struct rs_answer, answers); /* of a health service, and what they say: */
    RS_TABLE(struct rs_condition, conditions);
    RS_TABLE(struct rs_progress, progress);
    struct rs_activities activities;
    RS_TABLE(struct rs_model_note, notes);
    RS_TABLE(uint32_t, order); /* parts, operation by operation */
    struct rs_parts parts;
    struct rs_ops ops;
    struct rs_map comm_index; /* hash (and tool) -> comm, of the newest incarnation */
    struct rs_map member_index; /* comm << 32 | rank -> member; see rs_comm_member() */
    bool same_host; /* the user says that all wall-time traces without a host name are of one host (join/join.c) */
    bool aligned;
    bool joined; /* `begin` and `end` are set, by join/run_span.h */
    int64_t begin, end; /* see rs_model_begin() */
    int32_t world; /* ranks of the job, recorded or not; -1: unknown */
    int32_t least_ranks; /* the job has at least so many, as a health service counts them; 0: unknown */
    uint64_t callbacks; /* read in all */
};

void rs_model_free(struct rs_model *m); /* a zeroed model is an empty one */

/* Each adds a row, zeroed except for the arguments, and sets *index. */
void rs_model_host(struct rs_model *m, const char *name, const char *boot,
                   uint32_t *index); /* an existing one, or new with its clock */
void rs_model_gpu(struct rs_model *m, uint32_t host, const uint8_t uuid[16],
                  uint32_t *domain); /* an existing one of that uuid, or new; zeros: always new */
void rs_model_proc(struct rs_model *m, uint32_t *index);
void rs_model_comm(struct rs_model *m, uint64_t hash, uint32_t *index); /* of a recording; always new */
/* The communicator with this hash of another tool: an existing one, or new. */
void rs_model_comm_of(struct rs_model *m, enum rs_tool tool, uint64_t hash, uint32_t *index);
void rs_model_member(struct rs_model *m, uint32_t comm, uint32_t *index);
void rs_model_rank(struct rs_model *m, uint32_t *index);
void rs_model_class(struct rs_model *m, uint32_t *index);
void rs_model_open(struct rs_model *m, const struct rs_open *row);
void rs_model_net(struct rs_model *m, const struct rs_net *row);
void rs_model_net_sample(struct rs_model *m, const struct rs_net_sample *row);
void rs_model_order(struct rs_model *m, uint32_t part);

/* After all members were added: links those of each communicator by rank, for rs_comm_member(). */
void rs_model_link(struct rs_model *m);

/* The id of a text (NULL: 0). There are RS_TEXTS_SMALL at most; the rest share the id of "?". */
void rs_model_string(struct rs_model *m, const char *text, uint16_t *id);
static inline const char *rs_model_text(const struct rs_model *m, uint16_t id)
{
    return rs_texts_at(&m->strings, id);
}
enum rs_status rs_model_note(struct rs_model *m, struct rs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- lookups ---- */

static inline const struct rs_proc *rs_part_proc(const struct rs_model *m, uint32_t part)
{
    return &m->procs[m->members[m->parts.member[part]].proc];
}
static inline uint32_t rs_member_host_domain(const struct rs_model *m, uint32_t member)
{
    return m->hosts[m->procs[m->members[member].proc].host].domain;
}
/* The same process in its primary source. */
uint32_t rs_proc_lead(const struct rs_model *m, uint32_t proc);
/* A host's name; NULL: unknown. The label, for messages and tables, is then its file. */
const char *rs_host_name(const struct rs_model *m, uint32_t host);
const char *rs_host_label(const struct rs_model *m, uint32_t host);
/* Whether its end is known, and is the end of all its work, so that others can be compared with it. */
static inline bool rs_part_has_ended(const struct rs_model *m, uint32_t part)
{
    bool early = (m->parts.flags[part] & RS_PART_END_EARLY) && m->parts.end_source[part] == RS_FROM_KERNEL;
    return m->parts.end[part] != RS_TIME_NONE && !early;
}
/* Whether callbacks after the last one may not be in the cut (export --format rsc). */
static inline bool rs_proc_end_is_cut(const struct rs_proc *p)
{
    return p->cut_until != RS_TIME_NONE && (p->last == RS_TIME_NONE || p->cut_until > p->last);
}

/* Whether a primary source has the same operation, which counts instead. */
static inline bool rs_part_is_secondary(const struct rs_model *m, uint32_t part)
{
    return m->parts.op[part] != RS_NONE && m->ops.over[m->parts.op[part]] != RS_NONE;
}
/* The member of a rank of a communicator; RS_NONE: not recorded. */
uint32_t rs_comm_member(const struct rs_model *m, uint32_t comm, int32_t rank);
/* The run's first and last event on the common axis; RS_TIME_NONE: unknown. The first is time zero of all relative
 * times, in all outputs and in --from, --to and --at. Before the join: the first and last sign of life of a process,
 * each on its own clock. */
int64_t rs_model_begin(const struct rs_model *m);
int64_t rs_model_end(const struct rs_model *m);

#endif
