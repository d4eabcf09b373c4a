/* Operations out of the tables of NCCL's own tracing (NCCL_GPU_OPERATIONS), which name communicator, rank and number.
 * See nsys.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "foreign/nsys/nsys.h"

enum { START, END, LOCAL, TEXT, TEXT_ID, COMM, RANK, COUNT, TYPE, OPERATION, PID, DEVICE, SEQ };
static const char *const columns[] = {"start",     "end",      "localId",   "text",     "textId",
                                      "commHash",  "commRank", "count",     "dataType", "operationId",
                                      "globalPid", "deviceId", "seqNumber", NULL};

struct row {
    int64_t start, end;
    uint64_t pid, comm, count, seq;
    int32_t rank, device;
    const char *func;
    uint16_t dtype;
    enum rs_nsys_what what;
};

struct list {
    struct row *rows;
    uint32_t n, cap;
};

/* "AllReduce", "ncclAllReduce", "Send". NULL: none of NCCL's operations. */
static const char *func_of(const char *text, enum rs_nsys_what *what)
{
    static const char *const funcs[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce",
                                        "AlltoAll",  "Gather",    "Scatter",       "Send",      "Recv"};
    if (!strncmp(text, "nccl", 4)) text += 4;
    for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++) {
        if (strcmp(text, funcs[i])) continue;
        *what = !strcmp(text, "Send") ? RS_NSYS_SEND : !strcmp(text, "Recv") ? RS_NSYS_RECV : RS_NSYS_COLL;
        return funcs[i];
    }
    return NULL;
}

