/* The model: what all commands look at, whatever the input was.
 *
 * Importers fill it (processes, communicators, members, parts), src/join adds what connects ranks (operations, clocks,
 * families), src/analyse only reads it. Operations are held in memory, events are not: what a network step or a
 * kernel's channel has to say is folded into the part of the operation while reading, so memory grows with operations.
 *
 *   host 1-n process 1-n member n-1 comm        member: one rank of one communicator, in one process, on one device
 *                           |1-n          |1-n
 *                         part  n----1   op           part: what one rank did in one operation
 *
 * Times are int64_t ns. An importer gives each in the clock it came from; rs_clocks_align() (join/clocks.h) rewrites
 * all of them in place onto the common axis, once: `model.aligned` says so. RS_TIME_NONE is "not known". Everything is
 * owned by the model until rs_model_free(); indexes are stable, pointers into tables only until the next add. One
 * thread at a time. */
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
#define RS_TIME_WALL INT64_C(1000000000000000000) /* ns since 1970, in 2001: what is earlier is no wall time */
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
/* Whether something may have lasted from one to the other. Beyond 20 hours it is damage: sums stay sums. */
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
    uint8_t uuid[16]; /* of a GPU; zeros: not known, and then the clock is one process's alone */
    struct rs_bounds *bounds; /* of a GPU: against its host's clock; NULL: no timer was seen */
    bool rigid; /* of a GPU: its times came on its host's clock (a tool had converted them), so one axis is both's */
    uint64_t stale; /* timers that were not of their operation (reference 2.7): marked, not used */
    uint64_t overruns; /* timers read after the GPU had used their slot of the ring again */
    uint64_t timers; /* read in all */
    /* What join/clocks.h found: */
    struct rs_axis axis; /* to the common axis */
    int64_t error_ns; /* of the axis; RS_TIME_NONE: not aligned with the others */
    uint8_t method; /* enum rs_clock_method */
    uint32_t island; /* clocks of one number can be compared with each other */
    double drift_ppm; /* against the common axis, over the whole run */
    int64_t spread_ns; /* of the ends that were fitted (MAD); RS_TIME_NONE: none */
    int64_t hull_low_ns, hull_high_ns; /* how far the axis could be moved down (<= 0) and up (>= 0) before an effect
                                          came before its cause; RS_TIME_NONE: nothing bounds it */
    uint32_t fitted; /* ends that were fitted */
};

enum rs_clock_method {
    RS_CLOCK_NONE, /* as it came: --no-align, or nothing to go by */
    RS_CLOCK_REFERENCE, /* the clock that the axis hangs on */
    RS_CLOCK_ENDS, /* ends of symmetric collectives */
    RS_CLOCK_PAIRS, /* ends of sends and receives: less exact */
    RS_CLOCK_BOUNDS, /* a host's, through the bounds of its GPUs; or a GPU's, through its host's */
    RS_CLOCK_WALL, /* shares no operation with the others: wall time */
    RS_CLOCK_OVERLAY, /* through the same operations, as a tool that leads saw them */
    RS_CLOCK_UNSHIFTED, /* wall time as it came: no operation contradicts it */
};

/* ---- places ---- */

struct rs_host {
    const char *name; /* "": not known; see rs_host_name() */
    const char *boot; /* its identity: the boot id (and the name, where that alone tells) */
    uint32_t domain;
};

enum rs_proc_end {
    RS_END_WELL, /* closed */
    RS_END_IDLE, /* all communicators destroyed, not closed */
    RS_END_ALIVE, /* runs still */
    RS_END_KILLED, /* not closed, and gone */
    RS_END_REPLACED, /* not closed: it called execve, and runs as another program */
};

/* When events of these types were recorded. What lies outside is "not recorded", never "did not happen". */
struct rs_cover {
    int64_t from, to; /* host ns */
    uint64_t mask; /* NCCL's event type bits */
};

