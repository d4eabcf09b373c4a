#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "foreign/formats.h"
#include "foreign/kineto/calls.h"
#include "foreign/kineto/groups.h"
#include "foreign/kineto/kineto.h"
#include "foreign/kineto/number.h"
#include "foreign/kineto/parts.h"
#include "foreign/kineto/streams.h"
#include "nccl/abi.h"

/* ---- what it is ---- */

/* Chrome's JSON is written by many; these words are Kineto's. */
bool rs_kineto_is(const char *path, const char *head, size_t n)
{
    static const char *const words[] = {"\"baseTimeNanoseconds\"",
                                        "\"deviceProperties\"",
                                        "\"distributedInfo\"",
                                        "\"cpu_op\"",
                                        "\"cuda_runtime\"",
                                        "\"user_annotation\"",
                                        "\"gpu_memcpy\"",
                                        "\"ac2g\"",
                                        "\"Operator\""};
    (void)path;
    if (n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3)) {
        head += 3;
        n -= 3;
    }
    while (n && (*head == ' ' || *head == '\n' || *head == '\r' || *head == '\t')) {
        head++;
        n--;
    }
    if (!n || (*head != '{' && *head != '[')) return false;
    bool events = *head == '[' || memmem(head, n, "\"traceEvents\"", 13) || memmem(head, n, "\"schemaVersion\"", 15);
    for (size_t i = 0; events && i < sizeof words / sizeof *words; i++)
        if (memmem(head, n, words[i], strlen(words[i]))) return true;
    return false;
}

/* "kineto_rank3.json.gz", "trace-rank_12.json": -1 where no rank is named. */
static int32_t rank_in_name(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    for (const char *p = base; *p; p++) {
        if (strncasecmp(p, "rank", 4)) continue;
        p += 4;
        while (*p && strchr("_-.=", *p)) p++;
        char *end;
        long v = *p >= '0' && *p <= '9' ? strtol(p, &end, 10) : -1;
        if (v >= 0 && v <= INT32_MAX) return (int32_t)v;
        p--;
    }
    return -1;
}

/* ---- the process ---- */

/* What the profiler saw: [begin, end] of each window. Between them, and behind the last, it went on unseen. */
static void add_window(struct rs_proc *p, int64_t begin, int64_t end)
{
    static const uint64_t seen = RS_COLL | RS_P2P | RS_KERNEL_CH | RS_COLL_API | RS_P2P_API | RS_KERNEL_LAUNCH;
    struct rs_cover *covers = rs_realloc(p->covers, ((size_t)p->ncovers + 2) * sizeof *covers);
    p->covers = covers;
    uint32_t i = p->ncovers;
    for (; i > 0 && covers[i - 2].from > begin; i -= 2) memcpy(&covers[i], &covers[i - 2], 2 * sizeof *covers);
    covers[i] = (struct rs_cover){begin, end, seen};
    p->ncovers += 2;
    for (uint32_t k = 1; k < p->ncovers; k += 2)
        covers[k] = (struct rs_cover){covers[k - 1].to, k + 1 < p->ncovers ? covers[k + 1].from : INT64_MAX, 0};
}

/* Whether a trace may be another window of a process: nothing is profiled twice at one time. */
static bool is_window_of(const struct rs_model *m, const struct rs_kineto_process *x, const struct rs_kineto_file *f)
{
    const struct rs_proc *p = &m->procs[x->proc];
    if (f->k.pid <= 0 || p->pid != f->k.pid || f->begin > f->end) return false;
    for (uint32_t i = 0; i < p->ncovers; i += 2)
        if (f->begin <= p->covers[i].to && f->end >= p->covers[i].from) return false;
    return true;
}

static void find_span(struct rs_kineto_file *f)
{
    const struct rs_kineto *k = &f->k;
    f->begin = INT64_MAX;
    f->end = INT64_MIN;
    for (uint32_t i = 0; i < k->nrows; i++) {
        if (k->rows[i].start < f->begin) f->begin = k->rows[i].start;
        if (k->rows[i].end > f->end) f->end = k->rows[i].end;
    }
    for (uint32_t i = 0; i < k->ncalls; i++) {
        if (k->calls[i].start < f->begin) f->begin = k->calls[i].start;
        if (k->calls[i].end > f->end) f->end = k->calls[i].end;
    }
}

