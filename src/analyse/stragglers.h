/* Which rank was late, what that cost, and why.
 *
 * The cost of a set G of ranks (one rank, or a host) is, over the compared operations, the sum of max(0, latest start
 * in G - latest start outside G): an upper bound of what fixing G alone would save. A lead below twice the clock error
 * is a tie and costs nothing. Of each lead
 * - the time for which G was held (waits and long transfers in operations of other communicators) is inherited, and
 * passed on to the ranks that it had waited for;
 * - what G was already charged for since it last met the others is repeated;
 * - time in which several operations wait for G counts once: the rest is repeated, too;
 * - if records in between are missing, nothing is charged: it is unclear;
 * - the remainder is G's own: its cost.
 * The own part is split by cause: launched late, queued (launched in time, started late), or unknown.
 *
 * Owns its tables until rs_stragglers_free(). */
#ifndef RS_ANALYSE_STRAGGLERS_H
#define RS_ANALYSE_STRAGGLERS_H

#include "analyse/view.h"

/* ---- lateness of each rank and host ----
 * Relative to the median start of every compared operation.
 *
 * Samples are kept until lateness_finish(), 4 bytes for each rank in each operation. */

struct rs_late_row {
    uint32_t rank_id; /* RS_NONE: a whole host */
    uint32_t host;
    uint64_t compared; /* operations; of a host: summed over its ranks */
    uint64_t last; /* of these, it was clearly the last */
    int64_t mean_ns, p99_ns; /* below 0: early */
};

struct rs_lateness {
    struct rs_late_row *rows; /* ranks, then hosts */
    uint32_t nranks, nhosts;
    uint64_t *from; /* by rank: its first sample; host by host */
    uint32_t *order; /* ranks, host by host */
    int32_t *samples; /* ns, cut off at 2 s */
    int64_t *starts; /* working memory for medians */
};

/* The 95 % interval (Wilson) of a share of `hits` in `n`. */
void rs_wilson(uint64_t hits, uint64_t n, double *low, double *high);

/* ---- stragglers ---- */

enum rs_why { RS_WHY_LAUNCHED_LATE, RS_WHY_QUEUED, RS_WHY_HELD, RS_WHY_UNKNOWN, RS_WHYS };
/* "launched late", "queued behind compute", "held by an earlier collective", "unknown". */
const char *rs_why_text(enum rs_why why);
/* Whether the launch of a part can be compared with its start: both are known, on clocks that are aligned with each other,
 * and the launch is its own (not of a CUDA graph). */
bool rs_part_has_launch(const struct rs_model *m, uint32_t part);

struct rs_straggler {
    uint32_t rank_id; /* RS_NONE: a host */
    uint32_t host;
    uint64_t compared, times_last; /* operations it was in; in which it was last */
    double share, share_low, share_high; /* times_last of compared, with its 95 % interval */
    int64_t cost_ns, inherited_ns, repeated_ns;
    int64_t once_ns; /* the cost with only the largest lead of each step (per_step_cost.h); RS_TIME_NONE: unknown */
    int64_t unclear_ns; /* records in between are missing: its own or not is unknown */
    int64_t passed_on_ns; /* lateness of others that began here; not part of any cost */
    int64_t gpu_time_lost_ns; /* of all the others together */
    int64_t why_ns[RS_WHYS];
    enum rs_why why; /* the largest of its own; HELD if it inherited more than twice its cost */
};

struct rs_stragglers {
    struct rs_straggler *rows; /* by cost; without those that never led */
    uint32_t nrows;
    struct rs_lateness lateness;
    uint64_t compared, ties; /* operations */
    int64_t cost_ns; /* of all ranks together */
    /* By operation, for those that passed the filter; RS_NONE and 0 elsewhere: */
    uint32_t *who; /* the rank that was last */
    float *cost; /* its own part, ns */
};

void rs_stragglers_find(struct rs_stragglers *s, struct rs_view *view);
void rs_stragglers_free(struct rs_stragglers *s);

#endif
