/* The critical path: what the end of a window of time had to wait for, back to its beginning, across ranks.
 *
 * It is walked backwards from the last thing that ended. Inside a rank it follows what ran; at an operation it goes to
 * the rank that came last, at the moment it came; at a receive to its send, if that was late. Nothing on it could have
 * been longer without the window being longer, so this is where time can be won. Its segments lie end to end, and sum
 * to the window exactly. Which rank came last is not known below the clock error: then the path stays on its rank (or
 * takes the lowest of those that came together) and what follows is marked `tie`, down to the next operation with a
 * last rank. Recordings know operations alone: all other time of a rank is "outside". With activities (traces of other
 * tools) it is told apart. Owns its arrays until rs_critical_free(); names are the model's, or constant. One thread at
 * a time. */
#ifndef RS_ANALYSE_CRITICAL_H
#define RS_ANALYSE_CRITICAL_H

#include "analyse/view.h"

enum rs_critical_kind {
    RS_CRITICAL_COMPUTE, /* a kernel that is not NCCL's */
    RS_CRITICAL_COPY, /* memory copy or set */
    RS_CRITICAL_TRANSFER, /* in an operation, behind its last start */
    RS_CRITICAL_OPERATION, /* in an operation whose starts cannot be compared: wait and transfer are not told apart */
    RS_CRITICAL_WAIT, /* waiting in an operation for a rank that a filter leaves out */
    RS_CRITICAL_UNSURE, /* behind an operation whose end is only bounded: in it, or behind it; or behind the call of one
                           whose start is not known */
    RS_CRITICAL_LAUNCH, /* nothing on the GPU: from the call that launched what came next to its start */
    RS_CRITICAL_HOST, /* nothing on the GPU, and nothing launched yet: what the host did */
    RS_CRITICAL_OUTSIDE, /* not in an operation, and no more is known: kernels, copies, host */
    RS_CRITICAL_GAP, /* nothing is known to have run */
    RS_CRITICAL_KINDS
};

struct rs_critical_segment {
    int64_t from, to;
    uint32_t rank_id; /* of the view */
    uint32_t name; /* index into names */
    uint32_t op; /* of TRANSFER, OPERATION, WAIT, UNSURE: it; of the others: the one that came next; RS_NONE */
    uint8_t kind; /* enum rs_critical_kind */
    bool tie; /* another rank came as late, as far as clocks can tell */
    int64_t alone; /* ns: of it all others were there already, and waited for this rank */
};

struct rs_critical_row {
    uint32_t rank_id, name;
    uint8_t kind;
    uint32_t segments;
    int64_t ns, tie_ns; /* in all; of it in segments with `tie` */
    int64_t alone_ns; /* of it while all others waited for this rank: what it alone can win */
};

struct rs_critical {
    int64_t from, to; /* the window; RS_TIME_NONE: nothing with a time lies in it */
    int64_t error_ns; /* the largest clock error of an operation at which a rank was chosen */
    struct rs_critical_segment *segments; /* by time, end to end */
    uint32_t nsegments, cap_segments;
    struct rs_critical_row *rows; /* the longest first */
    uint32_t nrows;
    const char **names;
    uint32_t nnames, cap_names;
    uint32_t jumps; /* from one rank to another */
    uint32_t ties; /* operations at which no rank was last */
    uint32_t ranks; /* that were looked at */
    uint32_t left_out; /* ranks on clocks that cannot be compared with the others' */
    bool timeless; /* nothing at all has a start, in the window or elsewhere */
    uint64_t unended; /* ranks in operations behind the last end that is known, whose own end is not */
    uint64_t placeless; /* kernels and copies of processes that are no rank */
    bool has_activities; /* something besides NCCL's operations is known */
    char **conclusion;
    uint32_t nconclusion;
};

/* `view` is made with a filter without times; `filter` has them, and the ranks to stay on. */
void rs_critical_find(struct rs_critical *c, struct rs_view *view, const struct rs_filter *filter);
void rs_critical_free(struct rs_critical *c);

const char *rs_critical_kind_name(uint8_t kind); /* "compute", in JSON and tables */

#endif
