/* How much of a rank's communication lies behind compute, and what the rest of it is: waiting or transfer.
 *
 * Of the spans of all streams of a GPU, as unions:
 *   compute   kernels that are not NCCL's                 overlap   compute and comm at once
 *   comm      NCCL's kernels                              exposed   comm without compute
 *   idle      first to last activity of the GPU without any of them, copies and sets of memory included
 * Exposed time is transfer where a NCCL kernel runs whose operation all its ranks had begun; waiting where each that
 * runs still lacks a rank; not known where that cannot be told (not joined, clocks too far apart, a kernel whose end is
 * told too early). A wait below twice the clock error of its operation (rs_op_least()) is not known, nor is as much of
 * what follows, nor is a transfer below it; of the rank that came last by more than that, all is transfer. Without a tool that sees compute, communication comes from the parts of
 * NCCL's operations, and what hangs on compute is not known.
 *
 * All of it twice: exact, and of spans cut to whole grains (starts up, ends down). Holistic Trace Analysis cuts
 * Kineto's times to whole us so, which takes 1 us from each kernel as a rule; who compares with it needs the same
 * figures. */
#ifndef RS_ANALYSE_OVERLAP_H
#define RS_ANALYSE_OVERLAP_H

#include "analyse/intervals.h"
#include "analyse/tracks.h"

/* RS_TIME_NONE: not known. */
struct rs_overlap_times {
    int64_t span, idle;
    int64_t compute, comm, overlap, copy;
    int64_t exposed, wait, transfer, unclear; /* exposed = wait + transfer + unclear; wait and transfer are both known
                                                 or both not */
    int64_t comm_wait, comm_transfer, comm_unclear; /* the same split of all communication, hidden or not */
};

struct rs_overlap {
    struct rs_overlap_times cut, exact;
    int64_t grain_ns; /* that `cut` is cut to; 1: as exact */
    int64_t wait_error_ns; /* waits may be off by this much in all */
    int64_t from, to; /* first and last activity; RS_TIME_NONE: none */
    uint64_t kernels, comm_kernels, copies; /* comm_kernels without work: parts with known times */
    uint64_t untimed; /* parts without work whose times are not known: not counted */
};

enum { RS_OVERLAP_GRAIN_NS = 1000 }; /* of tools that time GPU work to the microsecond */

/* Of one track, inside the filter's span of time. `sweep` is room that may be used again. */
void rs_overlap_find(struct rs_overlap *o, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const struct rs_filter *filter, struct rs_sweep *sweep);

/* Of a rank of which nothing was seen. */
void rs_overlap_none(struct rs_overlap *o);

/* 100 x overlap / comm, and 100 x idle / span; NAN: not known. */
double rs_overlap_pct(const struct rs_overlap_times *x);
double rs_idle_pct(const struct rs_overlap_times *x);

#endif
