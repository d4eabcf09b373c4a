/* What is kept of a Kineto trace while it is read: compact rows, the names and lanes that they share, and the
 * calls of record_param_comms.
 *
 * A trace of a gigabyte has five million events; of those only what ran on a GPU, host calls of CUDA and
 * annotations become rows, and of PyTorch's own operators none. Times are ns as in the trace; rs_kineto_read() moves
 * them by its base once that is known. The struct owns everything until rs_kineto_free(); a zeroed one is empty. One
 * thread at a time. */
#ifndef RS_FOREIGN_KINETO_ROWS_H
#define RS_FOREIGN_KINETO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/texts.h"
#include "foreign/kernel_name.h"
#include "model/activities.h"

#define RS_KINETO_NONE UINT32_MAX /* no such row, call, lane or group */
#define RS_KINETO_NO_ID UINT64_MAX /* no External id */

/* A name as it is in the trace, and what follows from it. */
struct rs_kineto_name {
    const char *text; /* escapes as they are */
    uint32_t n;
    uint8_t call_kind; /* enum rs_activity_kind, if it is a host call of CUDA */
    bool is_nccl;
    struct rs_kernel_name kernel; /* of NCCL's kernels */
    const struct rs_comm_kernel *comm; /* of other kernels that communicate; NULL: it is none */
};

/* The pid of events: of a host process, or of the GPU. In a file that several traces were merged into, each rank has
 * its own: a number that was moved, or a label in front of it. */
struct rs_kineto_pid {
    int64_t number; /* as written, after its label; -1: none */
    int64_t raw; /* as the process had it; -1: not known */
    uint32_t label; /* name: "[TP00] "; 0: none */
    uint32_t title; /* name of the process ("RANK 3 - GPU"); 0: none */
    int32_t rank; /* as the merged file says; -1: not known */
    bool calls; /* CUDA was called: it is a process */
};

struct rs_kineto_lane {
    bool is_stream;
    int32_t device; /* of a stream; -1: not known */
    int64_t id;
    uint32_t pid; /* index into pids */
    uint32_t name; /* 0: none */
};

struct rs_kineto_row {
    int64_t start, end;
    uint64_t bytes;
    uint64_t external; /* RS_KINETO_NO_ID: none */
    uint32_t link; /* while reading the correlation, 0: none; then the row that launched it, or RS_KINETO_NONE */
    uint32_t name;
    uint32_t lane;
    uint32_t event; /* its number in the file, from 0 */
    uint8_t kind; /* enum rs_activity_kind */
};

/* Where a call is from. Only the first is left once kineto/unnamed.h was there. */
enum rs_kineto_source {
    RS_KINETO_RECORD, /* record_param_comms, or the arguments of a NCCL kernel */
    RS_KINETO_SIZES, /* an operator of c10d whose sizes say how many ranks its group has */
    RS_KINETO_ANNOTATION, /* "nccl:all_reduce" */
};

/* A communication as PyTorch describes it: a call of record_param_comms, or the arguments of a NCCL kernel. */
struct rs_kineto_call {
    int64_t start, end; /* of the host call; of the kernel */
    uint64_t external;
    uint64_t in, out; /* elements */
    uint64_t comms_id;
    int64_t seq; /* -1: none */
    const char *func; /* NCCL's name; NULL: it is no operation ("wait") */
    const char *dtype;
    uint32_t lane; /* host thread; RS_KINETO_NONE: from a kernel */
    uint32_t row; /* the kernel that it is recorded at; RS_KINETO_NONE */
    uint32_t event; /* its number in the file, from 0 */
    uint32_t pg_name, pg_desc, pg_ranks; /* names; 0: unknown */
    int32_t rank, src, dst; /* -1: unknown */
    int32_t group_size, first_rank, stride; /* -1: unknown */
    bool has_comms_id, has_pg_name;
    bool unnamed; /* the trace does not say its group: see kineto/unnamed.h */
    uint8_t source; /* enum rs_kineto_source */
    /* What foreign/kineto/calls.h finds: */
    uint32_t kernel; /* the first of its kernels; RS_KINETO_NONE */
    int64_t kernel_start, kernel_end; /* of all of its kernels */
    int64_t launched; /* host; see has_launch */
    uint32_t kernel_name; /* of the first */
    int32_t device; /* that it ran on; -1: not known */
    bool has_launch;
    bool batched; /* called in a group that was launched after it ("nccl:coalesced") */
    bool queued; /* its kernel first does another send to, or receive from, the same rank: see kineto/streams.h */
    uint32_t group; /* index into groups */
    uint64_t
        number; /* equal on all ranks: see kineto/number.h, of sends and receives kineto/streams.h; UINT64_MAX: none */
    uint32_t scope; /* name of the innermost annotation; 0: none */
    uint32_t step; /* RS_KINETO_NONE: none */
};
/* Initialisers of a call of which nothing is known yet. */
#define RS_KINETO_CALL_UNKNOWN                                                                                         \
    .seq = -1, .dtype = "", .lane = RS_KINETO_NONE, .row = RS_KINETO_NONE, .rank = -1, .src = -1, .dst = -1,           \
    .group_size = -1, .first_rank = -1, .stride = -1, .device = -1, .kernel = RS_KINETO_NONE, .group = RS_KINETO_NONE, \
    .number = UINT64_MAX, .step = RS_KINETO_NONE

