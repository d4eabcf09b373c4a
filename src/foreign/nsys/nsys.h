/* One export of Nsight Systems on its way into the model: what its tables tell, before operations are made of it.
 *
 * All processes of an export share one clock, that of its session: host and GPU times are on it. Two exports do
 * not, even of one host. Ids of threads and processes are "global": pid and tid are parts of them. Everything is
 * owned by the struct until rs_nsys_free(), but for the model. One thread at a time. */
#ifndef RS_FOREIGN_NSYS_NSYS_H
#define RS_FOREIGN_NSYS_NSYS_H

#include "base/mix.h"
#include "foreign/nsys/payload.h"
#include "model/model.h"

/* What a range of NCCL's NVTX domain stands for. */
enum rs_nsys_what {
    RS_NSYS_COLL,
    RS_NSYS_SEND,
    RS_NSYS_RECV,
    RS_NSYS_GROUP_START,
    RS_NSYS_GROUP_END,
    RS_NSYS_INIT, /* a communicator is made, split off or grown */
    RS_NSYS_DESTROY,
    RS_NSYS_OTHER,
};

/* A call of NCCL's API. */
struct rs_nsys_call {
    int64_t start, end; /* ns; end INT64_MAX: it did not return */
    uint64_t tid; /* see rs_nsys_thread() */
    enum rs_nsys_what what;
    const char *func; /* NCCL's name of an operation; static. NULL: none */
    uint32_t activity; /* RS_NONE: it did not return */
    uint32_t group; /* index of the call that ends its group; RS_NONE: in none */
    bool used; /* something was made of it */
    uint32_t captured; /* ordinal, from 1, on its communicator; 0: not captured in a graph */
    struct rs_nsys_payload payload;
};

/* A kernel of NCCL's. */
struct rs_nsys_kernel {
    uint32_t activity;
    uint64_t pid;
    int32_t device;
    uint64_t node; /* of a graph; 0: none */
    uint32_t call; /* that it was launched, or captured, in; RS_NONE: not known */
    uint32_t replay; /* of a node of a graph: how many came before */
};

/* When and where a node of a graph was made, or which it is a copy of. */
struct rs_nsys_node {
    uint64_t id, original; /* 0: none */
    uint64_t tid;
    int64_t start;
};

struct rs_nsys {
    struct rs_nsys_db db;
    struct rs_model *m;
    const char *path;
    uint32_t host;
    int64_t epoch; /* ns of wall time at the session's zero; 0: not told */
    bool complete;
    struct rs_map strings; /* id -> name of the model */
    struct rs_map procs; /* pid -> process of the model */
    struct rs_map lanes; /* thread, or process with device and stream -> lane */
    struct rs_map gpus; /* pid and device -> domain */
    struct rs_map members; /* of nsys/members.c */
    struct rs_map launches; /* pid and correlation -> activity of the host call */
    struct rs_nsys_schemas schemas;
    struct rs_nsys_call *calls; /* by thread and start, once rs_nsys_calls_read() is done */
    struct rs_nsys_kernel *kernels;
    struct rs_nsys_node *nodes; /* by id */
    uint32_t ncalls, cap_calls, nkernels, cap_kernels, nnodes, cap_nodes;
};

static inline uint64_t rs_nsys_pid(uint64_t global)
{
    return global >> 24 & 0xffffff;
}
/* The key of what is numbered in each process. */
static inline uint64_t rs_nsys_key(uint64_t pid, uint64_t number)
{
    return rs_mix(rs_mix(0, pid), number);
}
static inline uint64_t rs_nsys_tid(uint64_t global)
{
    return global & 0xffffff;
}
/* pid and tid alone: above them stands the machine, which is the same in all of an export. */
static inline uint64_t rs_nsys_thread(int64_t global)
{
    return (uint64_t)global & 0xffffffffffff;
}
/* Times of damaged files wrap. */
static inline int64_t rs_nsys_time(const struct rs_nsys *n, int64_t since)
{
    return (int64_t)((uint64_t)n->epoch + (uint64_t)since);
}

/* The process of a pid, made where there is none. */
enum rs_status rs_nsys_proc(struct rs_nsys *n, uint64_t pid, uint32_t *proc, struct rs_err *err);
/* The clock of a device, as a process numbers it. */
enum rs_status rs_nsys_gpu(struct rs_nsys *n, uint64_t pid, int32_t device, uint32_t *domain, struct rs_err *err);
/* The name that column `text` of the row has, or else the id in column `id`; 0: none. */
enum rs_status rs_nsys_name(struct rs_nsys *n, const struct rs_nsys_rows *rows, int text, int id, uint32_t *name,
                            struct rs_err *err);
void rs_nsys_free(struct rs_nsys *n);

/* nsys/calls.c: the host's side, NVTX ranges and calls of CUDA, into activities and `calls`. */
enum rs_status rs_nsys_calls_read(struct rs_nsys *n, struct rs_err *err);
/* The range of NCCL's that a thread was in at a moment, the innermost; RS_NONE: in none. */
uint32_t rs_nsys_call_at(const struct rs_nsys *n, uint64_t tid, int64_t at);
/* nsys/work.c: the GPU's side, kernels, copies and nodes of graphs, into activities, `kernels` and `nodes`. */
enum rs_status rs_nsys_work_read(struct rs_nsys *n, struct rs_err *err);
/* nsys/parts.c: communicators, members and parts. */
enum rs_status rs_nsys_parts_make(struct rs_nsys *n, struct rs_err *err);
/* nsys/ops.c: the same from the tables of NCCL's own tracing, which lead where they are. *found: they are. */
enum rs_status rs_nsys_ops_make(struct rs_nsys *n, bool *found, struct rs_err *err);
/* nsys/members.c: what calls that make and end communicators say; and the member of a communicator in a process; device
 * -1: not known. */
enum rs_status rs_nsys_member(struct rs_nsys *n, uint64_t pid, uint64_t comm, int32_t device, int32_t rank,
                              uint32_t *member, struct rs_err *err);
/* Whether a process is known to be in a communicator. */
bool rs_nsys_is_in(const struct rs_nsys *n, uint64_t pid, uint64_t comm);
enum rs_status rs_nsys_members_read(struct rs_nsys *n, struct rs_err *err);

#endif
