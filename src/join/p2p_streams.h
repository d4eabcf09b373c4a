/* The two sides of a stream of sends and receives, prepared for matching: when each ended, between which collectives it
 * was, and where something may be missing.
 *
 * Owns its tables; the items and bursts of a side are the caller's, with room for all parts of a stream. Reads the
 * aligned model. One thread. */
#ifndef RS_JOIN_P2P_STREAMS_H
#define RS_JOIN_P2P_STREAMS_H

#include "model/model.h"

/* A send or receive of a stream. */
struct rs_item {
    uint32_t part;
    uint32_t burst; /* items of one stream launched together, distinguished only by order */
    uint32_t segment; /* between cuts; ascending */
    uint32_t vote; /* the item of the other side that it clearly matches; RS_NONE */
    int64_t early, late; /* bounds of its end, on the common axis; RS_TIME_NONE, INT64_MAX: unknown */
    int64_t start; /* RS_TIME_NONE: unknown */
    int64_t error; /* of these times */
    int64_t before, after; /* numbers of the collectives around it: the last before, the first after */
    int64_t asked, asked_late; /* host time of its call; bounds of it, if unknown */
    uint64_t bytes;
    uint32_t island; /* of clocks; RS_NONE: its times cannot be compared */
    bool tight; /* nothing else of the stream can have ended between early and late */
};

struct rs_burst {
    uint32_t first, n;
    bool touched; /* something may be missing in it, or next to it */
    uint32_t best; /* of the other side; RS_NONE */
    int64_t distance, second; /* of its end from the nearest, and from the next nearest */
    int64_t at; /* for searching: never decreases */
};

struct rs_p2p_stream {
    struct rs_item *items;
    struct rs_burst *bursts;
    uint32_t n, nbursts;
    uint32_t longest; /* burst */
};

struct rs_p2p_streams {
    const struct rs_model *m;
    struct rs_holes *holes; /* by process: when sends or receives may be missing */
    int64_t *before, *after; /* by part: the collectives around it */
    uint32_t *launch; /* by part: what was launched together */
    struct rs_launch_span *spans; /* by launch */
    uint32_t nspans;
};

void rs_p2p_streams_init(struct rs_p2p_streams *s, const struct rs_model *m);
void rs_p2p_streams_free(struct rs_p2p_streams *s);

/* The parts of a list that have no operation yet, as a side. The list is of one member. */
void rs_p2p_streams_load(struct rs_p2p_streams *s, struct rs_p2p_stream *side, const uint32_t *parts, uint32_t n);

/* Whether two parts of a process were launched together. */
bool rs_launched_together(const struct rs_parts *t, uint32_t a, uint32_t b);

/* Limits unknown or damaged clock errors, so that their sums do not overflow. */
#define RS_ERROR_MOST 1000000000000 /* ns */

#endif
