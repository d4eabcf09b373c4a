#include "events/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "events/arguments.h"
#include "events/cuts.h"
#include "events/flights.h"
#include "events/gpu_times.h"
#include "events/helped.h"
#include "events/parts.h"
#include "format/handle.h"
#include "nccl/abi.h"

struct reading {
    struct rs_model *model;
    struct rs_source *source;
    uint32_t proc;
    uint64_t types;
    rs_event_visit visit;
    void *to;
    struct rs_axis *axis; /* of the process's host */
    struct rs_event_flights flights;
    struct rs_gpu_times gpus;
    struct rs_helped helped;
    struct rs_map parts; /* handle -> part */
    uint32_t *members; /* by the index in their context */
    uint32_t nmembers;
    uint32_t number; /* of the next start */
    uint64_t lost_until; /* tick: stops were lost up to here */
    uint64_t lost; /* callbacks, in losses that say when */
    struct rs_event_cuts cuts;
    struct rs_map gone; /* handles of events that were let go */
    struct rs_event_fields fields;
};

/* ---- finding ---- */

static uint32_t member_of(const struct reading *r, uint64_t context)
{
    if (rs_handle_nonce(context) != r->model->procs[r->proc].nonce || rs_handle_slot(context) != RS_SLOT_CONTEXT)
        return RS_NONE;
    uint64_t index = rs_handle_counter(context);
    return index < r->nmembers ? r->members[index] : RS_NONE;
}

static enum rs_status index_members(struct reading *r, struct rs_err *err)
{
    const struct rs_model *m = r->model;
    struct rs_event_span span = rs_event_members_of(m, r->proc);
    uint64_t most = 0;
    for (uint32_t i = span.first; i < span.end; i++) {
        uint64_t index = rs_handle_counter(m->members[i].context);
        if (index > most && index < RS_CTX_ESCAPE) most = index;
    }
    r->nmembers = (uint32_t)most + 1;
    r->members = malloc(r->nmembers * sizeof *r->members);
    if (!r->members) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < r->nmembers; i++) r->members[i] = RS_NONE;
    for (uint32_t i = span.first; i < span.end; i++) {
        uint64_t index = rs_handle_counter(m->members[i].context);
        if (index < r->nmembers) r->members[index] = i;
    }
    return RS_OK;
}

/* ---- handing out ---- */

static enum rs_status hand_out(struct reading *r, uint32_t row, struct rs_err *err)
{
    struct rs_event_flight *f = &r->flights.rows[row];
    enum rs_status status = RS_OK;
    rs_event_cuts_end(&r->cuts, &f->event);
    bool wanted = f->event.type ? (f->event.type & r->types) != 0 : r->types == UINT64_MAX;
    if (wanted) {
        f->call.args = f->words;
        f->call.thread_name = f->event.thread = f->thread;
        f->event.call = &f->call;
        status = r->visit(r->to, &f->event, err);
    }
    rs_event_flights_end(&r->flights, row);
    return status;
}

/* One that does not go on, stopped or not: with the steps that hang on it, which then never will. */
static enum rs_status finish(struct reading *r, uint32_t row, struct rs_err *err)
{
    for (uint32_t step; r->flights.rows[row].event.type == RS_PROXY_OP;) {
        if ((step = r->flights.rows[row].steps) == RS_NONE) break;
        RS_TRY(hand_out(r, step, err));
    }
    return hand_out(r, row, err);
}

/* Whether an event that has not stopped was truly under way when the recording ended. Its stop may have been lost; some
 * transports' proxy operations are never stopped, and these show no progress; a proxy thread that waits for work when
 * its process ends hangs in nothing. */
static bool is_open(const struct reading *r, const struct rs_event_flight *f)
{
    const struct rs_proc *p = &r->model->procs[r->proc];
    bool over = p->ended == RS_END_WELL || p->ended == RS_END_IDLE;
    if (p->damaged || p->lost > r->lost || f->call.tick <= r->lost_until || f->ended) return false;
    if (f->event.type == RS_PROXY_CTRL) return !over;
    if (f->event.type != RS_PROXY_OP || f->moved) return true;
    return !over && f->event.part != RS_NONE && !rs_part_has_ended(r->model, f->event.part);
}

