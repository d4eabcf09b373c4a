/* The GPU work of a rank by name: which kernels and copies take the time, and how much of it is communication.
 *
 * GPU time is the sum of the lengths of kernels, copies and sets on all streams, as in the summaries of nvprof and
 * Nsight Systems: shares of it add up to 1, also where kernels overlap. Times are to the ns, as recorded. Rows of
 * several ranks can be merged into one table, by name and kind. Owns its rows until rs_kernels_free(). One thread at a
 * time. */
#ifndef RS_ANALYSE_KERNELS_H
#define RS_ANALYSE_KERNELS_H

#include "analyse/quantile.h"
#include "analyse/tracks.h"

struct rs_kernel_row {
    uint32_t name; /* see rs_model_name() */
    uint8_t kind; /* enum rs_activity_kind: RS_ACT_COMPUTE, _COMM, _COPY or _SET */
    uint32_t ranks; /* that ran it; 1 unless merged */
    uint64_t calls;
    int64_t total_ns, longest_ns;
    struct rs_quantiles ns; /* of one call; merged: unknown */
    int64_t low_ns, high_ns; /* the lowest and the highest median of a rank */
    uint32_t slowest; /* merged: the input with the highest median */
};

struct rs_kernels {
    struct rs_kernel_row *rows; /* by total_ns, the longest first */
    uint32_t n;
    int64_t gpu_ns; /* of all rows */
    int64_t comm_ns; /* of the kernels that communicate */
};

/* Of one track with work, by the start of the work inside the filter's span of time. */
void rs_kernels_find(struct rs_kernels *k, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const struct rs_filter *filter);
/* Of several ranks of one model, in one table. */
void rs_kernels_merge(struct rs_kernels *to, const struct rs_kernels *const *from, uint32_t n);
void rs_kernels_free(struct rs_kernels *k);

/* The share of a time in all GPU time, 0 to 1; NAN: there is none. */
double rs_kernels_share(const struct rs_kernels *k, int64_t ns);

#endif
