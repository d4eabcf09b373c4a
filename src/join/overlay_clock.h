/* Clocks of a tool that is laid over another: placed by the operations that both saw, rank by rank.
 *
 * Such a clock is no witness of its own: its operations are not among those that clocks are aligned on. What is
 * compared are the starts of the same kernels (else their ends; else the calls on the host), each with the rank's own
 * on the other side. Where both read the wall clock of one process, that is one clock: no rate, host times as they
 * are. */
#ifndef RS_JOIN_OVERLAY_CLOCK_H
#define RS_JOIN_OVERLAY_CLOCK_H

#include "join/islands.h"

/* When islands are joined: moves the clocks of laid-over tools onto the axis of what they are laid over. */
void rs_overlay_place(struct rs_clockwork *w, struct rs_islands *out);

#endif
