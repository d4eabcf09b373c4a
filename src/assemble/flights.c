#include "assemble/flights.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "nccl/abi.h"

enum {
    MOST = 1 << 16, /* rows in flight; a proxy thread has some hundreds */
    MOST_STEPS = 256, /* of an operation that are searched; NCCL has 8 in flight */
    FIRST_PLACES = 256,
    MOST_PLACES = 1 << 18, /* of a slot */
    MOST_PLACES_ALL = 1 << 22, /* damaged handles may need that many in every slot... */
    SHARE = 16, /* ...so a slot grows only while there is room for this many more of its size */
};
_Static_assert(FIRST_PLACES >= 1 << RS_FLIGHT_SHIFT, "count and index of a place are its handle");

void rs_flights_init(struct rs_flights *f, size_t size)
{
    *f = (struct rs_flights){.size = size, .free = RS_NONE};
}

void rs_flights_free(struct rs_flights *f)
{
    free(f->rows);
    for (uint32_t i = 0; i < f->nslots; i++) free(f->slots[i].places);
    free(f->slots);
    free(f->parents);
    rs_map_free(&f->strays);
    rs_map_free(&f->kept);
    rs_flights_init(f, f->size);
}

bool rs_flights_crowded(const struct rs_flights *f)
{
    return f->used >= MOST;
}

uint32_t rs_flights_middle(const struct rs_flights *f)
{
    uint32_t from = UINT32_MAX, to = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct rs_flight *r = rs_flight_at(f, i);
        if (!r->used) continue;
        uint32_t at = r->number;
        if (at < from) from = at;
        if (at > to) to = at;
    }
    return to > from ? from + (to - from) / 2 : to;
}

/* ---- places ---- */

static bool is_free(const struct rs_flight_place *place)
{
    return place->row == RS_NONE && place->number == RS_NONE;
}

static bool may_grow(const struct rs_flights *f, const struct rs_flight_slot *s)
{
    return s->cap < MOST_PLACES && f->nplaces + SHARE * s->cap <= MOST_PLACES_ALL;
}

static void grow(struct rs_flights *f, struct rs_flight_slot *s)
{
    uint32_t cap = s->cap ? 2 * s->cap : FIRST_PLACES;
    struct rs_flight_place *places = rs_alloc(cap * sizeof *places);
    memset(places, 0xff, cap * sizeof *places); /* all RS_NONE */
    for (uint32_t i = 0; i < s->cap; i++) {
        uint64_t counter = (uint64_t)s->places[i].count << RS_FLIGHT_SHIFT | (i & ((1u << RS_FLIGHT_SHIFT) - 1));
        if (!is_free(&s->places[i])) places[counter & (cap - 1)] = s->places[i];
    }
    free(s->places);
    f->nplaces += cap - s->cap;
    s->places = places;
    s->cap = cap;
}

/* The slot of a handle, created if necessary; NULL: another slot has its number (damage). */
static void slot_of(struct rs_flights *f, uint64_t handle, struct rs_flight_slot **slot)
{
    uint32_t i = rs_handle_slot(handle);
    if (i >= f->nslots) {
        struct rs_flight_slot *slots = rs_realloc(f->slots, (i + (size_t)1) * sizeof *slots);
        memset(slots + f->nslots, 0, (i + (size_t)1 - f->nslots) * sizeof *slots);
        f->slots = slots;
        f->nslots = i + 1;
    }
    struct rs_flight_slot *s = &f->slots[i];
    if (!s->cap) {
        s->high = handle >> RS_COUNTER_BITS;
        grow(f, s);
    }
    *slot = s->high == handle >> RS_COUNTER_BITS ? s : NULL;
}

