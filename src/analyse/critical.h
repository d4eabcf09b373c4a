/* The critical path: what the end of a time window depended on, back to its begin, across ranks.
 *
 * It is walked backwards from the last end. On a rank it follows what ran; at an operation it continues on the last
 * rank, at that rank's start; at a receive on its send, if that was late. A longer segment would have made the window
 * longer, so this is where time can be saved. The segments are contiguous and add up to the window exactly. Which rank
 * was last is unknown below the clock error: then the path stays on its rank (or takes the lowest of the ranks in the
 * tie), and what follows is marked `tie`, down to the next operation with a clear last rank. Recordings contain
 * operations only: all other time of a rank is "outside". Activities (traces of other tools) explain it. Owns its
 * arrays until rs_critical_free(); names are the model's, or constant. One thread at a time. */
#ifndef RS_ANALYSE_CRITICAL_H
#define RS_ANALYSE_CRITICAL_H

#include "analyse/view.h"

enum rs_critical_kind {
    RS_CRITICAL_COMPUTE, /* a kernel that is not NCCL's */
    RS_CRITICAL_COPY, /* memory copy or set */
    RS_CRITICAL_TRANSFER, /* in an operation, after its last start */
    RS_CRITICAL_OPERATION, /* in an operation whose starts cannot be compared: wait or transfer */
    RS_CRITICAL_WAIT, /* waiting in an operation for a rank that is filtered out */
    RS_CRITICAL_UNSURE, /* in an operation whose end is only bounded, or after it; or after the call of one whose start
                         * is unknown */
    RS_CRITICAL_LAUNCH, /* GPU idle: from the call that launched the next work to its start */
    RS_CRITICAL_HOST, /* GPU idle, next work not launched yet: what the host did */
    RS_CRITICAL_OUTSIDE, /* not in an operation: kernels, copies or host, unknown which */
    RS_CRITICAL_GAP, /* nothing known ran */
    RS_CRITICAL_KINDS
};

struct rs_critical_segment {
    int64_t from, to;
    uint32_t rank_id; /* of the view */
    uint32_t name; /* index into names */
    uint32_t op; /* of TRANSFER, OPERATION, WAIT, UNSURE: the operation; else the next one; RS_NONE */
    uint8_t kind; /* enum rs_critical_kind */
    bool tie; /* another rank was as late, within the clock error */
    int64_t alone; /* ns during which all others had already arrived and waited for this rank */
};

struct rs_critical_row {
    uint32_t rank_id, name;
    uint8_t kind;
    uint32_t segments;
    int64_t ns, tie_ns; /* in total; of that, in segments with `tie` */
    int64_t alone_ns; /* of that, while all others waited for this rank: what this rank alone can save */
};

struct rs_critical {
    int64_t from, to; /* the window; RS_TIME_NONE: it contains nothing with a time */
    int64_t error_ns; /* the largest clock error of an operation at which a rank was selected */
    struct rs_critical_segment *segments; /* by time, contiguous */
    uint32_t nsegments, cap_segments;
    struct rs_critical_row *rows; /* the longest first */
    uint32_t nrows;
    const char **names;
    uint32_t nnames, cap_names;
    uint32_t jumps; /* from one rank to another */
    uint32_t ties; /* operations without a clear last rank */
    uint32_t ranks; /* considered */
    uint32_t left_out; /* ranks on clocks that cannot be compared with the others */
    bool timeless; /* nothing has a start, in the window or elsewhere */
    uint64_t unended; /* ranks in operations after the last known end, whose own end is unknown */
    uint64_t placeless; /* kernels and copies of processes that are not a rank */
    bool has_activities; /* there are activities besides NCCL's operations */
    char **conclusion;
    uint32_t nconclusion;
};

/* `view` is made with a filter without times; `filter` has them, and the ranks to stay on. `named` are the ranks that the
 * conclusion of a report names, by rank id: no other is said to delay the others; NULL: none. */
void rs_critical_find(struct rs_critical *c, struct rs_view *view, const struct rs_filter *filter, const bool *named);
void rs_critical_free(struct rs_critical *c);

const char *rs_critical_kind_name(uint8_t kind); /* "compute", in JSON and tables */

#endif
