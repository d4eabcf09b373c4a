/* Aligns the windows of two ranks: sequences of one group's collectives.
 *
 * All ranks of a group do the same collectives in the same order. Where both traces have as many, their order is
 * enough, unless times contradict it: windows of equal length may begin at different operations. Where counts differ, a
 * shift is found by what agrees (function, count, type, step) and by causality: no rank leaves an all-reduce before
 * every rank has entered it, so that with the right shift one offset of the clocks makes all kernels overlap. Where
 * several shifts are possible, the ends of the operations decide (collectives end together: with the right shift they
 * are equally far apart all along), then wall clocks; where these do not decide either, `sure` is false. Where a
 * sequence falls out of step and back into it, operations are missing on one side. Pure functions on arrays of the
 * caller. */
#ifndef RS_FOREIGN_KINETO_ALIGN_H
#define RS_FOREIGN_KINETO_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

struct rs_align_item {
    uint64_t what; /* what must be equal on all ranks */
    int64_t at; /* ns: when it ended; where that is not known, when it was called; rising */
    int64_t start, end; /* of its kernel, ns; INT64_MIN, both: not known */
    uint32_t step; /* UINT32_MAX: none */
    bool waits; /* it cannot end before the others that are awaited have started */
    bool awaited; /* others that wait cannot end before it has started */
    int64_t place; /* found: RS_ALIGN_APART times the place in the reference, and more for what is not in it */
};

enum { RS_ALIGN_APART = 256 };

/* When a sequence begins, as far as it is known. */
static inline int64_t rs_align_begin(const struct rs_align_item *first)
{
    return first->start != INT64_MIN && first->start < first->at ? first->start : first->at;
}

struct rs_aligned {
    bool sure; /* else the places mean nothing */
    uint32_t missing; /* operations of the reference, within the window, that are not in the sequence */
    uint32_t extra; /* operations that are not in the reference */
};

/* Sets the places of `items` in the reference, whose own are 0, RS_ALIGN_APART, 2 * RS_ALIGN_APART... */
struct rs_aligned rs_align(struct rs_align_item *items, uint32_t n, const struct rs_align_item *reference, uint32_t nr);

#endif
