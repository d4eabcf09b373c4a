/* The GPU's side of an export: kernels, copies, sets, and nodes of CUDA graphs. See nsys.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/kernel_name.h"
#include "foreign/nsys/nsys.h"

/* The columns that all tables of work share, in this order. */
enum { START, END, DEVICE, STREAM, CORRELATION, PID, NODE, NAME, SHORT_NAME, BYTES, COPY_KIND };

static const char *const columns[] = {"start",         "end",       "deviceId",    "streamId",
                                      "correlationId", "globalPid", "graphNodeId", "demangledName",
                                      "shortName",     "bytes",     "copyKind",    NULL};

static void find_stream(struct rs_nsys *n, uint64_t pid, int32_t device, int64_t stream, uint32_t *lane)
{
    uint64_t *at;
    rs_map_at(&n->lanes, rs_mix(rs_mix(rs_mix(2, pid), (uint32_t)device), (uint64_t)stream), RS_NONE, &at);
    if (*at == RS_NONE) {
        struct rs_lane row = {.kind = RS_LANE_STREAM, .device = device, .id = stream};
        rs_nsys_proc(n, pid, &row.proc);
        rs_nsys_gpu(n, pid, device, &row.domain);
        rs_model_lane(n->m, &row, lane);
        *at = *lane;
    }
    *lane = (uint32_t)*at;
}

static enum rs_status copy_name(struct rs_nsys *n, int64_t kind, uint32_t *name, struct rs_err *err)
{
    static const char *const names[] = {[1] = "[CUDA memcpy HtoD]",
                                        [2] = "[CUDA memcpy DtoH]",
                                        [8] = "[CUDA memcpy DtoD]",
                                        [9] = "[CUDA memcpy HtoH]",
                                        [10] = "[CUDA memcpy PtoP]"};
    const char *text = kind > 0 && kind < (int64_t)(sizeof names / sizeof *names) ? names[kind] : NULL;
    if (!text) text = "[CUDA memcpy]";
    return rs_model_name(n->m, text, strlen(text), name, err);
}

static enum rs_status name_of(struct rs_nsys *n, const struct rs_nsys_rows *rows, uint8_t *kind, uint32_t *name,
                              struct rs_err *err)
{
    int64_t copy = 0;
    rs_nsys_i64(rows, COPY_KIND, &copy);
    if (*kind == RS_ACT_COPY) return copy_name(n, copy, name, err);
    if (*kind == RS_ACT_SET) return rs_model_name(n->m, "[CUDA memset]", 13, name, err);
    RS_TRY(rs_nsys_name(n, rows, -1, NAME, name, err));
    if (!*name) RS_TRY(rs_nsys_name(n, rows, -1, SHORT_NAME, name, err));
    const char *text = rs_model_name_text(n->m, *name);
    size_t length = strlen(text);
    if (rs_kernel_is_nccl(text, length) || rs_kernel_comm(text, length)) *kind = RS_ACT_COMM;
    return RS_OK;
}

static void add_kernel(struct rs_nsys *n, uint64_t pid, int32_t device, uint64_t node, uint32_t activity)
{
    RS_ROOM(n->kernels, n->nkernels, n->cap_kernels);
    n->kernels[n->nkernels++] = (struct rs_nsys_kernel){activity, pid, device, node, RS_NONE, 0};
}

