/* What each rank did at one time, and how much of that is known.
 *
 * A rank is certainly in an operation from its start to the lower bound of its end. Up to the upper bound, and from its
 * call if the start is unknown, it may be in it. Otherwise it is outside NCCL, but only if its recording covers that
 * time: what was lost, not requested, cut off, or outside the recording is unknown. Works on a joined model and only
 * reads it. One thread. */
#ifndef RS_ANALYSE_MOMENT_H
#define RS_ANALYSE_MOMENT_H

#include "model/filter.h"
#include "model/model.h"

enum rs_doing {
    RS_DOING_UNKNOWN, /* see `why` */
    RS_DOING_WAIT, /* in an operation, for the last rank */
    RS_DOING_TRANSFER, /* in an operation, after its last start */
    RS_DOING_RUN, /* in an operation: waiting or transferring */
    RS_DOING_NOTHING, /* not in an operation */
};

struct rs_moment {
    uint32_t rank_id; /* row of model.ranks */
    enum rs_doing doing;
    uint32_t part; /* the part it is in, or may be in; RS_NONE: none */
    uint32_t before, after; /* if in none: the parts with the nearest end before, and start after; RS_NONE */
    const char *why; /* of UNKNOWN: the reason */
    int64_t error_ns; /* of its clock relative to the common axis; RS_TIME_NONE: not aligned */
};

/* One row per rank that passes the filter, by rank of the job; the caller frees it with free(). Operations that do not
 * pass the filter are ignored. */
void rs_moment_find(struct rs_moment **rows, uint32_t *n, const struct rs_model *m, const struct rs_filter *filter,
                    int64_t at);

/* When a part began: its start, else its launch, else its call; *started: it is the start. */
int64_t rs_moment_begin(const struct rs_model *m, uint32_t part, bool *started);
/* The latest possible end of a part; INT64_MAX: no bound. */
int64_t rs_moment_latest_end(const struct rs_model *m, uint32_t part);

#endif
