#include "foreign/kineto/kineto.h"

#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "foreign/json_fields.h"
#include "foreign/kineto/groups.h"
#include "foreign/torch.h"
#include "model/model.h"

/* ---- arguments ----
 * The "args" of an event of a Kineto trace: what ties it to others, and what PyTorch says of a communication.
 *
 * A plain struct; names are ids of the rs_kineto. */

struct kineto_args {
    uint64_t external; /* RS_KINETO_NO_ID: none */
    uint64_t correlation; /* 0: none */
    uint64_t bytes;
    uint64_t dims[2], elements; /* of the first two inputs, and of all; 0: not known */
    const char *dtype; /* NCCL's name of the first input's type; "": not known */
    int64_t device, stream; /* -1: unknown */
    int32_t rank; /* of the trace that a merged file has the event of; -1: none */
    int64_t raw_pid; /* its pid there; -1: none */
    uint32_t label; /* of a metadata event: the name that it gives; 0: none */
    struct rs_kineto_call comm; /* as far as known; func NULL: no communication, or "wait" */
};

/* All unknown. */
static void kineto_args_none(struct kineto_args *a)
{
    static const struct kineto_args none = {
        .external = RS_KINETO_NO_ID,
        .dtype = "",
        .device = -1,
        .stream = -1,
        .rank = -1,
        .raw_pid = -1,
        .comm = {RS_KINETO_CALL_UNKNOWN},
    };
    *a = none;
}

static bool plain_token(enum rs_token t)
{
    return t == RS_T_STRING || t == RS_T_NUMBER || t == RS_T_WORD;
}

static void take_i32(const struct rs_scan *s, int32_t *v)
{
    int64_t x;
    if (rs_scan_i64(s, &x) && x >= INT32_MIN && x <= INT32_MAX) *v = (int32_t)x;
}

/* An argument of a communication. The scanner is at its value, which is plain. */
static enum rs_status take_comm(struct rs_kineto_call *c, struct rs_kineto *k, const struct rs_scan *s, const char *key,
                                size_t n, struct rs_err *err)
{
#define KEY_IS(word) (n == sizeof(word) - 1 && !memcmp(key, word, sizeof(word) - 1))
    if (KEY_IS("Collective name")) {
        c->func = rs_torch_func(s->text, s->n);
    } else if (KEY_IS("dtype")) {
        c->dtype = rs_torch_dtype(s->text, s->n);
    } else if (KEY_IS("In msg nelems")) {
        rs_scan_u64(s, &c->in);
    } else if (KEY_IS("Out msg nelems")) {
        rs_scan_u64(s, &c->out);
    } else if (KEY_IS("Group size")) {
        take_i32(s, &c->group_size);
    } else if (KEY_IS("Process Group Name")) {
        c->has_pg_name = true;
        return rs_kineto_name(k, s->text, s->n, &c->pg_name, err);
    } else if (KEY_IS("Process Group ID") && !c->has_pg_name) { /* older */
        return rs_kineto_name(k, s->text, s->n, &c->pg_name, err);
    } else if (KEY_IS("Process Group Description")) {
        return rs_kineto_name(k, s->text, s->n, &c->pg_desc, err);
    } else if (KEY_IS("Process Group Ranks")) {
        return rs_kineto_name(k, s->text, s->n, &c->pg_ranks, err);
    } else if (KEY_IS("Rank")) {
        take_i32(s, &c->rank);
    } else if (KEY_IS("Src Rank")) {
        take_i32(s, &c->src);
    } else if (KEY_IS("Dst Rank")) {
        take_i32(s, &c->dst);
    } else if (KEY_IS("Seq")) {
        if (!rs_scan_i64(s, &c->seq) || c->seq < 0) c->seq = -1;
    } else if (KEY_IS("Comms Id")) {
        c->has_comms_id = rs_scan_u64(s, &c->comms_id);
    } else if (KEY_IS("Global rank start")) {
        take_i32(s, &c->first_rank);
    } else if (KEY_IS("Global rank stride")) {
        take_i32(s, &c->stride);
    }
    return RS_OK;
}

