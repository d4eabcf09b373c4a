/* Who was late, what that cost, and why.
 *
 * The cost of a set G of ranks (one rank, or a host) is, over the operations that could be compared, the sum of
 * max(0, latest start in G - latest start outside G): what fixing G alone would save, at most. A lead below twice the
 * clock error is a tie and costs nothing. Of each lead
 *   - what G was held by (waits and long transfers in operations of other communicators) is inherited, and passed on to
 *     those whom it had waited for;
 *   - what G was charged for already since it last met the others is repeated;
 *   - an instant in which several operations wait for G counts once: the rest is repeated, too;
 *   - where records in between are missing, nothing is charged: it is unclear;
 *   - the remainder is G's own: its cost.
 * The own part is split by why: launched late, queued (launched in time, started late), or unknown.
 *
 * Owns its tables until rs_stragglers_free(). */
#ifndef RS_ANALYSE_STRAGGLERS_H
#define RS_ANALYSE_STRAGGLERS_H

#include "analyse/view.h"

/* ---- how late each rank and host came ----
 * How late each rank and each host came: behind the median start of every operation that could be compared.
 *
 * Samples are kept until lateness_finish(), 4 bytes for each rank in each operation. */

struct rs_late_row {
    uint32_t rank_id; /* RS_NONE: a whole host */
    uint32_t host;
    uint64_t compared; /* operations; of a host: summed over its ranks */
    uint64_t last; /* of them, it was the last to come, beyond doubt */
    int64_t mean_ns, p99_ns; /* below 0: early */
};

struct rs_lateness {
    struct rs_late_row *rows; /* ranks, then hosts */
    uint32_t nranks, nhosts;
    uint64_t *from; /* by rank: where its samples begin; host by host */
    uint32_t *order; /* ranks, host by host */
    int32_t *samples; /* ns, cut off at 2 s */
    int64_t *starts; /* scratch of the medians */
};

/* The 95 % interval (Wilson) of a share of `hits` in `n`. */
void rs_wilson(uint64_t hits, uint64_t n, double *low, double *high);

/* ---- stragglers ---- */

enum rs_why { RS_WHY_LAUNCHED_LATE, RS_WHY_QUEUED, RS_WHY_HELD, RS_WHY_UNKNOWN, RS_WHYS };
/* "launched late", "queued behind compute", "held by an earlier collective", "unknown". */
const char *rs_why_text(enum rs_why why);

struct rs_straggler {
    uint32_t rank_id; /* RS_NONE: a host */
    uint32_t host;
    uint64_t compared, times_last; /* operations it was in; it was the last of */
    double share, share_low, share_high; /* times_last of compared, with its 95 % interval */
    int64_t cost_ns, inherited_ns, repeated_ns;
    int64_t once_ns; /* of the cost, the largest of each step only (per_step_cost.h); RS_TIME_NONE: not known */
    int64_t unclear_ns; /* records in between are missing: whether it was its own is not known */
    int64_t passed_on_ns; /* lateness of others that began here; part of no cost */
    int64_t gpu_time_lost_ns; /* by all the others together */
    int64_t why_ns[RS_WHYS];
    enum rs_why why; /* the largest of its own; HELD where it inherited more than twice its cost */
    bool by_host; /* a rank that is late together with most of its host, which has a row of its own */
};

struct rs_stragglers {
    struct rs_straggler *rows; /* by cost; those with no lead at all are left out */
    uint32_t nrows;
    struct rs_lateness lateness;
    uint64_t compared, ties; /* operations */
    int64_t cost_ns; /* of all ranks together */
    /* By operation, for those that passed; RS_NONE and 0 elsewhere: */
    uint32_t *who; /* the rank that was last */
    float *cost; /* its own part, ns */
};

void rs_stragglers_find(struct rs_stragglers *s, struct rs_view *view);
void rs_stragglers_free(struct rs_stragglers *s);

#endif
