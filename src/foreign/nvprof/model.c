/* A log of nvprof that was read, into the model. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/strbuf.h"
#include "foreign/formats.h"
#include "foreign/host_call.h"
#include "foreign/kernel_name.h"
#include "foreign/nvprof/nvprof.h"
#include "foreign/torch.h"
#include "model/model.h"
#include "nccl/abi.h"
#include "trace/inputs.h"

/* ---- traces ----
 * Rows of nvprof's --print-gpu-trace and --print-api-trace into lanes, activities and parts.
 *
 * Such a trace does not contain communicators. A place is one device of one process. Where all places of the logs ran
 * the same sequence of NCCL's functions they are taken for one communicator, made up, with ranks in the order of the
 * logs; else each is alone. */

struct nvprof_place {
    uint32_t proc, domain;
    int32_t device; /* -1: unknown */
    uint32_t member, kernels; /* kernels of NCCL's */
    uint64_t order; /* hash of the sequence of its functions */
};

struct nvprof_kernel {
    uint32_t place, activity;
};

struct nvprof_places {
    struct nvprof_place *rows;
    struct nvprof_kernel *kernels; /* by process, then by time */
    uint32_t n, cap, nkernels, cap_kernels;
};

/* ---- lanes ---- */

/* One process while its rows are added. */
struct adding {
    struct nvprof_places *places;
    struct rs_model *m;
    const struct rs_nvprof *log;
    uint32_t proc;
    struct rs_map place_of; /* device (or context, where only its name is known) -> place */
    struct rs_map lane_of; /* place and stream -> lane */
    struct rs_map call_of; /* correlation -> activity of the host call */
    uint32_t thread; /* lane of host calls; RS_NONE: none yet */
};

static void find_place(struct adding *a, const struct rs_nvprof_trace *t, uint32_t *place)
{
    static const uint8_t unknown[16];
    uint64_t key = t->device >= 0 ? (uint64_t)t->device : rs_mix_text((uint64_t)t->context + 1, t->device_name);
    uint64_t *at;
    rs_map_at(&a->place_of, key, RS_NONE, &at);
    if (*at == RS_NONE) {
        struct nvprof_places *p = a->places;
        RS_ROOM(p->rows, p->n, p->cap);
        struct nvprof_place *row = &p->rows[p->n];
        *row = (struct nvprof_place){.proc = a->proc, .device = t->device, .member = RS_NONE};
        rs_model_gpu(a->m, a->m->procs[a->proc].host, unknown, &row->domain);
        a->m->domains[row->domain].rigid = true; /* nvprof gives all times on its own axis */
        *at = p->n++;
    }
    *place = (uint32_t)*at;
}

static void find_stream(struct adding *a, const struct rs_nvprof_trace *t, uint32_t place, uint32_t *lane)
{
    uint64_t key = rs_mix(rs_mix(rs_mix(0, place), (uint64_t)t->context), (uint64_t)t->stream), *at;
    rs_map_at(&a->lane_of, rs_mix_text(key, t->stream_name), RS_NONE, &at);
    if (*at == RS_NONE) {
        struct rs_lane row = {.proc = a->proc, .domain = a->places->rows[place].domain, .kind = RS_LANE_STREAM};
        row.device = t->device;
        row.id = t->stream;
        if (t->stream_name[0]) {
            row.name = rs_arena_text(&a->m->arena, t->stream_name, strlen(t->stream_name));
        }
        rs_model_lane(a->m, &row, lane);
        *at = *lane;
    }
    *lane = (uint32_t)*at;
}

/* ---- activities ---- */

static uint8_t gpu_kind(const char *name)
{
    if (!strncmp(name, "[CUDA memset", 12)) return RS_ACT_SET;
    if (!strncmp(name, "[CUDA ", 6)) return RS_ACT_COPY;
    size_t n = strlen(name);
    return rs_kernel_is_nccl(name, n) || rs_kernel_comm(name, n) ? RS_ACT_COMM : RS_ACT_COMPUTE;
}

