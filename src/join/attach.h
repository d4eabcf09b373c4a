/* Bounds of the offset d = host - GPU between a GPU's timer and its host's clock.
 *
 * Upper bounds (a timer was read after it was written) are always true. Lower bounds (a launch began before its kernel
 * started) may be false: a stale timer, or a kernel of a graph. Once the trend of d is removed (a robust curve through
 * how late timers are read), a bound at one time is a bound at every other time, weaker by the error of that curve in
 * between; the tightest of all neighbours is used. This error (wander) is doubled until lower and upper bounds agree.
 * Lower bounds that still contradict the upper ones are dropped and counted.
 *
 * A GPU that is never idle starts every kernel long after its launch, and then lower bounds say little. Therefore one
 * assumption is made: of many timers the fastest was read within `floor` of being written: twice the spread of the fast
 * ones, and at least RS_ATTACH_FLOOR. This is the lower bound where there is no better one.
 *
 * A zeroed struct is an unknown offset; rs_attach_free() frees what rs_attach_init() made. */
#ifndef RS_JOIN_ATTACH_H
#define RS_JOIN_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/bounds.h"

enum { RS_ATTACH_POINTS = 64 };
#define RS_ATTACH_FLOOR 10e3 /* ns */
#define RS_ATTACH_RIGID 1e3 /* ns: error of GPU times that a tool converted to the host's clock */

struct rs_attach_point {
    double x; /* GPU ns since `base` */
    double low, high; /* of d - d0; low -INFINITY: no bound */
};

struct rs_attach {
    int64_t base; /* GPU ns */
    int64_t d0; /* ns: approximate d */
    struct rs_attach_point *points; /* by x, rising */
    uint32_t n; /* 0: unknown */
    double rate; /* of d, ns per ns */
    double wander; /* ns per ns by which the rate may be wrong */
    double floor; /* ns by which the fastest timers were read late, at most; INFINITY: too few timers to assume that */
    uint32_t false_lower; /* windows whose lower bound was dropped */
};

void rs_attach_init(struct rs_attach *attach, const struct rs_bounds *bounds);
/* For a GPU whose times, `first` to `last`, are already on the host's clock. */
void rs_attach_rigid(struct rs_attach *attach, int64_t first, int64_t last);
void rs_attach_free(struct rs_attach *attach);

/* The bounds of d - d0 at a GPU time; beyond the points they widen with twice the wander. False: unknown. */
bool rs_attach_at(const struct rs_attach *attach, int64_t gpu, double *low, double *high);

#endif
