#include "events/flights.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "nccl/abi.h"

enum {
    MOST = 1 << 16, /* rows in flight; a proxy thread has some hundreds */
    MOST_STEPS = 256, /* of an operation that are looked through; NCCL has 8 under way */
    FIRST_SEATS = 256,
    MOST_SEATS = 1 << 18, /* of a slot */
    MOST_SEATS_ALL = 1 << 22, /* damaged handles may want that of every slot... */
    SHARE = 16, /* ...so that one grows only while there is room for as many more of its size */
};
_Static_assert(FIRST_SEATS >= 1 << RS_SEAT_SHIFT, "count and place of a seat tell its handle");

void rs_event_flights_make(struct rs_event_flights *f)
{
    *f = (struct rs_event_flights){.free = RS_NONE};
}

void rs_event_flights_free(struct rs_event_flights *f)
{
    free(f->rows);
    for (uint32_t i = 0; i < f->nslots; i++) free(f->slots[i].seats);
    free(f->slots);
    free(f->parents);
    rs_map_free(&f->strays);
    rs_map_free(&f->kept);
    rs_event_flights_make(f);
}

bool rs_event_flights_crowded(const struct rs_event_flights *f)
{
    return f->used >= MOST;
}

uint32_t rs_event_flights_middle(const struct rs_event_flights *f)
{
    uint32_t from = UINT32_MAX, to = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->rows[i].used) continue;
        uint32_t at = f->rows[i].event.number;
        if (at < from) from = at;
        if (at > to) to = at;
    }
    return to > from ? from + (to - from) / 2 : to;
}

/* ---- seats ---- */

static bool is_free(const struct rs_event_seat *seat)
{
    return seat->row == RS_NONE && seat->number == RS_NONE;
}

static bool may_grow(const struct rs_event_flights *f, const struct rs_event_slot *s)
{
    return s->cap < MOST_SEATS && f->nseats + SHARE * s->cap <= MOST_SEATS_ALL;
}

static enum rs_status grow(struct rs_event_flights *f, struct rs_event_slot *s, struct rs_err *err)
{
    uint32_t cap = s->cap ? 2 * s->cap : FIRST_SEATS;
    struct rs_event_seat *seats = malloc(cap * sizeof *seats);
    if (!seats) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    memset(seats, 0xff, cap * sizeof *seats); /* RS_NONE all over */
    for (uint32_t i = 0; i < s->cap; i++) {
        uint64_t counter = (uint64_t)s->seats[i].count << RS_SEAT_SHIFT | (i & ((1u << RS_SEAT_SHIFT) - 1));
        if (!is_free(&s->seats[i])) seats[counter & (cap - 1)] = s->seats[i];
    }
    free(s->seats);
    f->nseats += cap - s->cap;
    s->seats = seats;
    s->cap = cap;
    return RS_OK;
}

/* The slot of a handle, made if need be; NULL: its number is that of another slot (damage). */
static enum rs_status slot_of(struct rs_event_flights *f, uint64_t handle, struct rs_event_slot **slot,
                              struct rs_err *err)
{
    uint32_t i = rs_handle_slot(handle);
    if (i >= f->nslots) {
        struct rs_event_slot *slots = realloc(f->slots, (i + (size_t)1) * sizeof *slots);
        if (!slots) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        memset(slots + f->nslots, 0, (i + (size_t)1 - f->nslots) * sizeof *slots);
        f->slots = slots;
        f->nslots = i + 1;
    }
    struct rs_event_slot *s = &f->slots[i];
    if (!s->cap) {
        s->high = handle >> RS_COUNTER_BITS;
        RS_TRY(grow(f, s, err));
    }
    *slot = s->high == handle >> RS_COUNTER_BITS ? s : NULL;
    return RS_OK;
}