static int64_t end_of(const struct rs_nvprof_trace *t)
{
    return t->start_ns > INT64_MAX - t->duration_ns ? INT64_MAX : t->start_ns + t->duration_ns;
}

static enum rs_status add_activity(struct adding *a, const struct rs_nvprof_trace *t, uint32_t lane, uint8_t kind,
                                   uint32_t *index, struct rs_err *err)
{
    uint32_t name;
    RS_TRY(rs_model_name(a->m, t->name, strlen(t->name), &name, err));
    rs_model_activity(a->m, index);
    struct rs_activities *x = &a->m->activities;
    x->start[*index] = t->start_ns;
    x->end[*index] = end_of(t);
    x->lane[*index] = lane;
    x->name[*index] = name;
    x->kind[*index] = kind;
    x->bytes[*index] = t->bytes > 0 ? (uint64_t)t->bytes : 0;
    return RS_OK;
}

static enum rs_status add_call(struct adding *a, const struct rs_nvprof_trace *t, struct rs_err *err)
{
    uint32_t index;
    if (a->thread == RS_NONE) { /* nvprof does not record which thread called */
        struct rs_lane row = {.proc = a->proc, .kind = RS_LANE_THREAD, .device = -1};
        row.domain = a->m->hosts[a->m->procs[a->proc].host].domain;
        rs_model_lane(a->m, &row, &a->thread);
    }
    RS_TRY(add_activity(a, t, a->thread, (uint8_t)rs_host_call_kind(t->name, strlen(t->name)), &index, err));
    if (t->has_correlation) rs_map_put(&a->call_of, t->correlation, index);
    return RS_OK;
}

static enum rs_status add_work(struct adding *a, const struct rs_nvprof_trace *t, struct rs_err *err)
{
    uint32_t place, lane, index;
    uint8_t kind = gpu_kind(t->name);
    find_place(a, t, &place);
    find_stream(a, t, place, &lane);
    RS_TRY(add_activity(a, t, lane, kind, &index, err));
    if (t->has_correlation) a->m->activities.launch[index] = (uint32_t)rs_map_get(&a->call_of, t->correlation, RS_NONE);
    struct rs_kernel_name name;
    if (kind != RS_ACT_COMM || !rs_kernel_name(t->name, strlen(t->name), &name)) return RS_OK;
    struct nvprof_places *p = a->places;
    p->rows[place].order = rs_mix_text(p->rows[place].order, name.func ? name.func : "");
    p->rows[place].kernels++;
    RS_ROOM(p->kernels, p->nkernels, p->cap_kernels);
    p->kernels[p->nkernels++] = (struct nvprof_kernel){place, index};
    return RS_OK;
}

/* By process; host calls first, so that what they launched finds them. */
static int by_time(const void *a, const void *b, void *of)
{
    const struct rs_nvprof_trace *x = (const struct rs_nvprof_trace *)of + *(const uint32_t *)a;
    const struct rs_nvprof_trace *y = (const struct rs_nvprof_trace *)of + *(const uint32_t *)b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->gpu != y->gpu) return x->gpu ? 1 : -1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Kernels are seen from the process's start to the last row; later ones are not recorded. */
static void set_covers(struct rs_proc *p, bool has_gpu)
{
    p->covers = rs_zalloc(2, sizeof *p->covers);
    p->covers[0] = (struct rs_cover){p->begin, p->end, has_gpu ? RS_COLL | RS_P2P | RS_KERNEL_CH : 0};
    p->covers[1] = (struct rs_cover){p->end, INT64_MAX, 0};
    p->ncovers = 2;
}

static enum rs_status add_rows(struct adding *a, const uint32_t *order, uint32_t n, struct rs_err *err)
{
    struct rs_proc *p = &a->m->procs[a->proc];
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_nvprof_trace *t = &a->log->traces[order[i]];
        RS_TRY(t->gpu ? add_work(a, t, err) : add_call(a, t, err));
        if (p->first == RS_TIME_NONE || t->start_ns < p->first) p->first = t->start_ns;
        if (p->last == RS_TIME_NONE || end_of(t) > p->last) p->last = end_of(t);
    }
    p->end = p->last;
    set_covers(p, a->log->traces[order[n - 1]].gpu);
    return RS_OK;
}

