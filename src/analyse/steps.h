/* Training steps, found by what repeats: no marker in the program is needed.
 *
 * Looked at is what the rank with the most operations took part in, by time, as symbols (class of communicator, function,
 * bytes). A step begins anew with each m-th occurrence of an anchor: the most frequent symbol whose number divides
 * those of nearly all the rest, by number and transfer time (rare ones, such as the barrier of a checkpoint, do not
 * make the step longer). m is the smallest lag at which the distances between anchors repeat; where noise hides that, no
 * steps are told. One operation is a step only where all are alike and come regularly. Steps are then cut where the
 * longest pause is, if there is one that stands out.
 *
 * A boundary is the end of the operation before it, on the common axis. Owns `at` until rs_steps_free(). */
#ifndef RS_ANALYSE_STEPS_H
#define RS_ANALYSE_STEPS_H

#include "analyse/view.h"

struct rs_steps {
    int64_t *at; /* step i is [at[i], at[i + 1]); n + 1 of them */
    uint32_t n; /* 0: nothing repeats */
    uint32_t ops; /* operations of a step on that rank, as a rule */
    uint32_t rank_id;
    int64_t usual_ns, spread_ns; /* median length, and the median distance from it */
};

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err);
void rs_steps_free(struct rs_steps *s);

/* The step of a moment; RS_NONE: none. */
uint32_t rs_steps_of(const struct rs_steps *s, int64_t ns);

#endif
