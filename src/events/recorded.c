#include "events/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/assemble.h"
#include "assemble/owner.h"
#include "base/room.h"
#include "events/cuts.h"
#include "model/proc_rows.h"
#include "nccl/abi.h"

/* ---- arguments ----
 * Copies the common arguments of starts and states from the words of their records to an event. One table of fields for
 * the reading of one process; plain data. */

enum { EVENT_PEER, EVENT_FUNC, EVENT_LENGTH, EVENT_FIELDS };

/* By kind of start; NULL: it has none. */
struct event_fields {
    const struct rs_field *of[RS_K_START_END - RS_K_START][EVENT_FIELDS];
};

static void event_fields_find(struct event_fields *fields)
{
    static const char *const names[EVENT_FIELDS] = {
        [EVENT_PEER] = "peer", [EVENT_FUNC] = "func", [EVENT_LENGTH] = "length"};
    rs_kind_find_fields(names, EVENT_FIELDS, &fields->of[0][0]);
}

static void take_operation(struct rs_event *e, const struct rs_model *m)
{
    if (e->part == RS_NONE) return;
    if (m->parts.channels[e->part]) e->channels = m->parts.channels[e->part];
    if (e->type == RS_P2P) e->is_send = m->parts.kind[e->part] == RS_PART_SEND;
}

/* Of a start; type, part and process of the event are set, the arguments are -1. */
static void event_take_start(struct rs_event *e, const struct event_fields *fields, const struct rs_model *m,
                             const struct rs_callback *cb)
{
    const struct rs_field *const *f = fields->of[cb->kind - RS_K_START];
    const char *func;
    switch (e->type) {
    case RS_PROXY_OP:
        e->channel = (int32_t)(cb->small & 0xff);
        e->is_send = (cb->small >> 8 & 0xffff) != 0;
        e->peer = (int32_t)(cb->args[0] >> 32);
        e->steps = (int32_t)(uint32_t)cb->args[1];
        break;
    case RS_KERNEL_CH:
    case RS_KERNEL_PHASE: e->channel = (int32_t)(cb->small & 0xff); break;
    case RS_PROXY_STEP: e->step = (int32_t)cb->small; break;
    case RS_NET_PLUGIN:
        if (f[EVENT_LENGTH]) e->bytes = (int64_t)(rs_callback_field(cb, f[EVENT_LENGTH]) & INT64_MAX);
        break;
    case RS_P2P:
        if (f[EVENT_PEER]) e->peer = (int32_t)rs_callback_field(cb, f[EVENT_PEER]);
        take_operation(e, m);
        break;
    case RS_COLL: take_operation(e, m); break;
    case RS_P2P_API:
        func = f[EVENT_FUNC] ? rs_process_string(e->process, rs_callback_field(cb, f[EVENT_FUNC])) : NULL;
        if (func && (!strcmp(func, "Send") || !strcmp(func, "Recv"))) e->is_send = *func == 'S';
        break;
    default: break;
    }
}

/* Of a state: how much a step moved. */
static void event_take_state(struct rs_event *e, const struct rs_callback *cb)
{
    if (e->bytes >= 0) return;
    /* The size is valid only with these two (reference 2.8). */
    bool sized = cb->state == RS_ST_STEP_SEND_WAIT || cb->state == RS_ST_STEP_RECV_FLUSH_WAIT;
    uint64_t bytes;
    if (e->type == RS_PROXY_STEP && sized && cb->kind >= RS_K_STATE_ARG)
        bytes = cb->args[0];
    else if (e->type == RS_NET_PLUGIN && cb->kind == RS_K_NET_UPDATE_IB)
        bytes = cb->args[3];
    else if (e->type == RS_NET_PLUGIN && cb->kind == RS_K_NET_UPDATE_SOCK)
        bytes = cb->args[1];
    else
        return;
    e->bytes = (int64_t)(bytes & INT64_MAX);
}

/* From the parent, while that is in flight. */
static void event_take_parent(struct rs_event *e, const struct rs_event *parent)
{
    if (e->type != RS_PROXY_STEP && e->type != RS_NET_PLUGIN) return;
    e->channel = parent->channel;
    e->peer = parent->peer;
    e->is_send = parent->is_send;
    if (e->type == RS_NET_PLUGIN) e->step = parent->step;
}

/* ---- the events of one recording ---- */

enum { WORDS = 1 + RS_RAW_WORDS }; /* arguments of the longest start */