static enum rs_status trace_add_process(struct nvprof_places *places, struct rs_model *m, const struct rs_nvprof *log,
                                        uint32_t proc, const uint32_t *order, uint32_t n, struct rs_err *err)
{
    struct adding a = {.places = places, .m = m, .log = log, .proc = proc, .thread = RS_NONE};
    enum rs_status status = add_rows(&a, order, n, err);
    rs_map_free(&a.place_of);
    rs_map_free(&a.lane_of);
    rs_map_free(&a.call_of);
    return status;
}

/* All rows of a log, whose first process has the row `first_proc` in the model, and the others the next. Sets what the
 * processes cover. */
static enum rs_status nvprof_trace_add(struct nvprof_places *places, struct rs_model *m, const struct rs_nvprof *log,
                                       uint32_t first_proc, struct rs_err *err)
{
    uint32_t n = log->n_traces;
    if (!n) return RS_OK;
    uint32_t *order = rs_alloc(n * sizeof *order);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, by_time, log->traces);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0, next; i < n && status == RS_OK; i = next) {
        uint32_t process = log->traces[order[i]].process;
        for (next = i + 1; next < n && log->traces[order[next]].process == process;) next++;
        status = trace_add_process(places, m, log, first_proc + process, order + i, next - i, err);
    }
    free(order);
    return status;
}

/* ---- parts ---- */

static void add_member(struct rs_model *m, struct nvprof_place *place, uint32_t comm, int32_t rank)
{
    rs_model_member(m, comm, &place->member);
    struct rs_member *x = &m->members[place->member];
    x->rank = rank;
    x->proc = place->proc;
    x->gpu = place->domain;
    x->device = place->device;
}

static enum rs_status add_members(struct nvprof_places *p, struct rs_model *m, struct rs_err *err)
{
    uint32_t n = 0, first = RS_NONE, comm = RS_NONE;
    bool same = true;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!p->rows[i].kernels) continue;
        if (first == RS_NONE) first = i;
        same &= p->rows[i].kernels == p->rows[first].kernels && p->rows[i].order == p->rows[first].order;
        n++;
    }
    same &= n > 1;
    if (n > 1)
        RS_TRY(
            rs_model_note(m, err,
                          same ? "nvprof does not record communicators: its %u devices ran the same NCCL functions in "
                                 "the same order and are taken for one, with ranks in the order of the logs"
                               : "nvprof does not record communicators, and its %u devices ran different NCCL "
                                 "functions: their operations cannot be joined",
                          n));
    int32_t rank = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!p->rows[i].kernels) continue;
        if (!same || comm == RS_NONE) {
            int32_t which = (int32_t)i;
            rs_model_comm_of(m, RS_TOOL_NVPROF, rs_torch_group("nvprof", 6, &which, 1), &comm);
            m->comms[comm].made_up = true;
            m->comms[comm].nranks = same && n <= INT32_MAX ? (int32_t)n : -1;
        }
        add_member(m, &p->rows[i], comm, same ? rank++ : -1);
    }
    return RS_OK;
}