/* Whether a key can be one of a communication's, by its length and first letter. */
static bool may_be_comm(const char *key, size_t n)
{
    return n >= 3 && n <= 25 && memchr("CdIOGPRSD", key[0], 9);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* "Input Dims": [[6144], [], [8, 1024]]. The scanner is after the first bracket. */
static void take_dims(struct kineto_args *a, struct rs_scan *s)
{
    uint64_t product = 0, v;
    unsigned place = 0;
    enum rs_token t;
    for (unsigned depth = s->depth; (t = rs_scan_next(s)) != RS_T_END && s->depth >= depth;) {
        if (t == RS_T_ARRAY) {
            product = 0;
        } else if (t == RS_T_NUMBER && rs_scan_u64(s, &v)) {
            product = times(product ? product : 1, v);
        } else if (t == RS_T_CLOSE) {
            if (place < 2) a->dims[place] = product;
            if (__builtin_add_overflow(a->elements, product, &a->elements)) a->elements = UINT64_MAX;
            product = 0;
            place++;
        }
    }
}

/* "Input type": ["float", "", "Scalar"]. The scanner is after the bracket. */
static void take_types(struct kineto_args *a, struct rs_scan *s)
{
    enum rs_token t = rs_scan_next(s);
    unsigned depth = s->depth;
    if (t == RS_T_STRING) a->dtype = rs_torch_dtype(s->text, s->n);
    if (t != RS_T_CLOSE && t != RS_T_END) rs_scan_leave(s, depth);
}

/* Reads the object whose key came last. With `brief` it is left as soon as correlation, device and stream are known:
 * of a kernel that is not NCCL's no more is needed. */
static enum rs_status kineto_args_read(struct kineto_args *a, struct rs_kineto *k, struct rs_scan *s, bool brief,
                                       struct rs_err *err)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    char key[32];
    while (depth && rs_json_take_key(s, depth)) {
        size_t n = s->n;
        if (n >= sizeof key) {
            rs_scan_skip(s);
            continue;
        }
        memcpy(key, s->text, n); /* the text is gone with the next token */
        enum rs_token t = rs_scan_next(s);
        if (!plain_token(t)) {
            if (t == RS_T_ARRAY && KEY_IS("Input Dims"))
                take_dims(a, s);
            else if (t == RS_T_ARRAY && KEY_IS("Input type"))
                take_types(a, s);
            else if (t == RS_T_OBJECT || t == RS_T_ARRAY)
                rs_scan_leave(s, s->depth);
            continue;
        }
        if (n == 11 && (KEY_IS("External id") || KEY_IS("external id"))) {
            rs_scan_u64(s, &a->external);
        } else if (n == 11 && KEY_IS("correlation")) {
            rs_scan_u64(s, &a->correlation);
        } else if (n == 6 && KEY_IS("device")) {
            rs_scan_i64(s, &a->device);
        } else if (n == 6 && KEY_IS("stream")) {
            rs_scan_i64(s, &a->stream);
        } else if (n == 5 && KEY_IS("bytes")) {
            rs_scan_u64(s, &a->bytes);
        } else if (n == 4 && KEY_IS("name")) {
            RS_TRY(rs_kineto_name(k, s->text, s->n, &a->label, err));
        } else if (n == 4 && KEY_IS("rank")) { /* TraceLens' TraceFuse, as the next two */
            take_i32(s, &a->rank);
            k->merged |= a->rank >= 0;
        } else if (n == 7 && KEY_IS("pid_raw")) {
            rs_scan_i64(s, &a->raw_pid);
        } else if (n == 15 && KEY_IS("correlation_raw")) {
            rs_scan_u64(s, &a->correlation);
        } else if (may_be_comm(key, n)) {
            RS_TRY(take_comm(&a->comm, k, s, key, n, err));
        }
        if (brief && a->correlation && a->device >= 0 && a->stream >= 0) rs_scan_leave(s, depth);
    }
    return RS_OK;
}