/* The host, where the name of the file tells it: PyTorch's handler for TensorBoard writes HOST_PID.TIME.pt.trace.json[.gz].
 * Its length in *n; NULL: any other name. */
static const char *host_of(const char *path, int64_t pid, size_t *n)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *end = strstr(name, ".pt.trace.json");
    char text[32];
    int digits = snprintf(text, sizeof text, "_%" PRId64 ".", pid);
    if (!end || pid <= 0) return NULL;
    const char *time = end;
    while (time > name && time[-1] >= '0' && time[-1] <= '9') time--;
    if (time == end || time - name <= digits || strncmp(time - digits, text, (size_t)digits)) return NULL;
    *n = (size_t)(time - digits - name);
    return name;
}

static void add_host(struct rs_model *m, const struct rs_kineto *k, const char *path, uint32_t *host)
{
    size_t n = 0, room = strlen(path) + sizeof "kineto host:";
    const char *name = host_of(path, k->pid, &n);
    char *boot = rs_arena_alloc(&m->arena, room);
    if (name)
        snprintf(boot, room, "kineto host:%.*s", (int)n, name);
    else
        snprintf(boot, room, "kineto:%s", path);
    rs_model_host(m, name ? boot + strlen("kineto host:") : "", boot, host);
}

static void add_process(struct rs_kineto_file *f, struct rs_model *m, const struct rs_other *file)
{
    const struct rs_kineto *k = &f->k;
    uint32_t host;
    add_host(m, k, file->path, &host);
    rs_model_proc(m, &f->process->proc);
    struct rs_proc *p = &m->procs[f->process->proc];
    p->host = host;
    p->tool = RS_TOOL_KINETO;
    p->pid = k->pid > 0 && k->pid <= UINT32_MAX ? (uint32_t)k->pid : 0;
    p->launcher_rank = k->rank;
    p->path = rs_arena_text(&m->arena, file->path, strlen(file->path));
    if (k->nccl_version) p->nccl_version = rs_arena_text(&m->arena, k->nccl_version, strlen(k->nccl_version));
    p->first = p->last = RS_TIME_NONE;
    p->ended = RS_END_WELL;
    p->complete = true;
    p->overwritten_until = RS_TIME_NONE;
}

/* The process that a trace is of: one that is known by an earlier trace, or a new one. */
static void find_process(struct rs_kineto_file *f, struct rs_map *of_rank, struct rs_model *m,
                         const struct rs_other *file)
{
    uint64_t *at = NULL;
    struct rs_kineto_process *x = NULL;
    if (f->k.rank >= 0) rs_map_at(of_rank, (uint32_t)f->k.rank, 0, &at);
    if (at) x = (struct rs_kineto_process *)(uintptr_t)*at;
    struct rs_kineto_process *first = x;
    while (x && !is_window_of(m, x, f)) x = x->next;
    f->process = x;
    if (x) return;
    f->process = rs_zalloc(1, sizeof *f->process);
    f->process->next = first;
    if (at) *at = (uintptr_t)f->process;
    add_process(f, m, file);
}

/* What a trace adds to its process. */
static void extend_process(struct rs_kineto_file *f, struct rs_model *m, const struct rs_other *file)
{
    struct rs_kineto_process *x = f->process;
    struct rs_proc *p = &m->procs[x->proc];
    bool told = f->begin <= f->end;
    f->first_event = x->events;
    f->first_row = x->rows;
    f->first_call = x->calls;
    x->events += (uint32_t)f->k.events;
    x->rows += f->k.nrows;
    x->calls += f->k.ncalls;
    x->files++;
    if (told && (p->first == RS_TIME_NONE || f->begin < p->first)) p->first = f->begin;
    if (told && (p->last == RS_TIME_NONE || f->end > p->last)) p->last = f->end;
    p->begin = p->first == RS_TIME_NONE ? 0 : p->first;
    p->end = p->last == RS_TIME_NONE ? 0 : p->last;
    p->complete &= file->complete;
    p->callbacks += f->k.events;
    m->callbacks += f->k.events;
    add_window(p, told ? f->begin : 0, told ? f->end : 0);
}

