#include "import/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "import/kernels.h"
#include "import/operations.h"
#include "import/proxies.h"
#include "nccl/abi.h"

void rs_pairing_make(struct rs_pairing *p, struct rs_model *model, struct rs_pxn *pxn)
{
    *p = (struct rs_pairing){.model = model, .pxn = pxn, .caller = UINT64_MAX};
    rs_inflight_make(&p->flights);
}

/* Forgets the process; tables keep their memory for the next. */
static void forget(struct rs_pairing *p)
{
    for (uint32_t i = 0; i < p->ncomms; i++) rs_timers_free(&p->comms[i].timers);
    free(p->comms);
    p->comms = NULL;
    p->ncomms = 0;
    rs_shapes_free(&p->shapes);
    rs_calls_free(&p->calls);
    rs_inflight_clear(&p->flights);
    rs_map_free(&p->parts);
    rs_map_free(&p->parts_before);
    rs_map_free(&p->next_seq);
    rs_map_free(&p->callers);
    p->caller = UINT64_MAX;
    p->ngaps = 0;
    p->lost_in_gaps = p->lost_colls = p->orphans = 0;
}

void rs_pairing_free(struct rs_pairing *p)
{
    forget(p);
    rs_folds_free(&p->folds);
    rs_inflight_free(&p->flights);
    rs_network_free(&p->network);
    free(p->gaps);
}

/* ---- finding ---- */

struct rs_pairing_comm *rs_pairing_comm(struct rs_pairing *p, uint64_t context)
{
    if (rs_handle_nonce(context) != p->model->procs[p->proc].nonce || rs_handle_slot(context) != RS_SLOT_CONTEXT)
        return NULL;
    uint64_t index = rs_handle_counter(context);
    return index && index < p->ncomms ? &p->comms[index] : NULL;
}

enum rs_status rs_pairing_caller(struct rs_pairing *p, const struct rs_pairing_comm *c, uint32_t tid,
                                 struct rs_err *err)
{
    uint64_t caller = (uint64_t)c->member << 32 | tid;
    if (caller == p->caller || c->member == RS_NONE) return RS_OK;
    p->caller = caller;
    return rs_map_put(&p->callers, caller, 0, err);
}

uint32_t rs_pairing_part(const struct rs_pairing *p, uint64_t handle)
{
    const uint64_t *at = rs_map_find(&p->parts, handle);
    if (!at) at = rs_map_find(&p->parts_before, handle);
    return at ? (uint32_t)*at : RS_NONE;
}

/* ---- callbacks ---- */

static enum rs_status stop(struct rs_pairing *p, uint64_t handle, int64_t now, struct rs_err *err)
{
    uint32_t row = rs_inflight_find(&p->flights, handle);
    if (row == RS_NONE) { /* of an operation: it is enqueued. Of others, or again: nothing to say */
        uint32_t part = rs_pairing_part(p, handle);
        if (part != RS_NONE) p->model->parts.flags[part] |= RS_PART_STOPPED;
        return RS_OK;
    }
    struct rs_flight *f = &p->flights.rows[row];
    if (f->type == RS_KERNEL_CH) {
        rs_kernel_end(p, f, RS_TIME_NONE, now);
    } else if (f->type == RS_PROXY_STEP) {
        RS_TRY(rs_step_stop(p, f, now, err));
    } else {
        rs_proxy_stop(p, f, now);
    }
    rs_inflight_end(&p->flights, row);
    return RS_OK;
}

static enum rs_status state(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    uint32_t row = rs_inflight_find(&p->flights, cb->handle);
    if (row == RS_NONE) return RS_OK;
    struct rs_flight *f = &p->flights.rows[row];
    if (f->type == RS_PROXY_STEP) return rs_step_state(p, f, cb, now, err);
    if (f->type == RS_PROXY_OP) {
        rs_proxy_goes(p, f, now);
        f->at = now;
    } else if (cb->state == RS_ST_KERNEL_CH_STOP && cb->kind >= RS_K_STATE_ARG) {
        rs_kernel_end(p, f, (int64_t)cb->args[0], now);
        f->at = now;
    }
    return RS_OK;
}

static enum rs_status lost(struct rs_pairing *p, const struct rs_callback *cb, struct rs_err *err)
{
    RS_ROOM(p->gaps, p->ngaps, p->cap_gaps, err);
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

static enum rs_status start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    switch (cb->type) {
    case RS_PROXY_STEP: return rs_step_start(p, cb, now, err);
    case RS_KERNEL_CH: return rs_kernel_start(p, cb, now, err);
    case RS_PROXY_OP: return rs_proxy_start(p, cb, now, err);
    case RS_COLL:
    case RS_P2P:
    case RS_CE_COLL: return rs_operation_start(p, cb, now, err);
    case RS_COLL_API:
    case RS_P2P_API: p->model->procs[p->proc].calls = true; return rs_operation_call(p, cb, now, err);
    case RS_GROUP_API: p->model->procs[p->proc].calls = true; return RS_OK;
    case RS_GROUP: rs_operation_plan(p, cb); return RS_OK;
    case RS_KERNEL_LAUNCH: return rs_operation_launch(p, cb, now, err);
    default: return RS_OK;
    }
}

/* ---- the process ---- */

