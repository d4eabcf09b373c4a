#include "import/kernels.h"

#include <stdlib.h>

#include "base/memory.h"
#include "nccl/abi.h"

/* Checks a start timer; *good = false: stale. */
static void judge(struct rs_assembly *a, const struct rs_folding_event *f, const struct rs_start *s, bool *good)
{
    struct rs_folding *p = a->to;
    struct rs_model *m = p->model;
    const struct rs_parts *t = &m->parts;
    uint32_t part = f->flight.part, gpu = m->members[t->member[part]].gpu;
    uint32_t comm = rs_assembly_comm(a, m->members[t->member[part]].context);
    *good = true;
    if (gpu == RS_NONE) {
        *good = !rs_process_cut_stale(&p->source->process, s->cb->handle);
        return;
    }
    struct rs_domain *d = &m->domains[gpu];
    if (rs_process_cut_stale(&p->source->process, s->cb->handle)) {
        *good = false;
        d->timers++;
        d->stale++;
    } else if (comm) {
        const struct rs_timer timer = {f->channel, t->launch[part],
                                       t->captured[part] ? RS_TIME_NONE : t->launched[part], f->began, s->now};
        rs_timers_start(&p->comms[comm].timers, d, &timer, good);
        if (!d->bounds) d->bounds = rs_zalloc(1, sizeof *d->bounds);
        if (*good) {
            rs_bounds_add_upper(d->bounds, f->began, s->now);
            if (timer.launched != RS_TIME_NONE) rs_bounds_add_lower(d->bounds, f->began, timer.launched);
        }
    }
}

void rs_kernel_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s)
{
    struct rs_folding *p = a->to;
    bool timed = s->cb->kind == RS_K_KERNEL_CH;
    f->began = timed ? (int64_t)s->cb->args[0] : s->now;
    f->timer = s->timer;
    if (f->flight.part == RS_NONE || (!timed && s->cb->kind != RS_K_KERNEL_CH_V3)) {
        f->ignored = true;
        f->counted = !timed;
        p->orphans++;
        return;
    }
    f->channel = (uint8_t)s->cb->small;
    struct rs_fold *fold = rs_fold_of(&p->folds, f->flight.part);
    if (!timed) {
        rs_fold_kernel_start(fold, f->began, false);
        return;
    }
    bool good;
    judge(a, f, s, &good);
    if (!good) {
        f->stale = true;
        rs_fold_kernel_stale(fold);
        rs_proc_set_stale(&p->model->procs[p->proc], f->timer);
    }
    rs_fold_kernel_start(fold, good ? f->began : RS_TIME_NONE, true);
}

void rs_kernel_end(struct rs_assembly *a, struct rs_folding_event *f, int64_t gpu_ns, int64_t now)
{
    struct rs_folding *p = a->to;
    if (f->counted) return;
    f->counted = true;
    struct rs_model *m = p->model;
    if (f->ignored) { /* its timers cannot be checked further */
        bool older = gpu_ns != RS_TIME_NONE && gpu_ns && gpu_ns < f->began;
        if (older) rs_proc_set_stale(&m->procs[p->proc], f->timer);
        return;
    }
    struct rs_fold *fold = rs_fold_of(&p->folds, f->flight.part);
    if (!fold->timers || gpu_ns == RS_TIME_NONE || f->stale) {
        rs_fold_kernel_end(fold, fold->timers ? RS_TIME_NONE : now);
        return;
    }
    const struct rs_member *x = &m->members[m->parts.member[f->flight.part]];
    struct rs_domain *d = x->gpu != RS_NONE ? &m->domains[x->gpu] : NULL;
    uint32_t comm = rs_assembly_comm(a, x->context);
    if (gpu_ns < f->began) { /* the end is of older work, and the start may be of any */
        rs_fold_kernel_stale(fold);
        if (fold->kernel_start == f->began) fold->kernel_start = RS_TIME_NONE;
        if (d) d->stale++;
        gpu_ns = RS_TIME_NONE;
        rs_proc_set_stale(&m->procs[p->proc], f->timer);
    } else if (d && d->bounds) {
        rs_bounds_add_upper(d->bounds, gpu_ns, now);
    }
    if (gpu_ns != RS_TIME_NONE && comm) rs_timers_end(&p->comms[comm].timers, m->parts.launch[f->flight.part], gpu_ns);
    rs_fold_kernel_end(fold, gpu_ns);
}
