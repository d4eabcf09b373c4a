/* Wall clocks of hosts that nobody names, left as they are: traces of one host share its clock, and hosts of one job are
 * mostly synchronised. Where no operation contradicts that, any shift would be invented.
 *
 * The clocks asked are those of tools that give wall time and not the host (Kineto). An operation contradicts where a rank
 * ends a symmetric collective before another has started it, or a receive ends before its send has started. Where all
 * agree, the hull says how far a clock could still be off: bounds o_i - o_j <= end_j - start_i of all operations, closed over
 * all clocks (differences of a clock to the reference through any number of others). Half of what it leaves open is the
 * clock's error. It is less where ends say so: those of equal operations lie within a part of their transfer of each other
 * (join/bias.h), so that is how far a clock can be off whose ends come with the others'. */
#ifndef RS_JOIN_UNSHIFTED_H
#define RS_JOIN_UNSHIFTED_H

#include "join/consensus.h"

/* Behind rs_consensus_find(): makes one component of the clocks that need no shift, and sets taken[domain] for them.
 * Numbers components anew. */
enum rs_status rs_unshifted_find(struct rs_track *tracks, const struct rs_model *m, bool *taken, uint32_t *ncomponents,
                                 struct rs_err *err);

#endif
