/* One export of Nsight Systems on its way into the model: its tables, before operations are made from them.
 *
 * All processes of an export share one clock, that of its session: host and GPU times are on it. Two exports do
 * not, even of one host. Ids of threads and processes are "global": pid and tid are parts of them. Everything is
 * owned by the struct until rs_nsys_free(), but for the model. One thread at a time. */
#ifndef RS_FOREIGN_NSYS_NSYS_H
#define RS_FOREIGN_NSYS_NSYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mix.h"
#include "model/model.h"

/* ---- the database ----
 * A SQLite export of Nsight Systems, opened so that no file is written next to it, and read table by table.
 *
 * Tables, and columns in them, are there only if they have rows, and differ between versions: a table
 * that is missing has no rows, a column that is missing is NULL. Rows come in the order of the table, one at a time;
 * there are no joins, since a damaged file may have no index that holds. Whatever SQLite finds wrong ends a table
 * and is kept in `damage`. A file that would give more rows than its bytes can hold is damaged too. */

struct rs_nsys_db {
    const char *path; /* the caller's, for messages */
    struct rs_err damage; /* code RS_OK: none; else the first */
    /* its own: */
    struct sqlite3 *handle;
    void *bytes; /* of a packed file, unpacked */
    uint64_t size; /* of the file */
    int64_t steps_left; /* of SQLite's machine, in thousands: against files that never end */
};

/* ---- payloads of NVTX ----
 * What NCCL attached to its NVTX ranges: the communicator, the size, the root, the peer.
 *
 * A payload is bytes laid out as its schema says (header of 32 bytes, then fields; as a blob or in hex), or JSON
 * with the same names. Fields are found by their names, whose order and types differ between versions. */

enum rs_nsys_field {
    RS_NF_COMM,
    RS_NF_BYTES,
    RS_NF_ROOT,
    RS_NF_PEER,
    RS_NF_RANK,
    RS_NF_NRANKS,
    RS_NF_DEVICE,
    RS_NF_PARENT,
    RS_NF_COLOR,
    RS_NF_KEY,
    RS_NSYS_FIELDS
};

struct rs_nsys_payload {
    uint32_t has; /* bit f: the field is there */
    uint64_t value[RS_NSYS_FIELDS]; /* negative ones as two's complement */
};

struct rs_nsys_entry {
    uint64_t schema; /* domain << 32 | schema */
    uint32_t idx, offset;
    uint8_t type, field;
};

struct rs_nsys_schemas {
    struct rs_nsys_entry *rows; /* by schema, then idx; only fields that are known */
    uint32_t n, cap;
};

void rs_nsys_schemas_read(struct rs_nsys_schemas *s, struct rs_nsys_db *db);

/* From bytes (blob, or hex), and from JSON. What cannot be understood leaves `p` empty. */
void rs_nsys_payload_bytes(const struct rs_nsys_schemas *s, const char *text, size_t n, bool blob,
                           struct rs_nsys_payload *p);
void rs_nsys_payload_json(const char *text, size_t n, struct rs_nsys_payload *p);

static inline bool rs_nsys_has_field(const struct rs_nsys_payload *p, enum rs_nsys_field f)
{
    return p->has >> f & 1;
}
/* The field as a rank or device; -1: unknown, or it is none. */
static inline int32_t rs_nsys_number(const struct rs_nsys_payload *p, enum rs_nsys_field f)
{
    return rs_nsys_has_field(p, f) && p->value[f] <= INT32_MAX ? (int32_t)p->value[f] : -1;
}

/* ---- the trace ---- */

struct rs_nsys_rows {
    struct rs_nsys_db *db;
    struct sqlite3_stmt *statement; /* NULL: no rows */
    const char *table;
};

/* Fails where the file is none, or this build has no SQLite. */
enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err);
/* The same over memory, which is copied. */
enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err);

/* Whether the table is there, and has the column (NULL: any). Views and virtual tables are none. */
bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column);

/* All rows of a table; `columns` ends with NULL. The names are the program's own words. */
void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns);
bool rs_nsys_next(struct rs_nsys_rows *rows); /* false: no more, and all is freed */
void rs_nsys_stop(struct rs_nsys_rows *rows); /* before the end */

/* Of the current row. */
bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v); /* false: NULL, and *v is as it was */
/* A text or blob; NULL: none. Good until the next row. *blob: it is one. */
const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob);

/* ---- the trace ---- */

/* What a range of NCCL's NVTX domain is. */
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
    bool used; /* an operation was made from it */
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
    int64_t epoch; /* ns of wall time at the session's zero; 0: unknown */
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
/* pid and tid alone: the bits above are the machine, the same in all of an export. */
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
void rs_nsys_proc(struct rs_nsys *n, uint64_t pid, uint32_t *proc);
/* The clock of a device, as a process numbers it. */
void rs_nsys_gpu(struct rs_nsys *n, uint64_t pid, int32_t device, uint32_t *domain);
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
void rs_nsys_parts_make(struct rs_nsys *n);
/* nsys/ops.c: the same from the tables of NCCL's own tracing, which lead where they are. *found: they are. */
enum rs_status rs_nsys_ops_make(struct rs_nsys *n, bool *found, struct rs_err *err);
/* nsys/members.c: what calls that make and end communicators say; and the member of a communicator in a process; device
 * -1: not known. */
void rs_nsys_member(struct rs_nsys *n, uint64_t pid, uint64_t comm, int32_t device, int32_t rank, uint32_t *member);
/* Whether a process is known to be in a communicator. */
bool rs_nsys_is_in(const struct rs_nsys *n, uint64_t pid, uint64_t comm);
void rs_nsys_members_read(struct rs_nsys *n);

#endif