/* ---- events ---- */

/* What an event is, by its category. */
enum what { NO_CATEGORY, UNWANTED, FOREIGN, OPERATOR, CALL, ANNOTATION, GPU_ANNOTATION, KERNEL, COPY, SET };

struct event {
    char ph; /* 0: not read yet */
    uint8_t what;
    bool has_name, has_time;
    uint32_t name;
    uint32_t label; /* name: what is in front of the pid ("[TP00] "); 0: nothing */
    int64_t pid, tid; /* -1: a text, or unknown */
    int64_t start, duration;
    bool has_args;
    struct kineto_args *args; /* large, and only set for what has some, or is kept */
};

#define IS(word) (s->n == sizeof(word) - 1 && !memcmp(s->text, word, sizeof(word) - 1))

/* The second words are those of the first versions. */
static uint8_t category(const struct rs_scan *s)
{
    if (IS("cpu_op") || IS("Operator")) return OPERATOR;
    if (IS("cuda_runtime") || IS("cuda_driver") || IS("Runtime")) return CALL;
    if (IS("kernel") || IS("Kernel")) return KERNEL;
    if (IS("gpu_memcpy") || IS("Memcpy")) return COPY;
    if (IS("gpu_memset") || IS("Memset")) return SET;
    if (IS("user_annotation")) return ANNOTATION;
    if (IS("gpu_user_annotation")) return GPU_ANNOTATION;
    static const char *const devices[] = {"mtia_", "xpu_", "hpu_", "glow_", "privateuse1_"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (s->n > strlen(devices[i]) && !memcmp(s->text, devices[i], strlen(devices[i]))) return FOREIGN;
    return UNWANTED;
}

static bool plain(struct rs_scan *s)
{
    enum rs_token t = rs_scan_next(s);
    if (t == RS_T_OBJECT || t == RS_T_ARRAY) rs_scan_leave(s, s->depth);
    return t == RS_T_STRING || t == RS_T_NUMBER || t == RS_T_WORD;
}

/* Of PyTorch's operators, the one that describes a communication, and those whose sizes say how many ranks it has. */
static bool is_wanted_operator(const char *name, size_t n)
{
#define NAME_IS(word) (n == sizeof(word) - 1 && !memcmp(name, word, n))
    return NAME_IS("record_param_comms") || NAME_IS("c10d::_allgather_base_") || NAME_IS("c10d::_reduce_scatter_base_");
}

/* Operators that are ranges of torch.compile (analyse/compiled.h). */
static bool is_compile_range(const char *name, size_t n)
{
    static const char *const begins[] = {"Torch-Compiled Region", "_compile.compile_inner"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (n >= strlen(begins[i]) && !memcmp(name, begins[i], strlen(begins[i]))) return true;
    return false;
}

/* The name, unless it says that the event is not needed. */
static enum rs_status take_name(struct event *e, struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    if (!plain(s)) return RS_OK;
    e->has_name = true;
    if (e->what == OPERATOR && is_compile_range(s->text, s->n)) e->what = ANNOTATION;
    if (e->what == OPERATOR && !is_wanted_operator(s->text, s->n)) {
        e->what = UNWANTED;
        return RS_OK;
    }
    return rs_kineto_name(k, s->text, s->n, &e->name, err);
}

static bool is_brief(const struct event *e, const struct rs_kineto *k)
{
    return e->what == KERNEL && e->has_name && !k->names[e->name].is_nccl && !k->merged && k->nrows;
}

/* A device whose rows are counted and no more. */
static enum rs_status keep_foreign(struct event *e, struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    e->what = UNWANTED;
    k->foreign_rows++;
    return k->foreign_kind ? RS_OK : rs_kineto_name(k, s->text, s->n, &k->foreign_kind, err);
}

/* A number; or a text that ends in one, as merged files have it ("[TP00] 4711"). Other texts ("Spans") are none. */
static enum rs_status take_pid(struct event *e, struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    e->pid = -1;
    e->label = 0;
    if (!plain(s)) return RS_OK;
    if (s->last != RS_T_STRING) {
        if (!rs_scan_i64(s, &e->pid)) e->pid = -1;
        return RS_OK;
    }
    size_t front = s->n;
    while (front && s->text[front - 1] >= '0' && s->text[front - 1] <= '9') front--;
    if (front == s->n || s->n - front > 18) return RS_OK;
    int64_t number = 0;
    for (size_t i = front; i < s->n; i++) number = number * 10 + (s->text[i] - '0');
    e->pid = number;
    return front ? rs_kineto_name(k, s->text, front, &e->label, err) : RS_OK;
}

static enum rs_status take_key(struct event *e, struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    if (IS("args")) {
        kineto_args_none(e->args);
        e->has_args = true;
        return kineto_args_read(e->args, k, s, is_brief(e, k), err);
    }
    if (IS("name")) return take_name(e, k, s, err);
    if (IS("ph")) {
        if (plain(s)) e->ph = s->n == 1 ? s->text[0] : '?';
    } else if (IS("cat")) {
        if (plain(s)) e->what = category(s);
        if (e->what == FOREIGN) return keep_foreign(e, k, s, err);
        if (e->what == OPERATOR && e->has_name && !is_wanted_operator(k->names[e->name].text, k->names[e->name].n))
            e->what = UNWANTED;
    } else if (IS("ts")) {
        e->has_time = plain(s) && rs_scan_fixed(s, 3, &e->start);
    } else if (IS("dur")) {
        if (!plain(s) || !rs_scan_fixed(s, 3, &e->duration)) e->duration = 0;
    } else if (IS("pid")) {
        return take_pid(e, k, s, err);
    } else if (IS("tid")) {
        if (!plain(s) || s->last == RS_T_STRING || !rs_scan_i64(s, &e->tid)) e->tid = -1;
    } else {
        rs_scan_skip(s);
    }
    return RS_OK;
}

static bool is_wanted(const struct event *e)
{
    if (e->what == UNWANTED) return false;
    return !e->ph || e->ph == 'X' || e->ph == 'M';
}

static bool has_prefix(const struct rs_kineto_name *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return name->n > n && !memcmp(name->text, prefix, n);
}

static uint8_t kind_of(const struct event *e, const struct rs_kineto_name *name)
{
    switch (e->what) {
    case KERNEL: return name->is_nccl || name->comm ? RS_ACT_COMM : RS_ACT_COMPUTE;
    case COPY: return RS_ACT_COPY;
    case SET: return RS_ACT_SET;
    case GPU_ANNOTATION: return RS_ACT_GPU_RANGE;
    case ANNOTATION: return has_prefix(name, "ProfilerStep#") ? RS_ACT_STEP : RS_ACT_RANGE;
    default: return name->call_kind;
    }
}

/* "nccl:all_reduce", "nccl:send 0->1": an annotation says a little of what record_param_comms says in new versions. */
static void take_annotation(struct rs_kineto_call *c, const struct event *e, const struct rs_kineto_name *name)
{
    const char *arrow = strpbrk(name->text, "<>"); /* "0->1", "1<-0": the peer follows it */
    c->func = rs_torch_func(name->text, name->n);
    c->in = c->out = e->args->elements;
    if (c->func && strcmp(c->func, "AllReduce") && strcmp(c->func, "Recv")) c->out = 0;
    c->dtype = e->args->dtype;
    c->source = RS_KINETO_ANNOTATION;
    if (arrow && c->func) c->rank = rs_torch_number(arrow, *arrow == '<' ? "<" : ">");
}

/* What an operator of c10d says: the one of output and input is the other times the ranks. */
static void take_sizes(struct rs_kineto_call *c, const struct event *e)
{
    uint64_t a = e->args->dims[0], b = e->args->dims[1], more = a > b ? a : b, less = a > b ? b : a;
    c->func = NULL;
    c->source = RS_KINETO_SIZES;
    c->group_size = less && more % less == 0 && more / less <= INT32_MAX ? (int32_t)(more / less) : -1;
}

static void keep_call(const struct event *e, struct rs_kineto *k, uint32_t lane, uint32_t row)
{
    const struct rs_kineto_name *name = &k->names[e->name];
    struct rs_kineto_call c = e->args->comm;
    if (e->what == ANNOTATION) take_annotation(&c, e, name);
    if (e->what == OPERATOR && has_prefix(name, "c10d:")) take_sizes(&c, e);
    if (c.source == RS_KINETO_ANNOTATION && !c.func) return;
    c.start = e->start;
    c.end = e->start + e->duration;
    c.external = e->args->external;
    c.lane = lane;
    c.row = row;
    c.event = (uint32_t)(k->events - 1);
    rs_kineto_call(k, &c);
}

static int32_t device_of(const struct event *e)
{
    int64_t v = e->args->device >= 0 ? e->args->device : e->args->raw_pid >= 0 ? e->args->raw_pid : e->pid;
    return v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

/* Its pid, with what the event says of that. */
static uint32_t pid_of(const struct event *e, struct rs_kineto *k)
{
    uint32_t pid = rs_kineto_pid(k, e->pid, e->label);
    if (e->args->rank >= 0) k->pids[pid].rank = e->args->rank;
    if (e->args->raw_pid >= 0) k->pids[pid].raw = e->args->raw_pid;
    return pid;
}

/* What a complete event gives. */
static void keep(struct event *e, struct rs_kineto *k)
{
    const struct kineto_args *a = e->args;
    if (e->ph != 'X' || !e->has_time || e->what == NO_CATEGORY) return;
    if (e->duration < 0 || __builtin_add_overflow(e->start, e->duration, &(int64_t){0})) e->duration = 0;
    bool stream = e->what >= GPU_ANNOTATION;
    int64_t id = stream && a->stream >= 0 ? a->stream : e->tid;
    uint32_t pid = pid_of(e, k);
    uint32_t lane = rs_kineto_lane(
        k, &(struct rs_kineto_lane){.is_stream = stream, .device = stream ? device_of(e) : -1, .id = id, .pid = pid});
    if (!stream && k->pid < 0) k->pid = e->pid;
    if (e->what == CALL) k->pids[pid].calls = true;
    if (e->what == OPERATOR) {
        keep_call(e, k, lane, RS_KINETO_NONE);
        return;
    }
    if (e->what == ANNOTATION && has_prefix(&k->names[e->name], "nccl:")) keep_call(e, k, lane, RS_KINETO_NONE);
    struct rs_kineto_row row = {
        .start = e->start,
        .end = e->start + e->duration,
        .bytes = a->bytes,
        .external = a->external,
        .link = a->correlation <= UINT32_MAX ? (uint32_t)a->correlation : 0,
        .name = e->name,
        .lane = lane,
        .event = (uint32_t)(k->events - 1),
        .kind = kind_of(e, &k->names[e->name]),
    };
    if (k->names[e->name].is_nccl && row.kind == RS_ACT_COMM && a->comm.func) keep_call(e, k, RS_KINETO_NONE, k->nrows);
    rs_kineto_row(k, &row);
}

/* Metadata: names of threads and streams, and of processes in merged files. */
static void keep_label(const struct event *e, struct rs_kineto *k)
{
    const struct rs_kineto_name *what = &k->names[e->name], *label = &k->names[e->args->label];
    if (!e->args->label || e->pid < 0) return;
    uint32_t pid = pid_of(e, k);
    if (has_prefix(what, "process_nam")) k->pids[pid].title = e->args->label;
    if (e->tid < 0 || !has_prefix(what, "thread_nam")) return;
    bool stream = has_prefix(label, "stream");
    struct rs_kineto_lane row = {.is_stream = stream, .device = -1, .id = e->tid, .pid = pid};
    if (stream) row.device = device_of(e);
    uint32_t lane = rs_kineto_lane(k, &row);
    if (!k->lanes[lane].name) k->lanes[lane].name = e->args->label;
}

/* An event; the scanner is after its bracket. */
static enum rs_status read_event(struct rs_kineto *k, struct rs_scan *s, struct kineto_args *args, struct rs_err *err)
{
    struct event e = {.pid = -1, .tid = -1, .args = args};
    unsigned depth = s->depth;
    k->events++;
    while (rs_json_take_key(s, depth)) {
        RS_TRY(take_key(&e, k, s, err));
        if (!is_wanted(&e)) {
            rs_scan_leave(s, depth);
            return RS_OK;
        }
    }
    if (s->cut) return RS_OK; /* half an event is none */
    if (!e.has_args) kineto_args_none(args);
    if (e.ph == 'M')
        keep_label(&e, k);
    else
        keep(&e, k);
    return RS_OK;
}

static enum rs_status read_events(struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    struct kineto_args args;
    for (unsigned depth = s->depth; rs_json_take_object(s, depth);) RS_TRY(read_event(k, s, &args, err));
    return RS_OK;
}

static enum rs_status read_top(struct rs_kineto *k, struct rs_scan *s, struct rs_err *err)
{
    for (unsigned depth = s->depth; rs_json_take_key(s, depth);) {
        if (rs_scan_is(s, "traceEvents")) {
            if (rs_json_take_into(s, RS_T_ARRAY)) RS_TRY(read_events(k, s, err));
        } else if (rs_scan_is(s, "distributedInfo")) {
            rs_kineto_info_read(k, s);
        } else if (rs_scan_is(s, "baseTimeNanoseconds")) {
            if (!plain(s) || !rs_scan_i64(s, &k->base_ns)) k->base_ns = 0;
        } else {
            rs_scan_skip(s);
        }
    }
    return RS_OK;
}

/* Onto Unix time, now that the base is known. Damaged times may wrap: an end is never before its start. */
static void move(int64_t *start, int64_t *end, int64_t base)
{
    *start = rs_time_plus(*start, base);
    *end = rs_time_plus(*end, base);
    if (*end < *start) *end = *start;
}

static void move_times(struct rs_kineto *k)
{
    for (uint32_t i = 0; i < k->nrows; i++) move(&k->rows[i].start, &k->rows[i].end, k->base_ns);
    for (uint32_t i = 0; i < k->ncalls; i++) move(&k->calls[i].start, &k->calls[i].end, k->base_ns);
}

enum rs_status rs_kineto_read(struct rs_kineto *k, struct rs_bytes *from, char *why, size_t bytes, struct rs_err *err)
{
    *k = (struct rs_kineto){.rank = -1, .label_rank = -1, .world = -1, .pid = -1, .last_lane = RS_KINETO_NONE};
    *why = 0;
    struct rs_scan s;
    rs_scan_bytes(&s, from);
    enum rs_token t = rs_scan_next(&s);
    uint32_t none;
    enum rs_status status = rs_kineto_name(k, "", 0, &none, err);
    if (status == RS_OK && t == RS_T_OBJECT) status = read_top(k, &s, err);
    if (status == RS_OK && t == RS_T_ARRAY) status = read_events(k, &s, err);
    if (s.err.code != RS_OK)
        snprintf(why, bytes, "%s", s.err.msg);
    else if (s.cut)
        snprintf(why, bytes, "%s: byte %llu: the trace is cut", rs_bytes_path(from), (unsigned long long)s.offset);
    rs_scan_free(&s);
    move_times(k);
    return status;
}
