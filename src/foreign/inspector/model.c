#include "foreign/inspector/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "foreign/formats.h"

/* The numbers of a member's operations of one kind. */
struct numbers {
    uint64_t most, n;
};

/* What a member of the log is in the model. */
struct place {
    uint32_t member, proc;
    struct numbers colls, p2ps;
};

struct work {
    struct rs_model *m;
    const struct rs_inspector *log;
    const char *path;
    struct place *places; /* by member of the log */
    struct rs_map procs; /* host and pid -> process */
    struct rs_map members; /* process, communicator and rank -> member */
    uint32_t *order; /* operations by time */
};

/* ---- places ---- */

static void find_proc(struct work *w, const struct rs_inspector_member *x, uint32_t *proc)
{
    struct rs_model *m = w->m;
    uint64_t *at;
    rs_map_at(&w->procs, rs_mix_text((uint64_t)x->pid, x->host), RS_NONE, &at);
    if (*at != RS_NONE) {
        *proc = (uint32_t)*at;
        return;
    }
    uint32_t host;
    char boot[300]; /* processes of a host share its clock; without a name the host is unknown */
    snprintf(boot, sizeof boot, "inspector:%s", *x->host ? x->host : w->path);
    rs_model_host(m, x->host, boot, &host);
    rs_model_proc(m, proc);
    *at = *proc;
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_INSPECTOR;
    p->pid = x->pid > 0 && x->pid <= UINT32_MAX ? (uint32_t)x->pid : 0;
    p->path = rs_arena_text(&m->arena, w->path, strlen(w->path));
    p->ended = RS_END_ALIVE; /* how it ended is unknown */
    p->drops = true;
    p->clock_error_ns = 1000; /* times are in whole us */
    p->begin = p->end = RS_TIME_NONE;
}

static void find_member(struct work *w, uint32_t index)
{
    const struct rs_inspector_member *x = &w->log->members[index];
    struct rs_model *m = w->m;
    struct place *s = &w->places[index];
    uint32_t comm;
    uint64_t *at;
    find_proc(w, x, &s->proc);
    rs_model_comm_of(m, RS_TOOL_INSPECTOR, x->comm, &comm);
    struct rs_comm_row *c = &m->comms[comm];
    if (c->nranks < 0 && x->n_ranks > 0 && x->n_ranks < INT32_MAX) c->nranks = (int32_t)x->n_ranks;
    if (c->nnodes < 0 && x->n_nodes > 0 && x->n_nodes < INT32_MAX) c->nnodes = (int32_t)x->n_nodes;
    if (!c->name && *x->comm_name && strcmp(x->comm_name, "unknown") != 0) {
        c->name = rs_arena_text(&m->arena, x->comm_name, strlen(x->comm_name));
    }
    uint64_t key = rs_mix(rs_mix(s->proc + 1, comm), (uint64_t)x->rank);
    rs_map_at(&w->members, key, RS_NONE, &at);
    if (*at == RS_NONE) {
        rs_model_member(m, comm, &s->member);
        m->members[s->member].proc = s->proc;
        m->members[s->member].rank = x->rank >= 0 && x->rank < INT32_MAX ? (int32_t)x->rank : -1;
        *at = s->member;
    }
    s->member = (uint32_t)*at;
}

/* ---- operations ---- */

static int64_t moment(const struct rs_inspector_op *op)
{
    return op->start_us >= 0 ? op->start_us : op->dump_us;
}