/* Seats a row that has started. */
static enum rs_status sit(struct rs_event_flights *f, uint64_t handle, uint32_t row, struct rs_err *err)
{
    struct rs_event_slot *s = NULL;
    RS_TRY(slot_of(f, handle, &s, err));
    if (!s) return rs_map_put(&f->strays, handle, row, err);
    uint32_t count = rs_event_count(handle);
    struct rs_event_seat *seat = &s->seats[handle & (s->cap - 1)];
    while (!is_free(seat) && seat->count != count && may_grow(f, s)) {
        RS_TRY(grow(f, s, err));
        seat = &s->seats[handle & (s->cap - 1)];
    }
    if (seat->row != RS_NONE) RS_TRY(rs_map_put(&f->strays, f->rows[seat->row].event.handle, seat->row, err));
    /* A parent that had the same handle (damage) is known until another has it. */
    if (seat->count != count) *seat = (struct rs_event_seat){count, RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    seat->row = row;
    return RS_OK;
}

/* ---- rows ---- */

enum rs_status rs_event_flights_add(struct rs_event_flights *f, uint64_t handle, uint32_t *row, struct rs_err *err)
{
    if (f->free != RS_NONE) {
        *row = f->free;
        f->free = f->rows[*row].steps;
    } else {
        RS_ROOM(f->rows, f->n, f->cap, err);
        *row = f->n++;
    }
    struct rs_event_flight *r = &f->rows[*row];
    r->used = true;
    r->moved = r->ended = false;
    r->owner = r->steps = r->above = RS_NONE;
    r->event.handle = handle;
    f->used++;
    return sit(f, handle, *row, err);
}

void rs_event_flights_hang(struct rs_event_flights *f, uint32_t step, uint32_t owner)
{
    uint32_t first = f->rows[owner].steps;
    f->rows[step].owner = f->rows[step].above = owner;
    f->rows[step].steps = first;
    if (first != RS_NONE) f->rows[first].above = step;
    f->rows[owner].steps = step;
}

uint32_t rs_event_flights_step(const struct rs_event_flights *f, uint32_t owner, int32_t step)
{
    uint32_t i = f->rows[owner].steps;
    for (int n = 0; i != RS_NONE && n < MOST_STEPS; i = f->rows[i].steps, n++)
        if (f->rows[i].event.step == step) return i;
    return RS_NONE;
}

void rs_event_flights_end(struct rs_event_flights *f, uint32_t row)
{
    struct rs_event_flight *r = &f->rows[row];
    if (r->owner != RS_NONE) {
        f->rows[r->above].steps = r->steps;
        if (r->steps != RS_NONE) f->rows[r->steps].above = r->above;
    } else if (r->event.type == RS_PROXY_OP) {
        for (uint32_t i = r->steps; i != RS_NONE; i = f->rows[i].steps) f->rows[i].owner = RS_NONE;
    }
    struct rs_event_seat *seat = rs_event_seat_of(f, r->event.handle);
    if (seat && seat->row == row)
        seat->row = RS_NONE;
    else
        rs_map_delete(&f->strays, r->event.handle);
    r->used = false;
    r->steps = f->free;
    f->free = row;
    f->used--;
}

enum rs_status rs_event_flights_keep(struct rs_event_flights *f, uint32_t row, bool always, struct rs_err *err)
{
    const struct rs_event *e = &f->rows[row].event;
    struct rs_event_seat *seat = always ? NULL : rs_event_seat_of(f, e->handle);
    if (seat) {
        seat->number = e->number;
        seat->part = e->part;
        seat->piece = e->piece;
        return RS_OK;
    }
    if (!always && f->nparents >= MOST_SEATS_ALL) return RS_OK;
    RS_ROOM(f->parents, f->nparents, f->cap_parents, err);
    f->parents[f->nparents] = (struct rs_event_parent){e->number, e->part, RS_NONE, e->piece};
    return rs_map_put(&f->kept, e->handle, f->nparents++, err);
}

struct rs_event_parent rs_event_flights_parent(const struct rs_event_flights *f, uint64_t handle, bool flying)
{
    const struct rs_event_seat *seat = rs_event_seat_of(f, handle);
    uint32_t row = rs_event_row_of(f, seat, handle);
    if (row == RS_NONE || !flying) {
        if (seat && seat->number != RS_NONE)
            return (struct rs_event_parent){seat->number, seat->part, RS_NONE, seat->piece};
        const uint64_t *at = rs_map_find(&f->kept, handle);
        if (at) return f->parents[*at];
    }
    if (row == RS_NONE) return (struct rs_event_parent){RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    const struct rs_event *e = &f->rows[row].event;
    return (struct rs_event_parent){e->number, e->part, row, e->piece};
}