/* ---- lanes and activities ---- */

static void gpu_of(struct rs_kineto_file *f, struct rs_model *m, int32_t device, uint32_t *domain)
{
    static const uint8_t not_told[16];
    uint64_t *at;
    rs_map_at(&f->process->gpus, (uint32_t)device, RS_NONE, &at);
    if (*at == RS_NONE) {
        rs_model_gpu(m, m->procs[f->process->proc].host, not_told, domain);
        m->domains[*domain].rigid = true;
        *at = *domain;
    }
    *domain = (uint32_t)*at;
}

static enum rs_status add_lanes(struct rs_kineto_file *f, struct rs_model *m, uint32_t *lanes, struct rs_err *err)
{
    uint32_t proc = f->process->proc;
    for (uint32_t i = 0; i < f->k.nlanes; i++) {
        const struct rs_kineto_lane *l = &f->k.lanes[i];
        struct rs_lane row = {.proc = proc, .device = l->device, .id = l->id};
        uint32_t name;
        uint64_t *at;
        rs_map_at(&f->process->lanes, rs_kineto_lane_key(l->is_stream, l->device, l->id), RS_NONE, &at);
        RS_TRY(rs_kineto_model_name(f, m, l->name, &name, err));
        if (*at != RS_NONE && m->lanes[*at].id == l->id && m->lanes[*at].device == l->device) {
            lanes[i] = (uint32_t)*at; /* of an earlier window */
            continue;
        }
        row.kind = l->is_stream ? RS_LANE_STREAM : RS_LANE_THREAD;
        row.domain = m->hosts[m->procs[proc].host].domain;
        if (l->is_stream) gpu_of(f, m, l->device, &row.domain);
        if (name) row.name = rs_model_name_text(m, name);
        rs_model_lane(m, &row, &lanes[i]);
        if (*at == RS_NONE) *at = lanes[i];
    }
    return RS_OK;
}

static enum rs_status add_activities(struct rs_kineto_file *f, struct rs_model *m, const uint32_t *lanes,
                                     struct rs_err *err)
{
    struct rs_activities *t = &m->activities;
    f->first = t->n;
    for (uint32_t i = 0; i < f->k.nrows; i++) {
        const struct rs_kineto_row *r = &f->k.rows[i];
        uint32_t a, name;
        RS_TRY(rs_kineto_model_name(f, m, r->name, &name, err));
        rs_model_activity(m, &a);
        t->start[a] = r->start;
        t->end[a] = r->end;
        t->bytes[a] = r->bytes;
        t->lane[a] = lanes[r->lane];
        t->name[a] = name;
        if (r->link != RS_KINETO_NONE) t->launch[a] = f->first + r->link;
        t->kind[a] = r->kind;
    }
    return RS_OK;
}

static enum rs_status add_rows(struct rs_kineto_file *f, struct rs_model *m, struct rs_err *err)
{
    uint32_t *lanes = rs_zalloc((size_t)f->k.nlanes + 1, sizeof *lanes);
    f->names = rs_alloc(((size_t)f->k.nnames + 1) * sizeof *f->names);
    memset(f->names, 0xff, ((size_t)f->k.nnames + 1) * sizeof *f->names);
    enum rs_status status = add_lanes(f, m, lanes, err);
    if (status == RS_OK) status = add_activities(f, m, lanes, err);
    free(lanes);
    return status;
}

/* ---- files ---- */

/* NCCL's kernels that are tied, without the other rows. */
static void keep_kernels(struct rs_kineto_file *f, const uint32_t *of_row)
{
    f->kernels = rs_alloc(((size_t)f->k.of_kind[RS_ACT_COMM] + 1) * sizeof *f->kernels);
    for (uint32_t i = 0; i < f->k.nrows; i++) {
        if (of_row[i] == RS_KINETO_NONE) continue;
        f->kernels[f->nkernels++] = (struct rs_kineto_tied){i, of_row[i], f->k.rows[i].event};
    }
}