/* A process group. */
struct rs_kineto_group {
    uint64_t hash; /* of its name and ranks: the same in all traces */
    const char *name, *desc; /* "" where unknown */
    int32_t *ranks; /* global, in the group's order */
    uint32_t nranks; /* 0: not known */
    int32_t size; /* as recorded; -1: unknown */
    int32_t rank; /* of this trace in it; -1: it is not, or that is not known */
    bool assumed; /* its ranks are not in the trace: see kineto/unnamed.h */
    uint32_t next; /* another of the same name; RS_KINETO_NONE: no more */
};

struct rs_kineto {
    struct rs_arena arena; /* names of groups and ranks */
    struct rs_texts texts; /* of names */
    struct rs_kineto_name *names; /* one for each of the texts; 0 is "" */
    uint32_t nnames, cap_names;
    struct rs_kineto_lane *lanes;
    uint32_t nlanes, cap_lanes;
    struct rs_map lane_ids; /* hash -> lane */
    uint32_t last_lane; /* found last: mostly it is the next one's too */
    struct rs_kineto_pid *pids;
    uint32_t npids, cap_pids;
    struct rs_map pid_ids; /* hash -> pid */
    uint32_t last_pid;
    struct rs_kineto_row *rows;
    uint32_t nrows, cap_rows;
    uint32_t of_kind[RS_ACTIVITY_KINDS]; /* how many rows of each kind */
    struct rs_kineto_call *calls;
    uint32_t ncalls, cap_calls;
    struct rs_kineto_group *groups;
    uint32_t ngroups, cap_groups;
    struct rs_map group_ids; /* hash of a name -> the group that was added last */
    int32_t rank, world; /* -1: unknown */
    int32_t label_rank; /* the rank if nothing else says it: what a merged file calls the trace; -1: nothing */
    int64_t pid; /* of the host; -1: unknown */
    int64_t base_ns;
    const char *nccl_version; /* NULL: unknown */
    uint64_t events; /* in all */
    bool has_unnamed; /* calls that do not say their group, and on how many streams */
    uint32_t unnamed_streams;
    bool merged; /* events say the rank that they are of: several traces in one file */
    uint64_t foreign_rows; /* of devices that are not understood (MTIA, XPU) */
    uint32_t foreign_kind; /* name: the category of the first; 0: none */
};

/* The id of a name; 0 is "". */
enum rs_status rs_kineto_name(struct rs_kineto *k, const char *text, size_t n, uint32_t *id, struct rs_err *err);
/* Different lanes may share a key. */
uint64_t rs_kineto_lane_key(bool is_stream, int32_t device, int64_t number);
/* The row of a pid; `label` is a name, or 0. */
uint32_t rs_kineto_pid(struct rs_kineto *k, int64_t number, uint32_t label);
/* The lane; of row->name nothing is asked. */
uint32_t rs_kineto_lane(struct rs_kineto *k, const struct rs_kineto_lane *row);
void rs_kineto_row(struct rs_kineto *k, const struct rs_kineto_row *row);
void rs_kineto_call(struct rs_kineto *k, const struct rs_kineto_call *call);
void rs_kineto_free(struct rs_kineto *k);

#endif
