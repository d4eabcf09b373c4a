#include "foreign/comma/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "foreign/formats.h"
#include "foreign/torch.h"
#include "import/network.h"

/* From the first to the last proxy operation of an operation. */
struct span {
    int64_t start, end; /* RS_TIME_NONE: none */
};

struct work {
    struct rs_model *m;
    const struct rs_comma *file;
    uint32_t proc;
    struct rs_map members; /* communicator and rank -> member */
    struct rs_network network;
    struct span *spans; /* by operation */
    uint32_t *order; /* operations by time */
};

static void find_member(struct work *w, uint64_t hash, int64_t rank, uint32_t *member)
{
    uint64_t *at;
    rs_map_at(&w->members, rs_mix(rs_mix(0, hash), (uint64_t)rank), RS_NONE, &at);
    if (*at == RS_NONE) {
        uint32_t comm;
        rs_model_comm_of(w->m, RS_TOOL_COMMA, hash, &comm);
        rs_model_member(w->m, comm, member);
        struct rs_member *x = &w->m->members[*member];
        x->proc = w->proc;
        x->rank = rank >= 0 && rank < INT32_MAX ? (int32_t)rank : -1;
        *at = *member;
    }
    *member = (uint32_t)*at;
}

/* The end of what lasts; RS_TIME_NONE: unknown. */
static int64_t after(int64_t start, int64_t dur)
{
    int64_t end;
    return start < 0 || dur < 0 || __builtin_add_overflow(start, dur, &end) ? RS_TIME_NONE : end;
}

static void see(struct rs_proc *p, int64_t t)
{
    if (t < 0) return; /* RS_TIME_NONE, too */
    if (p->first == RS_TIME_NONE || t < p->first) p->first = p->begin = t;
    if (t > p->last) p->last = p->end = t;
}

static void find_spans(struct work *w)
{
    const struct rs_comma *f = w->file;
    for (uint32_t i = 0; i < f->n_ops; i++) w->spans[i] = (struct span){RS_TIME_NONE, RS_TIME_NONE};
    for (uint32_t i = 0; i < f->n_proxies; i++) {
        const struct rs_comma_proxy *x = &f->proxies[i];
        if (x->op >= f->n_ops || x->start_ns < 0) continue;
        struct span *s = &w->spans[x->op];
        int64_t end = after(x->start_ns, x->dur_ns);
        if (s->start == RS_TIME_NONE || x->start_ns < s->start) s->start = x->start_ns;
        if (end > s->end) s->end = end;
    }
    for (uint32_t i = 0; i < f->n_ops; i++) { /* what CoMMA says itself comes first: it saw all of them */
        const struct rs_comma_op *op = &f->ops[i];
        if (op->child_start_ns < 0) continue;
        w->spans[i] = (struct span){op->child_start_ns, after(op->child_start_ns, op->child_dur_ns)};
    }
}

