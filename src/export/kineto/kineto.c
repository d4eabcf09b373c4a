/* kineto: copies of traces of PyTorch's profiler, with results of the join added to the args of their NCCL events. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "export/exporter.h"
#include "export/kineto/weave.h"
#include "export/output.h"
#include "fields/operation.h"
#include "foreign/formats.h"
#include "join/durations.h"
#include "join/overlay.h"

/* What takes a walk over all ranks of an operation: kept, because the trace of each rank needs it. */
struct state {
    int64_t *transfer; /* by operation of the model */
    uint8_t *known; /* by operation: it was looked at */
    struct rs_map waits; /* operation << 32 | rank -> ns */
    uint64_t woven; /* events that were changed */
};

/* One trace that is written back. */
struct trace {
    const struct rs_timeline *t;
    struct state *kept;
    const struct rs_spot *spots; /* of its process, by event */
    uint64_t first; /* number of its first event there */
    uint32_t n, at;
};

static bool is_rewritten(const struct rs_inputs *in, size_t i)
{
    const struct rs_format *f = rs_format_at(in->others[i].format);
    return f && rs_tool_has(f->tool, RS_CAP_REWRITE);
}

static bool is_asked(const struct rs_inputs *in, size_t i, const char *only)
{
    return is_rewritten(in, i) && (!only || rs_same_file(in->others[i].path, only));
}

static bool is_many(const struct rs_inputs *in, const char *only)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nothers; i++) n += is_asked(in, i, only);
    return n > 1;
}

/* ---- what is added to an event ---- */

static uint32_t op_of(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    uint32_t op = m->parts.op[part];
    if (op >= m->ops.n) return RS_NONE;
    if (m->ops.over[op] != RS_NONE) op = m->ops.over[op]; /* as the primary source recorded it */
    return t->op_number[op] == RS_NONE ? RS_NONE : op;
}

static bool wants(void *of, uint64_t event)
{
    struct trace *w = of;
    event += w->first;
    while (w->at < w->n && w->spots[w->at].event < event) w->at++;
    for (; w->at < w->n && w->spots[w->at].event == event; w->at++)
        if (op_of(w->t, w->spots[w->at].part) != RS_NONE) return true;
    return false;
}

static void look_at(struct state *s, const struct rs_model *m, uint32_t op)
{
    if (s->known[op]) return;
    s->known[op] = 1;
    s->transfer[op] = rs_op_rate(m, op).transfer_ns;
    int64_t shortest = rs_op_shortest(m, op);
    struct rs_op_rank r;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &r);) {
        uint32_t rank = (uint32_t)m->members[m->parts.member[r.part]].rank;
        rs_map_put(&s->waits, (uint64_t)op << 32 | rank, (uint64_t)rs_op_rank_wait(m, &r, shortest));
    }
}

/* How long the rank of a part waited in the operation of the primary source. */
static int64_t wait_of(const struct state *s, const struct rs_model *m, uint32_t part, uint32_t op)
{
    const struct rs_member *x = &m->members[m->parts.member[part]];
    int32_t rank = m->ops.comm[op] == x->comm ? x->rank : rs_overlay_rank(m, x->comm, x->rank, m->ops.comm[op]);
    return (int64_t)rs_map_get(&s->waits, (uint64_t)op << 32 | (uint32_t)rank, (uint64_t)RS_TIME_NONE);
}

/* A field as JSON: ", "ringscope wait_ns": 12". Only types that fields in Kineto traces have. */
static void put_field(struct rs_strbuf *to, const struct rs_out_field *f, struct rs_value v)
{
    rs_strbuf_printf(to, "%s\"ringscope %s\": ", to->len ? ", " : "", f->name);
    switch (v.type) {
    case RS_OUT_INT: rs_strbuf_printf(to, "%" PRId64, v.i); break;
    case RS_OUT_BOOL: rs_strbuf_puts(to, v.u ? "true" : "false"); break;
    case RS_OUT_HEX: rs_strbuf_printf(to, "\"0x%016" PRIx64 "\"", v.u); break;
    default:
        assert(v.type == RS_OUT_NULL);
        rs_strbuf_puts(to, "null");
        break;
    }
}

