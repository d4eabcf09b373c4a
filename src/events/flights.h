/* Events of one process that have started and are not handed out yet, and parents that are known by their handle.
 *
 * A slab of rows. Handles count the starts of a slot, so a start is found by its count: each slot has a ring of seats,
 * which grows while those in use would be written over, up to a quarter of a million, or less where tens of slots want
 * that. What may still get children after its stop (calls, plans, operations) stays known there by number and part;
 * captured calls are known for good, since every replay names them. Steps hang on their proxy operation, so that the
 * same step started anew is found. Rows move when one is added: hold indexes. One thread at a time. */
#ifndef RS_EVENTS_FLIGHTS_H
#define RS_EVENTS_FLIGHTS_H

#include "events/events.h"
#include "format/handle.h"

enum { RS_FLIGHT_WORDS = 1 + RS_RAW_WORDS }; /* arguments of the longest start */

struct rs_event_flight {
    struct rs_event event;
    struct rs_callback call; /* args and thread_name are set when it is handed out, since rows move */
    uint64_t words[RS_FLIGHT_WORDS];
    char thread[17];
    uint32_t owner; /* of a step: its proxy operation; RS_NONE */
    uint32_t steps; /* of a proxy operation: its latest open step; of a step: the next; of a free row: the next */
    uint32_t above; /* of a step: what its row hangs on, its owner or another step */
    bool used;
    bool moved; /* of a proxy operation: it was seen to do something */
    bool ended; /* of a kernel: its end was told by a state */
};

/* A parent, as far as its children need it. */
struct rs_event_parent {
    uint32_t number, part; /* RS_NONE: not known */
    uint32_t row; /* RS_NONE: not in flight */
    uint32_t piece; /* RS_NONE: not known */
};

enum { RS_SEAT_SHIFT = RS_COUNTER_BITS - 32 };

/* What is known of a start. Free: neither row nor number. */
struct rs_event_seat {
    uint32_t count; /* of its handle, without the RS_SEAT_SHIFT low bits, which its place tells */
    uint32_t row; /* in flight; RS_NONE: not */
    uint32_t number, part, piece; /* of what may get children after its stop; number RS_NONE: not */
};

struct rs_event_slot {
    struct rs_event_seat *seats; /* by the low bits of the counter */
    uint32_t cap; /* a power of two; 0: no start yet */
    uint64_t high; /* of its handles: what stands above the counter */
};

struct rs_event_flights {
    struct rs_event_flight *rows;
    uint32_t n, cap, free, used; /* free: first of a list through `steps`; RS_NONE: none */
    struct rs_event_slot *slots;
    uint32_t nslots;
    uint32_t nseats; /* of all slots */
    struct rs_map strays; /* handle -> row: in flight for so long that its seat is another's */
    struct rs_event_parent *parents; /* captured calls, and parents without a seat (damage) */
    uint32_t nparents, cap_parents;
    struct rs_map kept; /* handle -> its place in parents */
};

/* ---- finding: here, since every callback does ---- */

static inline uint32_t rs_event_count(uint64_t handle)
{
    return (uint32_t)(rs_handle_counter(handle) >> RS_SEAT_SHIFT);
}

/* NULL: none, or it is another's by now. */
static inline struct rs_event_seat *rs_event_seat_of(const struct rs_event_flights *f, uint64_t handle)
{
    uint32_t slot = rs_handle_slot(handle);
    const struct rs_event_slot *s = slot < f->nslots ? &f->slots[slot] : NULL;
    if (!s || !s->cap || s->high != handle >> RS_COUNTER_BITS) return NULL;
    struct rs_event_seat *seat = &s->seats[handle & (s->cap - 1)];
    return seat->count == rs_event_count(handle) ? seat : NULL;
}

static inline uint32_t rs_event_row_of(const struct rs_event_flights *f, const struct rs_event_seat *seat,
                                       uint64_t handle)
{
    if (seat && seat->row != RS_NONE) return seat->row;
    return (uint32_t)rs_map_get(&f->strays, handle, RS_NONE);
}

/* RS_NONE: not in flight. */
static inline uint32_t rs_event_flights_find(const struct rs_event_flights *f, uint64_t handle)
{
    return rs_event_row_of(f, rs_event_seat_of(f, handle), handle);
}

/* ---- all else ---- */

void rs_event_flights_make(struct rs_event_flights *f);
void rs_event_flights_free(struct rs_event_flights *f);

/* Whether so many are in flight that the older ones should be given up. */
bool rs_event_flights_crowded(const struct rs_event_flights *f);
/* The number up to which rows are the older half. */
uint32_t rs_event_flights_middle(const struct rs_event_flights *f);

/* A new row of a handle that is not in flight; only links, flags and `used` are set. */
enum rs_status rs_event_flights_add(struct rs_event_flights *f, uint64_t handle, uint32_t *row, struct rs_err *err);
void rs_event_flights_hang(struct rs_event_flights *f, uint32_t step, uint32_t owner);
/* An open step of a proxy operation; RS_NONE: none. */
uint32_t rs_event_flights_step(const struct rs_event_flights *f, uint32_t owner, int32_t step);
/* Takes a row out; steps that hang on it stay, and hang on nothing then. */
void rs_event_flights_end(struct rs_event_flights *f, uint32_t row);

/* Keeps the event of a row known as a parent after its stop; `always`: for good. */
enum rs_status rs_event_flights_keep(struct rs_event_flights *f, uint32_t row, bool always, struct rs_err *err);
/* Whether any is known for good. */
static inline bool rs_event_flights_keeps(const struct rs_event_flights *f)
{
    return f->nparents > 0;
}
/* `flying`: it is likely in flight still, so look there first. */
struct rs_event_parent rs_event_flights_parent(const struct rs_event_flights *f, uint64_t handle, bool flying);

#endif
