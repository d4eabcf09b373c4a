/* Events of one process that are in flight (started and not over), and parents by their handle.
 *
 * A slab of rows with a free list; a reader adds its own fields after struct rs_flight. Handles count the starts of a
 * slot, so a start is found by its count: each slot has a ring of places, which grows while entries in use would be
 * overwritten, up to 2^18, or less if tens of slots need that many. Events that may get children after their stop
 * (calls, plans, operations) stay there with number and part; captured calls are kept forever, since every replay names
 * them. Steps are linked to their proxy operation, to find a step that is started again. Rows move when one is added:
 * keep indexes. One thread at a time. */
#ifndef RS_ASSEMBLE_FLIGHTS_H
#define RS_ASSEMBLE_FLIGHTS_H

#include "format/handle.h"
#include "model/model.h"

struct rs_flight {
    uint64_t handle;
    uint32_t type; /* one bit of nccl/abi.h; 0: unknown type */
    uint32_t number; /* in its process, from 0, in the order of starts */
    uint32_t part; /* that it is, or belongs to; RS_NONE: unknown */
    uint32_t piece; /* see events/cuts.h */
    uint32_t owner; /* of a step: its proxy operation; RS_NONE */
    uint32_t steps; /* of a proxy operation: its latest open step; of a step: the next; of a free row: the next */
    uint32_t above; /* of a step: the row that links to it, its owner or another step */
    int32_t step; /* of a step: its number */
    bool used;
};

/* A parent, as far as its children need it. */
struct rs_flight_parent {
    uint32_t number, part; /* RS_NONE: unknown */
    uint32_t row; /* RS_NONE: not in flight */
    uint32_t piece; /* RS_NONE: unknown */
};

enum { RS_FLIGHT_SHIFT = RS_COUNTER_BITS - 32 };

/* A start. Free: neither row nor number. */
struct rs_flight_place {
    uint32_t count; /* of its handle, without the RS_FLIGHT_SHIFT low bits, which are in its index */
    uint32_t row; /* in flight; RS_NONE: not */
    uint32_t number, part, piece; /* if it may get children after its stop; else number is RS_NONE */
};

struct rs_flight_slot {
    struct rs_flight_place *places; /* by the low bits of the counter */
    uint32_t cap; /* a power of two; 0: no start yet */
    uint64_t high; /* of its handles: the bits above the counter */
};

struct rs_flights {
    char *rows;
    size_t size; /* of a row */
    uint32_t n, cap, free, used; /* free: first of a list through `steps`; RS_NONE: none */
    struct rs_flight_slot *slots;
    uint32_t nslots;
    uint32_t nplaces; /* of all slots */
    struct rs_map strays; /* handle -> row: in flight for so long that its place was reused */
    struct rs_flight_parent *parents; /* captured calls, and parents without a place (damage) */
    uint32_t nparents, cap_parents;
    struct rs_map kept; /* handle -> index in parents */
};

/* ---- lookups: inline, since every callback needs them ---- */

static inline void *rs_flight_at(const struct rs_flights *f, uint32_t row)
{
    return f->rows + row * f->size;
}

static inline uint32_t rs_flight_count(uint64_t handle)
{
    return (uint32_t)(rs_handle_counter(handle) >> RS_FLIGHT_SHIFT);
}

/* NULL: none, or it was reused. */
static inline struct rs_flight_place *rs_flight_place_of(const struct rs_flights *f, uint64_t handle)
{
    uint32_t slot = rs_handle_slot(handle);
    const struct rs_flight_slot *s = slot < f->nslots ? &f->slots[slot] : NULL;
    if (!s || !s->cap || s->high != handle >> RS_COUNTER_BITS) return NULL;
    struct rs_flight_place *place = &s->places[handle & (s->cap - 1)];
    return place->count == rs_flight_count(handle) ? place : NULL;
}

static inline uint32_t rs_flight_row_of(const struct rs_flights *f, const struct rs_flight_place *place,
                                        uint64_t handle)
{
    if (place && place->row != RS_NONE) return place->row;
    return (uint32_t)rs_map_get(&f->strays, handle, RS_NONE);
}

/* RS_NONE: not in flight. */
static inline uint32_t rs_flights_find(const struct rs_flights *f, uint64_t handle)
{
    return rs_flight_row_of(f, rs_flight_place_of(f, handle), handle);
}

/* ---- the rest ---- */

/* `size`: of a row, which begins with a struct rs_flight. */
void rs_flights_init(struct rs_flights *f, size_t size);
void rs_flights_free(struct rs_flights *f);

/* Whether so many are in flight that the older ones should be dropped. */
bool rs_flights_crowded(const struct rs_flights *f);
/* The start number up to which rows are the older half. */
uint32_t rs_flights_middle(const struct rs_flights *f);

/* A new row for a handle that is not in flight; only handle, links and `used` are set. */
void rs_flights_add(struct rs_flights *f, uint64_t handle, uint32_t *row);
/* Links a step to its proxy operation. */
void rs_flights_link(struct rs_flights *f, uint32_t step, uint32_t owner);
/* An open step of a proxy operation; RS_NONE: none. */
uint32_t rs_flights_step(const struct rs_flights *f, uint32_t owner, int32_t step);
/* Removes a row; steps of a proxy operation stay, without an owner. */
void rs_flights_end(struct rs_flights *f, uint32_t row);

/* Keeps the event of a row as a parent after its stop; `always`: forever. */
void rs_flights_keep(struct rs_flights *f, uint32_t row, bool always);
/* Whether any is kept forever. */
static inline bool rs_flights_keeps(const struct rs_flights *f)
{
    return f->nparents > 0;
}
/* `flying`: it is probably still in flight, so look there first. */
struct rs_flight_parent rs_flights_parent(const struct rs_flights *f, uint64_t handle, bool flying);

#endif