static void add_part(struct rs_model *m, const struct nvprof_place *place, uint32_t activity, struct rs_map *numbers)
{
    const struct rs_activities *x = &m->activities;
    const char *text = rs_model_name_text(m, x->name[activity]);
    struct rs_kernel_name name;
    uint32_t part;
    uint16_t func, algo;
    /* A kernel of sends and receives does not say with whom. */
    if (!rs_kernel_name(text, strlen(text), &name) || !name.func || !strcmp(name.func, "SendRecv")) return;
    rs_model_string(m, name.func, &func);
    rs_model_string(m, name.algo, &algo);
    rs_model_part(m, &part);
    struct rs_parts *t = &m->parts;
    uint64_t *number;
    rs_map_at(numbers, (uint64_t)place->member << 16 | func, 0, &number);
    t->seq[part] = (*number)++;
    t->handle[part] = t->launch[part] = (uint64_t)activity + 1;
    t->member[part] = place->member;
    t->kind[part] = RS_PART_COLL;
    t->func[part] = func;
    t->algo[part] = algo;
    t->start[part] = x->start[activity];
    t->end[part] = x->end[activity];
    t->start_source[part] = t->end_source[part] = RS_FROM_KERNEL;
    t->flags[part] |= RS_PART_STOPPED | (name.symmetric ? RS_PART_SYMMETRIC : 0);
    if (x->launch[activity] != RS_NONE) {
        t->launched[part] = x->start[x->launch[activity]];
        t->flags[part] |= RS_PART_LAUNCHED;
    }
    x->part[activity] = part;
}

/* When all processes are in: communicators, members and parts. */
static enum rs_status nvprof_trace_parts(struct nvprof_places *p, struct rs_model *m, struct rs_err *err)
{
    struct rs_map numbers = {0};
    RS_TRY(add_members(p, m, err));
    for (uint32_t i = 0; i < p->nkernels; i++)
        add_part(m, &p->rows[p->kernels[i].place], p->kernels[i].activity, &numbers);
    rs_map_free(&numbers);
    return RS_OK;
}

static void nvprof_places_free(struct nvprof_places *p)
{
    free(p->rows);
    free(p->kernels);
    *p = (struct nvprof_places){0};
}

/* ---- processes ---- */

/* Each has a clock of its own, whose zero is its start; which host it ran on is unknown. */
static void add_process(struct rs_model *m, const char *path, const struct rs_nvprof *log, uint32_t process,
                        uint32_t *proc)
{
    struct rs_strbuf boot = {0};
    uint32_t host;
    rs_strbuf_printf(&boot, "nvprof:%s:%" PRIu32, path, process);
    rs_model_host(m, "", rs_strbuf_borrow(&boot), &host);
    rs_strbuf_free(&boot);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_NVPROF;
    p->pid = log->processes[process].pid <= UINT32_MAX ? (uint32_t)log->processes[process].pid : 0;
    p->ended = RS_END_WELL; /* nvprof writes when its process is over */
    p->complete = log->damage.code == RS_OK;
    p->path = rs_arena_text(&m->arena, path, strlen(path));
}

/* ---- summaries ---- */

static enum rs_status name_of(struct rs_model *m, const char *text, uint32_t *id, struct rs_err *err)
{
    return rs_model_name(m, text, strlen(text), id, err);
}

/* "unnamed 291264256", or the name that the program gave. */
static enum rs_status thread_of(struct rs_model *m, const struct rs_nvprof_range *range, uint32_t *id,
                                struct rs_err *err)
{
    char text[256];
    if (range->thread_name[0] && range->thread_name[0] != '<')
        snprintf(text, sizeof text, "%.200s (%" PRIu64 ")", range->thread_name, range->thread);
    else
        snprintf(text, sizeof text, "%" PRIu64, range->thread);
    return name_of(m, text, id, err);
}

static enum rs_status add_row(struct rs_model *m, const struct rs_nvprof *log, const struct rs_nvprof_row *row,
                              uint32_t first_proc, struct rs_err *err)
{
    struct rs_stat s = {.proc = first_proc + row->process, .member = RS_NONE, .calls = row->calls};
    struct rs_kernel_name kernel;
    s.total_ns = row->time_ns;
    s.min_ns = row->min_ns;
    s.max_ns = row->max_ns;
    RS_TRY(name_of(m, row->name, &s.name, err));
    bool nccl = row->kind == RS_NVPROF_GPU && rs_kernel_name(row->name, strlen(row->name), &kernel);
    if (nccl) rs_model_string(m, kernel.func, &s.func);
    if (row->range != RS_NVPROF_NONE) {
        if (row->kind != RS_NVPROF_GPU) return RS_OK; /* of a range, only the work on the GPU is shown */
        s.kind = RS_STAT_RANGE_WORK;
        RS_TRY(name_of(m, log->ranges[row->range].name, &s.within, err));
        RS_TRY(thread_of(m, &log->ranges[row->range], &s.thread, err));
    } else if (row->kind == RS_NVPROF_GPU) {
        s.kind = nccl ? RS_STAT_COMM : !strncmp(row->name, "[CUDA ", 6) ? RS_STAT_COPY : RS_STAT_KERNEL;
    } else {
        s.kind = RS_STAT_CALL;
    }
    rs_model_stat(m, &s);
    return RS_OK;
}

