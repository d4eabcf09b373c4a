/* Wall clocks of unnamed hosts, left unchanged: traces of one host share its clock, and hosts of one job are mostly
 * synchronised. If no operation contradicts that, any shift would be arbitrary.
 *
 * This applies to clocks of tools that report wall time but not the host (Kineto). An operation contradicts if a rank
 * ends before one that it needs has started (join/flow.h). If all agree, the hull says how far clocks could still be
 * apart: bounds o_i - o_j <= end_j - start_i of all operations, closed over all clocks (i and j may be bounded through
 * any number of others). Ends may give tighter bounds: ends of equal operations are within a part of their transfer of
 * each other (join/bias.h), which limits the offset of a clock whose ends agree with the others'. The errors of two
 * clocks together cover what remains between them. */
#ifndef RS_JOIN_UNSHIFTED_H
#define RS_JOIN_UNSHIFTED_H

#include "join/consensus.h"

/* After rs_consensus_find(): makes one component of the clocks that need no shift, and sets taken[domain] for them.
 * Renumbers components. */
void rs_unshifted_find(struct rs_track *tracks, const struct rs_model *m, bool *taken, uint32_t *ncomponents);

#endif