/* Callbacks of a thread that were lost, together: how many starts of operations were among them. */
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
    int32_t launcher_rank; /* as SLURM, torchrun, mpirun say; -1: not known */
    const char *nccl_version; /* NULL: not known */
    int64_t begin, end; /* host ns: recording began; last sign of life (heartbeat) */
    int64_t first, last; /* host ns of the first and last callback kept; RS_TIME_NONE: none */
    uint8_t ended; /* enum rs_proc_end */
    bool complete; /* nothing lost, overwritten or damaged */
    bool end_missing; /* its newest records died with it, or are in a live file that is not here */
    uint64_t callbacks, lost, overwritten, damaged;
    int64_t overwritten_until; /* host ns: what was before may be overwritten; RS_TIME_NONE: nothing is */
    int64_t cut_until; /* host ns: what was before may have been cut off (export --format rsc); RS_TIME_NONE: nothing */
    struct rs_cover *covers;
    struct rs_gap *gaps; /* by time */
    bool calls; /* a recording that tells of API calls */
    struct rs_caller *callers; /* each pair once; of recordings that tell of calls or launches */
    uint32_t ncovers, ngaps, ncallers;
    uint64_t *stale; /* bits: which of its GPU timers were another operation's when it was read; see below */
    size_t nstale; /* words */
    bool active_only; /* a dump that lists pending operations only: what it called and does not list has completed */
    bool drops; /* the tool drops without a word: what is absent was not recorded, wherever covers and gaps say else */
    int64_t clock_error_ns; /* of its ticks on the host's clock */
    uint32_t same; /* the process of a tool that leads that is this one (join/overlay.h); RS_NONE: it leads itself */
};

/* GPU timers of kernels (KernelCh) are numbered per recording, in the order of their callbacks. Whether one is the
 * kernel's own is decided once, by the importer. */
void rs_proc_set_stale(struct rs_proc *p, uint64_t timer);
static inline bool rs_proc_is_stale(const struct rs_proc *p, uint64_t timer)
{
    return timer / 64 < p->nstale && (p->stale[timer / 64] >> timer % 64 & 1);
}

/* ---- communicators ---- */

/* How the time of a communicator's birth or end is known. */
enum rs_life_source {
    RS_LIFE_EVENT, /* it was recorded */
    RS_LIFE_FIRST_INIT, /* zero of the process's clock: its first init */
    RS_LIFE_LAST_SLEEP, /* the proxy thread was woken from its last sleep: destruction began */
};

struct rs_member {
    uint32_t comm;
    int32_t rank; /* in the communicator; -1: not known (v1 to v3 before its first operation) */
    int32_t global_rank; /* of the job: the number of its rank; -1: not known */
    uint32_t rank_id; /* its row of `ranks`; RS_NONE: which rank it is cannot be told */
    uint32_t place; /* row of `ranks`: the first on its device of its process; RS_NONE: its process is not known */
    uint32_t proc;
    uint32_t gpu; /* domain; RS_NONE: not known */
    int32_t device; /* CUDA device number; -1: not known */
    uint8_t uuid[16];
    char bus_id[32];
    uint64_t context;
    uint64_t asked; /* 1 + the number of its last collective, where a tool tells how far it came; 0: not told */
    /* 1 + the numbers of its last enqueued and last completed call, as a dump's summary has them; 0: not known. Of a
     * communicator with sends and receives they may count those instead. */
    uint64_t enqueued, completed;
    int64_t created, destroyed; /* host ns; RS_TIME_NONE: not seen */
    uint8_t created_from, destroyed_from; /* enum rs_life_source */
    uint32_t next; /* of the same communicator, by rank; RS_NONE: the last */
};

/* A rank of the job: what the communicators of one GPU of one process have in common. Waiting in one of them makes it
 * late in the others. Made, numbered and counted by join/ranks.h alone. */
struct rs_rank {
    int32_t number; /* of the job; -1: not known */
    uint32_t proc; /* the one that leads, where several tools saw it */
    uint32_t host;
    uint32_t member; /* its first, of a process that leads; RS_NONE: it is in no communicator */
    uint32_t gpu; /* domain; RS_NONE: not known */
    int32_t device; /* CUDA device number; -1: not known */
    uint32_t tools; /* bit of each enum rs_tool that saw it */
};

/* Where a communicator comes from. */
struct rs_parent {
    uint32_t comm; /* RS_NONE: not a child of one that we know */
    int32_t count; /* of the parent's children at that time; -1: not known */
    int32_t color;
    bool from_ranks; /* the colour is PyTorch's hash of the rank list */
    uint64_t told; /* hash of the parent, where a tool told it; 0: not told */
};

