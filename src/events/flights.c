#include "events/flights.h"

#include <stdlib.h>

#include "base/room.h"
#include "nccl/abi.h"

enum {
    MOST = 1 << 16, /* rows in flight; a proxy thread has some hundreds */
    AGE = 1 << 18, /* parents known in one age */
    MOST_STEPS = 256, /* of an operation that are looked through; NCCL has 8 under way */
};

void rs_event_flights_make(struct rs_event_flights *f)
{
    *f = (struct rs_event_flights){.free = RS_NONE};
}

void rs_event_flights_free(struct rs_event_flights *f)
{
    free(f->rows);
    rs_map_free(&f->index);
    rs_map_free(&f->known);
    rs_map_free(&f->known_before);
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
    return rs_map_put(&f->index, handle, *row, err);
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

uint32_t rs_event_flights_find(const struct rs_event_flights *f, uint64_t handle)
{
    return (uint32_t)rs_map_get(&f->index, handle, RS_NONE);
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
    rs_map_delete(&f->index, r->event.handle);
    r->used = false;
    r->steps = f->free;
    f->free = row;
    f->used--;
}

enum rs_status rs_event_flights_keep(struct rs_event_flights *f, uint64_t handle, uint32_t number, uint32_t part,
                                     bool always, struct rs_err *err)
{
    uint64_t value = (uint64_t)number << 32 | part;
    if (always) return rs_map_put(&f->kept, handle, value, err);
    if (rs_map_count(&f->known) >= AGE) {
        rs_map_free(&f->known_before);
        f->known_before = f->known;
        f->known = (struct rs_map){0};
    }
    return rs_map_put(&f->known, handle, value, err);
}

struct rs_event_parent rs_event_flights_parent(const struct rs_event_flights *f, uint64_t handle, bool flying)
{
    if (flying) {
        uint32_t row = rs_event_flights_find(f, handle);
        if (row != RS_NONE) return (struct rs_event_parent){f->rows[row].event.number, f->rows[row].event.part, row};
    }
    const uint64_t *at = rs_map_find(&f->known, handle);
    if (!at) at = rs_map_find(&f->known_before, handle);
    if (!at) at = rs_map_find(&f->kept, handle);
    if (at) return (struct rs_event_parent){(uint32_t)(*at >> 32), (uint32_t)*at, RS_NONE};
    if (flying || !handle) return (struct rs_event_parent){RS_NONE, RS_NONE, RS_NONE};
    return rs_event_flights_parent(f, handle, true);
}
