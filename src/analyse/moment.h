/* What each rank did at one moment, and how much of that is known.
 *
 * A rank is in an operation for sure from its start to the lower bound of its end. Up to the upper bound, and from its
 * call where no start is told, it may be in it. Outside of all that it does nothing in NCCL only where its recording
 * covers the moment: what was lost, not asked for, cut off, or lies outside of the recording is not known.
 * Works on a joined model and only reads it. One thread. */
#ifndef RS_ANALYSE_MOMENT_H
#define RS_ANALYSE_MOMENT_H

#include "model/filter.h"
#include "model/model.h"

enum rs_doing {
    RS_DOING_UNKNOWN, /* see `why` */
    RS_DOING_WAIT, /* in an operation, for the last rank */
    RS_DOING_TRANSFER, /* in one that all have come to */
    RS_DOING_RUN, /* in one; which of the two is not known */
    RS_DOING_NOTHING, /* in none */
};

struct rs_moment {
    uint32_t rank_id; /* row of model.ranks */
    enum rs_doing doing;
    uint32_t part; /* that it is in, or may be in; RS_NONE: none */
    uint32_t before,
        after; /* around the moment, where it is in none: parts whose end, and whose start, is nearest; RS_NONE */
    const char *why; /* of UNKNOWN: in words */
    int64_t error_ns; /* of its clock against the common axis; RS_TIME_NONE: not aligned */
};

/* One row for each rank that passes, by rank of the job. Freed by the caller with free(). Operations that do not pass
 * the filter are left out. */
void rs_moment_find(struct rs_moment **rows, uint32_t *n, const struct rs_model *m, const struct rs_filter *filter,
                    int64_t at);

/* When a part began, as far as that is known: its start, else its launch, else its call; *told: it is the start. */
int64_t rs_moment_begin(const struct rs_model *m, uint32_t part, bool *told);
/* The latest that a part can have ended; INT64_MAX: no bound is known. */
int64_t rs_moment_latest_end(const struct rs_model *m, uint32_t part);

#endif
