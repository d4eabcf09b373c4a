/* A GPU that computes longer than its equals, step by step, also where that is hidden behind communication.
 *
 * Compute is known from tools that record kernels (Kineto, Nsight Systems). A rank's compute of a step is the sum of the
 * durations of its kernels that do not communicate, between its own operations of the step before and of this step: only
 * durations and one clock are used. It is compared with that of ranks of the same role, in the same tool, and tested
 * against chance (conclude/chance.h). Besides, it must be at least 0.5 % of a step and 5 % of the equals' compute: GPUs
 * of one kind differ by that much.
 *
 * Why: the same kernels take longer (clocks, thermals, or another program on that GPU), or there are more of them (its
 * share of the work). Linear in kernels, n log n in their names. Borrows the view; owns its rows until rs_compute_free().
 * One thread at a time. */
#ifndef RS_CONCLUDE_COMPUTE_H
#define RS_CONCLUDE_COMPUTE_H

#include "analyse/steps.h"
#include "analyse/view.h"
#include "base/strbuf.h"
#include "conclude/roles.h"

enum { RS_COMPUTE_KERNELS = 3 }; /* that are named, at most */

/* A kernel of a slow rank. */
struct rs_compute_kernel {
    uint32_t name; /* see rs_model_name() */
    int64_t excess_ns; /* per step, more than the median of the equals */
    double launches, usual_launches; /* per step, of the rank and of its equals */
};

struct rs_compute_row {
    uint32_t rank_id;
    uint32_t equals; /* the others of its role with known compute */
    uint32_t steps, late; /* compared; those in which it computed longer */
    int64_t usual_ns; /* median compute of a step of the equals */
    int64_t excess_ns, low_ns, high_ns; /* per step, more than the equals; 95 % interval */
    double ratio, ratio_low, ratio_high; /* of its compute to that of the equals */
    double p; /* of chance, over all ranks */
    int64_t slower_ns; /* of the excess: kernels that the equals launch as often */
    struct rs_compute_kernel kernels[RS_COMPUTE_KERNELS]; /* by excess */
    uint32_t nkernels;
};

struct rs_compute {
    struct rs_compute_row *rows; /* ranks that compute longer than their equals, by excess */
    uint32_t n;
    uint32_t compared; /* ranks with equals, known compute and enough steps */
    uint32_t steps; /* most that a rank was compared in */
};

void rs_compute_find(struct rs_compute *c, const struct rs_view *view, const struct rs_steps *steps,
                     const struct rs_roles *roles);
void rs_compute_free(struct rs_compute *c);

/* Whether more than half of the excess is of kernels that take longer, not of more kernels. */
static inline bool rs_compute_is_slower(const struct rs_compute_row *r)
{
    return 2 * r->slower_ns > r->excess_ns;
}
static inline const char *rs_compute_why(const struct rs_compute_row *r)
{
    return rs_compute_is_slower(r) ? "slower kernels" : "more kernels";
}

/* Appends the sentence of a row. */
void rs_compute_say(struct rs_strbuf *s, const struct rs_model *m, const struct rs_compute_row *r);

#endif