struct rs_comm_row {
    uint64_t hash; /* 0: not told (an old plugin interface) */
    bool made_up; /* the tool does not know NCCL's hash: this one is made of the process group's name and ranks */
    uint8_t tool; /* enum rs_tool */
    const int32_t *ranks; /* global rank of each rank, nranks of them; NULL: not told */
    uint32_t incarnation; /* of the same hash: 0 the first */
    uint32_t over; /* the communicator of a tool that leads that is the same one; RS_NONE: it leads itself */
    uint32_t view; /* the first laid over this one; of one that is laid over: the next; RS_NONE: no more */
    const char *name; /* NULL: none */
    int32_t nranks, nnodes; /* -1: not known */
    uint32_t first_member; /* the lowest rank recorded, then members[].next */
    uint32_t nmembers; /* recorded */
    struct rs_parent parent;
    uint32_t class; /* index into classes */
    bool vague; /* of some of its members it cannot be told which rank they are (join/ranks.h) */
};

/* Communicators of equal shape: "64 x 8 consecutive ranks". */
struct rs_class {
    int32_t nranks, stride; /* stride of global ranks; 0: not regular, or not known; 1: consecutive */
    uint32_t comms; /* how many */
    const char *name; /* what is common of their names ("tp"), or NULL */
    const char *text; /* "8 consecutive ranks (tp), 64 times" */
};

/* Something of a part that had started and not stopped when its recording ended: what a hang is told by. */
struct rs_open {
    uint32_t part; /* RS_NONE: its operation is not known */
    uint32_t proc; /* whose recording it is in: the helper's under PXN */
    uint64_t type; /* RS_KERNEL_CH, RS_PROXY_OP or RS_PROXY_STEP of nccl/abi.h */
    int64_t since; /* host ns of its latest change */
    int32_t channel, peer, step, state; /* step and state of a ProxyStep; -1: none */
    int32_t steps, done; /* of the ProxyOp: announced, and finished */
    bool is_send;
};

/* The network's view: what one rank exchanged with a peer in a span of time. Times are sums over steps. */
struct rs_net {
    uint32_t member;
    int32_t peer; /* rank in the communicator */
    int64_t from, to; /* host ns */
    int64_t gpu_ns, credit_ns, send_ns; /* sends: own GPU, peer's credit, network */
    int64_t recv_ns, flush_ns, consume_ns; /* receives: sender or network, flush, own GPU */
    uint64_t sent_bytes, sent, received_bytes, received; /* bytes and messages (steps) */
};

/* A note for the user: what could not be used, or should be known. */
struct rs_model_note {
    const char *text;
};

#define RS_TABLE(type, name)                                                                                           \
    type *name;                                                                                                        \
    uint32_t n##name, cap_##name
struct rs_model {
    struct rs_arena arena; /* texts, knots, small lists */
    struct rs_texts strings; /* of NCCL's facts; see rs_model_string() */
    struct rs_texts names; /* of what other tools saw; see rs_model_name() */
    RS_TABLE(struct rs_domain, domains);
    RS_TABLE(struct rs_host, hosts);
    RS_TABLE(struct rs_proc, procs);
    RS_TABLE(struct rs_comm_row, comms);
    RS_TABLE(struct rs_member, members);
    RS_TABLE(struct rs_rank, ranks); /* by number, then those without one */
    RS_TABLE(struct rs_class, classes);
    RS_TABLE(struct rs_open, opens);
    RS_TABLE(struct rs_net, nets);
    RS_TABLE(struct rs_lane, lanes);
    RS_TABLE(struct rs_stat, stats);
    RS_TABLE(struct rs_tag, tags);
    RS_TABLE(struct rs_told, told);
    RS_TABLE(struct rs_spot, spots);
    struct rs_activities activities;
    RS_TABLE(struct rs_model_note, notes);
    RS_TABLE(uint32_t, order); /* parts, operation by operation */
    struct rs_parts parts;
    struct rs_ops ops;
    struct rs_map comm_index; /* hash (and tool) -> comm, of the newest incarnation */
    struct rs_map member_index; /* comm << 32 | rank -> member; see rs_comm_member() */
    bool same_host; /* the user says that all wall-time traces which do not name their host are of one (join/join.c) */
    bool aligned;
    bool joined; /* `begin` and `end` are set, by join/run_span.h */
    int64_t begin, end; /* see rs_model_begin() */
    int32_t world; /* how many ranks the job has, recorded or not, as far as that is known; -1: not known */
    uint64_t callbacks; /* read in all */
};

