/* The two sides of a stream of sends and receives, prepared for finding which belong together: when each ended, between
 * which collectives it lies, and where something may be missing.
 *
 * Owns its tables; the items and bursts of a side are the caller's, with room for all parts of a stream. Works on the
 * aligned model and only reads it. One thread. */
#ifndef RS_JOIN_P2P_STREAMS_H
#define RS_JOIN_P2P_STREAMS_H

#include "model/model.h"

/* A send or receive of a stream. */
struct rs_item {
    uint32_t part;
    uint32_t burst; /* those of one stream that were launched together: nothing but order tells them apart */
    uint32_t segment; /* between cuts; rising */
    uint32_t vote; /* the item of the other side that it belongs to, if that is clear; RS_NONE */
    int64_t early, late; /* when its end was, on the common axis: after, before. RS_TIME_NONE, INT64_MAX: not known */
    int64_t start; /* RS_TIME_NONE: not known */
    int64_t error; /* of these times */
    int64_t before, after; /* numbers of the collectives around it: the last before, the first after */
    int64_t asked, asked_late; /* host: when it was asked for; between these two where that is not known */
    uint64_t bytes;
    uint32_t island; /* of clocks; RS_NONE: its times cannot be compared */
    bool tight; /* nothing else of the stream can have ended between early and late */
};

struct rs_burst {
    uint32_t first, n;
    bool touched; /* something may be missing in it, or next to it */
    uint32_t best; /* of the other side; RS_NONE */
    int64_t distance, second; /* of its end from the nearest's, and from the next nearest's */
    int64_t at; /* for searching: never falls */
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
    int64_t *before, *after; /* by part: the collectives around */
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

/* A clock's error that is not known, or of a damaged input: sums of errors stay in range. */
#define RS_ERROR_MOST 1000000000000 /* ns */

#endif