/* An event in flight. */
struct row {
    struct rs_flight flight;
    struct rs_event event;
    struct rs_callback call; /* args and thread_name are set when it is delivered, since rows move */
    uint64_t words[WORDS];
    char thread[17];
    bool moved; /* of a proxy operation: it made progress */
    bool ended; /* of a kernel: a state reported its end */
};

/* Parts of another process that this one works for (PXN). */
struct owner {
    uint32_t proc;
    struct rs_map parts; /* handle -> part */
};

struct reading {
    struct rs_model *model;
    struct rs_source *source;
    uint32_t proc;
    uint64_t types;
    rs_event_visit visit;
    void *to;
    struct rs_axis *axis; /* of the process's host */
    struct rs_proc_rows members; /* of the process */
    struct rs_map parts; /* handle -> part */
    struct rs_map named; /* nonce << 32 | pid -> owner; RS_NONE: no recording */
    struct owner *owners;
    uint32_t nowners, cap_owners;
    uint64_t lost_until; /* tick: stops were lost up to here */
    uint64_t lost; /* callbacks, in losses with a time */
    struct rs_event_cuts cuts;
    struct rs_map gone; /* handles of events that were dropped */
    struct event_fields fields;
};

static struct row *row_at(const struct rs_assembly *a, uint32_t row)
{
    return rs_flight_at(&a->flights, row);
}

/* ---- ends ---- */

/* Whether an event that has not stopped was really in progress when the recording ended. Its stop may have been lost;
 * proxy operations of some transports are never stopped and show no progress; a proxy thread that waits for work when
 * its process ends is not in anything. */
static bool is_open(const struct reading *r, const struct row *f)
{
    const struct rs_proc *p = &r->model->procs[r->proc];
    bool over = p->ended == RS_END_WELL || p->ended == RS_END_IDLE;
    if (p->damaged || p->lost > r->lost || f->call.tick <= r->lost_until || f->ended) return false;
    if (f->event.type == RS_PROXY_CTRL) return !over;
    if (f->event.type != RS_PROXY_OP || f->moved) return true;
    return !over && f->event.part != RS_NONE && !rs_part_has_ended(r->model, f->event.part);
}

static enum rs_status over(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    struct reading *r = a->to;
    struct row *f = row_at(a, row);
    struct rs_event *e = &f->event;
    if (how == RS_OVER_STOPPED) e->end = rs_axis_common(r->axis, now);
    e->polled = how == RS_OVER_POLLED;
    e->open = how == RS_OVER_END && is_open(r, f);
    rs_event_cuts_end(&r->cuts, e);
    if (e->type ? !(e->type & r->types) : r->types != UINT64_MAX) return RS_OK;
    f->call.args = f->words;
    f->call.thread_name = e->thread = f->thread;
    e->call = &f->call;
    return r->visit(r->to, e, err);
}

/* Delivers the events that the oldest piece waits for in vain, as at the end. A call may wait for others arbitrarily
 * long: only after a loss may its stop be missing. */
static enum rs_status let_go(struct rs_assembly *a, int64_t now, struct rs_err *err)
{
    const uint64_t calls = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_KERNEL_LAUNCH;
    struct reading *r = a->to;
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const struct row *f = row_at(a, i);
        if (!f->flight.used || f->event.piece != r->cuts.oldest || f->event.type == RS_PROXY_CTRL) continue;
        if (f->event.type & calls && f->call.tick > r->lost_until) continue;
        rs_map_put(&r->gone, f->event.handle, 0);
        RS_TRY(rs_assembly_close(a, i, RS_OVER_END, now, err));
    }
    return RS_OK;
}

static void unmatched(struct rs_assembly *a, uint64_t handle)
{
    struct reading *r = a->to;
    if (rs_map_delete(&r->gone, handle)) r->cuts.pieces->late++;
}

/* ---- starts ---- */

static enum rs_status before(struct rs_assembly *a, int64_t now, struct rs_err *err)
{
    struct reading *r = a->to;
    bool stuck = rs_event_cuts_stuck(&r->cuts, a->numbers - 1, rs_axis_common(r->axis, now));
    return stuck ? let_go(a, now, err) : RS_OK;
}