static enum rs_status add_range(struct rs_model *m, const struct rs_nvprof_range *range, uint32_t first_proc,
                                struct rs_err *err)
{
    if (!range->calls) return RS_OK; /* its numbers are missing */
    struct rs_stat s = {.proc = first_proc + range->process, .member = RS_NONE, .kind = RS_STAT_RANGE};
    s.calls = range->calls;
    s.total_ns = range->time_ns;
    s.min_ns = range->min_ns;
    s.max_ns = range->max_ns;
    RS_TRY(name_of(m, range->name, &s.name, err));
    RS_TRY(name_of(m, range->domain, &s.within, err));
    RS_TRY(thread_of(m, range, &s.thread, err));
    rs_model_stat(m, &s);
    return RS_OK;
}

/* ---- metrics ---- */

static enum rs_status add_metric(struct rs_model *m, const struct rs_nvprof_metric *x, uint32_t first_proc,
                                 struct rs_err *err)
{
    struct rs_metric row = {.proc = x->process == RS_NVPROF_NONE ? RS_NONE : first_proc + x->process,
                            .calls = x->calls,
                            .min = x->min,
                            .max = x->max,
                            .mean = x->mean};
    RS_TRY(name_of(m, x->of, &row.of, err));
    RS_TRY(name_of(m, x->name, &row.name, err));
    RS_TRY(name_of(m, x->unit, &row.unit, err));
    rs_model_metric(m, &row);
    return RS_OK;
}

/* ---- notes ---- */

static enum rs_status take_note(struct rs_model *m, const char *path, struct rs_strbuf *s, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    if (s->len) status = rs_model_note(m, err, "%s: %s", path, rs_strbuf_borrow(s));
    rs_strbuf_free(s);
    return status;
}

static enum rs_status note_idle(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    enum { NAMED = 8 };
    struct rs_strbuf s = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < log->n_processes; i++) {
        const struct rs_nvprof_process *p = &log->processes[i];
        if (p->gpu_rows || (p->traced && !p->no_kernels) || n++ >= NAMED) continue;
        rs_strbuf_printf(&s, "%s%" PRIu64 "%s", n > 1 ? ", " : "no kernels were profiled in process ", p->pid,
                         p->has_result ? "" : " (no result)");
    }
    if (n > NAMED) rs_strbuf_printf(&s, " and %" PRIu32 " more", n - NAMED);
    return take_note(m, path, &s, err);
}

/* Warnings that differ only in their numbers are one. */
static uint64_t kind_of(const char *text)
{
    uint64_t h = 0;
    for (; *text; text++)
        if (*text < '0' || *text > '9') h = rs_mix(h, (unsigned char)*text);
    return h;
}

