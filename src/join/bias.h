/* What a clock's fit cannot see of itself: how far its ends may always lie from the others'.
 *
 * A rank whose ends are always late by b looks like one whose clock is ahead by b, as long as only ends are asked. But on
 * a clock that was set so, its starts look early by b, and an operation in which it was last seems to take longer by b. So
 * operations say how large biases are: what the time from the last start to the end varies by, between equal operations in
 * which different ranks were last, beyond what it varies by where the same rank was last again. A receive that waited
 * for its send says the same of the sender. That holds only where it is the last start that an operation waited for: its
 * end must not come the sooner after the last start the larger the lead of that start is.
 *
 * Where operations do not say (one rank is always last, or there are too few), a bias may be as large as the quickest
 * operations allow, since a larger one would place an end before the last start. It is less where transfers differ and the
 * clock's ends do not move with them: a bias is a part of the transfer, but for a small constant. The hull of the clock (join/clocks.c) is
 * the limit in any case. And where the ends of a clock differ between communicators, functions or sizes by more than
 * that, the allowance is that difference. */
#ifndef RS_JOIN_BIAS_H
#define RS_JOIN_BIAS_H

#include "join/consensus.h"

#define RS_BIAS_SHARE                                                                                                  \
    0.6 /* of its transfer that the ends of an operation may be biased by, when nothing else bounds that */

/* Sets the bias of every track. `ends` are those of the moments, on the tracks' axes. */
void rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s, const double *ends);

#endif
