/* Profiles of JAX and other users of XLA on GPUs: HOST.trace.json.gz, which jax.profiler and TensorBoard's profile plugin
 * write.
 *
 * Chrome JSON. A process "/device:GPU:0" has a thread per stream ("Stream #13(Compute)") with what ran there, and
 * threads that XLA derives from these (XLA Ops, XLA Modules, Steps, ...), which would count the same work again: only
 * streams are read. Times are us from the beginning of the profile. Nothing identifies a collective on other ranks, so
 * its kernels are activities without operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/scan.h"
#include "foreign/formats.h"
#include "foreign/json_fields.h"
#include "foreign/kernel_name.h"

/* ---- one file ---- */

struct event {
    int64_t pid, tid; /* -1: none */
    int64_t start, length; /* ns; -1: none */
    uint32_t name; /* of the model's names */
};

/* A thread, or (tid -1) a process, and its name. */
struct title {
    int64_t pid, tid;
    const char *name;
};

struct profile {
    struct rs_model *m;
    struct event *events;
    struct title *titles;
    uint32_t n_events, cap_events, n_titles, cap_titles;
    struct rs_map hosts; /* pids that are no GPU: their events are not kept */
};

struct line {
    char ph[4], name[512], title[256];
    int64_t pid, tid, ts, dur;
};

static void take_args(struct rs_scan *s, struct line *l)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "name"))
            rs_json_take_text(s, l->title, sizeof l->title);
        else
            rs_scan_skip(s);
    }
}

static void take_event(struct rs_scan *s, struct line *l)
{
    unsigned depth = s->depth;
    *l = (struct line){.pid = -1, .tid = -1, .ts = -1, .dur = -1};
    while (rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "ph"))
            rs_json_take_text(s, l->ph, sizeof l->ph);
        else if (rs_scan_is(s, "name"))
            rs_json_take_text(s, l->name, sizeof l->name);
        else if (rs_scan_is(s, "pid"))
            rs_json_take_i64(s, &l->pid);
        else if (rs_scan_is(s, "tid"))
            rs_json_take_i64(s, &l->tid);
        else if (rs_scan_is(s, "ts"))
            rs_json_take_fixed(s, 3, &l->ts);
        else if (rs_scan_is(s, "dur"))
            rs_json_take_fixed(s, 3, &l->dur);
        else if (rs_scan_is(s, "args"))
            take_args(s, l);
        else
            rs_scan_skip(s);
    }
}

/* The number of a GPU in the name of a process: "/device:GPU:3", perhaps with more around it; -1: it is none. */
static int32_t device_of(const char *name)
{
    static const char word[] = "/device:GPU:";
    const char *at = strstr(name, word);
    char *end;
    if (!at) return -1;
    at += sizeof word - 1;
    unsigned long n = strtoul(at, &end, 10);
    return end == at || *at < '0' || *at > '9' || n > INT32_MAX ? -1 : (int32_t)n;
}

static enum rs_status keep(struct profile *p, const struct line *l, struct rs_err *err)
{
    if (!strcmp(l->ph, "M")) {
        bool process = !strcmp(l->name, "process_name");
        if (!process && strcmp(l->name, "thread_name") != 0) return RS_OK;
        if (process && device_of(l->title) < 0) rs_map_put(&p->hosts, (uint64_t)l->pid, 1);
        RS_ROOM(p->titles, p->n_titles, p->cap_titles);
        p->titles[p->n_titles++] =
            (struct title){l->pid, process ? -1 : l->tid, rs_arena_text(&p->m->arena, l->title, strlen(l->title))};
    } else if (!strcmp(l->ph, "X") && l->ts >= 0 && l->dur >= 0 && l->tid >= 0 &&
               !rs_map_find(&p->hosts, (uint64_t)l->pid)) {
        struct event e = {l->pid, l->tid, l->ts, l->dur, 0};
        RS_TRY(rs_model_name(p->m, l->name, strlen(l->name), &e.name, err));
        RS_ROOM(p->events, p->n_events, p->cap_events);
        p->events[p->n_events++] = e;
    }
    return RS_OK;
}

static enum rs_status read_profile(struct profile *p, const char *path, struct rs_err *damage, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_scan s;
    struct line *l = rs_zalloc(1, sizeof *l);
    enum rs_status status = rs_bytes_open(&bytes, path, err);
    if (status != RS_OK) {
        free(l);
        return status;
    }
    rs_scan_bytes(&s, bytes);
    unsigned depth = rs_json_take_into(&s, RS_T_OBJECT);
    while (depth && status == RS_OK && rs_json_take_key(&s, depth)) {
        if (!rs_scan_is(&s, "traceEvents")) {
            rs_scan_skip(&s);
            continue;
        }
        unsigned list = rs_json_take_into(&s, RS_T_ARRAY);
        while (list && status == RS_OK && rs_json_take_object(&s, list)) {
            take_event(&s, l);
            status = keep(p, l, err);
        }
    }
    if (s.err.code != RS_OK)
        *damage = s.err;
    else if (s.cut)
        rs_fail(damage, RS_BAD_INPUT, "%s: at byte %llu: the profile is cut off", path, (unsigned long long)s.offset);
    rs_scan_free(&s);
    rs_bytes_close(bytes);
    free(l);
    return status;
}

/* ---- into the model ---- */

