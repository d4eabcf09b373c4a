/* A GPU's timer against its host's clock: between which two curves d = host - GPU lies.
 *
 * Upper bounds (a timer was read after it was written) are always true. Lower bounds (a launch began before its kernel
 * started) may be false: a stale timer, or a kernel of a graph. After the course of d is taken out (a robust curve
 * through how late timers are read), a bound at one moment is one at every other too, weaker by what that curve may be
 * wrong by in between; so the tightest of all neighbours holds. That wander is doubled until lower and upper bounds
 * agree. Lower bounds that contradict the upper ones even then are dropped and counted.
 *
 * A GPU that is never idle starts every kernel long after its launch, and then lower bounds say little. So one thing is
 * assumed: of many timers the quickest was read within `floor` of its being written, twice as far as the quick ones are
 * apart, and at least RS_ATTACH_FLOOR. That is the lower bound where there is no better one.
 *
 * A zeroed struct is an attachment that is not known; rs_attach_free() frees what rs_attach_init() made. */
#ifndef RS_JOIN_ATTACH_H
#define RS_JOIN_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/bounds.h"

enum { RS_ATTACH_POINTS = 64 };
#define RS_ATTACH_FLOOR 10e3 /* ns */
#define RS_ATTACH_RIGID 1e3 /* ns: what a tool that put GPU times on the host's clock may be off by */

struct rs_attach_point {
    double x; /* GPU ns since `base` */
    double low, high; /* of d - d0; low -INFINITY: not bounded */
};

struct rs_attach {
    int64_t base; /* GPU ns */
    int64_t d0; /* ns: about what d is */
    struct rs_attach_point *points; /* by x, rising */
    uint32_t n; /* 0: nothing is known */
    double rate; /* of d, ns a ns */
    double wander; /* ns a ns that were allowed for about it */
    double floor; /* ns by which the quickest timers were read late, at most; INFINITY: too few to assume that */
    uint32_t false_lower; /* windows whose lower bound was dropped */
};

void rs_attach_init(struct rs_attach *attach, const struct rs_bounds *bounds);
/* Of a GPU whose times, `first` to `last`, came on the host's clock already. */
void rs_attach_rigid(struct rs_attach *attach, int64_t first, int64_t last);
void rs_attach_free(struct rs_attach *attach);

/* The bounds of d - d0 at a GPU time; beyond the points they widen with twice the wander. False: nothing is known. */
bool rs_attach_at(const struct rs_attach *attach, int64_t gpu, double *low, double *high);

#endif
