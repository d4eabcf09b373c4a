/* The input of a critical path: one trail per rank with its operations and GPU work, and one per host thread.
 *
 * What two tools recorded of one rank (a recording and a framework's trace) is one trail. Only ranks of the largest
 * island of clocks have one. Borrows view and model; owns its tables until rs_critical_trails_free(). */
#ifndef RS_ANALYSE_CRITICAL_TRAILS_H
#define RS_ANALYSE_CRITICAL_TRAILS_H

#include "analyse/view.h"
#include "base/map.h"
#include "model/model.h"

/* ---- one trail ----
 * What ran on one rank (or one host thread) over time, for walking back: what ran at a time, and what had ended last
 * before it.
 *
 * Spans may overlap and nest. Each refers to the one that was still running when it began (`under`), so that what runs
 * at a time is found by following it, TRAIL_DEEP levels at most: deeper nesting is damage, and the oldest spans are
 * ignored. Fill with trail_add(), then trail_sort() once, then query. */

struct rs_span {
    int64_t start, end; /* ns, start <= end */
    int64_t latest; /* latest possible end, if only bounded; else = end */
    bool ended; /* its end is known; else `end` is a lower bound */
    uint32_t ref; /* an operation, or an activity */
    uint32_t part; /* of an operation: the rank's part in it (in a fan-out, one of them) */
    uint32_t lane; /* a stream, a communicator: spans on it run one after the other */
    uint32_t under; /* set by trail_sort(): the span that ran when this began; RS_NONE */
    uint8_t kind; /* the caller's */
};

struct rs_trail {
    struct rs_span *spans; /* by start */
    uint32_t n, cap;
    uint32_t *by_end; /* indexes of spans, by `latest` */
};

/* The last span that began before a time; RS_NONE: none. What runs at that time is this span and those under it whose
 * `latest` is not before it. */
uint32_t rs_trail_begun(const struct rs_trail *t, int64_t at);
/* How many spans had ended (`latest`) at a time or before: by_end[0 .. count). */
uint32_t rs_trail_ended(const struct rs_trail *t, int64_t at);

/* ---- all trails ---- */

/* Kinds of spans on a rank's trail; those on a thread's are enum rs_activity_kind. */
enum rs_span_kind { RS_SPAN_COMPUTE, RS_SPAN_COPY, RS_SPAN_OP };

/* A time in which a rank may be in operations with unknown starts. */
struct rs_untimed {
    int64_t from, to; /* INT64_MAX: no known end */
};

struct rs_rank_trail {
    struct rs_trail trail; /* ref: an operation, or an activity */
    uint32_t rank_id; /* row of model.ranks */
    uint32_t thread; /* index into threads: the one that launches most; RS_NONE */
    int64_t seen_from, seen_to; /* first to last activity: outside of it GPU and host are unknown; RS_TIME_NONE: no
                                 * activity */
    struct rs_untimed *untimed; /* by time, not overlapping */
    uint32_t nuntimed, cap_untimed;
    bool follow; /* passes the filter */
};

struct rs_critical_trails {
    struct rs_rank_trail *ranks;
    uint32_t nranks;
    uint32_t *of_rank; /* index into ranks; RS_NONE: on other clocks */
    struct rs_trail *threads;
    uint32_t nthreads;
    uint32_t *thread_of; /* by lane; RS_NONE: a stream */
    struct rs_map kernels; /* part -> the activity that is its kernel */
    uint32_t left_out; /* ranks */
    uint64_t placeless; /* kernels and copies of processes that are not a rank: no known communicator */
    bool has_activities;
};

void rs_critical_trails_init(struct rs_critical_trails *t, struct rs_view *view, const struct rs_filter *filter);
void rs_critical_trails_free(struct rs_critical_trails *t);

#endif