/* NCCL's numbers of its types. */
static const char *type_of(int64_t number)
{
    static const char *const types[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                        "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
    return number >= 0 && number < (int64_t)(sizeof types / sizeof *types) ? types[number] : "";
}

/* An export of one process mostly; else the rank is that of the communicator, where its creation was recorded. */
static uint64_t pid_of(const struct rs_nsys *n, const struct rs_nsys_rows *rows, uint64_t comm)
{
    int64_t global;
    size_t at = 0;
    uint64_t pid = 0, proc;
    if (rs_nsys_i64(rows, PID, &global)) return rs_nsys_pid((uint64_t)global);
    while (rs_map_next(&n->procs, &at, &pid, &proc))
        if (rs_nsys_is_in(n, pid, comm)) return pid;
    at = 0;
    return rs_map_next(&n->procs, &at, &pid, &proc) ? pid : 0;
}

static enum rs_status add_row(struct rs_nsys *n, struct list *list, const struct rs_nsys_rows *rows,
                              const struct rs_map *numbers, struct rs_err *err)
{
    int64_t start = 0, end = 0, comm = 0, rank = -1, count = 0, type = -1, local = -1, number = -1, device = -1;
    struct row row = {.seq = UINT64_MAX};
    uint32_t name;
    if (!rs_nsys_i64(rows, START, &start) || !rs_nsys_i64(rows, END, &end) || end < start) return RS_OK;
    RS_TRY(rs_nsys_name(n, rows, TEXT, TEXT_ID, &name, err));
    row.func = func_of(rs_model_name_text(n->m, name), &row.what);
    if (!rs_nsys_i64(rows, COMM, &comm) || !comm || !row.func) return RS_OK;
    rs_nsys_i64(rows, RANK, &rank);
    rs_nsys_i64(rows, COUNT, &count);
    rs_nsys_i64(rows, TYPE, &type);
    rs_nsys_i64(rows, DEVICE, &device);
    row.start = rs_nsys_time(n, start);
    row.end = rs_nsys_time(n, end);
    if (row.end < row.start) return RS_OK;
    row.comm = (uint64_t)comm;
    row.pid = pid_of(n, rows, row.comm);
    row.count = count > 0 ? (uint64_t)count : 0;
    row.rank = rank >= 0 && rank < INT32_MAX ? (int32_t)rank : -1;
    row.device = device >= 0 && device < INT32_MAX ? (int32_t)device : -1;
    rs_model_string(n->m, type_of(type), &row.dtype);
    if (row.what == RS_NSYS_COLL && rs_nsys_i64(rows, SEQ, &number)) row.seq = (uint64_t)number;
    if (row.what == RS_NSYS_COLL && row.seq == UINT64_MAX && rs_nsys_i64(rows, LOCAL, &local))
        row.seq = rs_map_get(numbers, (uint64_t)local, UINT64_MAX);
    if (row.what == RS_NSYS_COLL && row.seq == UINT64_MAX && rs_nsys_i64(rows, OPERATION, &number))
        row.seq = (uint64_t)number;
    RS_ROOM(list->rows, list->n, list->cap);
    list->rows[list->n++] = row;
    return RS_OK;
}

static enum rs_status read_rows(struct rs_nsys *n, struct list *list, struct rs_err *err)
{
    static const char all[] = "NCCL_GPU_OPERATIONS", collectives[] = "NCCL_GPU_OPERATIONS_COLLECTIVE";
    struct rs_map numbers = {0}; /* local id -> sequence number */
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    bool both = rs_nsys_has(&n->db, all, NULL);
    if (both) rs_nsys_select(&rows, &n->db, collectives, columns);
    while (both && rs_nsys_next(&rows)) {
        int64_t local, seq;
        if (rs_nsys_i64(&rows, LOCAL, &local) && rs_nsys_i64(&rows, SEQ, &seq))
            rs_map_put(&numbers, (uint64_t)local, (uint64_t)seq);
    }
    if (both) rs_nsys_stop(&rows);
    rs_nsys_select(&rows, &n->db, both ? all : collectives, columns);
    while (status == RS_OK && rs_nsys_next(&rows)) status = add_row(n, list, &rows, &numbers, err);
    rs_nsys_stop(&rows);
    rs_map_free(&numbers);
    return status;
}

/* ---- with the calls of NVTX ---- */

static uint64_t key_of(uint64_t pid, uint64_t comm, const char *func)
{
    return rs_mix_text(rs_nsys_key(pid, comm), func);
}

static int by_start(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Calls by (process, communicator, function), in the order of time: where there are as many as operations, they are
 * them. */
struct pairing {
    struct rs_map counts, firsts; /* key -> operations less calls; key -> the first call */
    uint32_t *next; /* of the same key, by call */
};

struct timed {
    int64_t at;
    uint32_t call;
};

static int by_moment(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? 1 : -1; /* the last first: lists are built from their ends */
    return x->call < y->call ? 1 : x->call > y->call ? -1 : 0;
}

static void make_pairing(struct rs_nsys *n, struct pairing *p, const struct list *list)
{
    p->next = rs_alloc(((size_t)n->ncalls + 1) * sizeof *p->next);
    struct timed *order = rs_alloc(((size_t)n->ncalls + 1) * sizeof *order);
    uint64_t *count, *first;
    for (uint32_t i = 0; i < list->n; i++) {
        rs_map_at(&p->counts, key_of(list->rows[i].pid, list->rows[i].comm, list->rows[i].func), 0, &count);
        ++*count;
    }
    for (uint32_t i = 0; i < n->ncalls; i++) order[i] = (struct timed){n->calls[i].start, i};
    qsort(order, n->ncalls, sizeof *order, by_moment);
    for (uint32_t i = 0; i < n->ncalls; i++) {
        const struct rs_nsys_call *c = &n->calls[order[i].call];
        if (!c->func || !c->payload.value[RS_NF_COMM]) continue;
        uint64_t key = key_of(rs_nsys_pid(c->tid), c->payload.value[RS_NF_COMM], c->func);
        rs_map_at(&p->counts, key, 0, &count);
        --*count;
        rs_map_at(&p->firsts, key, RS_NONE, &first);
        p->next[order[i].call] = (uint32_t)*first;
        *first = order[i].call;
    }
    free(order);
}

static const struct rs_nsys_call *take_call(struct rs_nsys *n, struct pairing *p, const struct row *row)
{
    uint64_t key = key_of(row->pid, row->comm, row->func), *first = rs_map_find(&p->firsts, key);
    if (!first || *first == RS_NONE || rs_map_get(&p->counts, key, 1) != 0) return NULL;
    uint32_t call = (uint32_t)*first;
    *first = p->next[call];
    return &n->calls[call];
}

static void add_part(struct rs_nsys *n, const struct row *row, const struct rs_nsys_call *call)
{
    uint32_t member, part, domain;
    uint16_t func;
    rs_nsys_member(n, row->pid, row->comm, row->device, row->rank, &member);
    if (n->m->members[member].gpu == RS_NONE) { /* its clock is the session's, whichever it is */
        rs_nsys_gpu(n, row->pid, -1, &domain);
        n->m->members[member].gpu = domain;
    }
    rs_model_string(n->m, row->func, &func);
    rs_model_part(n->m, &part);
    struct rs_parts *t = &n->m->parts;
    t->handle[part] = t->launch[part] = (uint64_t)part + 1;
    t->member[part] = member;
    t->func[part] = func;
    t->dtype[part] = row->dtype;
    t->kind[part] = row->what == RS_NSYS_SEND ? RS_PART_SEND : row->what == RS_NSYS_RECV ? RS_PART_RECV : RS_PART_COLL;
    t->seq[part] = row->seq;
    t->count[part] = row->count;
    t->start[part] = row->start;
    t->end[part] = row->end;
    t->start_source[part] = t->end_source[part] = RS_FROM_KERNEL;
    t->flags[part] |= RS_PART_STOPPED;
    if (call) {
        t->enqueued[part] = call->start;
        t->peer[part] = rs_nsys_number(&call->payload, row->what == RS_NSYS_COLL ? RS_NF_ROOT : RS_NF_PEER);
    }
    if (row->what == RS_NSYS_COLL && t->peer[part] < 0) t->peer[part] = 0; /* as NCCL has it where there is no root */
    struct rs_proc *p = &n->m->procs[n->m->members[member].proc];
    if (p->first == RS_TIME_NONE || row->start < p->first) p->first = row->start;
    if (p->last == RS_TIME_NONE || row->end > p->last) p->last = row->end;
}

enum rs_status rs_nsys_ops_make(struct rs_nsys *n, bool *found, struct rs_err *err)
{
    struct list list = {0};
    struct pairing p = {0};
    enum rs_status status = read_rows(n, &list, err);
    *found = list.n > 0;
    if (status == RS_OK && list.n) make_pairing(n, &p, &list);
    if (list.n) qsort(list.rows, list.n, sizeof *list.rows, by_start);
    for (uint32_t i = 0; i < list.n && status == RS_OK; i++)
        add_part(n, &list.rows[i], take_call(n, &p, &list.rows[i]));
    free(list.rows);
    free(p.next);
    rs_map_free(&p.counts);
    rs_map_free(&p.firsts);
    return status;
}