/* A kernel may run several operations, mostly sends and receives: then all of them are listed. */
static void put_all(const struct trace *w, uint64_t event, struct rs_strbuf *to)
{
    uint32_t first = op_of(w->t, w->spots[w->at].part), last = first;
    for (uint32_t i = w->at + 1; i < w->n && w->spots[i].event == event; i++) {
        uint32_t op = op_of(w->t, w->spots[i].part);
        if (op == RS_NONE || op == first || op == last) continue;
        if (last == first)
            rs_strbuf_printf(to, ", \"ringscope ops\": [\"0x%016" PRIx64 "\"", w->t->model->ops.id[first]);
        rs_strbuf_printf(to, ", \"0x%016" PRIx64 "\"", w->t->model->ops.id[op]);
        last = op;
    }
    if (last != first) rs_strbuf_puts(to, "]");
}

static void keys(void *of, uint64_t event, bool has_comms_id, struct rs_strbuf *to)
{
    struct trace *w = of;
    const struct rs_model *m = w->t->model;
    uint32_t part = w->spots[w->at].part, op = op_of(w->t, part);
    look_at(w->kept, m, op);
    struct rs_op_slice row = {.key = rs_op_key(m, op), .transfer_ns = w->kept->transfer[op]};
    rs_facts_of_op(m, op, &row.facts);
    for (const struct rs_out_field *f = rs_op_fields; f < rs_op_fields + RS_OP_FIELDS; f++) {
        if (!(f->in & RS_IN_KINETO)) continue;
        put_field(to, f, f->get(&row));
        if (f == &RS_OP_FIELD(op)) /* what this rank did in it comes next */
            put_field(to, &RS_OP_RANK_FIELD(wait_ns), rs_v_time(wait_of(w->kept, m, part, op)));
    }
    put_all(w, w->first + event, to);
    if (!has_comms_id && row.facts.has_comms_id) rs_strbuf_printf(to, ", \"Comms Id\": %" PRIu64, row.facts.comms_id);
}

/* ---- files ---- */

