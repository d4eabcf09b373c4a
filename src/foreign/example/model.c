#include "foreign/example/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "foreign/example/parts.h"
#include "foreign/formats.h"
#include "import/fold.h"
#include "import/network.h"
#include "import/timers.h"

/* ---- kernels ----
 * What is inside the operations of a process's dumps: kernels' channels, proxy operations, network waits.
 *
 * They give a part its start and end (fold.h), bound the GPU's clock, and add up to the network's view. The profiler
 * forgets when a channel other than 0 stopped (StopGpuClk 0): the end is then that of the channels that have one, and
 * where none does it is bounded by the proxy thread's next sleep. */

#define MOST_SPENT INT64_C(1000000000000000) /* ns: longer waits are damaged */

struct kernel {
    int64_t at; /* host ns at which its start was read; RS_TIME_NONE: not known */
    uint32_t dump, event, part;
};

struct work {
    struct rs_model *m;
    const struct rs_example_procs *p;
    const struct rs_example_proc *row;
    const struct rs_example_members *members;
    const struct rs_example_parts *parts;
    int64_t zero; /* GPU ns that are taken off all timers */
    struct rs_folds folds;
    struct rs_network network;
    const struct rs_example_event *credit; /* the latest wait for a peer's credit */
    struct rs_timers *timers; /* by member */
    struct kernel *kernels;
    uint32_t nkernels, cap_kernels;
    int64_t *last; /* by part: host ns at which the latest start of a channel was read */
};

static const struct rs_example *dump_of(const struct work *w, uint32_t k)
{
    return &w->p->dumps[w->row->dumps[k]];
}

/* ---- kernels ---- */

static bool is_time(uint64_t clock)
{
    return clock > 0 && clock <= INT64_MAX;
}

/* The smallest GPU time in all dumps. It is taken off every timer, so that GPU times (ns since 1970) and those of the
 * process (ns since its init) are of one size and no digits are lost between them. Offsets between GPUs stay. */
static int64_t example_kernels_zero(const struct rs_example_procs *p)
{
    int64_t zero = INT64_MAX;
    for (uint32_t k = 0; k < p->ndumps; k++)
        for (uint32_t i = 0; i < p->dumps[k].n; i++) {
            const struct rs_example_event *e = &p->dumps[k].events[i];
            if (e->kind != RS_EX_KERNEL || !is_time(e->kernel.start)) continue;
            if ((int64_t)e->kernel.start < zero) zero = (int64_t)e->kernel.start;
        }
    return zero == INT64_MAX ? 0 : zero;
}

