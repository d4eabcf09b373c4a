/* What there is to walk through for a critical path: a trail a rank with its operations and GPU work, and a trail a
 * host thread.
 *
 * What two tools saw of one rank (a recording and a framework's trace) is one trail. Only ranks of
 * one island of clocks, the largest, have one. Borrows view and model; owns its tables until
 * rs_critical_trails_free(). */
#ifndef RS_ANALYSE_CRITICAL_TRAILS_H
#define RS_ANALYSE_CRITICAL_TRAILS_H

#include "analyse/critical_trail.h"
#include "analyse/view.h"
#include "base/map.h"

/* Kinds of spans on a rank's trail; those on a thread's are enum rs_activity_kind. */
enum rs_span_kind { RS_SPAN_COMPUTE, RS_SPAN_COPY, RS_SPAN_OP };

/* A time in which a rank may be in operations whose starts are not known. */
struct rs_untimed {
    int64_t from, to; /* INT64_MAX: no end to it is known */
};

struct rs_rank_trail {
    struct rs_trail trail; /* ref: an operation, or an activity */
    uint32_t rank_id; /* row of model.ranks */
    uint32_t thread; /* index into threads: the one that launches most; RS_NONE */
    int64_t seen_from, seen_to; /* from the first to the last activity: outside of it nothing is known of GPU or host;
                                   RS_TIME_NONE: none at all */
    struct rs_untimed *untimed; /* by time, apart from each other */
    uint32_t nuntimed, cap_untimed;
    bool follow; /* the filter lets it through */
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
    uint64_t placeless; /* kernels and copies of processes that are no rank: no communicator of theirs is known */
    bool has_activities;
};

enum rs_status rs_critical_trails_init(struct rs_critical_trails *t, struct rs_view *view,
                                       const struct rs_filter *filter, struct rs_err *err);
void rs_critical_trails_free(struct rs_critical_trails *t);

#endif
