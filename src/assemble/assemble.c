#include "assemble/assemble.h"

#include <stdlib.h>

#include "assemble/owner.h"
#include "base/memory.h"
#include "model/proc_rows.h"
#include "nccl/abi.h"

/* ---- ends ---- */

enum rs_status rs_assembly_close(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    RS_TRY(a->visitor->over(a, row, how, now, err));
    rs_flights_end(&a->flights, row);
    return RS_OK;
}

/* An event that is over, with its steps. */
static enum rs_status finish(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    for (;;) {
        const struct rs_flight *f = rs_flight_at(&a->flights, row);
        if (f->type != RS_PROXY_OP || f->steps == RS_NONE) break;
        RS_TRY(rs_assembly_close(a, f->steps, RS_OVER_UNSTOPPED, now, err));
    }
    return rs_assembly_close(a, row, how, now, err);
}

/* Makes room among events that were never stopped: ends the older half, except `keep`. */
static enum rs_status give_up(struct rs_assembly *a, uint32_t keep, int64_t now, struct rs_err *err)
{
    uint32_t middle = rs_flights_middle(&a->flights);
    for (uint32_t i = 0; i < a->flights.n; i++) {
        const struct rs_flight *f = rs_flight_at(&a->flights, i);
        if (f->used && f->number <= middle && i != keep) RS_TRY(finish(a, i, RS_OVER_UNSTOPPED, now, err));
    }
    return RS_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* What is in flight when the recording ends, in the order of starts. */
static enum rs_status finish_all(struct rs_assembly *a, struct rs_err *err)
{
    struct rs_flights *f = &a->flights;
    uint64_t *rows = rs_alloc((f->used + (size_t)1) * sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct rs_flight *r = rs_flight_at(f, i);
        if (r->used) rows[n++] = (uint64_t)r->number << 32 | i;
    }
    qsort(rows, n, sizeof *rows, by_number);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++)
        status = a->visitor->over(a, (uint32_t)rows[i], RS_OVER_END, a->last, err);
    free(rows);
    return status;
}

/* ---- starts ---- */

static const struct rs_flight_parent no_parent = {RS_NONE, RS_NONE, RS_NONE, RS_NONE};

/* Types that may get children after their stop. */
static bool is_parent(uint64_t type)
{
    return (type & (RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_COLL | RS_P2P | RS_CE_COLL)) != 0;
}

static uint32_t type_of(const struct rs_callback *cb)
{
    bool known = cb->type && !(cb->type & (cb->type - 1)) && !(cb->type >> RS_NCCL_TYPE_BITS);
    return known ? (uint32_t)cb->type : 0;
}

static void add(struct rs_assembly *a, const struct rs_start *s, uint32_t type, bool owned, uint32_t *row)
{
    rs_flights_add(&a->flights, s->cb->handle, row);
    struct rs_flight *f = rs_flight_at(&a->flights, *row);
    f->type = type;
    f->number = s->number;
    f->part = s->part;
    f->piece = s->piece;
    f->step = (int32_t)s->cb->small;
    if (owned) rs_flights_link(&a->flights, *row, s->parent.row);
}

/* Finds the parent, and whether it is the proxy operation of a step, in flight. */
static enum rs_status find_parent(struct rs_assembly *a, struct rs_start *s, bool *owned, struct rs_err *err)
{
    const struct rs_callback *cb = s->cb;
    bool step = cb->kind == RS_K_PROXY_STEP;
    s->parent =
        rs_flights_parent(&a->flights, cb->parent, step || cb->type == RS_NET_PLUGIN || cb->type == RS_KERNEL_PHASE);
    const struct rs_flight *above = s->parent.row != RS_NONE ? rs_flight_at(&a->flights, s->parent.row) : NULL;
    *owned = step && above && above->type == RS_PROXY_OP;
    if (!*owned) return RS_OK;
    uint32_t before = rs_flights_step(&a->flights, s->parent.row, (int32_t)cb->small);
    s->again = before != RS_NONE;
    return s->again ? rs_assembly_close(a, before, RS_OVER_POLLED, s->now, err) : RS_OK;
}