static int by_event(const void *a, const void *b)
{
    const struct rs_spot *x = a, *y = b;
    if (x->proc != y->proc) return x->proc < y->proc ? -1 : 1;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* The first spot of a process, or of a later one. */
static uint32_t first_of(const struct rs_model *m, uint32_t proc)
{
    uint32_t low = 0, high = m->nspots;
    RS_BISECT(low, high, mid, m->spots[mid].proc < proc);
    return low;
}

static enum rs_status weave(struct rs_export *x, const struct rs_other *file, FILE *to, struct rs_err *err)
{
    struct rs_model *m = x->timeline->model;
    struct state *s = x->state;
    struct rs_bytes *bytes;
    uint64_t woven = 0;
    struct trace w = {.t = x->timeline, .kept = s, .first = file->first_event};
    if (file->proc != RS_NONE && m->nspots) {
        uint32_t first = first_of(m, file->proc);
        w.spots = m->spots + first;
        w.n = first_of(m, file->proc + 1) - first;
    }
    RS_TRY(rs_bytes_open(&bytes, file->path, err));
    enum rs_status status = rs_kineto_weave(bytes, to, x->name, wants, keys, &w, &woven, err);
    rs_bytes_close(bytes);
    s->woven += woven;
    return status;
}

/* One of several: to `name` below the folder, compressed as its suffix says. */
static enum rs_status weave_below(struct rs_export *x, const struct rs_other *file, const char *name,
                                  struct rs_err *err)
{
    struct rs_strbuf path = {0};
    struct rs_output place;
    const char *slash = strrchr(name, '/');
    enum rs_status status = RS_OK;
    if (slash) {
        rs_strbuf_printf(&path, "%s/%.*s", x->path, (int)(slash - name), name);
        status = rs_dir_make(rs_strbuf_borrow(&path), err);
        rs_strbuf_clear(&path);
    }
    rs_strbuf_printf(&path, "%s/%s", x->path, name);
    if (status == RS_OK) status = rs_output_open(&place, RS_EXPORT_STREAM, rs_strbuf_borrow(&path), false, NULL, err);
    if (status == RS_OK) {
        status = weave(x, file, place.file, err);
        if (status == RS_OK) status = rs_output_commit(&place, err);
        rs_output_abort(&place);
    }
    rs_strbuf_free(&path);
    return status;
}

/* Length of the common parent folder of all paths, with its slash. */
static size_t common(char *const *paths, size_t n)
{
    size_t same = 0, folder = 0;
    for (; paths[0][same]; same++) {
        for (size_t i = 1; i < n; i++)
            if (paths[i][same] != paths[0][same]) return folder;
        if (paths[0][same] == '/') folder = same + 1;
    }
    return folder;
}

/* Traces of ranks often have the same name, each in its own folder: they keep their paths below the common parent. */
static enum rs_status weave_many(struct rs_export *x, struct rs_err *err)
{
    struct rs_inputs *in = x->timeline->inputs;
    char **paths = rs_zalloc(in->nothers, sizeof *paths);
    enum rs_status status = RS_OK;
    size_t n = 0;
    for (size_t i = 0; i < in->nothers && status == RS_OK; i++) {
        if (!is_asked(in, i, x->only)) continue;
        paths[n] = realpath(in->others[i].path, NULL);
        if (!paths[n++]) status = rs_fail_errno(err, "%s: no longer exists", in->others[i].path);
    }
    size_t from = status == RS_OK ? common(paths, n) : 0;
    for (size_t i = 0, k = 0; i < in->nothers && status == RS_OK; i++) {
        if (is_asked(in, i, x->only)) status = weave_below(x, &in->others[i], paths[k++] + from, err);
        if (x->progress) x->progress(i + 1, in->nothers);
    }
    for (size_t k = 0; k < n; k++) free(paths[k]);
    free(paths);
    return status;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_inputs *in = x->timeline->inputs;
    struct rs_model *m = x->timeline->model;
    struct state *s = x->state = rs_zalloc(1, sizeof *s);
    s->transfer = rs_zalloc((size_t)m->ops.n + 1, sizeof *s->transfer);
    s->known = rs_zalloc((size_t)m->ops.n + 1, sizeof *s->known);
    if (m->nspots) qsort(m->spots, m->nspots, sizeof *m->spots, by_event);
    if (is_many(in, x->only)) return weave_many(x, err);
    for (size_t i = 0; i < in->nothers; i++)
        if (is_asked(in, i, x->only)) return weave(x, &in->others[i], x->file, err);
    return x->only ? rs_fail(err, RS_BAD_INPUT, "%s: is no trace of PyTorch's profiler (Kineto)", x->only)
                   : rs_fail(err, RS_BAD_INPUT, "none of the inputs is a trace of PyTorch's profiler (Kineto)");
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    const struct state *s = x->state;
    if (x->file && (fflush(x->file) != 0 || ferror(x->file))) return rs_fail_errno(err, "cannot write %s", x->name);
    if (s->woven) return RS_OK;
    return rs_model_note(x->timeline->model, err,
                         "nothing was added: no event of the trace belongs to an operation that passes the filters, or "
                         "all have the keys of ringscope already");
}

static void release(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    rs_map_free(&s->waits);
    free(s->transfer);
    free(s->known);
    free(s);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_kineto = {
    .name = "kineto",
    .what = "copies of Kineto traces, with results of the join added",
    .output = RS_EXPORT_STREAM,
    .many = is_many,
    .may_replace = NULL, /* a folder of traces may contain anything: never replaced */
    .begin = begin,
    .end = end,
    .free = release,
};