static int by_time(const void *a, const void *b, void *ops)
{
    const struct rs_inspector_op *x = (struct rs_inspector_op *)ops + *(const uint32_t *)a,
                                 *y = (struct rs_inspector_op *)ops + *(const uint32_t *)b;
    if (moment(x) != moment(y)) return moment(x) < moment(y) ? -1 : 1;
    if (x->sn != y->sn) return x->sn < y->sn ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* us of the log as ns; RS_TIME_NONE: unknown, or beyond what ns hold. */
static int64_t ns(int64_t us)
{
    return us < 0 || us > INT64_MAX / 1000 ? RS_TIME_NONE : us * 1000;
}

/* From the first channel that began to the last that ended, if all of them did. */
static void take_kernels(struct work *w, uint32_t part, const struct rs_inspector_op *op)
{
    struct rs_parts *t = &w->m->parts;
    int64_t start = RS_TIME_NONE, end = RS_TIME_NONE;
    bool ended = op->n_kernels > 0;
    for (uint32_t i = 0; i < op->n_kernels; i++) {
        const struct rs_inspector_kernel *k = &w->log->kernels[op->first_kernel + i];
        int64_t a = ns(k->start_us), b = ns(k->stop_us);
        if (a != RS_TIME_NONE && (start == RS_TIME_NONE || a < start)) start = a;
        if (b > end) end = b;
        if (b == RS_TIME_NONE) ended = false;
    }
    if (start == RS_TIME_NONE) return;
    t->start[part] = start;
    t->start_source[part] = RS_FROM_CALLBACK;
    t->channels[part] = t->channels_seen[part] = op->n_kernels < UINT8_MAX ? (uint8_t)op->n_kernels : UINT8_MAX;
    if (!ended || end < start) return;
    t->end[part] = end;
    t->end_source[part] = RS_FROM_CALLBACK;
}

static void see(struct rs_proc *p, int64_t t)
{
    if (t == RS_TIME_NONE) return;
    if (p->begin == RS_TIME_NONE || t < p->begin) p->begin = t;
    if (p->first == RS_TIME_NONE || t < p->first) p->first = t;
    if (t > p->end) p->end = t;
    if (t > p->last) p->last = t;
}

static void count(struct numbers *n, uint64_t sn)
{
    if (sn > n->most) n->most = sn;
    n->n++;
}

static void add_op(struct work *w, const struct rs_inspector_op *op)
{
    struct rs_model *m = w->m;
    struct place *s = &w->places[op->member];
    uint32_t i;
    rs_model_part(m, &i);
    struct rs_parts *t = &m->parts;
    bool send = op->p2p && !strcmp(op->func, "Send"), recv = op->p2p && !strcmp(op->func, "Recv");
    t->handle[i] = op->offset + 1;
    t->member[i] = s->member;
    /* Sends and receives under another name ("SendRecv") cannot be joined: they stay alone. */
    t->kind[i] = send ? RS_PART_SEND : recv ? RS_PART_RECV : RS_PART_COLL;
    t->count[i] = op->bytes; /* the type is unknown: bytes */
    t->flags[i] = RS_PART_DONE | RS_PART_STARTED;
    if (!op->p2p) t->seq[i] = op->sn;
    if (op->p2p && op->peer >= 0 && op->peer < INT32_MAX) t->peer[i] = (int32_t)op->peer;
    t->enqueued[i] = ns(op->start_us);
    if (t->enqueued[i] == RS_TIME_NONE) t->before[i] = ns(op->dump_us);
    take_kernels(w, i, op);
    rs_model_string(m, !strcmp(op->func, "All2All") ? "AlltoAll" : op->func, &t->func[i]);
    count(op->p2p ? &s->p2ps : &s->colls, op->sn);
    struct rs_proc *p = &m->procs[s->proc];
    p->callbacks++;
    m->callbacks++;
    see(p, ns(op->dump_us));
    see(p, t->enqueued[i]);
    see(p, t->start[i]);
    see(p, t->end[i]);
    /* Timed by the enqueueing it says nothing of how long the work took. */
    bool timed = op->exec_ns >= 0 && op->timing != RS_INSPECTOR_COLLECTIVE_CPU;
    struct rs_tag tag = {
        .part = i, .step = RS_NONE, .pg_seq = -1, .duration_ns = timed ? op->exec_ns : RS_TIME_NONE, .is_p2p = op->p2p};
    if (timed) rs_model_tag(m, &tag);
}

/* Numbers count from 1, or from 0: at least so many are not here. Beyond 32 bits they are damaged. */
static uint64_t missing(const struct numbers *n)
{
    return n->most > n->n && n->most < UINT32_MAX ? n->most - n->n : 0;
}

static enum rs_status fill(struct work *w, uint64_t *lost, struct rs_err *err)
{
    (void)err;
    const struct rs_inspector *log = w->log;
    for (uint32_t i = 0; i < log->n_members; i++) find_member(w, i);
    for (uint32_t i = 0; i < log->n_ops; i++) w->order[i] = i;
    qsort_r(w->order, log->n_ops, sizeof *w->order, by_time, log->ops);
    for (uint32_t i = 0; i < log->n_ops; i++) add_op(w, &log->ops[w->order[i]]);
    for (uint32_t i = 0; i < log->n_members; i++) {
        const struct place *s = &w->places[i];
        uint64_t n = missing(&s->colls) + missing(&s->p2ps);
        *lost += n;
        w->m->procs[s->proc].lost += n;
    }
    return RS_OK;
}

enum rs_status rs_inspector_to_model(struct rs_model *m, const struct rs_inspector *log, const char *path,
                                     uint32_t *proc, uint64_t *lost, struct rs_err *err)
{
    struct work w = {.m = m, .log = log, .path = path};
    uint32_t first = m->nprocs;
    *lost = 0;
    w.places = rs_zalloc((size_t)log->n_members + 1, sizeof *w.places);
    w.order = rs_alloc(((size_t)log->n_ops + 1) * sizeof *w.order);
    enum rs_status status = fill(&w, lost, err);
    for (uint32_t i = first; i < m->nprocs; i++)
        if (m->procs[i].begin == RS_TIME_NONE) m->procs[i].begin = m->procs[i].end = 0;
    *proc = m->nprocs == first + 1 ? first : RS_NONE;
    free(w.places);
    free(w.order);
    rs_map_free(&w.procs);
    rs_map_free(&w.members);
    return status;
}

/* ---- all files ---- */

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    bool *noted = fill->state;
    struct rs_inspector log;
    uint64_t lost = 0;
    enum rs_status status = rs_inspector_read(&log, file->path, err);
    if (status == RS_OK) status = rs_inspector_to_model(m, &log, file->path, &file->proc, &lost, err);
    if (status == RS_OK && log.damage.code != RS_OK) rs_other_incomplete(file, &log.damage);
    if (status == RS_OK && lost)
        status = rs_model_note(m, err,
                               "%s: at least %" PRIu64 " operations are not in it, besides %" PRIu32
                               " that are: Inspector leaves out small ones, and drops what it cannot write in time",
                               file->path, lost, log.n_ops);
    if (status == RS_OK && log.n_ops && !log.verbose && !*noted) {
        *noted = true; /* once is enough */
        status = rs_model_note(m, err,
                               "%s: it says how long operations took, not when; NCCL_INSPECTOR_DUMP_VERBOSE=1 has "
                               "times",
                               file->path);
    }
    rs_inspector_free(&log);
    return status;
}

enum rs_status rs_inspector_fill(struct rs_fill *fill, struct rs_err *err)
{
    (void)err;
    bool noted = false;
    fill->state = &noted;
    rs_fill_each(fill, add);
    return RS_OK;
}
