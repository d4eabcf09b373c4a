/* GPU times of kernels' channels in the second reading: on the common axis, and only those that are their own.
 *
 * The rules for stale timers are the importer's (import/timers.h), taken in the same order, so both readings believe
 * the same ones; what the join found out since (a part whose GPU times were dropped) counts too. One struct for the
 * reading of one process; one thread at a time. */
#ifndef RS_EVENTS_GPU_TIMES_H
#define RS_EVENTS_GPU_TIMES_H

#include "model/model.h"

struct rs_gpu_times {
    struct rs_model *model;
    struct rs_axis *host; /* of the process */
    uint32_t first, n; /* members of the process */
    struct rs_gpu_member *members;
    struct rs_map domains; /* of the model -> its copy here */
    struct rs_domain *copies; /* what the rules note of a GPU is noted here, not in the model twice */
    uint32_t ncopies, cap_copies;
    uint32_t part; /* of the latest start: its channels come together; RS_NONE */
    int64_t launched; /* its launch, host ns; RS_TIME_NONE: not known, or a replay */
};

/* A start timer as it came. */
struct rs_gpu_start {
    uint32_t part, member; /* RS_NONE: not known */
    unsigned channel;
    uint64_t timer;
    int64_t now; /* host ns of its callback, not on the common axis */
};

enum rs_status rs_gpu_times_make(struct rs_gpu_times *g, struct rs_model *m, uint32_t proc, struct rs_err *err);
void rs_gpu_times_free(struct rs_gpu_times *g); /* a zeroed one is fine */

/* *at: on the common axis; RS_TIME_NONE: no timer, or another operation's (*stale). */
enum rs_status rs_gpu_times_start(struct rs_gpu_times *g, const struct rs_gpu_start *start, int64_t *at, bool *stale,
                                  struct rs_err *err);
/* The stop timer of one whose start was believed. */
int64_t rs_gpu_times_stop(struct rs_gpu_times *g, const struct rs_gpu_start *start, uint64_t timer, int64_t now);
/* Any timer of a member's GPU on the common axis, taken as it is. */
int64_t rs_gpu_times_at(struct rs_gpu_times *g, uint32_t member, uint64_t timer);

#endif
