#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "foreign/formats.h"
#include "foreign/kineto/calls.h"
#include "foreign/kineto/groups.h"
#include "foreign/kineto/kineto.h"
#include "foreign/kineto/number.h"
#include "foreign/kineto/parts.h"
#include "foreign/kineto/streams.h"
#include "foreign/kineto/unnamed.h"
#include "foreign/torch.h"
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
    const char *slash = strrchr(path, '/');
    return rs_torch_number(slash ? slash + 1 : path, "rank");
}

/* ---- the process ---- */

/* What the profiler saw: [begin, end] of each window. Between and after them nothing was recorded. */
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

/* The host, where the name of the file contains it: PyTorch's handler for TensorBoard writes
 * HOST_PID.TIME.pt.trace.json[.gz]. Its length in *n; NULL: any other name. */
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

static void add_host(struct rs_model *m, const struct rs_kineto_file *f, const char *path, uint32_t *host)
{
    size_t n = 0, room = strlen(path) + sizeof "kineto host:#4294967295";
    const char *name = host_of(path, f->k.pid, &n);
    char *boot = rs_arena_alloc(&m->arena, room);
    if (name)
        snprintf(boot, room, "kineto host:%.*s", (int)n, name);
    else if (f->piece) /* of a merged file, whose traces may be of several hosts, as those of several files */
        snprintf(boot, room, "kineto:%s#%" PRIu32, path, f->piece);
    else
        snprintf(boot, room, "kineto:%s", path);
    rs_model_host(m, name ? boot + strlen("kineto host:") : "", boot, host);
}

static void add_process(struct rs_kineto_file *f, struct rs_model *m, const struct rs_other *file)
{
    const struct rs_kineto *k = &f->k;
    uint32_t host;
    add_host(m, f, file->path, &host);
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
    bool known = f->begin <= f->end;
    f->first_event = x->events;
    f->first_row = x->rows;
    f->first_call = x->calls;
    x->events += (uint32_t)f->k.events;
    x->rows += f->k.nrows;
    x->calls += f->k.ncalls;
    x->files++;
    if (known && (p->first == RS_TIME_NONE || f->begin < p->first)) p->first = f->begin;
    if (known && (p->last == RS_TIME_NONE || f->end > p->last)) p->last = f->end;
    p->begin = p->first == RS_TIME_NONE ? 0 : p->first;
    p->end = p->last == RS_TIME_NONE ? 0 : p->last;
    p->complete &= file->complete;
    uint64_t events = f->piece ? (uint64_t)f->k.nrows + f->k.ncalls : f->k.events;
    p->callbacks += events;
    m->callbacks += events;
    add_window(p, known ? f->begin : 0, known ? f->end : 0);
}

/* ---- lanes and activities ---- */

