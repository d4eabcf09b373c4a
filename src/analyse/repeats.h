/* What repeats in a sequence of operations: the unit that a training step is.
 *
 * The sequence is one rank's, in program order. A unit is found by an anchor: an operation, or a few in a row, that
 * comes once in it, so that the same operations, in any order, lie between two anchors nearly everywhere. Operations that
 * come once or twice (start-up, the end), a few units that differ (the first ones), and scalars (a loss, a norm, a
 * barrier, which may come with some steps only) do not hide it. Of several units the longest is taken, since
 * micro-batches and layers repeat inside a step; but a longer one that only adds functions that come now and then (a
 * checkpoint on the same communicators) is not.
 *
 * Where all operations are alike the order says nothing, and times have to: see rs_repeats_find(). Pure functions. */
#ifndef RS_ANALYSE_REPEATS_H
#define RS_ANALYSE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* One operation of the rank. Symbols are numbers from 0, fewer than there are items; so are kinds and classes. */
struct rs_item {
    int64_t first, over; /* its start and end; RS_TIME_NONE: no time is known */
    int64_t pause; /* since everything before it was over */
    float bytes;
    uint32_t op;
    uint32_t symbol; /* communicator class, function, size */
    uint32_t kind; /* communicator class, function; of a send or receive also its way */
    uint32_t class;
    bool grouped; /* called in one group with the item before it */
    bool captured; /* from a CUDA graph */
    bool scalar; /* it may come with some steps only, or its size depends on the data */
};

/* Units by the items that they begin with: unit i is [firsts[i], firsts[i + 1]). Owned until rs_repeats_free(). */
struct rs_repeats {
    uint32_t *firsts; /* n + 1 of them: the last is where the last unit ends */
    uint32_t n; /* 0: nothing repeats */
};

/* Units, three or more (two where these are all there is, and are the same). Parts of one at the ends count where they
 * are more than half of one. A unit of one operation is told only where all are alike, twelve or more, and come at
 * regular intervals; where pauses divide them into units of several, those are told. */
enum rs_status rs_repeats_find(struct rs_repeats *r, const struct rs_item *items, uint32_t n, struct rs_err *err);
void rs_repeats_free(struct rs_repeats *r);

#endif
