/* Steps that took longer than usual, and what differed in them.
 *
 * An outlier is longer than the median step by more than 5 median deviations and more than 5 %. What differed is the
 * first of these that explains at least half of the excess: a rank that was later than usual, an operation whose
 * transfer took longer than its median, else time outside NCCL. Owns its rows and texts until rs_outliers_free(). */
#ifndef RS_ANALYSE_OUTLIERS_H
#define RS_ANALYSE_OUTLIERS_H

#include "analyse/bandwidth.h"
#include "analyse/steps.h"
#include "analyse/stragglers.h"

struct rs_outlier {
    uint32_t step; /* from 0 */
    uint32_t mark; /* the framework's number; RS_NONE */
    int64_t from_ns, to_ns, duration_ns, usual_ns;
    uint32_t rank_id; /* the rank that was late; RS_NONE: not the cause */
    int64_t late_ns; /* by how much more than usual in a step */
    uint32_t row; /* of the function that was slow; RS_NONE: not the cause */
    int64_t slow_ns; /* by how much longer its transfers took */
    char *what;
};

struct rs_outliers {
    struct rs_outlier *rows; /* by time */
    uint32_t n;
};

/* Steps before `warmup` are ignored. */
void rs_outliers_find(struct rs_outliers *o, struct rs_view *view, const struct rs_steps *steps, uint32_t warmup,
                      const struct rs_stragglers *stragglers, const struct rs_bandwidth *bandwidth);
void rs_outliers_free(struct rs_outliers *o);

#endif
