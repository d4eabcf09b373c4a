/* How late each rank and each host came: behind the median start of every operation that could be compared.
 *
 * Samples are kept until rs_lateness_finish(), 4 bytes for each rank in each operation. Owned until rs_lateness_free(). */
#ifndef RS_ANALYSE_LATENESS_H
#define RS_ANALYSE_LATENESS_H

#include "analyse/view.h"

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

enum rs_status rs_lateness_init(struct rs_lateness *l, const struct rs_view *view, struct rs_err *err);
/* Takes in the arrivals of the view; `last` is the rank that was last, or RS_NONE. */
void rs_lateness_add(struct rs_lateness *l, const struct rs_view *view, uint32_t last);
/* Works out the rows and lets the samples go. */
enum rs_status rs_lateness_finish(struct rs_lateness *l, struct rs_err *err);
void rs_lateness_free(struct rs_lateness *l);

/* The 95 % interval (Wilson) of a share of `hits` in `n`. */
void rs_wilson(uint64_t hits, uint64_t n, double *low, double *high);

#endif
