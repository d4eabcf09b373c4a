/* How much of a rank's communication is hidden behind compute, and whether the rest is waiting or transfer.
 *
 * Unions over the spans of all streams of a GPU:
 * compute   kernels other than NCCL's                   overlap   compute and comm concurrently
 * comm      NCCL's kernels                              exposed   comm without compute
 * idle      first to last activity of the GPU without any of them, nor copies and sets of memory
 * Exposed time is transfer while a NCCL kernel runs whose ranks have all started; waiting while every running one still
 * waits for a rank; unknown if that cannot be determined (not joined, clock errors too large, a kernel that reports its
 * end too early). A wait below twice the clock error of its operation (rs_op_least()) is unknown, and as much of what
 * follows, and a transfer below it; for the rank that was last by more than that, all is transfer. Without a tool that
 * records compute, communication comes from the parts of NCCL's operations, and what depends on compute is unknown.
 *
 * All values exist twice: exact, and with spans rounded to whole grains (starts up, ends down). Holistic Trace Analysis
 * rounds Kineto's times to whole us in this way, which usually takes 1 us off each kernel; the rounded values are
 * comparable with it. */
#ifndef RS_ANALYSE_OVERLAP_H
#define RS_ANALYSE_OVERLAP_H

#include "analyse/intervals.h"
#include "analyse/tracks.h"

/* RS_TIME_NONE: unknown. */
struct rs_overlap_times {
    int64_t span, idle;
    int64_t compute, comm, overlap, copy;
    int64_t exposed, wait, transfer, unclear; /* exposed = wait + transfer + unclear; wait and transfer are both known
                                               * or both unknown */
    int64_t comm_wait, comm_transfer, comm_unclear; /* the same split of all communication, hidden or not */
};

struct rs_overlap {
    struct rs_overlap_times cut, exact;
    int64_t grain_ns; /* of the rounded values; 1: as exact */
    int64_t wait_error_ns; /* total error of the waits */
    int64_t from, to; /* first and last activity; RS_TIME_NONE: none */
    uint64_t kernels, comm_kernels, copies; /* comm_kernels without work: parts with known times */
    uint64_t untimed; /* parts without work and with unknown times: not counted */
};

enum { RS_OVERLAP_GRAIN_NS = 1000 }; /* of tools that time GPU work to the microsecond */

/* Of one track, inside the filter's span of time. `sweep` is reusable working memory. */
void rs_overlap_find(struct rs_overlap *o, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const struct rs_filter *filter, struct rs_sweep *sweep);

/* For a rank without any data. */
void rs_overlap_none(struct rs_overlap *o);

/* 100 x overlap / comm, and 100 x idle / span; NAN: unknown. */
double rs_overlap_pct(const struct rs_overlap_times *x);
double rs_idle_pct(const struct rs_overlap_times *x);

#endif
