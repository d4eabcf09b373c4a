#include "import/kernels.h"

#include <stdlib.h>

#include "nccl/abi.h"

enum rs_status rs_kernel_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    uint32_t part = rs_pairing_part(p, cb->parent), row;
    if (part == RS_NONE) {
        p->orphans++;
        return RS_OK;
    }
    RS_TRY(rs_inflight_start(&p->flights, cb->handle, RS_KERNEL_CH, &row, err));
    struct rs_flight *f = &p->flights.rows[row];
    f->part = part;
    f->at = now;
    f->channel = (uint8_t)cb->small;
    struct rs_fold *fold = rs_fold_of(&p->folds, part);
    if (cb->kind == RS_K_KERNEL_CH_V3) {
        f->began = now;
        rs_fold_kernel_start(fold, now, false);
        return RS_OK;
    }
    struct rs_model *m = p->model;
    struct rs_parts *t = &m->parts;
    int64_t gpu_ns = (int64_t)cb->args[0];
    f->began = gpu_ns;
    struct rs_pairing_comm *c = rs_pairing_comm(p, m->members[t->member[part]].context);
    uint32_t gpu = m->members[t->member[part]].gpu;
    bool good = true;
    if (rs_process_cut_stale(&p->source->process, cb->handle)) {
        good = false;
        if (gpu != RS_NONE) m->domains[gpu].timers++;
        if (gpu != RS_NONE) m->domains[gpu].stale++;
    } else if (c && gpu != RS_NONE) {
        struct rs_domain *d = &m->domains[gpu];
        const struct rs_timer timer = {f->channel, t->launch[part],
                                       t->captured[part] ? RS_TIME_NONE : t->launched[part], gpu_ns, now};
        RS_TRY(rs_timers_start(&c->timers, d, &timer, &good, err));
        if (!d->bounds && !(d->bounds = calloc(1, sizeof *d->bounds)))
            return rs_fail(err, RS_NO_MEMORY, "out of memory");
        if (good) {
            rs_bounds_add_upper(d->bounds, gpu_ns, now);
            if (timer.launched != RS_TIME_NONE) rs_bounds_add_lower(d->bounds, gpu_ns, timer.launched);
        }
    }
    if (!good) {
        f->stale = true;
        rs_fold_kernel_stale(fold);
    }
    rs_fold_kernel_start(fold, good ? gpu_ns : RS_TIME_NONE, true);
    return RS_OK;
}

void rs_kernel_end(struct rs_pairing *p, struct rs_flight *f, int64_t gpu_ns, int64_t now)
{
    if (f->counted) return;
    f->counted = true;
    struct rs_model *m = p->model;
    struct rs_fold *fold = rs_fold_of(&p->folds, f->part);
    if (!fold->timers || gpu_ns == RS_TIME_NONE || f->stale) {
        rs_fold_kernel_end(fold, fold->timers ? RS_TIME_NONE : now);
        return;
    }
    const struct rs_member *x = &m->members[m->parts.member[f->part]];
    struct rs_domain *d = x->gpu != RS_NONE ? &m->domains[x->gpu] : NULL;
    struct rs_pairing_comm *c = rs_pairing_comm(p, x->context);
    if (gpu_ns < f->began) { /* the end of older work, and the start may be of any */
        rs_fold_kernel_stale(fold);
        if (fold->kernel_start == f->began) fold->kernel_start = RS_TIME_NONE;
        if (d) d->stale++;
        gpu_ns = RS_TIME_NONE;
    } else if (d && d->bounds) {
        rs_bounds_add_upper(d->bounds, gpu_ns, now);
    }
    if (gpu_ns != RS_TIME_NONE && c) rs_timers_end(&c->timers, m->parts.launch[f->part], gpu_ns);
    rs_fold_kernel_end(fold, gpu_ns);
}