static enum rs_status add_file(struct rs_kineto_file *f, struct rs_map *of_rank, struct rs_model *m,
                               struct rs_other *file, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_err why;
    if (rs_bytes_open(&bytes, file->path, &why) != RS_OK) {
        rs_other_incomplete(file, &why);
        return RS_OK;
    }
    enum rs_status status = rs_kineto_read(&f->k, bytes, file->why, sizeof file->why, err);
    rs_bytes_close(bytes);
    RS_TRY(status);
    file->complete = !file->why[0];
    rs_kineto_groups_find(&f->k);
    if (f->k.rank < 0) f->k.rank = rank_in_name(file->path);
    rs_kineto_groups_settle(&f->k);
    uint32_t *of_row;
    rs_kineto_calls_tie(&f->k, &of_row);
    keep_kernels(f, of_row);
    free(of_row);
    rs_kineto_scopes_find(&f->k);
    find_span(f);
    find_process(f, of_rank, m, file);
    extend_process(f, m, file);
    file->proc = f->process->proc;
    file->first_event = f->first_event;
    RS_TRY(add_rows(f, m, err));
    free(f->k.rows);
    f->k.rows = NULL;
    f->k.nrows = f->k.cap_rows = 0;
    return RS_OK;
}

/* Traces of one rank beside each other that are not of one process are of two jobs: what is summed over all is of
 * neither. */
static enum rs_status say_ranks_twice(const struct rs_kineto_file *files, const struct rs_fill *fill,
                                      struct rs_err *err)
{
    struct rs_map first = {0}; /* rank -> its first file */
    size_t again = 0, a = 0, b = 0;
    for (size_t i = 0; i < fill->n; i++) {
        uint64_t *at;
        if (files[i].k.rank < 0 || !files[i].process) continue;
        rs_map_at(&first, (uint64_t)files[i].k.rank + 1, i, &at);
        if (files[*at].process == files[i].process) continue;
        if (!again++) {
            a = (size_t)*at;
            b = i;
        }
    }
    rs_map_free(&first);
    if (!again) return RS_OK;
    return rs_model_note(
        fill->model, err,
        "%s and %s are both of rank %lld, and %zu more like these: where they are of two jobs, read each "
        "job alone",
        fill->files[a]->path, fill->files[b]->path, (long long)files[a].k.rank, again - 1);
}

static int by_begin(const void *a, const void *b)
{
    const struct rs_kineto_file *x = *(struct rs_kineto_file *const *)a, *y = *(struct rs_kineto_file *const *)b;
    uint32_t p = x->process ? x->process->proc : RS_NONE, q = y->process ? y->process->proc : RS_NONE;
    if (p != q) return p < q ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Process by process, the windows of each by time. */
static enum rs_status join(struct rs_kineto_file *files, const struct rs_fill *fill, struct rs_err *err)
{
    struct rs_kineto_file **order = rs_alloc((fill->n + 1) * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < fill->n; i++)
        if (files[i].process) order[n++] = &files[i];
    qsort(order, n, sizeof *order, by_begin);
    enum rs_status status = rs_kineto_number(order, n, fill->model, err);
    if (status == RS_OK) status = rs_kineto_streams_number(order, n, fill->model, err);
    for (size_t i = 0; i < n && status == RS_OK; i++) status = rs_kineto_parts_add(order[i], fill->model, err);
    free(order);
    return status;
}

static void free_file(struct rs_kineto_file *f)
{
    free(f->kernels);
    free(f->names);
    rs_kineto_free(&f->k);
    if (!f->process || (f->process->files && --f->process->files)) return;
    rs_map_free(&f->process->gpus);
    rs_map_free(&f->process->lanes);
    rs_map_free(&f->process->members);
    free(f->process);
}

enum rs_status rs_kineto_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct rs_kineto_file *files = rs_zalloc(fill->n + 1, sizeof *files);
    struct rs_map of_rank = {0}; /* its processes */
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < fill->n && status == RS_OK; i++) {
        status = add_file(&files[i], &of_rank, fill->model, fill->files[i], err);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    if (status == RS_OK) status = say_ranks_twice(files, fill, err);
    if (status == RS_OK) status = join(files, fill, err);
    for (size_t i = 0; i < fill->n; i++) free_file(&files[i]);
    rs_map_free(&of_rank);
    free(files);
    return status;
}