/* A separate function, so that stops and states need not save registers. */
static __attribute__((noinline)) enum rs_status start(struct rs_assembly *a, const struct rs_callback *cb, int64_t now,
                                                      struct rs_err *err)
{
    const struct rs_visitor *v = a->visitor;
    struct rs_start s = {
        .cb = cb, .now = now, .number = a->numbers++, .parent = {RS_NONE, RS_NONE, RS_NONE, RS_NONE}, .part = RS_NONE};
    uint32_t type = type_of(cb), row;
    bool owned;
    if (cb->kind == RS_K_KERNEL_CH) s.timer = a->timers++;
    if (v->before) RS_TRY(v->before(a, now, err));
    if (type ? !(type & v->types) : v->types != UINT64_MAX) {
        s.parent = no_parent;
        return v->place(a, &s, err);
    }
    uint32_t old = rs_flights_find(&a->flights, cb->handle);
    if (old != RS_NONE) RS_TRY(finish(a, old, RS_OVER_UNSTOPPED, now, err)); /* the counter of handles wrapped around */
    RS_TRY(find_parent(a, &s, &owned, err));
    if (rs_flights_crowded(&a->flights)) RS_TRY(give_up(a, s.parent.row, now, err));
    s.foreign = cb->kind == RS_K_PROXY_OP && rs_work_is_foreign(&a->model->procs[a->proc], cb);
    if (s.foreign) s.parent = no_parent;
    s.part = s.parent.part;
    RS_TRY(v->place(a, &s, err));
    add(a, &s, type, owned, &row);
    RS_TRY(v->started(a, row, &s, err));
    bool call = type == RS_COLL_API || type == RS_P2P_API;
    if (is_parent(type)) rs_flights_keep(&a->flights, row, cb->recovered || (call && cb->small & 1));
    return cb->recovered ? finish(a, row, RS_OVER_UNSTOPPED, now, err) : RS_OK;
}

/* ---- the recording ---- */

enum rs_status rs_assembly_take(struct rs_assembly *a, const struct rs_callback *cb, int64_t now, struct rs_err *err)
{
    const struct rs_visitor *v = a->visitor;
    uint32_t row;
    switch (cb->call) {
    case RS_CALL_START: return start(a, cb, now, err);
    case RS_CALL_STOP:
        row = rs_flights_find(&a->flights, cb->handle);
        if (row != RS_NONE) return finish(a, row, RS_OVER_STOPPED, now, err);
        if (v->unmatched) v->unmatched(a, cb->handle);
        return RS_OK;
    case RS_CALL_STATE:
        row = rs_flights_find(&a->flights, cb->handle);
        return row != RS_NONE ? v->changed(a, row, cb, now, err) : RS_OK;
    case RS_CALL_LOST: return v->lost ? v->lost(a, cb, err) : RS_OK;
    default: return RS_OK; /* init and finalize are read as facts */
    }
}

static void note_first(struct rs_assembly *a, const struct rs_callback *cb, int64_t now)
{
    if (cb->recovered) return;
    if (a->first == RS_TIME_NONE) a->first = now;
    if (cb->call >= RS_CALL_START && cb->call <= RS_CALL_STATE) a->first_event = now;
}

enum rs_status rs_assembly_read(struct rs_assembly *a, struct rs_err *err)
{
    struct rs_cursor *cursor;
    rs_cursor_open(&cursor, a->source->recording, &a->source->process);
    struct rs_callback cb;
    enum rs_status status = RS_OK;
    while (status == RS_OK && rs_cursor_next(cursor, &cb)) {
        int64_t now = a->last = rs_clock_ns(&a->source->clock, cb.tick);
        if (a->first_event == RS_TIME_NONE) note_first(a, &cb, now);
        a->callbacks += cb.call != RS_CALL_LOST && !cb.recovered;
        status = rs_assembly_take(a, &cb, now, err);
    }
    rs_cursor_close(cursor);
    return status == RS_OK ? finish_all(a, err) : status;
}

static void index_members(struct rs_assembly *a)
{
    const struct rs_model *m = a->model;
    struct rs_proc_rows rows = rs_members_of(m, a->proc);
    uint64_t most = 0;
    for (uint32_t i = rows.first; i < rows.end; i++) {
        uint64_t index = rs_handle_counter(m->members[i].context);
        if (index > most && index < RS_CTX_ESCAPE) most = index;
    }
    a->nmembers = (uint32_t)most + 1;
    a->members = rs_alloc(a->nmembers * sizeof *a->members);
    for (uint32_t i = 0; i < a->nmembers; i++) a->members[i] = RS_NONE;
    for (uint32_t i = rows.first; i < rows.end; i++) {
        uint64_t index = rs_handle_counter(m->members[i].context);
        if (index && index < a->nmembers) a->members[index] = i;
    }
}

void rs_assembly_init(struct rs_assembly *a, struct rs_model *m, struct rs_source *source, uint32_t proc,
                      const struct rs_visitor *visitor, void *to)
{
    *a = (struct rs_assembly){.visitor = visitor,
                              .to = to,
                              .model = m,
                              .source = source,
                              .proc = proc,
                              .first = RS_TIME_NONE,
                              .first_event = RS_TIME_NONE,
                              .last = RS_TIME_NONE};
    rs_flights_init(&a->flights, visitor->row);
    index_members(a);
}

void rs_assembly_free(struct rs_assembly *a)
{
    rs_flights_free(&a->flights);
    free(a->members);
    a->members = NULL;
}
