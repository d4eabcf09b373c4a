/* How the windows of two ranks lie against each other: sequences of one group's collectives, laid on one another.
 *
 * All ranks of a group do the same collectives in the same order, but a profiler may begin and end at different
 * ones, and may have missed some. A shift is found by what agrees (function, count, type, step); where several agree
 * alike, the right one is that with which the ends of the operations are equally far apart all along, since
 * collectives end together; where that does not tell either, wall clocks decide, and `sure` is false. Then the
 * sequence is followed: where it falls out of step and comes back into it some operations later, those are missing
 * on one side. Pure functions on arrays of the caller. */
#ifndef RS_FOREIGN_KINETO_ALIGN_H
#define RS_FOREIGN_KINETO_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

struct rs_align_item {
    uint64_t what; /* what must be equal on all ranks */
    int64_t called; /* host ns; rising */
    int64_t end; /* ns; INT64_MIN: not known */
    uint32_t step; /* UINT32_MAX: none */
    int64_t place; /* found: RS_ALIGN_APART times the place in the reference, and more for what is not in it */
};

enum { RS_ALIGN_APART = 256 };

struct rs_aligned {
    bool sure;
    uint32_t missing; /* operations of the reference, within the window, that the sequence lacks */
    uint32_t extra; /* operations that the reference lacks */
};

/* Sets the places of `items` in the reference, whose own are 0, RS_ALIGN_APART, 2 * RS_ALIGN_APART... */
struct rs_aligned rs_align(struct rs_align_item *items, uint32_t n, const struct rs_align_item *reference, uint32_t nr);

#endif
