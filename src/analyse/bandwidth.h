/* Time, wait and bandwidth by function and size.
 *
 * A row is a function with its bytes on a class of communicators of equal shape, or on one communicator. If a function
 * has many sizes (unequal all-to-all), they are combined by powers of two. Percentiles are exact: the time of every
 * rank is kept while rows are built, 8 bytes each. Owns its tables until rs_bandwidth_free(). */
#ifndef RS_ANALYSE_BANDWIDTH_H
#define RS_ANALYSE_BANDWIDTH_H

#include "analyse/view.h"

struct rs_func_row {
    uint32_t class; /* RS_NONE: the communicator has none */
    uint32_t comm; /* RS_NONE: several */
    uint16_t func;
    uint8_t kind; /* enum rs_op_kind */
    int32_t nranks; /* of its communicators; -1: unknown */
    uint16_t dtype; /* of all its operations; 0: unknown, or several */
    int32_t root; /* likewise, a rank of the communicator; -1: the function has none, or several */
    bool dtypes, roots; /* there are several */
    uint64_t bytes; /* nccl-tests' S, the mean if sizes are combined */
    uint64_t bytes_min, bytes_max;
    bool unsized; /* the tool reports no sizes (nvprof): bytes are undefined, bandwidths are NAN */
    uint64_t calls; /* operations */
    uint64_t timed; /* ranks in operations whose start and end are known */
    int64_t p50_ns, p90_ns, p99_ns, total_ns; /* start to end, as those ranks saw it; the sum */
    uint64_t waited; /* ranks in operations whose wait is known */
    int64_t wait_sum_ns;
    uint64_t transferred; /* operations whose transfer time is known */
    int64_t transfer_sum_ns;
    int64_t transfer_p50_ns;
    uint64_t clock_free; /* operations whose wait and transfer come from durations alone (join/durations.h) */
    double algbw, busbw; /* bytes per ns = GB/s, without wait; NAN: unknown */
    double algbw_seen, busbw_seen; /* the same, over the time that the ranks saw */
};

struct rs_bandwidth {
    struct rs_func_row *rows; /* by total time */
    uint32_t nrows;
    uint32_t *row_of; /* by operation; RS_NONE: filtered out, or inside a fan-out */
};

void rs_bandwidth_find(struct rs_bandwidth *b, struct rs_view *view, bool by_comm);
void rs_bandwidth_free(struct rs_bandwidth *b);

/* Elements as nccl-tests count them: of one rank, and for all-to-all of one peer. False: several sizes or types, or
 * unknown. */
bool rs_func_row_count(const struct rs_model *m, const struct rs_func_row *row, uint64_t *count);
/* Whether its sizes are those of nccl-tests: not for sends and receives, gathers and scatters. */
bool rs_func_row_alike(const struct rs_model *m, const struct rs_func_row *row);
/* The mean time that the ranks saw; RS_TIME_NONE: unknown. */
static inline int64_t rs_func_row_mean(const struct rs_func_row *row)
{
    return row->timed ? row->total_ns / (int64_t)row->timed : RS_TIME_NONE;
}
/* The mean time after the last start; RS_TIME_NONE: unknown. */
static inline int64_t rs_func_row_transfer(const struct rs_func_row *row)
{
    return row->transferred ? row->transfer_sum_ns / (int64_t)row->transferred : RS_TIME_NONE;
}

#endif
