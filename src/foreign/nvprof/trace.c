#include "foreign/nvprof/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/host_call.h"
#include "foreign/kernel_name.h"
#include "foreign/torch.h"
#include "nccl/abi.h"

/* ---- lanes ---- */

/* One process while its rows are added. */
struct adding {
    struct rs_nvprof_places *places;
    struct rs_model *m;
    const struct rs_nvprof *log;
    uint32_t proc;
    struct rs_map place_of; /* device (or context, where only its name is told) -> place */
    struct rs_map lane_of; /* place and stream -> lane */
    struct rs_map call_of; /* correlation -> activity of the host call */
    uint32_t thread; /* lane of host calls; RS_NONE: none yet */
};

static enum rs_status find_place(struct adding *a, const struct rs_nvprof_trace *t, uint32_t *place, struct rs_err *err)
{
    static const uint8_t unknown[16];
    uint64_t key = t->device >= 0 ? (uint64_t)t->device : rs_mix_text((uint64_t)t->context + 1, t->device_name);
    uint64_t *at;
    RS_TRY(rs_map_at(&a->place_of, key, RS_NONE, &at, err));
    if (*at == RS_NONE) {
        struct rs_nvprof_places *p = a->places;
        RS_ROOM(p->rows, p->n, p->cap, err);
        struct rs_nvprof_place *row = &p->rows[p->n];
        *row = (struct rs_nvprof_place){.proc = a->proc, .device = t->device, .member = RS_NONE};
        RS_TRY(rs_model_gpu(a->m, a->m->procs[a->proc].host, unknown, &row->domain, err));
        a->m->domains[row->domain].rigid = true; /* nvprof gives all times on its own axis */
        *at = p->n++;
    }
    *place = (uint32_t)*at;
    return RS_OK;
}

static enum rs_status find_stream(struct adding *a, const struct rs_nvprof_trace *t, uint32_t place, uint32_t *lane,
                                  struct rs_err *err)
{
    uint64_t key = rs_mix(rs_mix(rs_mix(0, place), (uint64_t)t->context), (uint64_t)t->stream), *at;
    RS_TRY(rs_map_at(&a->lane_of, rs_mix_text(key, t->stream_name), RS_NONE, &at, err));
    if (*at == RS_NONE) {
        struct rs_lane row = {.proc = a->proc, .domain = a->places->rows[place].domain, .kind = RS_LANE_STREAM};
        row.device = t->device;
        row.id = t->stream;
        if (t->stream_name[0]) {
            row.name = rs_arena_text(&a->m->arena, t->stream_name, strlen(t->stream_name));
            if (!row.name) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        }
        RS_TRY(rs_model_lane(a->m, &row, lane, err));
        *at = *lane;
    }
    *lane = (uint32_t)*at;
    return RS_OK;
}

/* ---- activities ---- */

static uint8_t gpu_kind(const char *name)
{
    if (!strncmp(name, "[CUDA memset", 12)) return RS_ACT_SET;
    if (!strncmp(name, "[CUDA ", 6)) return RS_ACT_COPY;
    return rs_kernel_is_nccl(name, strlen(name)) ? RS_ACT_COMM : RS_ACT_COMPUTE;
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
    RS_TRY(rs_model_activity(a->m, index, err));
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
    if (a->thread == RS_NONE) { /* nvprof does not tell which thread called */
        struct rs_lane row = {.proc = a->proc, .kind = RS_LANE_THREAD, .device = -1};
        row.domain = a->m->hosts[a->m->procs[a->proc].host].domain;
        RS_TRY(rs_model_lane(a->m, &row, &a->thread, err));
    }
    RS_TRY(add_activity(a, t, a->thread, (uint8_t)rs_host_call_kind(t->name, strlen(t->name)), &index, err));
    return t->has_correlation ? rs_map_put(&a->call_of, t->correlation, index, err) : RS_OK;
}

static enum rs_status add_work(struct adding *a, const struct rs_nvprof_trace *t, struct rs_err *err)
{
    uint32_t place, lane, index;
    uint8_t kind = gpu_kind(t->name);
    RS_TRY(find_place(a, t, &place, err));
    RS_TRY(find_stream(a, t, place, &lane, err));
    RS_TRY(add_activity(a, t, lane, kind, &index, err));
    if (t->has_correlation) a->m->activities.launch[index] = (uint32_t)rs_map_get(&a->call_of, t->correlation, RS_NONE);
    if (kind != RS_ACT_COMM) return RS_OK;
    struct rs_kernel_name name;
    rs_kernel_name(t->name, strlen(t->name), &name);
    struct rs_nvprof_places *p = a->places;
    p->rows[place].order = rs_mix_text(p->rows[place].order, name.func ? name.func : "");
    p->rows[place].kernels++;
    RS_ROOM(p->kernels, p->nkernels, p->cap_kernels, err);
    p->kernels[p->nkernels++] = (struct rs_nvprof_kernel){place, index};
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

/* Kernels are seen from the process's start to the last row; what came after is not recorded. */
static enum rs_status set_covers(struct rs_proc *p, bool has_gpu, struct rs_err *err)
{
    p->covers = calloc(2, sizeof *p->covers);
    if (!p->covers) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    p->covers[0] = (struct rs_cover){p->begin, p->end, has_gpu ? RS_COLL | RS_P2P | RS_KERNEL_CH : 0};
    p->covers[1] = (struct rs_cover){p->end, INT64_MAX, 0};
    p->ncovers = 2;
    return RS_OK;
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
    return set_covers(p, a->log->traces[order[n - 1]].gpu, err);
}

static enum rs_status add_process(struct rs_nvprof_places *places, struct rs_model *m, const struct rs_nvprof *log,
                                  uint32_t proc, const uint32_t *order, uint32_t n, struct rs_err *err)
{
    struct adding a = {.places = places, .m = m, .log = log, .proc = proc, .thread = RS_NONE};
    enum rs_status status = add_rows(&a, order, n, err);
    rs_map_free(&a.place_of);
    rs_map_free(&a.lane_of);
    rs_map_free(&a.call_of);
    return status;
}

enum rs_status rs_nvprof_trace_add(struct rs_nvprof_places *places, struct rs_model *m, const struct rs_nvprof *log,
                                   uint32_t first_proc, struct rs_err *err)
{
    uint32_t n = log->n_traces;
    if (!n) return RS_OK;
    uint32_t *order = malloc(n * sizeof *order);
    if (!order) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, by_time, log->traces);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0, next; i < n && status == RS_OK; i = next) {
        uint32_t process = log->traces[order[i]].process;
        for (next = i + 1; next < n && log->traces[order[next]].process == process;) next++;
        status = add_process(places, m, log, first_proc + process, order + i, next - i, err);
    }
    free(order);
    return status;
}

