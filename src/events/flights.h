/* Events of one process that have started and are not handed out yet, and parents that are known by their handle.
 *
 * A slab with a map from handles. Steps hang on their proxy operation, so that the same step started anew is found.
 * What may still get children after its stop (calls, plans, operations) stays known by number and part: the latest
 * quarter of a million in two ages, and captured calls for good, since every replay names them. Rows move when one is
 * added: hold indexes. One thread at a time. */
#ifndef RS_EVENTS_FLIGHTS_H
#define RS_EVENTS_FLIGHTS_H

#include "events/events.h"

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
};

struct rs_event_flights {
    struct rs_event_flight *rows;
    uint32_t n, cap, free, used; /* free: first of a list through `steps`; RS_NONE: none */
    struct rs_map index; /* handle -> row */
    struct rs_map known, known_before, kept; /* handle -> number << 32 | part; kept: captured calls */
};

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
uint32_t rs_event_flights_find(const struct rs_event_flights *f, uint64_t handle); /* RS_NONE: not in flight */
/* Takes a row out; steps that hang on it stay, and hang on nothing then. */
void rs_event_flights_end(struct rs_event_flights *f, uint32_t row);

/* Keeps a parent known after its stop; `always`: for good. */
enum rs_status rs_event_flights_keep(struct rs_event_flights *f, uint64_t handle, uint32_t number, uint32_t part,
                                     bool always, struct rs_err *err);
/* `flying`: it is likely in flight still, so look there first. */
struct rs_event_parent rs_event_flights_parent(const struct rs_event_flights *f, uint64_t handle, bool flying);

#endif