/* What is open when the recording ends. A process that closed well may leave events that NCCL never stops. */
static enum rs_status keep_open(struct rs_pairing *p, struct rs_err *err)
{
    for (uint32_t i = 0; i < p->flights.n; i++) {
        const struct rs_flight *f = &p->flights.rows[i];
        if (!f->type || (f->type == RS_KERNEL_CH && f->counted)) continue;
        const struct rs_flight *o = f->type == RS_PROXY_STEP ? &p->flights.rows[f->owner] : f;
        struct rs_open row = {.part = f->part,
                              .proc = p->proc,
                              .type = f->type,
                              .since = f->at,
                              .channel = o->channel,
                              .peer = o->peer,
                              .step = f->step,
                              .state = f->state,
                              .steps = o->announced,
                              .done = o->done,
                              .is_send = o->is_send};
        RS_TRY(rs_model_open(p->model, &row, err));
        if (o->pxn) RS_TRY(rs_pxn_open(p->pxn, p->model->nopens - 1, o->pxn - 1, err));
    }
    return RS_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct rs_gap *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static enum rs_status keep_gaps(struct rs_pairing *p, struct rs_err *err)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t unplaced = proc->lost > p->lost_in_gaps ? proc->lost - p->lost_in_gaps : 0;
    if (!p->ngaps && !unplaced && !proc->damaged) return RS_OK;
    proc->gaps = malloc((p->ngaps + 1) * sizeof *proc->gaps);
    if (!proc->gaps) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (p->ngaps) memcpy(proc->gaps, p->gaps, p->ngaps * sizeof *proc->gaps);
    proc->ngaps = p->ngaps;
    if (unplaced || proc->damaged) { /* anywhere */
        uint64_t n = unplaced + proc->damaged;
        uint32_t some = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
        proc->gaps[proc->ngaps++] = (struct rs_gap){proc->begin, proc->end, some, some, some};
    }
    qsort(proc->gaps, proc->ngaps, sizeof *proc->gaps, by_time);
    return RS_OK;
}

static enum rs_status keep_callers(struct rs_pairing *p, struct rs_err *err)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    uint64_t caller, nothing;
    proc->callers = malloc((rs_map_count(&p->callers) + 1) * sizeof *proc->callers);
    if (!proc->callers) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (size_t pos = 0; rs_map_next(&p->callers, &pos, &caller, &nothing);)
        proc->callers[proc->ncallers++] = (struct rs_caller){(uint32_t)caller, (uint32_t)(caller >> 32)};
    return RS_OK;
}

static enum rs_status begin(struct rs_pairing *p, const uint32_t *members, struct rs_err *err)
{
    const struct rs_process *process = &p->source->process;
    p->folds.first = p->model->parts.n;
    RS_TRY(rs_shapes_make(&p->shapes, p->model, process, err));
    uint64_t most = 0;
    for (size_t i = 0; i < process->ncomms; i++) {
        uint64_t index = rs_handle_counter(process->comms[i].fact.context);
        if (index > most && index < RS_CTX_ESCAPE) most = index;
    }
    p->comms = calloc(most + 1, sizeof *p->comms);
    if (!p->comms) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    p->ncomms = (uint32_t)most + 1;
    for (uint32_t i = 0; i < p->ncomms; i++) p->comms[i].member = RS_NONE;
    for (uint32_t i = 0; i < p->ncomms; i++) p->comms[i].launched = RS_TIME_NONE;
    for (size_t i = 0; i < process->ncomms; i++) {
        uint64_t index = rs_handle_counter(process->comms[i].fact.context);
        if (index < p->ncomms) p->comms[index].member = members[i];
    }
    return RS_OK;
}

static enum rs_status one(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    switch (cb->call) {
    case RS_CALL_START: return start(p, cb, now, err);
    case RS_CALL_STOP: return stop(p, cb->handle, now, err);
    case RS_CALL_STATE: return state(p, cb, now, err);
    case RS_CALL_LOST: return lost(p, cb, err);
    default: return RS_OK; /* communicators' lives are facts */
    }
}

static enum rs_status read_all(struct rs_pairing *p, struct rs_err *err)
{
    struct rs_proc *proc = &p->model->procs[p->proc];
    struct rs_cursor *cursor;
    RS_TRY(rs_cursor_open(&cursor, p->source->recording, &p->source->process, err));
    struct rs_callback cb;
    enum rs_status status = RS_OK;
    int64_t now = RS_TIME_NONE;
    while (status == RS_OK && rs_cursor_next(cursor, &cb)) {
        now = rs_clock_ns(&p->source->clock, cb.tick);
        if (proc->first == RS_TIME_NONE && !cb.recovered) proc->first = now;
        /* Facts are never overwritten: what is left of events begins later. */
        if (proc->overwritten && proc->overwritten_until == RS_TIME_NONE && cb.call <= RS_CALL_STATE &&
            cb.call >= RS_CALL_START && !cb.recovered)
            proc->overwritten_until = now;
        status = one(p, &cb, now, err);
        proc->callbacks += cb.call != RS_CALL_LOST && !cb.recovered;
    }
    p->model->callbacks += proc->callbacks;
    proc->last = now;
    rs_cursor_close(cursor);
    return status;
}

enum rs_status rs_pairing_read(struct rs_pairing *p, struct rs_source *source, uint32_t proc, const uint32_t *members,
                               struct rs_err *err)
{
    p->source = source;
    p->proc = proc;
    enum rs_status status = begin(p, members, err);
    if (status == RS_OK) status = read_all(p, err);
    if (status == RS_OK) status = rs_calls_sweep(&p->calls, true, rs_operation_unreported, p, err);
    if (status == RS_OK) status = keep_open(p, err);
    if (status == RS_OK) status = keep_gaps(p, err);
    if (status == RS_OK) status = keep_callers(p, err);
    if (status == RS_OK) rs_folds_finish(&p->folds, p->model, !p->model->procs[proc].complete);
    if (status == RS_OK) status = rs_network_finish(&p->network, p->model, err);
    forget(p);
    return status;
}