/* Makes room among events that nobody ever stopped. */
static enum rs_status give_up(struct reading *r, uint32_t keep, struct rs_err *err)
{
    uint32_t middle = rs_event_flights_middle(&r->flights);
    for (uint32_t i = 0; i < r->flights.n; i++)
        if (r->flights.rows[i].used && r->flights.rows[i].event.number <= middle && i != keep)
            RS_TRY(finish(r, i, err));
    return RS_OK;
}

/* Hands out what the oldest piece waits for in vain, as it would be at the end. A call may wait for others as long as it
 * likes: of that only a loss says that its stop may not come. */
static enum rs_status let_go(struct reading *r, struct rs_err *err)
{
    const uint64_t calls = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_KERNEL_LAUNCH;
    for (uint32_t i = 0; i < r->flights.n; i++) {
        struct rs_event_flight *f = &r->flights.rows[i];
        if (!f->used || f->event.piece != r->cuts.oldest || f->event.type == RS_PROXY_CTRL) continue;
        if (f->event.type & calls && f->call.tick > r->lost_until) continue;
        f->event.open = is_open(r, f);
        RS_TRY(rs_map_put(&r->gone, f->event.handle, 0, err));
        RS_TRY(hand_out(r, i, err));
    }
    return RS_OK;
}

/* ---- starts ---- */

/* What of a start stays known for children that come after its stop. */
static bool is_parent(uint64_t type)
{
    return (type & (RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_COLL | RS_P2P | RS_CE_COLL)) != 0;
}

static uint64_t type_of(const struct rs_callback *cb)
{
    bool known = cb->type && !(cb->type & (cb->type - 1)) && !(cb->type >> RS_NCCL_TYPE_BITS);
    return known ? cb->type : 0;
}

/* Whether a proxy operation is done for another process. Nonces of two of a host may be equal; pids then are not. */
static bool is_foreign(const struct reading *r, const struct rs_callback *cb)
{
    const struct rs_proc *own = &r->model->procs[r->proc];
    if (cb->kind != RS_K_PROXY_OP || !cb->parent) return false;
    return rs_handle_nonce(cb->parent) != own->nonce || (uint32_t)cb->args[0] != own->pid;
}

static enum rs_status find_part(struct reading *r, const struct rs_callback *cb, struct rs_event_parent *parent,
                                uint32_t *part, struct rs_err *err)
{
    *part = parent->part;
    if (is_foreign(r, cb)) {
        parent->number = parent->row = RS_NONE;
        return rs_helped_part(&r->helped, cb->parent, (uint32_t)cb->args[0], part, err);
    }
    if (cb->type & (RS_COLL | RS_P2P | RS_CE_COLL | RS_COLL_API | RS_P2P_API))
        *part = (uint32_t)rs_map_get(&r->parts, cb->handle, RS_NONE);
    return RS_OK;
}

static enum rs_status take_kernel(struct reading *r, uint32_t row, int64_t now, struct rs_err *err)
{
    struct rs_event_flight *f = &r->flights.rows[row];
    struct rs_event *e = &f->event;
    const struct rs_gpu_start start = {e->part, e->part != RS_NONE ? r->model->parts.member[e->part] : e->member,
                                       (unsigned)e->channel, f->words[0], now};
    return rs_gpu_times_start(&r->gpus, &start, &e->gpu_start, &e->stale, err);
}

/* What comes from above: a step's channel, a phase's GPU times. */
static void inherit(struct reading *r, struct rs_event_flight *f, uint32_t above)
{
    const struct rs_event *p = &r->flights.rows[above].event;
    struct rs_event *e = &f->event;
    if (e->type == RS_KERNEL_PHASE && p->type == RS_KERNEL_CH) {
        e->stale = p->stale;
        if (!e->stale) e->gpu_start = rs_gpu_times_at(&r->gpus, e->member, f->words[0]);
    }
    rs_event_take_parent(e, p);
}