/* The number of a stream: "Stream #13(Compute)"; -1: the thread is none. */
static int64_t stream_of(const char *name)
{
    static const char word[] = "Stream #";
    char *end;
    if (strncmp(name, word, sizeof word - 1) != 0) return -1;
    const char *at = name + sizeof word - 1;
    unsigned long n = strtoul(at, &end, 10);
    return end == at || *at < '0' || *at > '9' || n > INT32_MAX ? -1 : (int64_t)n;
}

static uint64_t thread_key(int64_t pid, int64_t tid)
{
    return rs_mix(rs_mix(1, (uint64_t)pid), (uint64_t)tid);
}

static void add_lanes(struct profile *p, uint32_t proc, struct rs_map *lanes)
{
    static const uint8_t unknown[16];
    struct rs_model *m = p->m;
    struct rs_map devices = {0}, clocks = {0}; /* pid -> device; device -> clock */
    for (uint32_t i = 0; i < p->n_titles; i++) {
        int32_t device = p->titles[i].tid < 0 ? device_of(p->titles[i].name) : -1;
        if (device >= 0) rs_map_put(&devices, (uint64_t)p->titles[i].pid, (uint64_t)device);
    }
    for (uint32_t i = 0; i < p->n_titles; i++) {
        const struct title *t = &p->titles[i];
        const uint64_t *device = t->tid < 0 ? NULL : rs_map_find(&devices, (uint64_t)t->pid);
        int64_t stream = device ? stream_of(t->name) : -1;
        if (stream < 0 || rs_map_find(lanes, thread_key(t->pid, t->tid))) continue;
        uint64_t *clock;
        rs_map_at(&clocks, *device, RS_NONE, &clock);
        if (*clock == RS_NONE) {
            uint32_t domain;
            rs_model_gpu(m, m->procs[proc].host, unknown, &domain);
            m->domains[domain].rigid = true; /* all times of a profile are on one axis */
            *clock = domain;
        }
        uint32_t lane;
        struct rs_lane row = {.proc = proc,
                              .domain = (uint32_t)*clock,
                              .kind = RS_LANE_STREAM,
                              .device = (int32_t)*device,
                              .id = stream,
                              .name = t->name};
        rs_model_lane(m, &row, &lane);
        rs_map_put(lanes, thread_key(t->pid, t->tid), lane);
    }
    rs_map_free(&devices);
    rs_map_free(&clocks);
}

static uint8_t kind_of(const char *name)
{
    size_t n = strlen(name);
    if (!strncasecmp(name, "memcpy", 6)) return RS_ACT_COPY;
    if (!strncasecmp(name, "memset", 6)) return RS_ACT_SET;
    return rs_kernel_is_nccl(name, n) || rs_kernel_comm(name, n) ? RS_ACT_COMM : RS_ACT_COMPUTE;
}

static void add_events(struct profile *p, uint32_t proc, const struct rs_map *lanes)
{
    struct rs_model *m = p->m;
    struct rs_proc *x = &m->procs[proc];
    for (uint32_t i = 0; i < p->n_events; i++) {
        const struct event *e = &p->events[i];
        const uint64_t *lane = rs_map_find(lanes, thread_key(e->pid, e->tid));
        uint32_t index;
        if (!lane || e->start > INT64_MAX - e->length) continue;
        rs_model_activity(m, &index);
        m->activities.start[index] = e->start;
        m->activities.end[index] = e->start + e->length;
        m->activities.lane[index] = (uint32_t)*lane;
        m->activities.name[index] = e->name;
        m->activities.kind[index] = kind_of(rs_model_name_text(m, e->name));
        if (x->begin == RS_TIME_NONE || e->start < x->begin) x->begin = e->start;
        if (e->start + e->length > x->end) x->end = e->start + e->length;
    }
    if (x->begin == RS_TIME_NONE) x->begin = x->end = 0;
}

static void add_proc(struct rs_model *m, const char *path, uint32_t *proc)
{
    uint32_t host;
    char boot[300];
    snprintf(boot, sizeof boot, "jax:%s", path);
    rs_model_host(m, "", boot, &host);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_JAX;
    p->path = rs_arena_text(&m->arena, path, strlen(path));
    p->ended = RS_END_WELL;
    p->drops = true; /* NCCL's operations are not in it */
    p->begin = p->end = RS_TIME_NONE;
}

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct profile p = {.m = fill->model};
    struct rs_map lanes = {0};
    struct rs_err damage = {0};
    enum rs_status status = read_profile(&p, file->path, &damage, err);
    if (status == RS_OK) {
        add_proc(p.m, file->path, &file->proc);
        add_lanes(&p, file->proc, &lanes);
        add_events(&p, file->proc, &lanes);
        if (damage.code != RS_OK) rs_other_incomplete(file, &damage);
        if (!rs_map_count(&lanes))
            status = rs_fail(err, RS_BAD_INPUT, "%s: a JAX/XLA profile without streams of a GPU", file->path);
    }
    rs_map_free(&lanes);
    rs_map_free(&p.hosts);
    free(p.events);
    free(p.titles);
    return status;
}

bool rs_jax_is(const char *path, const char *head, size_t n)
{
    (void)path;
    return memmem(head, n, "\"traceEvents\"", 13) && memmem(head, n, "\"/device:GPU:", 13);
}

enum rs_status rs_jax_fill(struct rs_fill *fill, struct rs_err *err)
{
    rs_fill_each(fill, add);
    return rs_model_note(fill->model, err,
                         "JAX/XLA profiles do not identify collectives: `ringscope overlap` works on them, and no "
                         "operation is joined; record the job with ringscope's plugin for that (ringscope run)");
}
