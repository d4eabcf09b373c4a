/* The repeating unit in a sequence of operations: a training step.
 *
 * The sequence is one rank's, in program order. A unit is found by an anchor: an operation, or a few in a row, that
 * occurs once in it, so that the same operations, in any order, are between two anchors nearly everywhere. Operations
 * that occur once or twice (start-up, the end), a few units that differ (the first ones), and scalars (a loss, a norm,
 * a barrier, which may occur with some steps only) do not hide it. Of several units the longest is used, since
 * micro-batches and layers repeat inside a step; but not a longer one that only adds occasional functions (a checkpoint
 * on the same communicators).
 *
 * If all operations are equal, order says nothing, and times decide: see rs_repeats_find(). Pure functions. */
#ifndef RS_ANALYSE_REPEATS_H
#define RS_ANALYSE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* One operation of the rank. Symbols are numbers from 0, fewer than there are items; so are kinds and classes. */
struct rs_item {
    int64_t first, over; /* its start and end; RS_TIME_NONE: unknown */
    int64_t pause; /* since everything before it was over */
    float bytes;
    uint32_t op;
    uint32_t symbol; /* communicator class, function, size */
    uint32_t kind; /* communicator class, function; of a send or receive also its direction */
    uint32_t class;
    bool grouped; /* called in one group with the item before it */
    bool captured; /* from a CUDA graph */
    bool scalar; /* it may occur with some steps only, or its size depends on the data */
};

/* Units by their first items: unit i is [firsts[i], firsts[i + 1]). Owned until rs_repeats_free(). */
struct rs_repeats {
    uint32_t *firsts; /* n + 1 of them: the last is the end of the last unit */
    uint32_t n; /* 0: nothing repeats */
};

/* Units: three or more (two if there is nothing else, and they are equal). Partial units at the ends count if they are
 * more than half of one. A unit of one operation is reported only if all are equal, twelve or more, at regular
 * intervals; if pauses divide them into units of several, those are reported. */
enum rs_status rs_repeats_find(struct rs_repeats *r, const struct rs_item *items, uint32_t n, struct rs_err *err);
void rs_repeats_free(struct rs_repeats *r);

#endif