static enum rs_status add(struct reading *r, const struct rs_callback *cb, struct rs_event_parent *parent,
                          uint32_t part, int64_t at, uint32_t *row, struct rs_err *err)
{
    uint32_t piece;
    if (r->number == RS_NONE)
        return rs_fail(err, RS_BAD_INPUT, "%s: more than four billion events", r->source->recording->path);
    RS_TRY(rs_event_cuts_start(&r->cuts, &r->flights, cb->type, r->number, at, parent, &piece, err));
    RS_TRY(rs_event_flights_add(&r->flights, cb->handle, row, err));
    if (part != RS_NONE) rs_event_cuts_part(&r->cuts, piece, part);
    struct rs_event_flight *f = &r->flights.rows[*row];
    struct rs_event *e = &f->event;
    e->proc = r->proc;
    e->number = r->number++;
    e->parent = parent->number;
    e->piece = piece;
    e->parent_handle = cb->parent;
    e->type = type_of(cb);
    e->part = part;
    e->member = member_of(r, cb->context);
    if (e->member == RS_NONE && part != RS_NONE) e->member = r->model->parts.member[part];
    e->tid = cb->tid;
    e->start = at;
    e->end = e->gpu_start = e->gpu_end = RS_TIME_NONE;
    e->stale = e->open = e->polled = false;
    e->nstates = 0;
    e->channel = e->peer = e->step = e->steps = e->channels = -1;
    e->is_send = -1;
    e->bytes = -1;
    e->process = &r->source->process;
    e->name = e->category = NULL;
    f->call = *cb;
    for (unsigned i = 0; i < rs_kind_args[cb->kind]; i++) f->words[i] = cb->args[i]; /* few: no memcpy() */
    memcpy(f->thread, cb->thread_name, strnlen(cb->thread_name, sizeof f->thread - 1) + 1);
    if (cb->kind != RS_K_START_RAW) rs_event_take_start(e, &r->fields, r->model, cb);
    return RS_OK;
}

static enum rs_status start(struct reading *r, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    bool step = cb->kind == RS_K_PROXY_STEP;
    int64_t at = rs_axis_common(r->axis, now);
    if (rs_event_cuts_stuck(&r->cuts, r->number, at)) RS_TRY(let_go(r, err));
    uint32_t old = rs_event_flights_find(&r->flights, cb->handle), row, part;
    if (old != RS_NONE) RS_TRY(finish(r, old, err)); /* the counter of handles went round */
    bool flying = step || cb->type == RS_NET_PLUGIN || cb->type == RS_KERNEL_PHASE;
    struct rs_event_parent parent = rs_event_flights_parent(&r->flights, cb->parent, flying);
    bool owned = step && parent.row != RS_NONE && r->flights.rows[parent.row].event.type == RS_PROXY_OP;
    if (owned) {
        r->flights.rows[parent.row].moved = true;
        uint32_t before = rs_event_flights_step(&r->flights, parent.row, (int32_t)cb->small);
        if (before != RS_NONE) {
            r->flights.rows[before].event.polled = true;
            RS_TRY(hand_out(r, before, err));
        }
    }
    if (rs_event_flights_crowded(&r->flights)) RS_TRY(give_up(r, parent.row, err));
    RS_TRY(find_part(r, cb, &parent, &part, err));
    RS_TRY(add(r, cb, &parent, part, at, &row, err));
    if (parent.row != RS_NONE && r->flights.rows[parent.row].used) inherit(r, &r->flights.rows[row], parent.row);
    if (owned) rs_event_flights_hang(&r->flights, row, parent.row);
    if (cb->kind == RS_K_KERNEL_CH) RS_TRY(take_kernel(r, row, now, err));
    bool call = cb->type == RS_COLL_API || cb->type == RS_P2P_API;
    if (is_parent(cb->type))
        RS_TRY(rs_event_flights_keep(&r->flights, row, cb->recovered || (call && cb->small & 1), err));
    return cb->recovered ? finish(r, row, err) : RS_OK; /* its stop is overwritten */
}

/* ---- changes ---- */

static void take_end(struct reading *r, struct rs_event_flight *f, uint64_t timer, int64_t now)
{
    struct rs_event *e = &f->event;
    f->ended = true;
    if (e->gpu_start == RS_TIME_NONE || e->gpu_end != RS_TIME_NONE) return;
    if (e->type == RS_KERNEL_PHASE) {
        if (timer >= f->words[0]) e->gpu_end = rs_gpu_times_at(&r->gpus, e->member, timer);
        return;
    }
    const struct rs_gpu_start start = {e->part, e->part != RS_NONE ? r->model->parts.member[e->part] : e->member,
                                       (unsigned)e->channel, f->words[0], now};
    e->gpu_end = rs_gpu_times_stop(&r->gpus, &start, timer, now);
    if (e->gpu_end == RS_TIME_NONE && timer) { /* the end of older work, and the start may be of any */
        e->stale = true;
        e->gpu_start = RS_TIME_NONE;
    }
}

