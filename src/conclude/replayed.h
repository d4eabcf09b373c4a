/* The run as it was replayed, as a model of its own: what draws a recorded run draws this one, too.
 *
 * Each part of an operation is moved by as much as its node was (conclude/graph.h), and waits are found again. It has
 * operations only: calls, launches, activities and losses are of the recorded run, as are parts without a node; they have
 * no times here. Borrows the rest of the recorded model, which must live on. Owned until rs_replayed_free(). One thread
 * at a time. */
#ifndef RS_CONCLUDE_REPLAYED_H
#define RS_CONCLUDE_REPLAYED_H

#include "conclude/whatif.h"

/* The first start of a step. */
struct rs_replayed_step {
    uint32_t number; /* row of steps.rows */
    int64_t recorded, replayed;
};

struct rs_replayed {
    struct rs_model model; /* not to be freed */
    struct rs_replayed_step *steps; /* by number; those with a node */
    uint32_t nsteps;
};

/* Of the case that was added last, whose saving is known. */
void rs_replayed_init(struct rs_replayed *r, const struct rs_whatif *w);
void rs_replayed_free(struct rs_replayed *r);

/* Appends "Without rank 5's lateness the run takes 46 ms [43 ms, 48 ms] less (38 %): 75 ms instead of 121 ms." */
void rs_whatif_say(struct rs_strbuf *s, const struct rs_whatif *w, const struct rs_whatif_case *x);
/* Appends what was taken out: "rank 5's lateness", "all persistent lateness". */
void rs_whatif_say_what(struct rs_strbuf *s, const struct rs_whatif_case *x);

#endif