static int by_time(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    if (x->dump != y->dump) return x->dump < y->dump ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static void list_kernels(struct work *w)
{
    for (uint32_t k = 0; k < w->row->n; k++) {
        const struct rs_example *d = dump_of(w, k);
        for (uint32_t i = 0; i < d->n; i++) {
            const struct rs_example_event *e = &d->events[i];
            uint32_t part = e->kind == RS_EX_KERNEL && e->op != RS_NONE ? w->parts->of[k][e->op] : RS_NONE;
            if (part == RS_NONE) continue;
            RS_ROOM(w->kernels, w->nkernels, w->cap_kernels);
            w->kernels[w->nkernels++] = (struct kernel){e->begin, k, i, part};
        }
    }
    if (w->nkernels) qsort(w->kernels, w->nkernels, sizeof *w->kernels, by_time);
}

/* Whether its start can be believed; then it bounds the GPU's clock. */
static void check_start(struct work *w, const struct kernel *k, struct rs_domain *gpu, bool *good)
{
    const struct rs_example_event *e = &dump_of(w, k->dump)->events[k->event];
    uint32_t at = k->part - w->parts->first;
    int64_t start = rs_time_minus((int64_t)e->kernel.start, w->zero), low = w->parts->low[at];
    struct rs_timers *timers = &w->timers[w->m->parts.member[k->part] - w->members->first];
    const struct rs_timer timer = {e->kernel.channel < 0 ? RS_TIMER_CHANNELS : (unsigned)e->kernel.channel,
                                   w->parts->plan[at], low, start, e->begin};
    rs_timers_start(timers, gpu, &timer, good);
    if (!*good) return;
    if (!gpu->bounds) gpu->bounds = rs_zalloc(1, sizeof *gpu->bounds);
    if (e->begin != RS_TIME_NONE) rs_bounds_add_upper(gpu->bounds, start, e->begin);
    /* Where only the return of the launch is known, that counts: a kernel hardly starts before, and what contradicts
     * the upper bounds is dropped (join/attach.h). */
    int64_t launched = w->m->parts.launched[k->part];
    if (launched != RS_TIME_NONE) rs_bounds_add_lower(gpu->bounds, start, launched);
}

static void add_kernel(struct work *w, const struct kernel *k)
{
    const struct rs_example_event *e = &dump_of(w, k->dump)->events[k->event];
    const struct rs_member *x = &w->m->members[w->m->parts.member[k->part]];
    struct rs_fold *fold = rs_fold_of(&w->folds, k->part);
    int64_t *last = &w->last[k->part - w->parts->first];
    if (e->begin > *last) *last = e->begin;
    if (!is_time(e->kernel.start) || x->gpu == RS_NONE) {
        /* 2.26 has no timers: the proxy thread's times. */
        rs_fold_kernel_start(fold, e->begin, false);
        rs_fold_kernel_end(fold, e->end);
        return;
    }
    struct rs_domain *gpu = &w->m->domains[x->gpu];
    bool good;
    check_start(w, k, gpu, &good);
    if (!good) rs_fold_kernel_stale(fold);
    int64_t start = rs_time_minus((int64_t)e->kernel.start, w->zero);
    rs_fold_kernel_start(fold, good ? start : RS_TIME_NONE, true);
    int64_t stop = is_time(e->kernel.stop) ? rs_time_minus((int64_t)e->kernel.stop, w->zero) : RS_TIME_NONE;
    if (good && stop != RS_TIME_NONE && stop < start) { /* the end of older work */
        rs_fold_kernel_stale(fold);
        if (fold->kernel_start == start) fold->kernel_start = RS_TIME_NONE;
        gpu->stale++;
        stop = RS_TIME_NONE;
    } else if (good && stop != RS_TIME_NONE) {
        if (e->end != RS_TIME_NONE) rs_bounds_add_upper(gpu->bounds, stop, e->end);
        rs_timers_end(&w->timers[w->m->parts.member[k->part] - w->members->first],
                      w->parts->plan[k->part - w->parts->first], stop);
    }
    rs_fold_kernel_end(fold, good ? stop : RS_TIME_NONE);
}

/* ---- the network ---- */

static int64_t spent(const struct rs_example_event *e)
{
    if (e->begin == RS_TIME_NONE || e->end == RS_TIME_NONE || e->end < e->begin) return 0;
    int64_t ns = rs_time_minus(e->end, e->begin);
    return ns < 0 || ns > MOST_SPENT ? 0 : ns;
}

/* A dump has the bytes of proxy operations only: its steps have the mean. */
static void add_message(struct work *w, struct rs_cell *cell, const struct rs_example_event *proxy,
                        const struct rs_example_event *e, uint32_t member)
{
    bool sent = e->net.wait == RS_EX_SEND_WAIT;
    const struct rs_example_event *credit = w->credit;
    if (sent && credit && credit->parent == e->parent && credit->net.step == e->net.step &&
        spent(credit) > RS_NET_READY_NS)
        return;
    struct rs_message x = {.member = member,
                           .peer = proxy->proxy.peer,
                           .sent = sent,
                           .bytes = proxy->proxy.steps > 0 ? proxy->proxy.bytes / (uint32_t)proxy->proxy.steps : 0,
                           .ns = spent(e),
                           .end = e->end};
    rs_network_message(&w->network, cell, &x);
}

static void add_wait(struct work *w, const struct rs_example *d, const struct rs_example_event *e, uint32_t member)
{
    const struct rs_example_event *proxy = e->parent != RS_NONE ? &d->events[e->parent] : NULL;
    if (!proxy || proxy->kind != RS_EX_PROXY_OP || proxy->proxy.peer < 0 || e->end == RS_TIME_NONE) return;
    struct rs_cell cell = {0};
    struct rs_net *row;
    rs_network_row(&w->network, &cell, member, proxy->proxy.peer, e->end, &row);
    switch (e->net.wait) {
    case RS_EX_SEND_GPU_WAIT: row->gpu_ns += spent(e); break;
    case RS_EX_SEND_PEER_WAIT:
        row->credit_ns += spent(e);
        w->credit = e;
        break;
    case RS_EX_SEND_WAIT:
        row->send_ns += spent(e);
        row->sent++;
        add_message(w, &cell, proxy, e, member);
        break;
    case RS_EX_RECV_WAIT:
        row->recv_ns += spent(e);
        row->received++;
        add_message(w, &cell, proxy, e, member);
        break;
    case RS_EX_RECV_FLUSH_WAIT: row->flush_ns += spent(e); break;
    case RS_EX_RECV_GPU_WAIT: row->consume_ns += spent(e); break;
    default: break;
    }
}

static void add_proxy(struct work *w, const struct rs_example_event *e, uint32_t part)
{
    struct rs_fold *fold = rs_fold_of(&w->folds, part);
    if (e->proxy.phase == RS_EX_SCHEDULE) return; /* the same one, before it goes */
    if (fold->proxies < UINT16_MAX) fold->proxies++;
    if (e->begin != RS_TIME_NONE) rs_fold_proxy_start(fold, e->begin);
    if (e->end == RS_TIME_NONE) return;
    rs_fold_proxy_end(fold, e->end);
    if (e->proxy.peer < 0) return;
    struct rs_cell cell = {0};
    struct rs_net *row;
    rs_network_row(&w->network, &cell, w->m->parts.member[part], e->proxy.peer, e->end, &row);
    *(e->proxy.is_send ? &row->sent_bytes : &row->received_bytes) += e->proxy.bytes;
}

static void add_network(struct work *w)
{
    for (uint32_t k = 0; k < w->row->n; k++) {
        const struct rs_example *d = dump_of(w, k);
        w->credit = NULL;
        for (uint32_t i = 0; i < d->n; i++) {
            const struct rs_example_event *e = &d->events[i];
            if (e->kind != RS_EX_PROXY_OP && e->kind != RS_EX_NET) continue;
            uint32_t part = e->op == RS_NONE ? RS_NONE : w->parts->of[k][e->op];
            if (part == RS_NONE) continue;
            if (e->kind == RS_EX_NET)
                add_wait(w, d, e, w->m->parts.member[part]);
            else
                add_proxy(w, e, part);
        }
    }
    rs_network_finish(&w->network, w->m);
}

/* ---- ends ---- */

/* Dumps are written when a communicator ends: nothing is under way then, whatever was not stamped. */
static void settle(struct work *w)
{
    struct rs_parts *t = &w->m->parts;
    for (uint32_t i = w->parts->first; i < w->parts->first + w->parts->n; i++) {
        t->flags[i] &= ~(unsigned)(RS_PART_OPEN | RS_PART_KERNEL_OPEN);
        uint32_t own = w->members->own[t->member[i] - w->members->first];
        int64_t last = w->last[i - w->parts->first];
        if (t->end[i] == RS_TIME_NONE && last != RS_TIME_NONE && own != RS_NONE)
            t->before[i] = rs_example_sleep_after(&w->p->dumps[own], last);
    }
}

static void add_all(struct work *w)
{
    w->timers = rs_zalloc((size_t)w->members->n + 1, sizeof *w->timers);
    w->last = rs_alloc(((size_t)w->parts->n + 1) * sizeof *w->last);
    w->folds.first = w->parts->first;
    for (uint32_t i = 0; i < w->parts->n; i++) {
        w->last[i] = RS_TIME_NONE;
        rs_folds_add(&w->folds);
    }
    list_kernels(w);
    for (uint32_t i = 0; i < w->nkernels; i++) add_kernel(w, &w->kernels[i]);
    add_network(w);
    rs_folds_finish(&w->folds, w->m, true);
    settle(w);
}

static void example_kernels_add(struct rs_model *m, const struct rs_example_procs *p, const struct rs_example_proc *row,
                                const struct rs_example_members *members, const struct rs_example_parts *parts,
                                int64_t zero)
{
    struct work w = {.m = m, .p = p, .row = row, .members = members, .parts = parts, .zero = zero};
    add_all(&w);
    for (uint32_t i = 0; w.timers && i < members->n; i++) rs_timers_free(&w.timers[i]);
    free(w.timers);
    free(w.last);
    free(w.kernels);
    rs_folds_free(&w.folds);
    rs_network_free(&w.network);
}

/* ---- the model ---- */

enum { ALL_TYPES = 0xffff };

static void earliest(int64_t *to, int64_t ns)
{
    if (ns != RS_TIME_NONE && (*to == RS_TIME_NONE || ns < *to)) *to = ns;
}

static void add_covers(struct rs_proc *p)
{
    p->covers = rs_zalloc(1, sizeof *p->covers);
    p->covers[0] = (struct rs_cover){0, INT64_MAX, ALL_TYPES};
    p->ncovers = 1;
    p->drops = true; /* its pools are small, and full ones drop silently */
}

static void add_proc(struct rs_model *m, const struct rs_example_procs *procs, const struct rs_example_proc *row,
                     uint32_t *proc)
{
    const struct rs_example *first = &procs->dumps[row->dumps[0]];
    char boot[48];
    uint32_t host;
    /* Its clock is 0 at its own first init; two containers may have the same pid. After the '/': its name. */
    snprintf(boot, sizeof boot, "example:%u/pid %u", m->nprocs, first->pid);
    rs_model_host(m, "", boot, &host);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->pid = first->pid;
    p->tool = RS_TOOL_EXAMPLE;
    p->ended = RS_END_IDLE; /* a dump is written when its communicator is destroyed; of the process it says nothing */
    p->complete = true;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &procs->dumps[row->dumps[k]];
        p->callbacks += d->n;
        p->damaged += d->damaged;
        if (d->broken.code != RS_OK) p->complete = false;
        for (uint32_t i = 0; i < d->n; i++) {
            earliest(&p->first, d->events[i].begin);
            if (d->events[i].begin > p->last) p->last = d->events[i].begin;
            if (d->events[i].end > p->last) p->last = d->events[i].end;
        }
    }
    p->end = p->last == RS_TIME_NONE ? 0 : p->last;
    m->callbacks += p->callbacks;
    p->path = rs_arena_text(&m->arena, first->path, strlen(first->path));
    add_covers(p);
}

