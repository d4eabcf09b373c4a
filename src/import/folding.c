#include "import/folding.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "import/kernels.h"
#include "import/operations.h"
#include "import/proxies.h"
#include "nccl/abi.h"

void rs_folding_init(struct rs_folding *p, struct rs_model *model, struct rs_pxn *pxn)
{
    *p = (struct rs_folding){.model = model, .pxn = pxn, .caller = UINT64_MAX};
}

/* Forgets the process; tables keep their memory for the next. */
static void forget(struct rs_folding *p)
{
    rs_shapes_free(&p->shapes);
    rs_calls_free(&p->calls);
    rs_map_free(&p->next_seq);
    rs_map_free(&p->callers);
    p->caller = UINT64_MAX;
    p->ngaps = 0;
    p->lost_in_gaps = p->lost_colls = p->orphans = 0;
}

void rs_folding_free(struct rs_folding *p)
{
    forget(p);
    rs_folds_free(&p->folds);
    rs_network_free(&p->network);
    free(p->gaps);
}

void rs_folding_caller(struct rs_folding *p, uint32_t member, uint32_t tid)
{
    uint64_t caller = (uint64_t)member << 32 | tid;
    if (caller == p->caller || member == RS_NONE) return;
    p->caller = caller;
    rs_map_put(&p->callers, caller, 0);
}

/* ---- events ---- */

enum { OPERATIONS = RS_COLL | RS_P2P | RS_CE_COLL };

static enum rs_status place(struct rs_assembly *a, struct rs_start *s, struct rs_err *err)
{
    struct rs_proc *proc = &a->model->procs[a->proc];
    switch (s->cb->type) {
    case RS_COLL:
    case RS_P2P:
    case RS_CE_COLL: rs_operation_start(a, s); return RS_OK;
    case RS_COLL_API:
    case RS_P2P_API: proc->calls = true; return rs_operation_call(a, s->cb, s->now, err);
    case RS_GROUP_API: proc->calls = true; return RS_OK;
    case RS_GROUP: rs_operation_plan(a, s->cb); return RS_OK;
    case RS_KERNEL_LAUNCH: rs_operation_launch(a, s->cb, s->now); return RS_OK;
    default: return RS_OK;
    }
}

static enum rs_status started(struct rs_assembly *a, uint32_t row, const struct rs_start *s, struct rs_err *err)
{
    struct rs_folding_event *f = rs_folding_at(a, row);
    if (f->flight.type & OPERATIONS) return RS_OK;
    *f = (struct rs_folding_event){
        .flight = f->flight, .at = s->now, .member = RS_NONE, .peer = -1, .announced = -1, .state = -1};
    switch (f->flight.type) {
    case RS_PROXY_STEP: rs_step_start(a, f, s); return RS_OK;
    case RS_KERNEL_CH: rs_kernel_start(a, f, s); return RS_OK;
    default: return rs_proxy_start(a, f, s, err);
    }
}

static enum rs_status changed(struct rs_assembly *a, uint32_t row, const struct rs_callback *cb, int64_t now,
                              struct rs_err *err)
{
    (void)err;
    struct rs_folding_event *f = rs_folding_at(a, row);
    if (f->flight.type & OPERATIONS) return RS_OK;
    switch (f->flight.type) {
    case RS_PROXY_STEP:
        if (f->ignored) return RS_OK;
        rs_step_state(a, f, cb, now);
        return RS_OK;
    case RS_PROXY_OP:
        if (!f->ignored) rs_proxy_goes(a->to, f, now);
        f->at = now;
        return RS_OK;
    default:
        if (cb->state != RS_ST_KERNEL_CH_STOP || cb->kind < RS_K_STATE_ARG) return RS_OK;
        rs_kernel_end(a, f, (int64_t)cb->args[0], now);
        f->at = now;
        return RS_OK;
    }
}

static void stopped(struct rs_assembly *a, struct rs_folding_event *f, int64_t now)
{
    if (f->flight.type & OPERATIONS) { /* it is enqueued */
        if (f->flight.part != RS_NONE) a->model->parts.flags[f->flight.part] |= RS_PART_STOPPED;
        return;
    }
    if (f->ignored) return;
    switch (f->flight.type) {
    case RS_PROXY_STEP: rs_step_stop(a, f, now); return;
    case RS_PROXY_OP: rs_proxy_stop(a->to, f, now); return;
    default: rs_kernel_end(a, f, RS_TIME_NONE, now); return;
    }
}

/* An event that is open when the recording ends. Even a process that closed well may leave events that NCCL never
 * stops. */
static void keep_open(struct rs_assembly *a, const struct rs_folding_event *f)
{
    struct rs_folding *p = a->to;
    bool step = f->flight.type == RS_PROXY_STEP;
    if (f->flight.type & OPERATIONS || f->ignored) return;
    if (f->flight.type == RS_KERNEL_CH && f->counted) return;
    const struct rs_folding_event *o = step ? rs_folding_at(a, f->flight.owner) : f;
    struct rs_open row = {.part = f->flight.part,
                          .proc = p->proc,
                          .type = f->flight.type,
                          .since = f->at,
                          .channel = o->channel,
                          .peer = o->peer,
                          .step = step ? f->flight.step : -1,
                          .state = f->state,
                          .steps = o->announced,
                          .done = o->done,
                          .is_send = o->is_send};
    rs_model_open(p->model, &row);
    if (o->pxn) rs_pxn_open(p->pxn, p->model->nopens - 1, o->pxn - 1);
}

