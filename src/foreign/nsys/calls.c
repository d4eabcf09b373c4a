/* The host's side of an export: NVTX ranges and calls of CUDA. See nsys.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/host_call.h"
#include "foreign/nsys/nsys.h"

/* ---- lanes and activities ---- */

static void find_thread(struct rs_nsys *n, uint64_t tid, uint32_t *lane)
{
    uint64_t *at;
    rs_map_at(&n->lanes, rs_mix(1, tid), RS_NONE, &at);
    if (*at == RS_NONE) {
        struct rs_lane row = {.kind = RS_LANE_THREAD, .device = -1, .id = (int64_t)rs_nsys_tid(tid)};
        row.domain = n->m->hosts[n->host].domain;
        rs_nsys_proc(n, rs_nsys_pid(tid), &row.proc);
        rs_model_lane(n->m, &row, lane);
        *at = *lane;
    }
    *lane = (uint32_t)*at;
}

static void seen(struct rs_nsys *n, uint64_t tid, int64_t from, int64_t to)
{
    struct rs_proc *p = &n->m->procs[rs_map_get(&n->procs, rs_nsys_pid(tid), 0)];
    if (p->first == RS_TIME_NONE || from < p->first) p->first = from;
    if (p->last == RS_TIME_NONE || to > p->last) p->last = to;
}

static void add_activity(struct rs_nsys *n, uint64_t tid, int64_t start, int64_t end, uint32_t name, uint8_t kind,
                         uint32_t *index)
{
    uint32_t lane;
    find_thread(n, tid, &lane);
    rs_model_activity(n->m, index);
    struct rs_activities *x = &n->m->activities;
    x->start[*index] = start;
    x->end[*index] = end;
    x->lane[*index] = lane;
    x->name[*index] = name;
    x->kind[*index] = kind;
    seen(n, tid, start, end);
}

/* ---- ranges ---- */

/* A range of NCCL's by its name. */
static enum rs_nsys_what what_of(const char *name, const char **func)
{
    static const struct {
        const char *name;
        enum rs_nsys_what what;
        const char *func;
    } known[] = {
        {"ncclAllReduce", RS_NSYS_COLL, "AllReduce"},
        {"ncclAllGather", RS_NSYS_COLL, "AllGather"},
        {"ncclReduceScatter", RS_NSYS_COLL, "ReduceScatter"},
        {"ncclBroadcast", RS_NSYS_COLL, "Broadcast"},
        {"ncclBcast", RS_NSYS_COLL, "Broadcast"},
        {"ncclReduce", RS_NSYS_COLL, "Reduce"},
        {"ncclAlltoAll", RS_NSYS_COLL, "AlltoAll"},
        {"ncclAllToAll", RS_NSYS_COLL, "AlltoAll"},
        {"ncclGather", RS_NSYS_COLL, "Gather"},
        {"ncclScatter", RS_NSYS_COLL, "Scatter"},
        {"ncclSend", RS_NSYS_SEND, "Send"},
        {"ncclRecv", RS_NSYS_RECV, "Recv"},
        {"ncclGroupStart", RS_NSYS_GROUP_START, NULL},
        {"ncclGroupEnd", RS_NSYS_GROUP_END, NULL},
        {"ncclCommInit", RS_NSYS_INIT, NULL},
        {"ncclCommSplit", RS_NSYS_INIT, NULL},
        {"ncclCommShrink", RS_NSYS_INIT, NULL},
        {"ncclCommGrow", RS_NSYS_INIT, NULL},
        {"ncclCommDestroy", RS_NSYS_DESTROY, NULL},
        {"ncclCommAbort", RS_NSYS_DESTROY, NULL},
        {"ncclCommFinalize", RS_NSYS_DESTROY, NULL},
    };
    *func = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool family = known[i].what == RS_NSYS_INIT; /* InitRank, InitRankConfig, InitRankScalable, InitAll */
        if (family ? strncmp(name, known[i].name, strlen(known[i].name)) != 0 : strcmp(name, known[i].name) != 0)
            continue;
        *func = known[i].func;
        return known[i].what;
    }
    return RS_NSYS_OTHER;
}

/* Numbers of event types may change: the export has them by name. */
struct types {
    int64_t push_pop, start_end, domain;
};

static void read_types(struct rs_nsys *n, struct types *t)
{
    static const char *const columns[] = {"id", "name", NULL};
    struct rs_nsys_rows rows;
    *t = (struct types){59, 60, 75};
    rs_nsys_select(&rows, &n->db, "ENUM_NSYS_EVENT_TYPE", columns);
    while (rs_nsys_next(&rows)) {
        size_t length;
        bool blob;
        int64_t id;
        const char *name = rs_nsys_text(&rows, 1, &length, &blob);
        if (!name || blob || !rs_nsys_i64(&rows, 0, &id)) continue;
        if (!strcmp(name, "NvtxPushPopRange")) t->push_pop = id;
        if (!strcmp(name, "NvtxStartEndRange")) t->start_end = id;
        if (!strcmp(name, "NvtxDomainCreate")) t->domain = id;
    }
}