static int by_time(const void *a, const void *b, void *ops)
{
    const struct rs_comma_op *x = (struct rs_comma_op *)ops + *(const uint32_t *)a,
                             *y = (struct rs_comma_op *)ops + *(const uint32_t *)b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void add_op(struct work *w, uint32_t index)
{
    const struct rs_comma_op *op = &w->file->ops[index];
    const struct span *s = &w->spans[index];
    struct rs_model *m = w->m;
    const char *func = rs_torch_func(op->name, strlen(op->name));
    uint32_t member, i;
    find_member(w, op->comm, op->rank, &member);
    rs_model_part(m, &i);
    struct rs_parts *t = &m->parts;
    bool send = op->p2p && func && !strcmp(func, "Send"), recv = op->p2p && func && !strcmp(func, "Recv");
    t->handle[i] = op->offset + 1;
    t->member[i] = member;
    t->kind[i] = send ? RS_PART_SEND : recv ? RS_PART_RECV : RS_PART_COLL;
    t->count[i] = op->bytes; /* the type is unknown: bytes */
    if (op->seq >= 0 && !op->p2p) t->seq[i] = (uint64_t)op->seq;
    if (op->p2p && op->peer >= 0 && op->peer < INT32_MAX) t->peer[i] = (int32_t)op->peer;
    if (op->start_ns >= 0) t->enqueued[i] = op->start_ns;
    if (op->channels > 0 && op->channels < UINT8_MAX) t->channels[i] = (uint8_t)op->channels;
    if (!op->reclaimed) t->flags[i] |= RS_PART_DONE | RS_PART_STARTED;
    if (s->start != RS_TIME_NONE) {
        t->start[i] = s->start;
        t->start_source[i] = RS_FROM_PROXY;
        t->flags[i] |= RS_PART_NET;
    }
    if (s->end != RS_TIME_NONE && s->end >= s->start && !op->reclaimed) {
        t->end[i] = s->end;
        t->end_source[i] = RS_FROM_PROXY;
    }
    rs_model_string(m, func ? func : op->name, &t->func[i]);
    rs_model_string(m, *op->algo ? op->algo : NULL, &t->algo[i]);
    rs_model_string(m, *op->proto ? op->proto : NULL, &t->proto[i]);
    struct rs_proc *p = &m->procs[w->proc];
    see(p, t->enqueued[i]);
    see(p, after(op->start_ns, op->dur_ns));
    see(p, s->start);
    see(p, s->end);
    p->callbacks++;
    m->callbacks++;
}

/* ---- the network ---- */

/* What a step took; 0 where that is unknown or impossible. */
static int64_t took(int64_t from, int64_t to)
{
    return from < 0 || to < from ? 0 : to - from;
}

static void add_some(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

/* A send waits for its turn in the peer's queue until it is ready, and is on the network from there on. */
static void add_step(struct work *w, uint32_t member, const struct rs_comma_proxy *x, const struct rs_comma_step *s)
{
    struct rs_cell cell = {0};
    struct rs_net *net;
    struct rs_message message = {.member = member,
                                 .peer = (int32_t)x->peer,
                                 .sent = x->send,
                                 .bytes = s->bytes > 0 ? (uint64_t)s->bytes : 0,
                                 .end = s->end_ns};
    rs_network_row(&w->network, &cell, member, message.peer, s->end_ns >= 0 ? s->end_ns : x->start_ns, &net);
    if (x->send) {
        int64_t ready = s->fifo_ready_ns >= s->start_ns ? s->fifo_ready_ns : s->start_ns;
        message.ns = took(ready, s->end_ns);
        add_some(&net->credit_ns, took(s->start_ns, ready));
        add_some(&net->send_ns, message.ns);
        net->sent_bytes += message.bytes;
        net->sent++;
        if (took(s->start_ns, ready) > RS_NET_READY_NS) return;
    } else {
        message.ns = took(s->start_ns, s->end_ns);
        add_some(&net->recv_ns, message.ns);
        net->received_bytes += message.bytes;
        net->received++;
    }
    if (message.ns > 0) rs_network_message(&w->network, &cell, &message);
}

/* Only of operations: without one, the communicator of its peer is unknown. */
static void add_net(struct work *w, const struct rs_comma_proxy *x)
{
    if (x->op >= w->file->n_ops || !x->steps || x->peer < 0 || x->peer >= INT32_MAX || x->start_ns < 0) return;
    const struct rs_comma_op *op = &w->file->ops[x->op];
    uint32_t member;
    find_member(w, op->comm, op->rank, &member);
    for (uint32_t i = 0; i < x->steps; i++) add_step(w, member, x, &w->file->steps[x->first_step + i]);
}

/* ---- the whole file ---- */

static void add_proc(struct work *w, const char *path)
{
    uint32_t host;
    char boot[300];
    snprintf(boot, sizeof boot, "comma:%s", path); /* its zero is unknown: a clock of its own */
    rs_model_host(w->m, "", boot, &host);
    rs_model_proc(w->m, &w->proc);
    struct rs_proc *p = &w->m->procs[w->proc];
    p->host = host;
    p->tool = RS_TOOL_COMMA;
    p->path = rs_arena_text(&w->m->arena, path, strlen(path));
    p->ended = RS_END_ALIVE; /* how it ended is unknown */
    p->drops = true;
    p->clock_error_ns = 1000; /* times are in us */
    for (uint32_t i = 0; i < w->file->n_ops && !p->pid; i++)
        if (w->file->ops[i].pid > 0 && w->file->ops[i].pid <= UINT32_MAX) p->pid = (uint32_t)w->file->ops[i].pid;
}

static enum rs_status fill(struct work *w, const char *path, struct rs_err *err)
{
    (void)err;
    const struct rs_comma *f = w->file;
    add_proc(w, path);
    find_spans(w);
    for (uint32_t i = 0; i < f->n_ops; i++) w->order[i] = i;
    qsort_r(w->order, f->n_ops, sizeof *w->order, by_time, f->ops);
    for (uint32_t i = 0; i < f->n_ops; i++) add_op(w, w->order[i]);
    for (uint32_t i = 0; i < f->n_proxies; i++) add_net(w, &f->proxies[i]);
    rs_network_finish(&w->network, w->m);
    return RS_OK;
}

enum rs_status rs_comma_to_model(struct rs_model *m, const struct rs_comma *file, const char *path, uint32_t *proc,
                                 struct rs_err *err)
{
    struct work w = {.m = m, .file = file};
    w.spans = rs_alloc(((size_t)file->n_ops + 1) * sizeof *w.spans);
    w.order = rs_alloc(((size_t)file->n_ops + 1) * sizeof *w.order);
    enum rs_status status = fill(&w, path, err);
    *proc = w.proc;
    free(w.spans);
    free(w.order);
    rs_map_free(&w.members);
    rs_network_free(&w.network);
    return status;
}

/* ---- all files ---- */

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    struct rs_comma rows;
    enum rs_status status = rs_comma_read(&rows, file->path, err);
    if (status == RS_OK) status = rs_comma_to_model(m, &rows, file->path, &file->proc, err);
    if (status == RS_OK && rows.damage.code != RS_OK) rs_other_incomplete(file, &rows.damage);
    rs_comma_free(&rows);
    return status;
}

enum rs_status rs_comma_fill(struct rs_fill *fill, struct rs_err *err)
{
    rs_fill_each(fill, add);
    return rs_model_note(fill->model, err,
                         "CoMMA sees no kernels: starts and ends are those of network operations, and what it left out "
                         "(small operations, most receives) was not recorded");
}