static void fill_proc(struct rs_model *m, const struct rs_example_procs *procs, const struct rs_example_proc *row,
                      int64_t zero, uint32_t *proc)
{
    struct rs_example_members members = {0};
    struct rs_example_parts parts = {0};
    add_proc(m, procs, row, proc);
    rs_example_members_add(&members, m, procs, row, *proc);
    rs_example_parts_add(&parts, m, procs, row, &members, *proc);
    example_kernels_add(m, procs, row, &members, &parts, zero);
    if (m->procs[*proc].lost) m->procs[*proc].complete = false;
    rs_example_parts_free(&parts);
    rs_example_members_free(&members);
}

static enum rs_status note_losses(struct rs_model *m, uint32_t first_proc, struct rs_err *err)
{
    uint64_t lost = 0;
    uint32_t of = 0;
    for (uint32_t i = first_proc; i < m->nprocs; i++) {
        lost += m->procs[i].lost;
        of += m->procs[i].lost > 0;
    }
    if (!lost) return RS_OK;
    return rs_model_note(m, err,
                         "example profiler: %llu call%s of %u process%s without the operation: its pools were full "
                         "(NCCL_PROFILE_COLL_POOL_SIZE, NCCL_PROFILE_P2P_POOL_SIZE...)",
                         (unsigned long long)lost, lost == 1 ? "" : "s", of, of == 1 ? "" : "es");
}

