/* Flows of a Perfetto trace: which ids a slice carries.
 *
 * Slices that carry the same id are joined by arrows in the order of their begins. From a parent to a child, from there
 * to its first child, and so on, and in the end to what it launched, goes a path with one id; further launches, what
 * began before its parent, and a send and its receive have an id for each pair; the ranks of an operation share one, as
 * do a proxy operation and its steps, which follow one another. So the arrows are the relations, with few ids.
 * Where both are in one piece it is known which comes later: the flow ends there. Owned by the exporter; one thread
 * at a time. */
#ifndef RS_EXPORT_PERFETTO_FLOWS_H
#define RS_EXPORT_PERFETTO_FLOWS_H

#include "export/fanout_ranks.h"
#include "export/nests.h"
#include "export/perfetto/wire.h"
#include "timeline/timeline.h"

struct rs_flows {
    const struct rs_timeline *t;
    struct rs_fanout_ranks fanouts;
    /* Of the piece at hand: */
    const struct rs_nests *nests; /* in which order its bars are written */
    /* Children of bar i but for steps: children[child_from[i] .. child_from[i + 1]); the first is the one that its path
     * goes on to, if it does. */
    uint32_t *child_from, *children;
    uint32_t *head; /* of bar i: the first of its path, but for that one's parent */
    uint32_t *arrivals; /* edges by the bar that they lead to */
    uint8_t *marks; /* of bar i: where its path goes on, what edges it has */
    uint64_t edges_before; /* of all pieces before it */
};

enum rs_status rs_flows_init(struct rs_flows *f, const struct rs_timeline *t, struct rs_err *err);
enum rs_status rs_flows_piece(struct rs_flows *f, const struct rs_bars *b, const struct rs_nests *nests,
                              struct rs_err *err);
/* When its bars are done; frees what was of them. */
void rs_flows_done(struct rs_flows *f, const struct rs_bars *b);
/* The ids of bar i as fields of its TrackEvent; `part` RS_NONE: it is not an operation's. */
void rs_flows_put(const struct rs_flows *f, const struct rs_bars *b, uint32_t i, uint32_t part, struct rs_wire *event);
void rs_flows_free(struct rs_flows *f);

#endif