/* The part of another process that a proxy operation works for; RS_NONE: its recording, or its operation, is absent. */
static void foreign_part(struct reading *r, const struct rs_callback *cb, uint32_t *part)
{
    uint64_t context = rs_work_context(cb), key = (uint64_t)rs_handle_nonce(context) << 32 | rs_work_pid(cb), *named;
    *part = RS_NONE;
    if (!(named = rs_map_find(&r->named, key))) {
        uint32_t proc = rs_work_owner(r->model, r->proc, context, rs_work_pid(cb)), i = 0;
        while (i < r->nowners && r->owners[i].proc != proc) i++;
        if (proc != RS_NONE && i == r->nowners) {
            RS_ROOM(r->owners, r->nowners, r->cap_owners);
            r->owners[r->nowners++] = (struct owner){.proc = proc};
            rs_parts_index(&r->owners[i].parts, r->model, proc);
        }
        rs_map_at(&r->named, key, proc != RS_NONE ? i : RS_NONE, &named);
    }
    if (*named != RS_NONE) *part = (uint32_t)rs_map_get(&r->owners[*named].parts, cb->parent, RS_NONE);
}

static enum rs_status place(struct rs_assembly *a, struct rs_start *s, struct rs_err *err)
{
    struct reading *r = a->to;
    const struct rs_callback *cb = s->cb;
    if (s->number == RS_NONE)
        return rs_fail(err, RS_BAD_INPUT, "%s: more than four billion events", r->source->recording->path);
    if (s->foreign)
        foreign_part(r, cb, &s->part);
    else if (cb->type & (RS_COLL | RS_P2P | RS_CE_COLL | RS_COLL_API | RS_P2P_API))
        s->part = (uint32_t)rs_map_get(&r->parts, cb->handle, RS_NONE);
    RS_TRY(rs_event_cuts_start(&r->cuts, &a->flights, cb->type, s->number, rs_axis_common(r->axis, s->now), &s->parent,
                               &s->piece, err));
    if (s->part != RS_NONE) rs_event_cuts_part(&r->cuts, s->piece, s->part);
    return RS_OK;
}

/* A timer of the GPU of a member of this process, on the common axis; RS_TIME_NONE: unknown. */
static int64_t gpu_time(const struct reading *r, uint32_t member, uint64_t timer)
{
    bool own = member >= r->members.first && member < r->members.end;
    uint32_t gpu = own ? r->model->members[member].gpu : RS_NONE;
    if (gpu == RS_NONE || !timer || timer > INT64_MAX) return RS_TIME_NONE;
    return rs_axis_common(&r->model->domains[gpu].axis, (int64_t)timer);
}

/* The member whose GPU a kernel ran on. */
static uint32_t gpu_member(const struct reading *r, const struct rs_event *e)
{
    return e->type == RS_KERNEL_CH && e->part != RS_NONE ? r->model->parts.member[e->part] : e->member;
}

/* Whether the timers of a kernel belong to another operation: as decided in the first reading, or because the join
 * found that none of its operation can be right. */
static bool is_stale(const struct reading *r, const struct rs_event *e, uint64_t timer)
{
    const struct rs_parts *p = &r->model->parts;
    if (rs_proc_is_stale(&r->model->procs[r->proc], timer)) return true;
    if (e->part == RS_NONE || !(p->flags[e->part] & RS_PART_STALE)) return false;
    return p->start_source[e->part] != RS_FROM_KERNEL || (p->flags[e->part] & RS_PART_LENT_START);
}

static void take_kernel(const struct reading *r, struct row *f, uint64_t timer)
{
    struct rs_event *e = &f->event;
    e->gpu_start = gpu_time(r, gpu_member(r, e), f->words[0]);
    if (e->gpu_start == RS_TIME_NONE) return;
    e->stale = is_stale(r, e, timer);
    if (e->stale) e->gpu_start = RS_TIME_NONE;
}

/* Inherited from the parent: a step's channel, a phase's GPU times. */
static void inherit(const struct reading *r, struct row *f, const struct rs_event *p)
{
    struct rs_event *e = &f->event;
    if (e->type == RS_KERNEL_PHASE && p->type == RS_KERNEL_CH) {
        e->stale = p->stale;
        if (!e->stale) e->gpu_start = gpu_time(r, e->member, f->words[0]);
    }
    event_take_parent(e, p);
}

