/* What ran on one rank (or one host thread) over time, for going back through it: what ran at a moment, and what had
 * ended last before it.
 *
 * Spans may overlap and nest. Each knows the one that was still running when it began (`under`), so that what runs at
 * a moment is found by climbing, RS_TRAIL_DEEP at most: more spans at once than that are damage, and the oldest of
 * them are not seen. Fill with rs_trail_add(), then rs_trail_sort() once, then ask. Owns its arrays until
 * rs_trail_free(); one thread at a time. */
#ifndef RS_ANALYSE_CRITICAL_TRAIL_H
#define RS_ANALYSE_CRITICAL_TRAIL_H

#include "model/model.h"

enum { RS_TRAIL_DEEP = 64 };

struct rs_span {
    int64_t start, end; /* ns, start <= end */
    int64_t latest; /* where the end is only bounded: it was not later than this; else = end */
    bool ended; /* its end is known; else `end` is a lower bound */
    uint32_t ref; /* what it is: an operation, or an activity */
    uint32_t part; /* of an operation: the rank's part in it (of a fan-out, one of them) */
    uint32_t lane; /* what runs one after the other: a stream, a communicator */
    uint32_t under; /* set by rs_trail_sort(): the span that ran when this began; RS_NONE */
    uint8_t kind; /* the caller's */
};

struct rs_trail {
    struct rs_span *spans; /* by start */
    uint32_t n, cap;
    uint32_t *by_end; /* indexes of spans, by `latest` */
};

enum rs_status rs_trail_add(struct rs_trail *t, const struct rs_span *span, struct rs_err *err);
enum rs_status rs_trail_sort(struct rs_trail *t, struct rs_err *err);
void rs_trail_free(struct rs_trail *t);

/* The last span that began before a moment; RS_NONE: none. Those that run at it are this one and what is under it, as
 * far as their `latest` reaches to it. */
uint32_t rs_trail_begun(const struct rs_trail *t, int64_t at);
/* How many spans had ended (`latest`) at a moment or before: by_end[0 .. count). */
uint32_t rs_trail_ended(const struct rs_trail *t, int64_t at);

#endif
