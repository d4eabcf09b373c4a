#include "import/fold.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"

enum { DOUBT_NS = 1000000 }; /* of the order of a kernel and its proxy thread; a stale timer is many launches old */

void rs_folds_add(struct rs_folds *f)
{
    RS_ROOM(f->rows, f->n, f->cap);
    f->rows[f->n++] = (struct rs_fold){RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE, 0, 0, 0, 0, 0, false};
}

static void earliest(int64_t *to, int64_t ns)
{
    if (*to == RS_TIME_NONE || ns < *to) *to = ns;
}
static void latest(int64_t *to, int64_t ns)
{
    if (ns > *to) *to = ns; /* RS_TIME_NONE is the smallest of all */
}
static void count(uint16_t *to)
{
    if (*to < UINT16_MAX) ++*to;
}

void rs_fold_kernel_start(struct rs_fold *f, int64_t ns, bool timer)
{
    count(&f->kernels);
    f->timers = timer;
    if (ns != RS_TIME_NONE) earliest(&f->kernel_start, ns);
}

void rs_fold_kernel_end(struct rs_fold *f, int64_t ns)
{
    count(&f->kernels_ended);
    latest(&f->kernel_end, ns);
}

void rs_fold_kernel_stale(struct rs_fold *f)
{
    count(&f->stale);
}

void rs_fold_proxy_start(struct rs_fold *f, int64_t ns)
{
    earliest(&f->proxy_start, ns);
}

void rs_fold_proxy_end(struct rs_fold *f, int64_t ns)
{
    count(&f->proxies_ended);
    latest(&f->proxy_end, ns);
}

static void finish(const struct rs_fold *f, struct rs_parts *p, uint32_t i, bool lossy)
{
    bool kernel = f->kernel_start != RS_TIME_NONE;
    uint8_t source = f->timers ? RS_FROM_KERNEL : RS_FROM_CALLBACK;
    if (f->kernels) p->channels_seen[i] = f->kernels_ended > UINT8_MAX ? UINT8_MAX : (uint8_t)f->kernels_ended;
    if (f->stale) p->flags[i] |= RS_PART_STALE;
    if (f->proxies) p->flags[i] |= RS_PART_NET;
    if (f->kernels_ended < f->kernels) p->flags[i] |= RS_PART_KERNEL_OPEN;
    if (f->kernels && f->kernels_ended < p->channels[i]) p->flags[i] |= RS_PART_UNFINISHED;
    if (kernel) {
        p->start[i] = f->kernel_start;
        p->start_source[i] = source;
    } else if (f->proxy_start != RS_TIME_NONE) {
        p->start[i] = f->proxy_start;
        p->start_source[i] = RS_FROM_PROXY;
    }
    if (kernel && !f->stale && f->kernels_ended >= f->kernels && f->kernels_ended >= p->channels[i] &&
        f->kernel_end != RS_TIME_NONE) {
        p->end[i] = f->kernel_end;
        p->end_source[i] = source;
        return;
    }
    /* A kernel that has not stopped runs on, unless its stop was lost. */
    bool runs_on = f->kernels_ended < f->kernels && !lossy;
    if (f->proxies && f->proxies_ended >= f->proxies && !runs_on) {
        p->end[i] = f->proxy_end;
        p->end_source[i] = RS_FROM_PROXY;
        return;
    }
    if (f->kernels_ended < f->kernels || f->proxies_ended < f->proxies) p->flags[i] |= RS_PART_OPEN;
    if (kernel) {
        p->after[i] = f->kernel_end != RS_TIME_NONE ? f->kernel_end : f->kernel_start;
        p->after_source[i] = source;
    } else if (f->proxy_start != RS_TIME_NONE) {
        p->after[i] = f->proxy_end != RS_TIME_NONE ? f->proxy_end : f->proxy_start;
        p->after_source[i] = RS_FROM_PROXY;
    }
}

/* ---- timers that the network contradicts ---- */

/* When the launches of a communicator began to receive, host ns. */
struct received {
    uint64_t launch; /* the latest */
    int64_t during, before; /* the latest beginning in that launch, and in earlier ones; RS_TIME_NONE: none */
};

static bool is_p2p(const struct rs_parts *t, uint32_t part)
{
    return t->kind[part] == RS_PART_SEND || t->kind[part] == RS_PART_RECV;
}

void rs_folds_timer(struct rs_folds *f, uint32_t part, uint64_t timer)
{
    RS_ROOM(f->timers, f->ntimers, f->cap_timers);
    f->timers[f->ntimers++] = (struct rs_fold_timer){part, timer};
}

/* Whether its kernel "started" before an earlier launch had begun to receive. */
static bool is_contradicted(const struct rs_fold *f, const struct rs_domain *gpu, int64_t received)
{
    if (received == RS_TIME_NONE || !f->timers || f->kernel_start == RS_TIME_NONE || !gpu->bounds) return false;
    int64_t d = rs_bounds_near(gpu->bounds, f->kernel_start);
    return d != RS_TIME_NONE && rs_time_minus(rs_time_minus(received, f->kernel_start), d) > DOUBT_NS;
}

/* Parts are in the order of their launches. */
void rs_folds_drop_stale(struct rs_folds *f, struct rs_model *m, uint32_t proc)
{
    const struct rs_parts *t = &m->parts;
    if (!f->ntimers) return;
    struct received *members = rs_zalloc((size_t)m->nmembers + 1, sizeof *members);
    bool *dropped = rs_zalloc((size_t)f->n + 1, sizeof *dropped);
    for (uint32_t i = 0; i < m->nmembers; i++) members[i].during = members[i].before = RS_TIME_NONE;
    for (uint32_t i = 0; i < f->n; i++) {
        struct rs_fold *x = &f->rows[i];
        uint32_t part = f->first + i;
        if (!is_p2p(t, part) || !t->launch[part] || t->member[part] == RS_NONE) continue;
        struct received *r = &members[t->member[part]];
        uint32_t gpu = m->members[t->member[part]].gpu;
        if (gpu == RS_NONE) continue;
        if (t->launch[part] != r->launch) {
            latest(&r->before, r->during);
            r->during = RS_TIME_NONE;
            r->launch = t->launch[part];
        }
        if (t->kind[part] == RS_PART_RECV) latest(&r->during, x->proxy_start);
        if (!is_contradicted(x, &m->domains[gpu], r->before)) continue;
        x->kernel_start = RS_TIME_NONE;
        m->domains[gpu].stale += (uint64_t)(x->kernels - (x->stale < x->kernels ? x->stale : x->kernels));
        x->stale = x->kernels;
        dropped[i] = true;
    }
    for (uint32_t i = 0; i < f->ntimers; i++)
        if (dropped[f->timers[i].part - f->first]) rs_proc_set_stale(&m->procs[proc], f->timers[i].timer);
    free(members);
    free(dropped);
}

void rs_folds_finish(struct rs_folds *f, struct rs_model *m, bool lossy)
{
    for (uint32_t i = 0; i < f->n; i++) finish(&f->rows[i], &m->parts, f->first + i, lossy);
    f->n = f->ntimers = 0;
}

void rs_folds_free(struct rs_folds *f)
{
    free(f->rows);
    free(f->timers);
    *f = (struct rs_folds){0};
}
