/* Allowance for what the fit of a clock cannot detect: a constant bias of its ends.
 *
 * Judged by ends alone, a rank whose ends are always late by b looks like one whose clock is ahead by b. But on a clock
 * fitted that way its starts look early by b, and operations in which it was last seem to take b longer. So operations
 * show how large biases are: by how much the time from the last start to the end varies between equal operations with
 * different last ranks, beyond its variation where the same rank was last. A receive that waited for its send says the
 * same about the sender. This applies only where the operation waited for the last start: the time from the last start
 * to the end must not shrink as the lead of that start grows.
 *
 * Where operations do not show it (one rank is always last, too few operations), a bias may be as large as the fastest
 * operations allow, since a larger one would put an end before the last start. It is smaller if transfers differ and
 * the clock's ends do not move with them: except for a small constant, a bias is a share of the transfer. The limit in
 * any case is the hull of the clock (join/clocks.c). If the ends of a clock differ by more than that between
 * communicators, functions or sizes, the allowance is that difference. */
#ifndef RS_JOIN_BIAS_H
#define RS_JOIN_BIAS_H

#include "join/consensus.h"

#define RS_BIAS_SHARE                                                                                                  \
    0.6 /* share of its transfer that the ends of an operation may be biased by, when nothing else bounds that */

/* Sets the bias of every track. `ends` are those of the sampled operations, on the tracks' axes. */
void rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s, const double *ends);

#endif