static uint64_t domain_key(uint64_t tid, int64_t domain)
{
    return rs_nsys_key(rs_nsys_pid(tid), (uint64_t)domain);
}

static enum rs_status read_domains(struct rs_nsys *n, const struct types *types, struct rs_map *domains,
                                   struct rs_err *err)
{
    static const char *const columns[] = {"eventType", "domainId", "globalTid", "text", "textId", NULL};
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    rs_nsys_select(&rows, &n->db, "NVTX_EVENTS", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) {
        int64_t type = 0, domain = 0, tid = 0;
        uint32_t name;
        rs_nsys_i64(&rows, 0, &type);
        if (type != types->domain) continue;
        rs_nsys_i64(&rows, 1, &domain);
        rs_nsys_i64(&rows, 2, &tid);
        status = rs_nsys_name(n, &rows, 3, 4, &name, err);
        if (status == RS_OK) rs_map_put(domains, domain_key((uint64_t)tid, domain), name);
    }
    rs_nsys_stop(&rows);
    return status;
}

static void keep_call(struct rs_nsys *n, const struct rs_nsys_call *call)
{
    RS_ROOM(n->calls, n->ncalls, n->cap_calls);
    n->calls[n->ncalls++] = *call;
}

enum { START, END, TYPE, TID, DOMAIN, TEXT, TEXT_ID, JSON, JSON_ID, BYTES };

static void read_payload(struct rs_nsys *n, const struct rs_nsys_rows *rows, struct rs_nsys_payload *p)
{
    size_t length;
    bool blob;
    int64_t id;
    *p = (struct rs_nsys_payload){0};
    const char *text = rs_nsys_text(rows, BYTES, &length, &blob);
    if (text) rs_nsys_payload_bytes(&n->schemas, text, length, blob, p);
    if (p->has) return;
    text = rs_nsys_text(rows, JSON, &length, &blob);
    if (!text && rs_nsys_i64(rows, JSON_ID, &id)) {
        text = rs_model_name_text(n->m, (uint32_t)rs_map_get(&n->strings, (uint64_t)id, 0));
        length = strlen(text);
    }
    if (text) rs_nsys_payload_json(text, length, p);
}

static enum rs_status add_range(struct rs_nsys *n, const struct rs_nsys_rows *rows, const struct rs_map *domains,
                                struct rs_err *err)
{
    int64_t start = 0, end = 0, tid = 0, domain = 0;
    uint32_t name;
    if (!rs_nsys_i64(rows, START, &start)) return RS_OK;
    bool returned = rs_nsys_i64(rows, END, &end) && end >= start;
    rs_nsys_i64(rows, TID, &tid);
    rs_nsys_i64(rows, DOMAIN, &domain);
    RS_TRY(rs_nsys_name(n, rows, TEXT, TEXT_ID, &name, err));
    struct rs_nsys_call call = {.tid = rs_nsys_thread(tid), .activity = RS_NONE, .group = RS_NONE};
    call.start = rs_nsys_time(n, start);
    call.end = returned ? rs_nsys_time(n, end) : INT64_MAX;
    const char *text = rs_model_name_text(n->m, name);
    if (returned && call.end >= call.start) {
        uint8_t kind = rs_step_number(text) == RS_NONE ? RS_ACT_RANGE : RS_ACT_STEP;
        add_activity(n, call.tid, call.start, call.end, name, kind, &call.activity);
    }
    uint32_t in = (uint32_t)rs_map_get(domains, domain_key(call.tid, domain), 0);
    if (in && strcmp(rs_model_name_text(n->m, in), "NCCL")) return RS_OK;
    if (!in && strncmp(text, "nccl", 4)) return RS_OK; /* the domain was made before recording began */
    call.what = what_of(text, &call.func);
    if (call.what == RS_NSYS_OTHER) return RS_OK;
    uint32_t proc;
    rs_nsys_proc(n, rs_nsys_pid(call.tid), &proc);
    read_payload(n, rows, &call.payload);
    keep_call(n, &call);
    return RS_OK;
}

