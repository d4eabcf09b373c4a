/* Wall clocks of hosts that nobody names, left as they are: traces of one host share its clock, and hosts of one job are
 * mostly synchronised. Where no operation contradicts that, any shift would be invented.
 *
 * The clocks asked are those of tools that give wall time and not the host (Kineto). An operation contradicts where a rank
 * ends before one that it needs has started (join/flow.h). Where all
 * agree, the hull says how far clocks could still be apart: bounds o_i - o_j <= end_j - start_i of all operations, closed
 * over all clocks (i and j may be bounded through any number of others). Ends may say more: those of equal operations lie
 * within a part of their transfer of each other (join/bias.h), so that is how far a clock can be off whose ends come with
 * the others'. The errors of two clocks together cover what is left between them. */
#ifndef RS_JOIN_UNSHIFTED_H
#define RS_JOIN_UNSHIFTED_H

#include "join/consensus.h"

/* Behind rs_consensus_find(): makes one component of the clocks that need no shift, and sets taken[domain] for them.
 * Numbers components anew. */
void rs_unshifted_find(struct rs_track *tracks, const struct rs_model *m, bool *taken, uint32_t *ncomponents);

#endif