/* ---- parts ---- */

static enum rs_status add_member(struct rs_model *m, struct rs_nvprof_place *place, uint32_t comm, int32_t rank,
                                 struct rs_err *err)
{
    RS_TRY(rs_model_member(m, comm, &place->member, err));
    struct rs_member *x = &m->members[place->member];
    x->rank = rank;
    x->proc = place->proc;
    x->gpu = place->domain;
    x->device = place->device;
    return RS_OK;
}

static enum rs_status add_members(struct rs_nvprof_places *p, struct rs_model *m, struct rs_err *err)
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
        RS_TRY(rs_model_note(m, err,
                             same ? "nvprof does not tell communicators: its %u devices ran the same NCCL functions in "
                                    "the same order and are taken for one, with ranks in the order of the logs"
                                  : "nvprof does not tell communicators, and its %u devices ran different NCCL "
                                    "functions: their operations cannot be brought together",
                             n));
    int32_t rank = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!p->rows[i].kernels) continue;
        if (!same || comm == RS_NONE) {
            int32_t which = (int32_t)i;
            RS_TRY(rs_model_comm_of(m, RS_TOOL_NVPROF, rs_torch_group("nvprof", 6, &which, 1), &comm, err));
            m->comms[comm].made_up = true;
            m->comms[comm].nranks = same && n <= INT32_MAX ? (int32_t)n : -1;
        }
        RS_TRY(add_member(m, &p->rows[i], comm, same ? rank++ : -1, err));
    }
    return RS_OK;
}

static enum rs_status add_part(struct rs_model *m, const struct rs_nvprof_place *place, uint32_t activity,
                               struct rs_map *numbers, struct rs_err *err)
{
    const struct rs_activities *x = &m->activities;
    const char *text = rs_model_name_text(m, x->name[activity]);
    struct rs_kernel_name name;
    uint32_t part;
    uint16_t func, algo, proto;
    /* A kernel of sends and receives does not say with whom. */
    if (!rs_kernel_name(text, strlen(text), &name) || !name.func || !strcmp(name.func, "SendRecv")) return RS_OK;
    RS_TRY(rs_model_string(m, name.func, &func, err));
    RS_TRY(rs_model_string(m, name.algo, &algo, err));
    RS_TRY(rs_model_string(m, name.proto, &proto, err));
    RS_TRY(rs_model_part(m, &part, err));
    struct rs_parts *t = &m->parts;
    uint64_t *number;
    RS_TRY(rs_map_at(numbers, (uint64_t)place->member << 16 | func, 0, &number, err));
    t->seq[part] = (*number)++;
    t->handle[part] = t->launch[part] = (uint64_t)activity + 1;
    t->member[part] = place->member;
    t->kind[part] = RS_PART_COLL;
    t->func[part] = func;
    t->algo[part] = algo;
    t->proto[part] = proto;
    t->start[part] = x->start[activity];
    t->end[part] = x->end[activity];
    t->start_source[part] = t->end_source[part] = RS_FROM_KERNEL;
    t->flags[part] |= RS_PART_STOPPED | (name.symmetric ? RS_PART_SYMMETRIC : 0);
    if (x->launch[activity] != RS_NONE) {
        t->launched[part] = x->start[x->launch[activity]];
        t->flags[part] |= RS_PART_LAUNCHED;
    }
    x->part[activity] = part;
    return RS_OK;
}

enum rs_status rs_nvprof_trace_parts(struct rs_nvprof_places *p, struct rs_model *m, struct rs_err *err)
{
    struct rs_map numbers = {0};
    RS_TRY(add_members(p, m, err));
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < p->nkernels && status == RS_OK; i++)
        status = add_part(m, &p->rows[p->kernels[i].place], p->kernels[i].activity, &numbers, err);
    rs_map_free(&numbers);
    return status;
}

void rs_nvprof_places_free(struct rs_nvprof_places *p)
{
    free(p->rows);
    free(p->kernels);
    *p = (struct rs_nvprof_places){0};
}