static enum rs_status read_ranges(struct rs_nsys *n, struct rs_err *err)
{
    static const char *const columns[] = {"start",  "end",      "eventType",  "globalTid",  "domainId", "text",
                                          "textId", "jsonText", "jsonTextId", "binaryData", NULL};
    struct rs_map domains = {0};
    struct rs_nsys_rows rows;
    struct types types;
    read_types(n, &types);
    enum rs_status status = read_domains(n, &types, &domains, err);
    rs_nsys_select(&rows, &n->db, "NVTX_EVENTS", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) {
        int64_t type = 0;
        rs_nsys_i64(&rows, TYPE, &type);
        if (type == types.push_pop || type == types.start_end) status = add_range(n, &rows, &domains, err);
    }
    rs_nsys_stop(&rows);
    rs_map_free(&domains);
    return status;
}

/* ---- calls of CUDA ---- */

static enum rs_status add_runtime(struct rs_nsys *n, const struct rs_nsys_rows *rows, struct rs_err *err)
{
    int64_t start = 0, end = 0, tid = 0, correlation = 0;
    uint32_t name, index;
    if (!rs_nsys_i64(rows, 0, &start) || !rs_nsys_i64(rows, 1, &end) || end < start) return RS_OK;
    rs_nsys_i64(rows, 2, &tid);
    RS_TRY(rs_nsys_name(n, rows, -1, 4, &name, err));
    const char *text = rs_model_name_text(n->m, name);
    uint8_t kind = (uint8_t)rs_host_call_kind(text, strlen(text));
    int64_t from = rs_nsys_time(n, start), to = rs_nsys_time(n, end);
    if (to < from) return RS_OK;
    add_activity(n, rs_nsys_thread(tid), from, to, name, kind, &index);
    if (!rs_nsys_i64(rows, 3, &correlation) || (kind != RS_ACT_LAUNCH && *text)) return RS_OK;
    rs_map_put(&n->launches, rs_nsys_key(rs_nsys_pid((uint64_t)tid), (uint64_t)correlation), index);
    return RS_OK;
}

static enum rs_status read_runtime(struct rs_nsys *n, struct rs_err *err)
{
    static const char *const columns[] = {"start", "end", "globalTid", "correlationId", "nameId", NULL};
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    rs_nsys_select(&rows, &n->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) status = add_runtime(n, &rows, err);
    rs_nsys_stop(&rows);
    return status;
}

static enum rs_status name_threads(struct rs_nsys *n, struct rs_err *err)
{
    static const char *const columns[] = {"globalTid", "nameId", NULL};
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    rs_nsys_select(&rows, &n->db, "ThreadNames", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) {
        int64_t tid = 0;
        uint32_t name;
        rs_nsys_i64(&rows, 0, &tid);
        status = rs_nsys_name(n, &rows, -1, 1, &name, err);
        const uint64_t *lane = rs_map_find(&n->lanes, rs_mix(1, rs_nsys_thread(tid)));
        if (status == RS_OK && lane && name) n->m->lanes[*lane].name = rs_model_name_text(n->m, name);
    }
    rs_nsys_stop(&rows);
    return status;
}

/* ---- the order of calls ---- */

static int by_thread(const void *a, const void *b)
{
    const struct rs_nsys_call *x = a, *y = b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end; /* what is around comes first */
}

/* Calls between ncclGroupStart and its ncclGroupEnd are launched by the latter, on the same thread. */
static void find_groups(struct rs_nsys *n)
{
    uint32_t depth = 0, first = 0;
    for (uint32_t i = 0; i < n->ncalls; i++) {
        struct rs_nsys_call *c = &n->calls[i];
        if (i && c->tid != c[-1].tid) depth = 0;
        if (c->what == RS_NSYS_GROUP_START && !depth++) first = i;
        if (c->what != RS_NSYS_GROUP_END || !depth || --depth) continue;
        for (uint32_t k = first; k <= i; k++) n->calls[k].group = i;
    }
}

uint32_t rs_nsys_call_at(const struct rs_nsys *n, uint64_t tid, int64_t at)
{
    enum { NESTED = 16 }; /* nested calls: how far back the enclosing one may be */
    uint32_t low = 0, high = n->ncalls;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct rs_nsys_call *c = &n->calls[mid];
        if (c->tid < tid || (c->tid == tid && c->start <= at))
            low = mid + 1;
        else
            high = mid;
    }
    for (uint32_t back = 0; low-- > 0 && back < NESTED && n->calls[low].tid == tid; back++)
        if (n->calls[low].end >= at) return low;
    return RS_NONE;
}

enum rs_status rs_nsys_calls_read(struct rs_nsys *n, struct rs_err *err)
{
    rs_nsys_schemas_read(&n->schemas, &n->db);
    RS_TRY(read_ranges(n, err));
    RS_TRY(read_runtime(n, err));
    RS_TRY(name_threads(n, err));
    if (n->ncalls) qsort(n->calls, n->ncalls, sizeof *n->calls, by_thread);
    find_groups(n);
    return RS_OK;
}