static enum rs_status over(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    (void)err;
    struct rs_folding *p = a->to;
    struct rs_folding_event *f = rs_folding_at(a, row);
    switch (how) {
    case RS_OVER_STOPPED: stopped(a, f, now); return RS_OK;
    case RS_OVER_END: keep_open(a, f); return RS_OK;
    case RS_OVER_POLLED: p->polled_since = f->state < 0 ? f->at : RS_TIME_NONE; return RS_OK;
    case RS_OVER_UNSTOPPED: return RS_OK;
    }
    return RS_OK;
}

static enum rs_status lost(struct rs_assembly *a, const struct rs_callback *cb, struct rs_err *err)
{
    (void)err;
    struct rs_folding *p = a->to;
    RS_ROOM(p->gaps, p->ngaps, p->cap_gaps);
    struct rs_gap gap = {.from = rs_clock_ns(&p->source->clock, cb->lost_first),
                         .to = rs_clock_ns(&p->source->clock, cb->lost_last),
                         .colls = (uint32_t)cb->args[1], /* by type bit: RS_COLL, RS_P2P */
                         .p2ps = (uint32_t)cb->args[2]};
    for (int i = 0; i < RS_LOST_COUNTS; i++) {
        p->lost_in_gaps += cb->args[i];
        if (i != 1 && i != 2) gap.others += (uint32_t)cb->args[i];
    }
    p->lost_colls += cb->args[1];
    p->gaps[p->ngaps++] = gap;
    return RS_OK;
}

const struct rs_visitor rs_folding_visitor = {.row = sizeof(struct rs_folding_event),
                                              .types = OPERATIONS | RS_KERNEL_CH | RS_PROXY_OP | RS_PROXY_STEP,
                                              .place = place,
                                              .started = started,
                                              .changed = changed,
                                              .over = over,
                                              .lost = lost};

/* ---- the process ---- */

static int by_time(const void *a, const void *b)
{
    const struct rs_gap *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void keep_gaps(struct rs_folding *p)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t unplaced = proc->lost > p->lost_in_gaps ? proc->lost - p->lost_in_gaps : 0;
    if (!p->ngaps && !unplaced && !proc->damaged) return;
    proc->gaps = rs_alloc((p->ngaps + 1) * sizeof *proc->gaps);
    if (p->ngaps) memcpy(proc->gaps, p->gaps, p->ngaps * sizeof *proc->gaps);
    proc->ngaps = p->ngaps;
    if (unplaced || proc->damaged) { /* anywhere */
        uint64_t n = unplaced + proc->damaged;
        uint32_t some = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
        proc->gaps[proc->ngaps++] = (struct rs_gap){proc->begin, proc->end, some, some, some};
    }
    qsort(proc->gaps, proc->ngaps, sizeof *proc->gaps, by_time);
}

static void keep_callers(struct rs_folding *p)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t caller, nothing;
    proc->callers = rs_alloc((rs_map_count(&p->callers) + 1) * sizeof *proc->callers);
    for (size_t pos = 0; rs_map_next(&p->callers, &pos, &caller, &nothing);)
        proc->callers[proc->ncallers++] = (struct rs_caller){(uint32_t)caller, (uint32_t)(caller >> 32)};
}

/* What the assembly counted. */
static void keep_counts(struct rs_folding *p, const struct rs_assembly *a)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    proc->callbacks = a->callbacks;
    p->model->callbacks += a->callbacks;
    proc->first = a->first;
    proc->last = a->last;
    /* Facts are never overwritten: what is left of events begins later. */
    if (proc->overwritten) proc->overwritten_until = a->first_event;
}

static enum rs_status read_all(struct rs_folding *p, struct rs_err *err)
{
    struct rs_assembly a;
    rs_assembly_init(&a, p->model, p->source, p->proc, &rs_folding_visitor, p);
    enum rs_status status = RS_OK;
    p->comms = rs_zalloc(a.nmembers, sizeof *p->comms);
    for (uint32_t i = 0; i < a.nmembers; i++) p->comms[i].launched = RS_TIME_NONE;
    status = rs_assembly_read(&a, err);
    keep_counts(p, &a);
    for (uint32_t i = 0; p->comms && i < a.nmembers; i++) rs_timers_free(&p->comms[i].timers);
    free(p->comms);
    p->comms = NULL;
    rs_assembly_free(&a);
    return status;
}

enum rs_status rs_folding_read(struct rs_folding *p, struct rs_source *source, uint32_t proc, struct rs_err *err)
{
    p->source = source;
    p->proc = proc;
    p->folds.first = p->model->parts.n;
    rs_shapes_init(&p->shapes, p->model, &source->process);
    enum rs_status status = RS_OK;
    status = read_all(p, err);
    if (status == RS_OK) status = rs_calls_sweep(&p->calls, true, rs_operation_unreported, p, err);
    if (status == RS_OK) keep_gaps(p);
    if (status == RS_OK) keep_callers(p);
    if (status == RS_OK) rs_folds_finish(&p->folds, p->model, !p->model->procs[proc].complete);
    if (status == RS_OK) rs_network_finish(&p->network, p->model);
    forget(p);
    return status;
}