/* Assigns a place to a new row. */
static void settle(struct rs_flights *f, uint64_t handle, uint32_t row)
{
    struct rs_flight_slot *s = NULL;
    slot_of(f, handle, &s);
    if (!s) {
        rs_map_put(&f->strays, handle, row);
        return;
    }
    uint32_t count = rs_flight_count(handle);
    struct rs_flight_place *place = &s->places[handle & (s->cap - 1)];
    while (!is_free(place) && place->count != count && may_grow(f, s)) {
        grow(f, s);
        place = &s->places[handle & (s->cap - 1)];
    }
    if (place->row != RS_NONE) {
        const struct rs_flight *other = rs_flight_at(f, place->row);
        rs_map_put(&f->strays, other->handle, place->row);
    }
    /* A parent with the same handle (damage) is kept until the place is reused. */
    if (place->count != count) *place = (struct rs_flight_place){count, RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    place->row = row;
}

/* ---- rows ---- */

void rs_flights_add(struct rs_flights *f, uint64_t handle, uint32_t *row)
{
    if (f->free == RS_NONE && f->n == f->cap) {
        void *rows = f->rows;
        rs_room(&rows, f->n, &f->cap, f->size);
        f->rows = rows;
    }
    *row = f->free != RS_NONE ? f->free : f->n++;
    struct rs_flight *r = rs_flight_at(f, *row);
    if (*row == f->free) f->free = r->steps;
    r->used = true;
    r->owner = r->steps = r->above = RS_NONE;
    r->handle = handle;
    f->used++;
    settle(f, handle, *row);
}

void rs_flights_link(struct rs_flights *f, uint32_t step, uint32_t owner)
{
    struct rs_flight *s = rs_flight_at(f, step), *o = rs_flight_at(f, owner);
    s->owner = s->above = owner;
    s->steps = o->steps;
    if (o->steps != RS_NONE) ((struct rs_flight *)rs_flight_at(f, o->steps))->above = step;
    o->steps = step;
}

uint32_t rs_flights_step(const struct rs_flights *f, uint32_t owner, int32_t step)
{
    const struct rs_flight *r = rs_flight_at(f, owner);
    for (int n = 0; r->steps != RS_NONE && n < MOST_STEPS; n++) {
        uint32_t row = r->steps;
        r = rs_flight_at(f, row);
        if (r->step == step) return row;
    }
    return RS_NONE;
}

void rs_flights_end(struct rs_flights *f, uint32_t row)
{
    struct rs_flight *r = rs_flight_at(f, row);
    if (r->owner != RS_NONE) {
        ((struct rs_flight *)rs_flight_at(f, r->above))->steps = r->steps;
        if (r->steps != RS_NONE) ((struct rs_flight *)rs_flight_at(f, r->steps))->above = r->above;
    } else if (r->type == RS_PROXY_OP) {
        for (uint32_t i = r->steps; i != RS_NONE;) {
            struct rs_flight *step = rs_flight_at(f, i);
            step->owner = RS_NONE;
            i = step->steps;
        }
    }
    struct rs_flight_place *place = rs_flight_place_of(f, r->handle);
    if (place && place->row == row)
        place->row = RS_NONE;
    else
        rs_map_delete(&f->strays, r->handle);
    r->used = false;
    r->steps = f->free;
    f->free = row;
    f->used--;
}

void rs_flights_keep(struct rs_flights *f, uint32_t row, bool always)
{
    const struct rs_flight *r = rs_flight_at(f, row);
    struct rs_flight_place *place = always ? NULL : rs_flight_place_of(f, r->handle);
    if (place) {
        place->number = r->number;
        place->part = r->part;
        place->piece = r->piece;
        return;
    }
    if (!always && f->nparents >= MOST_PLACES_ALL) return;
    RS_ROOM(f->parents, f->nparents, f->cap_parents);
    f->parents[f->nparents] = (struct rs_flight_parent){r->number, r->part, RS_NONE, r->piece};
    rs_map_put(&f->kept, r->handle, f->nparents++);
}

struct rs_flight_parent rs_flights_parent(const struct rs_flights *f, uint64_t handle, bool flying)
{
    const struct rs_flight_place *place = rs_flight_place_of(f, handle);
    uint32_t row = rs_flight_row_of(f, place, handle);
    if (row == RS_NONE || !flying) {
        if (place && place->number != RS_NONE)
            return (struct rs_flight_parent){place->number, place->part, RS_NONE, place->piece};
        const uint64_t *at = rs_map_find(&f->kept, handle);
        if (at) return f->parents[*at];
    }
    if (row == RS_NONE) return (struct rs_flight_parent){RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    const struct rs_flight *r = rs_flight_at(f, row);
    return (struct rs_flight_parent){r->number, r->part, row, r->piece};
}