static void gpu_of(struct rs_kineto_file *f, struct rs_model *m, int32_t device, uint32_t *domain)
{
    static const uint8_t no_uuid[16];
    uint64_t *at;
    rs_map_at(&f->process->gpus, (uint32_t)device, RS_NONE, &at);
    if (*at == RS_NONE) {
        rs_model_gpu(m, m->procs[f->process->proc].host, no_uuid, domain);
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

/* All traces of all files. */
struct traces {
    struct rs_kineto_file **rows; /* those of a merged file one after the other */
    uint32_t n, cap;
    struct rs_map of_rank; /* its processes */
    struct rs_model *m;
    struct library {
        const char *name; /* NULL: no more */
        uint64_t kernels;
    } libraries[32]; /* that communicated without NCCL */
    uint64_t foreign_rows; /* of devices that are not understood */
    char foreign_kind[32]; /* the category of the first */
};

/* Kernels that communicate without NCCL, by library. */
static void count_libraries(struct traces *t, const struct rs_kineto *k)
{
    enum { MOST = sizeof t->libraries / sizeof *t->libraries };
    for (uint32_t i = 0; i < k->nrows; i++) {
        const struct rs_comm_kernel *kernel = k->names[k->rows[i].name].comm;
        size_t at = 0;
        if (k->rows[i].kind != RS_ACT_COMM || !kernel) continue;
        while (at + 1 < MOST && t->libraries[at].name && strcmp(t->libraries[at].name, kernel->library)) at++;
        t->libraries[at].name = kernel->library;
        t->libraries[at].kernels++;
    }
}

/* What is there and not joined, or not understood. */
static enum rs_status say_others(const struct traces *t, struct rs_err *err)
{
    struct rs_strbuf list = {0};
    uint64_t kernels = 0;
    for (const struct library *l = t->libraries; l < t->libraries + sizeof t->libraries / sizeof *l && l->name; l++) {
        rs_strbuf_printf(&list, "%s%s: %s", list.len ? ", " : "", l->name, rs_text_count(l->kernels).s);
        kernels += l->kernels;
    }
    if (kernels)
        rs_model_note(t->m, err,
                      "%s kernel%s communicate%s without NCCL (%s): counted as communication, and not joined between "
                      "ranks",
                      rs_text_count(kernels).s, kernels == 1 ? "" : "s", kernels == 1 ? "s" : "",
                      rs_strbuf_borrow(&list));
    rs_strbuf_free(&list);
    if (!t->foreign_rows) return RS_OK;
    return rs_model_note(
        t->m, err,
        "%s events of devices that ringscope does not understand (%s, ...) are left out: their work is "
        "neither compute nor communication here",
        rs_text_count(t->foreign_rows).s, t->foreign_kind);
}

/* A trace on its way into the model. */
static enum rs_status add_trace(struct traces *t, struct rs_kineto_file *f, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = t->m;
    f->path = file->path;
    rs_kineto_unnamed_find(&f->k);
    rs_kineto_groups_find(&f->k);
    if (f->k.rank < 0) f->k.rank = f->k.label_rank;
    if (f->k.rank < 0 && !f->piece) f->k.rank = rank_in_name(file->path);
    rs_kineto_groups_settle(&f->k);
    uint32_t *of_row;
    rs_kineto_calls_tie(&f->k, &of_row);
    keep_kernels(f, of_row);
    free(of_row);
    count_libraries(t, &f->k);
    rs_kineto_unnamed_group(&f->k);
    rs_kineto_scopes_find(&f->k);
    find_span(f);
    find_process(f, &t->of_rank, m, file);
    extend_process(f, m, file);
    RS_TRY(add_rows(f, m, err));
    free(f->k.rows);
    f->k.rows = NULL;
    f->k.nrows = f->k.cap_rows = 0;
    return RS_OK;
}

static struct rs_kineto_file *new_trace(struct traces *t, const struct rs_kineto *k, uint32_t piece)
{
    RS_ROOM(t->rows, t->n, t->cap);
    struct rs_kineto_file *f = t->rows[t->n++] = rs_zalloc(1, sizeof *f);
    f->k = *k;
    f->piece = piece;
    return f;
}

/* What a file is: one trace, or several that were merged; neither, where `why` of the file says so. */
static enum rs_status add_traces(struct traces *t, struct rs_kineto *k, struct rs_other *file, struct rs_err *err)
{
    char why[256];
    struct rs_kineto *parts;
    uint32_t n;
    t->foreign_rows += k->foreign_rows;
    if (k->foreign_rows && !*t->foreign_kind)
        snprintf(t->foreign_kind, sizeof t->foreign_kind, "%s", k->names[k->foreign_kind].text);
    enum rs_status status = rs_kineto_split(k, &parts, &n, why, sizeof why, err);
    struct rs_err refused;
    if (status == RS_OK && *why) {
        rs_fail(&refused, RS_BAD_INPUT, "%s: %s", file->path, why);
        rs_other_incomplete(file, &refused);
    }
    if (status == RS_OK && !n && !*why) {
        struct rs_kineto_file *f = new_trace(t, k, 0);
        *k = (struct rs_kineto){0};
        RS_TRY(add_trace(t, f, file, err));
        file->proc = f->process->proc;
        file->first_event = f->first_event;
        return RS_OK;
    }
    size_t first = t->n;
    for (uint32_t i = 0; i < n; i++) new_trace(t, &parts[i], i + 1);
    free(parts);
    for (; first < t->n && status == RS_OK; first++) status = add_trace(t, t->rows[first], file, err);
    return status;
}

static enum rs_status add_file(struct traces *t, struct rs_other *file, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_err why;
    struct rs_kineto k;
    if (rs_bytes_open(&bytes, file->path, &why) != RS_OK) {
        rs_other_incomplete(file, &why);
        return RS_OK;
    }
    enum rs_status status = rs_kineto_read(&k, bytes, file->why, sizeof file->why, err);
    rs_bytes_close(bytes);
    file->complete = !file->why[0];
    if (status == RS_OK) status = add_traces(t, &k, file, err);
    rs_kineto_free(&k);
    return status;
}

/* Several traces of one rank that are not of one process are of two jobs: what is summed over all is of
 * neither. */
static enum rs_status say_ranks_twice(const struct traces *t, struct rs_err *err)
{
    struct rs_map first = {0}; /* rank -> its first trace */
    size_t again = 0, a = 0, b = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t *at;
        if (t->rows[i]->k.rank < 0 || !t->rows[i]->process) continue;
        rs_map_at(&first, (uint64_t)t->rows[i]->k.rank + 1, i, &at);
        if (t->rows[*at]->process == t->rows[i]->process) continue;
        if (!again++) {
            a = (size_t)*at;
            b = i;
        }
    }
    rs_map_free(&first);
    if (!again) return RS_OK;
    return rs_model_note(
        t->m, err,
        "%s and %s are both of rank %lld, and %zu more like these: where they are of two jobs, read each "
        "job alone",
        t->rows[a]->path, t->rows[b]->path, (long long)t->rows[a]->k.rank, again - 1);
}

static int by_begin(const void *a, const void *b)
{
    const struct rs_kineto_file *x = *(struct rs_kineto_file *const *)a, *y = *(struct rs_kineto_file *const *)b;
    if (x->process->proc != y->process->proc) return x->process->proc < y->process->proc ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Process by process, the windows of each by time. */
static enum rs_status join(struct traces *t, struct rs_err *err)
{
    for (size_t i = 0; i < t->n; i++) t->rows[i]->order = i;
    if (t->n) qsort(t->rows, t->n, sizeof *t->rows, by_begin);
    RS_TRY(rs_kineto_unnamed_join(t->rows, t->n, t->m, err));
    RS_TRY(rs_kineto_number(t->rows, t->n, t->m, err));
    RS_TRY(rs_kineto_streams_number(t->rows, t->n, t->m, err));
    for (size_t i = 0; i < t->n; i++) RS_TRY(rs_kineto_parts_add(t->rows[i], t->m, err));
    return RS_OK;
}

static void free_file(struct rs_kineto_file *f)
{
    struct rs_kineto_process *p = f->process;
    free(f->kernels);
    free(f->names);
    rs_kineto_free(&f->k);
    free(f);
    if (!p || (p->files && --p->files)) return;
    rs_map_free(&p->gpus);
    rs_map_free(&p->lanes);
    rs_map_free(&p->members);
    free(p);
}

enum rs_status rs_kineto_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct traces t = {.m = fill->model};
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < fill->n && status == RS_OK; i++) {
        status = add_file(&t, fill->files[i], err);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    if (status == RS_OK) status = say_ranks_twice(&t, err);
    if (status == RS_OK) status = say_others(&t, err);
    if (status == RS_OK) status = join(&t, err);
    for (size_t i = 0; i < t.n; i++) free_file(t.rows[i]);
    rs_map_free(&t.of_rank);
    free(t.rows);
    return status;
}
