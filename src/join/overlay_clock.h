/* Clocks of secondary sources: placed by the operations that both sources recorded, rank by rank.
 *
 * Their operations are not used to align other clocks. What is compared are the starts of the same kernels (else their
 * ends, else the calls on the host), each with the same rank's in the primary source. If both read the wall clock of
 * one process, it is one clock: no rate, and host times are unchanged. */
#ifndef RS_JOIN_OVERLAY_CLOCK_H
#define RS_JOIN_OVERLAY_CLOCK_H

#include "join/islands.h"

/* Called when islands are connected: moves the clocks of secondary sources to the axis of the primary one. */
void rs_overlay_place(struct rs_clockwork *w, struct rs_islands *out);

#endif