void rs_model_free(struct rs_model *m); /* a zeroed model is an empty one */

/* Each adds a row and sets *index. Rows are zeroed but for what is said. */
void rs_model_host(struct rs_model *m, const char *name, const char *boot,
                   uint32_t *index); /* an existing one, or new with its clock */
void rs_model_gpu(struct rs_model *m, uint32_t host, const uint8_t uuid[16],
                  uint32_t *domain); /* an existing one of that uuid, or new; zeros: always new */
void rs_model_proc(struct rs_model *m, uint32_t *index);
void rs_model_comm(struct rs_model *m, uint64_t hash, uint32_t *index); /* of a recording; always new */
/* The communicator of a number as one of the other tools knows it: an existing one, or new. */
void rs_model_comm_of(struct rs_model *m, enum rs_tool tool, uint64_t hash, uint32_t *index);
void rs_model_member(struct rs_model *m, uint32_t comm, uint32_t *index);
void rs_model_rank(struct rs_model *m, uint32_t *index);
void rs_model_class(struct rs_model *m, uint32_t *index);
void rs_model_open(struct rs_model *m, const struct rs_open *row);
void rs_model_net(struct rs_model *m, const struct rs_net *row);
void rs_model_order(struct rs_model *m, uint32_t part);

/* When all members are in: links those of each communicator by rank, so that rs_comm_member() finds them. */
void rs_model_link(struct rs_model *m);

/* The id of a text (NULL: 0). There are RS_TEXTS_SMALL at most; the rest share the id of "?". */
void rs_model_string(struct rs_model *m, const char *text, uint16_t *id);
static inline const char *rs_model_text(const struct rs_model *m, uint16_t id)
{
    return rs_texts_at(&m->strings, id);
}
enum rs_status rs_model_note(struct rs_model *m, struct rs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- looking ---- */

static inline const struct rs_proc *rs_part_proc(const struct rs_model *m, uint32_t part)
{
    return &m->procs[m->members[m->parts.member[part]].proc];
}
static inline uint32_t rs_member_host_domain(const struct rs_model *m, uint32_t member)
{
    return m->hosts[m->procs[m->members[member].proc].host].domain;
}
/* The process of a tool that leads that is this one; itself where it leads. */
uint32_t rs_proc_lead(const struct rs_model *m, uint32_t proc);
/* A host's name; NULL: the tool does not tell it. For sentences and tables, what else it can be known by: its file. */
const char *rs_host_name(const struct rs_model *m, uint32_t host);
const char *rs_host_label(const struct rs_model *m, uint32_t host);
/* Whether its end is known and is the end of all it did: a time to hold others against. */
static inline bool rs_part_has_ended(const struct rs_model *m, uint32_t part)
{
    bool early = (m->parts.flags[part] & RS_PART_END_EARLY) && m->parts.end_source[part] == RS_FROM_KERNEL;
    return m->parts.end[part] != RS_TIME_NONE && !early;
}
/* Whether it may have done more behind the last callback kept, which was cut off (export --format rsc). */
static inline bool rs_proc_end_is_cut(const struct rs_proc *p)
{
    return p->cut_until != RS_TIME_NONE && (p->last == RS_TIME_NONE || p->cut_until > p->last);
}

/* Whether what a tool that leads saw says the same: it counts there. */
static inline bool rs_part_is_laid_over(const struct rs_model *m, uint32_t part)
{
    return m->parts.op[part] != RS_NONE && m->ops.over[m->parts.op[part]] != RS_NONE;
}
/* The member of a rank of a communicator; RS_NONE: not recorded. */
uint32_t rs_comm_member(const struct rs_model *m, uint32_t comm, int32_t rank);
/* The run's first and last event on the common axis; RS_TIME_NONE: no time is known. The first is the one time zero: of
 * every time that a command, a page, a picture or an export counts from the beginning, and of --from, --to and --at.
 * Before the join: the first and last that a process was heard of, each on its own clock. */
int64_t rs_model_begin(const struct rs_model *m);
int64_t rs_model_end(const struct rs_model *m);

#endif