enum rs_status rs_example_to_model(struct rs_model *m, struct rs_example_procs *procs, uint32_t *proc_of,
                                   struct rs_err *err)
{
    uint32_t first_proc = m->nprocs, first_part = m->parts.n, proc;
    rs_example_procs_finish(procs);
    int64_t zero = example_kernels_zero(procs);
    for (uint32_t i = 0; i < procs->n; i++) {
        fill_proc(m, procs, &procs->rows[i], zero, &proc);
        for (uint32_t k = 0; k < procs->rows[i].n; k++) proc_of[procs->rows[i].dumps[k]] = proc;
    }
    rs_example_number_calls(m, first_part);
    return note_losses(m, first_proc, err);
}

/* ---- all files ---- */

static void open_all(struct rs_fill *fill, struct rs_example_procs *procs, uint32_t *file_of)
{
    for (size_t i = 0; i < fill->n; i++) {
        struct rs_other *file = fill->files[i];
        struct rs_example dump;
        struct rs_err why = {0};
        file->proc = RS_NONE;
        enum rs_status status = rs_example_open(&dump, file->path, &why);
        if (status != RS_OK) {
            rs_other_incomplete(file, &why);
        } else {
            if (dump.broken.code != RS_OK) rs_other_incomplete(file, &dump.broken);
            file_of[procs->ndumps] = (uint32_t)i;
            rs_example_procs_add(procs, &dump);
        }
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
}

enum rs_status rs_example_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct rs_example_procs procs = {0};
    uint32_t *file_of = rs_alloc((fill->n + 1) * sizeof *file_of), *proc_of = rs_alloc((fill->n + 1) * sizeof *proc_of);
    open_all(fill, &procs, file_of);
    enum rs_status status = RS_OK;
    status = rs_example_to_model(fill->model, &procs, proc_of, err);
    for (uint32_t i = 0; status == RS_OK && i < procs.ndumps; i++) fill->files[file_of[i]]->proc = proc_of[i];
    for (uint32_t i = 0; status == RS_OK && i < procs.n; i++)
        for (uint32_t k = 0; k < procs.rows[i].n; k++) fill->files[file_of[procs.rows[i].dumps[k]]]->place = k;
    free(file_of);
    free(proc_of);
    rs_example_procs_free(&procs);
    return status;
}