static void change(struct reading *r, const struct rs_callback *cb, int64_t now)
{
    uint32_t row = rs_event_flights_find(&r->flights, cb->handle);
    if (row == RS_NONE) return;
    struct rs_event_flight *f = &r->flights.rows[row];
    struct rs_event *e = &f->event;
    f->moved = true;
    bool stop = cb->state == RS_ST_KERNEL_CH_STOP || cb->state == RS_ST_KERNEL_PHASE_STOP;
    bool kernel = e->type == RS_KERNEL_CH || e->type == RS_KERNEL_PHASE;
    if (stop && kernel && cb->kind >= RS_K_STATE_ARG) take_end(r, f, cb->args[0], now);
    rs_event_take_state(e, cb);
    bool again = e->nstates && e->states[e->nstates - 1].state == cb->state; /* retries: the first counts */
    if (again || e->nstates == RS_EVENT_STATES) return;
    e->states[e->nstates++] = (struct rs_event_state){cb->state, rs_axis_common(r->axis, now)};
}

static enum rs_status stop_one(struct reading *r, uint64_t handle, int64_t now, struct rs_err *err)
{
    uint32_t row = rs_event_flights_find(&r->flights, handle);
    if (row == RS_NONE) { /* stopped before, or its start is not here */
        if (rs_map_delete(&r->gone, handle)) r->cuts.pieces->late++;
        return RS_OK;
    }
    r->flights.rows[row].event.end = rs_axis_common(r->axis, now);
    return finish(r, row, err);
}

static void lose(struct reading *r, const struct rs_callback *cb)
{
    for (int i = 0; i < RS_LOST_COUNTS; i++) r->lost += cb->args[i];
    if (cb->args[RS_LOST_STOP] && cb->lost_last > r->lost_until) r->lost_until = cb->lost_last;
}

/* ---- the end ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Hands out what is left, in the order of starts. */
static enum rs_status finish_all(struct reading *r, struct rs_err *err)
{
    struct rs_event_flights *f = &r->flights;
    uint64_t *rows = malloc((f->used + (size_t)1) * sizeof *rows);
    if (!rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->rows[i].used) continue;
        f->rows[i].event.open = is_open(r, &f->rows[i]);
        rows[n++] = (uint64_t)f->rows[i].event.number << 32 | i;
    }
    qsort(rows, n, sizeof *rows, by_number);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++) status = hand_out(r, (uint32_t)rows[i], err);
    free(rows);
    return status;
}

static enum rs_status read_all(struct reading *r, struct rs_err *err)
{
    struct rs_cursor *cursor;
    RS_TRY(rs_cursor_open(&cursor, r->source->recording, &r->source->process, err));
    struct rs_callback cb;
    enum rs_status status = RS_OK;
    while (status == RS_OK && rs_cursor_next(cursor, &cb)) {
        int64_t now = rs_clock_ns(&r->source->clock, cb.tick);
        if (cb.call == RS_CALL_START)
            status = start(r, &cb, now, err);
        else if (cb.call == RS_CALL_STOP)
            status = stop_one(r, cb.handle, now, err);
        else if (cb.call == RS_CALL_STATE)
            change(r, &cb, now);
        else if (cb.call == RS_CALL_LOST)
            lose(r, &cb);
    }
    rs_cursor_close(cursor);
    return status == RS_OK ? finish_all(r, err) : status;
}

enum rs_status rs_events_recorded(struct rs_model *m, struct rs_source *source, uint32_t proc, uint64_t types,
                                  struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err)
{
    struct reading r = {.model = m,
                        .source = source,
                        .proc = proc,
                        .types = types,
                        .visit = visit,
                        .to = to,
                        .axis = &m->domains[m->hosts[m->procs[proc].host].domain].axis,
                        .helped = {.model = m, .helper = proc}};
    rs_event_flights_make(&r.flights);
    rs_event_cuts_make(&r.cuts, m, pieces, to);
    rs_event_fields_find(&r.fields);
    enum rs_status status = index_members(&r, err);
    if (status == RS_OK) status = rs_gpu_times_make(&r.gpus, m, proc, err);
    if (status == RS_OK) status = rs_event_parts_index(&r.parts, m, proc, err);
    if (status == RS_OK) status = read_all(&r, err);
    rs_event_flights_free(&r.flights);
    rs_gpu_times_free(&r.gpus);
    rs_helped_free(&r.helped);
    rs_map_free(&r.parts);
    rs_map_free(&r.gone);
    free(r.members);
    return status;
}