static enum rs_status add_work(struct rs_nsys *n, const struct rs_nsys_rows *rows, uint8_t kind, struct rs_err *err)
{
    int64_t start = 0, end = 0, device = -1, stream = 0, correlation = 0, global = 0, node = 0, bytes = 0;
    uint32_t lane, name, index;
    if (!rs_nsys_i64(rows, START, &start) || !rs_nsys_i64(rows, END, &end) || end < start) return RS_OK;
    int64_t from = rs_nsys_time(n, start), to = rs_nsys_time(n, end);
    if (to < from) return RS_OK;
    rs_nsys_i64(rows, DEVICE, &device);
    rs_nsys_i64(rows, STREAM, &stream);
    rs_nsys_i64(rows, PID, &global);
    rs_nsys_i64(rows, NODE, &node);
    rs_nsys_i64(rows, BYTES, &bytes);
    uint64_t pid = rs_nsys_pid((uint64_t)global);
    int32_t which = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    RS_TRY(name_of(n, rows, &kind, &name, err));
    find_stream(n, pid, which, stream, &lane);
    rs_model_activity(n->m, &index);
    struct rs_activities *x = &n->m->activities;
    x->start[index] = from;
    x->end[index] = to;
    x->lane[index] = lane;
    x->name[index] = name;
    x->kind[index] = kind;
    x->bytes[index] = bytes > 0 ? (uint64_t)bytes : 0;
    if (rs_nsys_i64(rows, CORRELATION, &correlation))
        x->launch[index] = (uint32_t)rs_map_get(&n->launches, rs_nsys_key(pid, (uint64_t)correlation), RS_NONE);
    struct rs_proc *p = &n->m->procs[n->m->lanes[lane].proc];
    if (p->first == RS_TIME_NONE || from < p->first) p->first = from;
    if (p->last == RS_TIME_NONE || to > p->last) p->last = to;
    const char *text = rs_model_name_text(n->m, name);
    if (kind == RS_ACT_COMM && rs_kernel_is_nccl(text, strlen(text))) add_kernel(n, pid, which, (uint64_t)node, index);
    return RS_OK;
}

static enum rs_status read_table(struct rs_nsys *n, const char *table, uint8_t kind, struct rs_err *err)
{
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    rs_nsys_select(&rows, &n->db, table, columns);
    while (status == RS_OK && rs_nsys_next(&rows)) status = add_work(n, &rows, kind, err);
    rs_nsys_stop(&rows);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const struct rs_nsys_node *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void read_nodes(struct rs_nsys *n)
{
    static const char *const of_nodes[] = {"start", "globalTid", "graphNodeId", "originalGraphNodeId", NULL};
    struct rs_nsys_rows rows;
    rs_nsys_select(&rows, &n->db, "CUDA_GRAPH_NODE_EVENTS", of_nodes);
    while (rs_nsys_next(&rows)) {
        int64_t start = 0, tid = 0, id = 0, original = 0;
        rs_nsys_i64(&rows, 0, &start);
        rs_nsys_i64(&rows, 1, &tid);
        rs_nsys_i64(&rows, 2, &id);
        rs_nsys_i64(&rows, 3, &original);
        void *room = n->nodes;
        rs_room(&room, n->nnodes, &n->cap_nodes, sizeof *n->nodes);
        n->nodes = room;
        n->nodes[n->nnodes++] =
            (struct rs_nsys_node){(uint64_t)id, (uint64_t)original, rs_nsys_thread(tid), rs_nsys_time(n, start)};
    }
    if (n->nnodes) qsort(n->nodes, n->nnodes, sizeof *n->nodes, by_id);
}

enum rs_status rs_nsys_work_read(struct rs_nsys *n, struct rs_err *err)
{
    RS_TRY(read_table(n, "CUPTI_ACTIVITY_KIND_KERNEL", RS_ACT_COMPUTE, err));
    RS_TRY(read_table(n, "CUPTI_ACTIVITY_KIND_MEMCPY", RS_ACT_COPY, err));
    RS_TRY(read_table(n, "CUPTI_ACTIVITY_KIND_MEMSET", RS_ACT_SET, err));
    if (rs_nsys_has(&n->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NULL))
        RS_TRY(rs_model_note(n->m, err,
                             "%s: CUDA graphs were traced as a whole: the kernels in them are not in this export "
                             "(record with --cuda-graph-trace=node)",
                             n->path));
    read_nodes(n);
    return RS_OK;
}