static enum rs_status note_warnings(struct rs_model *m, const char *path, const struct rs_nvprof *log,
                                    struct rs_map *times, struct rs_err *err)
{
    enum { MOST = 5, SHOWN = 110 };
    uint64_t *count;
    for (uint32_t i = 0; i < log->n_notes; i++) {
        if (log->notes[i].kind != RS_NVPROF_WARNING) continue;
        rs_map_at(times, kind_of(log->notes[i].text), 0, &count);
        ++*count;
    }
    for (uint32_t i = 0, said = 0; i < log->n_notes && said < MOST; i++) {
        const struct rs_nvprof_note *x = &log->notes[i];
        count = x->kind == RS_NVPROF_WARNING ? rs_map_find(times, kind_of(x->text)) : NULL;
        if (!count || !*count) continue;
        const char *text = strncmp(x->text, "Warning: ", 9) ? x->text : x->text + 9;
        char who[64] = "";
        if (x->process != RS_NVPROF_NONE)
            snprintf(who, sizeof who, " in process %" PRIu64, log->processes[x->process].pid);
        RS_TRY(rs_model_note(m, err, "%s: nvprof warns%s%s: %.*s%s", path, who, *count > 1 ? " and others" : "", SHOWN,
                             text, strlen(text) > SHOWN ? "..." : ""));
        *count = 0;
        said++;
    }
    return RS_OK;
}

static enum rs_status note_words(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    struct rs_map times = {0};
    enum rs_status status = note_warnings(m, path, log, &times, err);
    rs_map_free(&times);
    RS_TRY(status);
    uint64_t output = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < log->n_notes; i++)
        if (log->notes[i].kind == RS_NVPROF_OUTPUT && !output++) first = log->notes[i].text;
    if (output)
        RS_TRY(rs_model_note(m, err, "%s: %" PRIu64 " line%s of the programs' own output left out (the first: %.60s)",
                             path, output + log->notes_left_out, output + log->notes_left_out == 1 ? "" : "s", first));
    if (log->lines_not_read)
        RS_TRY(rs_model_note(m, err, "%s: %" PRIu64 " lines of parts that ringscope does not read (unified memory)",
                             path, log->lines_not_read));
    return RS_OK;
}

static enum rs_status add_notes(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    if (log->n_rows)
        RS_TRY(rs_model_note(m, err,
                             "%s: a summary of nvprof has sums and no time axis: no operations, communicators, clocks "
                             "or hangs can be derived from it; `ringscope report` shows what it contains",
                             path));
    RS_TRY(note_idle(m, path, log, err));
    return note_words(m, path, log, err);
}

/* ---- the whole ---- */

/* Adds its processes, statistics, activities and notes, and sets file->proc. What ran on GPUs is gathered in `places`:
 * when all logs are in, nvprof_trace_parts() makes operations from it. */
static enum rs_status nvprof_to_model(struct rs_model *m, struct nvprof_places *places, struct rs_other *file,
                                      const struct rs_nvprof *log, struct rs_err *err)
{
    uint32_t first_proc = m->nprocs, proc = RS_NONE;
    for (uint32_t i = 0; i < log->n_processes; i++) add_process(m, file->path, log, i, &proc);
    file->proc = log->n_processes == 1 ? proc : RS_NONE;
    for (uint32_t i = 0; i < log->n_ranges; i++) RS_TRY(add_range(m, &log->ranges[i], first_proc, err));
    for (uint32_t i = 0; i < log->n_rows; i++) RS_TRY(add_row(m, log, &log->rows[i], first_proc, err));
    for (uint32_t i = 0; i < log->n_metrics; i++) RS_TRY(add_metric(m, &log->metrics[i], first_proc, err));
    RS_TRY(nvprof_trace_add(places, m, log, first_proc, err));
    return add_notes(m, file->path, log, err);
}

/* ---- all files ---- */

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_nvprof log;
    file->proc = RS_NONE;
    enum rs_status status = rs_nvprof_read(&log, file->path, err);
    if (status == RS_OK && log.damage.code != RS_OK) rs_other_incomplete(file, &log.damage);
    if (status == RS_OK) status = nvprof_to_model(fill->model, fill->state, file, &log, err);
    rs_nvprof_free(&log);
    return status;
}

enum rs_status rs_nvprof_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct nvprof_places places = {0};
    fill->state = &places;
    rs_fill_each(fill, add);
    enum rs_status status = RS_OK;
    status = nvprof_trace_parts(&places, fill->model, err);
    nvprof_places_free(&places);
    return status;
}