static enum rs_status started(struct rs_assembly *a, uint32_t row, const struct rs_start *s, struct rs_err *err)
{
    struct reading *r = a->to;
    const struct rs_callback *cb = s->cb;
    struct row *f = row_at(a, row), *above = s->parent.row != RS_NONE ? row_at(a, s->parent.row) : NULL;
    struct rs_event *e = &f->event;
    (void)err;
    f->moved = f->ended = false;
    e->proc = r->proc;
    e->number = s->number;
    e->parent = s->parent.number;
    e->piece = s->piece;
    e->handle = cb->handle;
    e->parent_handle = cb->parent;
    e->type = f->flight.type;
    e->part = s->part;
    e->member = a->members[rs_assembly_comm(a, cb->context)];
    if (e->member == RS_NONE && e->part != RS_NONE) e->member = r->model->parts.member[e->part];
    e->tid = cb->tid;
    e->start = rs_axis_common(r->axis, s->now);
    e->end = e->gpu_start = e->gpu_end = RS_TIME_NONE;
    e->stale = false;
    e->nstates = 0;
    e->channel = e->peer = e->step = e->steps = e->channels = -1;
    e->is_send = -1;
    e->bytes = -1;
    e->process = &r->source->process;
    e->name = e->category = NULL;
    f->call = *cb;
    for (unsigned i = 0; i < rs_kind_args[cb->kind]; i++) f->words[i] = cb->args[i]; /* few: no memcpy() */
    memcpy(f->thread, cb->thread_name, strnlen(cb->thread_name, sizeof f->thread - 1) + 1);
    if (cb->kind != RS_K_START_RAW) event_take_start(e, &r->fields, r->model, cb);
    if (f->flight.owner != RS_NONE) above->moved = true;
    if (above && above->flight.used) inherit(r, f, &above->event);
    if (cb->kind == RS_K_KERNEL_CH) take_kernel(r, f, s->timer);
    return RS_OK;
}

/* ---- changes ---- */

static void take_end(const struct reading *r, struct row *f, uint64_t timer)
{
    struct rs_event *e = &f->event;
    f->ended = true;
    if (e->gpu_start == RS_TIME_NONE || e->gpu_end != RS_TIME_NONE || timer < f->words[0]) return;
    e->gpu_end = gpu_time(r, gpu_member(r, e), timer);
}

static enum rs_status changed(struct rs_assembly *a, uint32_t row, const struct rs_callback *cb, int64_t now,
                              struct rs_err *err)
{
    struct reading *r = a->to;
    struct row *f = row_at(a, row);
    struct rs_event *e = &f->event;
    (void)err;
    f->moved = true;
    bool stop = cb->state == RS_ST_KERNEL_CH_STOP || cb->state == RS_ST_KERNEL_PHASE_STOP;
    bool kernel = e->type == RS_KERNEL_CH || e->type == RS_KERNEL_PHASE;
    if (stop && kernel && cb->kind >= RS_K_STATE_ARG) take_end(r, f, cb->args[0]);
    event_take_state(e, cb);
    bool again = e->nstates && e->states[e->nstates - 1].state == cb->state; /* repeated: the first counts */
    if (again || e->nstates == RS_EVENT_STATES) return RS_OK;
    e->states[e->nstates++] = (struct rs_event_state){cb->state, rs_axis_common(r->axis, now)};
    return RS_OK;
}

static enum rs_status lost(struct rs_assembly *a, const struct rs_callback *cb, struct rs_err *err)
{
    struct reading *r = a->to;
    (void)err;
    for (int i = 0; i < RS_LOST_COUNTS; i++) r->lost += cb->args[i];
    if (cb->args[RS_LOST_STOP] && cb->lost_last > r->lost_until) r->lost_until = cb->lost_last;
    return RS_OK;
}

/* ---- the recording ---- */

enum rs_status rs_events_recorded(struct rs_model *m, struct rs_source *source, uint32_t proc, uint64_t types,
                                  struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err)
{
    /* All have rows, requested or not, so that numbers, parents and pieces are the same. */
    const struct rs_visitor visitor = {.row = sizeof(struct row),
                                       .types = UINT64_MAX,
                                       .before = pieces ? before : NULL,
                                       .place = place,
                                       .started = started,
                                       .changed = changed,
                                       .over = over,
                                       .unmatched = pieces ? unmatched : NULL,
                                       .lost = lost};
    struct reading r = {.model = m,
                        .source = source,
                        .proc = proc,
                        .types = types,
                        .visit = visit,
                        .to = to,
                        .axis = &m->domains[m->hosts[m->procs[proc].host].domain].axis,
                        .members = rs_members_of(m, proc)};
    struct rs_assembly a;
    rs_event_cuts_make(&r.cuts, m, pieces, to);
    event_fields_find(&r.fields);
    rs_assembly_init(&a, m, source, proc, &visitor, &r);
    enum rs_status status = RS_OK;
    rs_parts_index(&r.parts, m, proc);
    status = rs_assembly_read(&a, err);
    rs_assembly_free(&a);
    for (uint32_t i = 0; i < r.nowners; i++) rs_map_free(&r.owners[i].parts);
    free(r.owners);
    rs_map_free(&r.parts);
    rs_map_free(&r.named);
    rs_map_free(&r.gone);
    return status;
}
